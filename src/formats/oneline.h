/* oneline.h - any text in a file that has one line for each.
 *
 * TSV and parallel text are literal: a backslash is a backslash, for files of
 * others are full of them ("C:\new"). A text with a line break, or a tab where
 * tabs separate, has no literal form. It is written with the mark U+241B
 * before it and \n, \t, \r and \\ in it:
 *
 *     ␛Datei nicht gefunden:\n%s
 *
 * On reading, the mark counts only where it was needed: a field of somebody
 * else's that begins with that character is literal, too, unless it has
 * exactly these escapes in it. Reading what was written gives the text,
 * whatever it is. */
#ifndef FORMATS_ONELINE_H
#define FORMATS_ONELINE_H

#include <stdbool.h>

#include "base/str.h"
#include "base/strbuf.h"

/* Append a text as one line, or with `tabs` as a column of one.
 * false: no memory. */
bool oneline_put(struct str text, bool tabs, struct strbuf *out);

/* The text of a line or column: `field` itself, or in `room` (overwritten)
 * where it is marked. false: no memory. */
bool oneline_get(struct str field, struct strbuf *room, struct str *text);

/* What has to stand before the first line of a file: a byte order mark when
 * the line begins with one (readers drop the first they see), else "". */
const char *oneline_before_first(struct str line);

#endif
