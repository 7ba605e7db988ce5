/* key_cache.c - see key_cache.h.
 *
 * A table of chains that grows with what is in it, and a ring through all its
 * nodes from the newest to the oldest. The file is never waited for while the
 * lock is held. */
#include "knn/key_cache.h"

#include <pthread.h>
#include <stdlib.h>

enum { FIRST_CHAINS = 64 };     /* a power of two, and so are all after */

struct cache_node {
    struct key_id id;
    struct pair_keys *block;    /* held */
    struct cache_node *next;    /* of the chain */
    struct cache_node *newer, *older;
    uint32_t told;              /* key_file_touch's */
};

struct key_cache {
    struct key_file *file;      /* or NULL; has locks of its own */
    size_t limit;
    atomic_uint_least64_t hits, file_hits, misses;

    pthread_mutex_t lock;       /* of what follows */
    struct cache_node **chains; /* [mask + 1] */
    size_t mask, blocks, bytes;
    struct cache_node ring;     /* its older is the newest of all */
    uint64_t dropped;
};

/* ---- table and ring ------------------------------------------------------ */

/* An id is a hash, so any of its bits will do. */
static struct cache_node **chain_of(struct key_cache *c, struct key_id id)
{
    return &c->chains[(size_t)id.lo & c->mask];
}

/* Where the pointer to the node is, or would be. */
static struct cache_node **key_cache_find(struct key_cache *c, struct key_id id)
{
    struct cache_node **at = chain_of(c, id);

    while (*at && ((*at)->id.lo != id.lo || (*at)->id.hi != id.hi))
        at = &(*at)->next;
    return at;
}

/* Without memory for it the chains just become longer. */
static void key_cache_grow(struct key_cache *c)
{
    size_t old = c->mask + 1;
    struct cache_node **chains = calloc(old * 2, sizeof *chains),
                      **was = c->chains;

    if (!chains) return;
    c->chains = chains;
    c->mask = old * 2 - 1;
    for (size_t i = 0; i < old; i++)
        for (struct cache_node *n = was[i], *next; n; n = next) {
            struct cache_node **at = chain_of(c, n->id);

            next = n->next;
            n->next = *at;
            *at = n;
        }
    free(was);
}

static void ring_out(struct cache_node *n)
{
    n->newer->older = n->older;
    n->older->newer = n->newer;
}

static void ring_in(struct key_cache *c, struct cache_node *n)
{
    n->newer = &c->ring;
    n->older = c->ring.older;
    n->newer->older = n->older->newer = n;
}

static void use_again(struct key_cache *c, struct cache_node *n)
{
    ring_out(n);
    ring_in(c, n);
    if (c->file) key_file_touch(c->file, n->id, &n->told);
}

static void take_out(struct key_cache *c, struct cache_node **at)
{
    struct cache_node *n = *at;

    *at = n->next;
    ring_out(n);
    c->pairs--;
    c->bytes -= n->keys->bytes;
    pair_keys_drop(n->keys);
    free(n);
}

static void key_cache_make_room(struct key_cache *c, size_t bytes)
{
    while (c->bytes > c->limit - bytes) {
        take_out(c, key_cache_find(c, c->ring.newer->id));
        c->dropped++;
    }
}

/* What is there already stays; what is too large is left out. */
static bool key_cache_keep(struct key_cache *c, struct key_id id,
                           struct pair_keys *b)
{
    struct cache_node *n = *key_cache_find(c, id);

    if (n) use_again(c, n);
    if (n || b->bytes > c->limit) return true;
    n = calloc(1, sizeof *n);
    if (!n) return false;
    key_cache_make_room(c, b->bytes);
    if (c->pairs > c->mask) key_cache_grow(c);
    n->id = id;
    n->keys = pair_keys_hold(b);
    n->next = *chain_of(c, id);
    *chain_of(c, id) = n;
    ring_in(c, n);
    c->pairs++;
    c->bytes += b->bytes;
    return true;
}

/* ---- what callers do ----------------------------------------------------- */

enum status key_cache_new(struct key_cache **out, size_t limit,
                          struct key_file *file, struct err *e)
{
    struct key_cache *c = calloc(1, sizeof *c);

    *out = NULL;
    if (c) c->chains = calloc(FIRST_CHAINS, sizeof *c->chains);
    if (!c || !c->chains) {
        free(c);
        return err_nomem(e, "cache of memory keys");
    }
    pthread_mutex_init(&c->lock, NULL);
    c->mask = FIRST_CHAINS - 1;
    c->ring.newer = c->ring.older = &c->ring;
    c->limit = limit;
    c->file = file;
    *out = c;
    return ST_OK;
}

void key_cache_free(struct key_cache *c)
{
    if (!c) return;
    while (c->pairs) take_out(c, key_cache_find(c, c->ring.newer->id));
    key_file_close(c->file);
    pthread_mutex_destroy(&c->lock);
    free(c->chains);
    free(c);
}

/* What is in memory; NULL: nothing. */
static struct pair_keys *key_cache_look_up(struct key_cache *c,
                                           struct key_id id)
{
    struct pair_keys *b = NULL;
    struct cache_node *n;

    pthread_mutex_lock(&c->lock);
    n = *key_cache_find(c, id);
    if (n) {
        use_again(c, n);
        b = pair_keys_hold(n->keys);
    }
    pthread_mutex_unlock(&c->lock);
    return b;
}

/* What the file had. It is not kept where there is no memory for it. */
static void bring_in(struct key_cache *c, struct key_id id, struct pair_keys *b)
{
    pthread_mutex_lock(&c->lock);
    key_cache_keep(c, id, b);
    pthread_mutex_unlock(&c->lock);
}

/* *in_memory: it did not come from the file. */
static enum status get(struct key_cache *c, struct key_id id,
                       struct pair_keys **out, bool *in_memory, struct err *e)
{
    enum status st = ST_OK;

    *out = key_cache_look_up(c, id);
    *in_memory = *out != NULL;
    if (*out || !c->file) return ST_OK;
    st = key_file_get(c->file, id, out, e);
    if (*out) bring_in(c, id, *out);
    return st;
}

enum status key_cache_get(struct key_cache *c, struct key_id id,
                          struct pair_keys **out, struct err *e)
{
    bool in_memory;
    enum status st = get(c, id, out, &in_memory, e);

    atomic_fetch_add(in_memory ? &c->hits : *out ? &c->file_hits : &c->misses,
                     1);
    return st;
}

enum status key_cache_get_again(struct key_cache *c, struct key_id id,
                                struct pair_keys **out, struct err *e)
{
    bool in_memory;

    return get(c, id, out, &in_memory, e);
}

enum status key_cache_put(struct key_cache *c, const struct key_id *ids,
                          struct pair_keys *const *blocks, int n,
                          struct err *e)
{
    bool ok = true;

    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < n; i++) ok = key_cache_keep(c, ids[i], blocks[i]) && ok;
    pthread_mutex_unlock(&c->lock);
    if (!ok) return err_nomem(e, "cache of memory keys");
    return c->file ? key_file_put(c->file, ids, blocks, n, e) : ST_OK;
}

enum status key_cache_stats(struct key_cache *c, struct key_cache_stats *out,
                            struct err *e)
{
    pthread_mutex_lock(&c->lock);
    *out = (struct key_cache_stats){
        .hits = c->hits, .file_hits = c->file_hits, .misses = c->misses,
        .dropped = c->dropped, .pairs = c->pairs, .bytes = c->bytes,
        .limit = c->limit, .has_file = c->file != NULL };
    pthread_mutex_unlock(&c->lock);
    return c->file ? key_file_stats(c->file, &out->file, e) : ST_OK;
}
