/* aligned_text.c - keeps origins in an array beside the text.
 *
 * Invariant between passes: now.from has now.n + 1 elements and ascends. During
 * a pass, next.from[0 .. next.n) ascends; aligned_end() adds the last one. */
#include "text/aligned_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "text/utf8.h"

static void aligned_text_free(struct aligned_text *t)
{
    free(t->text);
    free(t->from);
    *t = (struct aligned_text){ 0 };
}

void aligned_release(struct aligned_work *w)
{
    aligned_text_free(&w->now);
    aligned_text_free(&w->next);
    w->failed = w->too_long = false;
}

static bool aligned_grow(struct aligned_text *t, size_t need)
{
    size_t cap = t->cap * 2 + 64;
    uint32_t *from;
    char *text;

    if (cap < need) cap = need;
    text = realloc(t->text, cap);
    if (text) t->text = text;
    from = realloc(t->from, (cap + 1) * sizeof *from);
    if (from) t->from = from;
    if (!text || !from) return false;
    t->cap = cap;
    return true;
}

/* Makes room for n more bytes and the last origin. */
static bool aligned_reserve(struct aligned_work *w, struct aligned_text *t,
                            size_t n)
{
    if (w->failed) return false;
    if (t->n + n <= t->cap && t->cap) return true;
    w->too_long = n >= UINT32_MAX - t->n;
    w->failed = w->too_long || !aligned_grow(t, t->n + n);
    return !w->failed;
}

static void aligned_add(struct aligned_work *w, struct aligned_text *t,
                        const char *bytes, size_t n, uint32_t from)
{
    if (!aligned_reserve(w, t, n)) return;
    assert(!t->n || t->from[t->n - 1] <= from);
    memcpy(t->text + t->n, bytes, n);
    for (size_t i = 0; i < n; i++) t->from[t->n + i] = from;
    t->n += n;
}

void aligned_begin(struct aligned_work *w)
{
    w->next.n = 0;
    aligned_reserve(w, &w->next, w->now.n);
}

void aligned_keep(struct aligned_work *w, size_t begin, size_t end)
{
    struct aligned_text *t = &w->next;
    size_t n = end - begin;

    assert(begin <= end && end <= w->now.n);
    if (begin == end || !aligned_reserve(w, t, n)) return;
    assert(!t->n || t->from[t->n - 1] <= w->now.from[begin]);
    memcpy(t->text + t->n, w->now.text + begin, n);
    memcpy(t->from + t->n, w->now.from + begin, n * sizeof *t->from);
    t->n += n;
}

void aligned_put(struct aligned_work *w, const char *bytes, size_t n,
                 size_t at)
{
    if (w->failed) return;
    assert(at <= w->now.n);
    aligned_add(w, &w->next, bytes, n, w->now.from[at]);
}

void aligned_end(struct aligned_work *w)
{
    struct aligned_text keep = w->now;

    if (w->failed) return;
    w->next.from[w->next.n] = w->now.from[w->now.n];
    PARANOID_CHECK(aligned_sound(&w->next, w->next.from[w->next.n]));
    w->now = w->next;
    w->next = keep;
}

void aligned_append(struct aligned_work *w, const char *bytes, size_t n,
                    uint32_t from)
{
    aligned_add(w, &w->now, bytes, n, from);
}

void aligned_finish(struct aligned_work *w, uint32_t end)
{
    if (!aligned_reserve(w, &w->now, 0)) return;
    assert(!w->now.n || w->now.from[w->now.n - 1] <= end);
    w->now.from[w->now.n] = end;
}

void aligned_set(struct aligned_work *w, struct str text)
{
    size_t at = 0;
    int len;

    w->now.n = 0;
    if (!aligned_reserve(w, &w->now, text.n)) return;
    while (at < text.n) {
        const char *s = text.p + at;

        if (utf8_next(s, text.n - at, &len) == 0xFFFD && len == 1)
            aligned_append(w, "\xEF\xBF\xBD", 3, (uint32_t)at);
        else aligned_append(w, s, (size_t)len, (uint32_t)at);
        at += (size_t)len;
    }
    aligned_finish(w, (uint32_t)text.n);
}

bool aligned_sound(const struct aligned_text *t, uint32_t end)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->from[i] > t->from[i + 1]) return false;
    return t->from[t->n] <= end;
}
