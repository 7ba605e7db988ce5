/* query_cache.c - stores the queries of a sentence and compares new ones with
 * all of them. What a query is answered with otherwise is the caller's concern.
 *
 * Invariants:
 *   - Queries are in the order of their steps.
 *   - The answer of a stored query is its own or that of an earlier one.
 *   - No step has more than limits.rows queries, so there is always room. */
#include "knn/query_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "tensor/kernels.h"

/* How many distances one call of the kernel computes. */
enum { CACHE_KEYS = 64 };

struct cached_query {
    int step;
    int answer;                 /* the query whose answer it has */
    int n;                      /* neighbors, if the answer is its own */
};

struct query_cache {
    struct query_cache_options o;
    struct query_cache_limits limits;
    const struct kernels *kernels;
    size_t ld;                  /* d padded */
    float *queries;             /* [limits.rows * limits.steps, ld]; the padding
                                   is zeros */
    float *q;                   /* [ld] the query that is looked for */
    struct cached_query *at;    /* [limits.rows * limits.steps] */
    struct neighbor *nb;        /* [limits.rows * limits.steps, limits.k] */
    int n;
    struct query_cache_counts counts;
};

void query_cache_free(struct query_cache *c)
{
    if (!c) return;
    mem_free(c->queries);
    mem_free(c->q);
    free(c->at);
    mem_free(c->nb);
    free(c);
}

enum status query_cache_new(struct query_cache **out,
                            const struct query_cache_options *o,
                            const struct query_cache_limits *l, struct err *e)
{
    struct query_cache *c = calloc(1, sizeof *c);
    size_t most = (size_t)l->rows * (size_t)l->steps;

    assert(l->d > 0 && l->k > 0 && l->rows > 0 && l->steps > 0);
    *out = NULL;
    if (!c) return err_nomem(e, "cache of queries");
    c->o = *o;
    c->limits = *l;
    c->kernels = kernels_pick(NULL);
    c->ld = (size_t)pad_to(l->d, 16);
    c->queries = mem_alloc(most * c->ld, sizeof *c->queries);
    c->q = mem_zalloc(c->ld, sizeof *c->q);
    c->at = calloc(most, sizeof *c->at);
    c->nb = mem_alloc(most * (size_t)l->k, sizeof *c->nb);
    if (!c->queries || !c->q || !c->at || !c->nb) {
        query_cache_free(c);
        return err_nomem(e, "cache of queries");
    }
    *out = c;
    return ST_OK;
}

struct query_cache_counts query_cache_counts(const struct query_cache *c)
{
    return c->counts;
}

/* ---- looking for queries ------------------------------------------------- */

static const float *cached_row(const struct query_cache *c, int i)
{
    return c->queries + (size_t)i * c->ld;
}

/* How many queries were stored before this step. */
static int stored_before(const struct query_cache *c, int step)
{
    int low = 0, high = c->n;

    while (low < high) {
        int mid = low + (high - low) / 2;

        if (c->at[mid].step < step) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* Whether stored query i goes before query k, if both have the same distance.
 * Those of an earlier step do. The order of queries of one step depends on that
 * of the rows, so their numbers decide. */
static bool goes_first(const struct query_cache *c, int i, int k)
{
    const float *a = cached_row(c, i), *b = cached_row(c, k);
    int j = 0;

    if (c->at[i].step != c->at[k].step) return c->at[i].step < c->at[k].step;
    while (j < c->limits.d && a[j] == b[j]) j++;
    return j < c->limits.d && a[j] < b[j];
}

/* The nearest of the first n queries, or -1 if there is none. *best is its
 * squared distance to c->q. */
static int nearest_query(const struct query_cache *c, int n, float *best)
{
    float d2[CACHE_KEYS];
    int at = -1;

    *best = INFINITY;
    for (int from = 0; from < n; from += CACHE_KEYS) {
        int here = n - from < CACHE_KEYS ? n - from : CACHE_KEYS;

        c->kernels->distances_f32(&(struct distances){
            .q = c->q, .ldq = c->ld, .n_q = 1, .keys = cached_row(c, from),
            .ldk = c->ld, .n = here, .d = c->limits.d, .out = d2,
            .ldo = CACHE_KEYS });
        for (int i = 0; i < here; i++) {
            if (!(d2[i] <= *best) ||
                (d2[i] == *best && at >= 0 && !goes_first(c, from + i, at)))
                continue;
            *best = d2[i];
            at = from + i;
        }
    }
    return at;
}

/* The stored query before `step` whose answer q gets, or -1. */
static int near_query(const struct query_cache *c, int step, const float *q,
                      float *distance)
{
    float d2;
    int at;

    memcpy(c->q, q, (size_t)c->limits.d * sizeof *q);
    at = nearest_query(c, stored_before(c, step), &d2);
    *distance = sqrtf(d2);
    return at >= 0 && sqrt((double)d2) <= c->o.threshold ? at : -1;
}

static struct query_answer answer_of(const struct query_cache *c, int i,
                                     float distance)
{
    int own = c->at[i].answer;

    return (struct query_answer){ c->at[own].n,
                                  c->nb + (size_t)own * (size_t)c->limits.k,
                                  distance };
}

/* ---- storing queries ----------------------------------------------------- */

/* Append a query. Returns its index. */
static int store_query(struct query_cache *c, int step, const float *q)
{
    float *to = c->queries + (size_t)c->n * c->ld;
    size_t d = (size_t)c->limits.d;

    assert(step >= 0 && step < c->limits.steps);
    assert(!c->n || c->at[c->n - 1].step <= step);
    assert(c->n - stored_before(c, step) < c->limits.rows);
    memcpy(to, q, d * sizeof *q);
    memset(to + d, 0, (c->ld - d) * sizeof *to);
    c->at[c->n] = (struct cached_query){ step, c->n, 0 };
    return c->n++;
}

bool query_cache_find(struct query_cache *c, int step, const float *q,
                      struct query_answer *out)
{
    float distance;
    int at = near_query(c, step, q, &distance);

    c->counts.asked++;
    if (at < 0) return false;
    c->counts.reused++;
    *out = answer_of(c, at, distance);
    if (c->o.keep_reused) {
        int i = store_query(c, step, q);

        c->at[i].answer = c->at[at].answer;
    }
    return true;
}

void query_cache_add(struct query_cache *c, int step, const float *q,
                     const struct neighbor *nb, int n)
{
    int i = store_query(c, step, q);

    assert(n >= 0 && n <= c->limits.k);
    c->at[i].n = n;
    if (n)
        memcpy(c->nb + (size_t)i * (size_t)c->limits.k, nb,
               (size_t)n * sizeof *nb);
}

/* ---- explanations -------------------------------------------------------- */

bool query_cache_recall(const struct query_cache *c, int step, const float *q,
                        struct query_answer *out)
{
    float distance;
    int at = near_query(c, step, q, &distance);

    if (at >= 0) {
        *out = answer_of(c, at, distance);
        return true;
    }
    for (at = stored_before(c, step); at < c->n && c->at[at].step == step;
         at++) {
        if (memcmp(cached_row(c, at), q, (size_t)c->limits.d * sizeof *q))
            continue;
        *out = answer_of(c, at, 0);
        return true;
    }
    return false;
}
