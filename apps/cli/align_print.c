/* align_print.c - prints what skmt align finds: links as numbers, as words or
 * as JSON; the report of the training; scores; progress and errors. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "align_call.h"
#include "common/interrupt.h"
#include "common/jput.h"
#include "common/program.h"

/* ---- errors and progress ------------------------------------------------ */

int align_show_progress(void *user, const char *stage, uint64_t done,
                        uint64_t total, uint64_t units)
{
    struct align_call *c = user;

    if (strncmp(c->stage, stage, sizeof c->stage - 1)) {
        progress_end(&c->progress);
        progress_begin(&c->progress, "pairs", total, !c->quiet);
        snprintf(c->stage, sizeof c->stage, "%s", stage);
        c->progress.stage = c->stage;
    }
    c->progress.total = total;
    progress_update(&c->progress, done, units);
    return interrupt_signal() != 0;
}

int align_failed(struct align_call *c, const skmt_error *err)
{
    progress_end(&c->progress);
    if (err->status == SKMT_ERR_CANCELED && interrupt_signal())
        return EXIT_SIGNAL + interrupt_signal();
    return complain_error(err);
}

int align_report(void *user, const char *direction, int iteration,
                 int iterations, double log_likelihood, double perplexity,
                 double tension)
{
    struct align_call *c = user;

    (void)iterations;
    if (c->quiet) return interrupt_signal() != 0;
    progress_end(&c->progress);
    if (!c->reported)
        fprintf(stderr, "direction  iteration    log-likelihood    perplexity"
                "   tension\n");
    c->reported = true;
    fprintf(stderr, "%-9s  %9d  %16.2f  %12.2f  %8.4f\n", direction, iteration,
            log_likelihood, perplexity, tension);
    return interrupt_signal() != 0;
}

int64_t align_stat(const struct align_call *c, const char *wanted)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_aligner_stat(c->aligner, i, &n)); i++)
        if (!strcmp(name, wanted)) return n;
    return 0;
}

void align_notes(struct align_call *c)
{
    int64_t empty = align_stat(c, "empty"), n_long = align_stat(c, "long");

    if (c->quiet) return;
    if (empty)
        complain(0, "pairs with an empty text: %lld; they have no links",
                 (long long)empty);
    if (n_long)
        complain(0, "pairs with more than 1000 words in a text: %lld; they "
                 "have no links", (long long)n_long);
}

/* ---- lines -------------------------------------------------------------- */

/* Write c->line with a line end. */
static int put_align_line(struct align_call *c)
{
    skmt_error err;

    textbuf_adds(&c->line, "\n");
    if (c->line.failed)
        return complain(EXIT_TROUBLE, "%s", textbuf_why(&c->line));
    if (skmt_output_write(c->out, c->line.data, c->line.len, &err))
        return align_failed(c, &err);
    textbuf_reset(&c->line);
    return EXIT_DONE;
}

/* Append the words of a side, separated by blanks. */
static void add_side_words(struct align_call *c, int side)
{
    const char *word;
    size_t len;

    for (size_t i = 0; (word = skmt_aligner_word(c->aligner, side, i, &len));
         i++) {
        if (i) textbuf_adds(&c->line, " ");
        textbuf_add(&c->line, word, len);
    }
}

static int split_align_pair(struct align_call *c, const struct align_texts *t)
{
    skmt_error err;

    if (!skmt_aligner_split(c->aligner, t->source, t->source_len, t->target,
                            t->target_len, &err)) return EXIT_DONE;
    return align_failed(c, &err);
}

int align_put_tokens(struct align_call *c, const struct align_texts *t)
{
    int status = split_align_pair(c, t);

    if (status) return status;
    add_side_words(c, 0);
    textbuf_adds(&c->line, " ||| ");
    add_side_words(c, 1);
    return put_align_line(c);
}

/* ---- links -------------------------------------------------------------- */

static int put_pharaoh(struct align_call *c)
{
    const char *text = skmt_aligner_pharaoh(c->aligner);

    if (!text) return complain(EXIT_TROUBLE, "out of memory");
    textbuf_adds(&c->line, text);
    return put_align_line(c);
}

static void add_linked_word(struct align_call *c, int side, size_t i)
{
    size_t len;
    const char *word = skmt_aligner_word(c->aligner, side, i, &len);

    textbuf_add(&c->line, word, len);
}

/* "das=the Hausboot=house+boat": the target words of each source word. */
static int put_linked_words(struct align_call *c, const skmt_link *links,
                            size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!i || links[i].source != links[i - 1].source) {
            if (i) textbuf_adds(&c->line, " ");
            add_linked_word(c, 0, links[i].source);
            textbuf_adds(&c->line, "=");
        } else {
            textbuf_adds(&c->line, "+");
        }
        add_linked_word(c, 1, links[i].target);
    }
    return put_align_line(c);
}

static void jput_side_words(struct align_call *c, const char *key, int side)
{
    const char *word;
    size_t len;

    jput_key(&c->line, key);
    jput_array(&c->line);
    for (size_t i = 0; (word = skmt_aligner_word(c->aligner, side, i, &len));
         i++)
        jput_string(&c->line, word, len);
    jput_array_end(&c->line);
}

static int put_json_links(struct align_call *c, const skmt_link *links,
                          size_t n)
{
    jput_object(&c->line);
    jput_side_words(c, "source", 0);
    jput_side_words(c, "target", 1);
    jput_key(&c->line, "links");
    jput_array(&c->line);
    for (size_t i = 0; i < n; i++) {
        jput_array(&c->line);
        jput_int(&c->line, links[i].source);
        jput_int(&c->line, links[i].target);
        jput_array_end(&c->line);
    }
    jput_array_end(&c->line);
    jput_object_end(&c->line);
    return put_align_line(c);
}

int align_put_links(struct align_call *c, const skmt_link *links, size_t n,
                    const struct align_texts *t)
{
    int status;

    if (c->print == ALIGN_PRINT_NUMBERS) return put_pharaoh(c);
    status = split_align_pair(c, t);
    if (status) return status;
    return c->print == ALIGN_PRINT_WORDS ? put_linked_words(c, links, n)
                                         : put_json_links(c, links, n);
}

/* ---- scores ------------------------------------------------------------- */

static void add_align_score(struct textbuf *t, const char *name, double value)
{
    bool percent = !strcmp(name, "precision") || !strcmp(name, "recall") ||
                   !strcmp(name, "aer");

    textbuf_addf(t, "%-14s", name);
    if (isnan(value)) textbuf_addf(t, "%10s\n", "-");
    else textbuf_addf(t, "%10.*f\n", percent ? 2 : 0, value);
}

int align_put_scores(struct align_call *c)
{
    struct textbuf *t = &c->line;
    const char *name;
    double value;

    textbuf_reset(t);
    if (c->json) jput_object(t);
    for (int i = 0; (name = skmt_gold_stat(c->gold, i, &value)); i++) {
        if (c->json) jput_number_field(t, name, value);
        else add_align_score(t, name, value);
    }
    if (c->json) jput_line_end(t);
    if (t->failed) return complain(EXIT_TROUBLE, "%s", textbuf_why(t));
    fwrite(t->data, 1, t->len, stdout);
    return EXIT_DONE;
}
