/* pack.h - float matrices to the panel layouts of tensor.h.
 *
 * The converter and the tests use this; translation does not. */
#ifndef TENSOR_PACK_H
#define TENSOR_PACK_H

#include "tensor/tensor.h"

/* Write w [n, k] (row-major) to dst, which has linear_bytes(type, n, k) bytes.
 * For int8, also fill in scale and comp, both [n padded]. The scale of a row is
 * max|row| / 127. Values are rounded to nearest, ties to even. A row that has
 * only zeros and denormals becomes zeros with scale 1. */
void pack_linear(enum dtype type, const float *w, int n, int k, void *dst,
                 float *scale, int32_t *comp);

/* Write w as int8 by input, as columns of dst [k][stride], from its first
 * column on: n columns, and columns of zeros up to a multiple of PANEL. So a
 * matrix can be written in blocks of outputs. Values and scales are those of
 * pack_linear(). */
void pack_by_input(const float *w, int n, int k, int8_t *dst, int stride,
                   float *scale);

#endif
