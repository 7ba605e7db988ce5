/* result_writer.c - writes results as plain lines, n-best lists, explanations
 * or JSON, and passes them to the --html page.
 *
 * Invariant: the queue holds one origin for each line that was pushed and whose
 * result has not come back. waiting <= cap, cap is 0 or a power of two, and
 * first < cap unless both are 0. */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "common/jput.h"
#include "explain_text.h"
#include "result_writer.h"

void writer_init(struct result_writer *w)
{
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
}

void writer_release(struct result_writer *w)
{
    pthread_mutex_destroy(&w->lock);
    textbuf_release(&w->line);
    explain_release(&w->explain);
    for (size_t i = 0; i < w->waiting; i++)
        free(w->queue[(w->first + i) & (w->cap - 1)].text);
    free(w->queue);
    w->queue = NULL;
}

void writer_fail(struct result_writer *w, int status, const char *fmt, ...)
{
    va_list ap;

    pthread_mutex_lock(&w->lock);
    if (!w->status) {                   /* later failures are consequences */
        w->status = status;
        va_start(ap, fmt);
        vsnprintf(w->message, sizeof w->message, fmt, ap);
        va_end(ap);
    }
    pthread_mutex_unlock(&w->lock);
}

int writer_status(struct result_writer *w)
{
    int status;

    pthread_mutex_lock(&w->lock);
    status = w->status;
    pthread_mutex_unlock(&w->lock);
    return status;
}

double writer_busy_seconds(struct result_writer *w)
{
    double seconds;

    pthread_mutex_lock(&w->lock);
    seconds = w->busy_seconds;
    if (w->waiting > 0) seconds += wall_seconds() - w->busy_since;
    pthread_mutex_unlock(&w->lock);
    return seconds;
}

/* ---- the queue -------------------------------------------------------- */

static bool result_writer_grow(struct result_writer *w)
{
    size_t cap = w->cap ? 2 * w->cap : 256;
    struct origin *queue = malloc(cap * sizeof *queue);

    assert((cap & (cap - 1)) == 0 && w->waiting <= w->cap);
    if (!queue) return false;
    for (size_t i = 0; i < w->waiting; i++)
        queue[i] = w->queue[(w->first + i) & (w->cap - 1)];
    free(w->queue);
    w->queue = queue;
    w->cap = cap;
    w->first = 0;
    return true;
}

bool writer_expect(struct result_writer *w, const struct input_line *line)
{
    char *text = NULL;
    bool ok = true;

    if (w->html) {
        text = malloc(line->len + 1);
        if (!text) return false;
        memcpy(text, line->text, line->len);
    }
    pthread_mutex_lock(&w->lock);
    if (w->waiting == w->cap) ok = result_writer_grow(w);
    if (!ok) {
        free(text);
    } else {
        struct origin *o = &w->queue[(w->first + w->waiting) & (w->cap - 1)];

        o->file = line->file;
        o->number = line->number;
        o->bytes = line->bytes;
        o->cr = line->cr;
        o->text = text;
        o->len = line->len;
        if (w->waiting++ == 0) w->busy_since = wall_seconds();
    }
    pthread_mutex_unlock(&w->lock);
    return ok;
}

/* Remove the first expected result. Results come in the order of writer_expect
 * calls, so there always is one. */
static struct origin result_writer_pop(struct result_writer *w)
{
    struct origin o;

    pthread_mutex_lock(&w->lock);
    assert(w->waiting > 0 && w->first < w->cap);
    o = w->queue[w->first];
    w->first = (w->first + 1) & (w->cap - 1);
    if (--w->waiting == 0)
        w->busy_seconds += wall_seconds() - w->busy_since;
    pthread_mutex_unlock(&w->lock);
    return o;
}

/* ---- plain text ------------------------------------------------------- */

/* A model can produce any character. Replace line ends, so that lines of
 * output correspond to lines of input. */
static void put_one_line(struct textbuf *t, const char *s)
{
    size_t from = t->len;

    textbuf_adds(t, s);
    for (size_t i = from; i < t->len; i++)
        if (t->data[i] == '\n' || t->data[i] == '\r') t->data[i] = ' ';
}

static void result_writer_put_plain(struct result_writer *w,
                                    const skmt_result *r, bool cr)
{
    put_one_line(&w->line, skmt_result_text(r, 0));
    textbuf_adds(&w->line, cr ? "\r\n" : "\n");
}

/* Append a line for each translation: line TAB rank TAB score TAB text. Ranks
 * begin at 1. */
static void put_ranked(struct result_writer *w, const skmt_result *r, bool cr)
{
    int n = skmt_result_hyps(r);

    for (int h = 0; h < n || h == 0; h++) {
        size_t from;

        textbuf_addf(&w->line, "%llu\t%d\t%.4f\t",
                     (unsigned long long)w->lines + 1, h + 1,
                     n ? skmt_result_score(r, h) : 0.0);
        from = w->line.len;
        put_one_line(&w->line, skmt_result_text(r, h));
        /* A tab would begin a fifth field. */
        for (size_t i = from; i < w->line.len; i++)
            if (w->line.data[i] == '\t') w->line.data[i] = ' ';
        textbuf_adds(&w->line, cr ? "\r\n" : "\n");
    }
}

static void put_explained(struct result_writer *w, const skmt_result *r)
{
    int n = skmt_result_hyps(r);
    bool ok = true;
    skmt_error err;

    for (int h = 0; ok && h < (w->ranked ? n : 1); h++) {
        if (w->ranked)
            textbuf_addf(&w->line, "%llu\t%d\t%.4f\t",
                         (unsigned long long)w->lines + 1, h + 1,
                         skmt_result_score(r, h));
        ok = explain_put(&w->explain, &w->line, r, h, w->color, &err);
    }
    if (!ok) writer_fail(w, EXIT_TROUBLE, "skmt: %s", err.message);
}

/* ---- JSON ------------------------------------------------------------- */

static void put_span(struct textbuf *t, size_t begin, size_t end)
{
    jput_int_field(t, "begin", (int64_t)begin);
    jput_int_field(t, "end", (int64_t)end);
}

static void result_writer_put_piece(struct textbuf *t, const skmt_piece *p)
{
    jput_int_field(t, "id", p->id);
    jput_text_field(t, "piece", p->text);
    put_span(t, p->begin, p->end);
}

static void put_source(struct textbuf *t, const skmt_result *r, int seg)
{
    int n = skmt_result_source_pieces(r, seg);

    jput_key(t, "source");
    jput_array(t);
    for (int i = 0; i < n; i++) {
        skmt_piece p = SKMT_INIT(skmt_piece);

        skmt_result_source_piece(r, seg, i, &p);
        jput_object(t);
        result_writer_put_piece(t, &p);
        jput_object_end(t);
    }
    jput_array_end(t);
}

static void put_attention(struct textbuf *t, const float *row, int n)
{
    jput_key(t, "attention");
    jput_array(t);
    for (int i = 0; i < n; i++) jput_number(t, row[i]);
    jput_array_end(t);
}

static void put_tokens(struct result_writer *w, const skmt_result *r, int hyp,
                       int seg)
{
    struct textbuf *t = &w->line;
    int n = skmt_result_target_pieces(r, hyp, seg);

    jput_key(t, "tokens");
    jput_array(t);
    for (int i = 0; i < n; i++) {
        const float *row;
        skmt_piece p = SKMT_INIT(skmt_piece);
        int width = 0;

        skmt_result_target_piece(r, hyp, seg, i, &p);
        row = skmt_result_attention(r, hyp, seg, i, &width);
        jput_object(t);
        result_writer_put_piece(t, &p);
        jput_number_field(t, "logprob", p.logprob);
        if (row) put_attention(t, row, width);
        if (w->explained) explain_json_token(t, r, hyp, seg, i);
        jput_object_end(t);
    }
    jput_array_end(t);
}

/* Mark a sentence whose stored translation was reused; it has no tokens. */
static void put_exact(struct textbuf *t, const skmt_result *r, int seg)
{
    skmt_found_pair pair = SKMT_INIT(skmt_found_pair);

    skmt_result_pair(r, seg, 0, &pair);
    if (!pair.exact) return;
    jput_bool_field(t, "exact", true);
    if (skmt_result_pairs(r, seg) < 2) return;
    jput_key(t, "alternatives");
    explain_json_alternatives(t, r, seg, seg + 1);
}

static void put_segments(struct result_writer *w, const skmt_result *r, int hyp)
{
    struct textbuf *t = &w->line;
    int n = skmt_result_sentences(r);

    jput_key(t, "segments");
    jput_array(t);
    for (int seg = 0; seg < n; seg++) {
        size_t begin = 0, end = 0;

        skmt_result_sentence_span(r, seg, &begin, &end);
        jput_object(t);
        put_span(t, begin, end);
        jput_number_field(t, "score", skmt_result_sentence_score(r, hyp, seg));
        /* These are the same for all translations. */
        if (hyp == 0) put_source(t, r, seg);
        if (hyp == 0 && w->explained) explain_json_pairs(t, r, seg);
        if (hyp == 0) put_exact(t, r, seg);
        put_tokens(w, r, hyp, seg);
        jput_object_end(t);
    }
    jput_array_end(t);
}

static void put_hypothesis(struct result_writer *w, const skmt_result *r,
                           int hyp)
{
    struct textbuf *t = &w->line;

    jput_text_field(t, "text", skmt_result_text(r, hyp));
    jput_number_field(t, "score", skmt_result_score(r, hyp));
    jput_number_field(t, "logprob", skmt_result_logprob(r, hyp));
    put_segments(w, r, hyp);
}

static void result_writer_put_json(struct result_writer *w,
                                   const skmt_result *r)
{
    struct textbuf *t = &w->line;
    int n = skmt_result_hyps(r);

    jput_object(t);
    jput_int_field(t, "line", (int64_t)w->lines + 1);
    if (n > 0) put_hypothesis(w, r, 0);
    else jput_text_field(t, "text", "");
    if (w->ranked) {
        jput_key(t, "nbest");
        jput_array(t);
        for (int h = 0; h < n; h++) {
            jput_object(t);
            put_hypothesis(w, r, h);
            jput_object_end(t);
        }
        jput_array_end(t);
    }
    jput_line_end(t);
}

/* ---- writing ---------------------------------------------------------- */

/* Write everything. Returns false on failure, with the reason in errno. */
static bool result_writer_write_all(int fd, const struct textbuf *t)
{
    const char *at = t->data;
    size_t left = t->len;

    while (left > 0) {
        ssize_t n = write(fd, at, left);

        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        left -= (size_t)n;
    }
    return true;
}

static void result_writer_write_out(struct result_writer *w)
{
    if (w->line.failed)
        writer_fail(w, EXIT_TROUBLE, "skmt: out of memory");
    else if (result_writer_write_all(w->fd, &w->line))
        return;
    else if (errno == EPIPE)
        /* The reader of the pipe closed it, which is no error. Exit as if
         * by SIGPIPE (13), but without a message. */
        writer_fail(w, EXIT_SIGNAL + 13, "%s", "");
    else
        writer_fail(w, EXIT_TROUBLE, "skmt: writing %s: %s", w->name,
                    strerror(errno));
}

static void text_failed(struct result_writer *w, const struct origin *o,
                        const skmt_error *err)
{
    if (err->status == SKMT_ERR_CANCELED)
        writer_fail(w, EXIT_TROUBLE, "%s", "");
    else writer_fail(w, EXIT_TROUBLE, "%s:%llu: %s", o->file,
                     (unsigned long long)o->number, err->message);
}

static void add_to_page(struct result_writer *w, const skmt_result *r,
                        const struct origin *o)
{
    skmt_error err;

    if (!w->html || writer_status(w)) return;
    if (!html_add(w->html, &w->explain, r, o->text, o->len, &err))
        writer_fail(w, EXIT_TROUBLE, "skmt: %s", err.message);
}

static void put_result(struct result_writer *w, const skmt_result *r, bool cr)
{
    textbuf_reset(&w->line);
    if (w->json) result_writer_put_json(w, r);
    else if (w->explained) put_explained(w, r);
    else if (w->ranked) put_ranked(w, r, cr);
    else result_writer_put_plain(w, r, cr);
    if (!writer_status(w)) result_writer_write_out(w);
}

int writer_result(void *user, uint64_t number, skmt_result *r,
                  const skmt_error *err)
{
    struct result_writer *w = user;
    struct origin o = result_writer_pop(w);

    (void)number;
    if (!writer_status(w) && !r) text_failed(w, &o, err);
    if (!writer_status(w)) {
        put_result(w, r, o.cr);
        add_to_page(w, r, &o);
        w->lines++;
        w->bytes += o.bytes;
        progress_update(&w->progress, w->bytes, w->lines);
    }
    free(o.text);
    return writer_status(w) != 0;
}
