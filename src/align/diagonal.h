/* diagonal.h - the prior of word alignment: words at similar relative positions
 * are linked more often (Dyer et al. 2013; method 4.1).
 *
 * Position i of m words prefers positions j of n words near the diagonal:
 *
 *     weight(i, j) = exp(tension * h),    h = -|i / m - j / n|
 *
 * with i = 1 .. m and j = 1 .. n. Divided by their sum over j, the weights are
 * probabilities. All functions are pure. The tension is at least
 * DIAGONAL_TENSION_MIN. */
#ifndef ALIGN_DIAGONAL_H
#define ALIGN_DIAGONAL_H

#include <stdint.h>

/* The limits of a tension: nearly uniform, and all but the nearest positions
 * excluded. */
#define DIAGONAL_TENSION_MIN 0.1
#define DIAGONAL_TENSION_MAX 14.0

/* Sets weight[j - 1] for j = 1 .. n. */
void diagonal_weights(double tension, uint32_t i, uint32_t m, uint32_t n,
                      double *weight);
/* The sum of the weights over j, in constant time. */
double diagonal_sum(double tension, uint32_t i, uint32_t m, uint32_t n);
/* The mean of h over j, in constant time. This is the derivative of the
 * logarithm of the sum with respect to the tension. */
double diagonal_mean(double tension, uint32_t i, uint32_t m, uint32_t n);

#endif
