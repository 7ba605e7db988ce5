/* strbuf.c - appends to a text that grows by doubling its memory.
 *
 * Either cap is 0, len is 0 and data points to a shared empty string, or data
 * is malloc memory of cap bytes, len < cap and data[len] is NUL. */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* The text of every buffer with cap 0. It is never written. */
static char empty_text[1];

void strbuf_init(struct strbuf *sb, size_t limit)
{
    sb->data = empty_text;
    sb->len = sb->cap = 0;
    sb->limit = limit;
}

void strbuf_release(struct strbuf *sb)
{
    if (sb->cap) free(sb->data);
    strbuf_init(sb, sb->limit);
}

void strbuf_reset(struct strbuf *sb)
{
    sb->len = 0;
    if (sb->cap) sb->data[0] = '\0';
}

bool strbuf_reserve(struct strbuf *sb, size_t extra)
{
    size_t need, cap;
    char *p;

    assert(sb->cap ? sb->len < sb->cap : sb->len == 0);
    if (extra > SIZE_MAX / 2 - sb->len) return false;
    need = sb->len + extra;
    if (sb->limit && need > sb->limit) return false;
    if (need < sb->cap) return true;
    cap = sb->cap * 2 > need + 1 ? sb->cap * 2 : need + 1;
    if (cap < 32) cap = 32;
    p = realloc(sb->cap ? sb->data : NULL, cap);
    if (!p) return false;
    if (!sb->cap) p[0] = '\0';
    sb->data = p;
    sb->cap = cap;
    return true;
}

bool strbuf_add(struct strbuf *sb, const void *bytes, size_t n)
{
    if (!strbuf_reserve(sb, n)) return false;
    if (n) memcpy(sb->data + sb->len, bytes, n);
    sb->len += n;
    assert(sb->len < sb->cap);
    sb->data[sb->len] = '\0';
    return true;
}

bool strbuf_adds(struct strbuf *sb, const char *s)
{
    return strbuf_add(sb, s, strlen(s));
}

bool strbuf_addc(struct strbuf *sb, char c)
{
    return strbuf_add(sb, &c, 1);
}

bool strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !strbuf_reserve(sb, (size_t)n)) return false;
    va_start(ap, fmt);
    vsnprintf(sb->data + sb->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    sb->len += (size_t)n;
    return true;
}

char *strbuf_take(struct strbuf *sb)
{
    char *p = sb->cap ? sb->data : calloc(1, 1);

    if (p) strbuf_init(sb, sb->limit);
    return p;
}
