/* utf8.h - decode, check and repair UTF-8. */
#ifndef TEXT_UTF8_H
#define TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* The code point at s (n bytes left, n >= 1) and its length in *len. An
 * invalid byte gives 0xFFFD with *len 1 (overlong forms, surrogates and
 * values over 0x10FFFF are invalid). */
uint32_t utf8_next(const char *s, size_t n, int *len);

int utf8_put(char *out, uint32_t cp);           /* writes 1..4, returns it */

/* Offset of the first invalid byte, or n when all is valid. */
size_t utf8_check(const char *s, size_t n);

/* Characters of a valid text. */
static inline size_t utf8_count(const char *s, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)s[i] & 0xC0) != 0x80;
    return count;
}

/* Append s with every invalid byte as U+FFFD. false: no memory. */
bool utf8_repair(struct strbuf *out, const char *s, size_t n);

#endif
