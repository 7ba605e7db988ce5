/* bootstrap.c - scores resamples of a test set. It has its own random number
 * generator, because results must be the same on every machine. */
#include "metrics/bootstrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "metrics/metric.h"

/* SplitMix64 (Steele et al. 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Returns a number from 0 to n-1, for n below 2^32: the high half of the
 * product of n and 32 random bits. */
static size_t draw_row(uint64_t *state, size_t n)
{
    return (size_t)((next_random(state) >> 32) * n >> 32);
}

static void bootstrap_add_row(int64_t *sums, const struct sample *s, size_t row)
{
    const int64_t *from = s->stats + row * s->stride;

    for (int k = 0; k < s->width; k++) sums[k] += from[k];
}

static double sample_score(const struct sample *s)
{
    int64_t sums[METRIC_STATS_MAX] = { 0 };

    for (size_t i = 0; i < s->n; i++) bootstrap_add_row(sums, s, i);
    return s->score(sums);
}

static double resample_score(const struct sample *s, uint64_t *state)
{
    int64_t sums[METRIC_STATS_MAX] = { 0 };

    for (size_t i = 0; i < s->n; i++)
        bootstrap_add_row(sums, s, draw_row(state, s->n));
    return s->score(sums);
}

static enum status bootstrap_check(const struct sample *s,
                                   struct resampling how, struct err *e)
{
    assert(s->width >= 1 && s->width <= METRIC_STATS_MAX);
    assert((size_t)s->width <= s->stride);
    if (how.times < 1)
        return err_set(e, ST_ARGUMENT,
                       "the number of resamples is %d, it must be 1 or more",
                       how.times);
    if (!s->n)
        return err_set(e, ST_ARGUMENT, "there are no lines to resample");
    if (s->n > UINT32_MAX)
        return err_set(e, ST_LIMIT,
                       "there are %zu lines; resampling supports %u at most",
                       s->n, UINT32_MAX);
    return ST_OK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double mean_of(const double *v, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += v[i];
    return sum / n;
}

enum status bootstrap_interval(const struct sample *s, struct resampling how,
                               struct interval *out, struct err *e)
{
    enum status st = bootstrap_check(s, how, e);
    uint64_t state = how.seed;
    int tail = how.times / 40;          /* 2.5% on each side */
    double *v;

    if (st) return st;
    v = calloc((size_t)how.times, sizeof *v);
    if (!v) return err_nomem(e, "resampling");
    for (int i = 0; i < how.times; i++) v[i] = resample_score(s, &state);
    qsort(v, (size_t)how.times, sizeof *v, ascending);
    *out = (struct interval){ mean_of(v, how.times), v[tail],
                              v[how.times - 1 - tail] };
    free(v);
    return ST_OK;
}

enum status bootstrap_compare(const struct sample *a, const struct sample *b,
                              struct resampling how, double *p,
                              struct err *e)
{
    enum status st = bootstrap_check(a, how, e);
    uint64_t for_a = how.seed, for_b = how.seed;
    double found, mean, *v;
    int hits = 0;

    if (st) return st;
    if (a->n != b->n)
        return err_set(e, ST_ARGUMENT, "cannot compare systems that have "
                       "different numbers of lines, %zu and %zu", a->n, b->n);
    v = calloc((size_t)how.times, sizeof *v);
    if (!v) return err_nomem(e, "resampling");
    for (int i = 0; i < how.times; i++)
        v[i] = resample_score(b, &for_b) - resample_score(a, &for_a);
    found = fabs(sample_score(b) - sample_score(a));
    mean = mean_of(v, how.times);
    for (int i = 0; i < how.times; i++) hits += fabs(v[i] - mean) >= found;
    *p = (hits + 1.0) / (how.times + 1.0);
    assert(*p > 0 && *p <= 1);
    free(v);
    return ST_OK;
}
