/* pack.h - float matrices into the packed, possibly quantized form.
 *
 * Used when a model is converted and by tests; never while translating. */
#ifndef TENSOR_PACK_H
#define TENSOR_PACK_H

#include "tensor/tensor.h"

/* Pack w [n, k] (row-major) into dst, linear_bytes(type, n, k) long. For int8
 * also fill scale and comp, both [n padded]: scale = max|row| / 127 (1 for a
 * row of zeros or denormals, which becomes zeros), values rounded to nearest, ties to even. */
void pack_linear(enum dtype type, const float *w, int n, int k, void *dst,
                 float *scale, int32_t *comp);

/* int8 by input: dst is [k][n padded], the values those of pack_linear. */
void pack_by_input(const float *w, int n, int k, int8_t *dst, float *scale);

#endif
