/* tags_convert.h - gives a tagged text (pair/tags.h) the inline elements of a
 * file format. */
#ifndef FORMATS_TAGS_CONVERT_H
#define FORMATS_TAGS_CONVERT_H

#include "base/strbuf.h"

/* Appends the text with the inline elements of another file format. Elements
 * that the target format also has are kept. Others become its element of the
 * same kind, paired (g, pc, bpt/ept) or standalone (x, ph, it), and are
 * numbered as needed. The result is always well-formed. Returns false when out
 * of memory. */
enum tags_dialect { TAGS_TMX, TAGS_XLIFF1, TAGS_XLIFF2 };
bool tags_convert(struct str tagged, enum tags_dialect to,
                  struct strbuf *out);

#endif
