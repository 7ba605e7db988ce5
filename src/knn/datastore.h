/* datastore.h - what the memory says of one sentence: the keys of its pairs.
 *
 * The datastore of SK-MT (method 1.7): a few hundred entries, one per target
 * token of each memory pair, pairs in order. It is searched whole, and all
 * hypotheses of the sentence share it. An entry knows its pair and position,
 * so that every vote can be explained. */
#ifndef KNN_DATASTORE_H
#define KNN_DATASTORE_H

#include "knn/pair_keys.h"
#include "tensor/kernels.h"

#define KNN_MAX_K 64

struct datastore {              /* zeroed, it is empty */
    struct pair_keys **blocks;  /* [n_blocks] held, in order of the pairs */
    int n_blocks;
    size_t cap;
    int n;                      /* entries of all */
};

void datastore_release(struct datastore *ks);
/* The next pair's keys; held from now on. */
enum status datastore_add(struct datastore *ks, struct pair_keys *b,
                          struct err *e);

struct neighbor {
    float d2;                   /* squared L2 distance */
    int32_t token;              /* its value */
    int32_t pair, pos;          /* whose, and where in its target */
};
/* For each of n_q queries the k nearest entries, nearest first, equal
 * distances by order of entry, in out + q * k. Returns how many each has:
 * min(k, entries). Queries are rows of 64-byte lines (see struct distances). */
int datastore_nearest(const struct datastore *ks, const struct kernels *kn,
                      const float *queries, size_t ldq, int n_q, int k,
                      struct neighbor *out);

/* What the pair has after the neighbor's own token; returns how many. */
int datastore_ahead(const struct datastore *ks, const struct neighbor *nb,
                    const int32_t **tokens);

#endif
