/* shared_keys.c - opens a cache of keys, computes the keys of whole memories
 * ahead of time, and removes the keys of other pairs from the key file. The
 * cache itself is knn/key_cache.c. */
#include "engine/shared_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "engine/datastore_builder.h"
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

/* ---- the texts of the memories in use ------------------------------------ */

/* The ids of the texts. They are collected before the texts are read, because
 * the store cannot be queried during a scan. */
struct texts { int64_t *at; size_t n, cap; };

static int collect_text(void *user, const struct change *c)
{
    struct texts *t = user;

    if (!mem_grow(&t->at, &t->cap, t->n + 1, sizeof *t->at)) return 1;
    t->at[t->n++] = c->text;
    return 0;
}

static enum status list_texts(struct tmfile *tm, struct texts *t,
                              struct err *e)
{
    struct memory_info *list = NULL;
    size_t n = 0;
    enum status st = store_memory_list(tm->store, &list, &n, e);

    for (size_t i = 0; !st && i < n; i++) {
        bool chosen = tm->all;

        for (size_t k = 0; k < tm->n_chosen; k++)
            chosen |= tm->chosen[k] == list[i].id;
        if (chosen) st = store_scan(tm->store, list[i].id, collect_text, t, e);
        if (st == ST_CANCELED) st = err_nomem(e, "key cache");
    }
    free(list);
    return st;
}

struct plain_text {             /* a pair without its tags */
    struct strbuf buffers[2];
    struct str source, target;
    bool exists;                /* it was not deleted meanwhile */
};

static void plain_text_init(struct plain_text *p)
{
    strbuf_init(&p->buffers[0], 0);
    strbuf_init(&p->buffers[1], 0);
}

static void plain_text_release(struct plain_text *p)
{
    strbuf_release(&p->buffers[0]);
    strbuf_release(&p->buffers[1]);
}

static enum status plain_text_read(struct plain_text *p, struct tmfile *tm,
                                   int64_t text, struct err *e)
{
    bool tagged;
    enum status st = store_text(tm->store, text, &p->source, &p->target,
                                &tagged, &p->exists, e);

    if (st || !p->exists || !tagged) return st;
    return steering_pair_plain(p->buffers, &p->source, &p->target, e);
}

/* ---- computing keys ahead of time ---------------------------------------- */

enum { WARM_PAIRS = 64 };       /* pairs whose keys are computed together */

struct warm_context {
    struct shared_keys *k;
    const struct engine *en;
    struct tmfile *tm;
    struct datastore_builder *builder;
    struct steering_pair pairs[WARM_PAIRS], *list[WARM_PAIRS];
    int n;                      /* pairs that wait for their keys */
    int64_t texts_seen, total, made;
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
    st = datastore_builder_make(w->builder, w->k->cache, w->list, w->n, e);
    if (!st) w->made += w->n;
    release_pairs(w);
    if (!st && w->tm->progress &&
        w->tm->progress(w->tm->user, "keys", (uint64_t)w->texts_seen,
                        (uint64_t)w->total, (uint64_t)w->texts_seen))
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

static enum status warm_text(struct warm_context *w, int64_t text,
                             struct err *e)
{
    struct steering_pair *p = &w->pairs[w->n];
    struct plain_text *t = &w->plain;
    enum status st = plain_text_read(t, w->tm, text, e);

    assert(w->n < WARM_PAIRS);
    if (st || !t->exists ||
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

static enum status warm_texts(struct warm_context *w, const struct texts *t,
                              struct err *e)
{
    enum status st = ST_OK;

    w->total = (int64_t)t->n;
    plain_text_init(&w->plain);
    for (size_t i = 0; !st && i < t->n; i++) {
        st = warm_text(w, t->at[i], e);
        w->texts_seen++;
        if (!st && (w->n == WARM_PAIRS || w->texts_seen % 1024 == 0))
            st = shared_keys_flush(w, e);
    }
    if (!st) st = shared_keys_flush(w, e);
    release_pairs(w);
    plain_text_release(&w->plain);
    return st;
}

enum status shared_keys_warm(struct shared_keys *k, const struct engine *en,
                             const struct options *o, struct tmfile *tm,
                             int64_t *made, struct err *e)
{
    struct warm_context *w = calloc(1, sizeof *w);
    struct pool *pool = NULL;
    struct texts t = { 0 };
    enum status st =
        w ? shared_keys_fit(k, en, o, e) : err_nomem(e, "key cache");

    *made = 0;
    if (!st) st = pool_new(&pool, o->threads, e);
    if (!st) st = list_texts(tm, &t, e);
    if (!st) st = datastore_builder_new(&w->builder, en, o, pool, e);
    if (!st) {
        w->k = k;
        w->en = en;
        w->tm = tm;
        st = warm_texts(w, &t, e);
        *made = w->made;
    }
    if (!st && k->file) st = key_file_compact(k->file, e);
    if (w) datastore_builder_free(w->builder);
    free(w);
    free(t.at);
    pool_free(pool);
    return st;
}

/* ---- removing the keys of other pairs ------------------------------------ */

/* Write the sorted ids of all pairs to ids, which has room for t->n. */
static enum status shared_keys_list_ids(struct tmfile *tm,
                                        const struct texts *t,
                                        struct key_id *ids, size_t *n,
                                        struct err *e)
{
    struct plain_text p;
    enum status st = ST_OK;

    *n = 0;
    plain_text_init(&p);
    for (size_t i = 0; !st && i < t->n; i++) {
        st = plain_text_read(&p, tm, t->at[i], e);
        if (!st && p.exists) ids[(*n)++] = steering_pair_id(p.source, p.target);
    }
    plain_text_release(&p);
    qsort(ids, *n, sizeof *ids, key_id_compare);
    return st;
}

enum status shared_keys_drop_others(struct shared_keys *k, struct tmfile *tm,
                                    int64_t *removed, struct err *e)
{
    struct texts t = { 0 };
    struct key_id *ids = NULL;
    uint64_t n_removed = 0;
    size_t n;
    enum status st;

    *removed = 0;
    if (!k->file) return ST_OK;
    st = list_texts(tm, &t, e);
    if (!st) ids = malloc((t.n + 1) * sizeof *ids);
    if (!st && !ids) st = err_nomem(e, "key cache");
    if (!st) st = shared_keys_list_ids(tm, &t, ids, &n, e);
    if (!st) st = key_file_keep_only(k->file, ids, n, &n_removed, e);
    if (!st) st = key_file_compact(k->file, e);
    *removed = (int64_t)n_removed;
    free(ids);
    free(t.at);
    return st;
}
