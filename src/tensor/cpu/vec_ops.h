/* vec_ops.h - the float operations, written once for any vector width.
 *
 * A table's file defines `vf`, a vector of VW floats, and the v_* primitives
 * below, then includes this. What is summed over lanes is summed in an order
 * fixed by VW and the length alone.
 *
 *     VW VCOLS                     lanes; vectors of columns held at a time
 *     v_set1 v_load v_store        unaligned
 *     v_load_n(p, n, fill)         n < VW lanes, the rest from fill
 *     v_load_i8(p)                 VW int8 as floats
 *     v_store_n(p, v, n)
 *     v_store_quads(p, ld, v)      lanes 4i .. 4i+3 to p + i * ld
 *     v_add v_sub v_mul v_div v_max v_min v_round v_abs
 *     v_fma(a, b, c)  v_fnma(a, b, c)      a b + c, c - a b, one rounding
 *     v_if_less(a, b, x, y)        a < b ? x : y
 *     v_scale2(v, n)               v 2^n, n whole in -126 .. 127
 *     v_sum v_hmax                 of the lanes
 *     v_sums(v[VW])                lane i: sum of v[i]
 *     v_transpose(v[VW])                lane i of v[j] to lane j of v[i]
 *     v_store_q8(q, v, n)          128 + round(v) as n <= VW bytes
 *     v_store_q8s(q, v[4])         the same of four vectors within -127 .. 127
 *
 * max and min give their second argument when either is a NaN. */

/* --- functions of one variable ------------------------------------------ */

/* exp(x): 2^n times a polynomial in the rest r, |r| <= ln 2 / 2. The four
 * coefficients are the minimax ones for the relative error of
 * 1 + r + r^2 (c2 + c3 r + c4 r^2 + c5 r^3), 1.06e-7. Where the result would
 * be below the smallest normal number it is 0, and what is computed there all
 * the same is not: to make such a number costs Intel's processors some 400
 * cycles, once for every row with a lane that is not used. */
INLINE vf v_exp(vf x)
{
    const vf low = v_set1(-87.3365402f), high = v_set1(88.37f);
    vf c = v_max(low, v_min(high, x));
    vf n = v_round(v_mul(c, v_set1(1.44269504f)));
    vf r = v_fnma(n, v_set1(0.693359375f), c);      /* ln 2 in two parts: */
    r = v_fnma(n, v_set1(-2.12194440e-4f), r);      /* n times this is exact */

    vf p = v_set1(8.31250288e-3f);
    p = v_fma(p, r, v_set1(4.18903381e-2f));
    p = v_fma(p, r, v_set1(1.66671157e-1f));
    p = v_fma(p, r, v_set1(4.99992311e-1f));
    p = v_add(v_fma(p, v_mul(r, r), r), v_set1(1));
    return v_if_less(x, low, v_set1(0), v_scale2(p, n));
}

/* x Phi(x) with Phi by the complementary error function: erfc(z) is
 * t exp(-z^2 + P(t)), t = 1 / (1 + z/2), to 1.2e-7 of its value for z >= 0
 * (Press et al., Numerical Recipes, "erfcc"), so that the far negative side
 * keeps its digits. */
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

/* --- after a product ------------------------------------------------------ */

static __attribute__((noinline)) vf activate(enum act act, vf v)
{
    return act == ACT_GELU ? v_gelu(v) : v_silu(v);
}

/* VW finished sums of one row, the first for output `out`. */
INLINE void finish(const struct gemm *g, int row, int out, vf v)
{
    float *y = g->y + (size_t)row * g->ldy + out;

    if (g->l->bias) v = v_add(v, v_load(g->l->bias + out));
    if (g->act == ACT_RELU) v = v_max(v, v_set1(0));
    else if (g->act != ACT_NONE) v = activate(g->act, v);
    if (g->add) v = v_add(v, v_load(y));
    v_store(y, v);
}

/* Panels of f32 and bf16 end the same way: sum [rows][PANEL]. */
static void finish_panel(const struct gemm *g, int row, int rows, int panel,
                         float (*sum)[PANEL])
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < PANEL; c += VW)
            finish(g, row + r, panel * PANEL + c, v_load(sum[r] + c));
}

/* --- rows ------------------------------------------------------------------ */

static void quantize(const float *x, size_t ldx, int rows, int k, uint8_t *q,
                     float *s)
{
    int kp = pad_to(k, 4);

    for (int r = 0; r < rows; r++, x += ldx, q += kp) {
        vf top = v_set1(0), more = top;         /* two: less to wait for */
        int i;

        for (i = 0; i + 2 * VW <= k; i += 2 * VW) {
            top = v_max(top, v_abs(v_load(x + i)));
            more = v_max(more, v_abs(v_load(x + i + VW)));
        }
        for (; i + VW <= k; i += VW)
            top = v_max(top, v_abs(v_load(x + i)));
        if (i < k) more = v_max(more, v_abs(v_load_n(x + i, k - i, v_set1(0))));

        float max = v_hmax(v_max(top, more));
        float inv = max > QUANTIZE_TINY ? 127 / max : 0;
        s[r] = max > QUANTIZE_TINY ? max / 127 : 1;
        for (i = 0; i + 4 * VW <= k; i += 4 * VW) {
            vf four[4];
            UNROLL for (int c = 0; c < 4; c++)
                four[c] = v_mul(v_load(x + i + c * VW), v_set1(inv));
            v_store_q8s(q + i, four);
        }
        for (; i + VW <= k; i += VW)
            v_store_q8(q + i, v_mul(v_load(x + i), v_set1(inv)), VW);
        if (i < k) {
            vf rest = v_load_n(x + i, k - i, v_set1(0));
            v_store_q8(q + i, v_mul(rest, v_set1(inv)), kp - i);
        }
    }
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
    for (i = 0; i + 4 * VW <= n; i += 4 * VW) {
        UNROLL for (int c = 0; c < 4; c++)
            sum[c] = v_add(sum[c], v_exp(v_sub(v_load(x + i + c * VW), max)));
    }
    for (; i + VW <= n; i += VW)
        sum[0] = v_add(sum[0], v_exp(v_sub(v_load(x + i), max)));
    if (i < n)
        sum[1] = v_add(sum[1], v_exp(v_sub(v_load_n(x + i, n - i, lowest),
                                           max)));
    out->sum = v_sum(v_add(v_add(sum[0], sum[1]), v_add(sum[2], sum[3])));
}

/* --- attention ------------------------------------------------------------- */

/* A dot product is kept as VW partial sums until VW of them are there; then
 * v_sums() adds up the lanes of all at once, each in the same order. The VW
 * are either one query with VW keys or TILE_Q queries with 4 keys: the bytes
 * of a dot are the same both ways. */
#define TILE_Q (VW / 4)

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

/* Rows of n keys from j on; beyond the last one, the last one again. */
INLINE void find_keys(const struct attention *a, const float *k, int j, int n,
                      int n_k, const float **key)
{
    for (int t = 0; t < n; t++) {
        int at = j + t < n_k ? j + t : n_k - 1;
        key[t] = k + (size_t)(a->slot ? a->slot[at] : at) * a->ldk;
    }
}

/* s[i][j] = scale * q[i] . k[j]; rows of s hold n_k rounded up, and more. */
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

/* With many queries over the same keys of 64 numbers, the keys are turned
 * around once, [64][keys]: VW keys are then the lanes of a vector, and what
 * were sums across lanes are additions of vectors. They are made in the order
 * of v_sums(), so that the weights have the same bytes (a score may be -0 for
 * 0). Turning pays off from some 12 queries on (Zen 4); the keys of one
 * head, up to 256, are held on the stack. */
#define TURN_QUERIES 12
#define TURN_KEYS 256
struct transposed {
    float k[64][TURN_KEYS + CACHE_SKEW] __attribute__((aligned(64)));
};

INLINE void turn_keys(const struct attention *a, const float *k,
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

/* The partial sum in one lane, of TILE_Q queries with VW keys. */
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

/* Lanes 4 * quad .. 4 * quad + 3: (0 + 2) + (1 + 3). */
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

/* Quads from `quad` on: 0 + 1. */
INLINE void half_sum(const float *q, size_t ldq, const struct transposed *k,
                     int j, const int quad, vf *s)
{
    vf more[TILE_Q];

    quad_sum(q, ldq, k, j, quad, s);
    quad_sum(q, ldq, k, j, quad + 1, more);
    UNROLL for (int t = 0; t < TILE_Q; t++) s[t] = v_add(s[t], more[t]);
}

/* As scores(), of TILE_Q queries. */
INLINE void scores_turned(const struct attention *a, const float *q,
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

/* n_q rows of s, row i of own[i] <= n numbers, to exp(s - max) in place and 0
 * from own[i] to n; inv[i] is 1 / their sum. Rows are worked at together, since
 * each by itself would wait for its own maximum and sum. */
INLINE void soften(float *s, size_t lds, const int n_q, const int *own, int n,
                   float *inv)
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
            int have = own[t] - i;

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

/* Columns [c, c + cols * VW) of the weighted sum of values; one vector with
 * n < VW lanes when cols is 1 and n is given. */
INLINE void weigh(const struct attention *a, const int n_q, const int cols,
                  int n, int n_k, const float *v, const float *p, size_t ldp,
                  const float *inv, float *out)
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

/* From scores to the result: own[i] keys of the first n_k are query i's. */
INLINE void values(const struct attention *a, const int n_q, int d, int n_k,
                   const int *own, const float *v, float *p, size_t ldp,
                   float *inv, float *out)
{
    int c = 0;

    soften(p, ldp, n_q, own, n_k, inv);
    for (; c + VCOLS * VW <= d; c += VCOLS * VW)
        weigh(a, n_q, VCOLS, VW, n_k, v + c, p, ldp, inv, out + c);
    for (; c + VW <= d; c += VW)
        weigh(a, n_q, 1, VW, n_k, v + c, p, ldp, inv, out + c);
    if (c < d) weigh(a, n_q, 1, d - c, n_k, v + c, p, ldp, inv, out + c);
}

/* One head of up to ATTENTION_QUERIES queries from i0 on. All are scored with
 * the keys of the last; a key that a query does not have weighs nothing. */
INLINE void attend(const struct attention *a, int d, int h, int i0, int n_q,
                   const struct transposed *turned)
{
    size_t at = (size_t)h * d, lds = ((size_t)a->n_k + 15) / 16 * 16 + 16;
    float *out = a->out + (size_t)i0 * a->ldo + at, *s = a->scratch;
    const float *v = a->v + at;
    float inv[ATTENTION_QUERIES];
    int own[ATTENTION_QUERIES];
    int n_k = attention_keys(a, i0 + n_q - 1);

    const float *q = a->q + (size_t)i0 * a->ldq + at;

    if (turned && n_q == ATTENTION_QUERIES)
        for (int i = 0; i < n_q; i += TILE_Q)
            scores_turned(a, q + (size_t)i * a->ldq, turned, n_k,
                          s + (size_t)i * lds, lds);
    else scores(a, d, q, a->k + at, n_q, n_k, s, lds);
    for (int i = 0; i < n_q; i++) own[i] = attention_keys(a, i0 + i);
    switch (n_q) {
    case 1: values(a, 1, d, n_k, own, v, s, lds, inv, out); break;
    case 2: values(a, 2, d, n_k, own, v, s, lds, inv, out); break;
    case 3: values(a, 3, d, n_k, own, v, s, lds, inv, out); break;
    case 4: values(a, 4, d, n_k, own, v, s, lds, inv, out); break;
    }
    if (!a->weights) return;
    for (int i = 0; i < n_q; i++) {
        float *w = a->weights + ((size_t)(i0 + i) * a->heads + h) * a->n_k;
        for (int j = 0; j < a->n_k; j++)
            w[j] = s[(size_t)i * lds + j] * inv[i];
    }
}

INLINE void fetch_row(const float *p, size_t floats)
{
    for (size_t i = 0; i < floats; i += 16) __builtin_prefetch(p + i, 0, 2);
}

/* Head h's share of the rows that are needed next. */
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
                       struct transposed *turned)
{
    for (int h = 0; h < a->heads; h++) {
        fetch_share(a, d, h);
        if (turned) turn_keys(a, a->k + (size_t)h * d, turned);
        for (int i = 0; i < a->n_q; i += ATTENTION_QUERIES) {
            int n = a->n_q - i;
            attend(a, d, h, i, n < ATTENTION_QUERIES ? n : ATTENTION_QUERIES,
                   turned);
        }
    }
}

/* Not inlined: others need not have 64 KB of stack. */
static __attribute__((noinline)) void attend_turned(const struct attention *a)
{
    struct transposed turned;

    attend_all(a, 64, &turned);
}

static void attention(const struct attention *a)
{
    if (a->head_dim == 64 && a->n_q >= TURN_QUERIES && a->n_k <= TURN_KEYS)
        attend_turned(a);
    else if (a->head_dim == 64) attend_all(a, 64, NULL);
    else attend_all(a, a->head_dim, NULL);
}

/* --- distances ----------------------------------------------------------- */

/* As with attention, VW pairs at a time: 1, 2 or 4 queries (m) with as many
 * keys (nk) as that leaves. A pair has one vector of partial sums, whatever
 * the shape; the other pairs hide how long an addition takes. */
#define DIST_Q 4

/* Blocks of keys lie anywhere, so the hardware's prefetch would begin anew
 * with each: this many keys, and no fewer than a tile has, are fetched before
 * the first tile, and the keys that far ahead with every one. 4 x 650 keys of
 * int8 in blocks of 30 from 16 MB, AVX-512 on Zen 4: 45 us, not 69. */
#define DIST_AHEAD 4

INLINE void fetch_keys(const char *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + i, 0, 3);
}

/* VW numbers of a key, from i on. */
INLINE vf key_part(const int i8, const char *key, size_t i, vf scale)
{
    if (!i8) return v_load((const float *)key + i);
    return v_mul(scale, v_load_i8((const int8_t *)key + i));
}

/* Adds n columns from i on to acc [m][nk]. A key is zero beyond d; the query
 * may be anything there. */
INLINE void dist_step(const int i8, const int m, const float *const *q,
                      const char *const *key, const vf *scale, size_t i,
                      int n, vf *acc)
{
    const int nk = VW / m;
    vf u[DIST_Q];

    UNROLL for (int t = 0; t < m; t++) {
        u[t] = n < VW ? v_load_n(q[t] + i, n, v_set1(0)) : v_load(q[t] + i);
        KEEP(u[t]);
    }
    UNROLL for (int j = 0; j < nk; j++) {
        vf k = key_part(i8, key[j], i, scale[j]);
        KEEP(k);
        UNROLL for (int t = 0; t < m; t++) {
            vf x = v_sub(u[t], k);
            acc[t * nk + j] = v_fma(x, x, acc[t * nk + j]);
        }
    }
}

/* Sums of a whole tile, lane t * nk + j for query t and key j; `ahead`, when
 * not NULL, is where the keys to fetch meanwhile begin. */
INLINE vf dist_sums(const int i8, const int m, const float *const *q,
                    const char *const *key, const vf *scale, int d,
                    const char *ahead)
{
    const size_t step = (VW / m) * VW * (i8 ? 1 : sizeof(float));
    vf acc[VW];
    int i;

    UNROLL for (int p = 0; p < VW; p++) acc[p] = v_set1(0);
    for (i = 0; i + VW <= d; i += VW) {
        if (ahead) fetch_keys(ahead + (size_t)(i / VW) * step, step);
        dist_step(i8, m, q, key, scale, (size_t)i, VW, acc);
    }
    if (i < d) dist_step(i8, m, q, key, scale, (size_t)i, d - i, acc);
    return v_sums(acc);
}

/* Queries from q0 on with keys from k0 on. Where there are fewer than m and
 * nk the last ones take part again, and what they give is not stored. */
INLINE void dist_tile(const struct distances *a, const int i8, const int m,
                      int q0, int k0, int ahead)
{
    const int nk = VW / m;
    size_t key_bytes = a->ldk * (i8 ? 1 : sizeof(float));
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
        scale[j] = v_set1(i8 ? a->scale[k0 + row] : 1);
    }
    at = ahead < n_k ? at + (size_t)ahead * key_bytes : NULL;
    v_store(sum, dist_sums(i8, m, q, key, scale, a->d, at));
    for (int t = 0; t < m && t < n_q; t++)
        for (int j = 0; j < nk && j < n_k; j++)
            a->out[(size_t)(q0 + t) * a->ldo + k0 + j] = sum[t * nk + j];
}

/* The queries from q0 on, up to m, with all keys. */
INLINE void dist_rows(const struct distances *a, const int i8, const int m,
                      int q0)
{
    const int nk = VW / m, ahead = nk < DIST_AHEAD ? DIST_AHEAD : nk;
    size_t key_bytes = a->ldk * (i8 ? 1 : sizeof(float));

    fetch_keys(a->keys, (size_t)(ahead < a->n ? ahead : a->n) * key_bytes);
    for (int k0 = 0; k0 < a->n; k0 += nk) dist_tile(a, i8, m, q0, k0, ahead);
}

INLINE void distances(const struct distances *a, const int i8)
{
    for (int q0 = 0; q0 < a->n_q; q0 += DIST_Q) {
        switch (a->n_q - q0) {
        case 1: dist_rows(a, i8, 1, q0); break;
        case 2: dist_rows(a, i8, 2, q0); break;
        default: dist_rows(a, i8, DIST_Q, q0); break;
        }
    }
}

static void distances_f32(const struct distances *a)
{
    distances(a, 0);
}

static void distances_i8(const struct distances *a)
{
    distances(a, 1);
}
