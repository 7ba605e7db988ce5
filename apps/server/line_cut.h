/* line_cut.h - cuts a text into the lines that are translated. */
#ifndef SERVER_LINE_CUT_H
#define SERVER_LINE_CUT_H

#include <stdbool.h>
#include <stddef.h>

struct cut_line { size_t begin, end; };         /* without white space at the
                                                   ends; never empty */

/* Finds the next line at or after *at that is not blank, and moves *at behind
 * it. Returns false if there is none. What lies between the lines is white
 * space. */
bool line_cut(const char *text, size_t len, size_t *at, struct cut_line *out);
/* Whether a text has letters, of any script. Bytes that are not valid UTF-8
 * count as letters. */
bool has_letters(const char *text, size_t len);
/* The number of characters. */
size_t line_characters(const char *text);

#endif
