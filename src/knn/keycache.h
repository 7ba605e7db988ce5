/* keycache.h - keys of pairs that were needed lately, so that they are not
 * computed again.
 *
 * Bounded by bytes: when a block does not fit, those not used for the longest
 * time go. A file (keyfile.h) may stand behind it: what is not in memory is
 * looked for there, and what is put is written to it. A cache is of one model
 * and one set of building options. An id stands for the texts of a pair, so its
 * keys never become wrong; those of pairs that were deleted are not used again
 * and go when room is needed. Any number of threads may use a cache at once.
 *
 * An error of the file is reported, and the cache works without it: what was
 * put is in memory all the same, and a pair that could not be read is like one
 * that is not there. */
#ifndef KNN_KEYCACHE_H
#define KNN_KEYCACHE_H

#include "knn/keyblock.h"
#include "knn/keyfile.h"

struct keycache;

struct keycache_stats {
    uint64_t hits, file_hits, misses;   /* of keycache_get alone */
    uint64_t dropped;           /* to make room */
    size_t blocks, bytes, limit;
    bool has_file;
    struct keyfile_stats file;  /* zeros without one */
};

/* limit in bytes, 0: keep nothing. file may be NULL; else it is the cache's
 * from here on (unless this fails), and closed with it. */
enum status keycache_new(struct keycache **out, size_t limit,
                         struct keyfile *file, struct err *e);
void keycache_free(struct keycache *c);         /* NULL is fine */

/* The block, held for the caller, or NULL in *out: not there. */
enum status keycache_get(struct keycache *c, struct key_id id,
                         struct keyblock **out, struct err *e);
/* The same for a pair that keycache_get did not find: may somebody have put it
 * since? Not counted, so that a pair is one hit or one miss. */
enum status keycache_get_again(struct keycache *c, struct key_id id,
                               struct keyblock **out, struct err *e);
/* n blocks that were just made (one transaction of the file). The cache holds
 * them itself. A block that is there already stays; one larger than the limit
 * is only kept in the file. */
enum status keycache_put(struct keycache *c, const struct key_id *ids,
                         struct keyblock *const *blocks, int n,
                         struct err *e);
enum status keycache_stats(struct keycache *c, struct keycache_stats *out,
                           struct err *e);

#endif
