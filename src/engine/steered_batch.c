/* steered_batch.c - joins a batch and a datastore_builder: the jobs that are
 * added get the keys of their pairs first. Decoding itself is in
 * search/batch.c. */
#include "engine/steered_batch.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "engine/datastore_builder.h"

struct steered_batch {
    struct datastore_builder *builder;
    struct batch *batch;
    struct pairset **pairsets;  /* [lanes] scratch */
    struct job **entering;      /* [lanes] scratch */
};

enum status steered_batch_new(struct steered_batch **out,
                              const struct engine *en,
                              const struct batch_limits *limits,
                              struct pool *pool, struct err *e)
{
    struct steered_batch *m = calloc(1, sizeof *m);
    enum status st;

    *out = NULL;
    if (!m) return err_nomem(e, "a worker");
    m->pairsets = calloc((size_t)limits->lanes, sizeof *m->pairsets);
    m->entering = calloc((size_t)limits->lanes, sizeof *m->entering);
    st = m->pairsets && m->entering
       ? datastore_builder_new(&m->builder, en, pool, e)
       : err_nomem(e, "a worker");
    if (!st) st = batch_new(&m->batch, en->backend, limits, pool, e);
    if (st) steered_batch_free(m);
    else *out = m;
    return st;
}

void steered_batch_free(struct steered_batch *m)
{
    if (!m) return;
    batch_free(m->batch);
    datastore_builder_free(m->builder);
    free(m->pairsets);
    free(m->entering);
    free(m);
}

void steered_batch_set_pool(struct steered_batch *m, bool use)
{
    datastore_builder_set_pool(m->builder, use);
    batch_set_pool(m->batch, use);
}

struct batch *steered_batch_batch(struct steered_batch *m) { return m->batch; }

void steered_batch_set_pause(struct steered_batch *m, void (*fn)(void *user),
                             void *user)
{
    datastore_builder_set_pause(m->builder, fn, user);
}

enum status steered_batch_add(struct steered_batch *m, struct job **jobs, int n,
                              struct err *why, struct err *e)
{
    enum status st;
    int entering = 0;

    assert(n <= batch_count_idle_lanes(m->batch));
    for (int i = 0; i < n; i++) {
        const struct sentence *s = jobs[i]->sentence;

        assert(s->job == jobs[i]);
        assert(!jobs[i]->mixer || jobs[i]->mixer == s->pairset->mixer);
        m->pairsets[i] = jobs[i]->mixer ? s->pairset : NULL;
    }
    st = datastore_builder_run(m->builder, m->pairsets, n, why, e);
    for (int i = 0; !st && i < n; i++)
        if (!why[i].status) m->entering[entering++] = jobs[i];
    return st ? st : batch_add(m->batch, m->entering, entering, e);
}
