/* key_cache.h - keys of pairs that were needed lately, so that they are not
 * computed again.
 *
 * Bounded by bytes: when a block does not fit, those not used for the longest
 * time go. A file (key_file.h) may stand behind it: what is not in memory is
 * looked for there, and what is put is written to it. A cache is of one model
 * and one set of building options. An id stands for the texts of a pair, so its
 * keys never become wrong; those of pairs that were deleted are not used again
 * and go when room is needed. Any number of threads may use a cache at once.
 *
 * An error of the file is reported, and the cache works without it: what was
 * put is in memory all the same, and a pair that could not be read is like one
 * that is not there. */
#ifndef KNN_KEY_CACHE_H
#define KNN_KEY_CACHE_H

#include "knn/pair_keys.h"
#include "knn/key_file.h"

struct key_cache;

struct key_cache_stats {
    uint64_t hits, file_hits, misses;   /* of key_cache_get alone */
    uint64_t dropped;           /* to make room */
    size_t blocks, bytes, limit;
    bool has_file;
    struct key_file_stats file; /* zeros without one */
};

/* limit in bytes, 0: keep nothing. file may be NULL; else it is the cache's
 * from here on (unless this fails), and closed with it. */
enum status key_cache_new(struct key_cache **out, size_t limit,
                          struct key_file *file, struct err *e);
void key_cache_free(struct key_cache *c);       /* NULL is fine */

/* The block, held for the caller, or NULL in *out: not there. */
enum status key_cache_get(struct key_cache *c, struct key_id id,
                          struct pair_keys **out, struct err *e);
/* The same for a pair that key_cache_get did not find: may somebody have put it
 * since? Not counted, so that a pair is one hit or one miss. */
enum status key_cache_get_again(struct key_cache *c, struct key_id id,
                                struct pair_keys **out, struct err *e);
/* n blocks that were just made (one transaction of the file). The cache holds
 * them itself. A block that is there already stays; one larger than the limit
 * is only kept in the file. */
enum status key_cache_put(struct key_cache *c, const struct key_id *ids,
                          struct pair_keys *const *blocks, int n,
                          struct err *e);
enum status key_cache_stats(struct key_cache *c, struct key_cache_stats *out,
                            struct err *e);

#endif
