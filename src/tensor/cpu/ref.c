/* ref.c - every operation in plain C, as the definition of what the other
 * tables must compute.
 *
 * This code is meant to be read, not to be fast. Where the vector tables sum in
 * a different order, the sum here is taken in double, so that a comparison
 * measures their rounding errors and not ours as well. */
#include <math.h>

#include "tensor/cpu/tables.h"

static float activate(enum act act, float x)
{
    switch (act) {
    case ACT_RELU: return x > 0 ? x : 0;
    case ACT_GELU: return (float)(0.5 * x * erfc(-x * 0.70710678118654752));
    case ACT_SILU: return (float)(x / (1 + exp(-(double)x)));
    default: return x;
    }
}

/* The steps that follow a sum. Each is rounded once, in this order. */
static void finish_output(const struct gemm *g, int row, int out, float v)
{
    float *y = g->y + (size_t)row * g->ldy + out;

    if (g->l->bias) v += g->l->bias[out];
    v = activate(g->act, v);
    *y = g->add ? v + *y : v;
}

static void gemm_i8(const struct gemm *g, int p0, int p1)
{
    const struct linear *l = g->l;
    size_t kp = (size_t)pad_to(l->k, 4);

    require_gemm_i8(g, p0, p1);
    for (int row = 0; row < g->rows; row++) {
        const uint8_t *x = g->xq + (size_t)row * kp;
        for (int o = p0 * PANEL; o < p1 * PANEL; o++) {
            const int8_t *w = (const int8_t *)l->w +
                              (size_t)(o / PANEL) * kp * PANEL + o % PANEL * 4;
            int32_t sum = 0;
            for (size_t i = 0; i < kp; i++)
                sum += x[i] * w[i / 4 * 4 * PANEL + i % 4];
            /* With a damaged comp this may overflow. The vector tables wrap
             * around, and so do we. */
            sum = (int32_t)((uint32_t)sum - (uint32_t)l->comp[o]);
            finish_output(g, row, o, (float)sum * (g->xs[row] * l->scale[o]));
        }
    }
}

static void gemm_sparse(const struct gemm *g, int p0, int p1)
{
    const struct linear *l = g->l;
    size_t kp = (size_t)pad_to(l->k, 4), np = (size_t)pad_to(l->n, PANEL);

    require_gemm_sparse(g, p0, p1);
    for (int row = 0; row < g->rows; row++) {
        const uint8_t *x = g->xq + (size_t)row * kp;
        for (int o = p0 * PANEL; o < p1 * PANEL; o++) {
            int32_t sum = 0;
            for (int i = 0; i < l->k; i++)
                sum += (x[i] - 128) * l->by_input[(size_t)i * np + (size_t)o];
            finish_output(g, row, o, (float)sum * (g->xs[row] * l->scale[o]));
        }
    }
}

static void list_nonzero(const uint8_t *xq, int rows, int k,
                         struct nonzero *nz)
{
    for (int r = 0; r < rows; r++, xq += pad_to(k, 4)) {
        int n = 0;
        for (int i = 0; i < k; i++)
            if (xq[i] != 128) nz[r].at[n++] = (uint16_t)i;
        nonzero_complete(&nz[r], xq, n);
    }
}

static void gemm_f32(const struct gemm *g, int p0, int p1)
{
    size_t k = (size_t)g->l->k;

    require_gemm_float(g, p0, p1, DT_F32);
    for (int row = 0; row < g->rows; row++) {
        const float *x = g->x + (size_t)row * g->ldx;
        for (int o = p0 * PANEL; o < p1 * PANEL; o++) {
            const float *w = (const float *)g->l->w +
                             (size_t)(o / PANEL) * k * PANEL + o % PANEL;
            double sum = 0;
            for (size_t i = 0; i < k; i++) sum += (double)x[i] * w[i * PANEL];
            finish_output(g, row, o, (float)sum);
        }
    }
}

static void gemm_bf16(const struct gemm *g, int p0, int p1)
{
    size_t k = (size_t)g->l->k;

    require_gemm_float(g, p0, p1, DT_BF16);
    for (int row = 0; row < g->rows; row++) {
        const float *x = g->x + (size_t)row * g->ldx;
        for (int o = p0 * PANEL; o < p1 * PANEL; o++) {
            const uint16_t *w = (const uint16_t *)g->l->w +
                                (size_t)(o / PANEL) * k * PANEL + o % PANEL;
            double sum = 0;
            for (size_t i = 0; i < k; i++)
                sum += (double)x[i] * bf16_to_f32(w[i * PANEL]);
            finish_output(g, row, o, (float)sum);
        }
    }
}

/* Quantize element x of a row; inv is 0 or 127 / max. NaN gives 0. */
static uint8_t quantize_one(float x, float inv)
{
    float v = rintf(x * inv);

    return (uint8_t)(128 + (v == v ? (int)v : 0));
}

static void quantize(const float *x, size_t ldx, int rows, int k, uint8_t *q,
                     float *s)
{
    int kp = pad_to(k, 4);

    for (int r = 0; r < rows; r++, x += ldx, q += kp) {
        float max = 0;

        for (int i = 0; i < k; i++) max = fmaxf(max, fabsf(x[i]));
        float inv = max > QUANTIZE_TINY ? 127 / max : 0;
        s[r] = max > QUANTIZE_TINY ? max / 127 : 1;
        for (int i = 0; i < k; i++) q[i] = quantize_one(x[i], inv);
        for (int i = k; i < kp; i++) q[i] = 128;
    }
}

static void quantize_f16(const uint16_t *x, size_t ldx, int rows, int k,
                         uint8_t *q, float *s)
{
    int kp = pad_to(k, 4);

    for (int r = 0; r < rows; r++, x += ldx, q += kp) {
        float max = 0;

        for (int i = 0; i < k; i++) max = fmaxf(max, fabsf(f16_to_f32(x[i])));
        float inv = max > QUANTIZE_TINY ? 127 / max : 0;
        s[r] = max > QUANTIZE_TINY ? max / 127 : 1;
        for (int i = 0; i < k; i++) q[i] = quantize_one(f16_to_f32(x[i]), inv);
        for (int i = k; i < kp; i++) q[i] = 128;
    }
}

static void layer_norm(const float *x, size_t ldx, int rows, int d,
                       const float *gain, const float *bias, float eps,
                       float *y, size_t ldy)
{
    for (int r = 0; r < rows; r++, x += ldx, y += ldy) {
        double mean = 0, var = 0;

        for (int i = 0; i < d; i++) mean += x[i];
        mean /= d;
        for (int i = 0; i < d; i++) var += (x[i] - mean) * (x[i] - mean);
        double inv = 1 / sqrt(var / d + eps);
        for (int i = 0; i < d; i++)
            y[i] = (float)((x[i] - mean) * inv * gain[i] + bias[i]);
    }
}

/* One head of one query. The softmax weights go to p [n_k], the weighted sum of
 * the values to out. */
static void attend(const struct attention *a, const float *q, const float *k,
                   const float *v, int n_k, float *p, float *out)
{
    float max = -INFINITY;
    double sum = 0;

    for (int j = 0; j < n_k; j++) {
        const float *key = k + (size_t)(a->slot ? a->slot[j] : j) * a->ldk;
        double dot = 0;
        for (int i = 0; i < a->head_dim; i++) dot += (double)q[i] * key[i];
        p[j] = (float)dot * a->scale;
        max = fmaxf(max, p[j]);
    }
    for (int j = 0; j < n_k; j++) sum += p[j] = expf(p[j] - max);
    for (int j = 0; j < n_k; j++) p[j] = (float)(p[j] / sum);

    for (int i = 0; i < a->head_dim; i++) {
        double o = 0;
        for (int j = 0; j < n_k; j++)
            o += (double)p[j] *
                 v[(size_t)(a->slot ? a->slot[j] : j) * a->ldv + i];
        out[i] = (float)o;
    }
}

static void attention(const struct attention *a)
{
    require_attention(a);
    for (int i = 0; i < a->n_q; i++) {
        for (int h = 0; h < a->heads; h++) {
            size_t at = (size_t)h * a->head_dim;
            float *p = a->scratch;

            if (a->weights)
                p = a->weights + ((size_t)i * a->heads + h) * a->n_k;
            attend(a, a->q + (size_t)i * a->ldq + at, a->k + at, a->v + at,
                   attention_keys(a, i), p, a->out + (size_t)i * a->ldo + at);
        }
    }
}

static void row_stats(const float *x, int n, float *block_max,
                      struct row_stats *out)
{
    double sum = 0, zsum = 0;

    out->max = -INFINITY;
    for (int b = 0; b * PANEL < n; b++) {
        float max = -INFINITY;
        for (int i = b * PANEL; i < n && i < (b + 1) * PANEL; i++)
            max = fmaxf(max, x[i]);
        block_max[b] = max;
        out->max = fmaxf(out->max, max);
    }
    for (int i = 0; i < n; i++) {
        float z = x[i] - out->max, p = expf(z);

        sum += p;
        if (p > 0) zsum += (double)z * p;
    }
    out->sum = (float)sum;
    out->zsum = (float)zsum;
}

/* A dequantized key element and a difference are floats, each rounded once, as
 * in the vector tables. Only the sum is taken in double, so that small
 * distances can be compared too. */
static void distances_f32(const struct distances *a)
{
    require_distances(a, sizeof(float));
    for (int i = 0; i < a->n_q; i++) {
        const float *q = a->q + (size_t)i * a->ldq;
        for (int j = 0; j < a->n; j++) {
            const float *key = (const float *)a->keys + (size_t)j * a->ldk;
            double sum = 0;
            for (int c = 0; c < a->d; c++) {
                float x = q[c] - key[c];
                sum += (double)x * x;
            }
            a->out[(size_t)i * a->ldo + j] = (float)sum;
        }
    }
}

static void distances_f16(const struct distances *a)
{
    require_distances(a, sizeof(uint16_t));
    for (int i = 0; i < a->n_q; i++) {
        const float *q = a->q + (size_t)i * a->ldq;
        for (int j = 0; j < a->n; j++) {
            const uint16_t *key = (const uint16_t *)a->keys +
                                  (size_t)j * a->ldk;
            double sum = 0;
            for (int c = 0; c < a->d; c++) {
                float x = q[c] - f16_to_f32(key[c]);
                sum += (double)x * x;
            }
            a->out[(size_t)i * a->ldo + j] = (float)sum;
        }
    }
}

static void distances_i8(const struct distances *a)
{
    require_distances(a, 1);
    for (int i = 0; i < a->n_q; i++) {
        const float *q = a->q + (size_t)i * a->ldq;
        for (int j = 0; j < a->n; j++) {
            const int8_t *key = (const int8_t *)a->keys + (size_t)j * a->ldk;
            double sum = 0;
            for (int c = 0; c < a->d; c++) {
                float x = q[c] - a->scale[j] * (float)key[c];
                sum += (double)x * x;
            }
            a->out[(size_t)i * a->ldo + j] = (float)sum;
        }
    }
}

static void mask_near(const struct near *a)
{
    require_near(a);
    for (int r = 0; r < a->rows; r++) {
        const float *y = a->y + (size_t)r * a->ldy;

        a->mask[r] = 0;
        for (int i = 0; i < PANEL; i++)
            if (!(a->base[i] + a->factor * y[i] >= a->limit[r]))
                a->mask[r] |= (uint64_t)1 << i;
    }
}

const struct kernels kernels_ref = {
    .isa = ISA_REF,
    .gemm_i8 = gemm_i8,
    .gemm_f32 = gemm_f32,
    .gemm_bf16 = gemm_bf16,
    .gemm_sparse = gemm_sparse,
    .list_nonzero = list_nonzero,
    .quantize = quantize,
    .quantize_f16 = quantize_f16,
    .layer_norm = layer_norm,
    .attention = attention,
    .row_stats = row_stats,
    .distances_f32 = distances_f32,
    .distances_f16 = distances_f16,
    .distances_i8 = distances_i8,
    .mask_near = mask_near,
};
