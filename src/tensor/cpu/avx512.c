/* avx512.c - all operations with AVX-512 and VNNI.
 *
 * A product works on one panel of 64 outputs (4 vectors) and up to ROWS rows at
 * a time. 6 x 4 sums, 4 vectors of weights and one of activations fill the 32
 * registers. The panel stays in the L1 and L2 caches while it is multiplied by
 * all rows. Meanwhile, weights are prefetched: if one pass covers all rows, a
 * fixed distance ahead; otherwise each pass prefetches a share of the next
 * panel. This is needed because the hardware prefetcher stops at the end of
 * each 4 KB page.
 *
 * With a few more rows, int8 products take half a panel at a time, and up to
 * TALL_ROWS rows: 12 x 2 sums. Fewer passes over the weights are faster until
 * the multipliers are the limit. */
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
#define v_at_least(a, b) (uint16_t)_mm512_cmp_ps_mask(a, b, _CMP_GE_OQ)
#define v_hmax(a) _mm512_reduce_max_ps(a)
#define v_sum(a) _mm512_reduce_add_ps(a)

/* The first n lanes. */
static inline __mmask16 lane_mask(int n) { return (__mmask16)((1u << n) - 1); }

static inline vf v_load_n(const float *p, int n, vf fill)
{
    return _mm512_mask_loadu_ps(fill, lane_mask(n), p);
}

static inline vf v_load_i8(const int8_t *p)
{
    return _mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)p)));
}

static inline vf v_load_f16(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)p));
}

static inline void v_store_n(float *p, vf v, int n)
{
    _mm512_mask_storeu_ps(p, lane_mask(n), v);
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
    if (n == VW) _mm_storeu_si128((void *)q, _mm512_cvtepi32_epi8(i));
    else _mm512_mask_cvtepi32_storeu_epi8(q, lane_mask(n), i);
}

/* The pack instructions work within each quarter of a vector. Afterwards each
 * quarter has four bytes of each of the four vectors; the permutation puts
 * these in order. */
INLINE void v_store_q8s(uint8_t *q, const vf *v)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13,
                                            2, 6, 10, 14, 3, 7, 11, 15);
    __m512i ab = _mm512_packs_epi32(_mm512_cvtps_epi32(v[0]),
                                    _mm512_cvtps_epi32(v[1]));
    __m512i cd = _mm512_packs_epi32(_mm512_cvtps_epi32(v[2]),
                                    _mm512_cvtps_epi32(v[3]));
    __m512i bytes = _mm512_permutexvar_epi32(order,
                                             _mm512_packs_epi16(ab, cd));

    _mm512_storeu_si512(q, _mm512_xor_si512(bytes,
                                            _mm512_set1_epi8((char)128)));
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

/* Transpose a 16 x 16 matrix whose rows are the vectors r[0] .. r[15]. */
INLINE void v_transpose(vf *r)
{
    vf t[16];

#define LO(x, y) _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(x), \
                                                     _mm512_castps_pd(y)))
#define HI(x, y) _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(x), \
                                                     _mm512_castps_pd(y)))
    UNROLL for (int i = 0; i < 16; i += 4) {
        vf a = _mm512_unpacklo_ps(r[i], r[i + 1]);
        vf b = _mm512_unpackhi_ps(r[i], r[i + 1]);
        vf c = _mm512_unpacklo_ps(r[i + 2], r[i + 3]);
        vf d = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);
        t[i] = LO(a, c);
        t[i + 1] = HI(a, c);
        t[i + 2] = LO(b, d);
        t[i + 3] = HI(b, d);
    }
    UNROLL for (int i = 0; i < 4; i++) {
        vf a = _mm512_shuffle_f32x4(t[i], t[i + 4], 0x88);
        vf b = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0x88);
        vf c = _mm512_shuffle_f32x4(t[i], t[i + 4], 0xdd);
        vf d = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0xdd);
        r[i] = _mm512_shuffle_f32x4(a, b, 0x88);
        r[i + 4] = _mm512_shuffle_f32x4(c, d, 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(a, b, 0xdd);
        r[i + 12] = _mm512_shuffle_f32x4(c, d, 0xdd);
    }
#undef LO
#undef HI
}

#include "tensor/cpu/vec_ops.h"

/* --- int8 products -------------------------------------------------------- */

#define ROWS 6          /* rows per pass */
#define TALL_ROWS 12    /* rows per pass over half a panel */

/* What a pass prefetches in each step of 4 inputs (256 bytes of int8 weights):
 * lines of the next panel, or lines of this panel that come later. Lines at the
 * distance FAR go to the L2 cache, those at the distance NEAR to the L1 cache.
 * With three rows or fewer, memory is the limit and the hardware prefetcher
 * nearly keeps up. Prefetching one line in four leads it across the end of each
 * page; prefetching all lines is slower than prefetching none
 * (bench/SPEED.md). */
enum avx512_fetch {
    FETCH_NONE,
    FETCH_1,
    FETCH_2,
    FETCH_SPARSE,
    FETCH_ALL,
    FETCHES
};
#define FAR 24576
#define NEAR 2048

static const int fetch_stride[FETCHES] = { 0, 64, 128, 256, 256 };

INLINE void fetch_step(const enum avx512_fetch how, const char *at,
                       const int8_t *w)
{
    if (how == FETCH_NONE) return;
    _mm_prefetch(at, _MM_HINT_T1);
    if (how == FETCH_2 || how == FETCH_ALL)
        _mm_prefetch(at + 64, _MM_HINT_T1);
    if (how != FETCH_ALL) return;
    _mm_prefetch(at + 128, _MM_HINT_T1);
    _mm_prefetch(at + 192, _MM_HINT_T1);
    _mm_prefetch((const char *)w + NEAR, _MM_HINT_T0);
    _mm_prefetch((const char *)w + NEAR + 64, _MM_HINT_T0);
    _mm_prefetch((const char *)w + NEAR + 128, _MM_HINT_T0);
    _mm_prefetch((const char *)w + NEAR + 192, _MM_HINT_T0);
}

/* The sums of `rows` rows, starting at x, with 4 vectors of outputs of a panel,
 * or with 2, which begin at w. A row has kp bytes. */
INLINE void pass_i8(const int rows, const int vectors,
                    const enum avx512_fetch how, const uint8_t *x, size_t kp,
                    const int8_t *w, const char *at, int32_t (*sum)[PANEL])
{
    __m512i acc[TALL_ROWS][4];

    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < vectors; c++)
            acc[r][c] = _mm512_setzero_si512();
    for (size_t i = 0; i < kp; i += 4) {
        __m512i b[4];

        fetch_step(how, at, w);
        UNROLL for (int c = 0; c < vectors; c++) {
            b[c] = _mm512_loadu_si512(w + 64 * c);
            KEEP(b[c]);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            int32_t four;
            memcpy(&four, x + (size_t)r * kp + i, sizeof four);
            __m512i a = _mm512_set1_epi32(four);
            UNROLL for (int c = 0; c < vectors; c++)
                acc[r][c] = _mm512_dpbusd_epi32(acc[r][c], a, b[c]);
        }
        w += 4 * PANEL;
        at += fetch_stride[how];
    }
    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < vectors; c++)
            _mm512_storeu_si512(sum[r] + 16 * c, acc[r][c]);
}

typedef void pass_i8_fn(const uint8_t *x, size_t kp, const int8_t *w,
                        const char *at, int32_t (*sum)[PANEL]);

#define PASS(r, vectors, how)                                               \
    static void i8_##r##_##vectors##_##how(const uint8_t *x, size_t kp,     \
                                           const int8_t *w, const char *at, \
                                           int32_t (*sum)[PANEL])           \
    { pass_i8(r, vectors, FETCH_##how, x, kp, w, at, sum); }
#define PASSES(r) PASS(r, 4, NONE) PASS(r, 4, 1) PASS(r, 4, SPARSE) \
                  PASS(r, 4, ALL)
PASSES(1) PASSES(2) PASSES(3) PASSES(4) PASSES(5) PASSES(6)
#undef PASSES
#define PASSES(r) PASS(r, 2, 1) PASS(r, 2, 2)
PASSES(6) PASSES(7) PASSES(8) PASSES(9) PASSES(10) PASSES(11) PASSES(12)
#undef PASSES
#undef PASS

static pass_i8_fn *const passes_i8[ROWS][FETCHES] = {
#define PASS(r) { [FETCH_NONE] = i8_##r##_4_NONE, [FETCH_1] = i8_##r##_4_1, \
                  [FETCH_SPARSE] = i8_##r##_4_SPARSE,                       \
                  [FETCH_ALL] = i8_##r##_4_ALL }
    PASS(1), PASS(2), PASS(3), PASS(4), PASS(5), PASS(6),
#undef PASS
};

/* The same for half a panel; the first is for TALL_ROWS / 2 rows. */
static pass_i8_fn *const tall_i8[TALL_ROWS / 2 + 1][FETCHES] = {
#define PASS(r) { [FETCH_1] = i8_##r##_2_1, [FETCH_2] = i8_##r##_2_2 }
    PASS(6), PASS(7), PASS(8), PASS(9), PASS(10), PASS(11), PASS(12),
#undef PASS
};

/* Write the outputs of `rows` rows of one panel, given their sums. The scale,
 * bias and comp of the outputs are read once for all rows. */
INLINE void finish_sums(const struct gemm *g, const int relu, const int add,
                        int row, int rows, int o, int32_t (*sum)[PANEL])
{
    float *y = g->y + (size_t)row * g->ldy + o;
    __m512i comp[4];
    vf scale[4], bias[4];

    UNROLL for (int c = 0; c < 4; c++) {
        comp[c] = _mm512_loadu_si512(g->l->comp + o + VW * c);
        scale[c] = v_load(g->l->scale + o + VW * c);
        bias[c] = v_load(g->l->bias + o + VW * c);
    }
    for (int r = 0; r < rows; r++, y += g->ldy) {
        vf xs = v_set1(g->xs[row + r]);
        UNROLL for (int c = 0; c < 4; c++) {
            __m512i i = _mm512_sub_epi32(_mm512_load_si512(sum[r] + VW * c),
                                         comp[c]);
            vf v = v_mul(_mm512_cvtepi32_ps(i), v_mul(xs, scale[c]));
            v = v_add(v, bias[c]);
            if (relu) v = v_max(v, v_set1(0));
            if (add) v = v_add(v, v_load(y + VW * c));
            v_store(y + VW * c, v);
        }
    }
}

/* The same, for any activation and with or without a bias. */
static void finish_any(const struct gemm *g, int row, int rows, int o,
                       int32_t (*sum)[PANEL])
{
    for (int r = 0; r < rows; r++) {
        vf xs = v_set1(g->xs[row + r]);
        for (int c = 0; c < PANEL; c += VW) {
            __m512i i = _mm512_sub_epi32(
                _mm512_load_si512(sum[r] + c),
                _mm512_loadu_si512(g->l->comp + o + c));
            finish_outputs(g, row + r, o + c,
                           v_mul(_mm512_cvtepi32_ps(i),
                                 v_mul(xs, v_load(g->l->scale + o + c))));
        }
    }
}

void finish_i8_avx512(const struct gemm *g, int row, int rows, int panel,
                      int32_t (*sum)[PANEL])
{
    int o = panel * PANEL;

    assert(row >= 0 && rows >= 0 && row + rows <= g->rows);
    assert(panel >= 0 && panel < linear_panels(g->l));
    assert((uintptr_t)sum % 64 == 0);
    if (g->l->bias && g->act == ACT_NONE && g->add)
        finish_sums(g, 0, 1, row, rows, o, sum);
    else if (g->l->bias && g->act == ACT_NONE)
        finish_sums(g, 0, 0, row, rows, o, sum);
    else if (g->l->bias && g->act == ACT_RELU && !g->add)
        finish_sums(g, 1, 0, row, rows, o, sum);
    else
        finish_any(g, row, rows, o, sum);
}

/* What pass t of n over a panel prefetches, starting at *at: its share of the
 * next panel. */
static enum avx512_fetch share_fetch(int t, int n, const char *panel,
                                     size_t bytes, const char **at)
{
    size_t shares = n < 4 ? 2 : 4;

    *at = panel + bytes + (size_t)t * (bytes / shares);
    if ((size_t)t >= shares) return FETCH_NONE;
    return shares == 2 ? FETCH_2 : FETCH_1;
}

/* The rows of pass t of n, which begin with `row`: rows are divided evenly. */
static int rows_of_pass(const struct gemm *g, int row, int t, int n)
{
    return (g->rows - row + n - t - 1) / (n - t);
}

static void product_i8(const struct gemm *g, int p)
{
    size_t kp = (size_t)pad_to(g->l->k, 4), bytes = kp * PANEL;
    const int8_t *w = (const int8_t *)g->l->w + (size_t)p * bytes;
    int n = (g->rows + ROWS - 1) / ROWS;
    int32_t sum[ROWS][PANEL] __attribute__((aligned(64)));

    for (int t = 0, row = 0; t < n; t++) {
        int rows = rows_of_pass(g, row, t, n);
        const char *at = (const char *)w + FAR;
        enum avx512_fetch how = rows <= 3 ? FETCH_SPARSE : FETCH_ALL;

        if (n > 1) how = share_fetch(t, n, (const char *)w, bytes, &at);
        assert(rows >= 1 && rows <= ROWS && passes_i8[rows - 1][how]);
        passes_i8[rows - 1][how](g->xq + (size_t)row * kp, kp, w, at, sum);
        finish_i8_avx512(g, row, rows, p, sum);
        row += rows;
    }
}

/* The same for the numbers of rows that is_tall() names. */
static void product_i8_tall(const struct gemm *g, int p)
{
    size_t kp = (size_t)pad_to(g->l->k, 4), bytes = kp * PANEL;
    const int8_t *w = (const int8_t *)g->l->w + (size_t)p * bytes;
    int n = g->rows <= TALL_ROWS ? 1 : 2;
    int32_t sum[TALL_ROWS][PANEL] __attribute__((aligned(64)));

    for (int t = 0, row = 0; t < n; t++) {
        int rows = rows_of_pass(g, row, t, n);

        for (int half = 0; half < 2; half++) {
            const char *at;
            enum avx512_fetch how = share_fetch(2 * t + half, 2 * n,
                                                (const char *)w, bytes, &at);
            pass_i8_fn *pass = tall_i8[rows - TALL_ROWS / 2][how];

            assert(rows >= TALL_ROWS / 2 && rows <= TALL_ROWS && pass);
            pass(g->xq + (size_t)row * kp, kp, w + half * 2 * PANEL, at,
                 (int32_t (*)[PANEL])(sum[0] + half * PANEL / 2));
        }
        finish_i8_avx512(g, row, rows, p, sum);
        row += rows;
    }
}

/* Whether passes over half panels are faster: with up to 18 rows on Zen 5
 * (bench/SPEED.md). */
static bool is_tall(int rows) { return rows > ROWS && rows <= 3 * ROWS; }

static void gemm_i8(const struct gemm *g, int p0, int p1)
{
    require_gemm_i8(g, p0, p1);
    for (int p = p0; p < p1; p++) {
        if (is_tall(g->rows)) product_i8_tall(g, p);
        else product_i8(g, p);
    }
}

/* --- products with sparse inputs ------------------------------------------ */

/* Append base + (position of each bit that is set in m) to `at`, and return the
 * number of these bits. The number is hard to predict for the processor, so
 * with `room`, USUAL positions are written in any case, before a loop writes
 * the others. (In the shipped model 5 % of the inputs are not zero, about three
 * of 64.) The list is never longer than the number of inputs read so far, so
 * `at` has room for USUAL more if that many inputs remain. */
#define USUAL 8
INLINE int list_bits(uint64_t m, int base, int room, uint16_t *at)
{
    int n = __builtin_popcountll(m), i = 0;

    if (room)
        UNROLL for (; i < USUAL; i++) {
            at[i] = (uint16_t)(base + (int)_tzcnt_u64(m));
            m = _blsr_u64(m);
        }
    for (; i < n; i++, m &= m - 1)
        at[i] = (uint16_t)(base + __builtin_ctzll(m));
    return n;
}

static void list_nonzero(const uint8_t *xq, int rows, int k,
                         struct nonzero *nz)
{
    const __m512i zero = _mm512_set1_epi8((char)128);

    for (int r = 0; r < rows; r++, xq += pad_to(k, 4)) {
        uint16_t *at = nz[r].at;
        int n = 0;

        for (int i = 0; i < k; i += 64) {
            __mmask64 in = k - i < 64 ? (1ull << (k - i)) - 1 : ~0ull;
            uint64_t m = _mm512_mask_cmpneq_epi8_mask(
                in, _mm512_maskz_loadu_epi8(in, xq + i), zero);
            n += list_bits(m, i, k - i >= USUAL, at + n);
        }
        nonzero_complete(&nz[r], xq, n);
    }
}

/* Add the products of four inputs x with their weights for 64 outputs, starting
 * with output o. The weights are interleaved so that the four of one output are
 * adjacent. Then acc[i] has outputs 4i .. 4i+3 of each group of 16 outputs;
 * sort_fours() puts them in order at the end. */
INLINE void four_inputs(const int8_t *const *w, size_t o, __m512i x,
                        __m512i *acc)
{
    __m512i a = _mm512_loadu_si512(w[0] + o), b = _mm512_loadu_si512(w[1] + o);
    __m512i c = _mm512_loadu_si512(w[2] + o), d = _mm512_loadu_si512(w[3] + o);
    __m512i ab = _mm512_unpacklo_epi8(a, b), AB = _mm512_unpackhi_epi8(a, b);
    __m512i cd = _mm512_unpacklo_epi8(c, d), CD = _mm512_unpackhi_epi8(c, d);

    acc[0] = _mm512_dpbusd_epi32(acc[0], x, _mm512_unpacklo_epi16(ab, cd));
    acc[1] = _mm512_dpbusd_epi32(acc[1], x, _mm512_unpackhi_epi16(ab, cd));
    acc[2] = _mm512_dpbusd_epi32(acc[2], x, _mm512_unpacklo_epi16(AB, CD));
    acc[3] = _mm512_dpbusd_epi32(acc[3], x, _mm512_unpackhi_epi16(AB, CD));
}

/* Put the groups of four sums in the order of the outputs. */
INLINE void sort_fours(__m512i *acc)
{
    __m512i a = _mm512_shuffle_i32x4(acc[0], acc[1], 0x88);
    __m512i b = _mm512_shuffle_i32x4(acc[2], acc[3], 0x88);
    __m512i c = _mm512_shuffle_i32x4(acc[0], acc[1], 0xdd);
    __m512i d = _mm512_shuffle_i32x4(acc[2], acc[3], 0xdd);

    acc[0] = _mm512_shuffle_i32x4(a, b, 0x88);
    acc[1] = _mm512_shuffle_i32x4(c, d, 0x88);
    acc[2] = _mm512_shuffle_i32x4(a, b, 0xdd);
    acc[3] = _mm512_shuffle_i32x4(c, d, 0xdd);
}

#define AHEAD 4                 /* prefetch distance in groups of inputs */

/* The product of one row with `panels` panels, which start with output o. The
 * weights are scattered in memory, but the list of inputs tells in advance
 * which will be needed. */
INLINE void sparse_row(const struct gemm *g, int row, const int panels, int o)
{
    const struct nonzero *nz = &g->nz[row];
    const int8_t *w = g->l->by_input + o;
    size_t np = (size_t)pad_to(g->l->n, PANEL);
    __m512i acc[4][4];
    vf xs = v_set1(g->xs[row]);

    UNROLL for (int p = 0; p < panels; p++)
        UNROLL for (int c = 0; c < 4; c++) acc[p][c] = _mm512_setzero_si512();
    for (int i = 0; i < 4 * nz->n; i += 4) {
        const int8_t *four[4];
        int32_t x;

        if (i + 4 * AHEAD < 4 * nz->n)
            UNROLL for (int j = 0; j < 4; j++)
                UNROLL for (int p = 0; p < panels; p++)
                    _mm_prefetch((const char *)w + PANEL * p +
                                 nz->at[i + 4 * AHEAD + j] * np,
                                 _MM_HINT_T0);
        UNROLL for (int j = 0; j < 4; j++) four[j] = w + nz->at[i + j] * np;
        memcpy(&x, nz->value + i, sizeof x);
        UNROLL for (int p = 0; p < panels; p++)
            four_inputs(four, (size_t)PANEL * p, _mm512_set1_epi32(x), acc[p]);
    }
    UNROLL for (int p = 0; p < panels; p++) {
        sort_fours(acc[p]);
        UNROLL for (int c = 0; c < 4; c++) {
            int at = o + PANEL * p + VW * c;
            finish_outputs(g, row, at,
                           v_mul(_mm512_cvtepi32_ps(acc[p][c]),
                                 v_mul(xs, v_load(g->l->scale + at))));
        }
    }
}

/* Four panels at a time. Their part of the weights (512 KB of 1 MB) stays in
 * the L2 cache while all rows use it. */
static void gemm_sparse(const struct gemm *g, int p0, int p1)
{
    require_gemm_sparse(g, p0, p1);
    for (; p0 + 4 <= p1; p0 += 4)
        for (int row = 0; row < g->rows; row++)
            sparse_row(g, row, 4, p0 * PANEL);
    for (; p0 < p1; p0++)
        for (int row = 0; row < g->rows; row++)
            sparse_row(g, row, 1, p0 * PANEL);
}

/* --- float products ------------------------------------------------------- */

/* Weights i .. i + 15 as floats. */
INLINE vf widen_f32(const void *w, size_t i)
{
    return _mm512_loadu_ps((const float *)w + i);
}

INLINE vf widen_bf16(const void *w, size_t i)
{
    __m256i h = _mm256_loadu_si256((const void *)((const uint16_t *)w + i));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* The same as pass_i8 for float inputs. Each output is summed over k in order.
 * For each input, one line is prefetched at `at`, which then advances by
 * `stride`. */
INLINE void pass_float(const int rows, const int bf16, const struct gemm *g,
                       int row, const void *w, const char *at, size_t stride,
                       float (*sum)[PANEL])
{
    const float *x = g->x + (size_t)row * g->ldx;
    vf acc[ROWS][4];

    UNROLL for (int r = 0; r < rows; r++)
        UNROLL for (int c = 0; c < 4; c++) acc[r][c] = v_set1(0);
    for (int i = 0; i < g->l->k; i++, at += stride) {
        vf b[4];

        _mm_prefetch(at, _MM_HINT_T1);
        UNROLL for (int c = 0; c < 4; c++) {
            size_t j = (size_t)i * PANEL + 16 * c;
            b[c] = bf16 ? widen_bf16(w, j) : widen_f32(w, j);
            KEEP(b[c]);
        }
        UNROLL for (int r = 0; r < rows; r++) {
            vf a = v_set1(x[(size_t)r * g->ldx + i]);
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
    size_t step = PANEL * (bf16 ? 2 : 4), bytes = (size_t)g->l->k * step;
    int n = (g->rows + ROWS - 1) / ROWS;
    float sum[ROWS][PANEL] __attribute__((aligned(64)));

    require_gemm_float(g, p0, p1, bf16 ? DT_BF16 : DT_F32);
    for (int p = p0; p < p1; p++) {
        const char *w = (const char *)g->l->w + (size_t)p * bytes;
        for (int t = 0, row = 0; t < n; t++) {
            int rows = (g->rows - row + n - t - 1) / (n - t);
            /* One line per step of this panel, or a share of the next. */
            const char *at = n == 1 ? w + FAR
                                    : w + bytes + (size_t)t * g->l->k * 64;
            size_t ds = n == 1 ? step : 64;
            switch (rows) {
            case 1: pass_float(1, bf16, g, row, w, at, ds, sum); break;
            case 2: pass_float(2, bf16, g, row, w, at, ds, sum); break;
            case 3: pass_float(3, bf16, g, row, w, at, ds, sum); break;
            case 4: pass_float(4, bf16, g, row, w, at, ds, sum); break;
            case 5: pass_float(5, bf16, g, row, w, at, ds, sum); break;
            case 6: pass_float(6, bf16, g, row, w, at, ds, sum); break;
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

#define TABLE(name, product)            \
    {                                   \
        .isa = name,                    \
        .gemm_i8 = product,             \
        .gemm_f32 = gemm_f32,           \
        .gemm_bf16 = gemm_bf16,         \
        .gemm_sparse = gemm_sparse,     \
        .list_nonzero = list_nonzero,   \
        .quantize = quantize,           \
        .quantize_f16 = quantize_f16,   \
        .layer_norm = layer_norm,       \
        .attention = attention,         \
        .row_stats = row_stats,         \
        .distances_f32 = distances_f32, \
        .distances_f16 = distances_f16, \
        .distances_i8 = distances_i8,   \
        .mask_near = mask_near,         \
    }

const struct kernels kernels_avx512 = TABLE(ISA_AVX512, gemm_i8);
const struct kernels kernels_amx = TABLE(ISA_AMX, gemm_i8_amx);
