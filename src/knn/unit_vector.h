/* unit_vector.h - divides a vector by its norm. */
#ifndef KNN_UNIT_VECTOR_H
#define KNN_UNIT_VECTOR_H

#include <math.h>
#include <stdbool.h>

/* out [d] = x / |x|; out may be x. Returns false if the norm is zero or not
 * finite; out is zeros then. The sum is in double precision, in the order of
 * the numbers. */
static inline bool unit_vector(const float *x, int d, float *out)
{
    double sum = 0;
    bool ok;

    for (int j = 0; j < d; j++) sum += (double)x[j] * (double)x[j];
    ok = sum > 0 && isfinite(sum);
    for (int j = 0; j < d; j++)
        out[j] = ok ? (float)((double)x[j] / sqrt(sum)) : 0;
    return ok;
}

#endif
