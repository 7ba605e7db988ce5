/* tensor.c - element types, and reading single rows of weight matrices. */
#include "tensor/tensor.h"

#include <math.h>
#include <string.h>

#include "base/invariant.h"

static const struct { const char *name; size_t bytes; } types[DT_COUNT] = {
    [DT_F32]   = { "f32",   4 },
    [DT_BF16]  = { "bf16",  2 },
    [DT_I8]    = { "int8",  1 },
    [DT_I32]   = { "int32", 4 },
    [DT_BYTES] = { "bytes", 1 },
};

size_t dtype_bytes(enum dtype t)
{
    assert((unsigned)t < DT_COUNT);
    return types[t].bytes;
}

const char *dtype_name(enum dtype t)
{
    return (unsigned)t < DT_COUNT ? types[t].name : "unknown";
}

size_t linear_bytes(enum dtype type, int n, int k)
{
    size_t rows = (size_t)pad_to(n, PANEL);
    size_t cols = (size_t)(type == DT_I8 ? pad_to(k, 4) : k);

    assert(n > 0 && k > 0);
    return rows * cols * dtype_bytes(type);
}

void linear_row(const struct linear *l, int row, float *out)
{
    size_t panel = (size_t)(row / PANEL), lane = (size_t)(row % PANEL);
    size_t k = (size_t)l->k, np = (size_t)pad_to(l->n, PANEL);

    assert(row >= 0 && row < l->n);
    assert(!l->w == !!l->by_input);
    assert(l->type != DT_I8 || l->scale);
    if (l->by_input) {
        for (size_t i = 0; i < k; i++)
            out[i] = l->scale[row] * l->by_input[i * np + (size_t)row];
        return;
    }
    switch (l->type) {
    case DT_F32: {
        const float *w = (const float *)l->w + panel * k * PANEL + lane;
        for (size_t i = 0; i < k; i++) out[i] = w[i * PANEL];
        break;
    }
    case DT_BF16: {
        const uint16_t *w = (const uint16_t *)l->w + panel * k * PANEL + lane;
        for (size_t i = 0; i < k; i++) out[i] = bf16_to_f32(w[i * PANEL]);
        break;
    }
    case DT_I8: {
        size_t kp = (size_t)pad_to(l->k, 4);
        const int8_t *w = (const int8_t *)l->w + panel * kp * PANEL + 4 * lane;
        for (size_t i = 0; i < k; i++)
            out[i] = l->scale[row] * w[i / 4 * 4 * PANEL + i % 4];
        break;
    }
    default:
        assert(!"matrices are f32, bf16 or int8");
    }
}

uint16_t f32_to_bf16(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof u);
    if ((u & 0x7fffffffu) > 0x7f800000u)        /* NaN stays NaN */
        return (uint16_t)(u >> 16 | 0x40);
    u += 0x7fff + (u >> 16 & 1);
    return (uint16_t)(u >> 16);
}

float f16_to_f32(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    float v;

    if (exponent == 31) v = mantissa ? NAN : INFINITY;
    else if (exponent) v = ldexpf((float)(mantissa + 1024), exponent - 25);
    else v = ldexpf((float)mantissa, -24);
    return h & 0x8000 ? -v : v;
}

/* The bits of a magnitude u / 2^shift, rounded to nearest even. */
static uint32_t round_bits(uint32_t u, int shift)
{
    uint32_t half = 1u << (shift - 1), low = u & ((1u << shift) - 1);

    u >>= shift;
    return u + (low > half || (low == half && u & 1));
}

uint16_t f32_to_f16(float f)
{
    uint32_t u, sign, exponent;

    memcpy(&u, &f, sizeof u);
    sign = u >> 16 & 0x8000;
    u &= 0x7fffffff;
    if (u > 0x7f800000) return (uint16_t)(sign | 0x7e00);       /* NaN */
    if (u >= 0x47800000) return (uint16_t)(sign | 0x7c00);      /* 2^16 on */
    exponent = u >> 23;
    if (exponent < 102) return (uint16_t)sign;  /* below 2^-25: 0 */
    /* From 2^-14 on, half floats are normal: subtract the difference of the
     * biases and drop 13 bits; a carry goes to the exponent. Below, the bits
     * of the mantissa count in units of 2^-24. */
    if (exponent >= 113)
        return (uint16_t)(sign | round_bits(u - (112u << 23), 13));
    return (uint16_t)(sign | round_bits((u & 0x7fffff) | 0x800000,
                                        (int)(126 - exponent)));
}
