/* datastore.h - the datastore of one sentence: the keys of its pairs.
 *
 * This is the datastore of SK-MT (method 1.7): a few hundred entries, one per
 * target token of each retrieved pair. It is small, so a query is compared with
 * every entry. All hypotheses of a sentence share its datastore. An entry is
 * identified by its pair and its position in the pair's target, so that every
 * vote can be explained.
 *
 * Invariants:
 *   - The datastore holds one reference to the keys of each of its pairs.
 *   - n is the sum of pairs[i]->n, and all pairs have the same type and the
 *     same number of dimensions. */
#ifndef KNN_DATASTORE_H
#define KNN_DATASTORE_H

#include <stdbool.h>

#include "knn/finder.h"
#include "knn/pair_keys.h"

struct datastore {
    struct finder finder;       /* must be the first member */
    struct pair_keys **pairs;   /* [n_pairs] held, best pair first */
    int n_pairs;
    size_t cap;
    int n;                      /* entries of all pairs together */
};

/* Make an empty datastore. */
void datastore_init(struct datastore *ks);
/* Drop the keys of all pairs. The datastore is empty then. */
void datastore_release(struct datastore *ks);
/* Append the keys of the next pair. The datastore takes its own reference. */
enum status datastore_add(struct datastore *ks, struct pair_keys *b,
                          struct err *e);

/* The nearest entries are found by datastore.finder (finder.h). `pair` of a
 * neighbor is the index of its pair in the datastore. Entries at equal distance
 * are in datastore order; each query has min(k, n) neighbors. */

/* Whether the invariants above hold; for PARANOID_CHECK and tests. */
bool datastore_sound(const struct datastore *ks);

#endif
