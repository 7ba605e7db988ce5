/* utf8_scan.c - finds the bounds of UTF-8 characters, and bytes that are not
 * valid. */
#include "common/utf8_scan.h"

size_t utf8_char_bytes(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned low = 0x80, high = 0xBF;
    size_t len;

    if (s[0] < 0x80) return 1;
    if (s[0] < 0xC2 || s[0] > 0xF4) return 0;
    len = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    if (len > n) return 0;
    if (s[0] == 0xE0) low = 0xA0;
    if (s[0] == 0xED) high = 0x9F;
    if (s[0] == 0xF0) low = 0x90;
    if (s[0] == 0xF4) high = 0x8F;
    if (s[1] < low || s[1] > high) return 0;
    for (size_t i = 2; i < len; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    return len;
}

size_t utf8_first_bad(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n) {
        size_t len = utf8_char_bytes(s + i, n - i);

        if (!len) break;
        i += len;
    }
    return i;
}
