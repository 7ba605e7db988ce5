/* learn_lines.c - skmt learn without a terminal: translates lines and stores
 * the corrections that come with them. learn_ask.c also uses the functions for
 * a single line.
 *
 * A correction is stored before its line is written, and the line is written
 * before the next one is read. Therefore a program that reads a line knows that
 * its correction is on disk and influences all following lines. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "common/explain.h"
#include "common/interrupt.h"
#include "common/jput.h"
#include "learn_call.h"

/* ---- errors ------------------------------------------------------------- */

int learn_bad_line(struct learn_call *c, const struct input_line *line,
                   const char *what)
{
    progress_end(&c->progress);
    fprintf(stderr, "%s:%llu: %s\n", line->file,
            (unsigned long long)line->number, what);
    return EXIT_TROUBLE;
}

int learn_failed(struct learn_call *c, const skmt_error *err)
{
    progress_end(&c->progress);
    if (interrupt_signal()) return EXIT_SIGNAL + interrupt_signal();
    return complain(err->status == SKMT_ERR_ARGUMENT ? EXIT_USAGE
                                                     : EXIT_TROUBLE,
                    "%s", err->message);
}

/* ---- translating -------------------------------------------------------- */

/* Copy the translation to c->text. A model can produce any character; line
 * ends are replaced so that lines of output correspond to lines of input. */
static void copy_translation(struct learn_call *c)
{
    struct textbuf *t = &c->text;

    textbuf_reset(t);
    textbuf_adds(t, skmt_result_text(c->result, 0));
    textbuf_add(t, "", 1);
    for (size_t i = 0; i + 1 < t->len; i++)
        if (strchr("\n\r", t->data[i])) t->data[i] = ' ';
}

static bool is_last_source(const struct learn_call *c, const char *source,
                           size_t len)
{
    return c->result && c->source.len == len
           && (!len || !memcmp(c->source.data, source, len));
}

skmt_status learn_translate(struct learn_call *c, const char *source,
                            size_t len, skmt_error *err)
{
    skmt_status st = learn_adapt_poll(c, err);

    if (st || is_last_source(c, source, len)) return st;
    skmt_result_free(c->result);
    c->result = NULL;
    st = skmt_session_translate(c->session, source, NULL, &c->result, err);
    if (st) return st;
    textbuf_reset(&c->source);
    textbuf_add(&c->source, source, len);
    copy_translation(c);
    if (!c->source.failed && !c->text.failed) return SKMT_OK;
    *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                         .message = "out of memory" };
    return SKMT_ERR_NOMEM;
}

double learn_similarity(const struct learn_call *c, bool *exact)
{
    double best = 0;
    int n = skmt_result_sentences(c->result);

    *exact = false;
    for (int sentence = 0; sentence < n; sentence++) {
        skmt_found_pair s = SKMT_INIT(skmt_found_pair);

        if (!skmt_result_pairs(c->result, sentence)) continue;
        skmt_result_pair(c->result, sentence, 0, &s);
        if (s.similarity > best) best = s.similarity;
        if (s.exact) *exact = true;
    }
    return best;
}

/* ---- writing ------------------------------------------------------------ */

static int write_failed(struct learn_call *c)
{
    int why = errno;

    progress_end(&c->progress);
    /* The reader of the pipe closed it, which is no error. Exit as if by
     * SIGPIPE (13), but without a message. */
    if (why == EPIPE) return EXIT_SIGNAL + 13;
    return complain(EXIT_TROUBLE, "writing %s: %s", c->fd_name,
                    strerror(why));
}

static int learn_lines_write_out(struct learn_call *c)
{
    const char *at = c->out.data;
    size_t left = c->out.len;

    if (c->out.failed || c->alternatives.failed)
        return complain(EXIT_TROUBLE, "%s",
                        textbuf_why(c->out.failed ? &c->out
                                                  : &c->alternatives));
    while (left > 0) {
        ssize_t n = write(c->fd, at, left);

        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return write_failed(c);
        at += n;
        left -= (size_t)n;
    }
    return EXIT_DONE;
}

int learn_write_bytes(struct learn_call *c, const struct textbuf *bytes)
{
    if (c->fd < 0 || !bytes->len) return EXIT_DONE;
    textbuf_reset(&c->out);
    textbuf_add(&c->out, bytes->data, bytes->len);
    return learn_lines_write_out(c);
}

int learn_write(struct learn_call *c, const char *text, bool cr)
{
    if (c->fd < 0) return EXIT_DONE;
    textbuf_reset(&c->out);
    textbuf_adds(&c->out, text);
    textbuf_adds(&c->out, cr ? "\r\n" : "\n");
    return learn_lines_write_out(c);
}

/* Write one object: the translation, the best match, and the stored pair. */
static int write_json(struct learn_call *c, bool translated,
                      double similarity, bool exact, bool stored)
{
    struct textbuf *t = &c->out;

    textbuf_reset(t);
    jput_object(t);
    jput_int_field(t, "line", (int64_t)c->n_lines);
    jput_text_field(t, "text", c->text.data);
    if (translated) {
        jput_number_field(t, "similarity", similarity);
        jput_bool_field(t, "exact", exact);
    }
    if (translated && c->alternatives.len) {
        jput_key(t, "alternatives");
        jput_raw(t, c->alternatives.data, c->alternatives.len);
    }
    if (stored) {
        jput_int_field(t, "stored", c->outcome.id);
        jput_int_field(t, "replaced", c->outcome.n_replaced);
    }
    jput_line_end(t);
    return learn_lines_write_out(c);
}

/* ---- a line ------------------------------------------------------------- */

int learn_split(struct learn_call *c, struct input_line *line,
                char **correction)
{
    char *tab = memchr(line->text, '\t', line->len);

    *correction = NULL;
    if (memchr(line->text, 0, line->len))
        return learn_bad_line(c, line, "the line contains a NUL byte");
    if (!tab) return EXIT_DONE;
    if (strchr(tab + 1, '\t'))
        return learn_bad_line(c, line, "expected a source, or a source, a tab "
                              "and a correction");
    *tab = 0;
    line->len = (size_t)(tab - line->text);
    if (tab[1]) *correction = tab + 1;
    if (*correction && !line->len)
        return learn_bad_line(c, line, "there is a correction, but no source");
    return EXIT_DONE;
}

/* Read the correction of a line from the --corrections file. */
static int next_correction(struct learn_call *c, struct lines *in,
                           const struct input_line *line, char **correction)
{
    struct input_line found;
    enum lines_state st = lines_next(in, true, &found);

    *correction = NULL;
    if (memchr(line->text, 0, line->len))
        return learn_bad_line(c, line, "the line contains a NUL byte");
    if (st == LINES_END)
        return learn_bad_line(c, line, "the file of corrections has no line "
                              "for this input line");
    if (st == LINES_FAILED) {
        progress_end(&c->progress);
        return complain(EXIT_TROUBLE, "%s", in->message);
    }
    if (st == LINES_STOPPED) return EXIT_SIGNAL + interrupt_signal();
    if (memchr(found.text, 0, found.len))
        return learn_bad_line(c, &found, "the line contains a NUL byte");
    if (found.len) *correction = found.text;
    if (found.len && !line->len)
        return learn_bad_line(c, &found, "there is a correction, but no "
                              "source");
    return EXIT_DONE;
}

static bool is_about_text(const skmt_error *err)
{
    return err->status == SKMT_ERR_TEXT || err->status == SKMT_ERR_LIMIT;
}

static int learn_lines_line_failed(struct learn_call *c,
                                   const struct input_line *line,
                                   const skmt_error *err)
{
    return is_about_text(err) ? learn_bad_line(c, line, err->message)
                              : learn_failed(c, err);
}

static int learn_lines_learn_line(struct learn_call *c, struct input_line *line,
                                  const char *correction)
{
    double similarity = 0;
    bool exact = false;
    skmt_error err;

    if (learn_translate(c, line->text, line->len, &err))
        return learn_lines_line_failed(c, line, &err);
    similarity = learn_similarity(c, &exact);
    textbuf_reset(&c->alternatives);
    explain_json_alternatives(&c->alternatives, c->result, 0,
                              skmt_result_sentences(c->result));
    if (correction && learn_store(c, line->text, correction, &err))
        return learn_lines_line_failed(c, line, &err);
    if (c->json)
        return write_json(c, line->len > 0, similarity, exact,
                          correction != NULL);
    return learn_write(c, c->text.data, line->cr);
}

/* ---- all lines ---------------------------------------------------------- */

static uint64_t learn_lines_total_bytes(const struct learn_call *c)
{
    uint64_t total = 0;

    for (int i = 0; i < c->n_files; i++) {
        bool standard = !strcmp(c->files[i], "-");
        struct stat s;

        if ((standard ? fstat(STDIN_FILENO, &s) : stat(c->files[i], &s))
            || !S_ISREG(s.st_mode))
            return 0;
        total += (uint64_t)s.st_size;
    }
    return total;
}

static int learn_lines_each_line(struct learn_call *c, struct lines *in,
                                 struct lines *corrections)
{
    uint64_t bytes = 0;

    for (;;) {
        struct input_line line;
        enum lines_state st = lines_next(in, true, &line);
        char *correction;
        int status;

        if (st == LINES_STOPPED || interrupt_signal())
            return EXIT_SIGNAL + interrupt_signal();
        if (st == LINES_END) return EXIT_DONE;
        if (st == LINES_FAILED) return complain(EXIT_TROUBLE, "%s",
                                                in->message);
        c->n_lines++;
        status = c->corrections
                     ? next_correction(c, corrections, &line, &correction)
                     : learn_split(c, &line, &correction);
        if (!status) status = learn_lines_learn_line(c, &line, correction);
        if (status) return status;
        progress_update(&c->progress, bytes += line.bytes, c->n_lines);
    }
}

int learn_lines(struct learn_call *c)
{
    struct lines in, corrections;
    int status;

    lines_open(&in, c->files, c->n_files, interrupt_fd());
    lines_open(&corrections, &c->corrections, 1, interrupt_fd());
    progress_begin(&c->progress, "lines", learn_lines_total_bytes(c),
                   !c->quiet && !isatty(c->fd));
    status = learn_lines_each_line(c, &in, &corrections);
    progress_end(&c->progress);
    lines_close(&in);
    lines_close(&corrections);
    return status;
}
