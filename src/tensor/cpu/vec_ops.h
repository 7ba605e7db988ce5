/* vec_ops.h - the float operations, written once for all vector widths.
 *
 * avx2.c and avx512.c define `vf`, a vector of VW floats, and the v_*
 * primitives below, and then include this file. The order of every sum over
 * lanes depends only on VW and on the length.
 *
 *     VW                           number of lanes, 8 or 16
 *     VCOLS                        vectors of columns kept in registers
 *     v_set1 v_load v_store        unaligned
 *     v_load_n(p, n, fill)         the first n < VW lanes; the others are
 *                                  those of fill
 *     v_load_i8(p)                 VW int8 values as floats
 *     v_load_f16(p)                VW half floats as floats
 *     v_store_n(p, v, n)           the first n < VW lanes
 *     v_store_quads(p, ld, v)      lanes 4i .. 4i+3 to p + i * ld
 *     v_add v_sub v_mul v_div v_max v_min v_round v_abs
 *     v_fma(a, b, c)               a b + c, rounded once
 *     v_fnma(a, b, c)              c - a b, rounded once
 *     v_if_less(a, b, x, y)        a < b ? x : y
 *     v_at_least(a, b)             bit i is set if a >= b in lane i
 *     v_scale2(v, n)               v 2^n for an integer n in -126 .. 127
 *     v_sum v_hmax                 sum and maximum of the lanes
 *     v_sums(v[VW])                lane i is the sum of the lanes of v[i]
 *     v_transpose(v[VW])           lane i of v[j] becomes lane j of v[i]
 *     v_store_q8(q, v, n)          128 + round(v) as n <= VW bytes
 *     v_store_q8s(q, v[4])         the same for four whole vectors; values
 *                                  must be within -127 .. 127
 *
 * v_max and v_min return their second argument if either is NaN. */

_Static_assert(VW == 8 || VW == 16, "scores_transposed() adds 2 or 4 quads");
_Static_assert(PANEL % (2 * VW) == 0, "row_stats() takes two vectors first");

/* --- functions of one variable ------------------------------------------ */

/* exp(x), as 2^n times a polynomial in the remainder r, |r| <= ln 2 / 2. The
 * four coefficients are minimax for the relative error of
 * 1 + r + r^2 (c2 + c3 r + c4 r^2 + c5 r^3), which is 1.06e-7.
 *
 * Where the result would be a denormal, it is 0. x is clamped to `low` first,
 * so that these lanes do not compute a denormal as an intermediate result
 * either. On Intel processors an operation with a denormal result takes about
 * 400 cycles, and every row with an unused lane (filled with -infinity) would
 * have one. */
INLINE vf v_exp(vf x)
{
    const vf low = v_set1(-87.3365402f), high = v_set1(88.37f);
    vf c = v_max(low, v_min(high, x));
    vf n = v_round(v_mul(c, v_set1(1.44269504f)));
    /* ln 2 in two parts, so that n times the first is exact. */
    vf r = v_fnma(n, v_set1(0.693359375f), c);
    r = v_fnma(n, v_set1(-2.12194440e-4f), r);

    vf p = v_set1(8.31250288e-3f);
    p = v_fma(p, r, v_set1(4.18903381e-2f));
    p = v_fma(p, r, v_set1(1.66671157e-1f));
    p = v_fma(p, r, v_set1(4.99992311e-1f));
    p = v_add(v_fma(p, v_mul(r, r), r), v_set1(1));
    return v_if_less(x, low, v_set1(0), v_scale2(p, n));
}

/* x Phi(x), with Phi from the complementary error function. For z >= 0, erfc(z)
 * is t exp(-z^2 + P(t)) with t = 1 / (1 + z/2) and a relative error of 1.2e-7
 * (Press et al., Numerical Recipes, "erfcc"). The error is relative, so results
 * for large negative x are accurate too. */
INLINE vf v_gelu(vf x)
{
    static const float coef[] = {
        -0.82215223f, 1.48851587f, -1.13520398f, 0.27886807f, -0.18628806f,
        0.09678418f, 0.37409196f, 1.00002368f, -1.26551223f,
    };
    vf z = v_mul(v_abs(x), v_set1(0.707106781f));
    vf t = v_div(v_set1(1), v_fma(v_set1(0.5f), z, v_set1(1)));
    vf p = v_set1(0.17087277f);

    for (size_t i = 0; i < sizeof coef / sizeof *coef; i++)
        p = v_fma(p, t, v_set1(coef[i]));
    p = v_exp(v_fnma(v_mul(v_set1(0.5f), x), x, p));
    vf tail = v_mul(v_mul(v_set1(0.5f), t), p);     /* Phi(-|x|) */
    return v_mul(x, v_if_less(x, v_set1(0), tail, v_sub(v_set1(1), tail)));
}

INLINE vf v_silu(vf x)
{
    vf e = v_exp(v_sub(v_set1(0), x));
    return v_div(x, v_add(v_set1(1), e));
}

/* --- bias and activation -------------------------------------------------- */

static __attribute__((noinline)) vf activate(enum act act, vf v)
{
    return act == ACT_GELU ? v_gelu(v) : v_silu(v);
}

/* Write VW outputs of one row, starting with output `out`, given their sums. */
INLINE void finish_outputs(const struct gemm *g, int row, int out, vf v)
{
    float *y = g->y + (size_t)row * g->ldy + out;

    if (g->l->bias) v = v_add(v, v_load(g->l->bias + out));
    if (g->act == ACT_RELU) v = v_max(v, v_set1(0));
    else if (g->act != ACT_NONE) v = activate(g->act, v);
    if (g->add) v = v_add(v, v_load(y));
    v_store(y, v);
}

/* Write one panel of an f32 or bf16 product, given its sums [rows][PANEL]. */
static void finish_panel(const struct gemm *g, int row, int rows, int panel,
                         float (*sum)[PANEL])
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < PANEL; c += VW)
            finish_outputs(g, row + r, panel * PANEL + c, v_load(sum[r] + c));
}

/* --- rows ----------------------------------------------------------------- */

/* n <= VW numbers of a row, starting with number i, and zeros. */
INLINE vf row_part(const int f16, const void *x, int i, int n)
{
    if (f16) return v_load_f16((const uint16_t *)x + i);
    if (n >= VW) return v_load((const float *)x + i);
    return v_load_n((const float *)x + i, n, v_set1(0));
}

/* The largest magnitude of a row. */
INLINE float row_max(const int f16, const void *x, int k)
{
    vf top = v_set1(0), more = top;     /* two, for independent operations */
    int i;

    for (i = 0; i + 2 * VW <= k; i += 2 * VW) {
        top = v_max(top, v_abs(row_part(f16, x, i, VW)));
        more = v_max(more, v_abs(row_part(f16, x, i + VW, VW)));
    }
    for (; i < k; i += VW)
        top = v_max(top, v_abs(row_part(f16, x, i, k - i)));
    return v_hmax(v_max(top, more));
}

INLINE void quantize_row(const int f16, const void *x, int k, uint8_t *q,
                         float *s)
{
    float max = row_max(f16, x, k);
    vf inv = v_set1(max > QUANTIZE_TINY ? 127 / max : 0);
    int i;

    *s = max > QUANTIZE_TINY ? max / 127 : 1;
    for (i = 0; i + 4 * VW <= k; i += 4 * VW) {
        vf four[4];
        UNROLL for (int c = 0; c < 4; c++)
            four[c] = v_mul(row_part(f16, x, i + c * VW, VW), inv);
        v_store_q8s(q + i, four);
    }
    for (; i + VW <= k; i += VW)
        v_store_q8(q + i, v_mul(row_part(f16, x, i, VW), inv), VW);
    if (i < k)
        v_store_q8(q + i, v_mul(row_part(f16, x, i, k - i), inv),
                   pad_to(k, 4) - i);
}

static void quantize(const float *x, size_t ldx, int rows, int k, uint8_t *q,
                     float *s)
{
    for (int r = 0; r < rows; r++, x += ldx, q += pad_to(k, 4))
        quantize_row(0, x, k, q, s + r);
}

static void quantize_f16(const uint16_t *x, size_t ldx, int rows, int k,
                         uint8_t *q, float *s)
{
    assert(ldx >= (size_t)pad_to(k, 32));
    for (int r = 0; r < rows; r++, x += ldx, q += pad_to(k, 4))
        quantize_row(1, x, k, q, s + r);
}

static void layer_norm(const float *x, size_t ldx, int rows, int d,
                       const float *gain, const float *bias, float eps,
                       float *y, size_t ldy)
{
    for (int r = 0; r < rows; r++, x += ldx, y += ldy) {
        vf a = v_set1(0), b = v_set1(0);
        int i;

        for (i = 0; i + 2 * VW <= d; i += 2 * VW) {
            a = v_add(a, v_load(x + i));
            b = v_add(b, v_load(x + i + VW));
        }
        for (; i + VW <= d; i += VW) a = v_add(a, v_load(x + i));
        if (i < d) b = v_add(b, v_load_n(x + i, d - i, v_set1(0)));
        vf mean = v_set1(v_sum(v_add(a, b)) / (float)d);

        a = b = v_set1(0);
        for (i = 0; i + 2 * VW <= d; i += 2 * VW) {
            vf u = v_sub(v_load(x + i), mean);
            vf w = v_sub(v_load(x + i + VW), mean);
            a = v_fma(u, u, a);
            b = v_fma(w, w, b);
        }
        for (; i < d; i += VW) {
            vf u = v_sub(d - i < VW ? v_load_n(x + i, d - i, mean)
                                    : v_load(x + i), mean);
            a = v_fma(u, u, a);
        }
        vf inv = v_set1(1 / sqrtf(v_sum(v_add(a, b)) / (float)d + eps));

        for (i = 0; i + VW <= d; i += VW) {
            vf u = v_mul(v_sub(v_load(x + i), mean), inv);
            v_store(y + i, v_fma(u, v_load(gain + i), v_load(bias + i)));
        }
        if (i < d) {
            vf u = v_mul(v_sub(v_load_n(x + i, d - i, mean), mean), inv);
            u = v_fma(u, v_load_n(gain + i, d - i, mean),
                      v_load_n(bias + i, d - i, mean));
            v_store_n(y + i, u, d - i);
        }
    }
}

/* Add exp(z) to *sum and z exp(z) to *zsum. exp(-100) is 0 to a float; the
 * limit is there for a masked token, whose logit is minus infinity. */
INLINE void add_exp(vf z, vf *sum, vf *zsum)
{
    vf p = v_exp(z);

    *sum = v_add(*sum, p);
    *zsum = v_fma(v_max(z, v_set1(-100)), p, *zsum);
}

static void row_stats(const float *x, int n, float *block_max,
                      struct row_stats *out)
{
    const vf lowest = v_set1(-INFINITY);
    vf top = lowest;
    int i;

    for (i = 0; i + PANEL <= n; i += PANEL) {
        vf a = v_max(v_load(x + i), v_load(x + i + VW));
        for (int c = 2 * VW; c < PANEL; c += VW)
            a = v_max(a, v_load(x + i + c));
        block_max[i / PANEL] = v_hmax(a);
        top = v_max(top, a);
    }
    if (i < n) {
        vf a = lowest;
        int at = i;
        for (; at + VW <= n; at += VW) a = v_max(a, v_load(x + at));
        if (at < n) a = v_max(a, v_load_n(x + at, n - at, lowest));
        block_max[i / PANEL] = v_hmax(a);
        top = v_max(top, a);
    }
    out->max = v_hmax(top);

    const vf max = v_set1(out->max);
    vf sum[4] = { v_set1(0), v_set1(0), v_set1(0), v_set1(0) };
    vf zsum[4] = { v_set1(0), v_set1(0), v_set1(0), v_set1(0) };
    for (i = 0; i + 4 * VW <= n; i += 4 * VW) {
        UNROLL for (int c = 0; c < 4; c++)
            add_exp(v_sub(v_load(x + i + c * VW), max), &sum[c], &zsum[c]);
    }
    for (; i + VW <= n; i += VW)
        add_exp(v_sub(v_load(x + i), max), &sum[0], &zsum[0]);
    if (i < n)
        add_exp(v_sub(v_load_n(x + i, n - i, lowest), max), &sum[1], &zsum[1]);
    out->sum = v_sum(v_add(v_add(sum[0], sum[1]), v_add(sum[2], sum[3])));
    out->zsum = v_sum(v_add(v_add(zsum[0], zsum[1]), v_add(zsum[2], zsum[3])));
}

/* --- attention ------------------------------------------------------------ */

/* VW dot products are computed together. Each of them has one vector of partial
 * sums: lane l sums the products of the elements l, l + VW, l + 2 VW and so on.
 * At the end, v_sums() adds up the lanes of each vector, always in the same
 * order. The dot products are either those of one query with VW keys or those
 * of TILE_Q queries with 4 keys. Both give bit-identical results. */
#define TILE_Q (VW / 4)
_Static_assert(ATTENTION_QUERIES % TILE_Q == 0, "attend() works by tiles");

INLINE vf dots_one(const float *q, const float *const *key, int d)
{
    vf acc[VW];
    int i;

    UNROLL for (int j = 0; j < VW; j++) acc[j] = v_set1(0);
    for (i = 0; i + VW <= d; i += VW) {
        vf u = v_load(q + i);
        UNROLL for (int j = 0; j < VW; j++)
            acc[j] = v_fma(u, v_load(key[j] + i), acc[j]);
    }
    if (i < d) {
        vf zero = v_set1(0), u = v_load_n(q + i, d - i, zero);
        UNROLL for (int j = 0; j < VW; j++)
            acc[j] = v_fma(u, v_load_n(key[j] + i, d - i, zero), acc[j]);
    }
    return v_sums(acc);
}

INLINE vf dots_tile(const float *q, size_t ldq, const float *const *key, int d)
{
    vf acc[VW];
    int i;

    UNROLL for (int j = 0; j < VW; j++) acc[j] = v_set1(0);
    for (i = 0; i < d; i += VW) {
        const int part = d - i < VW, n = d - i;
        vf zero = v_set1(0), k[4];

        UNROLL for (int j = 0; j < 4; j++)
            k[j] = part ? v_load_n(key[j] + i, n, zero) : v_load(key[j] + i);
        UNROLL for (int t = 0; t < TILE_Q; t++) {
            const float *p = q + (size_t)t * ldq + i;
            vf u = part ? v_load_n(p, n, zero) : v_load(p);
            UNROLL for (int j = 0; j < 4; j++)
                acc[4 * t + j] = v_fma(u, k[j], acc[4 * t + j]);
        }
    }
    return v_sums(acc);
}

/* Pointers to n keys, starting with key j. Past the last key, the pointers
 * repeat it. */
INLINE void find_keys(const struct attention *a, const float *k, int j, int n,
                      int n_k, const float **key)
{
    for (int t = 0; t < n; t++) {
        int at = j + t < n_k ? j + t : n_k - 1;
        key[t] = k + (size_t)(a->slot ? a->slot[at] : at) * a->ldk;
    }
}

/* s[i][j] = scale * q[i] . k[j]. Rows of s have room for n_k rounded up to a
 * multiple of VW. */
INLINE void scores(const struct attention *a, int d, const float *q,
                   const float *k, int n_q, int n_k, float *s, size_t lds)
{
    const vf scale = v_set1(a->scale);
    const float *key[VW];
    int i = 0;

    for (; i + TILE_Q <= n_q; i += TILE_Q) {
        for (int j = 0; j < n_k; j += 4) {
            find_keys(a, k, j, 4, n_k, key);
            vf v = v_mul(dots_tile(q + (size_t)i * a->ldq, a->ldq, key, d),
                         scale);
            v_store_quads(s + (size_t)i * lds + j, lds, v);
        }
    }
    for (; i < n_q; i++) {
        for (int j = 0; j < n_k; j += VW) {
            find_keys(a, k, j, VW, n_k, key);
            vf v = dots_one(q + (size_t)i * a->ldq, key, d);
            v_store(s + (size_t)i * lds + j, v_mul(v, scale));
        }
    }
}

/* With many queries over the same keys and a head size of 64, the keys are
 * transposed once, to [64][keys]. Then VW keys are the lanes of one vector, and
 * sums across lanes become additions of vectors. These are made in the order of
 * v_sums(), so that the softmax weights are bit-identical (a score may be -0
 * instead of 0). Transposing pays off from about 12 queries on (Zen 4). The
 * keys of one head, up to 256, are kept on the stack. */
#define TRANSPOSE_QUERIES 12
#define TRANSPOSE_KEYS 256
struct transposed {
    float k[64][TRANSPOSE_KEYS + CACHE_SKEW] __attribute__((aligned(64)));
};

INLINE void transpose_keys(const struct attention *a, const float *k,
                           struct transposed *to)
{
    for (int j = 0; j < a->n_k; j += VW) {
        const float *key[VW];

        find_keys(a, k, j, VW, a->n_k, key);
        for (int i = 0; i < 64; i += VW) {
            vf r[VW];

            UNROLL for (int t = 0; t < VW; t++) r[t] = v_load(key[t] + i);
            v_transpose(r);
            UNROLL for (int t = 0; t < VW; t++) v_store(to->k[i + t] + j, r[t]);
        }
    }
}

/* For query t of TILE_Q and VW keys, s[t] gets the partial sums that dots_one()
 * has in one lane: the sums over the elements lane, lane + VW and so on. */
INLINE void lane_sum(const float *q, size_t ldq, const struct transposed *k,
                     int j, const int lane, vf *s)
{
    UNROLL for (int i = lane; i < 64; i += VW) {
        vf x = v_load(k->k[i] + j);
        UNROLL for (int t = 0; t < TILE_Q; t++) {
            vf u = v_set1(q[(size_t)t * ldq + i]);
            s[t] = i == lane ? v_mul(u, x) : v_fma(u, x, s[t]);
        }
    }
}

/* The sum of lanes 4 * quad .. 4 * quad + 3, added as (0 + 2) + (1 + 3). */
INLINE void quad_sum(const float *q, size_t ldq, const struct transposed *k,
                     int j, const int quad, vf *s)
{
    vf more[TILE_Q], odd[TILE_Q];

    lane_sum(q, ldq, k, j, 4 * quad, s);
    lane_sum(q, ldq, k, j, 4 * quad + 2, more);
    UNROLL for (int t = 0; t < TILE_Q; t++) s[t] = v_add(s[t], more[t]);
    lane_sum(q, ldq, k, j, 4 * quad + 1, odd);
    lane_sum(q, ldq, k, j, 4 * quad + 3, more);
    UNROLL for (int t = 0; t < TILE_Q; t++)
        s[t] = v_add(s[t], v_add(odd[t], more[t]));
}

/* The sum of two quads, `quad` and the next. */
INLINE void half_sum(const float *q, size_t ldq, const struct transposed *k,
                     int j, const int quad, vf *s)
{
    vf more[TILE_Q];

    quad_sum(q, ldq, k, j, quad, s);
    quad_sum(q, ldq, k, j, quad + 1, more);
    UNROLL for (int t = 0; t < TILE_Q; t++) s[t] = v_add(s[t], more[t]);
}

/* The same as scores(), for TILE_Q queries. */
INLINE void scores_transposed(const struct attention *a, const float *q,
                              const struct transposed *k, int n_k, float *s,
                              size_t lds)
{
    for (int j = 0; j < n_k; j += VW) {
        vf sum[TILE_Q], high[TILE_Q];

        half_sum(q, a->ldq, k, j, 0, sum);
        if (VW == 16) half_sum(q, a->ldq, k, j, 2, high);
        UNROLL for (int t = 0; t < TILE_Q; t++) {
            vf v = VW == 16 ? v_add(sum[t], high[t]) : sum[t];
            v_store(s + (size_t)t * lds + j, v_mul(v, v_set1(a->scale)));
        }
    }
}

/* Replace n_q rows of scores by exp(s - max). Row i has n_keys[i] <= n scores;
 * it is set to 0 from there to n. inv[i] is 1 / (sum of row i). The rows are
 * computed together, because one row alone would spend its time waiting for its
 * maximum and its sum. */
INLINE void softmax_rows(float *s, size_t lds, const int n_q,
                         const int *n_keys, int n, float *inv)
{
    const vf lowest = v_set1(-INFINITY);
    vf top[ATTENTION_QUERIES], sum[ATTENTION_QUERIES];

    UNROLL for (int t = 0; t < n_q; t++) {
        top[t] = lowest;
        sum[t] = v_set1(0);
    }
    for (int i = 0; i < n; i += VW) {
        UNROLL for (int t = 0; t < n_q; t++) {
            float *at = s + (size_t)t * lds + i;
            int have = n_keys[t] - i;

            if (have < VW)
                v_store(at, v_load_n(at, have > 0 ? have : 0, lowest));
            top[t] = v_max(top[t], v_load(at));
        }
    }
    UNROLL for (int t = 0; t < n_q; t++) top[t] = v_set1(v_hmax(top[t]));
    for (int i = 0; i < n; i += VW) {
        UNROLL for (int t = 0; t < n_q; t++) {
            float *at = s + (size_t)t * lds + i;
            vf e = v_exp(v_sub(v_load(at), top[t]));

            v_store(at, e);
            sum[t] = v_add(sum[t], e);
        }
    }
    UNROLL for (int t = 0; t < n_q; t++) inv[t] = 1 / v_sum(sum[t]);
}

/* The weighted sum of values, for cols * VW columns starting at v and out. With
 * n < VW, cols is 1 and only the first n columns are computed. */
INLINE void weighted_sum(const struct attention *a, const int n_q,
                         const int cols, int n, int n_k, const float *v,
                         const float *p, size_t ldp, const float *inv,
                         float *out)
{
    vf acc[ATTENTION_QUERIES][VCOLS];

    UNROLL for (int i = 0; i < n_q; i++)
        UNROLL for (int c = 0; c < cols; c++) acc[i][c] = v_set1(0);
    for (int j = 0; j < n_k; j++) {
        const float *row = v + (size_t)(a->slot ? a->slot[j] : j) * a->ldv;
        vf x[VCOLS];

        UNROLL for (int c = 0; c < cols; c++)
            x[c] = n < VW ? v_load_n(row, n, v_set1(0)) : v_load(row + c * VW);
        UNROLL for (int i = 0; i < n_q; i++) {
            vf w = v_set1(p[(size_t)i * ldp + j]);
            UNROLL for (int c = 0; c < cols; c++)
                acc[i][c] = v_fma(w, x[c], acc[i][c]);
        }
    }
    UNROLL for (int i = 0; i < n_q; i++) {
        UNROLL for (int c = 0; c < cols; c++) {
            vf o = v_mul(acc[i][c], v_set1(inv[i]));
            float *to = out + (size_t)i * a->ldo + c * VW;
            if (n < VW) v_store_n(to, o, n);
            else v_store(to, o);
        }
    }
}

/* Compute the result of n_q queries from their scores p. Query i sees the first
 * n_keys[i] of the n_k keys. */
INLINE void mix_values(const struct attention *a, const int n_q, int d,
                       int n_k, const int *n_keys, const float *v, float *p,
                       size_t ldp, float *inv, float *out)
{
    int c = 0;

    softmax_rows(p, ldp, n_q, n_keys, n_k, inv);
    for (; c + VCOLS * VW <= d; c += VCOLS * VW)
        weighted_sum(a, n_q, VCOLS, VW, n_k, v + c, p, ldp, inv, out + c);
    for (; c + VW <= d; c += VW)
        weighted_sum(a, n_q, 1, VW, n_k, v + c, p, ldp, inv, out + c);
    if (c < d) weighted_sum(a, n_q, 1, d - c, n_k, v + c, p, ldp, inv, out + c);
}

/* One head of n_q <= ATTENTION_QUERIES queries, starting with query i0. All are
 * scored with the keys that the last of them sees. A key that a query does not
 * see gets weight 0. */
INLINE void attend(const struct attention *a, int d, int h, int i0, int n_q,
                   const struct transposed *transposed)
{
    size_t at = (size_t)h * d, lds = ((size_t)a->n_k + 15) / 16 * 16 + 16;
    float *out = a->out + (size_t)i0 * a->ldo + at, *s = a->scratch;
    const float *v = a->v + at;
    float inv[ATTENTION_QUERIES];
    int n_keys[ATTENTION_QUERIES];
    int n_k = attention_keys(a, i0 + n_q - 1);

    const float *q = a->q + (size_t)i0 * a->ldq + at;

    if (transposed && n_q == ATTENTION_QUERIES)
        for (int i = 0; i < n_q; i += TILE_Q)
            scores_transposed(a, q + (size_t)i * a->ldq, transposed, n_k,
                              s + (size_t)i * lds, lds);
    else scores(a, d, q, a->k + at, n_q, n_k, s, lds);
    for (int i = 0; i < n_q; i++) n_keys[i] = attention_keys(a, i0 + i);
    switch (n_q) {
    case 1: mix_values(a, 1, d, n_k, n_keys, v, s, lds, inv, out); break;
    case 2: mix_values(a, 2, d, n_k, n_keys, v, s, lds, inv, out); break;
    case 3: mix_values(a, 3, d, n_k, n_keys, v, s, lds, inv, out); break;
    case 4: mix_values(a, 4, d, n_k, n_keys, v, s, lds, inv, out); break;
    }
    if (!a->weights) return;
    for (int i = 0; i < n_q; i++) {
        float *w = a->weights + ((size_t)(i0 + i) * a->heads + h) * a->n_k;
        for (int j = 0; j < a->n_k; j++)
            w[j] = s[(size_t)i * lds + j] * inv[i];
    }
}

/* Prefetch a row of keys or values, one cache line (16 floats) at a time. */
INLINE void fetch_row(const float *p, size_t floats)
{
    for (size_t i = 0; i < floats; i += 16) __builtin_prefetch(p + i, 0, 2);
}

/* Prefetch head h's share of the rows for the next call. */
INLINE void fetch_share(const struct attention *a, int d, int h)
{
    const struct attention_next *x = &a->next;
    size_t floats = (size_t)a->heads * d;
    int n = x->to - x->from;

    if (!x->k) return;
    for (int j = x->from + n * h / a->heads;
         j < x->from + n * (h + 1) / a->heads; j++) {
        size_t row = (size_t)(x->slot ? x->slot[j] : j);
        fetch_row(x->k + row * x->ld, floats);
        fetch_row(x->v + row * x->ld, floats);
    }
}

INLINE void attend_all(const struct attention *a, int d,
                       struct transposed *transposed)
{
    for (int h = 0; h < a->heads; h++) {
        fetch_share(a, d, h);
        if (transposed) transpose_keys(a, a->k + (size_t)h * d, transposed);
        for (int i = 0; i < a->n_q; i += ATTENTION_QUERIES) {
            int n = a->n_q - i;
            attend(a, d, h, i, n < ATTENTION_QUERIES ? n : ATTENTION_QUERIES,
                   transposed);
        }
    }
}

/* Not inlined, so that only this case uses 64 KB of stack. */
static __attribute__((noinline))
void attend_transposed(const struct attention *a)
{
    struct transposed transposed;

    assert(a->head_dim == 64 && a->n_k <= TRANSPOSE_KEYS);
    attend_all(a, 64, &transposed);
}

static void attention(const struct attention *a)
{
    require_attention(a);
    if (a->head_dim == 64 && a->n_q >= TRANSPOSE_QUERIES &&
        a->n_k <= TRANSPOSE_KEYS)
        attend_transposed(a);
    else if (a->head_dim == 64) attend_all(a, 64, NULL);
    else attend_all(a, a->head_dim, NULL);
}

/* --- distances ----------------------------------------------------------- */

/* As in attention, the distances of VW pairs of a query and a key are computed
 * together. They form a tile: m queries (1, 2 or 4) with nk = VW / m keys. Each
 * pair has its own vector of partial sums. So the result does not depend on the
 * shape of the tile, and the processor can work on one pair while it waits for
 * the result of another. */
#define DIST_Q 4

/* The prefetch distance, in keys; it is never less than the keys of one tile.
 * Blocks of keys are scattered in memory, so the hardware prefetcher must start
 * again at each block. Therefore we prefetch the first keys of a block before
 * its first tile, and during each tile the keys at this distance after it. With
 * 4 queries and 650 int8 keys in blocks of 30 out of 16 MB (AVX-512, Zen 4) the
 * distances take 45 us instead of 69 us. */
#define DIST_AHEAD 4

INLINE void fetch_keys(const char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, 3);
}

/* The elements of keys. */
enum dist_keys { DIST_F32, DIST_F16, DIST_I8 };

INLINE size_t dist_bytes(const enum dist_keys type)
{
    return type == DIST_F32 ? 4 : type == DIST_F16 ? 2 : 1;
}

/* Elements i .. i + VW - 1 of a key, as floats. */
INLINE vf key_part(const enum dist_keys type, const char *key, size_t i,
                   vf scale)
{
    if (type == DIST_F32) return v_load((const float *)key + i);
    if (type == DIST_F16) return v_load_f16((const uint16_t *)key + i);
    return v_mul(scale, v_load_i8((const int8_t *)key + i));
}

/* Add n <= VW columns, starting with column i, to acc [m][nk]. Beyond column d,
 * keys are 0 and queries are arbitrary. */
INLINE void dist_step(const enum dist_keys type, const int m,
                      const float *const *q, const char *const *key,
                      const vf *scale, size_t i, int n, vf *acc)
{
    const int nk = VW / m;
    vf u[DIST_Q];

    UNROLL for (int t = 0; t < m; t++) {
        u[t] = n < VW ? v_load_n(q[t] + i, n, v_set1(0)) : v_load(q[t] + i);
        KEEP(u[t]);
    }
    UNROLL for (int j = 0; j < nk; j++) {
        vf k = key_part(type, key[j], i, scale[j]);
        KEEP(k);
        UNROLL for (int t = 0; t < m; t++) {
            vf x = v_sub(u[t], k);
            acc[t * nk + j] = v_fma(x, x, acc[t * nk + j]);
        }
    }
}

/* The sums of a whole tile. Lane t * nk + j is that of query t with key j.
 * `ahead` points to the keys to prefetch meanwhile, or is NULL. */
INLINE vf dist_sums(const enum dist_keys type, const int m,
                    const float *const *q, const char *const *key,
                    const vf *scale, int d, const char *ahead)
{
    const size_t step = (VW / m) * VW * dist_bytes(type);
    vf acc[VW];
    int i;

    UNROLL for (int p = 0; p < VW; p++) acc[p] = v_set1(0);
    for (i = 0; i + VW <= d; i += VW) {
        if (ahead) fetch_keys(ahead + (size_t)(i / VW) * step, step);
        dist_step(type, m, q, key, scale, (size_t)i, VW, acc);
    }
    if (i < d) dist_step(type, m, q, key, scale, (size_t)i, d - i, acc);
    return v_sums(acc);
}

/* One tile, starting with query q0 and key k0. Where fewer than m queries or nk
 * keys are left, the last one is repeated and its results are not stored. */
INLINE void dist_tile(const struct distances *a, const enum dist_keys type,
                      const int m, int q0, int k0, int ahead)
{
    const int nk = VW / m;
    size_t key_bytes = a->ldk * dist_bytes(type);
    int n_q = a->n_q - q0, n_k = a->n - k0;
    const char *at = (const char *)a->keys + (size_t)k0 * key_bytes, *key[VW];
    const float *q[DIST_Q];
    float sum[VW];
    vf scale[VW];

    UNROLL for (int t = 0; t < m; t++)
        q[t] = a->q + (size_t)(q0 + (t < n_q ? t : n_q - 1)) * a->ldq;
    UNROLL for (int j = 0; j < nk; j++) {
        int row = j < n_k ? j : n_k - 1;
        key[j] = at + (size_t)row * key_bytes;
        scale[j] = v_set1(type == DIST_I8 ? a->scale[k0 + row] : 1);
    }
    at = ahead < n_k ? at + (size_t)ahead * key_bytes : NULL;
    v_store(sum, dist_sums(type, m, q, key, scale, a->d, at));
    for (int t = 0; t < m && t < n_q; t++)
        for (int j = 0; j < nk && j < n_k; j++)
            a->out[(size_t)(q0 + t) * a->ldo + k0 + j] = sum[t * nk + j];
}

/* Up to m queries, starting with q0, with all keys. */
INLINE void dist_rows(const struct distances *a, const enum dist_keys type,
                      const int m, int q0)
{
    const int nk = VW / m, ahead = nk < DIST_AHEAD ? DIST_AHEAD : nk;
    size_t key_bytes = a->ldk * dist_bytes(type);

    fetch_keys(a->keys, (size_t)(ahead < a->n ? ahead : a->n) * key_bytes);
    for (int k0 = 0; k0 < a->n; k0 += nk) dist_tile(a, type, m, q0, k0, ahead);
}

INLINE void distances(const struct distances *a, const enum dist_keys type)
{
    for (int q0 = 0; q0 < a->n_q; q0 += DIST_Q) {
        switch (a->n_q - q0) {
        case 1: dist_rows(a, type, 1, q0); break;
        case 2: dist_rows(a, type, 2, q0); break;
        default: dist_rows(a, type, DIST_Q, q0); break;
        }
    }
}

static void distances_f32(const struct distances *a)
{
    require_distances(a, sizeof(float));
    distances(a, DIST_F32);
}

static void distances_f16(const struct distances *a)
{
    require_distances(a, sizeof(uint16_t));
    distances(a, DIST_F16);
}

static void distances_i8(const struct distances *a)
{
    require_distances(a, 1);
    distances(a, DIST_I8);
}

static void mask_near(const struct near *a)
{
    vf base[PANEL / VW], factor = v_set1(a->factor);

    require_near(a);
    UNROLL for (int c = 0; c < PANEL / VW; c++)
        base[c] = v_load(a->base + c * VW);
    for (int r = 0; r < a->rows; r++) {
        const float *y = a->y + (size_t)r * a->ldy;
        vf limit = v_set1(a->limit[r]);
        uint64_t far = 0;

        UNROLL for (int c = 0; c < PANEL / VW; c++) {
            vf t = v_add(base[c], v_mul(factor, v_load(y + c * VW)));
            far |= (uint64_t)v_at_least(t, limit) << (c * VW);
        }
        a->mask[r] = ~far;
    }
}
