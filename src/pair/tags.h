/* tags.h - text with inline tags, in the form in which it is stored.
 *
 * The tagged form is a fragment of XML: the text with & < > escaped, and the
 * inline elements of the original file with their attributes but without
 * namespace prefixes: <ph x="1">&lt;br/&gt;</ph>, <g id="2">bold</g>. Retrieval
 * and translation do not see code (the content of bpt, ept, it, ph, ut, and of
 * sub inside them); they do see the content of hi, g, pc and mrk. A text
 * without inline elements is stored as plain text, not in this form. */
#ifndef PAIR_TAGS_H
#define PAIR_TAGS_H

#include "base/str.h"
#include "base/strbuf.h"

/* Appends the plain text of a tagged text: elements are removed and entities
 * resolved. Accepts any input (a stray '<' is text). Returns false when out of
 * memory. */
bool tags_strip(struct str tagged, struct strbuf *out);

/* Appends plain text in the tagged form (escaped). */
bool tags_escape(struct str plain, struct strbuf *out);

/* The same for a part of a tagged text. With `entities`, entities in it are
 * kept. With `quoted`, the result fits into an attribute value. */
bool tags_add_escaped(struct strbuf *out, struct str s, bool entities,
                      bool quoted);

#endif
