/* weigh.c - computes lambda and p_knn from the distances of the nearest
 * entries; the formulas and invariants are in weigh.h. Finding the entries is
 * the job of datastore.c. */
#include "knn/weigh.h"

#include <math.h>

#include "base/invariant.h"

static double weigh_lambda(const struct neighbor *nb,
                           const struct weigh_options *o)
{
    if (o->adapter == ADAPTER_FIXED) return o->lambda;
    if (o->adapter == ADAPTER_NONE) return 0;
    return fmax(0, 1 - (double)nb[0].d2 / o->tau);
}

/* Whether the parts of the mixture sum to lambda, up to rounding. NaN passes: a
 * key file with valid checksums may still contain NaN. */
static inline bool mixture_sums_to_lambda(const struct knn_mixture *v)
{
    double sum = 0;

    for (int i = 0; i < v->n; i++) sum += (double)v->add[i];
    return !(fabs(sum - (double)v->lambda) > 1e-4);
}

static void add_vote(struct knn_mixture *v, int32_t token, double share)
{
    int i = 0;

    while (i < v->n && v->token[i] != token) i++;
    if (i == v->n) {
        assert(v->n < KNN_MAX_K);
        v->token[v->n] = token;
        v->add[v->n++] = 0;
    }
    v->add[i] += (float)share;
}

void weigh(const struct neighbor *nb, int n, const struct weigh_options *o,
           struct knn_mixture *out)
{
    double sum = 0, w[KNN_MAX_K];

    assert(n >= 0 && n <= KNN_MAX_K);
    out->n = 0;
    out->lambda = n ? (float)weigh_lambda(nb, o) : 0;
    if (!(out->lambda > 0)) {
        out->lambda = 0;
        return;
    }
    /* Relative to the nearest, because exp(-d2 / tau) may underflow. */
    for (int i = 0; i < n; i++) {
        w[i] = exp(((double)nb[0].d2 - (double)nb[i].d2) / o->tau +
                   (double)nb[i].log_weight);
        sum += w[i];
    }
    for (int i = 0; i < n; i++) {
        out->share[i] = (float)(w[i] / sum);
        add_vote(out, nb[i].token, (double)out->lambda * w[i] / sum);
    }
    assert(out->lambda <= 1);
    assert(mixture_sums_to_lambda(out));
}

void weigh_shares(const struct neighbor *nb, int n, float lambda,
                  const float *share, struct knn_mixture *out)
{
    assert(n >= 0 && n <= KNN_MAX_K);
    assert(lambda >= 0 && lambda <= 1);
    out->n = 0;
    out->lambda = lambda;
    for (int i = 0; i < n && lambda > 0; i++) {
        out->share[i] = share[i];
        add_vote(out, nb[i].token, (double)lambda * (double)share[i]);
    }
    assert(mixture_sums_to_lambda(out));
}

void weigh_remaining(const struct neighbor *nb, int n, struct knn_mixture *v)
{
    double kept = 0, lambda = (double)v->lambda;

    assert(n >= 0 && n <= KNN_MAX_K);
    for (int i = 0; i < n; i++) kept += (double)v->share[i];
    v->n = 0;
    v->lambda = (float)(lambda * kept);
    for (int i = 0; i < n && kept > 0; i++) {
        add_vote(v, nb[i].token, lambda * (double)v->share[i]);
        v->share[i] = (float)((double)v->share[i] / kept);
    }
    assert(mixture_sums_to_lambda(v));
}
