/* textbuf.c - appends text to a buffer, which grows as needed.
 *
 * Invariant: len <= cap, len <= TEXTBUF_MAX_MIB, and data is NULL only if cap
 * is 0. */
#include <assert.h>
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
