/* bootstrap.h - how sure a score is, and a difference of two (Koehn 2004).
 *
 * A resample draws as many sentences as there are, some more than once. The
 * same seed and number of sentences draw the same, on every machine; so two
 * systems are compared on the same sentences each time. Sentences come as
 * counts, so a resample costs additions only. */
#ifndef METRICS_BOOTSTRAP_H
#define METRICS_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sample {
    const int64_t *stats;       /* [n][stride], the first `width` are used */
    size_t n, stride;
    int width;
    double (*score)(const int64_t *sums);
};

struct resampling { int times; uint64_t seed; };        /* times >= 1 */

/* 95 of 100 resamples score within [low, high]; mean is that of all. */
struct interval { double mean, low, high; };
enum status bootstrap_interval(const struct sample *s, struct resampling how,
                               struct interval *out, struct err *e);

/* How likely a difference at least as large as that of a and b, either way, is
 * by chance: the share of resamples whose difference strays as far from the
 * mean difference, (hits + 1) / (times + 1). Both need the same n. */
enum status bootstrap_compare(const struct sample *a, const struct sample *b,
                              struct resampling how, double *p,
                              struct err *e);

#endif
