/* score_text.c - prints the scores of skmt score as tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "score_call.h"
#include "tm_print.h"

#define CELL_WIDTH 9            /* of a score */
#define SIGNIFICANT 0.05        /* a difference with a smaller p gets a star */

/* ---- cells -------------------------------------------------------------- */

static void put_padded(struct textbuf *t, const char *name, size_t width)
{
    size_t begin = t->len;

    put_visible(t, name, strlen(name));
    do textbuf_adds(t, " "); while (t->len < begin + width + 2);
}

/* Return the larger of a width and the length of a text. */
static size_t max_width(size_t width, const char *text)
{
    size_t len = strlen(text);

    return width > len ? width : len;
}

static void score_text_put_cell(struct textbuf *t, double v)
{
    if (isnan(v)) textbuf_addf(t, "%*s", CELL_WIDTH, "-");
    else textbuf_addf(t, "%*.2f", CELL_WIDTH, v);
}

static void put_int_cell(struct textbuf *t, double n)
{
    textbuf_addf(t, "%*.0f", CELL_WIDTH, n);
}

/* ---- all lines ---------------------------------------------------------- */

static void score_text_put_result(struct score_call *c, const char *file,
                                  const struct score_result *r)
{
    struct textbuf *t = &c->out;

    put_padded(t, file, c->name_width);
    textbuf_addf(t, "%-11s %7.2f", r->title, r->score);
    if (r->has_interval) textbuf_addf(t, "  %7.2f %7.2f", r->low, r->high);
    if (r->has_p) textbuf_addf(t, "  %6.4f", r->p);
    textbuf_adds(t, "\n");
}

static void score_text_put_scores(struct score_call *c)
{
    struct textbuf *t = &c->out;

    put_padded(t, "file", c->name_width);
    textbuf_addf(t, "%-11s %7s", "metric", "score");
    if (c->resamples) textbuf_addf(t, "  %15s", "95% within");
    if (c->resamples && c->n_files > 1) textbuf_addf(t, "  %6s", "p");
    textbuf_adds(t, "\n");
    for (int i = 0; i < c->n_files; i++)
        for (int k = 0; k < c->n_metrics; k++)
            score_text_put_result(c, c->files[i].name,
                                  result_at(c, i, c->n_groups - 1, k));
}

/* ---- by the length of documents ----------------------------------------- */

static const char lengths_heading[] = "lines of a document";

/* Cells in this table begin with a blank, which may become the star of the
 * cell before. */
static void put_group_header(struct score_call *c, size_t width)
{
    struct textbuf *t = &c->out;

    put_padded(t, lengths_heading, width);
    for (int g = 0; g < c->n_groups; g++)
        textbuf_addf(t, " %*s", CELL_WIDTH, c->groups[g].label);
    textbuf_adds(t, "\n");
    put_padded(t, "documents", width);
    for (int g = 0; g < c->n_groups; g++)
        textbuf_addf(t, " %*zu", CELL_WIDTH, c->groups[g].documents);
    textbuf_adds(t, "\n");
    put_padded(t, "lines", width);
    for (int g = 0; g < c->n_groups; g++)
        textbuf_addf(t, " %*zu", CELL_WIDTH, c->groups[g].lines);
    textbuf_adds(t, "\n");
}

static void put_group_row(struct score_call *c, int file, int metric,
                          size_t width)
{
    struct textbuf *t = &c->out;
    bool star = false;

    textbuf_adds(t, "  ");
    put_padded(t, c->files[file].name, width - 2);
    for (int g = 0; g < c->n_groups; g++) {
        const struct score_result *r = result_at(c, file, g, metric);

        textbuf_adds(t, star ? "*" : " ");
        score_text_put_cell(t, r->score);
        star = r->has_p && r->p < SIGNIFICANT;
    }
    textbuf_adds(t, star ? "*\n" : "\n");
}

static void score_text_put_groups(struct score_call *c)
{
    size_t width = max_width(c->name_width + 2, lengths_heading);

    textbuf_adds(&c->out, "\n");
    put_group_header(c, width);
    for (int k = 0; k < c->n_metrics; k++) {
        textbuf_addf(&c->out, "%s\n", result_at(c, 0, 0, k)->title);
        for (int i = 0; i < c->n_files; i++) put_group_row(c, i, k, width);
    }
}

/* ---- the R-indicator ---------------------------------------------------- */

static double score_detail(const struct score_call *c, int file, int group,
                           const char *metric, int i)
{
    double v = NAN;

    skmt_score_detail(c->files[file].scores[group], metric, i, &v);
    return v;
}

/* Append the numbers of words, which are the same for all files. */
static void put_r_words(struct score_call *c, int group, const char *metric)
{
    struct textbuf *t = &c->out;
    double all = 0;

    put_padded(t, c->groups[group].label, strlen(lengths_heading));
    put_padded(t, "(words)", max_width(c->name_width, "(words)"));
    for (int i = 0; i < R_CLASSES; i++) {
        double n = score_detail(c, 0, group, metric, 2 * R_CLASSES + i);

        put_int_cell(t, n);
        all += n;
    }
    put_int_cell(t, all);
    textbuf_adds(t, "\n");
}

static void put_r_row(struct score_call *c, int file, int group, int metric)
{
    const struct score_result *r = result_at(c, file, group, metric);
    struct textbuf *t = &c->out;

    put_padded(t, "", strlen(lengths_heading));
    put_padded(t, c->files[file].name, max_width(c->name_width, "(words)"));
    for (int i = 0; i < R_CLASSES; i++)
        score_text_put_cell(t, score_detail(c, file, group, r->metric, i));
    score_text_put_cell(t, r->score);
    textbuf_adds(t, "\n");
}

static void put_r(struct score_call *c, int metric)
{
    static const char *const headings[] = { "R0", "R1", "R2-5", "R6-9", "R10+",
                                            "all" };
    const struct score_result *r = result_at(c, 0, 0, metric);
    struct textbuf *t = &c->out;

    textbuf_addf(t, "\n%s: words found, by the number of earlier lines of the "
                 "document that had them\n", r->title);
    put_padded(t, lengths_heading, strlen(lengths_heading));
    put_padded(t, "file", max_width(c->name_width, "(words)"));
    for (int i = 0; i <= R_CLASSES; i++)
        textbuf_addf(t, "%*s", CELL_WIDTH, headings[i]);
    textbuf_adds(t, "\n");
    for (int g = 0; g < c->n_groups; g++) {
        put_r_words(c, g, r->metric);
        for (int i = 0; i < c->n_files; i++) put_r_row(c, i, g, metric);
    }
}

/* ---- words by frequency ------------------------------------------------- */

static void put_word_row(struct score_call *c, int file, int i)
{
    const skmt_words_info *w = &c->files[file].words[i];
    struct textbuf *t = &c->out;

    put_padded(t, w->frequency, strlen("[100,1000)"));
    put_padded(t, c->files[file].name, c->name_width);
    put_int_cell(t, (double)w->ref_words);
    put_int_cell(t, (double)w->hyp_words);
    score_text_put_cell(t, w->f1);
    score_text_put_cell(t, w->precision);
    score_text_put_cell(t, w->recall);
    textbuf_adds(t, "\n");
}

static void score_text_put_words(struct score_call *c)
{
    static const char *const headings[] = { "in ref", "in file", "F1",
                                            "precis.", "recall" };
    struct textbuf *t = &c->out;

    textbuf_adds(t, "\nwords by their frequency in ");
    if (c->freq_corpus) put_visible(t, c->freq_corpus, strlen(c->freq_corpus));
    else textbuf_adds(t, "the references");
    textbuf_adds(t, "\n");
    put_padded(t, "frequency", strlen("[100,1000)"));
    put_padded(t, "file", c->name_width);
    for (int i = 0; i < 5; i++) textbuf_addf(t, "%*s", CELL_WIDTH, headings[i]);
    textbuf_adds(t, "\n");
    for (int i = 0; i < c->n_frequencies; i++)
        for (int f = 0; f < c->n_files; f++) put_word_row(c, f, i);
}

/* ---- footer ------------------------------------------------------------- */

static void put_resamples(struct score_call *c)
{
    struct textbuf *t = &c->out;

    textbuf_addf(t, "%ld resamples, seed %ld", c->resamples, c->seed);
    if (c->n_files > 1) {
        textbuf_adds(t, "; p: for the difference from ");
        put_visible(t, c->files[0].name, strlen(c->files[0].name));
        if (c->docs) textbuf_addf(t, "; *: p < %g", SIGNIFICANT);
    }
    textbuf_adds(t, "\n");
}

static void score_text_put_footer(struct score_call *c)
{
    struct textbuf *t = &c->out;

    textbuf_adds(t, "\n");
    for (int k = 0; k < c->n_metrics; k++)
        textbuf_addf(t, "%-11s %s\n", result_at(c, 0, 0, k)->title,
                     result_at(c, 0, 0, k)->signature);
    if (c->words)
        textbuf_addf(t, "%-11s %s\n", "words", skmt_words_signature());
    if (c->resamples) put_resamples(c);
}

void score_text(struct score_call *c)
{
    score_text_put_scores(c);
    if (c->docs) score_text_put_groups(c);
    for (int k = 0; k < c->n_metrics; k++)
        if (is_r_indicator(result_at(c, 0, 0, k)->metric)) put_r(c, k);
    if (c->words) score_text_put_words(c);
    score_text_put_footer(c);
}
