/* datastore_reduce.c - copies a datastore pair by pair, and changes the keys or
 * leaves out entries on the way. It decides nothing: pca.c makes the map, and
 * merge.c chooses the entries. */
#include "knn/datastore_reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/pool.h"
#include "knn/datastore_read.h"
#include "knn/entry_numbers.h"
#include "knn/entry_search.h"
#include "knn/merge.h"
#include "knn/pca.h"

struct datastore_reduction datastore_reduction_defaults(void)
{
    return (struct datastore_reduction){
        .dims = pca_options_defaults().to, .k = merge_options_defaults().k,
        .seed = 1 };
}

static enum status reduce_check(const struct entries *s, struct err *e)
{
    if (!datastore_file_info(s).building) return ST_OK;
    return err_set(e, ST_ARGUMENT, "the datastore is unfinished: run the same "
                   "'skmt knn build' again first");
}

/* ---- shorter keys -------------------------------------------------------- */

struct reducing {
    const struct entries *s;
    const struct datastore_reduction *o;
    const struct entry_map *map;
    float *key;                 /* [s->d] */
    float *mapped;              /* [cap_mapped] */
    size_t cap_mapped;
};

static int tell_sampled(void *user, int64_t done, int64_t total)
{
    const struct datastore_reduction *o = user;

    return o->progress ? o->progress(o->user, "sampling", (uint64_t)done,
                                     (uint64_t)total, (uint64_t)done) : 0;
}

static enum status reduce_pair(void *user, int32_t pair,
                               struct datastore_item *it, struct err *e)
{
    struct reducing *r = user;
    const struct entry_block *b = entries_block_of(r->s, pair);
    uint32_t first = b->span[pair - b->first_pair].first;
    size_t to = (size_t)r->map->to;

    if (!it->n) return ST_OK;
    if (!mem_grow(&r->mapped, &r->cap_mapped, (size_t)it->n * to,
                  sizeof *r->mapped))
        return err_nomem(e, "datastore");
    for (int i = 0; i < it->n; i++) {
        entries_key(r->s, b, (int)first + i, r->key);
        pca_map(r->map, r->key, r->mapped + (size_t)i * to);
    }
    it->int8 = NULL;
    it->f16 = NULL;
    it->scale = NULL;
    it->f32 = r->mapped;
    it->ld = to;
    return ST_OK;
}

static enum status reduce_write(struct reducing *r, const char *path,
                                struct err *e)
{
    struct datastore_change c = { .stage = "reducing",
                                  .kind = datastore_file_kind(r->s),
                                  .change = reduce_pair, .user = r };

    c.kind.map = r->map;
    r->key = mem_alloc((size_t)r->s->d, sizeof *r->key);
    if (!r->key) return err_nomem(e, "datastore");
    return datastore_copy_changed(r->s, path, &c, r->o->progress, r->o->user,
                                  e);
}

enum status datastore_reduce(const struct entries *s, const char *path,
                             const struct datastore_reduction *o,
                             double *kept, struct err *e)
{
    struct reducing r = { .s = s, .o = o };
    struct pca_options po = pca_options_defaults();
    struct datastore_reduction copy = *o;
    struct pca *pca = NULL;
    enum status st = reduce_check(s, e);

    po.to = o->dims;
    if (o->sample) po.sample = o->sample;
    po.seed = o->seed;
    po.progress = tell_sampled;
    po.user = &copy;
    if (!st && !s->n)
        st = err_set(e, ST_ARGUMENT, "the datastore has no entries");
    if (!st) st = pca_of_entries(&pca, s, &po, o->pool, e);
    if (!st) {
        r.map = &pca->map;
        if (kept) *kept = pca_explained(pca, o->dims);
        st = reduce_write(&r, path, e);
    }
    pca_free(pca);
    mem_free(r.key);
    free(r.mapped);
    return st;
}

/* ---- fewer entries ------------------------------------------------------- */

struct thinning {
    const struct entries *s;
    struct entry_numbers numbers;
    const uint32_t *weight;     /* by number of an entry; 0: left out */
    /* The entries of a pair that are kept. */
    int32_t *token;
    uint16_t *pos;
    float *log_weight, *norm, *scale;
    int *place;                 /* of the entries before; -1: left out */
    size_t cap_token, cap_pos, cap_log, cap_norm, cap_scale, cap_place;
    char *keys;
    size_t cap_keys;
    struct datastore_link *links;
    size_t cap_links;
};

static void thinning_release(struct thinning *t)
{
    entry_numbers_release(&t->numbers);
    free(t->token);
    free(t->pos);
    free(t->log_weight);
    free(t->norm);
    free(t->scale);
    free(t->place);
    free(t->keys);
    free(t->links);
}

static bool thinning_room(struct thinning *t, const struct datastore_item *it,
                          size_t key_bytes)
{
    size_t n = (size_t)it->n;

    return mem_grow(&t->token, &t->cap_token, n, sizeof *t->token) &&
           mem_grow(&t->pos, &t->cap_pos, n, sizeof *t->pos) &&
           mem_grow(&t->log_weight, &t->cap_log, n, sizeof *t->log_weight) &&
           mem_grow(&t->norm, &t->cap_norm, n, sizeof *t->norm) &&
           mem_grow(&t->scale, &t->cap_scale, n, sizeof *t->scale) &&
           mem_grow(&t->place, &t->cap_place, n, sizeof *t->place) &&
           mem_grow(&t->keys, &t->cap_keys, n * key_bytes, 1) &&
           mem_grow(&t->links, &t->cap_links, (size_t)it->n_links,
                    sizeof *t->links);
}

/* Copy entry i of a pair to place `to`. */
static void keep_entry(struct thinning *t, const struct datastore_item *it,
                       int i, int to, uint32_t weight, size_t key_bytes)
{
    const char *keys = it->f16 ? (const char *)it->f16
                               : (const char *)it->int8;

    t->token[to] = it->token[i];
    t->pos[to] = it->pos[i];
    t->norm[to] = it->norm[i];
    t->log_weight[to] = logf((float)weight);
    if (it->scale) t->scale[to] = it->scale[i];
    memcpy(t->keys + (size_t)to * key_bytes, keys + (size_t)i * key_bytes,
           key_bytes);
}

/* Links to entries that are gone are dropped. */
static void thin_links(struct thinning *t, struct datastore_item *it)
{
    int n = 0;

    for (int i = 0; i < it->n_links; i++) {
        int place = t->place[it->link[i].entry];

        if (place < 0) continue;
        t->links[n++] = (struct datastore_link){ it->link[i].source,
                                                 (uint32_t)place };
    }
    it->link = t->links;
    it->n_links = n;
}

static enum status thin_pair(void *user, int32_t pair,
                             struct datastore_item *it, struct err *e)
{
    struct thinning *t = user;
    const struct entry_block *b = entries_block_of(t->s, pair);
    int64_t first = t->numbers.first[b - t->s->blocks] +
                    b->span[pair - b->first_pair].first;
    size_t key_bytes = it->ld * (it->f16 ? sizeof *it->f16 : 1);
    int n = 0;

    if (!it->n) return ST_OK;
    if (!thinning_room(t, it, key_bytes)) return err_nomem(e, "datastore");
    for (int i = 0; i < it->n; i++) {
        uint32_t weight = t->weight[first + i];

        t->place[i] = weight ? n : -1;
        if (weight) keep_entry(t, it, i, n++, weight, key_bytes);
    }
    thin_links(t, it);
    it->n = n;
    it->token = t->token;
    it->pos = t->pos;
    it->norm = t->norm;
    it->log_weight = t->log_weight;
    if (it->scale) it->scale = t->scale;
    if (it->f16) it->f16 = (const uint16_t *)(const void *)t->keys;
    else it->int8 = (const int8_t *)t->keys;
    return ST_OK;
}

static int tell_merged(void *user, int64_t done, int64_t total, int64_t left)
{
    const struct datastore_reduction *o = user;

    (void)left;
    return o->progress ? o->progress(o->user, "merging", (uint64_t)done,
                                     (uint64_t)total, (uint64_t)done) : 0;
}

/* The searches of a merge. A search by an index uses one thread, so each thread
 * has one of its own; the exact search uses all threads itself. */
struct merge_searches {
    struct pool *pool;          /* NULL: there is one search */
    struct entry_search **at;   /* [n] */
    int n;
    /* One call: the states, and where the neighbors go. */
    const float *q; size_t ldq; int n_q, k;
    struct neighbor *out;
    struct searched { enum status st; struct err e; int found; } *done;
                                /* [n] */
};

static void merge_searches_release(struct merge_searches *ms)
{
    for (int i = 0; ms->at && i < ms->n; i++) entry_search_free(ms->at[i]);
    free(ms->at);
    free(ms->done);
}

static enum status merge_searches_init(struct merge_searches *ms,
                                       struct entries *s, struct pool *pool,
                                       struct err *e)
{
    enum status st = ST_OK;

    ms->pool = s->index ? pool : NULL;
    ms->n = ms->pool ? pool_threads(ms->pool) : 1;
    ms->at = calloc((size_t)ms->n, sizeof *ms->at);
    ms->done = calloc((size_t)ms->n, sizeof *ms->done);
    if (!ms->at || !ms->done) return err_nomem(e, "merging entries");
    for (int i = 0; !st && i < ms->n; i++)
        st = entry_search_new(&ms->at[i], s, s->index,
                              s->index ? NULL : pool, e);
    return st;
}

/* Search for a part of the states. */
static void search_part(void *arg, int part, int n_parts)
{
    struct merge_searches *ms = arg;
    int from = (int)((int64_t)ms->n_q * part / n_parts);
    int to = (int)((int64_t)ms->n_q * (part + 1) / n_parts);
    struct searched *d = &ms->done[part];

    assert(n_parts == ms->n);
    d->found = 0;
    d->st = entry_search_states(ms->at[part], ms->q + (size_t)from * ms->ldq,
                                ms->ldq, to - from, ms->k,
                                ms->out + (size_t)from * (size_t)ms->k,
                                &d->found, &d->e);
}

static enum status merge_nearest(void *search, const float *q, size_t ldq,
                                 int n, int k, struct neighbor *out,
                                 int *found, struct err *e)
{
    struct merge_searches *ms = search;

    ms->q = q;
    ms->ldq = ldq;
    ms->n_q = n;
    ms->k = k;
    ms->out = out;
    pool_run(ms->pool, search_part, ms);
    *found = 0;
    for (int i = 0; i < ms->n; i++) {
        const struct searched *d = &ms->done[i];

        if (d->st) *e = d->e;
        if (d->st) return d->st;
        if (d->found > *found) *found = d->found;   /* 0: no states */
    }
    return ST_OK;
}

/* Find the weights of all entries. */
static enum status merge_weights(struct entries *s,
                                 const struct datastore_reduction *o,
                                 struct merge_result *r, struct err *e)
{
    struct datastore_reduction copy = *o;
    struct merge_options mo = { .k = o->k, .seed = o->seed,
                                .progress = tell_merged, .user = &copy };
    struct merge_searches searches = { 0 };
    struct merge_search how = { merge_nearest, &searches };
    enum status st = merge_searches_init(&searches, s, o->pool, e);

    if (!st) st = merge_entries(r, s, &how, &mo, e);
    merge_searches_release(&searches);
    return st;
}

static enum status merge_write(const struct entries *s, const char *path,
                               const struct datastore_reduction *o,
                               const struct merge_result *r, struct err *e)
{
    struct thinning t = { .s = s, .weight = r->weight };
    struct datastore_change c = { .stage = "copying",
                                  .kind = datastore_file_kind(s),
                                  .change = thin_pair, .user = &t };
    enum status st = entry_numbers_init(&t.numbers, s, e);

    c.kind.has_weights = true;
    if (!st)
        st = datastore_copy_changed(s, path, &c, o->progress, o->user, e);
    thinning_release(&t);
    return st;
}

enum status datastore_merge(struct entries *s, const char *path,
                            const struct datastore_reduction *o,
                            int64_t *removed, struct err *e)
{
    struct merge_result r = { 0 };
    enum status st = reduce_check(s, e);

    if (!st && datastore_file_info(s).has_weights)
        st = err_set(e, ST_ARGUMENT, "the entries of this datastore were "
                     "merged already; merge the full one with a larger k");
    if (!st) st = merge_weights(s, o, &r, e);
    if (!st) st = merge_write(s, path, o, &r, e);
    if (!st && removed) *removed = r.before - r.after;
    merge_result_release(&r);
    return st;
}
