/* avx2.c - all operations with AVX2 and FMA.
 *
 * An int8 product multiplies |x| by w with the sign of x. The instruction adds
 * pairs of products in 16 bits. Their sum is at most 2 * 128 * 127, so it never
 * saturates. */
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "tensor/cpu/tables.h"

typedef __m256 vf;
#define VW 8
#define VCOLS 2

#define v_set1(x) _mm256_set1_ps(x)
#define v_load(p) _mm256_loadu_ps(p)
#define v_store(p, v) _mm256_storeu_ps(p, v)
#define v_add(a, b) _mm256_add_ps(a, b)
#define v_sub(a, b) _mm256_sub_ps(a, b)
#define v_mul(a, b) _mm256_mul_ps(a, b)
#define v_div(a, b) _mm256_div_ps(a, b)
#define v_max(a, b) _mm256_max_ps(a, b)
#define v_min(a, b) _mm256_min_ps(a, b)
#define v_abs(a) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a)
#define v_fma(a, b, c) _mm256_fmadd_ps(a, b, c)
#define v_fnma(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define v_round(a) _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | \
                                   _MM_FROUND_NO_EXC)
#define v_if_less(a, b, x, y) \
    _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_LT_OQ))
#define v_at_least(a, b) \
    (uint8_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ))

/* All ones in the first n lanes. */
static inline __m256i lane_mask(int n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline vf v_load_n(const float *p, int n, vf fill)
{
    __m256i m = lane_mask(n);
    return _mm256_blendv_ps(fill, _mm256_maskload_ps(p, m),
                            _mm256_castsi256_ps(m));
}

static inline vf v_load_i8(const int8_t *p)
{
    return _mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)p)));
}

static inline vf v_load_f16(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)p));
}

static inline void v_store_n(float *p, vf v, int n)
{
    _mm256_maskstore_ps(p, lane_mask(n), v);
}

static inline void v_store_quads(float *p, size_t ld, vf v)
{
    _mm_storeu_ps(p, _mm256_castps256_ps128(v));
    _mm_storeu_ps(p + ld, _mm256_extractf128_ps(v, 1));
}

static inline vf v_scale2(vf v, vf n)
{
    __m256i e = _mm256_add_epi32(_mm256_cvtps_epi32(n),
                                 _mm256_set1_epi32(127));
    return v_mul(v, _mm256_castsi256_ps(_mm256_slli_epi32(e, 23)));
}

static inline float v_sum(vf v)
{
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v),
                          _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

static inline float v_hmax(vf v)
{
    __m128 x = _mm_max_ps(_mm256_castps256_ps128(v),
                          _mm256_extractf128_ps(v, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

static inline void v_store_q8(uint8_t *q, vf v, int n)
{
    __m256i i = _mm256_add_epi32(_mm256_cvtps_epi32(v),
                                 _mm256_set1_epi32(128));
    __m128i h = _mm_packus_epi32(_mm256_castsi256_si128(i),
                                 _mm256_extracti128_si256(i, 1));
    uint8_t bytes[16];

    h = _mm_packus_epi16(h, h);
    if (n == VW) {
        _mm_storel_epi64((void *)q, h);
    } else {
        _mm_storeu_si128((void *)bytes, h);
        memcpy(q, bytes, (size_t)n);
    }
}

/* The pack instructions work within each half of a vector; see avx512.c. */
INLINE void v_store_q8s(uint8_t *q, const vf *v)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i ab = _mm256_packs_epi32(_mm256_cvtps_epi32(v[0]),
                                    _mm256_cvtps_epi32(v[1]));
    __m256i cd = _mm256_packs_epi32(_mm256_cvtps_epi32(v[2]),
                                    _mm256_cvtps_epi32(v[3]));
    __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd),
                                                order);

    _mm256_storeu_si256((void *)q, _mm256_xor_si256(
        bytes, _mm256_set1_epi8((char)128)));
}

INLINE vf v_sums(const vf *a)
{
#define PAIR(x, y) \
    _mm256_add_ps(_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y))
#define QUAD(x, y)                                                        \
    _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(x),              \
                                        _mm256_castps_pd(y))),            \
    _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(x),              \
                                        _mm256_castps_pd(y)))
    vf p0 = PAIR(a[0], a[1]), p1 = PAIR(a[2], a[3]);
    vf p2 = PAIR(a[4], a[5]), p3 = PAIR(a[6], a[7]);
    vf lo = _mm256_add_ps(QUAD(p0, p1)), hi = _mm256_add_ps(QUAD(p2, p3));
    return _mm256_add_ps(_mm256_permute2f128_ps(lo, hi, 0x20),
                         _mm256_permute2f128_ps(lo, hi, 0x31));
#undef PAIR
#undef QUAD
}

/* Transpose an 8 x 8 matrix whose rows are the vectors r[0] .. r[7]. */
INLINE void v_transpose(vf *r)
{
    vf t[8];

#define LO(x, y) _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(x), \
                                                     _mm256_castps_pd(y)))
#define HI(x, y) _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(x), \
                                                     _mm256_castps_pd(y)))
    UNROLL for (int i = 0; i < 8; i += 4) {
        vf a = _mm256_unpacklo_ps(r[i], r[i + 1]);
        vf b = _mm256_unpackhi_ps(r[i], r[i + 1]);
        vf c = _mm256_unpacklo_ps(r[i + 2], r[i + 3]);
        vf d = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
        t[i] = LO(a, c);
        t[i + 1] = HI(a, c);
        t[i + 2] = LO(b, d);
        t[i + 3] = HI(b, d);
    }
    UNROLL for (int i = 0; i < 4; i++) {
        r[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
        r[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
    }
#undef LO
#undef HI
}

#include "tensor/cpu/vec_ops.h"

/* --- int8 products -------------------------------------------------------- */

#define ROWS 2          /* rows per pass */
#define AHEAD 8192      /* prefetch distance of a single row, in bytes */

/* The lines that a pass prefetches in each step of 4 inputs, which has 256
 * bytes of weights: 4 lines go to the L1 cache, fewer to the L2 cache. */
struct avx2_fetch {
    const char *at;
    int lines;                  /* 0, 1, 2 or 4 */
};

INLINE void avx2_fetch_step(struct avx2_fetch *f)
{
    if (f->lines == 4) {
        UNROLL for (int i = 0; i < 4; i++)
            _mm_prefetch(f->at + 64 * i, _MM_HINT_T0);
    } else {
        if (f->lines >= 1) _mm_prefetch(f->at, _MM_HINT_T1);
        if (f->lines >= 2) _mm_prefetch(f->at + 64, _MM_HINT_T1);
    }
    f->at += 64 * f->lines;
}

/* What the passes over a panel prefetch, starting with the pass of row `row`. A
 * single row prefetches at a fixed distance. Otherwise the first passes, at
 * most four, each prefetch their share of the next panel. So memory is read all
 * the time and not only in the first pass: with 4 rows of 512 inputs and
 * weights in memory, a product runs at 43 GMAC/s instead of 30 (Zen 3). */
static struct avx2_fetch plan_fetch(int all_rows, int row, const char *panel,
                                    size_t bytes)
{
    if (all_rows == 1) return (struct avx2_fetch){ panel + AHEAD, 4 };
    if (all_rows == 2) return (struct avx2_fetch){ panel + bytes, 2 };
    return (struct avx2_fetch){ panel + bytes + (size_t)row * (bytes / 4),
                                row < 2 ? 1 : row > 2 ? 0
                                        : all_rows == 3 ? 2 : 1 };
}

/* The sums of `rows` rows, starting at x, with cols vectors of 8 outputs. One
 * row is multiplied by a whole panel at a time, two rows by half a panel. */
INLINE void pass_i8(const int rows, const int cols, struct avx2_fetch *f,
                    const uint8_t *x, size_t kp, const int8_t *w,
                    int32_t (*sum)[PANEL])
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i acc[ROWS][8];

    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < cols; c++)
            acc[r][c] = _mm256_setzero_si256();
    for (size_t i = 0; i < kp; i += 4, w += 4 * PANEL) {
        __m256i a[ROWS], size[ROWS];

        avx2_fetch_step(f);
        UNROLL for (int r = 0; r < rows; r++) {
            int32_t four;
            memcpy(&four, x + (size_t)r * kp + i, sizeof four);
            a[r] = _mm256_set1_epi32(four ^ (int32_t)0x80808080);
            size[r] = _mm256_abs_epi8(a[r]);
        }
        UNROLL for (int c = 0; c < cols; c++) {
            __m256i b = _mm256_loadu_si256((const void *)(w + 32 * c));
            UNROLL for (int r = 0; r < rows; r++) {
                __m256i two = _mm256_maddubs_epi16(size[r],
                                                   _mm256_sign_epi8(b, a[r]));
                acc[r][c] = _mm256_add_epi32(acc[r][c],
                                             _mm256_madd_epi16(two, ones));
            }
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < cols; c++)
            _mm256_storeu_si256((void *)(sum[r] + 8 * c), acc[r][c]);
}

/* The sums are those of x * w, not of (x + 128) * w, so comp is not needed. */
static void finish_i8(const struct gemm *g, int row, int rows, int panel,
                      int32_t (*sum)[PANEL])
{
    for (int r = 0; r < rows; r++) {
        vf xs = v_set1(g->xs[row + r]);
        for (int c = 0; c < PANEL; c += VW) {
            int o = panel * PANEL + c;
            __m256i v = _mm256_loadu_si256((const void *)(sum[r] + c));
            finish_outputs(g, row + r, o,
                           v_mul(_mm256_cvtepi32_ps(v),
                                 v_mul(xs, v_load(g->l->scale + o))));
        }
    }
}

static void gemm_i8(const struct gemm *g, int p0, int p1)
{
    size_t kp = (size_t)pad_to(g->l->k, 4), bytes = kp * PANEL;
    int32_t sum[ROWS][PANEL];

    require_gemm_i8(g, p0, p1);
    for (int p = p0; p < p1; p++) {
        const int8_t *w = (const int8_t *)g->l->w + (size_t)p * bytes;
        for (int row = 0; row < g->rows; row += ROWS) {
            int rows = g->rows - row < ROWS ? g->rows - row : ROWS;
            const uint8_t *x = g->xq + (size_t)row * kp;
            struct avx2_fetch f = plan_fetch(g->rows, row, (const char *)w,
                                             bytes);
            if (rows == 1) {
                pass_i8(1, 8, &f, x, kp, w, sum);
            } else {
                pass_i8(2, 4, &f, x, kp, w, sum);
                pass_i8(2, 4, &f, x, kp, w + 4 * 32, (void *)(sum[0] + 32));
            }
            finish_i8(g, row, rows, p, sum);
        }
    }
}

/* --- float products ------------------------------------------------------- */

#define FROWS 3         /* rows per pass: 3 x 4 sums fit in 16 registers */

/* Weights i .. i + 7 as floats. */
INLINE vf widen_f32(const void *w, size_t i)
{
    return _mm256_loadu_ps((const float *)w + i);
}

INLINE vf widen_bf16(const void *w, size_t i)
{
    __m128i h = _mm_loadu_si128((const void *)((const uint16_t *)w + i));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* The sums of half a panel, starting with output o of it. Each output is summed
 * over k in order. */
INLINE void pass_float(const int rows, const int bf16, const float *x,
                       size_t ldx, int k, const void *w, int o,
                       float (*sum)[PANEL])
{
    vf acc[FROWS][4];

    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < 4; c++) acc[r][c] = v_set1(0);
    for (int i = 0; i < k; i++) {
        UNROLL for (int c = 0; c < 4; c++) {
            size_t j = (size_t)i * PANEL + (size_t)(o + 8 * c);
            vf b = bf16 ? widen_bf16(w, j) : widen_f32(w, j);
            UNROLL for (int r = 0; r < rows; r++)
                acc[r][c] = v_fma(v_set1(x[(size_t)r * ldx + i]), b,
                                  acc[r][c]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < 4; c++)
            v_store(sum[r] + o + 8 * c, acc[r][c]);
}

INLINE void gemm_float(const struct gemm *g, int p0, int p1, const int bf16)
{
    int k = g->l->k;
    size_t bytes = (size_t)k * PANEL * (bf16 ? 2 : 4);
    float sum[FROWS][PANEL];

    require_gemm_float(g, p0, p1, bf16 ? DT_BF16 : DT_F32);
    for (int p = p0; p < p1; p++) {
        const char *w = (const char *)g->l->w + (size_t)p * bytes;
        for (int row = 0; row < g->rows; row += FROWS) {
            int rows = g->rows - row < FROWS ? g->rows - row : FROWS;
            const float *x = g->x + (size_t)row * g->ldx;
            for (int o = 0; o < PANEL; o += 32) {
                switch (rows) {
                case 1: pass_float(1, bf16, x, g->ldx, k, w, o, sum); break;
                case 2: pass_float(2, bf16, x, g->ldx, k, w, o, sum); break;
                case 3: pass_float(3, bf16, x, g->ldx, k, w, o, sum); break;
                }
            }
            finish_panel(g, row, rows, p, sum);
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

/* --- products with sparse inputs ------------------------------------------ */

static void list_nonzero(const uint8_t *xq, int rows, int k,
                         struct nonzero *nz)
{
    const __m256i zero = _mm256_set1_epi8((char)128);

    for (int r = 0; r < rows; r++, xq += pad_to(k, 4)) {
        uint16_t *at = nz[r].at;
        int n = 0, i;

        for (i = 0; i + 32 <= k; i += 32) {
            __m256i x = _mm256_loadu_si256((const void *)(xq + i));
            uint32_t m = ~(uint32_t)_mm256_movemask_epi8(
                _mm256_cmpeq_epi8(x, zero));
            for (; m; m &= m - 1) at[n++] = (uint16_t)(i + __builtin_ctz(m));
        }
        for (; i < k; i++)
            if (xq[i] != 128) at[n++] = (uint16_t)i;
        nonzero_complete(&nz[r], xq, n);
    }
}

/* Add the products of each group of four bytes to a lane of acc. The sum of two
 * products, 2 * 127 * 127 at most, fits in the 16 bits of the first step. */
INLINE __m256i add_fours(__m256i acc, __m256i x, __m256i w)
{
    __m256i pairs = _mm256_maddubs_epi16(x, w);
    return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs,
                                                   _mm256_set1_epi16(1)));
}

/* Add the products of four inputs x with their weights for 32 outputs, starting
 * with output o. The weights are interleaved so that the four of one output are
 * adjacent. Then acc[i] has outputs 4i .. 4i+3 of each half of 16 outputs;
 * sort_fours() puts them in order at the end. */
INLINE void four_inputs(const int8_t *const *w, size_t o, __m256i x,
                        __m256i *acc)
{
#define ROW(i) _mm256_loadu_si256((const void *)(w[i] + o))
    __m256i a = ROW(0), b = ROW(1), c = ROW(2), d = ROW(3);
#undef ROW
    __m256i ab = _mm256_unpacklo_epi8(a, b), AB = _mm256_unpackhi_epi8(a, b);
    __m256i cd = _mm256_unpacklo_epi8(c, d), CD = _mm256_unpackhi_epi8(c, d);

    acc[0] = add_fours(acc[0], x, _mm256_unpacklo_epi16(ab, cd));
    acc[1] = add_fours(acc[1], x, _mm256_unpackhi_epi16(ab, cd));
    acc[2] = add_fours(acc[2], x, _mm256_unpacklo_epi16(AB, CD));
    acc[3] = add_fours(acc[3], x, _mm256_unpackhi_epi16(AB, CD));
}

/* Put the groups of four sums in the order of the outputs. */
INLINE void sort_fours(__m256i *acc)
{
    __m256i a = acc[0], b = acc[1], c = acc[2], d = acc[3];

    acc[0] = _mm256_permute2x128_si256(a, b, 0x20);
    acc[1] = _mm256_permute2x128_si256(c, d, 0x20);
    acc[2] = _mm256_permute2x128_si256(a, b, 0x31);
    acc[3] = _mm256_permute2x128_si256(c, d, 0x31);
}

/* The product of one row with one panel, which starts with output o. */
static void sparse_row(const struct gemm *g, int row, int o)
{
    const struct nonzero *nz = &g->nz[row];
    size_t np = (size_t)pad_to(g->l->n, PANEL);
    __m256i acc[2][4];
    vf xs = v_set1(g->xs[row]);

    UNROLL for (int h = 0; h < 2; h++)
        UNROLL for (int c = 0; c < 4; c++) acc[h][c] = _mm256_setzero_si256();
    for (int i = 0; i < 4 * nz->n; i += 4) {
        const int8_t *four[4];
        int32_t x;

        UNROLL for (int j = 0; j < 4; j++)
            four[j] = g->l->by_input + o + nz->at[i + j] * np;
        memcpy(&x, nz->value + i, sizeof x);
        UNROLL for (int h = 0; h < 2; h++)
            four_inputs(four, 32 * (size_t)h, _mm256_set1_epi32(x), acc[h]);
    }
    UNROLL for (int h = 0; h < 2; h++) {
        sort_fours(acc[h]);
        UNROLL for (int c = 0; c < 4; c++) {
            int at = o + 32 * h + VW * c;
            finish_outputs(g, row, at,
                           v_mul(_mm256_cvtepi32_ps(acc[h][c]),
                                 v_mul(xs, v_load(g->l->scale + at))));
        }
    }
}

static void gemm_sparse(const struct gemm *g, int p0, int p1)
{
    require_gemm_sparse(g, p0, p1);
    for (int p = p0; p < p1; p++)
        for (int row = 0; row < g->rows; row++)
            sparse_row(g, row, p * PANEL);
}

const struct kernels kernels_avx2 = {
    .isa = ISA_AVX2,
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
