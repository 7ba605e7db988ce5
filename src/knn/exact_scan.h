/* exact_scan.h - compare queries with all keys of a large datastore.
 *
 * The result is that of computing all distances, with the `distances` functions
 * of the kernels, and sorting them: the same entries and the same distances bit
 * for bit. Most distances are not computed, though: a product of 8-bit numbers
 * gives a lower bound that excludes nearly all keys (exact_scan.c).
 *
 * The keys are read once for all queries of a run. The neighbors of a query do
 * not depend on the other queries, nor on the number of threads. A distance
 * that is not a number, or is too large for a float, counts as infinity.
 *
 * One thread at a time uses an exact_scan. Nothing is allocated after
 * exact_scan_new. */
#ifndef KNN_EXACT_SCAN_H
#define KNN_EXACT_SCAN_H

#include "knn/entries.h"
#include "knn/finder.h"
#include "tensor/kernels.h"

struct pool;
struct exact_scan;              /* opaque */

/* A neighbor: an entry of a block, and its squared distance. */
struct scan_hit {
    float d2;
    int32_t block, entry;
};

/* The most queries of a run. */
enum { EXACT_SCAN_ROWS = 256 };

struct scan_queries {
    const float *q;             /* [n, ldq]; rows are padded to 16 floats, the
                                   padding may have any value */
    size_t ldq;
    int n;                      /* 0 .. EXACT_SCAN_ROWS */
    const int *k;               /* [n] neighbors of each, 1 .. KNN_MAX_K */
};

/* s, kernels and pool are borrowed. pool may be NULL. */
enum status exact_scan_new(struct exact_scan **out, const struct entries *s,
                           const struct kernels *kernels, struct pool *pool,
                           struct err *e);
void exact_scan_free(struct exact_scan *sc);    /* NULL is fine */

/* Find the neighbors of all queries. With use_pool, the threads of the pool
 * divide the keys among them. */
void exact_scan_run(struct exact_scan *sc, const struct scan_queries *queries,
                    bool use_pool);
/* The neighbors of query i of the last run, nearest first, equal ones by block
 * and entry. *n is the smaller of k and the number of entries. */
const struct scan_hit *exact_scan_hits(const struct exact_scan *sc, int i,
                                       int *n);

/* Since exact_scan_new: how many pairs of a query and a key were compared, and
 * how many distances were computed for that. For benchmarks. */
struct scan_counts { int64_t compared, measured; };
struct scan_counts exact_scan_counts(const struct exact_scan *sc);

#endif
