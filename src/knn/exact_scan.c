/* exact_scan.c - finds the nearest keys by comparing queries with all of them.
 *
 * Keys are read in panels of 64. All queries are compared with a panel before
 * the next one is read. First the products of queries and keys are computed
 * with 8-bit numbers. A product gives a lower bound of the distance. If the
 * bound is not below the distance of the k-th neighbor so far, the key cannot
 * become a neighbor, because of two equal distances the first one wins.
 * Otherwise the distance is computed.
 *
 * int8 keys are stored as the weights of a layer, and the queries are its
 * inputs. f16 keys are quantized, a panel at a time. They are the inputs then,
 * and the queries are the weights. For few queries this does not pay off, so
 * all distances are computed.
 *
 * The bound. Let q be a query, q' its quantized form, k a key as it is stored,
 * A = |k|^2 and r = |q' - k|, all in exact arithmetic, and u = 2^-24.
 *
 * The stored norm of a key is at most A (1 + NORM_ERROR). gemm_i8 rounds a
 * product three times, so |y - q'k| <= 3.01 u |q'| |k|. With keep = 1 - 2
 * NORM_ERROR, mask_near computes
 *
 *     t = fl(fl(keep norm) - 2 y)
 *       <= keep (1 + NORM_ERROR) (1 + 2.1 u) A - 2 q'k + 8.1 u |q'| |k|
 *
 * Because 2 |q'| |k| <= |q'|^2 + A, and the factors of A are below 1 - 4.1 u,
 *
 *     t <= A - 2 q'k + 4.1 u |q'|^2 = r^2 - |q'|^2 + 4.1 u |q'|^2        (1)
 *
 * The distance D that the kernels compute is a sum of d squares, in some order.
 * Each is rounded at most d + 8 times, so D >= (1 - (d + 16) u) |q - f|^2,
 * where f is the key with its elements rounded to floats. |f - k| <= u |k| <=
 * u (|q'| + r), so |q - f| >= r - |q - q'| - u (|q'| + r). Let D_k be the
 * distance of the k-th neighbor. D >= D_k if r >= R with
 *
 *     R = (sqrt(D_k / (1 - (d + 16) u)) + |q - q'| + u |q'|) (1 + 2 u)   (2)
 *
 * By (1), r >= R if t >= R^2 - |q'|^2 + 4.1 u |q'|^2. The limit is computed in
 * double with the margin 2^-20 (R^2 + |q'|^2) in place of the last term. This
 * also covers the rounding of the limit itself. TINY is added to D_k and to the
 * limit. It is more than the errors of denormal numbers for d up to 2^16. If
 * the limit is not below FLT_MAX / 2, it is NaN and all keys pass. So where t
 * overflows to infinity, r^2 is in fact large.
 *
 * A quantized f16 key k' has |k - k'| <= HALF_STEP scale sqrt(d): an element is
 * rounded to the nearest multiple of the scale, after a product with an error
 * of at most 127 * 4 u. So |2 q'k - 2 q'k'| <= 2 |q'| HALF_STEP scale sqrt(d).
 * This is subtracted from keep norm, with the largest |q'| of the queries. Here
 * the sum is computed as fl(-limit - 2 y). Its error, u (|limit| + 2 |y|), is
 * covered by the margins too.
 *
 * Invariants, for each part and query: the list of hits is sorted by distance,
 * then by position; it has the nearest of all keys read so far; limit and
 * farthest are NaN until it is full. */
#include "knn/exact_scan.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/pool.h"

_Static_assert((int)ENTRY_PANEL == PANEL, "int8 keys are stored as weights");

enum {
    PRODUCTS = EXACT_SCAN_ROWS * PANEL, /* that are kept at a time: 64 KB */
    LEAST_PANELS = 16,          /* that are worth a thread */
    F16_PRODUCTS = 40           /* fewer queries are compared with f16 keys by
                                   distances alone; the times are equal at
                                   about 38 (AVX2, Zen 3) */
};

#define NORM_ERROR 0x1p-15
#define TINY 0x1p-110
#define HALF_STEP 0.501

/* A query. */
struct scan_row {
    int k;
    bool finite;                /* otherwise all its distances are infinite */
    double norm, size;          /* |q'|^2, |q'| */
    double error;               /* |q - q'| */
};

/* What a thread needs: scratch memory, and the neighbors of all queries among
 * the keys that it reads. */
struct scan_part {
    int found[EXACT_SCAN_ROWS];         /* neighbors of each query */
    int n_full;                         /* queries that have found k */
    float farthest[EXACT_SCAN_ROWS];    /* distance of the k-th neighbor */
    float limit[EXACT_SCAN_ROWS];       /* of t, see above */
    float negative[EXACT_SCAN_ROWS];    /* -limit */
    uint64_t mask[EXACT_SCAN_ROWS];
    float base[PANEL], scale[PANEL];
    uint64_t copied;            /* int8: the keys of the panel in `keys` */
    int64_t measured;           /* distances that were computed */
    struct scan_hit *hits;      /* [EXACT_SCAN_ROWS, KNN_MAX_K] */
    float *y;                   /* [PRODUCTS] products or distances */
    uint8_t *keys;              /* [PANEL, ldk] int8: copies of keys as rows;
                                   f16: quantized keys */
};

struct exact_scan {
    const struct entries *s;
    const struct kernels *k;
    struct pool *pool;
    size_t kp, ldk;             /* bytes of a quantized query, and of a key as a
                                   row */
    int64_t *before;            /* [n_blocks + 1] panels before each block */
    int n_parts;
    struct scan_part *part;     /* [n_parts] */

    /* The current run. */
    struct scan_queries in;
    int used_parts;
    double most_size;           /* the largest |q'| */
    struct scan_row row[EXACT_SCAN_ROWS];
    float xs[EXACT_SCAN_ROWS];  /* 0 after the last query */
    uint8_t *xq;                /* [EXACT_SCAN_ROWS, kp] quantized queries */
    int8_t *packed;             /* f16: the same as weights */
    int32_t comp[EXACT_SCAN_ROWS];
    int64_t compared;
};

struct scan_panel {
    const struct entry_block *b;
    int32_t block;
    int first;                  /* its first entry in the block */
};

/* ---- queries ------------------------------------------------------------- */

/* Set the sizes of query r, which is quantized. */
static void scan_row_init(struct exact_scan *sc, int r)
{
    const float *q = sc->in.q + (size_t)r * sc->in.ldq;
    const uint8_t *xq = sc->xq + (size_t)r * sc->kp;
    struct scan_row *row = &sc->row[r];
    double norm = 0, error = 0, xs = (double)sc->xs[r];

    row->finite = true;
    for (int i = 0; i < sc->s->d; i++) {
        double x = xs * (xq[i] - 128), off = (double)q[i] - x;

        norm += x * x;
        error += off * off;
        row->finite &= isfinite(q[i]) != 0;
    }
    row->k = sc->in.k[r];
    row->norm = norm;
    row->size = sqrt(norm);
    row->error = sqrt(error);
    assert(row->k >= 1 && row->k <= KNN_MAX_K);
}

/* A query that is not finite becomes zero, so that the products are finite. */
static void clear_row(struct exact_scan *sc, int r)
{
    memset(sc->xq + (size_t)r * sc->kp, 128, sc->kp);
    sc->xs[r] = 0;
    sc->row[r].norm = sc->row[r].size = sc->row[r].error = 0;
}

/* Write the quantized queries as the weights of a layer. */
static void pack_queries(struct exact_scan *sc)
{
    int n = pad_to(sc->in.n, PANEL);

    memset(sc->packed, 0, (size_t)n * sc->kp);
    memset(sc->comp, 0, sizeof sc->comp);
    for (int r = 0; r < sc->in.n; r++) {
        const uint8_t *x = sc->xq + (size_t)r * sc->kp;
        int8_t *to = sc->packed + (size_t)(r / PANEL) * sc->kp * PANEL +
                     r % PANEL * 4;

        for (size_t i = 0; i < sc->kp; i++) {
            int v = x[i] - 128;

            to[i / 4 * 4 * PANEL + i % 4] = (int8_t)v;
            sc->comp[r] += 128 * v;
        }
    }
}

static void scan_queries_init(struct exact_scan *sc,
                              const struct scan_queries *in)
{
    sc->in = *in;
    sc->most_size = 0;
    memset(sc->xs, 0, sizeof sc->xs);
    sc->k->quantize(in->q, in->ldq, in->n, sc->s->d, sc->xq, sc->xs);
    for (int r = 0; r < in->n; r++) {
        scan_row_init(sc, r);
        if (!sc->row[r].finite) clear_row(sc, r);
        if (sc->row[r].size > sc->most_size) sc->most_size = sc->row[r].size;
    }
    if (sc->packed) pack_queries(sc);
}

/* ---- neighbors ----------------------------------------------------------- */

/* The smallest float that is not less than x. */
static float round_up_to_float(double x)
{
    float f = (float)x;

    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

/* The limit of t if the k-th neighbor has distance d2; see above. */
static float scan_limit(const struct exact_scan *sc, const struct scan_row *q,
                        float d2)
{
    const double u = 0x1p-24;
    double close = sqrt(((double)d2 + TINY) / (1 - (sc->s->d + 16) * u));
    double least = (close + q->error + u * q->size) * (1 + 4 * u);
    double r2 = least * least;
    double limit = r2 - q->norm + 0x1p-20 * (r2 + q->norm) + TINY;

    if (!q->finite) return -INFINITY;
    return limit < (double)FLT_MAX / 2 ? round_up_to_float(limit) : NAN;
}

/* Insert a hit into a sorted list of n of at most k, after those that are not
 * farther. Returns the new n. */
static int scan_insert(struct scan_hit *list, int n, int k, struct scan_hit hit)
{
    int at;

    if (n == k && !(hit.d2 < list[k - 1].d2)) return n;
    if (n < k) n++;
    for (at = n - 1; at > 0 && hit.d2 < list[at - 1].d2; at--)
        list[at] = list[at - 1];
    list[at] = hit;
    return n;
}

/* Key i of a panel is at distance d2 from query r. */
static void scan_offer(const struct exact_scan *sc, struct scan_part *p, int r,
                       const struct scan_panel *at, int i, float d2)
{
    const struct scan_row *row = &sc->row[r];
    struct scan_hit *list = p->hits + (size_t)r * KNN_MAX_K;
    struct scan_hit hit = { d2 < INFINITY ? d2 : INFINITY, at->block,
                            at->first + i };
    int before = p->found[r];

    if (!(at->b->norm[hit.entry] < INFINITY)) return;
    if (before == row->k && !(hit.d2 < p->farthest[r])) return;
    p->found[r] = scan_insert(list, before, row->k, hit);
    if (p->found[r] < row->k) return;
    if (before < row->k) p->n_full++;
    p->farthest[r] = list[row->k - 1].d2;
    p->limit[r] = scan_limit(sc, row, p->farthest[r]);
}

/* ---- int8 keys ----------------------------------------------------------- */

/* Copy key i of a panel to a row. */
static void copy_key(const struct exact_scan *sc, struct scan_part *p,
                     const int8_t *panel, int i)
{
    uint8_t *to = p->keys + (size_t)i * sc->ldk;

    if (p->copied >> i & 1) return;
    p->copied |= (uint64_t)1 << i;
    for (size_t c = 0; c < sc->kp; c += 4)
        memcpy(to + c, panel + c * PANEL + 4 * (size_t)i, 4);
}

/* Compute the distances of query r to keys [i, i + n) of a panel. */
static void measure_int8(const struct exact_scan *sc, struct scan_part *p,
                         int r, const struct scan_panel *at, int i, int n)
{
    const int8_t *panel = (const int8_t *)at->b->keys +
                          (size_t)at->first * sc->kp;
    float d2[PANEL];
    struct distances a = {
        .q = sc->in.q + (size_t)r * sc->in.ldq, .ldq = sc->in.ldq, .n_q = 1,
        .keys = p->keys + (size_t)i * sc->ldk, .ldk = sc->ldk, .n = n,
        .scale = at->b->scale + at->first + i, .d = sc->s->d, .out = d2,
        .ldo = PANEL };

    for (int j = i; j < i + n; j++) copy_key(sc, p, panel, j);
    sc->k->distances_i8(&a);
    p->measured += n;
    for (int j = 0; j < n; j++) scan_offer(sc, p, r, at, i + j, d2[j]);
}

/* Measure the keys of a panel whose bit is set. Adjacent ones are measured
 * together. */
static void measure_near(const struct exact_scan *sc, struct scan_part *p,
                         int r, const struct scan_panel *at)
{
    uint64_t mask = p->mask[r];

    while (mask) {
        int i = __builtin_ctzll(mask);
        uint64_t gap = ~(mask >> i);
        int n = gap ? __builtin_ctzll(gap) : PANEL;

        measure_int8(sc, p, r, at, i, n);
        mask = i + n < PANEL ? mask >> (i + n) << (i + n) : 0;
    }
}

/* Compare all queries with a panel: the keys are the weights, the queries are
 * the inputs. */
static void scan_int8(const struct exact_scan *sc, struct scan_part *p,
                      const struct scan_panel *at)
{
    const float *norm = at->b->norm + at->first;
    const float keep = (float)(1 - 2 * NORM_ERROR);
    struct linear l = { .type = DT_I8, .n = PANEL, .k = sc->s->d,
        .w = (const int8_t *)at->b->keys + (size_t)at->first * sc->kp,
        .scale = at->b->scale + at->first, .comp = at->b->comp + at->first };
    struct gemm g = { .l = &l, .rows = sc->in.n, .xq = sc->xq, .xs = sc->xs,
                      .y = p->y, .ldy = PANEL };
    struct near near = { p->base, -2, p->y, PANEL, sc->in.n, p->limit,
                         p->mask };

    sc->k->gemm_i8(&g, 0, 1);
    for (int i = 0; i < PANEL; i++)
        p->base[i] = norm[i] < INFINITY ? keep * norm[i] : INFINITY;
    sc->k->mask_near(&near);
    p->copied = 0;
    for (int r = 0; r < sc->in.n; r++)
        if (p->mask[r]) measure_near(sc, p, r, at);
}

/* ---- f16 keys ------------------------------------------------------------ */

/* Compute the distances of n queries, starting with r, to n_keys keys of a
 * panel, starting with i. */
static void measure_f16(const struct exact_scan *sc, struct scan_part *p,
                        int r, int n, const struct scan_panel *at, int i,
                        int n_keys, float *out)
{
    const uint16_t *keys = at->b->keys;
    struct distances a = {
        .q = sc->in.q + (size_t)r * sc->in.ldq, .ldq = sc->in.ldq, .n_q = n,
        .keys = keys + (size_t)(at->first + i) * sc->ldk, .ldk = sc->ldk,
        .n = n_keys, .d = sc->s->d, .out = out, .ldo = PANEL };

    sc->k->distances_f16(&a);
    p->measured += (int64_t)n * n_keys;
}

/* Compare all queries with a panel by distances alone. */
static void scan_f16_distances(const struct exact_scan *sc,
                               struct scan_part *p,
                               const struct scan_panel *at)
{
    const float *norm = at->b->norm + at->first;
    struct near near = { p->base, 1, p->y, PANEL, sc->in.n, p->farthest,
                         p->mask };

    measure_f16(sc, p, 0, sc->in.n, at, 0, PANEL, p->y);
    for (int i = 0; i < PANEL; i++)
        p->base[i] = norm[i] < INFINITY ? 0 : INFINITY;
    sc->k->mask_near(&near);
    for (int r = 0; r < sc->in.n; r++)
        for (uint64_t m = p->mask[r]; m; m &= m - 1) {
            int i = __builtin_ctzll(m);

            scan_offer(sc, p, r, at, i, p->y[r * PANEL + i]);
        }
}

/* Quantize a panel of keys. Set base to the negative of keep * norm, less the
 * error of quantizing. */
static void quantize_panel(const struct exact_scan *sc, struct scan_part *p,
                           const struct scan_panel *at)
{
    const uint16_t *keys = at->b->keys;
    const float *norm = at->b->norm + at->first;
    double slack = 2 * HALF_STEP * sqrt(sc->s->d) * sc->most_size;

    sc->k->quantize_f16(keys + (size_t)at->first * sc->ldk, sc->ldk, PANEL,
                        sc->s->d, p->keys, p->scale);
    for (int i = 0; i < PANEL; i++)
        p->base[i] = norm[i] < INFINITY
            ? (float)(slack * (double)p->scale[i] -
                      (1 - 2 * NORM_ERROR) * (double)norm[i])
            : -INFINITY;
}

/* Measure the queries, starting with r0, whose bit is set for a key of the
 * panel. */
static void measure_near_f16(const struct exact_scan *sc, struct scan_part *p,
                             int r0, const struct scan_panel *at)
{
    for (int i = 0; i < PANEL; i++)
        for (uint64_t m = p->mask[i]; m; m &= m - 1) {
            int r = r0 + __builtin_ctzll(m);
            float d2;

            if (r >= sc->in.n) break;
            measure_f16(sc, p, r, 1, at, i, 1, &d2);
            scan_offer(sc, p, r, at, i, d2);
        }
}

/* Compare all queries with a panel by products first: the queries are the
 * weights, the keys are the inputs. */
static void scan_f16_products(const struct exact_scan *sc, struct scan_part *p,
                              const struct scan_panel *at)
{
    struct linear l = { .type = DT_I8, .n = pad_to(sc->in.n, PANEL),
                        .k = sc->s->d, .w = sc->packed, .scale = sc->xs,
                        .comp = sc->comp };
    struct gemm g = { .l = &l, .rows = PANEL, .xq = p->keys, .xs = p->scale,
                      .y = p->y, .ldy = (size_t)l.n };

    quantize_panel(sc, p, at);
    sc->k->gemm_i8(&g, 0, linear_panels(&l));
    for (int r = 0; r < l.n; r++)
        p->negative[r] = r < sc->in.n ? -p->limit[r] : INFINITY;
    for (int r = 0; r < l.n; r += PANEL) {
        struct near near = { p->negative + r, -2, p->y + r, g.ldy, PANEL,
                             p->base, p->mask };

        sc->k->mask_near(&near);
        measure_near_f16(sc, p, r, at);
    }
}

/* As long as a query has fewer than k neighbors, all keys pass. */
static void scan_f16(const struct exact_scan *sc, struct scan_part *p,
                     const struct scan_panel *at)
{
    if (sc->in.n < F16_PRODUCTS || p->n_full < sc->in.n)
        scan_f16_distances(sc, p, at);
    else
        scan_f16_products(sc, p, at);
}

/* ---- a run --------------------------------------------------------------- */

static int block_panels(const struct entry_block *b)
{
    return pad_to(b->n, PANEL) / PANEL;
}

/* Compare all queries with panels [from, to) of a block. */
static void scan_block(const struct exact_scan *sc, struct scan_part *p,
                       int32_t block, int from, int to)
{
    const struct entry_block *b = &sc->s->blocks[block];

    assert(from >= 0 && to <= block_panels(b));
    for (int i = from; i < to; i++) {
        struct scan_panel at = { b, block, i * PANEL };

        if (sc->s->type == ENTRY_INT8) scan_int8(sc, p, &at);
        else scan_f16(sc, p, &at);
    }
}

static void part_reset(struct scan_part *p, int n)
{
    p->n_full = 0;
    for (int r = 0; r < n; r++) {
        p->found[r] = 0;
        p->farthest[r] = p->limit[r] = NAN;
    }
}

/* Panel number x / n of all panels. */
static int64_t share_of(const struct exact_scan *sc, int x, int n)
{
    return sc->before[sc->s->n_blocks] * x / n;
}

/* Scan the share of a part. The function of a pool. */
static void scan_share(void *arg, int part, int n_parts)
{
    struct exact_scan *sc = arg;
    struct scan_part *p = &sc->part[part];
    int n = sc->used_parts;

    (void)n_parts;
    if (part >= n) return;
    part_reset(p, sc->in.n);
    for (int32_t b = 0; b < sc->s->n_blocks; b++) {
        int64_t from = share_of(sc, part, n) - sc->before[b];
        int64_t to = share_of(sc, part + 1, n) - sc->before[b];
        int64_t all = sc->before[b + 1] - sc->before[b];

        if (from < 0) from = 0;
        if (to > all) to = all;
        if (from < to) scan_block(sc, p, b, (int)from, (int)to);
    }
}

/* Whether hits are sorted by distance, then by position. */
static inline bool scan_sorted(const struct scan_hit *h, int n)
{
    for (int i = 1; i < n; i++) {
        if (h[i].d2 < h[i - 1].d2) return false;
        if (h[i].d2 > h[i - 1].d2) continue;
        if (h[i].block < h[i - 1].block) return false;
        if (h[i].block == h[i - 1].block && h[i].entry <= h[i - 1].entry)
            return false;
    }
    return true;
}

/* Add the hits of the other parts to those of the first. Parts are in the order
 * of the keys, so of two equal distances the first one wins here too. */
static void join_parts(struct exact_scan *sc)
{
    struct scan_part *to = &sc->part[0];

    for (int r = 0; r < sc->in.n; r++) {
        struct scan_hit *list = to->hits + (size_t)r * KNN_MAX_K;

        for (int i = 1; i < sc->used_parts; i++) {
            const struct scan_part *p = &sc->part[i];
            const struct scan_hit *more = p->hits + (size_t)r * KNN_MAX_K;

            for (int j = 0; j < p->found[r]; j++)
                to->found[r] = scan_insert(list, to->found[r], sc->row[r].k,
                                           more[j]);
        }
        assert(scan_sorted(list, to->found[r]));
    }
}

void exact_scan_run(struct exact_scan *sc, const struct scan_queries *queries,
                    bool use_pool)
{
    int64_t panels = sc->before[sc->s->n_blocks];
    int64_t most = panels / LEAST_PANELS;

    assert(queries->n >= 0 && queries->n <= EXACT_SCAN_ROWS);
    assert(queries->n <= 1 || queries->ldq >= (size_t)sc->s->d);
    scan_queries_init(sc, queries);
    sc->compared += panels * PANEL * queries->n;
    sc->used_parts = !use_pool || most < 1 ? 1
                   : most < sc->n_parts ? (int)most : sc->n_parts;
    if (!queries->n) return;
    if (sc->used_parts == 1) scan_share(sc, 0, 1);
    else pool_run(sc->pool, scan_share, sc);
    join_parts(sc);
}

const struct scan_hit *exact_scan_hits(const struct exact_scan *sc, int i,
                                       int *n)
{
    assert(i >= 0 && i < sc->in.n);
    *n = sc->part[0].found[i];
    return sc->part[0].hits + (size_t)i * KNN_MAX_K;
}

struct scan_counts exact_scan_counts(const struct exact_scan *sc)
{
    struct scan_counts counts = { sc->compared, 0 };

    for (int i = 0; i < sc->n_parts; i++)
        counts.measured += sc->part[i].measured;
    return counts;
}

/* ---- creation ------------------------------------------------------------ */

void exact_scan_free(struct exact_scan *sc)
{
    if (!sc) return;
    for (int i = 0; sc->part && i < sc->n_parts; i++) {
        free(sc->part[i].hits);
        mem_free(sc->part[i].y);
        mem_free(sc->part[i].keys);
    }
    free(sc->part);
    free(sc->before);
    mem_free(sc->xq);
    mem_free(sc->packed);
    free(sc);
}

/* The rows of `keys` are padded with zeros. */
static bool part_alloc(const struct exact_scan *sc, struct scan_part *p)
{
    p->hits = calloc((size_t)EXACT_SCAN_ROWS * KNN_MAX_K, sizeof *p->hits);
    p->y = mem_alloc(PRODUCTS, sizeof *p->y);
    p->keys = mem_zalloc(PANEL, sc->ldk);
    return p->hits && p->y && p->keys;
}

static bool exact_scan_alloc(struct exact_scan *sc)
{
    bool ok;

    sc->before = calloc((size_t)sc->s->n_blocks + 1, sizeof *sc->before);
    sc->part = calloc((size_t)sc->n_parts, sizeof *sc->part);
    sc->xq = mem_alloc(EXACT_SCAN_ROWS, sc->kp);
    if (sc->s->type == ENTRY_F16)
        sc->packed = mem_alloc(EXACT_SCAN_ROWS, sc->kp);
    ok = sc->before && sc->part && sc->xq &&
         (sc->packed || sc->s->type != ENTRY_F16);
    for (int i = 0; ok && i < sc->n_parts; i++)
        ok = part_alloc(sc, &sc->part[i]);
    return ok;
}

enum status exact_scan_new(struct exact_scan **out, const struct entries *s,
                           const struct kernels *kernels, struct pool *pool,
                           struct err *e)
{
    struct exact_scan *sc = calloc(1, sizeof *sc);

    *out = NULL;
    if (!sc) return err_nomem(e, "neighbor search");
    assert(s->d >= 1 && s->d <= 1 << 16);       /* int8 sums do not overflow */
    sc->s = s;
    sc->k = kernels;
    sc->pool = pool;
    sc->n_parts = pool_threads(pool);
    sc->kp = (size_t)pad_to(s->d, 4);
    sc->ldk = (size_t)pad_to(s->d, s->type == ENTRY_INT8 ? 64 : 32);
    if (!exact_scan_alloc(sc)) {
        exact_scan_free(sc);
        return err_nomem(e, "neighbor search");
    }
    for (int i = 0; i < s->n_blocks; i++)
        sc->before[i + 1] = sc->before[i] + block_panels(&s->blocks[i]);
    *out = sc;
    return ST_OK;
}
