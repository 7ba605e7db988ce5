/* random.h - random numbers that are the same in every run: a generator with a
 * state of 64 bits, which the caller keeps. Not for secrets.
 *
 * The generator is splitmix64 (Steele, Lea and Flood 2014). Any state may be
 * the first one, for example a seed of the user. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

uint64_t random_next(uint64_t *state);
/* Uniform in [-1, 1). */
double random_unit(uint64_t *state);
/* Normal with mean 0 and variance 1. */
double random_normal(uint64_t *state);
/* Put the n items into a random order. */
void random_shuffle(size_t *items, size_t n, uint64_t *state);

#endif
