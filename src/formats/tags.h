/* tags.h - text with inline tags, as it is stored.
 *
 * The tagged form is a piece of XML: the text with & < > escaped, and the
 * inline elements of the file it came from with their attributes, without
 * prefixes: <ph x="1">&lt;br/&gt;</ph>, <g id="2">bold</g>. What is code and
 * not language (the content of bpt, ept, it, ph, ut, and of sub in them) is
 * not seen by retrieval or translation; the content of hi, g, pc, mrk is.
 * A text without any inline element is stored plain, not in this form. */
#ifndef FORMATS_TAGS_H
#define FORMATS_TAGS_H

#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"

/* Append the language of a tagged text: elements gone, entities resolved.
 * Never fails on odd input (a stray '<' is text); false: no memory. */
bool tags_strip(struct str tagged, struct strbuf *out);

/* Append plain text in the tagged form (escaped). */
bool tags_escape(struct str plain, struct strbuf *out);

/* The inline elements of another file format. Elements the target format has
 * are kept as they are; paired ones (g, pc, bpt/ept) and lone ones (x, ph, it)
 * become its own of the same kind, numbered as needed. */
enum tags_dialect { TAGS_TMX, TAGS_XLIFF1, TAGS_XLIFF2 };
bool tags_convert(struct str tagged, enum tags_dialect to,
                  struct strbuf *out);

#endif
