/* key_cache.h - a cache of the keys of recently used pairs.
 *
 * The cache is limited by bytes. When keys do not fit, the least recently used
 * ones are evicted. A key file (key_file.h) may back the cache: keys that are
 * not in memory are read from the file, and new keys are written to it. A
 * cache serves one model and one set of key options. An id is a hash of the
 * texts of a pair, so cached keys never become stale; keys of deleted pairs
 * are no longer used and are evicted in time. Any number of threads may use a
 * cache at once.
 *
 * An error of the file is reported to the caller, but the cache stays usable:
 * keys that were put are in memory all the same, and a pair that cannot be read
 * counts as a miss. */
#ifndef KNN_KEY_CACHE_H
#define KNN_KEY_CACHE_H

#include "knn/pair_keys.h"
#include "knn/key_file.h"

struct key_cache;

struct key_cache_stats {
    uint64_t hits, file_hits, misses;   /* of key_cache_get only */
    uint64_t dropped;           /* pairs evicted to make room */
    size_t pairs, bytes, limit; /* in memory */
    bool has_file;
    struct key_file_stats file; /* zeros without a file */
};

/* limit is in bytes; 0 keeps nothing in memory. file may be NULL. On success
 * the cache owns the file and closes it. */
enum status key_cache_new(struct key_cache **out, size_t limit,
                          struct key_file *file, struct err *e);
void key_cache_free(struct key_cache *c);       /* NULL is fine */

/* Look up the keys of a pair. *out is a new reference, or NULL for a miss. */
enum status key_cache_get(struct key_cache *c, struct key_id id,
                          struct pair_keys **out, struct err *e);
/* Look up a pair again that key_cache_get did not find: another thread may have
 * put it since. The statistics do not count this, so that a pair is one hit or
 * one miss. */
enum status key_cache_get_uncounted(struct key_cache *c, struct key_id id,
                                    struct pair_keys **out, struct err *e);
/* Put the keys of n pairs, in one transaction of the file. The cache takes its
 * own references. Keys that are present already stay. Keys larger than the
 * limit are written to the file only. */
enum status key_cache_put(struct key_cache *c, const struct key_id *ids,
                          struct pair_keys *const *keys, int n,
                          struct err *e);
enum status key_cache_stats(struct key_cache *c, struct key_cache_stats *out,
                            struct err *e);

#endif
