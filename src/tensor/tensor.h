/* tensor.h - element types, and the layout of weight matrices in a model file.
 *
 * A weight matrix [n, k] (n outputs, k inputs) is divided into panels of 64
 * outputs, so that a product reads it once, from front to back:
 *
 *     int8   [n/64][k/4][64][4]    values from -127 to 127
 *     f32    [n/64][k][64]
 *     bf16   [n/64][k][64]
 *
 * n is padded to a multiple of 64 with zeros, and for int8 k is padded to a
 * multiple of 4. AVX2, VNNI and AMX tiles (with a row stride of 256 bytes) all
 * use the same int8 layout.
 *
 * Most outputs of a ReLU are zero (93 % in the shipped model), and the weights
 * of a zero input need not be read. Therefore an int8 matrix that follows a
 * ReLU is stored by input instead, as [k][n padded], and a product reads only
 * the weights of inputs that are not zero. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <stddef.h>
#include <stdint.h>

/* These values are stored in model files. New ones go before DT_COUNT; existing
 * ones never change. */
enum dtype { DT_F32, DT_BF16, DT_I8, DT_I32, DT_BYTES, DT_COUNT };

size_t dtype_bytes(enum dtype t);       /* size of one element */
const char *dtype_name(enum dtype t);   /* "f32", "bf16", "int8", ... */

#define PANEL 64

/* Extra floats between rows that attention reads in the same column. Without
 * them the rows could be a multiple of 4 KB apart, and they would all compete
 * for the same few lines of the L1 cache. */
#define CACHE_SKEW 16

static inline int pad_to(int x, int m) { return (x + m - 1) / m * m; }

/* The parameters of y = W x + b. All pointers lead into the mapped model file.
 * Exactly one of w and by_input is set. */
struct linear {
    enum dtype type;            /* DT_F32, DT_BF16 or DT_I8 */
    int n, k;                   /* outputs, inputs (unpadded) */
    const void *w;              /* in panels, or NULL */
    const int8_t *by_input;     /* [k][n padded], int8 after a ReLU; or NULL */
    const float *scale;         /* [n padded], int8 only: W = scale[n] * w */
    const int32_t *comp;        /* [n padded], int8 panels only: 128 times the
                                   sum of the output's weights */
    const float *bias;          /* [n padded] or NULL */
};

static inline int linear_panels(const struct linear *l)
{
    return (l->n + PANEL - 1) / PANEL;
}

/* Size of an [n, k] matrix in panels. */
size_t linear_bytes(enum dtype type, int n, int k);

/* Copy row `row` of W, such as an embedding, to out [k] as floats. */
void linear_row(const struct linear *l, int row, float *out);

static inline float bf16_to_f32(uint16_t b)
{
    union { uint32_t u; float f; } v = { (uint32_t)b << 16 };
    return v.f;
}
uint16_t f32_to_bf16(float f);                  /* rounds to nearest even */
/* IEEE half floats. Numbers that are too large become infinity. */
float f16_to_f32(uint16_t h);                   /* exact */
uint16_t f32_to_f16(float f);                   /* rounds to nearest even */

#endif
