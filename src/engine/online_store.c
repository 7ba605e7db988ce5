/* online_store.c - runs a corrected pair through the model, makes its token
 * entries and policy entries, and publishes a new view.
 *
 * The policy entries of a pair describe a search in the store as it was before
 * the pair (method 6). So the neighbors are found first, and the pair is added
 * afterwards. */
#include "engine/online_store.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "engine/pairset.h"
#include "knn/datastore.h"
#include "knn/system.h"

/* A pair that was cut may have an entry for each piece and one for EOS. */
enum { ONLINE_ROWS = PAIR_PIECES + 2 };

struct online_store {
    const struct engine *en;    /* held */
    struct kok_options kok;
    enum key_type type;
    bool with_eos;
    pthread_mutex_t adding;     /* held while a pair is added; guards x, nb */
    struct executor *x;
    struct neighbor *nb;        /* [ONLINE_ROWS, kok.k] */
    pthread_mutex_t lock;       /* guards view */
    struct online_view *view;   /* held */
};

bool online_store_fits(const struct online_store *s, const struct engine *en)
{
    return engine_weights_id(s->en) == engine_weights_id(en);
}

struct online_view *online_store_view(struct online_store *s)
{
    struct online_view *v;

    pthread_mutex_lock(&s->lock);
    v = online_view_hold(s->view);
    pthread_mutex_unlock(&s->lock);
    return v;
}

/* Make v the present view. The store becomes its holder. */
static void publish(struct online_store *s, struct online_view *v)
{
    struct online_view *old;

    pthread_mutex_lock(&s->lock);
    old = s->view;
    s->view = v;
    pthread_mutex_unlock(&s->lock);
    online_view_drop(old);
}

/* ---- adding a pair ------------------------------------------------------- */

struct online_new {
    const int32_t *tgt;         /* [n] */
    int n, rows;                /* rows: entries of the pair */
    struct datastore before;    /* the token entries so far */
};

static int32_t right_of(const struct online_store *s,
                        const struct online_new *c, int t)
{
    return t < c->n ? c->tgt[t] : s->en->backend->cfg->eos_id;
}

/* The model's probability of the right token at each row. */
static enum status online_probability(struct online_store *s,
                                      const struct online_new *c, int t,
                                      double *out, struct err *e)
{
    int32_t right = right_of(s, c, t);
    float logit = 0;
    struct projection p = { .n_listed = 1, .listed = &right,
                            .listed_logit = &logit };
    enum status st = s->x->ops->project(s->x, t, 1, &p, e);

    *out = st ? 0 : exp((double)logit - (double)p.max) / (double)p.sum;
    return st;
}

/* Find the neighbors of all rows in the store as it was before the pair. */
static enum status online_neighbors(struct online_store *s,
                                    const struct online_new *c, int *found,
                                    struct err *e)
{
    *found = 0;
    if (!c->before.n) return ST_OK;
    return finder_nearest(&c->before.finder,
                          &(struct finder_query){ s->x, 0, c->rows }, s->kok.k,
                          s->nb, found, e);
}

static enum status online_policy(struct online_store *s,
                                 const struct online_new *c,
                                 struct kok_block **out, struct err *e)
{
    int found;
    enum status st = online_neighbors(s, c, &found, e);

    if (!st) st = kok_block_new(out, c->rows, s->kok.k, e);
    for (int t = 0; !st && found == s->kok.k && t < c->rows; t++) {
        double model;

        st = online_probability(s, c, t, &model, e);
        if (!st)
            kok_block_put(*out, &s->kok, s->nb + (size_t)t * (size_t)s->kok.k,
                          found, right_of(s, c, t), model);
    }
    return st;
}

static enum status online_keys(struct online_store *s,
                               const struct online_new *c,
                               struct pair_keys **out, struct err *e)
{
    const float *states;
    size_t ld;
    enum status st = pair_keys_new(out, s->type, c->rows, s->en->backend->d,
                                   e);

    if (st) return st;
    st = s->x->ops->read(s->x, STATE_FINAL, 0, c->rows, &states, &ld, e);
    for (int t = 0; !st && t < c->rows; t++)
        pair_keys_put(*out, t, states + (size_t)t * ld, right_of(s, c, t));
    return st;
}

/* Add the entries of a pair that has run through the model. */
static enum status online_append(struct online_store *s,
                                 struct online_view *old,
                                 const struct online_new *c, struct str source,
                                 struct str target, int64_t id, struct err *e)
{
    struct pair_keys *keys = NULL;
    struct kok_block *policy = NULL;
    struct online_pair *pair = NULL;
    struct online_view *v;
    enum status st = online_keys(s, c, &keys, e);

    if (!st) st = online_policy(s, c, &policy, e);
    if (!st) st = online_pair_new(&pair, keys, source, target, id, e);
    if (!st) st = online_view_add(&v, old, pair, policy, e);
    if (!st) publish(s, v);
    pair_keys_drop(keys);
    kok_block_drop(policy);
    online_pair_drop(pair);
    return st;
}

/* Run a pair through the model and add it. */
static enum status online_learn(struct online_store *s,
                                const struct steering_pair *p,
                                struct str source, struct str target,
                                int64_t id, struct err *e)
{
    struct source src = { p->ids, p->n_src };
    /* A target that was cut does not end where EOS would be. */
    bool eos = s->with_eos && p->n_tgt < PAIR_PIECES;
    struct online_new c = { p->ids + p->n_src, p->n_tgt, p->n_tgt + eos,
                            .before = { .n = 0 } };
    struct forced_text text = { 0, c.tgt, c.rows };
    struct online_view *old = online_store_view(s);
    enum status st = ST_OK;

    datastore_init(&c.before);
    for (int i = 0; !st && i < old->n; i++)
        st = datastore_add(&c.before, old->pairs[i]->keys, e);
    if (!st) st = s->x->ops->force(s->x, &src, 1, &text, 1, 0, e);
    if (!st) st = online_append(s, old, &c, source, target, id, e);
    datastore_release(&c.before);
    online_view_drop(old);
    return st;
}

enum status online_store_add(struct online_store *s, struct str source,
                             struct str target, int64_t id, struct err *e)
{
    struct steering_pair p = { 0 };
    enum status st = steering_pair_encode(s->en, source, target, &p, e);
    int most = s->x->limits.rows;

    if (!st && p.n_tgt && p.n_tgt < most && p.n_src <= most) {
        pthread_mutex_lock(&s->adding);
        st = online_learn(s, &p, source, target, id, e);
        pthread_mutex_unlock(&s->adding);
    }
    steering_pair_release(&p);
    return st;
}

enum status online_store_reset(struct online_store *s, struct err *e)
{
    struct online_view *v;
    enum status st = online_view_new(&v, e);

    if (st) return st;
    pthread_mutex_lock(&s->adding);     /* not while a pair is added */
    publish(s, v);
    pthread_mutex_unlock(&s->adding);
    return ST_OK;
}

/* ---- creation and destruction -------------------------------------------- */

void online_store_free(struct online_store *s)
{
    if (!s) return;
    executor_free(s->x);
    online_view_drop(s->view);
    engine_close(s->en);
    pthread_mutex_destroy(&s->adding);
    pthread_mutex_destroy(&s->lock);
    free(s->nb);
    free(s);
}

/* The options that the entries depend on. */
static enum status online_configure(struct online_store *s,
                                    const struct options *o, struct err *e)
{
    struct system_options so = {
        .k = options_k(o),
        .weigh = { .tau = options_tau(o, s->en->backend->cfg->knn_tau) } };

    s->kok = kok_options_of(&so);
    s->type = o->key_type;
    s->with_eos = options_knn_eos(o);
    return kok_options_check(&s->kok, e);
}

enum status online_store_new(struct online_store **out,
                             const struct engine *en, const struct options *o,
                             struct err *e)
{
    struct online_store *s = calloc(1, sizeof *s);
    const struct backend *b = en->backend;
    int rows = b->max_pos < ONLINE_ROWS ? b->max_pos : ONLINE_ROWS;
    struct executor_limits l = { .max_source = rows, .rows = rows,
                                 .max_len = rows };
    enum status st;

    *out = NULL;
    if (!s) return err_nomem(e, "corrections");
    s->en = engine_hold(en);
    pthread_mutex_init(&s->adding, NULL);
    pthread_mutex_init(&s->lock, NULL);
    st = online_configure(s, o, e);
    if (!st) {
        s->nb = calloc((size_t)(ONLINE_ROWS * s->kok.k), sizeof *s->nb);
        if (!s->nb) st = err_nomem(e, "corrections");
    }
    if (!st) st = online_view_new(&s->view, e);
    if (!st) st = backend_executor_new(b, &l, NULL, &s->x, e);
    if (st) online_store_free(s);
    else *out = s;
    return st;
}
