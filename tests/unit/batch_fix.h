/* batch_fix.h - texts, options and ways to decode them, for tests of batches.
 *
 * Tiny random models produce nonsense, but always the same nonsense, so that
 * results can be compared bit for bit. All functions are static. */
#ifndef BATCH_FIX_H
#define BATCH_FIX_H

#include "base/pool.h"
#include "search/batch.h"
#include "tiny_net.h"

enum { MAX_TEXTS = 40, MAX_SRC = 33 };

struct texts {
    int32_t ids[MAX_TEXTS][MAX_SRC];
    int n_ids[MAX_TEXTS];
    int n;
};

static inline void make_texts(struct texts *t, const struct tiny_net *m, int n)
{
    uint64_t s = 17;

    t->n = n;
    for (int i = 0; i < n; i++)
        t->n_ids[i] = tiny_source(m, &s, 1 + (int)(tiny_next(&s) % MAX_SRC),
                                  t->ids[i]);
}

/* Few random models ever produce EOS. With this seed some translations end. */
static inline struct tiny tiny_that_ends(void)
{
    struct tiny o = TINY_DEFAULT;

    o.seed = 18;
    return o;
}

static inline struct search_options options(int beam)
{
    return (struct search_options){ .beam = beam, .nbest = beam > 1 ? 2 : 1,
        .lenpen = 0.6, .max_len_a = 1.2, .max_len_b = 12, .early_stop = true,
        .attention = true };
}

/* The limits of a batch for jobs with these options. */
static inline struct batch_limits limits_for(const struct backend *b,
                                             const struct search_options *o,
                                             int lanes)
{
    return (struct batch_limits){ .lanes = lanes, .rows = lanes * o->beam,
        .drafts = o->draft, .max_beam = o->beam, .max_source = MAX_SRC,
        .max_len = search_max_len(o, b->max_pos, MAX_SRC) };
}

static inline struct job *new_job(const struct backend *b,
                                  const struct search_options *o,
                                  const struct texts *t, int i)
{
    struct job *j = NULL;
    struct err e;

    CHECK_OK(job_new(&j, o, b->max_pos, t->ids[i], t->n_ids[i], NULL, 0, &e),
             &e);
    return j;
}

static inline void new_jobs(struct job **jobs, const struct texts *t,
                            const struct backend *b,
                            const struct search_options *o)
{
    for (int i = 0; i < t->n; i++) jobs[i] = new_job(b, o, t, i);
}

static inline void free_jobs(struct job **jobs, int n)
{
    for (int i = 0; i < n; i++) job_free(jobs[i]);
}

/* How jobs are added to a batch, and by how many threads they are decoded. */
struct way {
    int threads;
    bool backwards;
    int together;               /* jobs added at a time; 0: as many as fit */
};

/* Add jobs [*at, n) to the batch, as many as fit, and increase *at. */
static inline void add_some(struct batch *b, struct job **jobs, int n, int *at,
                            const struct way *w)
{
    struct job *some[MAX_TEXTS], *list = NULL;
    int room, k = 0;
    struct err e;

    for (int i = n - 1; i >= *at; i--) {
        struct job *j = jobs[w->backwards ? n - 1 - i : i];

        j->next = list;
        list = j;
    }
    room = batch_fitting(b, list);
    if (w->together && w->together < room) room = w->together;
    for (; k < room; list = list->next) some[k++] = list;
    *at += k;
    if (k) CHECK_OK(batch_add(b, some, k, &e), &e);
}

static inline void run_jobs(struct batch *b, struct job **jobs, int n,
                            const struct way *w)
{
    int at = 0, n_done = 0;
    struct job *done;
    struct err e;

    while (n_done < n) {
        add_some(b, jobs, n, &at, w);
        REQUIRE(batch_busy_lanes(b) > 0);
        REQUIRE_OK(batch_step(b, &done, &e), &e);
        for (; done; done = done->next) n_done++;
    }
    CHECK_INT(batch_busy_lanes(b), 0);
    CHECK(!batch_step(b, &done, &e) && !done);
}

/* Decode all of t in a new batch. */
static inline void decode(struct job **jobs, const struct texts *t,
                          const struct backend *backend,
                          const struct search_options *o, int lanes,
                          const struct way *w)
{
    struct batch_limits limits = limits_for(backend, o, lanes);
    struct pool *pool;
    struct batch *b;
    struct err e;

    new_jobs(jobs, t, backend, o);
    REQUIRE_OK(pool_new(&pool, w->threads, &e), &e);
    REQUIRE_OK(batch_new(&b, backend, &limits, pool, &e), &e);
    run_jobs(b, jobs, t->n, w);
    batch_free(b);
    pool_free(pool);
}

static inline bool same_hyp(const struct hypothesis *a,
                            const struct hypothesis *b, int n_src)
{
    size_t n = (size_t)a->n;

    return a->n == b->n && a->ended == b->ended &&
           !memcmp(a->tokens, b->tokens, n * sizeof *a->tokens) &&
           !memcmp(a->logprobs, b->logprobs, n * sizeof *a->logprobs) &&
           !memcmp(&a->score, &b->score, sizeof a->score) &&
           !memcmp(&a->logprob, &b->logprob, sizeof a->logprob) &&
           !a->attention == !b->attention &&
           (!a->attention || !memcmp(a->attention, b->attention,
                                     n * (size_t)n_src * sizeof(float)));
}

/* Whether two jobs have the same results. Without drafts they also took the
 * same number of passes. */
static inline bool same_job(const struct job *a, const struct job *b)
{
    bool ok = a->n_hyps == b->n_hyps && a->n_hyps > 0 &&
              (a->o.draft || b->o.draft || a->n_passes == b->n_passes);

    for (int i = 0; ok && i < a->n_hyps; i++)
        ok = same_hyp(&a->hyps[i], &b->hyps[i], a->n_src);
    return ok;
}

static inline int count_other(struct job **a, struct job **b, int n)
{
    int other = 0;

    for (int i = 0; i < n; i++) other += !same_job(a[i], b[i]);
    return other;
}

#endif
