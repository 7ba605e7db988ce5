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

/* Key types, with and without an entry for EOS. */
enum { KINDS = 4 };

struct datastore_builder {
    const struct engine *en;
    struct pool *pool;          /* borrowed */
    bool use_pool;
    void (*pause)(void *user);  /* may be NULL */
    void *pause_user;
    struct key_builder *builders[KINDS];    /* made when first needed */
    void *workers[MOST_SYSTEMS];    /* state of each system, made likewise */
    struct system_pair *pairs;  /* of one pairset, for its mixer */
    size_t cap_pairs;
    struct steering_pair **missing;  /* pairs without keys */
    size_t cap_missing;
    struct key_pair *work;      /* [n_work] the distinct ones among them */
    struct key_id *ids;         /* [n_work] */
    struct pair_keys **made;    /* [n_work] */
    size_t cap_work, cap_ids, cap_made;
};

enum status datastore_builder_new(struct datastore_builder **out,
                                  const struct engine *en, struct pool *pool,
                                  struct err *e)
{
    struct datastore_builder *db = calloc(1, sizeof *db);

    *out = db;
    if (!db) return err_nomem(e, "neighbor search");
    db->en = en;
    db->pool = pool;
    db->use_pool = true;
    return ST_OK;
}

void datastore_builder_free(struct datastore_builder *db)
{
    if (!db) return;
    for (int i = 0; i < KINDS; i++) key_builder_free(db->builders[i]);
    for (int i = 0; i < MOST_SYSTEMS; i++)
        if (db->workers[i]) system_at(i)->worker_free(db->workers[i]);
    free(db->pairs);
    free(db->missing);
    free(db->work);
    free(db->ids);
    free(db->made);
    free(db);
}

void datastore_builder_set_pool(struct datastore_builder *db, bool use)
{
    db->use_pool = use;
}

void datastore_builder_set_pause(struct datastore_builder *db,
                                 void (*fn)(void *user), void *user)
{
    db->pause = fn;
    db->pause_user = user;
}

/* The builder for keys of this kind. */
static enum status builder_for(struct datastore_builder *db,
                               const struct shared_keys *keys,
                               struct key_builder **out, struct err *e)
{
    struct key_builder_options o = { .rows = ROWS, .type = keys->type,
                                     .with_eos = keys->with_eos };
    struct key_builder **kb = &db->builders[2 * (keys->type == KEY_F32) +
                                            keys->with_eos];
    enum status st = ST_OK;

    if (!*kb) st = key_builder_new(kb, db->en->backend, db->pool, &o, e);
    if (!st) key_builder_set_pool(*kb, db->use_pool);
    *out = *kb;
    return st;
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

/* How many of n work items make up the next group. */
static int work_group(const struct key_pair *work, int n)
{
    int i = 0, src = 0, tgt = 0;

    for (; i < n; i++) {
        src += work[i].n_src;
        tgt += work[i].n_tgt + 1;
        if (i && (src > KEY_GROUP_ROWS || tgt > KEY_GROUP_ROWS)) break;
    }
    return i;
}

/* Compute the keys of the work items, in groups if there is a pause. If this
 * fails, no item has keys. */
static enum status make_groups(struct datastore_builder *db,
                               struct key_builder *kb, int n, struct err *e)
{
    enum status st = ST_OK;
    int done = 0;

    while (!st && done < n) {
        int k = db->pause ? work_group(db->work + done, n - done) : n;

        if (done) db->pause(db->pause_user);
        st = key_builder_run(kb, db->work + done, k, e);
        if (!st) done += k;
    }
    for (int i = 0; st && i < done; i++) pair_keys_drop(db->work[i].keys);
    return st;
}

enum status datastore_builder_make(struct datastore_builder *db,
                                   const struct shared_keys *keys,
                                   struct steering_pair *const *pairs, int n,
                                   struct err *e)
{
    struct key_builder *builder;
    int n_work;
    enum status st = list_work(db, keys->cache, pairs, n, &n_work, e);

    if (st || !n_work) return st;
    st = builder_for(db, keys, &builder, e);
    if (!st) st = make_groups(db, builder, n_work, e);
    if (st) return st;
    assign_keys(db, pairs, n, n_work);
    for (int i = 0; i < n_work; i++) db->made[i] = db->work[i].keys;
    st = key_cache_put(keys->cache, db->ids, db->made, n_work, e);
    for (int i = 0; i < n_work; i++) pair_keys_drop(db->made[i]);
    return st;
}

/* The state that a worker keeps for a system, made when first needed. */
static enum status worker_state(struct datastore_builder *db,
                                const struct steering_system *system,
                                void **out, struct err *e)
{
    int i = 0;
    enum status st = ST_OK;

    *out = NULL;
    if (!system->worker_new) return ST_OK;
    while (i < MOST_SYSTEMS && system_at(i) != system) i++;
    assert(i < MOST_SYSTEMS);
    if (!db->workers[i])
        st = system->worker_new(&db->workers[i], db->en->backend, e);
    *out = db->workers[i];
    return st;
}

/* A pair as its mixer sees it. */
static struct system_pair system_pair_of(const struct steering_pair *p)
{
    return (struct system_pair){
        .keys = p->keys, .similarity = (float)p->similarity,
        .foreign = p->foreign, .n_foreign = p->n_foreign,
        .match = p->match.token, .same_word = p->match.same_word,
        .n_match = p->match.n, .kept = p->kept, .n_kept = p->n_kept,
        .target = p->keys ? p->keys->token : p->ids + p->n_src,
        .n_target = p->keys ? p->keys->n : p->n_tgt,
        .links = p->links, .n_links = p->n_links };
}

/* Give the keys of all pairs to the mixer, in order. */
static enum status prepare_mixer(struct datastore_builder *db,
                                 struct pairset *r, struct err *e)
{
    void *worker;
    enum status st = worker_state(db, r->system, &worker, e);

    assert(r->mixer && !r->n_alternatives);
    if (st) return st;
    if (!mem_grow(&db->pairs, &db->cap_pairs, (size_t)r->n,
                  sizeof *db->pairs))
        return err_nomem(e, "neighbor search");
    for (int i = 0; i < r->n; i++) {
        assert(r->pairs[i].keys || r->needs_no_keys);
        db->pairs[i] = system_pair_of(&r->pairs[i]);
    }
    return r->system->prepare(r->mixer, worker, db->pairs, r->n, e);
}

static bool all_have_keys(struct steering_pair *const *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!pairs[i]->keys) return false;
    return true;
}

/* Compute the missing keys of all pairsets that use this cache. */
static enum status fill_cache(struct datastore_builder *db,
                              const struct shared_keys *keys,
                              struct pairset *const *pairsets, int n,
                              struct err *e)
{
    size_t n_missing = 0;
    enum status st = ST_OK;

    for (int i = 0; i < n; i++) {
        if (!pairsets[i] || pairsets[i]->keys != keys ||
            pairsets[i]->needs_no_keys)
            continue;
        for (int k = 0; k < pairsets[i]->n; k++) {
            if (pairsets[i]->pairs[k].keys) continue;
            if (!mem_grow(&db->missing, &db->cap_missing, n_missing + 1,
                          sizeof *db->missing))
                return err_nomem(e, "neighbor search");
            db->missing[n_missing++] = &pairsets[i]->pairs[k];
        }
    }
    if (n_missing)
        st = datastore_builder_make(db, keys, db->missing, (int)n_missing, e);
    /* The key file could not be written, but all keys were computed. */
    if (st && st != ST_NOMEM && all_have_keys(db->missing, n_missing))
        st = ST_OK;
    return st;
}

/* Whether pairset i is the first one with its cache. */
static bool first_with_cache(struct pairset *const *pairsets, int i)
{
    for (int k = 0; k < i; k++)
        if (pairsets[k] && pairsets[k]->keys == pairsets[i]->keys)
            return false;
    return true;
}

/* Whether an error of fill_cache is one of the device. The key builder fails
 * with these two if it has no memory or a pair is too long. */
static bool is_device_error(enum status st)
{
    return st && st != ST_NOMEM && st != ST_LIMIT;
}

/* Compute the missing keys of all pairsets that use the cache of pairset i. If
 * that fails, do it for one pairset at a time, to find those that cannot have
 * keys. */
static enum status fill_cache_of(struct datastore_builder *db,
                                 struct pairset *const *pairsets, int n, int i,
                                 struct err *why, struct err *e)
{
    const struct shared_keys *keys = pairsets[i]->keys;
    enum status st = fill_cache(db, keys, pairsets, n, e);

    if (!st || is_device_error(st)) return st;
    for (int k = i; k < n; k++) {
        if (!pairsets[k] || pairsets[k]->keys != keys) continue;
        st = fill_cache(db, keys, &pairsets[k], 1, &why[k]);
        if (!st) err_clear(&why[k]);
        if (!is_device_error(st)) continue;
        *e = why[k];
        return st;
    }
    return ST_OK;
}

enum status datastore_builder_run(struct datastore_builder *db,
                                  struct pairset *const *pairsets, int n,
                                  struct err *why, struct err *e)
{
    enum status st = ST_OK;

    for (int i = 0; i < n; i++) err_clear(&why[i]);
    for (int i = 0; !st && i < n; i++)
        if (pairsets[i] && first_with_cache(pairsets, i))
            st = fill_cache_of(db, pairsets, n, i, why, e);
    for (int i = 0; !st && i < n; i++) {
        if (!pairsets[i] || why[i].status) continue;
        if (!prepare_mixer(db, pairsets[i], &why[i])) err_clear(&why[i]);
    }
    return st;
}
