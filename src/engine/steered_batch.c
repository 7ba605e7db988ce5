/* steered_batch.c - joins a batch, the SK-MT mixer and a datastore_builder: the
 * jobs that are added get their datastores first. Decoding itself is in
 * search/batch.c. */
#include "engine/steered_batch.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "engine/datastore_builder.h"
#include "knn/sk.h"

struct steered_batch {
    const struct engine *en;
    struct options o;
    struct pool *pool;
    struct shared_keys *keys;   /* borrowed; NULL: no memory in use */
    struct datastore_builder *builder;  /* made when first needed */
    struct sk *sk;
    struct batch *batch;
    struct pairset **pairsets;  /* [lanes] scratch */
    bool use_pool;
};

enum status steered_batch_new(struct steered_batch **out,
                              const struct engine *en, const struct options *o,
                              const struct search_options *so,
                              struct pool *pool, struct err *e)
{
    const struct sk_options sk = {
        .k = options_k(o), .repeat_votes = options_repeat_votes(o),
        .eos_abstains = o->eos_votes == EOS_ABSTAINS,
        .eos = en->w->cfg.eos_id,
        .weigh = { .tau = options_tau(o, en->w->cfg.knn_tau),
                   .adapter = o->adapter, .lambda = o->lambda },
    };
    struct steered_batch *m = calloc(1, sizeof *m);
    enum status st;

    *out = NULL;
    if (!m) return err_nomem(e, "a worker");
    m->en = en;
    m->o = *o;
    m->pool = pool;
    m->use_pool = true;
    m->pairsets = calloc((size_t)so->lanes, sizeof *m->pairsets);
    st = m->pairsets ? sk_new(&m->sk, &sk, en->net->k, so->lanes,
                              batch_max_rows(so), e)
                    : err_nomem(e, "a worker");
    if (!st)
        st = batch_new(&m->batch, en->net, so, pool, sk_mixer(m->sk), e);
    if (st) steered_batch_free(m);
    else *out = m;
    return st;
}

void steered_batch_free(struct steered_batch *m)
{
    if (!m) return;
    batch_free(m->batch);
    sk_free(m->sk);
    datastore_builder_free(m->builder);
    free(m->pairsets);
    free(m);
}

void steered_batch_set_keys(struct steered_batch *m, struct shared_keys *keys)
{
    m->keys = keys;
}

void steered_batch_set_pool(struct steered_batch *m, bool use)
{
    m->use_pool = use;
    batch_set_pool(m->batch, use);
}

struct batch *steered_batch_batch(struct steered_batch *m) { return m->batch; }

static enum status steered_batch_fill_stores(struct steered_batch *m, int n,
                                             struct err *e)
{
    enum status st = ST_OK;

    assert(m->keys);
    if (!m->builder)
        st = datastore_builder_new(&m->builder, m->en, &m->o, m->pool, e);
    if (st) return st;
    datastore_builder_set_pool(m->builder, m->use_pool);
    return datastore_builder_run(m->builder, m->keys->cache, m->pairsets, n,
                                 e);
}

enum status steered_batch_add(struct steered_batch *m, struct job **jobs, int n,
                              struct err *e)
{
    enum status st = ST_OK;
    int steered = 0;

    assert(n <= batch_count_idle_lanes(m->batch));
    for (int i = 0; i < n; i++) {
        const struct sentence *s = jobs[i]->owner;

        assert(s->job == jobs[i]);
        assert(!jobs[i]->mixer_data || jobs[i]->mixer_data == &s->pairset->sk);
        m->pairsets[i] = jobs[i]->mixer_data ? s->pairset : NULL;
        steered += jobs[i]->mixer_data != NULL;
    }
    if (steered) st = steered_batch_fill_stores(m, n, e);
    return st ? st : batch_add(m->batch, jobs, n, e);
}
