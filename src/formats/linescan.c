/* linescan.c - splits an input into lines and checks that bytes are text.
 *
 * The buffer grows until it holds a whole line or exceeds the limit. It does
 * not interpret the lines. */
#include "formats/linescan.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
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

/* Appends the bytes that the input has available. *got is 0 at its end. */
static enum status linescan_fill(struct linescan *ls, size_t *got,
                                 struct err *e)
{
    const char *bytes;
    enum status st = input_peek(ls->in, &bytes, got, e);

    if (st || !*got) return st;
    assert(ls->begin <= ls->end && ls->end <= ls->cap);
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

    assert(n <= ls->end - ls->begin);
    for (; p < end && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1)
        ls->line++;
    if (p < end) ls->line++;                    /* a last line without an end */
    ls->begin += n;
}

/* Discards the line at the beginning of the buffer, which is over the limit. */
static enum status linescan_skip_line(struct linescan *ls, struct err *e)
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

/* Sets *out to the n bytes at ls->begin and consumes `taken` bytes, which
 * include the line end. */
static void linescan_emit_line(struct linescan *ls, struct scanned_line *out,
                               size_t n, size_t taken)
{
    const char *p = ls->buf + ls->begin;

    assert(n <= taken && taken <= ls->end - ls->begin);
    if (n && p[n - 1] == '\r') n--;
    *out = (struct scanned_line){ .text = { p, n }, .found = true };
    if (n > ls->limit)
        *out = (struct scanned_line){ .found = true, .too_long = true };
    ls->begin += taken;
    ls->line++;
}

enum status linescan_next(struct linescan *ls, struct scanned_line *out,
                          struct err *e)
{
    size_t scanned = 0, got;
    enum status st;

    *out = (struct scanned_line){ 0 };
    for (;;) {
        struct str s = linescan_rest(ls);
        const char *nl = memchr(s.p + scanned, '\n', s.n - scanned);

        if (nl) {
            size_t n = (size_t)(nl - s.p);

            linescan_emit_line(ls, out, n, n + 1);
            return ST_OK;
        }
        scanned = s.n;
        if (scanned > ls->limit + 1) {
            *out = (struct scanned_line){ .found = true, .too_long = true };
            return linescan_skip_line(ls, e);
        }
        st = linescan_fill(ls, &got, e);
        if (st) return st;
        if (!got) break;
    }
    if (scanned) linescan_emit_line(ls, out, scanned, scanned);
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
    return "expected UTF-8, found an invalid byte (is the file in another "
           "encoding?)";
}
