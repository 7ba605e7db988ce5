/* finder.h - the interface of a finder: the k stored entries nearest to
 * each decoder state of a pass.
 *
 * An entry is a decoder state that was stored together with the token that
 * followed it. A finder may search the datastore of one sentence
 * (knn/datastore.h) or something larger, such as a datastore on disk. An
 * implementation has a struct finder as its first member. */
#ifndef KNN_FINDER_H
#define KNN_FINDER_H

#include "nn/backend.h"

/* The most neighbors that a search may ask for. */
#define KNN_MAX_K 64

struct neighbor {
    float d2;                   /* squared L2 distance to the query */
    int32_t token;              /* the value of the entry */
    int32_t pair;               /* the pair that the entry comes from */
    int32_t pos;                /* position of the token in the pair's target */
    float log_weight;           /* added to -d2 / tau; 0 unless the entry stands
                                   for several (entries.h) */
};

/* Whether no neighbor before nb[j] has the token of nb[j]. */
static inline bool neighbor_has_new_token(const struct neighbor *nb, int j)
{
    for (int i = 0; i < j; i++)
        if (nb[i].token == nb[j].token) return false;
    return true;
}

/* The queries: the decoder states of rows [row, row + n) of the last pass. */
struct finder_query {
    struct executor *x;
    int row, n;
};

struct finder;

struct finder_ops {
    /* Find the k nearest entries of each query. Those of query i are written to
     * out + i * k, nearest first; *found is the number of neighbors of each
     * query, at most k. The result for a query does not depend on the other
     * queries. */
    enum status (*nearest)(const struct finder *f,
                           const struct finder_query *q, int k,
                           struct neighbor *out, int *found, struct err *e);
};

struct finder { const struct finder_ops *ops; };

static inline enum status finder_nearest(const struct finder *f,
                                         const struct finder_query *q, int k,
                                         struct neighbor *out, int *found,
                                         struct err *e)
{
    return f->ops->nearest(f, q, k, out, found, e);
}

#endif
