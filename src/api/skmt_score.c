/* skmt_score.c - scores of translations: that part of include/skmt.h. */
#include <stdio.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "api/handles.h"
#include "base/mem.h"
#include "metrics/bootstrap.h"
#include "metrics/metric.h"
#include "text/utf8.h"

#define METRICS_MAX 8
/* Behind sacrebleu's words: who counted. */
#define SIGNED_BY "|skmt:" SKMT_VERSION_TEXT

struct part {                   /* a metric and its place in a row */
    const struct metric *m;
    size_t at;
    int64_t sums[METRIC_STATS_MAX];
    char signature[128];
};

struct skmt_score {
    struct part parts[METRICS_MAX];
    int n_parts;
    int64_t *rows;              /* [n][width] */
    size_t n, cap, width;
    uint64_t refs;              /* hash of the references in order */
    struct tally tally;
};

static enum status add_part(skmt_score *s, struct str name, struct err *e)
{
    struct part *p = &s->parts[s->n_parts];
    const struct metric *m = metric_find(name);

    if (!m)
        return err_set(e, ST_ARGUMENT, "metrics: \"%.*s\" is not one of bleu, "
                       "chrf, chrf-eps, ter", name.n < 40 ? (int)name.n : 40,
                       name.p);
    for (int i = 0; i < s->n_parts; i++)
        if (s->parts[i].m == m)
            return err_set(e, ST_ARGUMENT, "metrics: \"%s\" is there twice",
                           m->name);
    p->m = m;
    p->at = s->width;
    snprintf(p->signature, sizeof p->signature, "%s" SIGNED_BY, m->signature);
    s->width += (size_t)m->n_stats;
    s->n_parts++;
    return ST_OK;
}

static enum status add_parts(skmt_score *s, const char *list, struct err *e)
{
    enum status st;

    if (!list) return err_set(e, ST_ARGUMENT, "no metrics were named");
    for (;; list++) {
        size_t n = strcspn(list, ",");

        st = add_part(s, (struct str){ list, n }, e);
        list += n;
        if (st || !*list) return st;
    }
}

skmt_status skmt_score_new(skmt_score **out, const char *metrics,
                           skmt_error *err)
{
    skmt_score *s = calloc(1, sizeof *s);
    enum status st;

    err_clear(inner(err));
    *out = NULL;
    if (!s) return (skmt_status)err_nomem(inner(err), "scores");
    tally_init(&s->tally);
    st = add_parts(s, metrics, inner(err));
    if (st) skmt_score_free(s);
    else *out = s;
    return (skmt_status)st;
}

void skmt_score_free(skmt_score *s)
{
    if (!s) return;
    tally_release(&s->tally);
    free(s->rows);
    free(s);
}

static enum status check_text(const char *which, struct str t, struct err *e)
{
    size_t good;

    if (!t.p && t.n) return err_set(e, ST_ARGUMENT, "the %s is NULL", which);
    good = t.n ? utf8_check(t.p, t.n) : 0;
    if (good == t.n) return ST_OK;
    return err_set(e, ST_TEXT, "the %s is not valid UTF-8: byte %zu is "
                   "0x%02X", which, good, (unsigned char)t.p[good]);
}

/* A row counts only when all its metrics are there. */
static enum status add_row(skmt_score *s, struct str hyp, struct str ref,
                           struct err *e)
{
    int64_t *row;

    if (!mem_grow(&s->rows, &s->cap, s->n + 1, s->width * sizeof *s->rows))
        return err_nomem(e, "scores");
    row = s->rows + s->n * s->width;
    for (int i = 0; i < s->n_parts; i++)
        if (!s->parts[i].m->count(&s->tally, hyp, ref,
                                  row + s->parts[i].at))
            return err_nomem(e, "scores");
    for (int i = 0; i < s->n_parts; i++)
        for (int k = 0; k < s->parts[i].m->n_stats; k++)
            s->parts[i].sums[k] += row[s->parts[i].at + (size_t)k];
    s->n++;
    s->refs = XXH3_64bits_withSeed(ref.p, ref.n, s->refs + ref.n);
    return ST_OK;
}

skmt_status skmt_score_add(skmt_score *s, const char *hyp, size_t hyp_len,
                           const char *ref, size_t ref_len, skmt_error *err)
{
    struct str h = { hyp, hyp_len }, r = { ref, ref_len };
    enum status st;

    err_clear(inner(err));
    st = check_text("translation", h, inner(err));
    if (!st) st = check_text("reference", r, inner(err));
    if (!st) st = add_row(s, hyp ? h : str_of(""), ref ? r : str_of(""),
                          inner(err));
    return (skmt_status)st;
}

static const struct part *find_part(const skmt_score *s, const char *metric)
{
    for (int i = 0; metric && i < s->n_parts; i++)
        if (!strcmp(s->parts[i].m->name, metric)) return &s->parts[i];
    return NULL;
}

static enum status no_part(const char *metric, struct err *e)
{
    return err_set(e, ST_ARGUMENT, "\"%.40s\" is not counted here",
                   metric ? metric : "");
}

skmt_status skmt_score_get(const skmt_score *s, const char *metric,
                           double *value, skmt_error *err)
{
    const struct part *p = find_part(s, metric);

    err_clear(inner(err));
    if (!p) return (skmt_status)no_part(metric, inner(err));
    *value = p->m->score(p->sums);
    return SKMT_OK;
}

const char *skmt_score_metric(const skmt_score *s, int i, const char **title,
                              const char **signature)
{
    if (i < 0 || i >= s->n_parts) return NULL;
    if (title) *title = s->parts[i].m->title;
    if (signature) *signature = s->parts[i].signature;
    return s->parts[i].m->name;
}

const char *skmt_score_detail(const skmt_score *s, const char *metric, int i,
                              double *value)
{
    const struct part *p = find_part(s, metric);

    return p ? p->m->detail(p->sums, i, value) : NULL;
}

static struct sample sample_of(const skmt_score *s, const struct part *p)
{
    return (struct sample){ s->rows ? s->rows + p->at : NULL, s->n, s->width,
                            p->m->n_stats, p->m->score };
}

skmt_status skmt_score_interval(const skmt_score *s, const char *metric,
                                int resamples, uint64_t seed, double *low,
                                double *high, skmt_error *err)
{
    const struct part *p = find_part(s, metric);
    struct interval found;
    struct sample sample;
    enum status st;

    err_clear(inner(err));
    if (!p) return (skmt_status)no_part(metric, inner(err));
    sample = sample_of(s, p);
    st = bootstrap_interval(&sample, (struct resampling){ resamples, seed },
                            &found, inner(err));
    if (st) return (skmt_status)st;
    *low = found.low;
    *high = found.high;
    return SKMT_OK;
}

skmt_status skmt_score_compare(const skmt_score *a, const skmt_score *b,
                               const char *metric, int resamples,
                               uint64_t seed, double *p, skmt_error *err)
{
    const struct part *in_a = find_part(a, metric);
    const struct part *in_b = find_part(b, metric);
    struct sample sa, sb;

    err_clear(inner(err));
    if (!in_a || !in_b) return (skmt_status)no_part(metric, inner(err));
    if (a->n == b->n && a->refs != b->refs)
        return (skmt_status)err_set(inner(err), ST_ARGUMENT, "scores against "
                                    "different references cannot be compared");
    sa = sample_of(a, in_a);
    sb = sample_of(b, in_b);
    return (skmt_status)bootstrap_compare(
        &sa, &sb, (struct resampling){ resamples, seed }, p, inner(err));
}
