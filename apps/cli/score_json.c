/* score_json.c - prints the scores of skmt score --json, one object per
 * file. */
#include <math.h>

#include "score_call.h"
#include "tm_print.h"

/* Append a number with more digits than jput_number(), so that counts are
 * exact. */
static void jput_exact(struct textbuf *t, const char *key, double v)
{
    jput_key(t, key);
    if (isfinite(v)) textbuf_addf(t, "%.12g", v);
    else textbuf_adds(t, "null");
}

static void jput_result(struct textbuf *t, const struct score_result *r,
                        const skmt_score *s)
{
    const char *name;
    double value;

    jput_comma(t);
    textbuf_adds(t, "{");
    jput_field(t, "metric", r->metric);
    jput_exact(t, "score", r->score);
    if (r->has_interval) {
        jput_exact(t, "low", r->low);
        jput_exact(t, "high", r->high);
    }
    if (r->has_p) jput_exact(t, "p", r->p);
    for (int k = 0; (name = skmt_score_detail(s, r->metric, k, &value)); k++)
        jput_exact(t, name, value);
    jput_field(t, "signature", r->signature);
    textbuf_adds(t, "}");
}

/* Append the members of a group's object. The caller writes the braces. */
static void jput_group(struct score_call *c, int file, int group)
{
    const struct score_group *g = &c->groups[group];
    struct textbuf *t = &c->out;

    if (c->docs) jput_int(t, "documents", (int64_t)g->documents);
    jput_int(t, "lines", (int64_t)g->lines);
    jput_key(t, "scores");
    textbuf_adds(t, "[");
    for (int k = 0; k < c->n_metrics; k++)
        jput_result(t, result_at(c, file, group, k),
                    c->files[file].scores[group]);
    textbuf_adds(t, "]");
}

static void jput_groups(struct score_call *c, int file)
{
    struct textbuf *t = &c->out;

    jput_key(t, "buckets");
    textbuf_adds(t, "[");
    for (int g = 0; g < c->n_groups - 1; g++) {
        jput_comma(t);
        textbuf_adds(t, "{");
        jput_int(t, "from", (int64_t)c->groups[g].min_lines);
        if (c->groups[g].max_lines != SIZE_MAX)
            jput_int(t, "to", (int64_t)c->groups[g].max_lines);
        jput_group(c, file, g);
        textbuf_adds(t, "}");
    }
    textbuf_adds(t, "]");
}

static void jput_frequency(struct textbuf *t, const skmt_words_info *w)
{
    jput_comma(t);
    textbuf_adds(t, "{");
    jput_field(t, "frequency", w->frequency);
    jput_int(t, "ref_words", w->ref_words);
    jput_int(t, "hyp_words", w->hyp_words);
    jput_int(t, "matched", w->matched);
    jput_exact(t, "f1", w->f1);
    jput_exact(t, "precision", w->precision);
    jput_exact(t, "recall", w->recall);
    textbuf_adds(t, "}");
}

static void jput_words(struct score_call *c, int file)
{
    struct textbuf *t = &c->out;

    jput_key(t, "words");
    textbuf_adds(t, "{");
    jput_field(t, "corpus", c->freq_corpus ? c->freq_corpus : c->ref);
    jput_field(t, "signature", skmt_words_signature());
    jput_key(t, "frequencies");
    textbuf_adds(t, "[");
    for (int i = 0; i < c->n_frequencies; i++)
        jput_frequency(t, &c->files[file].words[i]);
    textbuf_adds(t, "]}");
}

void score_json(struct score_call *c)
{
    struct textbuf *t = &c->out;

    for (int i = 0; i < c->n_files; i++) {
        textbuf_adds(t, "{");
        jput_field(t, "file", c->files[i].name);
        jput_group(c, i, c->n_groups - 1);
        if (c->docs) jput_groups(c, i);
        if (c->words) jput_words(c, i);
        textbuf_adds(t, "}\n");
    }
}
