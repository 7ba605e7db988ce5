/* tags.h - text with inline tags, in the form in which it is stored.
 *
 * The tagged form is a fragment of XML: the text with & < > escaped, and the
 * inline elements of the original file with their attributes but without
 * namespace prefixes: <ph x="1">&lt;br/&gt;</ph>, <g id="2">bold</g>. Retrieval
 * and translation do not see code (the content of bpt, ept, it, ph, ut, and of
 * sub inside them); they do see the content of hi, g, pc and mrk. A text
 * without inline elements is stored as plain text, not in this form. */
#ifndef FORMATS_TAGS_H
#define FORMATS_TAGS_H

#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"

/* Appends the plain text of a tagged text: elements are removed and entities
 * resolved. Accepts any input (a stray '<' is text). Returns false when out of
 * memory. */
bool tags_strip(struct str tagged, struct strbuf *out);

/* Appends plain text in the tagged form (escaped). */
bool tags_escape(struct str plain, struct strbuf *out);

/* Appends the text with the inline elements of another file format. Elements
 * that the target format also has are kept. Others become its element of the
 * same kind, paired (g, pc, bpt/ept) or standalone (x, ph, it), and are
 * numbered as needed. The result is always well-formed. */
enum tags_dialect { TAGS_TMX, TAGS_XLIFF1, TAGS_XLIFF2 };
bool tags_convert(struct str tagged, enum tags_dialect to,
                  struct strbuf *out);

#endif
