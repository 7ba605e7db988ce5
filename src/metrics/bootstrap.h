/* bootstrap.h - confidence intervals of a score and significance of the
 * difference between two systems, by bootstrap resampling (Koehn 2004).
 *
 * A resample draws as many sentences as the test set has, with replacement.
 * The same seed and the same number of sentences give the same draws on every
 * machine, so that two systems are always compared on the same sentences. A
 * sentence is represented by its counts (metric.h); a resample adds them up and
 * scores the sums. */
#ifndef METRICS_BOOTSTRAP_H
#define METRICS_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sample {
    const int64_t *stats;       /* [n][stride], owned by the caller */
    size_t n, stride;
    int width;                  /* counts used in each row, at most stride */
    double (*score)(const int64_t *sums);
};

struct resampling { int times; uint64_t seed; };        /* times >= 1 */

/* 95% of the resamples score within [low, high]; mean is over all of them. */
struct interval { double mean, low, high; };
enum status bootstrap_interval(const struct sample *s, struct resampling how,
                               struct interval *out, struct err *e);

/* Two-sided p-value of the difference between a and b: the share of resamples
 * whose difference lies at least as far from the mean difference as the
 * observed difference lies from 0, as (hits + 1) / (times + 1). a and b must
 * have the same n. */
enum status bootstrap_compare(const struct sample *a, const struct sample *b,
                              struct resampling how, double *p,
                              struct err *e);

#endif
