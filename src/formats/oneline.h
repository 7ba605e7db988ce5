/* oneline.h - writes any text as a single line.
 *
 * TSV and parallel text are literal: a backslash is a backslash, because files
 * from other programs contain many of them ("C:\new"). A text with a line
 * break (or a tab, in a format where tabs separate columns) has no literal
 * form. It is written as the mark U+241B followed by the text with the escapes
 * \n, \t, \r and \\:
 *
 *     ␛Datei nicht gefunden:\n%s
 *
 * On reading, the mark counts only if the text behind it needs it: a foreign
 * field that happens to begin with U+241B is literal, unless it contains
 * exactly these escapes. Reading back a written text always gives the original
 * text. */
#ifndef FORMATS_ONELINE_H
#define FORMATS_ONELINE_H

#include <stdbool.h>

#include "base/str.h"
#include "base/strbuf.h"

/* Appends a text as one line, or as one column if `tabs` is set. Returns false
 * when out of memory. */
bool oneline_put(struct str text, bool tabs, struct strbuf *out);

/* Returns the text of a line or column: `field` itself, or, if it is marked, a
 * copy in `room`, which is overwritten. Returns false when out of memory. */
bool oneline_get(struct str field, struct strbuf *room, struct str *text);

/* Returns what must precede the first line of a file: a byte order mark if the
 * line itself begins with one (because readers drop the first), else "". */
const char *oneline_before_first(struct str line);

#endif
