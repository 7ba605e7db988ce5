/* pack.c - writes matrices in the layouts that tensor.h describes, quantizing
 * them where the layout is int8. */
#include "tensor/pack.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/invariant.h"

static void pack_f32(const float *w, int n, int k, float *dst)
{
    for (int o = 0; o < n; o++) {
        float *d = dst + (size_t)(o / PANEL) * k * PANEL + o % PANEL;
        for (int i = 0; i < k; i++)
            d[(size_t)i * PANEL] = w[(size_t)o * k + i];
    }
}

static void pack_bf16(const float *w, int n, int k, uint16_t *dst)
{
    for (int o = 0; o < n; o++) {
        uint16_t *d = dst + (size_t)(o / PANEL) * k * PANEL + o % PANEL;
        for (int i = 0; i < k; i++)
            d[(size_t)i * PANEL] = f32_to_bf16(w[(size_t)o * k + i]);
    }
}

static float row_scale(const float *w, int k)
{
    float max = 0;

    for (int i = 0; i < k; i++) max = fmaxf(max, fabsf(w[i]));
    /* A row of denormals becomes a row of zeros: its scale would be 0. */
    return max / 127 >= FLT_MIN ? max / 127 : 1;
}

/* w / scale may round to just above 127, but never to 127.5. */
static int8_t to_i8(float w, float scale)
{
    return (int8_t)rintf(w / scale);
}

static void pack_i8(const float *w, int n, int k, int8_t *dst, float *scale,
                    int32_t *comp)
{
    int kp = pad_to(k, 4), np = pad_to(n, PANEL);

    for (int o = 0; o < n; o++, w += k) {
        int8_t *d = dst + (size_t)(o / PANEL) * kp * PANEL + o % PANEL * 4;
        int32_t sum = 0;

        scale[o] = row_scale(w, k);
        for (int i = 0; i < k; i++) {
            int8_t q = to_i8(w[i], scale[o]);
            d[(size_t)(i / 4) * 4 * PANEL + i % 4] = q;
            sum += q;
        }
        assert(sum >= INT32_MIN / 128 && sum <= INT32_MAX / 128);
        comp[o] = 128 * sum;
    }
    for (int o = n; o < np; o++) {
        scale[o] = 1;
        comp[o] = 0;
    }
}

void pack_by_input(const float *w, int n, int k, int8_t *dst, int stride,
                   float *scale)
{
    int np = pad_to(n, PANEL);

    assert(n > 0 && k > 0 && np <= stride);
    for (int i = 0; i < k; i++)
        memset(dst + (size_t)i * (size_t)stride + n, 0, (size_t)(np - n));
    for (int o = 0; o < n; o++, w += k) {
        scale[o] = row_scale(w, k);
        for (int i = 0; i < k; i++)
            dst[(size_t)i * (size_t)stride + (size_t)o] =
                to_i8(w[i], scale[o]);
    }
    for (int o = n; o < np; o++) scale[o] = 1;
}

void pack_linear(enum dtype type, const float *w, int n, int k, void *dst,
                 float *scale, int32_t *comp)
{
    assert(n > 0 && k > 0);
    assert(type != DT_I8 || (scale && comp));
    memset(dst, 0, linear_bytes(type, n, k));
    switch (type) {
    case DT_F32: pack_f32(w, n, k, dst); break;
    case DT_BF16: pack_bf16(w, n, k, dst); break;
    case DT_I8: pack_i8(w, n, k, dst, scale, comp); break;
    default: assert(!"matrices are f32, bf16 or int8");
    }
}
