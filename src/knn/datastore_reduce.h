/* datastore_reduce.h - write a smaller copy of a datastore file: with shorter
 * keys (pca.h), or with fewer entries (merge.h). System efficient is meant for
 * such files, but all systems that search a datastore can use them.
 *
 * Both methods can be applied to the same file, one after the other, each of
 * them once. The copy appears under its name, or replaces an old file, only
 * when it is complete. Pairs cannot be added to it; they can be deleted. */
#ifndef KNN_DATASTORE_REDUCE_H
#define KNN_DATASTORE_REDUCE_H

#include "base/pool.h"
#include "knn/datastore_file.h"

struct datastore_reduction {
    int dims;                   /* numbers of a key */
    int64_t sample;             /* keys that the map is computed from; 0: the
                                   default of pca.h */
    int k;                      /* neighbors of each entry, itself included */
    uint64_t seed;              /* of the sample, or of the order */
    struct pool *pool;          /* borrowed; may be NULL */
    tm_progress_fn *progress;   /* told keys or entries, then pairs; may be
                                   NULL */
    void *user;
};
struct datastore_reduction datastore_reduction_defaults(void);

/* s comes from datastore_file_open. Both functions fail with ST_ARGUMENT if it
 * is not complete, or was made by the same function.
 *
 * Write a copy whose keys have `dims` numbers. *kept is the part of the
 * variance that they keep, 0 to 1; it may be NULL. */
enum status datastore_reduce(const struct entries *s, const char *path,
                             const struct datastore_reduction *o,
                             double *kept, struct err *e);
/* Write a copy in which entries were merged. *removed is the number of entries
 * that are gone; it may be NULL. */
enum status datastore_merge(struct entries *s, const char *path,
                            const struct datastore_reduction *o,
                            int64_t *removed, struct err *e);

#endif
