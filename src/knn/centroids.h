/* centroids.h - vectors that stand for regions of a space, and the search for
 * those that are nearest to a row.
 *
 * The squared distance is computed as |x|^2 + |c|^2 - 2 x c, with the products
 * of the kernels. So the result for a row depends neither on the other rows nor
 * on threads. It has a small rounding error, which is the same for all
 * centroids of a row; it is never negative.
 *
 * Threads may share a struct centroids that is not changed. */
#ifndef KNN_CENTROIDS_H
#define KNN_CENTROIDS_H

#include <stdint.h>

#include "base/err.h"
#include "tensor/kernels.h"

struct centroids {
    const struct kernels *kernels;
    int n, d;
    size_t ld;                  /* n padded: floats of a row of scores */
    float *packed;              /* [n, d] in panels */
    float *norm;                /* [n] squared */
};

/* The most rows of a call. */
enum { CENTROID_ROWS = 16 };

/* n and d are at least 1. */
enum status centroids_init(struct centroids *c, const float *from, int n,
                           int d, struct err *e);
void centroids_release(struct centroids *c);    /* a zeroed struct is fine */
/* Replace the vectors by others of the same number and size. */
void centroids_set(struct centroids *c, const float *from);

/* Compute |c|^2 - 2 x c of `rows` rows and all centroids: scores is
 * [CENTROID_ROWS, ld], aligned to 64 bytes. */
void centroids_score(const struct centroids *c, const float *x, size_t ldx,
                     int rows, float *scores);
/* The k nearest of a row, by its scores: nearest first, equal ones by number.
 * k is at most n. */
void centroids_best(const struct centroids *c, const float *x,
                    const float *scores, int k, int64_t *which, float *d2);

#endif
