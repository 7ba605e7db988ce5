/* weigh.c - see weigh.h. */
#include "knn/weigh.h"

#include <math.h>

static double trust(const struct neighbor *nb, const struct weigh_options *o)
{
    if (o->adapter == ADAPTER_FIXED) return o->lambda;
    if (o->adapter == ADAPTER_NONE) return 0;
    return fmax(0, 1 - (double)nb[0].d2 / o->tau);
}

static void add_vote(struct knn_mixture *v, int32_t token, double share)
{
    int i = 0;

    while (i < v->n && v->token[i] != token) i++;
    if (i == v->n) {
        v->token[v->n] = token;
        v->add[v->n++] = 0;
    }
    v->add[i] += (float)share;
}

void weigh(const struct neighbor *nb, int n, const struct weigh_options *o,
           struct knn_mixture *out)
{
    double sum = 0, w[KNN_MAX_K];

    out->n = 0;
    out->lambda = n ? (float)trust(nb, o) : 0;
    if (!(out->lambda > 0)) {
        out->lambda = 0;
        return;
    }
    /* Relative to the nearest: raw ones could all be too small to tell. */
    for (int i = 0; i < n; i++) {
        w[i] = exp(((double)nb[0].d2 - (double)nb[i].d2) / o->tau);
        sum += w[i];
    }
    for (int i = 0; i < n; i++) {
        out->share[i] = (float)(w[i] / sum);
        add_vote(out, nb[i].token, (double)out->lambda * w[i] / sum);
    }
}

void weigh_rest(const struct neighbor *nb, int n, struct knn_mixture *v)
{
    double kept = 0, lambda = (double)v->lambda;

    for (int i = 0; i < n; i++) kept += (double)v->share[i];
    v->n = 0;
    v->lambda = (float)(lambda * kept);
    for (int i = 0; i < n && kept > 0; i++) {
        add_vote(v, nb[i].token, lambda * (double)v->share[i]);
        v->share[i] = (float)((double)v->share[i] / kept);
    }
}
