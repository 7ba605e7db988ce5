/* shared_keys.c - opens a cache of keys, computes the keys of whole memories
 * ahead of time, and removes the keys of other pairs from the key file. The
 * cache itself is knn/key_cache.c. */
#include "engine/shared_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "engine/datastore_builder.h"
#include "engine/memory_check.h"
#include "engine/pairlist.h"
#include "engine/pairset.h"

enum status shared_keys_new(struct shared_keys **out, const struct engine *en,
                            const struct options *o, const char *file,
                            struct err *e)
{
    struct shared_keys *k = calloc(1, sizeof *k);
    struct key_file_kind kind = { pairset_fingerprint(en, o),
                                 o->key_type, en->net->d,
                                 en->w->cfg.vocab_size };
    enum status st = ST_OK;

    *out = NULL;
    if (!k) return err_nomem(e, "key cache");
    k->maker = kind.maker;
    k->type = kind.type;
    k->with_eos = options_knn_eos(o);
    if (file)
        st = key_file_open(&k->file, file, &kind, (uint64_t)o->key_file_limit,
                           e);
    if (!st) st = key_cache_new(&k->cache, (size_t)o->key_cache, k->file, e);
    if (st) {
        if (!k->cache) key_file_close(k->file);
        shared_keys_free(k);
    } else {
        *out = k;
    }
    return st;
}

void shared_keys_free(struct shared_keys *k)
{
    if (!k) return;
    key_cache_free(k->cache);
    free(k);
}

enum status shared_keys_fit(const struct shared_keys *k,
                            const struct engine *en, const struct options *o,
                            struct err *e)
{
    if (k->maker == pairset_fingerprint(en, o) &&
        k->type == o->key_type)
        return ST_OK;
    return err_set(e, ST_ARGUMENT, "these keys were made for another model, or "
                   "for other options key-type or knn-eos (whose default "
                   "depends on preset)");
}

/* ---- computing keys ahead of time ---------------------------------------- */

enum { WARM_PAIRS = 64,         /* pairs whose keys are computed together */
       WARM_REPORT = 1024 };    /* pairs between two reports */

struct warm_context {
    struct shared_keys *k;
    const struct engine *en;
    struct pair_source *source;
    tm_progress_fn *progress;
    void *user;
    struct datastore_builder *builder;
    struct steering_pair pairs[WARM_PAIRS], *list[WARM_PAIRS];
    int n;                      /* pairs that wait for their keys */
    size_t pairs_seen, total;
    int64_t made;
    struct plain_text plain;
};

static void release_pairs(struct warm_context *w)
{
    assert(w->n >= 0 && w->n <= WARM_PAIRS);
    for (int i = 0; i < w->n; i++) {
        pair_keys_drop(w->pairs[i].keys);
        free(w->pairs[i].ids);
    }
    w->n = 0;
}

/* Compute the keys of the waiting pairs and report progress. */
static enum status shared_keys_flush(struct warm_context *w, struct err *e)
{
    enum status st;

    for (int i = 0; i < w->n; i++) w->list[i] = &w->pairs[i];
    st = datastore_builder_make(w->builder, w->k, w->list, w->n, e);
    if (!st) w->made += w->n;
    release_pairs(w);
    if (!st && w->progress &&
        w->progress(w->user, "keys", w->pairs_seen, w->total, w->pairs_seen))
        st = err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
    return st;
}

/* Whether the pair is waiting already: two memories may have the same pair. */
static bool is_waiting(const struct warm_context *w, struct key_id id)
{
    for (int i = 0; i < w->n; i++)
        if (!key_id_compare(&w->pairs[i].id, &id)) return true;
    return false;
}

/* Let a pair wait if its keys are missing. */
static enum status warm_pair(void *user, size_t i,
                             const struct source_pair *from, struct err *e)
{
    struct warm_context *w = user;
    struct steering_pair *p = &w->pairs[w->n];
    struct plain_text *t = &w->plain;
    enum status st = from->found ? plain_text_set(t, from, e) : ST_OK;

    (void)i;
    assert(w->n < WARM_PAIRS);
    if (st || !from->found ||
        is_waiting(w, steering_pair_id(t->source, t->target)))
        return st;
    *p = (struct steering_pair){ 0 };
    st = steering_pair_prepare(w->en, w->k->cache, t->source, t->target, p, e);
    if (!st && !p->keys && p->n_tgt) {
        w->n++;
        return ST_OK;
    }
    pair_keys_drop(p->keys);
    free(p->ids);
    return st;
}

/* How many pairs to fetch next: no more than can wait, and none beyond the
 * next report. */
static size_t warm_next(const struct warm_context *w)
{
    size_t n = (size_t)(WARM_PAIRS - w->n);

    if (n > WARM_REPORT - w->pairs_seen % WARM_REPORT)
        n = WARM_REPORT - w->pairs_seen % WARM_REPORT;
    return n < w->total - w->pairs_seen ? n : w->total - w->pairs_seen;
}

static enum status warm_all(struct warm_context *w,
                            const struct pairlist *all, struct err *e)
{
    enum status st = ST_OK;

    w->total = all->n;
    plain_text_init(&w->plain);
    while (!st && w->pairs_seen < all->n) {
        size_t n = warm_next(w);

        st = source_fetch(w->source, all->at + w->pairs_seen, n, warm_pair, w,
                          e);
        w->pairs_seen += n;
        if (!st && (w->n == WARM_PAIRS || w->pairs_seen % WARM_REPORT == 0))
            st = shared_keys_flush(w, e);
    }
    if (!st) st = shared_keys_flush(w, e);
    release_pairs(w);
    plain_text_release(&w->plain);
    return st;
}

enum status shared_keys_warm(struct shared_keys *k, const struct engine *en,
                             const struct options *o,
                             struct pair_source *source,
                             tm_progress_fn *progress, void *user,
                             int64_t *made, struct err *e)
{
    struct warm_context *w = calloc(1, sizeof *w);
    struct pool *pool = NULL;
    struct pairlist all = { 0 };
    enum status st =
        w ? shared_keys_fit(k, en, o, e) : err_nomem(e, "key cache");

    *made = 0;
    if (!st) st = engine_check_memories(en, o->any_language, source, e);
    if (!st) st = pool_new(&pool, o->threads, e);
    if (!st) st = pairlist_read(&all, source, FETCH_TEXTS, e);
    if (!st) st = datastore_builder_new(&w->builder, en, pool, e);
    if (!st) {
        w->k = k;
        w->en = en;
        w->source = source;
        w->progress = progress;
        w->user = user;
        st = warm_all(w, &all, e);
        *made = w->made;
    }
    if (!st && k->file) st = key_file_compact(k->file, e);
    if (w) datastore_builder_free(w->builder);
    free(w);
    pairlist_release(&all);
    pool_free(pool);
    return st;
}

/* ---- removing the keys of other pairs ------------------------------------ */

struct id_list { struct key_id *at; size_t n; struct plain_text plain; };

static enum status add_pair_id(void *user, size_t i,
                               const struct source_pair *p, struct err *e)
{
    struct id_list *l = user;
    enum status st = p->found ? plain_text_set(&l->plain, p, e) : ST_OK;

    (void)i;
    if (!st && p->found)
        l->at[l->n++] = steering_pair_id(l->plain.source, l->plain.target);
    return st;
}

/* The sorted ids of all pairs. The caller frees ids->at. */
static enum status shared_keys_list_ids(struct pair_source *source,
                                        struct id_list *ids, struct err *e)
{
    struct pairlist all = { 0 };
    enum status st = pairlist_read(&all, source, FETCH_TEXTS, e);

    plain_text_init(&ids->plain);
    if (!st) ids->at = malloc((all.n + 1) * sizeof *ids->at);
    if (!st && !ids->at) st = err_nomem(e, "key cache");
    for (size_t i = 0; !st && i < all.n; i += WARM_REPORT) {
        size_t n = all.n - i < WARM_REPORT ? all.n - i : WARM_REPORT;

        st = source_fetch(source, all.at + i, n, add_pair_id, ids, e);
    }
    plain_text_release(&ids->plain);
    pairlist_release(&all);
    if (!st) qsort(ids->at, ids->n, sizeof *ids->at, key_id_compare);
    return st;
}

enum status shared_keys_drop_others(struct shared_keys *k,
                                    struct pair_source *source,
                                    int64_t *removed, struct err *e)
{
    struct id_list ids = { 0 };
    uint64_t n_removed = 0;
    enum status st;

    *removed = 0;
    if (!k->file) return ST_OK;
    st = shared_keys_list_ids(source, &ids, e);
    if (!st) st = key_file_keep_only(k->file, ids.at, ids.n, &n_removed, e);
    if (!st) st = key_file_compact(k->file, e);
    *removed = (int64_t)n_removed;
    free(ids.at);
    return st;
}
