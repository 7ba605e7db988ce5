/* utf8.h - decodes, validates and repairs UTF-8. */
#ifndef TEXT_UTF8_H
#define TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Returns the code point at s and sets *len to its length in bytes. n >= 1
 * bytes are available. An invalid byte gives 0xFFFD with *len 1; overlong
 * forms, surrogates and values over 0x10FFFF are invalid. */
uint32_t utf8_next(const char *s, size_t n, int *len);

/* Writes a code point (at most 0x10FFFF) and returns its length, 1 to 4
 * bytes. */
int utf8_put(char *out, uint32_t cp);

/* Returns the offset of the first invalid byte, or n if all bytes are valid. */
size_t utf8_check(const char *s, size_t n);

/* Returns the number of code points of a valid text. */
static inline size_t utf8_count(const char *s, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)s[i] & 0xC0) != 0x80;
    return count;
}

/* White space as for Python: spaces of any width, line ends, U+001C to
 * U+001F. */
bool utf8_is_space(uint32_t cp);

/* Appends s with every invalid byte replaced by U+FFFD. On failure (out of
 * memory) it returns false and leaves *out as it was. */
bool utf8_repair(struct strbuf *out, const char *s, size_t n);

#endif
