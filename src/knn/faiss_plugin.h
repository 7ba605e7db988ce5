/* faiss_plugin.h - the interface of the plug-in library that calls Faiss.
 *
 * Faiss is a C++ library, and large. skmt does not depend on it: the plug-in
 * (plugins/faiss) is a library of its own, which ivfpq_plugin.c loads when an
 * IVF-PQ index is opened or built. This header is for both sides, so it is
 * valid C and C++ and includes nothing of skmt.
 *
 * The plug-in never reads a file. It gets arrays whose contents were checked.
 * No C++ exception leaves it. Each call uses one thread, whatever OpenMP is set
 * to; threads may call it at the same time. */
#ifndef KNN_FAISS_PLUGIN_H
#define KNN_FAISS_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define FAISS_PLUGIN_VERSION 1
#define FAISS_PLUGIN_FILE "skmt-faiss.so"
#define FAISS_PLUGIN_SYMBOL "skmt_faiss_plugin"

/* Codebooks have 256 centroids, so that a code is a byte. */
#define FAISS_PLUGIN_CODES 256

enum faiss_result { FAISS_OK, FAISS_NOMEM, FAISS_CANCELED, FAISS_FAILED };
struct faiss_message { char text[200]; };       /* set with FAISS_FAILED */

/* Find the nearest centroid of each x [n, d]: its number and its squared
 * distance. centroids is [n_centroids, d]. A result that is not zero stops the
 * clustering, which then returns FAISS_CANCELED. */
typedef int faiss_nearest_fn(void *user, const float *centroids,
                             int n_centroids, int d, const float *x,
                             int64_t n, int64_t *which, float *d2);

struct faiss_clustering {
    int64_t n;                  /* at least n_centroids */
    int d, n_centroids, rounds, seed;
    const float *x;             /* [n, d] */
    faiss_nearest_fn *nearest;
    void *user;
};

/* The arrays of an index. They are borrowed as long as the index exists. The
 * entries of list i are those from begin[i] to begin[i + 1] - 1. */
struct faiss_arrays {
    int d, lists, subvectors;   /* d is a multiple of subvectors */
    const float *centroids;     /* [lists, d] */
    const float *codebooks;     /* [subvectors, 256, d / subvectors] */
    const uint64_t *begin;      /* [lists + 1]; NULL: all lists are empty */
    const int64_t *ids;         /* [begin[lists]] not negative */
    const uint8_t *codes;       /* [begin[lists], subvectors] */
    /* Bit i % 8 of live[i / 8] is set if id i may be found. NULL: all. */
    const uint8_t *live;
    size_t live_bytes;
};

struct faiss_index;

struct faiss_plugin {
    int version;                /* FAISS_PLUGIN_VERSION */
    /* k-means. Write n_centroids centroids of d floats. */
    int (*cluster)(const struct faiss_clustering *c, float *centroids,
                   struct faiss_message *why);
    int (*index_new)(struct faiss_index **out, const struct faiss_arrays *a,
                     struct faiss_message *why);
    void (*index_free)(struct faiss_index *ix);         /* NULL is fine */
    /* Write the codes [n, subvectors] of x [n, d], which belong to lists
     * `list`. */
    int (*encode)(const struct faiss_index *ix, const float *x, int64_t n,
                  const int64_t *list, uint8_t *codes,
                  struct faiss_message *why);
    /* Find the k entries of these lists that are nearest to q [d] by their
     * codes, nearest first. list_d2 are the squared distances of q to the
     * centroids. If there are fewer, the last ids are -1. */
    int (*search)(const struct faiss_index *ix, const float *q, int probes,
                  const int64_t *list, const float *list_d2, int k,
                  float *d2, int64_t *id, struct faiss_message *why);
};

/* The type of the only function that the plug-in exports. */
typedef const struct faiss_plugin *faiss_plugin_fn(void);

#endif
