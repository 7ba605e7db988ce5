/* skmt_score.c - the part of include/skmt_tools.h that scores translations. It
 * stores the counts of each line; the metrics themselves are in metrics/.
 *
 * Invariants of a skmt_score:
 *   - rows has n rows of width numbers; a row is the hash of the reference and
 *     then the counts of each metric.
 *   - docs[i] is the index of the first row of document i; it ascends.
 *   - sums of a metric is the sum of its counts over all rows. */
#include <stdio.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "api/handles.h"
#include "base/invariant.h"
#include "base/mem.h"
#include "metrics/bootstrap.h"
#include "metrics/metric.h"
#include "skmt_tools.h"
#include "text/utf8.h"

#define METRICS_MAX 8
/* Appended to sacrebleu's signature: the program that computed the score. */
#define SIGNED_BY "|skmt:" SKMT_VERSION_TEXT

struct score_part {             /* one metric */
    const struct metric *m;
    size_t at;                  /* index of its first count in a row */
    int64_t sums[METRIC_STATS_MAX];
    char signature[128];
};

struct skmt_score {
    struct score_part parts[METRICS_MAX];
    int n_parts;
    int64_t *rows;              /* [n][width] */
    size_t n, cap, width;
    size_t *docs;               /* [n_docs] first rows of the documents */
    size_t n_docs, cap_docs;
    bool in_doc;                /* false: the next line begins a document */
    struct tally tally;
};

enum { ROW_REF, ROW_COUNTS };   /* the columns of a row */

static enum status add_part(skmt_score *s, struct str name, struct err *e)
{
    struct score_part *p = &s->parts[s->n_parts];
    const struct metric *m = metric_find(name);

    if (!m)
        return err_set(e, ST_ARGUMENT, "metrics: \"%.*s\" is not one of bleu, "
                       "chrf, chrf-eps, ter, r, r-all",
                       name.n < 40 ? (int)name.n : 40, name.p);
    for (int i = 0; i < s->n_parts; i++)
        if (s->parts[i].m == m)
            return err_set(e, ST_ARGUMENT, "metrics: \"%s\" is listed twice",
                           m->name);
    assert(s->n_parts < METRICS_MAX);
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

    if (!list) return err_set(e, ST_ARGUMENT, "the list of metrics is NULL");
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

    err_clear(err_of(err));
    *out = NULL;
    if (!s) return (skmt_status)err_nomem(err_of(err), "scores");
    tally_init(&s->tally);
    s->width = ROW_COUNTS;
    st = add_parts(s, metrics, err_of(err));
    if (st) skmt_score_free(s);
    else *out = s;
    return (skmt_status)st;
}

void skmt_score_free(skmt_score *s)
{
    if (!s) return;
    tally_release(&s->tally);
    free(s->rows);
    free(s->docs);
    free(s);
}

static enum status skmt_score_check_text(const char *which, struct str t,
                                         struct err *e)
{
    size_t good;

    if (!t.p && t.n) return err_set(e, ST_ARGUMENT, "the %s is NULL", which);
    good = t.n ? utf8_check(t.p, t.n) : 0;
    if (good == t.n) return ST_OK;
    return err_set(e, ST_TEXT, "the %s is not valid UTF-8: byte %zu is "
                   "0x%02X", which, good, (unsigned char)t.p[good]);
}

/* Compute the counts of a line. Metrics that store words run last, because the
 * words cannot be removed again if another metric fails. */
static bool count_row(skmt_score *s, struct str hyp, struct str ref,
                      int64_t *row)
{
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < s->n_parts; i++) {
            const struct score_part *p = &s->parts[i];

            if (p->m->remembers == last
                && !p->m->count(&s->tally, hyp, ref, row + p->at))
                return false;
        }
    return true;
}

/* Make room for one more row and one more document. Return the row, or NULL if
 * out of memory. */
static int64_t *make_row(skmt_score *s)
{
    if (!mem_grow(&s->rows, &s->cap, s->n + 1, s->width * sizeof *s->rows)
        || !mem_grow(&s->docs, &s->cap_docs, s->n_docs + 1, sizeof *s->docs))
        return NULL;
    return s->rows + s->n * s->width;
}

/* Append the row that make_row() returned, after it was filled. */
static void append_row(skmt_score *s, const int64_t *row)
{
    assert(row == s->rows + s->n * s->width);
    for (int i = 0; i < s->n_parts; i++)
        for (int k = 0; k < s->parts[i].m->n_stats; k++)
            s->parts[i].sums[k] += row[s->parts[i].at + (size_t)k];
    if (!s->in_doc) s->docs[s->n_docs++] = s->n;
    s->in_doc = true;
    s->n++;
}

static enum status skmt_score_add_row(skmt_score *s, struct str hyp,
                                      struct str ref, struct err *e)
{
    int64_t *row = make_row(s);

    if (!row) return err_nomem(e, "scores");
    if (!s->in_doc) tally_begin_document(&s->tally);
    row[ROW_REF] = (int64_t)XXH3_64bits(ref.p, ref.n);
    if (!count_row(s, hyp, ref, row)) return err_nomem(e, "scores");
    append_row(s, row);
    return ST_OK;
}

skmt_status skmt_score_add(skmt_score *s, const char *hyp, size_t hyp_len,
                           const char *ref, size_t ref_len, skmt_error *err)
{
    struct str h = { hyp, hyp_len }, r = { ref, ref_len };
    enum status st;

    err_clear(err_of(err));
    st = skmt_score_check_text("translation", h, err_of(err));
    if (!st) st = skmt_score_check_text("reference", r, err_of(err));
    if (!st)
        st = skmt_score_add_row(s, hyp ? h : str_of(""), ref ? r : str_of(""),
                                err_of(err));
    return (skmt_status)st;
}

void skmt_score_document(skmt_score *s) { s->in_doc = false; }

size_t skmt_score_size(const skmt_score *s, size_t *documents)
{
    if (documents) *documents = s->n_docs;
    return s->n;
}

/* ---- selecting documents ------------------------------------------------- */

static size_t doc_end(const skmt_score *s, size_t doc)
{
    return doc + 1 < s->n_docs ? s->docs[doc + 1] : s->n;
}

static enum status copy_doc(skmt_score *to, const skmt_score *s, size_t doc,
                            struct err *e)
{
    skmt_score_document(to);
    for (size_t i = s->docs[doc]; i < doc_end(s, doc); i++) {
        int64_t *row = make_row(to);

        if (!row) return err_nomem(e, "scores");
        memcpy(row, s->rows + i * s->width, s->width * sizeof *row);
        append_row(to, row);
    }
    return ST_OK;
}

/* Create a score with the same metrics and without rows. */
static skmt_score *score_empty_copy(const skmt_score *s)
{
    skmt_score *to = calloc(1, sizeof *to);

    if (!to) return NULL;
    tally_init(&to->tally);
    memcpy(to->parts, s->parts, sizeof to->parts);
    for (int i = 0; i < s->n_parts; i++)
        memset(to->parts[i].sums, 0, sizeof to->parts[i].sums);
    to->n_parts = s->n_parts;
    to->width = s->width;
    return to;
}

skmt_status skmt_score_select(skmt_score **out, const skmt_score *s,
                              size_t min_lines, size_t max_lines,
                              skmt_error *err)
{
    skmt_score *to = score_empty_copy(s);
    enum status st = ST_OK;

    err_clear(err_of(err));
    *out = NULL;
    if (!to) return (skmt_status)err_nomem(err_of(err), "scores");
    for (size_t d = 0; !st && d < s->n_docs; d++) {
        size_t lines = doc_end(s, d) - s->docs[d];

        if (lines >= min_lines && lines <= max_lines)
            st = copy_doc(to, s, d, err_of(err));
    }
    skmt_score_document(to);
    if (st) skmt_score_free(to);
    else *out = to;
    return (skmt_status)st;
}

/* ---- scores -------------------------------------------------------------- */

static const struct score_part *skmt_score_find_part(const skmt_score *s,
                                                     const char *metric)
{
    for (int i = 0; metric && i < s->n_parts; i++)
        if (!strcmp(s->parts[i].m->name, metric)) return &s->parts[i];
    return NULL;
}

static enum status metric_missing(const char *metric, struct err *e)
{
    return err_set(e, ST_ARGUMENT, "\"%.40s\" is not among the metrics of this "
                   "score", metric ? metric : "");
}

skmt_status skmt_score_get(const skmt_score *s, const char *metric,
                           double *value, skmt_error *err)
{
    const struct score_part *p = skmt_score_find_part(s, metric);

    err_clear(err_of(err));
    if (!p) return (skmt_status)metric_missing(metric, err_of(err));
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
    const struct score_part *p = skmt_score_find_part(s, metric);

    return p ? p->m->detail(p->sums, i, value) : NULL;
}

static struct sample sample_of(const skmt_score *s, const struct score_part *p)
{
    return (struct sample){ s->rows ? s->rows + p->at : NULL, s->n, s->width,
                            p->m->n_stats, p->m->score };
}

skmt_status skmt_score_interval(const skmt_score *s, const char *metric,
                                int resamples, uint64_t seed, double *low,
                                double *high, skmt_error *err)
{
    const struct score_part *p = skmt_score_find_part(s, metric);
    struct interval found;
    struct sample sample;
    enum status st;

    err_clear(err_of(err));
    if (!p) return (skmt_status)metric_missing(metric, err_of(err));
    sample = sample_of(s, p);
    st = bootstrap_interval(&sample, (struct resampling){ resamples, seed },
                            &found, err_of(err));
    if (st) return (skmt_status)st;
    *low = found.low;
    *high = found.high;
    return SKMT_OK;
}

static bool same_refs(const skmt_score *a, const skmt_score *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (a->rows[i * a->width + ROW_REF] != b->rows[i * b->width + ROW_REF])
            return false;
    return true;
}

skmt_status skmt_score_compare(const skmt_score *a, const skmt_score *b,
                               const char *metric, int resamples,
                               uint64_t seed, double *p, skmt_error *err)
{
    const struct score_part *in_a = skmt_score_find_part(a, metric);
    const struct score_part *in_b = skmt_score_find_part(b, metric);
    struct sample sa, sb;

    err_clear(err_of(err));
    if (!in_a || !in_b) return (skmt_status)metric_missing(metric, err_of(err));
    if (a->n == b->n && !same_refs(a, b))
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, "scores against "
                                    "different references cannot be compared");
    sa = sample_of(a, in_a);
    sb = sample_of(b, in_b);
    return (skmt_status)bootstrap_compare(
        &sa, &sb, (struct resampling){ resamples, seed }, p, err_of(err));
}
