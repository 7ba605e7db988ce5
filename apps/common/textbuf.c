/* textbuf.c - the text buffer, the JSON writer and the UTF-8 check.
 *
 * Invariant: len <= cap, len <= TEXTBUF_MAX_MIB, and data is NULL only if cap
 * is 0. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/textbuf.h"

void textbuf_release(struct textbuf *t)
{
    free(t->data);
    memset(t, 0, sizeof *t);
}

void textbuf_reset(struct textbuf *t)
{
    t->len = 0;
}

void textbuf_add(struct textbuf *t, const char *s, size_t n)
{
    assert(t->len <= t->cap && (t->data || !t->cap));
    if (t->failed || n == 0) return;
    if (n > ((size_t)TEXTBUF_MAX_MIB << 20) - t->len) {
        t->failed = t->too_long = true;
        return;
    }
    if (n > t->cap - t->len) {
        size_t cap = t->cap ? t->cap : 256;
        char *grown;

        while (cap - t->len < n && cap <= SIZE_MAX / 2) cap *= 2;
        grown = cap - t->len < n ? NULL : realloc(t->data, cap);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->data = grown;
        t->cap = cap;
    }
    memcpy(t->data + t->len, s, n);
    t->len += n;
}

const char *textbuf_why(const struct textbuf *t)
{
#define DIGITS(n) #n
#define AS_TEXT(n) DIGITS(n)
    return t->too_long ? "the text is longer than the limit of "
                         AS_TEXT(TEXTBUF_MAX_MIB) " MiB"
                       : "out of memory";
#undef AS_TEXT
#undef DIGITS
}

void textbuf_adds(struct textbuf *t, const char *s)
{
    textbuf_add(t, s, strlen(s));
}

void textbuf_addf(struct textbuf *t, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n > 0) textbuf_add(t, text, (size_t)n < sizeof text ? (size_t)n
                                                            : sizeof text - 1);
}

/* Return the number of bytes of the character at s, or 0 if it is not valid
 * (Unicode table 3-7: no overlong forms, no surrogates, nothing above
 * U+10FFFF). */
static size_t utf8_len(const unsigned char *s, size_t n)
{
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
        size_t len = utf8_len((const unsigned char *)s + i, n - i);

        if (!len) break;
        i += len;
    }
    return i;
}

static void jput_char(struct textbuf *t, const char *s, size_t len)
{
    static const char plain[] = "\"\\\n\r\t", escape[] = "\"\\nrt";
    const char *p = len == 1 && s[0] ? strchr(plain, s[0]) : NULL;

    if (len == 0) textbuf_adds(t, "\xEF\xBF\xBD");
    else if (p) textbuf_addf(t, "\\%c", escape[p - plain]);
    else if (len == 1 && ((unsigned char)s[0] < 0x20 || s[0] == 0x7F))
        textbuf_addf(t, "\\u%04x", (unsigned char)s[0]);
    else textbuf_add(t, s, len);
}

void jput_string(struct textbuf *t, const char *s, size_t n)
{
    textbuf_adds(t, "\"");
    for (size_t i = 0; i < n;) {
        size_t len = utf8_len((const unsigned char *)s + i, n - i);

        jput_char(t, s + i, len);
        i += len ? len : 1;
    }
    textbuf_adds(t, "\"");
}

void jput_text(struct textbuf *t, const char *s)
{
    jput_string(t, s, strlen(s));
}

void jput_number(struct textbuf *t, double v)
{
    if (!isfinite(v)) textbuf_adds(t, "null");
    else textbuf_addf(t, "%.7g", v == 0 ? 0.0 : v);     /* no "-0" */
}

void jput_comma(struct textbuf *t)
{
    char last = t->len ? t->data[t->len - 1] : '[';

    if (last != '[' && last != '{') textbuf_adds(t, ",");
}

void jput_key(struct textbuf *t, const char *key)
{
    jput_comma(t);
    jput_text(t, key);
    textbuf_adds(t, ":");
}
