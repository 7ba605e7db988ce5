/* utf8_scan.h - checks whether bytes are valid UTF-8. */
#ifndef COMMON_UTF8_SCAN_H
#define COMMON_UTF8_SCAN_H

#include <stddef.h>

/* Number of bytes of the character at s, 0 if it is not valid (Unicode table
 * 3-7: no overlong forms, no surrogates, nothing above U+10FFFF). n: the number
 * of bytes at s, at least 1. */
size_t utf8_char_bytes(const char *s, size_t n);
/* Offset of the first byte that is not valid UTF-8; n if there is none. */
size_t utf8_first_bad(const char *s, size_t n);

#endif
