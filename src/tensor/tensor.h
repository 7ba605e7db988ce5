/* tensor.h - element types and weight matrices as they lie in a model file.
 *
 * A weight matrix [n, k] (n outputs, k inputs) is packed into panels of 64
 * outputs, so that a product reads it once, front to back:
 *
 *     int8   [n/64][k/4][64][4]    values within +-127
 *     f32    [n/64][k][64]
 *     bf16   [n/64][k][64]
 *
 * n is padded to a multiple of 64 and k to a multiple of 4 with zeros. The
 * same int8 layout serves AVX2, VNNI and AMX tiles (row stride 256 bytes).
 *
 * Inputs that come out of a ReLU are mostly zero (93 % in the shipped model),
 * and a product with a zero need not be read. An int8 matrix that follows one
 * is stored by input instead, [k][n padded], so that a row of inputs reads
 * only the weights of those that are not. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <stddef.h>
#include <stdint.h>

/* The numbers are part of the model file: append only. */
enum dtype { DT_F32, DT_BF16, DT_I8, DT_I32, DT_BYTES, DT_COUNT };

size_t dtype_bytes(enum dtype t);               /* of one element */
const char *dtype_name(enum dtype t);           /* "f32", "bf16", "int8".. */

#define PANEL 64

/* Floats between rows that attention reads one below the other: rows a
 * multiple of 4 KB apart would all fall into the same few lines of the first
 * cache. */
#define CACHE_SKEW 16

static inline int pad_to(int x, int m) { return (x + m - 1) / m * m; }

/* y = W x + b with W packed. Everything points into the mapped model. */
struct linear {
    enum dtype type;            /* DT_F32, DT_BF16 or DT_I8 */
    int n, k;                   /* outputs, inputs (unpadded) */
    const void *w;              /* packed as above; or, int8 after a ReLU, */
    const int8_t *by_input;     /* [k][n padded] and w is NULL */
    const float *scale;         /* [n padded], int8 only: W = scale[n] * w */
    const int32_t *comp;        /* [n padded], int8 with w: 128 * sum_k w */
    const float *bias;          /* [n padded] or NULL */
};

static inline int linear_panels(const struct linear *l)
{
    return (l->n + PANEL - 1) / PANEL;
}

/* Bytes of the packed weights of an [n, k] matrix. */
size_t linear_bytes(enum dtype type, int n, int k);

/* Row `row` of W as floats, unpacked: an embedding. out is [k]. */
void linear_row(const struct linear *l, int row, float *out);

static inline float bf16_to_f32(uint16_t b)
{
    union { uint32_t u; float f; } v = { (uint32_t)b << 16 };
    return v.f;
}
uint16_t f32_to_bf16(float f);                  /* rounds to nearest even */

#endif
