/* mill.c - see mill.h. */
#include "engine/mill.h"

#include <stdlib.h>

#include "engine/keywork.h"
#include "knn/sk.h"

struct mill {
    const struct engine *en;
    struct options o;
    struct pool *pool;
    struct keys *keys;          /* NULL: nobody uses a memory */
    struct keywork *work;       /* NULL: no key was ever needed */
    struct sk *sk;
    struct batch *batch;
    struct recall **recalls;    /* [lanes] scratch */
    bool use_pool;
};

enum status mill_new(struct mill **out, const struct engine *en,
                     const struct options *o, const struct search_options *so,
                     struct pool *pool, struct err *e)
{
    const struct sk_options sk = {
        .k = options_k(o), .repeat_votes = options_repeat_votes(o),
        .eos_abstains = o->eos_votes == EOS_ABSTAINS,
        .eos = en->w->cfg.eos_id,
        .weigh = { .tau = options_tau(o, en->w->cfg.knn_tau),
                   .adapter = (enum adapter)o->adapter, .lambda = o->lambda },
    };
    struct mill *m = calloc(1, sizeof *m);
    enum status st;

    *out = NULL;
    if (!m) return err_nomem(e, "a worker");
    m->en = en;
    m->o = *o;
    m->pool = pool;
    m->use_pool = true;
    m->recalls = calloc((size_t)so->lanes, sizeof *m->recalls);
    st = m->recalls ? sk_new(&m->sk, &sk, en->net->k, so->lanes,
                             batch_max_rows(so), e)
                    : err_nomem(e, "a worker");
    if (!st)
        st = batch_new(&m->batch, en->net, so, pool, sk_mixer(m->sk), e);
    if (st) mill_free(m);
    else *out = m;
    return st;
}

void mill_free(struct mill *m)
{
    if (!m) return;
    batch_free(m->batch);
    sk_free(m->sk);
    keywork_free(m->work);
    free(m->recalls);
    free(m);
}

void mill_use_keys(struct mill *m, struct keys *keys)
{
    m->keys = keys;
}

void mill_use_pool(struct mill *m, bool use)
{
    m->use_pool = use;
    batch_use_pool(m->batch, use);
}

struct batch *mill_batch(struct mill *m) { return m->batch; }

static enum status make_keys(struct mill *m, int n, struct err *e)
{
    enum status st = ST_OK;

    if (!m->work)
        st = keywork_new(&m->work, m->en, &m->o, m->pool, e);
    if (st) return st;
    keywork_use_pool(m->work, m->use_pool);
    return keywork_run(m->work, m->keys->cache, m->recalls, n, e);
}

enum status mill_add(struct mill *m, struct job **jobs, int n,
                     struct err *e)
{
    enum status st = ST_OK;
    int steered = 0;

    for (int i = 0; i < n; i++) {
        const struct sentence *s = jobs[i]->owner;

        m->recalls[i] = jobs[i]->user ? s->recall : NULL;
        steered += jobs[i]->user != NULL;
    }
    if (steered) st = make_keys(m, n, e);
    return st ? st : batch_add(m->batch, jobs, n, e);
}
