/* datastore_builder.c - computes the keys that the cache does not have, each
 * distinct pair once, and builds the datastores of sentences from them. The
 * model runs in knn/key_builder.c. */
#include "engine/datastore_builder.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/key_builder.h"

/* Tokens of a pass. Matrix products reach their full speed with fewer rows;
 * with many more, the other data of a pass does not fit the caches. */
enum { ROWS = 256 };

struct datastore_builder {
    struct key_builder *builder;
    struct steering_pair **missing;  /* pairs without keys */
    size_t cap_missing;
    struct key_pair *work;      /* [n_work] the distinct ones among them */
    struct key_id *ids;         /* [n_work] */
    struct pair_keys **made;    /* [n_work] */
    size_t cap_work, cap_ids, cap_made;
};

enum status datastore_builder_new(struct datastore_builder **out,
                                  const struct engine *en,
                                  const struct options *o, struct pool *pool,
                                  struct err *e)
{
    struct key_builder_options ko = { ROWS, o->key_type,
                                      options_knn_eos(o) };
    struct datastore_builder *db = calloc(1, sizeof *db);
    enum status st;

    *out = NULL;
    if (!db) return err_nomem(e, "neighbor search");
    st = key_builder_new(&db->builder, en->net, pool, &ko, e);
    if (st) datastore_builder_free(db);
    else *out = db;
    return st;
}

void datastore_builder_free(struct datastore_builder *db)
{
    if (!db) return;
    key_builder_free(db->builder);
    free(db->missing);
    free(db->work);
    free(db->ids);
    free(db->made);
    free(db);
}

void datastore_builder_set_pool(struct datastore_builder *db, bool use)
{
    key_builder_set_pool(db->builder, use);
}

/* The index of this pair among the n work items; n when it is not there. */
static int find_work(const struct datastore_builder *db, struct key_id id,
                     int n)
{
    int i = 0;

    while (i < n && key_id_compare(&db->ids[i], &id)) i++;
    return i;
}

static enum status datastore_builder_make_room(struct datastore_builder *db,
                                               int n, struct err *e)
{
    size_t need = (size_t)n;

    if (mem_grow(&db->work, &db->cap_work, need, sizeof *db->work) &&
        mem_grow(&db->ids, &db->cap_ids, need, sizeof *db->ids) &&
        mem_grow(&db->made, &db->cap_made, need, sizeof *db->made))
        return ST_OK;
    return err_nomem(e, "neighbor search");
}

/* List the distinct pairs whose keys must be computed. The cache is searched
 * again, because another worker may have computed them since. */
static enum status list_work(struct datastore_builder *db,
                             struct key_cache *cache,
                             struct steering_pair *const *pairs, int n,
                             int *n_work, struct err *e)
{
    enum status st = datastore_builder_make_room(db, n, e);

    *n_work = 0;
    for (int i = 0; !st && i < n; i++) {
        struct steering_pair *p = pairs[i];

        if (p->keys || find_work(db, p->id, *n_work) < *n_work) continue;
        st = steering_pair_find_keys(cache, p, e);
        if (st || p->keys) continue;
        db->ids[*n_work] = p->id;
        db->work[(*n_work)++] = (struct key_pair){ p->ids, p->n_src,
            p->ids + p->n_src, p->n_tgt, NULL };
    }
    return st;
}

/* Give each pair a reference to the keys that were computed for it. */
static void assign_keys(struct datastore_builder *db,
                        struct steering_pair *const *pairs, int n, int n_work)
{
    for (int i = 0; i < n; i++) {
        int at = find_work(db, pairs[i]->id, n_work);

        if (pairs[i]->keys || at == n_work) continue;
        pairs[i]->keys = pair_keys_hold(db->work[at].keys);
    }
}

enum status datastore_builder_make(struct datastore_builder *db,
                                   struct key_cache *cache,
                                   struct steering_pair *const *pairs, int n,
                                   struct err *e)
{
    int n_work;
    enum status st = list_work(db, cache, pairs, n, &n_work, e);

    if (st || !n_work) return st;
    st = key_builder_run(db->builder, db->work, n_work, e);
    if (st) return st;
    assign_keys(db, pairs, n, n_work);
    for (int i = 0; i < n_work; i++) db->made[i] = db->work[i].keys;
    st = key_cache_put(cache, db->ids, db->made, n_work, e);
    for (int i = 0; i < n_work; i++) pair_keys_drop(db->made[i]);
    return st;
}

/* Add the keys of all pairs to the datastore, in order. */
static enum status datastore_builder_fill_store(struct pairset *r,
                                                struct err *e)
{
    enum status st = ST_OK;

    assert(!r->sk.store.n_pairs && !r->sk.similarity && !r->n_alternatives);
    r->sk.similarity = calloc((size_t)r->n + 1, sizeof *r->sk.similarity);
    if (!r->sk.similarity) return err_nomem(e, "neighbor search");
    for (int i = 0; !st && i < r->n; i++) {
        assert(r->pairs[i].keys);
        r->sk.similarity[i] = (float)r->pairs[i].similarity;
        st = datastore_add(&r->sk.store, r->pairs[i].keys, e);
    }
    return st;
}

static bool all_have_keys(struct steering_pair *const *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!pairs[i]->keys) return false;
    return true;
}

enum status datastore_builder_run(struct datastore_builder *db,
                                  struct key_cache *cache,
                                  struct pairset *const *pairsets, int n,
                                  struct err *e)
{
    size_t n_missing = 0;
    enum status st = ST_OK;

    for (int i = 0; i < n; i++)
        for (int k = 0; pairsets[i] && k < pairsets[i]->n; k++) {
            if (pairsets[i]->pairs[k].keys) continue;
            if (!mem_grow(&db->missing, &db->cap_missing, n_missing + 1,
                          sizeof *db->missing))
                return err_nomem(e, "neighbor search");
            db->missing[n_missing++] = &pairsets[i]->pairs[k];
        }
    if (n_missing)
        st = datastore_builder_make(db, cache, db->missing, (int)n_missing, e);
    /* The key file could not be written, but all keys were computed. */
    if (st && st != ST_NOMEM && all_have_keys(db->missing, n_missing))
        st = ST_OK;
    for (int i = 0; !st && i < n; i++)
        if (pairsets[i]) st = datastore_builder_fill_store(pairsets[i], e);
    return st;
}
