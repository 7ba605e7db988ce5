/* weigh.h - distances to a distribution, and how much to trust it.
 *
 *   p_knn(v) = sum of softmax(-d2 / tau) over the k neighbors whose token is v
 *   lambda   = max(0, 1 - d2 of the nearest / tau)          (ADAPTER_DISTANCE)
 *   p        = lambda p_knn + (1 - lambda) p_model
 *
 * SK-MT (Dai et al., ICLR 2023) with the squared distance and the same tau in
 * both places, as its authors' code has it (method 1.8). */
#ifndef KNN_WEIGH_H
#define KNN_WEIGH_H

#include "knn/datastore.h"

enum adapter { ADAPTER_DISTANCE, ADAPTER_FIXED, ADAPTER_NONE };

struct weigh_options {
    double tau;
    enum adapter adapter;       /* NONE: the neighbors have no say */
    double lambda;              /* of ADAPTER_FIXED */
};

struct knn_mixture {
    float lambda;               /* 0: leave the row alone */
    int n;                      /* distinct tokens */
    int32_t token[KNN_MAX_K];
    float add[KNN_MAX_K];       /* lambda * p_knn, sums to lambda */
    float share[KNN_MAX_K];     /* [neighbors] their softmax, sums to 1 */
};

/* nb[n] nearest first; n may be 0. */
void weigh(const struct neighbor *nb, int n, const struct weigh_options *o,
           struct knn_mixture *out);

/* Some neighbors have been taken out of the list: n are left in nb, and their
 * shares in v->share. Each keeps the probability that it gave to its token;
 * what the others gave goes to the model. */
void weigh_rest(const struct neighbor *nb, int n, struct knn_mixture *v);

#endif
