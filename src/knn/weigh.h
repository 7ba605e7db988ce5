/* weigh.h - turn the distances of neighbors into a distribution over tokens
 * and a weight for it.
 *
 *   p_knn(v) = sum of softmax(-d2 / tau + log_weight) over the k neighbors
 *              whose token is v
 *   lambda   = max(0, 1 - d2 of the nearest / tau)          (ADAPTER_DISTANCE)
 *   p        = lambda p_knn + (1 - lambda) p_model
 *
 * This is SK-MT (Dai et al., ICLR 2023), with the squared distance and the same
 * tau in both places, as in the authors' code (method 1.8).
 *
 * Invariants of a struct knn_mixture:
 *   - The tokens are distinct; add[i] >= 0; the sum of add is lambda.
 *   - lambda is between 0 and 1. When it is 0, n is 0. */
#ifndef KNN_WEIGH_H
#define KNN_WEIGH_H

#include "base/enumlist.h"
#include "knn/datastore.h"

#define ADAPTERS(X)                                                         \
    X(ADAPTER_DISTANCE, "distance")                                         \
    X(ADAPTER_FIXED, "fixed")                                               \
    X(ADAPTER_NONE, "none")
enum adapter { ADAPTERS(ENUM_CONSTANT) };

struct weigh_options {
    double tau;
    enum adapter adapter;       /* ADAPTER_NONE: lambda is always 0 */
    double lambda;              /* for ADAPTER_FIXED */
};

struct knn_mixture {
    float lambda;               /* 0: the model alone decides */
    int n;                      /* number of distinct tokens */
    int32_t token[KNN_MAX_K];
    float add[KNN_MAX_K];       /* lambda * p_knn(token) */
    float share[KNN_MAX_K];     /* by neighbor: its softmax; they sum to 1 */
};

/* Compute the mixture of n neighbors, nearest first. n may be 0. */
void weigh(const struct neighbor *nb, int n, const struct weigh_options *o,
           struct knn_mixture *out);

/* Make the mixture of n neighbors whose weight and shares are known. lambda is
 * between 0 and 1. The shares sum to 1, unless lambda is 0. */
void weigh_shares(const struct neighbor *nb, int n, float lambda,
                  const float *share, struct knn_mixture *out);

/* Compute the mixture again after the caller removed neighbors: n remain in nb,
 * and their shares in v->share. Each of them gives its token as much
 * probability as before; the probability of the removed ones goes to the
 * model. */
void weigh_remaining(const struct neighbor *nb, int n, struct knn_mixture *v);

#endif
