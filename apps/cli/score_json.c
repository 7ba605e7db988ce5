/* score_json.c - prints the scores of skmt score --json, one object per
 * file. */
#include "common/jput.h"
#include "score_call.h"

static void jput_result(struct textbuf *t, const struct score_result *r,
                        const skmt_score *s)
{
    const char *name;
    double value;

    jput_object(t);
    jput_text_field(t, "metric", r->metric);
    jput_exact_field(t, "score", r->score);
    if (r->has_interval) {
        jput_exact_field(t, "low", r->low);
        jput_exact_field(t, "high", r->high);
    }
    if (r->has_p) jput_exact_field(t, "p", r->p);
    for (int k = 0; (name = skmt_score_detail(s, r->metric, k, &value)); k++)
        jput_exact_field(t, name, value);
    jput_text_field(t, "signature", r->signature);
    jput_object_end(t);
}

/* Append the members of a group's object. The caller writes the braces. */
static void jput_group(struct score_call *c, int file, int group)
{
    const struct score_group *g = &c->groups[group];
    struct textbuf *t = &c->out;

    if (c->docs) jput_int_field(t, "documents", (int64_t)g->documents);
    jput_int_field(t, "lines", (int64_t)g->lines);
    jput_key(t, "scores");
    jput_array(t);
    for (int k = 0; k < c->n_metrics; k++)
        jput_result(t, result_at(c, file, group, k),
                    c->files[file].scores[group]);
    jput_array_end(t);
}

static void jput_groups(struct score_call *c, int file)
{
    struct textbuf *t = &c->out;

    jput_key(t, "buckets");
    jput_array(t);
    for (int g = 0; g < c->n_groups - 1; g++) {
        jput_object(t);
        jput_int_field(t, "from", (int64_t)c->groups[g].min_lines);
        if (c->groups[g].max_lines != SIZE_MAX)
            jput_int_field(t, "to", (int64_t)c->groups[g].max_lines);
        jput_group(c, file, g);
        jput_object_end(t);
    }
    jput_array_end(t);
}

static void jput_frequency(struct textbuf *t, const skmt_words_info *w)
{
    jput_object(t);
    jput_text_field(t, "frequency", w->frequency);
    jput_int_field(t, "ref_words", w->ref_words);
    jput_int_field(t, "hyp_words", w->hyp_words);
    jput_int_field(t, "matched", w->matched);
    jput_exact_field(t, "f1", w->f1);
    jput_exact_field(t, "precision", w->precision);
    jput_exact_field(t, "recall", w->recall);
    jput_object_end(t);
}

static void jput_words(struct score_call *c, int file)
{
    struct textbuf *t = &c->out;

    jput_key(t, "words");
    jput_object(t);
    jput_text_field(t, "corpus", c->freq_corpus ? c->freq_corpus : c->ref);
    jput_text_field(t, "signature", skmt_words_signature());
    jput_key(t, "frequencies");
    jput_array(t);
    for (int i = 0; i < c->n_frequencies; i++)
        jput_frequency(t, &c->files[file].words[i]);
    jput_array_end(t);
    jput_object_end(t);
}

void score_json(struct score_call *c)
{
    struct textbuf *t = &c->out;

    for (int i = 0; i < c->n_files; i++) {
        jput_object(t);
        jput_text_field(t, "file", c->files[i].name);
        jput_group(c, i, c->n_groups - 1);
        if (c->docs) jput_groups(c, i);
        if (c->words) jput_words(c, i);
        jput_line_end(t);
    }
}
