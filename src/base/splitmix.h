/* splitmix.h - random numbers that are the same on every machine: SplitMix64
 * (Steele, Lea and Flood 2014). The state is a 64-bit number that the caller
 * keeps; the first one is the seed. */
#ifndef BASE_SPLITMIX_H
#define BASE_SPLITMIX_H

#include <stdint.h>

static inline uint64_t splitmix_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* A number from 0 to n - 1, for n from 1 to 2^32: the high half of the product
 * of n and 32 random bits. */
static inline uint64_t splitmix_below(uint64_t *state, uint64_t n)
{
    return (splitmix_next(state) >> 32) * n >> 32;
}

/* A number from 0 to 1, without 1. */
static inline double splitmix_unit(uint64_t *state)
{
    return (double)(splitmix_next(state) >> 11) * 0x1p-53;
}

#endif
