/* datastore_builder.c - see datastore_builder.h. */
#include "engine/datastore_builder.h"

#include <stdlib.h>

#include "base/mem.h"
#include "knn/key_builder.h"

/* Tokens of a pass: products are as fast as they get well below this, and what
 * is beside them leaves the caches well above. */
enum { ROWS = 256 };

struct datastore_builder {
    struct key_builder *build;
    struct steering_pair **todo;  /* pairs to be made */
    size_t cap_todo;
    struct key_pair *work;      /* [n_work] the different ones of them */
    struct key_id *ids;
    struct pair_keys **blocks;
    size_t cap_work, cap_ids, cap_blocks;
};

enum status datastore_builder_new(struct datastore_builder **out,
                                  const struct engine *en,
                                  const struct options *o, struct pool *pool,
                                  struct err *e)
{
    struct key_builder_options ko = { ROWS, (enum key_type)o->key_type,
                                   options_knn_eos(o) };
    struct datastore_builder *kw = calloc(1, sizeof *kw);
    enum status st;

    *out = NULL;
    if (!kw) return err_nomem(e, "memory keys");
    st = key_builder_new(&kw->build, en->net, pool, &ko, e);
    if (st) datastore_builder_free(kw);
    else *out = kw;
    return st;
}

void datastore_builder_free(struct datastore_builder *kw)
{
    if (!kw) return;
    key_builder_free(kw->build);
    free(kw->todo);
    free(kw->work);
    free(kw->ids);
    free(kw->blocks);
    free(kw);
}

void datastore_builder_set_pool(struct datastore_builder *kw, bool use)
{
    key_builder_set_pool(kw->build, use);
}

/* Which of the n work items makes this pair; n: none yet. */
static int find_work(const struct datastore_builder *kw, struct key_id id,
                     int n)
{
    int i = 0;

    while (i < n && key_id_compare(&kw->ids[i], &id)) i++;
    return i;
}

static enum status datastore_builder_make_room(struct datastore_builder *kw,
                                               int n, struct err *e)
{
    size_t need = (size_t)n;

    if (mem_grow(&kw->work, &kw->cap_work, need, sizeof *kw->work) &&
        mem_grow(&kw->ids, &kw->cap_ids, need, sizeof *kw->ids) &&
        mem_grow(&kw->blocks, &kw->cap_blocks, need, sizeof *kw->blocks))
        return ST_OK;
    return err_nomem(e, "memory keys");
}

/* Another worker may have made it since the pairfinder looked. */
static enum status list_work(struct datastore_builder *kw,
                             struct key_cache *keys,
                             struct steering_pair *const *pairs, int n,
                             int *n_work, struct err *e)
{
    enum status st = datastore_builder_make_room(kw, n, e);

    *n_work = 0;
    for (int i = 0; !st && i < n; i++) {
        struct steering_pair *p = pairs[i];

        if (p->keys || find_work(kw, p->id, *n_work) < *n_work) continue;
        st = steering_pair_keys(keys, p, e);
        if (st || p->keys) continue;
        kw->ids[*n_work] = p->id;
        kw->work[(*n_work)++] = (struct key_pair){ p->ids, p->n_src,
            p->ids + p->n_src, p->n_tgt, NULL };
    }
    return st;
}

static void hand_out(struct datastore_builder *kw,
                     struct steering_pair *const *pairs, int n, int n_work)
{
    for (int i = 0; i < n; i++) {
        int at = find_work(kw, pairs[i]->id, n_work);

        if (pairs[i]->keys || at == n_work) continue;
        pairs[i]->keys = pair_keys_hold(kw->work[at].keys);
    }
}

enum status datastore_builder_make(struct datastore_builder *kw,
                                   struct key_cache *keys,
                                   struct steering_pair *const *pairs, int n,
                                   struct err *e)
{
    int n_work;
    enum status st = list_work(kw, keys, pairs, n, &n_work, e);

    if (st || !n_work) return st;
    st = key_builder_run(kw->build, kw->work, n_work, e);
    if (st) return st;
    hand_out(kw, pairs, n, n_work);
    for (int i = 0; i < n_work; i++) kw->blocks[i] = kw->work[i].keys;
    st = key_cache_put(keys, kw->ids, kw->blocks, n_work, e);
    for (int i = 0; i < n_work; i++) pair_keys_drop(kw->blocks[i]);
    return st;
}

/* What a sentence's pairs say, in their order. */
static enum status datastore_builder_fill_store(struct pairset *r,
                                                struct err *e)
{
    enum status st = ST_OK;

    r->sk.similarity = calloc((size_t)r->n + 1, sizeof *r->sk.similarity);
    if (!r->sk.similarity) return err_nomem(e, "memory keys");
    for (int i = 0; !st && i < r->n; i++) {
        r->sk.similarity[i] = (float)r->pairs[i].similarity;
        st = datastore_add(&r->sk.store, r->pairs[i].keys, e);
    }
    return st;
}

static bool all_there(struct steering_pair *const *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!pairs[i]->keys) return false;
    return true;
}

enum status datastore_builder_run(struct datastore_builder *kw,
                                  struct key_cache *keys,
                                  struct pairset *const *pairsets, int n,
                                  struct err *e)
{
    size_t todo = 0;
    enum status st = ST_OK;

    for (int i = 0; i < n; i++)
        for (int k = 0; pairsets[i] && k < pairsets[i]->n; k++) {
            if (pairsets[i]->pairs[k].keys) continue;
            if (!mem_grow(&kw->todo, &kw->cap_todo, todo + 1,
                          sizeof *kw->todo))
                return err_nomem(e, "memory keys");
            kw->todo[todo++] = &pairsets[i]->pairs[k];
        }
    if (todo) st = datastore_builder_make(kw, keys, kw->todo, (int)todo, e);
    if (st && st != ST_NOMEM && all_there(kw->todo, todo)) st = ST_OK;
    for (int i = 0; !st && i < n; i++)
        if (pairsets[i]) st = datastore_builder_fill_store(pairsets[i], e);
    return st;
}
