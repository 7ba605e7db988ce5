/* linescan.c - see linescan.h. */
#include "formats/linescan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/input.h"
#include "text/utf8.h"

#define FIRST_BYTES ((size_t)512 << 10)

enum status linescan_init(struct linescan *ls, struct input *in, size_t limit,
                          struct err *e)
{
    *ls = (struct linescan){ .in = in, .limit = limit };
    if (!mem_grow(&ls->buf, &ls->cap, FIRST_BYTES, 1))
        return err_nomem(e, "lines");
    return ST_OK;
}

void linescan_release(struct linescan *ls)
{
    free(ls->buf);
    *ls = (struct linescan){ 0 };
}

/* Append what the input has at hand; *got is 0 at its end. */
static enum status linescan_fill(struct linescan *ls, size_t *got,
                                 struct err *e)
{
    const char *bytes;
    enum status st = input_peek(ls->in, &bytes, got, e);

    if (st || !*got) return st;
    if (ls->begin) {
        ls->end -= ls->begin;
        memmove(ls->buf, ls->buf + ls->begin, ls->end);
        ls->begin = 0;
    }
    if (!mem_grow(&ls->buf, &ls->cap, ls->end + *got, 1))
        return err_nomem(e, "a long line");
    memcpy(ls->buf + ls->end, bytes, *got);
    ls->end += *got;
    input_take(ls->in, *got);
    return ST_OK;
}

struct str linescan_rest(const struct linescan *ls)
{
    return (struct str){ ls->buf + ls->begin, ls->end - ls->begin };
}

enum status linescan_more(struct linescan *ls, size_t want, struct err *e)
{
    enum status st = ST_OK;
    size_t got = 1;

    while (!st && got && ls->end - ls->begin < want)
        st = linescan_fill(ls, &got, e);
    return st;
}

void linescan_take(struct linescan *ls, size_t n)
{
    const char *p = ls->buf + ls->begin, *end = p + n, *nl;

    for (; p < end && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1)
        ls->line++;
    if (p < end) ls->line++;                    /* the last has no end */
    ls->begin += n;
}

/* Drop the line the buffer begins with, which did not fit. */
static enum status skip_line(struct linescan *ls, struct err *e)
{
    enum status st;
    size_t got;

    do {
        ls->begin = ls->end = 0;
        st = linescan_fill(ls, &got, e);
        if (st || !got) break;
        const char *nl = memchr(ls->buf, '\n', ls->end);
        if (nl) {
            ls->begin = (size_t)(nl - ls->buf) + 1;
            break;
        }
    } while (true);
    ls->line++;
    return st;
}

static void linescan_give(struct linescan *ls, struct line *out, size_t n,
                          size_t taken)
{
    const char *p = ls->buf + ls->begin;

    if (n && p[n - 1] == '\r') n--;
    *out = (struct line){ .text = { p, n }, .found = true };
    if (n > ls->limit) *out = (struct line){ .found = true, .too_long = true };
    ls->begin += taken;
    ls->line++;
}

enum status linescan_next(struct linescan *ls, struct line *out,
                          struct err *e)
{
    size_t seen = 0, got;
    enum status st;

    *out = (struct line){ 0 };
    for (;;) {
        struct str s = linescan_rest(ls);
        const char *nl = memchr(s.p + seen, '\n', s.n - seen);

        if (nl) {
            linescan_give(ls, out, (size_t)(nl - s.p), (size_t)(nl - s.p) + 1);
            return ST_OK;
        }
        seen = s.n;
        if (seen > ls->limit + 1) {
            *out = (struct line){ .found = true, .too_long = true };
            return skip_line(ls, e);
        }
        st = linescan_fill(ls, &got, e);
        if (st) return st;
        if (!got) break;
    }
    if (seen) linescan_give(ls, out, seen, seen);
    return ST_OK;
}

const char *text_fault(struct str bytes, size_t *at)
{
    const char *nul = bytes.n ? memchr(bytes.p, '\0', bytes.n) : NULL;

    *at = utf8_check(bytes.p, bytes.n);
    if (nul && (size_t)(nul - bytes.p) < *at) {
        *at = (size_t)(nul - bytes.p);
        return "expected text, found a NUL byte";
    }
    if (*at == bytes.n) return NULL;
    return "expected UTF-8, found a byte that is none (is the file in "
           "another encoding?)";
}
