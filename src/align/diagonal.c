/* diagonal.c - the weights of the diagonal prior, their sum and the mean of
 * their exponent.
 *
 * Let k be the last position with k / n <= i / m. From k down to 1 the weights
 * fall by the factor r = exp(-tension / n), and so do those from k + 1 up to n.
 * So both halves are geometric series: their sums have closed forms. */
#include "align/diagonal.h"

#include <math.h>

#include "base/invariant.h"

/* One half, from the position next to the diagonal outward. */
struct diagonal_half {
    double h;                   /* at that position */
    double count;               /* of positions; may be 0 */
};

struct diagonal_halves {
    uint32_t k;
    struct diagonal_half low, high;     /* k .. 1, and k + 1 .. n */
};

static struct diagonal_halves halves_of(uint32_t i, uint32_t m, uint32_t n)
{
    uint32_t k = (uint32_t)((uint64_t)i * n / m);
    double at = (double)i / m;

    assert(i >= 1 && i <= m && n >= 1 && k <= n);
    return (struct diagonal_halves){
        k, { (double)k / n - at, k }, { at - ((double)k + 1) / n, n - k } };
}

void diagonal_weights(double tension, uint32_t i, uint32_t m, uint32_t n,
                      double *weight)
{
    struct diagonal_halves d = halves_of(i, m, n);
    double r = exp(-tension / n), w = exp(tension * d.low.h);

    assert(tension >= DIAGONAL_TENSION_MIN);
    for (uint32_t j = d.k; j >= 1; j--, w *= r) weight[j - 1] = w;
    w = exp(tension * d.high.h);
    for (uint32_t j = d.k + 1; j <= n; j++, w *= r) weight[j - 1] = w;
}

/* 1 + r + .. + r^(count-1) for r = exp(-step). */
static double geometric(double step, double count)
{
    return expm1(-step * count) / expm1(-step);
}

static double half_sum(struct diagonal_half half, double tension, double n)
{
    return exp(tension * half.h) * geometric(tension / n, half.count);
}

/* The sum of h * weight: h is half.h - t / n at the t-th position, and the sum
 * of t r^t over t < count is (r (1 + .. + r^(count-1)) - count r^count) /
 * (1 - r). */
static double half_moment(struct diagonal_half half, double tension, double n)
{
    double step = tension / n, r = exp(-step);
    double sum = geometric(step, half.count);
    double t_sum = (r * sum - half.count * exp(-step * half.count)) /
                   -expm1(-step);

    return exp(tension * half.h) * (half.h * sum - t_sum / n);
}

double diagonal_sum(double tension, uint32_t i, uint32_t m, uint32_t n)
{
    struct diagonal_halves d = halves_of(i, m, n);

    assert(tension >= DIAGONAL_TENSION_MIN);
    return half_sum(d.low, tension, n) + half_sum(d.high, tension, n);
}

double diagonal_mean(double tension, uint32_t i, uint32_t m, uint32_t n)
{
    struct diagonal_halves d = halves_of(i, m, n);

    return (half_moment(d.low, tension, n) + half_moment(d.high, tension, n)) /
           diagonal_sum(tension, i, m, n);
}
