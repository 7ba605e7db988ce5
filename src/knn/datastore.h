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

#include "knn/pair_keys.h"
#include "tensor/kernels.h"

#define KNN_MAX_K 64

struct datastore {              /* all zeros: empty */
    struct pair_keys **pairs;   /* [n_pairs] held, best pair first */
    int n_pairs;
    size_t cap;
    int n;                      /* entries of all pairs together */
};

/* Drop the keys of all pairs. The datastore is empty then. */
void datastore_release(struct datastore *ks);
/* Append the keys of the next pair. The datastore takes its own reference. */
enum status datastore_add(struct datastore *ks, struct pair_keys *b,
                          struct err *e);

struct neighbor {
    float d2;                   /* squared L2 distance to the query */
    int32_t token;              /* the value of the entry */
    int32_t pair;               /* index of its pair in the datastore */
    int32_t pos;                /* position of the token in the pair's target */
};
/* Find the k nearest entries of each of n_q queries. Those of query q are
 * written to out + q * k, nearest first; entries at equal distance are in
 * datastore order. Returns the number of neighbors of each query, which is
 * min(k, entries). Rows of queries are padded to 64 bytes (see struct
 * distances). */
int datastore_nearest(const struct datastore *ks, const struct kernels *kn,
                      const float *queries, size_t ldq, int n_q, int k,
                      struct neighbor *out);

/* Find the tokens that follow the neighbor's own token in its pair. Returns
 * their number. *tokens points into the datastore. */
int datastore_ahead(const struct datastore *ks, const struct neighbor *nb,
                    const int32_t **tokens);

/* Whether the invariants above hold; for PARANOID_CHECK and tests. */
bool datastore_sound(const struct datastore *ks);

#endif
