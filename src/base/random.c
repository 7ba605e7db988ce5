/* random.c - the generator splitmix64, and numbers of other distributions that
 * are made of its numbers. */
#include "base/random.h"

#include <math.h>

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) / (double)(1ull << 52) - 1;
}

/* Box and Muller: the radius and the angle of a point whose coordinates are
 * normal. */
double random_normal(uint64_t *state)
{
    const double pi = 3.14159265358979323846;
    double u = 0.5 - random_unit(state) / 2;            /* 0 < u <= 1 */
    double angle = pi * random_unit(state);

    return sqrt(-2 * log(u)) * cos(angle);
}

void random_shuffle(size_t *items, size_t n, uint64_t *state)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)(random_next(state) % i), t = items[i - 1];

        items[i - 1] = items[k];
        items[k] = t;
    }
}
