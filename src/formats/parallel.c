/* parallel.c - reads and writes parallel text: two plain files in which line n
 * of one is the translation of line n of the other.
 *
 * Lines are literal; a text with a line break is written as oneline.h
 * describes. Two files with different numbers of lines do not belong together.
 * This is an error even with skip_bad, because nobody can tell from which line
 * on the pairs are wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "base/strbuf.h"
#include "formats/input.h"
#include "formats/linescan.h"
#include "formats/oneline.h"
#include "formats/output.h"
#include "formats/reader.h"
#include "formats/writer.h"
#include "pair/tags.h"

enum { SOURCE, TARGET, SIDES };

/* ---- reading ------------------------------------------------------------ */

struct parallel_reader {
    struct reader r;
    struct linescan lines[SIDES];
    struct strbuf room[SIDES];  /* texts that were unescaped */
    bool lines_open;            /* `lines` is initialized */
    struct unit unit;
};

static enum status parallel_open_lines(struct parallel_reader *p, struct err *e)
{
    enum status st = linescan_init(&p->lines[SOURCE], p->r.in,
                                   p->r.o.max_text, e);

    if (!st) st = linescan_init(&p->lines[TARGET], p->r.in_target,
                                p->r.o.max_text, e);
    p->lines_open = !st;
    return st;
}

/* One file has ended before the other. Reads on to count all lines. */
static enum status line_counts_differ(struct parallel_reader *p, struct err *e)
{
    struct scanned_line line;

    for (int side = 0; side < SIDES; side++)
        do {
            enum status st = linescan_next(&p->lines[side], &line, e);

            if (st) return st;
        } while (line.found);
    return err_set(e, ST_FORMAT, "expected the same number of lines in both "
                   "files: %s has %llu, %s has %llu", input_name(p->r.in),
                   (unsigned long long)p->lines[SOURCE].line,
                   input_name(p->r.in_target),
                   (unsigned long long)p->lines[TARGET].line);
}

/* reader_bad names the file r->in, so make it the one that has the line. */
static enum status parallel_bad_line(struct parallel_reader *p, int side,
                                     size_t column, struct str raw,
                                     const char *why, struct err *e)
{
    struct input *in = p->r.in;
    enum status st;

    if (side == TARGET) p->r.in = p->r.in_target;
    st = reader_bad(&p->r, e, p->lines[side].line, column, raw, "%s", why);
    p->r.in = in;
    return st;
}

static enum status check_line(struct parallel_reader *p, int side,
                              const struct scanned_line *line, bool *ok,
                              struct err *e)
{
    const char *fault;
    char why[80];
    size_t at = 0;

    *ok = false;
    if (line->too_long) {
        snprintf(why, sizeof why, "expected a line of at most %zu bytes",
                 p->lines[side].limit);
        return parallel_bad_line(p, side, 0, line->text, why, e);
    }
    fault = text_fault(line->text, &at);
    if (fault) return parallel_bad_line(p, side, at + 1, line->text, fault, e);
    *ok = true;
    return ST_OK;
}

static enum status parallel_make_unit(struct parallel_reader *p,
                                      const struct scanned_line *line,
                                      const struct unit **u, struct err *e)
{
    struct unit *unit = &p->unit;

    assert(p->lines[SOURCE].line == p->lines[TARGET].line);
    *unit = (struct unit){ .line = p->lines[SOURCE].line };
    if (!oneline_get(line[SOURCE].text, &p->room[SOURCE], &unit->source) ||
        !oneline_get(line[TARGET].text, &p->room[TARGET], &unit->target))
        return err_nomem(e, "a line");
    if (unit->source.n && unit->target.n) *u = unit;
    else p->r.counts.empty++;
    return ST_OK;
}

static enum status parallel_next(struct reader *r, const struct unit **u,
                                 struct err *e)
{
    struct parallel_reader *p = (struct parallel_reader *)r;
    enum status st = p->lines_open ? ST_OK : parallel_open_lines(p, e);

    while (!st && !*u) {
        struct scanned_line line[SIDES];
        bool ok = false;

        st = linescan_next(&p->lines[SOURCE], &line[SOURCE], e);
        if (!st) st = linescan_next(&p->lines[TARGET], &line[TARGET], e);
        if (st) break;
        if (line[SOURCE].found != line[TARGET].found)
            return line_counts_differ(p, e);
        if (!line[SOURCE].found) break;
        st = check_line(p, SOURCE, &line[SOURCE], &ok, e);
        if (!st && ok) st = check_line(p, TARGET, &line[TARGET], &ok, e);
        if (!st && ok) st = parallel_make_unit(p, line, u, e);
    }
    return st;
}

static void parallel_close(struct reader *r)
{
    struct parallel_reader *p = (struct parallel_reader *)r;

    for (int side = 0; side < SIDES; side++) {
        linescan_release(&p->lines[side]);
        strbuf_release(&p->room[side]);
    }
    free(p);
}

enum status parallel_reader_new(struct reader **out, struct err *e)
{
    static const struct reader_ops ops = { parallel_next, parallel_close };
    struct parallel_reader *p = calloc(1, sizeof *p);

    *out = NULL;
    if (!p) return err_nomem(e, "a reader");
    p->r.ops = &ops;
    for (int side = 0; side < SIDES; side++) strbuf_init(&p->room[side], 0);
    *out = &p->r;
    return ST_OK;
}

/* ---- writing ------------------------------------------------------------ */

struct parallel_writer {
    struct writer w;
    bool pair_written;          /* so the next pair is not the first */
    struct strbuf line[SIDES];
    struct strbuf plain;        /* a text without its tags */
};

static bool make_line(struct parallel_writer *p, struct str text, bool tagged,
                      struct strbuf *line)
{
    strbuf_reset(line);
    if (tagged) {
        strbuf_reset(&p->plain);
        if (!tags_strip(text, &p->plain)) return false;
        text = (struct str){ p->plain.data, p->plain.len };
    }
    return oneline_put(text, false, line) && strbuf_addc(line, '\n');
}

static enum status put_line(struct parallel_writer *p, struct output *out,
                            int side, struct err *e)
{
    struct str line = { p->line[side].data, p->line[side].len };
    enum status st = p->pair_written ? ST_OK
                   : output_puts(out, oneline_before_first(line), e);

    return st ? st : output_put(out, line, e);
}

static enum status parallel_begin(struct writer *w, struct err *e)
{
    (void)w, (void)e;
    return ST_OK;
}

static enum status parallel_put(struct writer *w, const struct unit *u,
                                struct err *e)
{
    struct parallel_writer *p = (struct parallel_writer *)w;
    struct strbuf *line = p->line;
    enum status st;

    assert(w->out && w->out_target);
    if (!make_line(p, u->source, u->tagged, &line[SOURCE]) ||
        !make_line(p, u->target, u->tagged, &line[TARGET]))
        return err_nomem(e, "a line");
    st = put_line(p, w->out, SOURCE, e);
    if (!st) st = put_line(p, w->out_target, TARGET, e);
    p->pair_written = true;
    return st;
}

static enum status parallel_end(struct writer *w, struct err *e)
{
    (void)w, (void)e;
    return ST_OK;
}

static void parallel_writer_close(struct writer *w)
{
    struct parallel_writer *p = (struct parallel_writer *)w;

    strbuf_release(&p->line[SOURCE]);
    strbuf_release(&p->line[TARGET]);
    strbuf_release(&p->plain);
    free(p);
}

enum status parallel_writer_new(struct writer **out, struct err *e)
{
    static const struct writer_ops ops = {
        parallel_begin, parallel_put, parallel_end, parallel_writer_close
    };
    struct parallel_writer *p = calloc(1, sizeof *p);

    *out = NULL;
    if (!p) return err_nomem(e, "a writer");
    p->w.ops = &ops;
    for (int side = 0; side < SIDES; side++) strbuf_init(&p->line[side], 0);
    strbuf_init(&p->plain, 0);
    *out = &p->w;
    return ST_OK;
}
