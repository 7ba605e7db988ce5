/* tensor.c - element types, and reading single rows of weight matrices. */
#include "tensor/tensor.h"

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
