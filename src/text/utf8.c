/* utf8.c - decodes, validates and repairs UTF-8.
 *
 * The accepted sequences are those of table 3-7 of the Unicode standard: the
 * shortest form, no surrogates, nothing over 0x10FFFF. */
#include "text/utf8.h"

#include <string.h>

#include "base/invariant.h"

static bool is_tail(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

static uint32_t tail(char c) { return (unsigned char)c & 0x3F; }

/* Like utf8_next, for a first byte of 0x80 or more. */
static uint32_t next_multibyte(const char *s, size_t n, int *len)
{
    unsigned char c = (unsigned char)s[0];
    uint32_t cp;

    if ((c & 0xE0) == 0xC0 && n >= 2 && is_tail(s[1])) {
        cp = (uint32_t)(c & 0x1F) << 6 | tail(s[1]);
        *len = 2;
        if (cp >= 0x80) return cp;
    } else if ((c & 0xF0) == 0xE0 && n >= 3 && is_tail(s[1]) &&
               is_tail(s[2])) {
        cp = (uint32_t)(c & 0x0F) << 12 | tail(s[1]) << 6 | tail(s[2]);
        *len = 3;
        if (cp >= 0x800 && (cp < 0xD800 || cp > 0xDFFF)) return cp;
    } else if ((c & 0xF8) == 0xF0 && n >= 4 && is_tail(s[1]) &&
               is_tail(s[2]) && is_tail(s[3])) {
        cp = (uint32_t)(c & 0x07) << 18 | tail(s[1]) << 12 |
             tail(s[2]) << 6 | tail(s[3]);
        *len = 4;
        if (cp >= 0x10000 && cp <= 0x10FFFF) return cp;
    }
    *len = 1;
    return 0xFFFD;
}

uint32_t utf8_next(const char *s, size_t n, int *len)
{
    assert(n > 0);
    if ((unsigned char)s[0] >= 0x80) return next_multibyte(s, n, len);
    *len = 1;
    return (unsigned char)s[0];
}

int utf8_put(char *out, uint32_t cp)
{
    assert(cp <= 0x10FFFF);
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

/* Returns the number of ASCII bytes at the beginning of s. It checks sixteen
 * bytes at a time, because most texts are mostly ASCII and an import validates
 * every byte. */
static size_t ascii_run(const char *s, size_t n)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    size_t i = 0;

    for (; n - i >= 16; i += 16) {
        uint64_t a, b;

        memcpy(&a, s + i, 8);
        memcpy(&b, s + i + 8, 8);
        if ((a | b) & high) break;
    }
    while (i < n && (unsigned char)s[i] < 0x80) i++;
    return i;
}

size_t utf8_check(const char *s, size_t n)
{
    size_t i = 0;
    int len;

    while (i < n) {
        i += ascii_run(s + i, n - i);
        if (i == n) break;
        /* 0xFFFD with length 3 is the valid character U+FFFD itself. */
        if (next_multibyte(s + i, n - i, &len) == 0xFFFD && len == 1) return i;
        i += (size_t)len;
    }
    return n;
}

bool utf8_is_space(uint32_t cp)
{
    if (cp < 0x80)
        return cp == ' ' || (cp >= 0x09 && cp <= 0x0D)
               || (cp >= 0x1C && cp <= 0x1F);
    return cp == 0x85 || cp == 0xA0 || cp == 0x1680
           || (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029
           || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

bool utf8_repair(struct strbuf *out, const char *s, size_t n)
{
    size_t before = out->len;

    while (n) {
        size_t good = utf8_check(s, n);

        if (!strbuf_add(out, s, good)) goto fail;
        s += good;
        n -= good;
        if (!n) break;
        if (!strbuf_add(out, "\xEF\xBF\xBD", 3)) goto fail;
        s++;
        n--;
    }
    return true;

fail:
    out->len = before;
    if (out->cap) out->data[before] = '\0';
    return false;
}
