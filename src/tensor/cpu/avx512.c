/* avx512.c - the operations with AVX-512 and VNNI.
 *
 * A product works on one panel of 64 outputs (4 vectors) and up to ROWS rows
 * at a time: 6 x 4 sums, 4 vectors of weights and one of activations fill the
 * 32 registers. The panel stays in the near caches while all rows pass over
 * it, and meanwhile the next one is fetched: with one pass over the panel a
 * fixed distance ahead, with more a share of the next panel in each. The
 * hardware's own prefetch stops at the end of every 4 KB page. */
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "tensor/cpu/tables.h"

typedef __m512 vf;
#define VW 16
#define VCOLS 4

#define v_set1(x) _mm512_set1_ps(x)
#define v_load(p) _mm512_loadu_ps(p)
#define v_store(p, v) _mm512_storeu_ps(p, v)
#define v_add(a, b) _mm512_add_ps(a, b)
#define v_sub(a, b) _mm512_sub_ps(a, b)
#define v_mul(a, b) _mm512_mul_ps(a, b)
#define v_div(a, b) _mm512_div_ps(a, b)
#define v_max(a, b) _mm512_max_ps(a, b)
#define v_min(a, b) _mm512_min_ps(a, b)
#define v_abs(a) _mm512_abs_ps(a)
#define v_fma(a, b, c) _mm512_fmadd_ps(a, b, c)
#define v_fnma(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define v_round(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | \
                                        _MM_FROUND_NO_EXC)
#define v_scale2(a, n) _mm512_scalef_ps(a, n)
#define v_if_less(a, b, x, y) \
    _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), x)
#define v_hmax(a) _mm512_reduce_max_ps(a)
#define v_sum(a) _mm512_reduce_add_ps(a)

static inline __mmask16 first(int n) { return (__mmask16)((1u << n) - 1); }

static inline vf v_load_n(const float *p, int n, vf fill)
{
    return _mm512_mask_loadu_ps(fill, first(n), p);
}

static inline void v_store_n(float *p, vf v, int n)
{
    _mm512_mask_storeu_ps(p, first(n), v);
}

static inline void v_store_quads(float *p, size_t ld, vf v)
{
    _mm_storeu_ps(p, _mm512_castps512_ps128(v));
    _mm_storeu_ps(p + ld, _mm512_extractf32x4_ps(v, 1));
    _mm_storeu_ps(p + 2 * ld, _mm512_extractf32x4_ps(v, 2));
    _mm_storeu_ps(p + 3 * ld, _mm512_extractf32x4_ps(v, 3));
}

static inline void v_store_q8(uint8_t *q, vf v, int n)
{
    __m512i i = _mm512_add_epi32(_mm512_cvtps_epi32(v),
                                 _mm512_set1_epi32(128));
    _mm512_mask_cvtepi32_storeu_epi8(q, first(n), i);
}

INLINE vf v_sums(const vf *a)
{
    vf quad[4];

#define PAIR(x, y) \
    _mm512_add_ps(_mm512_unpacklo_ps(x, y), _mm512_unpackhi_ps(x, y))
#define QUAD(x, y)                                                        \
    _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(x),              \
                                        _mm512_castps_pd(y))),            \
    _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(x),              \
                                        _mm512_castps_pd(y)))
#define HALF(x, y) _mm512_add_ps(_mm512_shuffle_f32x4(x, y, 0x88), \
                                 _mm512_shuffle_f32x4(x, y, 0xdd))
    UNROLL for (int i = 0; i < 4; i++) {
        vf x = PAIR(a[4 * i], a[4 * i + 1]), y = PAIR(a[4 * i + 2],
                                                      a[4 * i + 3]);
        quad[i] = _mm512_add_ps(QUAD(x, y));
    }
    vf lo = HALF(quad[0], quad[1]), hi = HALF(quad[2], quad[3]);
    return HALF(lo, hi);
#undef PAIR
#undef QUAD
#undef HALF
}

#include "tensor/cpu/vec_ops.h"

/* --- products ------------------------------------------------------------- */

#define ROWS 6
#define AHEAD 4096      /* bytes; see bench/SPEED.md */

INLINE void fetch(const char *at, const int lines)
{
    UNROLL for (int i = 0; i < lines; i++)
        _mm_prefetch(at + 64 * i, _MM_HINT_T0);
}

/* How a pass over a panel fetches: `lines` cache lines from `at` on for each
 * 4 inputs (int8) or 1 input (f32, bf16). */
struct pass { const char *at; int lines; };

/* sum[r][o] of `rows` rows from x on with one panel; kp bytes a row. */
INLINE void pass_i8(const int rows, const int lines, const uint8_t *x,
                    size_t kp, const int8_t *w, const char *at,
                    int32_t (*sum)[PANEL])
{
    __m512i acc[ROWS][4];

    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < 4; c++) acc[r][c] = _mm512_setzero_si512();
    for (size_t i = 0; i < kp; i += 4, w += 4 * PANEL, at += 64 * lines) {
        __m512i b[4];

        fetch(at, lines);
        UNROLL for (int c = 0; c < 4; c++)
            b[c] = _mm512_loadu_si512(w + 64 * c);
        UNROLL for (int r = 0; r < rows; r++) {
            int32_t four;
            memcpy(&four, x + (size_t)r * kp + i, sizeof four);
            __m512i a = _mm512_set1_epi32(four);
            UNROLL for (int c = 0; c < 4; c++)
                acc[r][c] = _mm512_dpbusd_epi32(acc[r][c], a, b[c]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < 4; c++)
            _mm512_storeu_si512(sum[r] + 16 * c, acc[r][c]);
}

typedef void pass_i8_fn(const uint8_t *x, size_t kp, const int8_t *w,
                        const char *at, int32_t (*sum)[PANEL]);

#define PASS(r, lines)                                                      \
    static void i8_##r##_##lines(const uint8_t *x, size_t kp,               \
                                 const int8_t *w, const char *at,           \
                                 int32_t (*sum)[PANEL])                     \
    { pass_i8(r, lines, x, kp, w, at, sum); }
#define PASSES(r) PASS(r, 0) PASS(r, 1) PASS(r, 2) PASS(r, 4)
PASSES(1) PASSES(2) PASSES(3) PASSES(4) PASSES(5) PASSES(6)
#undef PASS
#undef PASSES

static pass_i8_fn *const passes_i8[ROWS][5] = {
#define PASS(r) { i8_##r##_0, i8_##r##_1, i8_##r##_2, NULL, i8_##r##_4 }
    PASS(1), PASS(2), PASS(3), PASS(4), PASS(5), PASS(6),
#undef PASS
};

static void finish_i8(const struct gemm *g, int row, int rows, int panel,
                      int32_t (*sum)[PANEL])
{
    for (int r = 0; r < rows; r++) {
        vf xs = _mm512_set1_ps(g->xs[row + r]);
        for (int c = 0; c < PANEL; c += VW) {
            int o = panel * PANEL + c;
            __m512i v = _mm512_loadu_si512(sum[r] + c);
            v = _mm512_sub_epi32(v, _mm512_loadu_si512(g->l->comp + o));
            finish(g, row + r, o,
                   v_mul(_mm512_cvtepi32_ps(v),
                         v_mul(xs, v_load(g->l->scale + o))));
        }
    }
}

/* What the t-th of n passes over a panel of `bytes` fetches. */
static struct pass plan(const char *panel, size_t bytes, int t, int n)
{
    const char *next = panel + bytes;

    if (n == 1) return (struct pass){ panel + AHEAD, 4 };
    if (n < 4) return t < 2 ? (struct pass){ next + t * (bytes / 2), 2 }
                            : (struct pass){ next, 0 };
    return t < 4 ? (struct pass){ next + t * (bytes / 4), 1 }
                 : (struct pass){ next, 0 };
}

static void gemm_i8(const struct gemm *g, int p0, int p1)
{
    size_t kp = (size_t)pad_to(g->l->k, 4), bytes = kp * PANEL;
    int n = (g->rows + ROWS - 1) / ROWS;
    int32_t sum[ROWS][PANEL] __attribute__((aligned(64)));

    for (int p = p0; p < p1; p++) {
        const int8_t *w = (const int8_t *)g->l->w + (size_t)p * bytes;
        for (int t = 0, row = 0; t < n; t++) {      /* rows shared evenly */
            int rows = (g->rows - row + n - t - 1) / (n - t);
            struct pass f = plan((const char *)w, bytes, t, n);
            passes_i8[rows - 1][f.lines](g->xq + (size_t)row * kp, kp, w,
                                         f.at, sum);
            finish_i8(g, row, rows, p, sum);
            row += rows;
        }
    }
}

/* 16 weights as floats. */
INLINE vf widen_f32(const void *w, size_t i)
{
    return _mm512_loadu_ps((const float *)w + i);
}

INLINE vf widen_bf16(const void *w, size_t i)
{
    __m256i h = _mm256_loadu_si256((const void *)((const uint16_t *)w + i));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* The same for float inputs: one chain of sums per output, over k. */
INLINE void pass_float(const int rows, const int bf16, const float *x,
                       size_t ldx, int k, const void *w, float (*sum)[PANEL])
{
    vf acc[ROWS][4];
    const char *at = (const char *)w + AHEAD;

    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < 4; c++) acc[r][c] = v_set1(0);
    for (int i = 0; i < k; i++, at += bf16 ? 128 : 256) {
        vf b[4];

        fetch(at, bf16 ? 2 : 4);
        UNROLL for (int c = 0; c < 4; c++) {
            size_t j = (size_t)i * PANEL + 16 * c;
            b[c] = bf16 ? widen_bf16(w, j) : widen_f32(w, j);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            vf a = v_set1(x[(size_t)r * ldx + i]);
            UNROLL for (int c = 0; c < 4; c++)
                acc[r][c] = v_fma(a, b[c], acc[r][c]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < 4; c++)
            v_store(sum[r] + 16 * c, acc[r][c]);
}

INLINE void gemm_float(const struct gemm *g, int p0, int p1, const int bf16)
{
    int k = g->l->k, n = (g->rows + ROWS - 1) / ROWS;
    size_t bytes = (size_t)k * PANEL * (bf16 ? 2 : 4);
    float sum[ROWS][PANEL] __attribute__((aligned(64)));

    for (int p = p0; p < p1; p++) {
        const char *w = (const char *)g->l->w + (size_t)p * bytes;
        for (int t = 0, row = 0; t < n; t++) {
            int rows = (g->rows - row + n - t - 1) / (n - t);
            const float *x = g->x + (size_t)row * g->ldx;
            switch (rows) {
            case 1: pass_float(1, bf16, x, g->ldx, k, w, sum); break;
            case 2: pass_float(2, bf16, x, g->ldx, k, w, sum); break;
            case 3: pass_float(3, bf16, x, g->ldx, k, w, sum); break;
            case 4: pass_float(4, bf16, x, g->ldx, k, w, sum); break;
            case 5: pass_float(5, bf16, x, g->ldx, k, w, sum); break;
            case 6: pass_float(6, bf16, x, g->ldx, k, w, sum); break;
            }
            finish_panel(g, row, rows, p, sum);
            row += rows;
        }
    }
}

static void gemm_f32(const struct gemm *g, int p0, int p1)
{
    gemm_float(g, p0, p1, 0);
}

static void gemm_bf16(const struct gemm *g, int p0, int p1)
{
    gemm_float(g, p0, p1, 1);
}

const struct kernels kernels_avx512 = {
    .isa = ISA_AVX512,
    .gemm_i8 = gemm_i8,
    .gemm_f32 = gemm_f32,
    .gemm_bf16 = gemm_bf16,
    .quantize = quantize,
    .layer_norm = layer_norm,
    .attention = attention,
    .row_stats = row_stats,
};
