/* key_cache.c - a hash table of pairs with a list in order of last use. Misses
 * are looked up in the key file, if there is one. This file does not compute
 * keys.
 *
 * Invariants, while the lock is held:
 *   - Each node is in the chain of its id and once in the LRU list.
 *   - `pairs` is the number of nodes; `bytes` is the sum of the sizes of their
 *     keys, and at most `limit`.
 *   - Each node holds one reference to its keys.
 * The file is never accessed while the lock is held, except to note in memory
 * that a pair was used (key_file_touch). */
#include "knn/key_cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/invariant.h"

enum { FIRST_CHAINS = 64 };     /* the number of chains is a power of two */

struct cache_node {
    struct key_id id;
    struct pair_keys *keys;     /* held */
    struct cache_node *next;    /* in the chain */
    struct cache_node *newer, *older;   /* in the LRU list */
    uint32_t noted_use;         /* set by key_file_touch, which uses it to note
                                   the same use only once */
};

struct key_cache {
    struct key_file *file;      /* owned, or NULL; has its own locks */
    size_t limit;
    atomic_uint_least64_t hits, file_hits, misses;

    pthread_mutex_t lock;       /* protects the members below */
    struct cache_node **chains; /* [mask + 1] */
    size_t mask, pairs, bytes;
    struct cache_node lru;      /* sentinel of the circular LRU list; it has no
                                   keys. lru.older is the most recently used
                                   node, lru.newer the least recently used. In
                                   an empty list both point to the sentinel. */
    uint64_t dropped;
};

/* ---- invariants ---------------------------------------------------------- */

/* Whether the chains hold `pairs` nodes of `bytes` bytes, each in the chain of
 * its id. */
static inline bool key_cache_chains_sound(const struct key_cache *c)
{
    size_t pairs = 0, bytes = 0;

    for (size_t i = 0; i <= c->mask; i++)
        for (const struct cache_node *n = c->chains[i]; n; n = n->next) {
            if (((size_t)n->id.lo & c->mask) != i ||
                atomic_load(&n->keys->refs) < 1)
                return false;
            pairs++;
            bytes += n->keys->bytes;
        }
    return pairs == c->pairs && bytes == c->bytes;
}

/* Whether the LRU list is linked both ways and has `pairs` nodes. */
static inline bool key_cache_lru_sound(const struct key_cache *c)
{
    const struct cache_node *n = &c->lru;
    size_t pairs = 0;

    do {
        if (n->older->newer != n || n->newer->older != n) return false;
        n = n->older;
    } while (n != &c->lru && ++pairs <= c->pairs);
    return pairs == c->pairs;
}

/* Whether the invariants above hold; for PARANOID_CHECK. */
static inline bool key_cache_sound(const struct key_cache *c)
{
    return c->bytes <= c->limit && key_cache_chains_sound(c) &&
           key_cache_lru_sound(c);
}

/* ---- table and LRU list -------------------------------------------------- */

/* An id is a hash, so any of its bits select a chain. */
static struct cache_node **chain_of(struct key_cache *c, struct key_id id)
{
    return &c->chains[(size_t)id.lo & c->mask];
}

/* The link (the pointer in the chain) that points to the node of this id, so
 * that the caller can unlink the node. The link is NULL when there is no such
 * node. */
static struct cache_node **key_cache_find_link(struct key_cache *c,
                                               struct key_id id)
{
    struct cache_node **at = chain_of(c, id);

    while (*at && ((*at)->id.lo != id.lo || (*at)->id.hi != id.hi))
        at = &(*at)->next;
    return at;
}

/* Double the number of chains. Out of memory is not an error: the chains get
 * longer. */
static void key_cache_grow(struct key_cache *c)
{
    size_t n_old = c->mask + 1;
    struct cache_node **chains = calloc(n_old * 2, sizeof *chains),
                      **old = c->chains;

    if (!chains) return;
    c->chains = chains;
    c->mask = n_old * 2 - 1;
    for (size_t i = 0; i < n_old; i++)
        for (struct cache_node *n = old[i], *next; n; n = next) {
            struct cache_node **at = chain_of(c, n->id);

            next = n->next;
            n->next = *at;
            *at = n;
        }
    free(old);
}

static void lru_unlink(struct cache_node *n)
{
    assert(n->newer->older == n && n->older->newer == n);
    n->newer->older = n->older;
    n->older->newer = n->newer;
}

static void lru_link_newest(struct key_cache *c, struct cache_node *n)
{
    n->newer = &c->lru;
    n->older = c->lru.older;
    n->newer->older = n->older->newer = n;
}

static void key_cache_touch(struct key_cache *c, struct cache_node *n)
{
    lru_unlink(n);
    lru_link_newest(c, n);
    if (c->file) key_file_touch(c->file, n->id, &n->noted_use);
}

static void key_cache_remove(struct key_cache *c, struct cache_node **at)
{
    struct cache_node *n = *at;

    assert(n && c->pairs > 0 && c->bytes >= n->keys->bytes);
    *at = n->next;
    lru_unlink(n);
    c->pairs--;
    c->bytes -= n->keys->bytes;
    pair_keys_drop(n->keys);
    free(n);
}

/* Evict the least recently used pairs until `bytes` more fit. */
static void key_cache_make_room(struct key_cache *c, size_t bytes)
{
    assert(bytes <= c->limit);
    while (c->bytes > c->limit - bytes) {
        assert(c->lru.newer != &c->lru);
        key_cache_remove(c, key_cache_find_link(c, c->lru.newer->id));
        c->dropped++;
    }
}

/* Insert the keys of a pair unless they are present already or larger than the
 * limit. Returns false when out of memory. */
static bool key_cache_insert(struct key_cache *c, struct key_id id,
                             struct pair_keys *b)
{
    struct cache_node *n = *key_cache_find_link(c, id);

    if (n) key_cache_touch(c, n);
    if (n || b->bytes > c->limit) return true;
    n = calloc(1, sizeof *n);
    if (!n) return false;
    key_cache_make_room(c, b->bytes);
    if (c->pairs > c->mask) key_cache_grow(c);
    n->id = id;
    n->keys = pair_keys_hold(b);
    n->next = *chain_of(c, id);
    *chain_of(c, id) = n;
    lru_link_newest(c, n);
    c->pairs++;
    c->bytes += b->bytes;
    PARANOID_CHECK(key_cache_sound(c));
    return true;
}

/* ---- interface ----------------------------------------------------------- */

enum status key_cache_new(struct key_cache **out, size_t limit,
                          struct key_file *file, struct err *e)
{
    struct key_cache *c = calloc(1, sizeof *c);

    *out = NULL;
    if (c) c->chains = calloc(FIRST_CHAINS, sizeof *c->chains);
    if (!c || !c->chains) {
        free(c);
        return err_nomem(e, "key cache");
    }
    pthread_mutex_init(&c->lock, NULL);
    c->mask = FIRST_CHAINS - 1;
    c->lru.newer = c->lru.older = &c->lru;
    c->limit = limit;
    c->file = file;
    *out = c;
    return ST_OK;
}

void key_cache_free(struct key_cache *c)
{
    if (!c) return;
    PARANOID_CHECK(key_cache_sound(c));
    while (c->pairs)
        key_cache_remove(c, key_cache_find_link(c, c->lru.newer->id));
    assert(c->bytes == 0 && c->lru.newer == &c->lru);
    key_file_close(c->file);
    pthread_mutex_destroy(&c->lock);
    free(c->chains);
    free(c);
}

/* The keys of a pair if they are in memory, as a new reference; else NULL. */
static struct pair_keys *key_cache_get_from_memory(struct key_cache *c,
                                                   struct key_id id)
{
    struct pair_keys *b = NULL;
    struct cache_node *n;

    pthread_mutex_lock(&c->lock);
    n = *key_cache_find_link(c, id);
    if (n) {
        key_cache_touch(c, n);
        b = pair_keys_hold(n->keys);
    }
    PARANOID_CHECK(key_cache_sound(c));
    pthread_mutex_unlock(&c->lock);
    return b;
}

/* Insert keys that were read from the file. Out of memory is not an error: they
 * are read again next time. */
static void key_cache_insert_from_file(struct key_cache *c, struct key_id id,
                                       struct pair_keys *b)
{
    pthread_mutex_lock(&c->lock);
    key_cache_insert(c, id, b);
    pthread_mutex_unlock(&c->lock);
}

/* Look in memory, then in the file. *in_memory is false for keys that were read
 * from the file. */
static enum status key_cache_get_from_memory_or_file(
    struct key_cache *c, struct key_id id, struct pair_keys **out,
    bool *in_memory, struct err *e)
{
    enum status st = ST_OK;

    *out = key_cache_get_from_memory(c, id);
    *in_memory = *out != NULL;
    if (*out || !c->file) return ST_OK;
    st = key_file_get(c->file, id, out, e);
    if (*out) key_cache_insert_from_file(c, id, *out);
    return st;
}

enum status key_cache_get(struct key_cache *c, struct key_id id,
                          struct pair_keys **out, struct err *e)
{
    bool in_memory;
    enum status st = key_cache_get_from_memory_or_file(c, id, out, &in_memory,
                                                       e);

    atomic_fetch_add(in_memory ? &c->hits : *out ? &c->file_hits : &c->misses,
                     1);
    return st;
}

enum status key_cache_get_uncounted(struct key_cache *c, struct key_id id,
                                    struct pair_keys **out, struct err *e)
{
    bool in_memory;

    return key_cache_get_from_memory_or_file(c, id, out, &in_memory, e);
}

enum status key_cache_put(struct key_cache *c, const struct key_id *ids,
                          struct pair_keys *const *keys, int n,
                          struct err *e)
{
    bool ok = true;

    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < n; i++)
        ok = key_cache_insert(c, ids[i], keys[i]) && ok;
    pthread_mutex_unlock(&c->lock);
    if (!ok) return err_nomem(e, "key cache");
    return c->file ? key_file_put(c->file, ids, keys, n, e) : ST_OK;
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
