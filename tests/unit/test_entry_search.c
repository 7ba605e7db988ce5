/* test_entry_search.c - tests the search of a large datastore.
 *
 * The scan is compared bit for bit, for each ISA, with the distances to all
 * keys, each computed by the kernels from the key as a row, and with a
 * computation in double precision. Then the queue of entry_search is tested,
 * and compared with the search of knn/datastore.h. */
#include "test.h"

#include <float.h>

#include "base/pool.h"
#include "entries_fix.h"
#include "fixed_rows.h"
#include "knn/datastore.h"
#include "knn/entry_search.h"
#include "knn/exact_scan.h"

/* ---- made-up data -------------------------------------------------------- */

static uint32_t seed;

static uint32_t next(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

/* A number from -1 to 1, more often near zero. */
static float draw(void)
{
    float a = (float)next() / 8388608 - 1, b = (float)next() / 16777216;

    return a * b;
}

/* How the keys and queries are distributed. */
#define SHAPES(X)                                                           \
    X(RANDOM)                                                               \
    X(CLUSTERS)         /* groups of keys with nearly equal distances */    \
    X(DUPLICATES)       /* many equal keys, also equal to queries */        \
    X(FAR)              /* all near one point far from the origin */        \
    X(HUGE_NORMS)                                                           \
    X(OVERFLOWS)        /* norms are too large for a float, or nearly so */ \
    X(TINY_NORMS)                                                           \
    X(DENORMALS)                                                            \
    X(MIXED)            /* norms of very different sizes */                 \
    X(OUTLIERS)         /* one large element makes quantizing imprecise */  \
    X(GRID)             /* quantizing changes nothing, many ties */         \
    X(SMALL_KEYS)       /* distances differ by rounding errors */           \
    X(ADVERSE)          /* keys in the direction of the quantizing error */ \
    X(ZEROS)
#define SHAPE_CONSTANT(name) SHAPE_##name,
#define SHAPE_NAME(name) #name,
enum shape { SHAPES(SHAPE_CONSTANT) SHAPE_COUNT };
static const char *const shape_name[] = { SHAPES(SHAPE_NAME) };

static float shape_size(enum shape shape)
{
    switch (shape) {
    case SHAPE_HUGE_NORMS: return 1e15f;
    case SHAPE_OVERFLOWS: return 3e18f;
    case SHAPE_TINY_NORMS: return 1e-15f;
    case SHAPE_DENORMALS: return 1e-21f;
    case SHAPE_ZEROS: return 0;
    default: return 2;
    }
}

/* Move a vector by about 10, in the direction of its own error of quantizing or
 * in the opposite one. A bound that is too low excludes the nearest of these
 * keys. */
static void move_adverse(float *v, int i, int d)
{
    int8_t *q = malloc((size_t)d);
    float scale = made_int8(v, d, q), norm = 0;
    float off = (i % 2 ? 10 : -10) * (1 + draw() / 50);

    for (int c = 0; c < d; c++)
        norm += (v[c] - scale * q[c]) * (v[c] - scale * q[c]);
    for (int c = 0; c < d && norm > 0; c++)
        v[c] += off * (v[c] - scale * q[c]) / sqrtf(norm);
    free(q);
}

/* Make vector i: key i or query i. */
static void shape_vector(enum shape shape, int i, int d, float *v)
{
    float size = shape_size(shape);

    if (shape == SHAPE_MIXED) size = powf(10, (float)(i % 31) - 15);
    if (shape == SHAPE_CLUSTERS || shape == SHAPE_ADVERSE)
        seed = (uint32_t)(i % 7) * 7919;
    if (shape == SHAPE_DUPLICATES) seed = (uint32_t)(i % 200) * 7919;
    for (int c = 0; c < d; c++) v[c] = size * draw();
    seed = (uint32_t)i * 2654435761u + 1;
    if (shape == SHAPE_CLUSTERS)
        for (int c = 0; c < d; c++) v[c] += 1e-3f * draw();
    if (shape == SHAPE_FAR)
        for (int c = 0; c < d; c++) v[c] = 500 + 100 * (float)(c % 3) + v[c];
    if (shape == SHAPE_OUTLIERS) v[i % d] = 60;
    if (shape == SHAPE_GRID || shape == SHAPE_SMALL_KEYS)
        for (int c = 0; c < d; c++)
            v[c] = 0.1f * (c ? (float)(next() % 5) - 2 : 127);
}

static float *shape_vectors(enum shape shape, bool keys, int first, int n,
                            int d, size_t ld)
{
    float *v = mem_alloc((size_t)n * ld + 16, sizeof *v);

    for (size_t i = 0; i < (size_t)n * ld + 16; i++) v[i] = NAN;
    for (int i = 0; i < n; i++) {
        seed = (uint32_t)(first + i) * 40503u + 77;
        shape_vector(shape, first + i, d, v + (size_t)i * ld);
        if (shape == SHAPE_ADVERSE && keys)
            move_adverse(v + (size_t)i * ld, i, d);
        for (int c = 0; c < d && shape == SHAPE_SMALL_KEYS && keys; c++)
            v[(size_t)i * ld + (size_t)c] = 1e-6f * draw();
    }
    return v;
}

/* A datastore and queries. */
struct search_case {
    enum shape shape;
    enum entry_type type;
    int d, n, block, n_q, k;
    int delete_every;           /* 0: none is deleted */
    float norm_error;
    const struct kernels *kernels;
};

struct search_data {
    float *keys, *q;
    size_t ldq;
    int k[EXACT_SCAN_ROWS];
    struct entries *s;
};

/* Some queries want fewer neighbors than c->k. */
static void data_init(struct search_data *x, const struct search_case *c)
{
    bool *deleted = calloc((size_t)c->n + 1, sizeof *deleted);
    struct made_entries m = { .type = c->type, .n = c->n, .d = c->d,
        .block = c->block, .pair = 3, .deleted = deleted,
        .norm_error = c->norm_error };

    for (int i = 0; i < c->n; i++)
        deleted[i] = c->delete_every && i % c->delete_every == 0;
    x->ldq = (size_t)pad_to(c->d, 16);
    x->keys = shape_vectors(c->shape, true, 0, c->n, c->d, (size_t)c->d);
    x->q = shape_vectors(c->shape, false, c->n - c->n_q / 2, c->n_q, c->d,
                         x->ldq);
    m.keys = x->keys;
    for (int i = 0; i < c->n_q; i++)
        x->k[i] = i % 5 == 4 && c->k > 1 ? c->k / 2 : c->k;
    x->s = make_entries(&m);
    free(deleted);
}

static void data_release(struct search_data *x)
{
    entries_drop(x->s);
    mem_free(x->keys);
    mem_free(x->q);
}

/* ---- comparing all ------------------------------------------------------- */

/* The distance of a query to one key, which is copied to a row. */
static float row_distance(const struct kernels *k, const struct entries *s,
                          const struct entry_block *b, int i, const float *q)
{
    static int8_t row[1024] __attribute__((aligned(64)));
    size_t kp = (size_t)pad_to(s->d, 4), ldh = (size_t)pad_to(s->d, 32);
    float d2 = -1;
    struct distances a = { .q = q, .n_q = 1, .n = 1, .d = s->d, .out = &d2 };

    if (s->type == ENTRY_F16) {
        a.keys = (const uint16_t *)b->keys + (size_t)i * ldh;
        a.ldk = ldh;
        k->distances_f16(&a);
        return d2;
    }
    memset(row, 0, sizeof row);
    for (int c = 0; c < s->d; c++)
        row[c] = ((const int8_t *)b->keys)[(size_t)(i / 64) * kp * 64 +
                                           (size_t)(c / 4 * 256 + i % 64 * 4 +
                                                    c % 4)];
    a.keys = row;
    a.ldk = (size_t)pad_to(s->d, 64);
    a.scale = b->scale + i;
    k->distances_i8(&a);
    return d2;
}

static int hit_compare(const void *left, const void *right)
{
    const struct scan_hit *a = left, *b = right;

    if (a->d2 != b->d2) return a->d2 < b->d2 ? -1 : 1;
    if (a->block != b->block) return a->block < b->block ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* All entries that can be found, sorted. Returns their number. */
static int compare_all(const struct kernels *k, const struct entries *s,
                       const float *q, struct scan_hit *out)
{
    int n = 0;

    for (int b = 0; b < s->n_blocks; b++)
        for (int i = 0; i < s->blocks[b].n; i++) {
            float d2;

            if (!(s->blocks[b].norm[i] < INFINITY)) continue;
            d2 = row_distance(k, s, &s->blocks[b], i, q);
            out[n++] = (struct scan_hit){ d2 < INFINITY ? d2 : INFINITY, b, i };
        }
    qsort(out, (size_t)n, sizeof *out, hit_compare);
    return n;
}

/* The distance in double. */
static double exact_distance(const struct entries *s,
                             const struct scan_hit *hit, const float *q)
{
    float key[1024];
    double sum = 0;

    entries_key(s, &s->blocks[hit->block], hit->entry, key);
    for (int c = 0; c < s->d; c++) {
        double x = (double)q[c] - (double)key[c];

        sum += x * x;
    }
    return sum;
}

/* No entry that was not found is nearer, in double, than one that was; and the
 * distances are right up to rounding. */
static int count_wrong(const struct entries *s, const float *q,
                       const struct scan_hit *hits, int n,
                       const struct scan_hit *all, int n_all)
{
    double most = 0;
    int bad = 0;

    for (int i = 0; i < n; i++) {
        double d2 = exact_distance(s, &hits[i], q);

        if (d2 < (double)FLT_MAX)
            bad += !(fabs((double)hits[i].d2 - d2) <= 1e-5 * d2 + 1e-38);
        if (d2 > most) most = d2;
    }
    for (int i = n; i < n_all; i++)
        bad += exact_distance(s, &all[i], q) < most * (1 - 2e-5) - 1e-38;
    return bad;
}

/* Check the neighbors of query i of the last run. */
static void check_query(const struct search_case *c,
                        const struct search_data *x,
                        const struct exact_scan *sc, int i,
                        struct scan_hit *all, bool in_double)
{
    const float *q = x->q + (size_t)i * x->ldq;
    int n, n_all = compare_all(c->kernels, x->s, q, all);
    const struct scan_hit *hits = exact_scan_hits(sc, i, &n);
    int want = x->k[i] < n_all ? x->k[i] : n_all, bad = n != want;

    for (int j = 0; j < n && j < want; j++)
        bad += hit_compare(&hits[j], &all[j]) != 0;
    if (in_double) bad += count_wrong(x->s, q, hits, n, all, n_all);
    if (bad)
        test_fail(__FILE__, __LINE__,
                  "%s %s %s: %d keys of %d, query %d of %d: %d wrong",
                  isa_name(c->kernels->isa), shape_name[c->shape],
                  c->type == ENTRY_INT8 ? "int8" : "f16", c->n, c->d, i,
                  c->n_q, bad);
}

/* Search with one thread and with `pool`, and check both. Returns the share of
 * distances that were computed. */
static double check_case(const struct search_case *c, struct pool *pool)
{
    struct scan_hit *all = calloc((size_t)c->n + 1, sizeof *all);
    struct exact_scan *sc = NULL;
    struct search_data x;
    struct scan_counts counts = { 0, 0 };
    int every = c->n_q < 50 ? 1 : 5;    /* which queries are checked */
    struct err e;

    data_init(&x, c);
    if (CHECK_OK(exact_scan_new(&sc, x.s, c->kernels, pool, &e), &e)) {
        struct scan_queries in = { x.q, x.ldq, c->n_q, x.k };

        exact_scan_run(sc, &in, false);
        counts = exact_scan_counts(sc);
        for (int i = 0; i < c->n_q; i += every)
            check_query(c, &x, sc, i, all, i % 8 == 0);
        exact_scan_run(sc, &in, true);
        for (int i = 0; i < c->n_q; i += 4 * every)
            check_query(c, &x, sc, i, all, false);
    }
    exact_scan_free(sc);
    data_release(&x);
    free(all);
    return (double)counts.measured / (double)(counts.compared + 1);
}

#define FOR_EACH_TABLE(c)                                                   \
    for (int isa_ = ISA_REF; isa_ < ISA_COUNT; isa_++)                      \
        if (((c).kernels = kernels_for((enum isa)isa_)))

/* ---- the scan ------------------------------------------------------------ */

TEST(the_scan_is_a_comparison_of_all)
{
    static const int dims[] = { 1, 3, 20, 64, 100 };
    static const int n_q[] = { 1, 4, 41, 9, 70 };
    struct pool *pool;
    struct err e;

    REQUIRE_OK(pool_new(&pool, 3, &e), &e);
    for (int i = 0; i < SHAPE_COUNT * 2 * (int)COUNT(dims); i++) {
        int j = i / 2 % (int)COUNT(dims);
        enum shape shape = (enum shape)(i / 2 / (int)COUNT(dims));
        struct search_case c = { .shape = shape,
            .type = i % 2 ? ENTRY_F16 : ENTRY_INT8, .d = dims[j], .n = 401,
            .block = 150, .n_q = n_q[j], .k = i % 3 ? 8 : 1,
            .delete_every = i % 4 ? 0 : 5 };

        FOR_EACH_TABLE(c) check_case(&c, pool);
    }
    pool_free(pool);
}

/* Also more panels than one thread gets, and all numbers of queries around the
 * sizes where the code differs. */
TEST(scans_of_many_keys_and_queries)
{
    static const int n_q[] = { 2, 3, 8, 32, 33, 39, 40, 63, 64, 65, 128, 256 };
    struct pool *pool;
    struct err e;

    REQUIRE_OK(pool_new(&pool, 3, &e), &e);
    for (int i = 0; i < 2 * (int)COUNT(n_q); i++) {
        static const enum shape shapes[] = { SHAPE_RANDOM, SHAPE_CLUSTERS,
                                             SHAPE_DUPLICATES };
        struct search_case c = { .shape = shapes[i / 2 % 3],
            .type = i % 2 ? ENTRY_F16 : ENTRY_INT8, .d = 24, .n = 4500,
            .block = 1900, .n_q = n_q[i / 2], .k = 1 + i % 20,
            .kernels = kernels_pick(NULL) };

        check_case(&c, pool);
    }
    pool_free(pool);
}

TEST(more_neighbors_than_entries)
{
    static const int n[] = { 0, 1, 5, 63, 64, 65, 130 };

    for (int i = 0; i < 2 * (int)COUNT(n); i++) {
        struct search_case c = { .shape = SHAPE_RANDOM,
            .type = i % 2 ? ENTRY_F16 : ENTRY_INT8, .d = 12, .n = n[i / 2],
            .block = 60, .n_q = 45, .k = KNN_MAX_K, .delete_every = i % 3 };

        FOR_EACH_TABLE(c) check_case(&c, NULL);
    }
}

/* Norms may have the error that entries.h allows. */
TEST(norms_need_not_be_exact)
{
    for (int i = 0; i < 4 * SHAPE_COUNT; i++) {
        struct search_case c = { .shape = (enum shape)(i / 4),
            .type = i % 2 ? ENTRY_F16 : ENTRY_INT8, .d = 33, .n = 700,
            .n_q = 40, .k = 4, .norm_error = i / 2 % 2 ? 3e-5f : -3e-5f,
            .kernels = kernels_pick(NULL) };

        check_case(&c, NULL);
    }
}

/* If the bound excluded nothing, the results would be right, but slow. */
TEST(few_distances_are_computed)
{
    for (int i = 0; i < 2; i++) {
        struct search_case c = { .shape = SHAPE_RANDOM, .d = 256, .n = 3000,
            .type = i ? ENTRY_F16 : ENTRY_INT8, .n_q = 40, .k = 4,
            .kernels = kernels_pick(NULL) };
        double share = check_case(&c, NULL);

        if (!(share < 0.1))
            test_fail(__FILE__, __LINE__, "%g of the distances", share);
    }
}

/* Put numbers into queries and keys that no model computes, and damage what is
 * stored of some keys. */
static void damage(struct search_data *x, const struct search_case *c)
{
    static const float bad[] = { NAN, INFINITY, -INFINITY, FLT_MAX };
    struct entry_block *b = &x->s->blocks[0];

    for (int j = 0; j < 16; j++)
        x->q[(size_t)(2 * j) * x->ldq + (size_t)(j % c->d)] = bad[j % 4];
    ((float *)b->norm)[7] = NAN;
    if (c->type == ENTRY_INT8) {
        ((float *)b->scale)[9] = NAN;
        ((float *)b->scale)[200] = INFINITY;
        ((int32_t *)b->comp)[11] = INT32_MIN;
    } else {
        memset((void *)b->keys, 0x7f, 500);
    }
}

/* The damaged comp of key 11 may hide this key, but no other. */
static void check_damaged(const struct search_case *c,
                          const struct search_data *x,
                          const struct exact_scan *sc, int r)
{
    struct scan_hit *all = calloc((size_t)c->n, sizeof *all);
    const float *q = x->q + (size_t)r * x->ldq;
    int n, n_all = compare_all(c->kernels, x->s, q, all);
    const struct scan_hit *hits = exact_scan_hits(sc, r, &n);

    CHECK_INT(n, x->k[r] < n_all ? x->k[r] : n_all);
    for (int j = 0, w = 0; j < n; j++, w++) {
        if (all[w].entry == 11 && hits[j].entry != 11) w++;
        CHECK(hit_compare(&hits[j], &all[w]) == 0);
    }
    free(all);
}

/* The other queries are not affected. */
TEST(bad_numbers_do_no_harm)
{
    for (int i = 0; i < 2; i++) {
        struct search_case c = { .shape = SHAPE_RANDOM, .d = 70, .n = 300,
            .type = i ? ENTRY_F16 : ENTRY_INT8, .n_q = 43, .k = 5 };

        FOR_EACH_TABLE(c) {
            struct exact_scan *sc = NULL;
            struct search_data x;
            struct scan_queries in;
            struct err e;

            data_init(&x, &c);
            damage(&x, &c);
            in = (struct scan_queries){ x.q, x.ldq, c.n_q, x.k };
            if (CHECK_OK(exact_scan_new(&sc, x.s, c.kernels, NULL, &e), &e)) {
                exact_scan_run(sc, &in, false);
                for (int r = 0; r < c.n_q; r++) check_damaged(&c, &x, sc, r);
            }
            exact_scan_free(sc);
            data_release(&x);
        }
    }
}

/* ---- the queue ----------------------------------------------------------- */

static bool same_neighbors(const struct neighbor *a, const struct neighbor *b,
                           int n)
{
    for (int i = 0; i < n; i++)
        if (a[i].d2 != b[i].d2 || a[i].token != b[i].token ||
            a[i].pair != b[i].pair || a[i].pos != b[i].pos ||
            a[i].log_weight != b[i].log_weight)
            return false;
    return true;
}

/* The same keys in the datastore of a sentence, with the entries of a pair in
 * the same order. */
static bool fill_datastore(struct datastore *ks, const float *keys, int n,
                           int d, int pair)
{
    datastore_init(ks);
    for (int p = 0; p * pair < n; p++) {
        int m = n - p * pair < pair ? n - p * pair : pair;
        struct pair_keys *b = NULL;
        struct err e;

        if (!CHECK_OK(pair_keys_new(&b, KEY_INT8, m, d, &e), &e)) return false;
        for (int i = 0; i < m; i++)
            pair_keys_put(b, i, keys + (size_t)(p * pair + i) * (size_t)d,
                          100 + p * pair + i);
        CHECK_OK(datastore_add(ks, b, &e), &e);
        pair_keys_drop(b);
    }
    return true;
}

/* int8 keys give the same neighbors as the datastore of a sentence. */
TEST(neighbors_are_those_of_a_datastore)
{
    enum { N = 500, D = 77, NQ = 300, K = 6, PAIR = 9 };

    for (enum shape shape = 0; shape < SHAPE_COUNT; shape++) {
        size_t ld = (size_t)pad_to(D, 16);
        float *keys = shape_vectors(shape, true, 0, N, D, D);
        float *q = shape_vectors(shape, false, N - NQ / 2, NQ, D, ld);
        struct made_entries m = { .type = ENTRY_INT8, .n = N, .d = D,
                                  .keys = keys, .block = 180, .pair = PAIR };
        struct entries *s = make_entries(&m);
        struct fixed_rows rows = fixed_rows(q, ld, NQ);
        struct finder_query all = { &rows.x, 0, NQ };
        struct neighbor *want = calloc(NQ * K, sizeof *want);
        struct neighbor *got = calloc(NQ * K, sizeof *got);
        struct entry_search *es = NULL;
        struct datastore ks;
        int n_want = 0, n_got = 0;
        struct err e;

        /* Keys whose norm is too large for a float cannot be found. */
        if (shape == SHAPE_OVERFLOWS) s->n = 0;
        REQUIRE(fill_datastore(&ks, keys, N, D, PAIR));
        CHECK_OK(finder_nearest(&ks.finder, &all, K, want, &n_want, &e), &e);
        CHECK_OK(entry_search_new(&es, s, NULL, NULL, &e), &e);
        CHECK_OK(entry_search_states(es, q, ld, NQ, K, got, &n_got, &e), &e);
        if (s->n) {
            CHECK_INT(n_got, n_want);
            CHECK(same_neighbors(got, want, NQ * K));
        }
        entry_search_free(es);
        datastore_release(&ks);
        entries_drop(s);
        free(want);
        free(got);
        mem_free(keys);
        mem_free(q);
    }
}

/* An executor whose rows must be asked for as STATE_FFN. */
static enum status ffn_read(struct executor *x, enum state_kind kind, int row,
                            int n, const float **states, size_t *ld,
                            struct err *e)
{
    CHECK_INT(kind, STATE_FFN);
    return fixed_read(x, kind, row, n, states, ld, e);
}

enum { ASK_ROWS = 300 };
struct ask_result { struct neighbor nb[KNN_MAX_K]; int found; };

static int k_of_row(int row) { return 1 + row % 13; }

/* Ask for all rows, in an order that depends on `step`, and run. */
static void ask_all(struct entry_search *es, struct executor *x, int step,
                    struct ask_result *out)
{
    struct pass_search *pass = entry_search_pass(es);
    struct err e;

    for (int i = 0; i < ASK_ROWS; i++) {
        int row = i * step % ASK_ROWS;

        CHECK_OK(entry_search_ask(es, x, row, k_of_row(row), out[row].nb,
                                  &out[row].found, &e), &e);
    }
    CHECK_OK(pass->run(pass, x, &e), &e);
    CHECK_OK(pass->run(pass, x, &e), &e);       /* an empty queue */
}

/* The queue is longer than it has room for. The order of the rows, their number
 * and the pool do not change the neighbors. */
TEST(rows_are_independent)
{
    enum { N = 3000, D = 40 };
    static const struct executor_ops ops = { .read = ffn_read };
    static struct ask_result want[ASK_ROWS], got[ASK_ROWS];
    static float weight[N];
    struct pool *pool;
    struct err e;

    REQUIRE_OK(pool_new(&pool, 2, &e), &e);
    for (int i = 0; i < N; i++) weight[i] = logf(1 + (float)(i % 4));
    for (int type = 0; type < 2; type++) {
        size_t ld = (size_t)pad_to(D, 16);
        float *keys = shape_vectors(SHAPE_CLUSTERS, true, 0, N, D, D);
        float *q = shape_vectors(SHAPE_CLUSTERS, false, 5, ASK_ROWS, D, ld);
        struct made_entries m = { .type = (enum entry_type)type, .n = N,
            .kind = STATE_FFN, .d = D, .keys = keys, .block = 700, .pair = 10,
            .log_weight = weight };
        struct fixed_rows rows = fixed_rows(q, ld, ASK_ROWS);
        struct entries *s = make_entries(&m);
        struct entry_search *es = NULL;

        rows.x.ops = &ops;
        REQUIRE_OK(entry_search_new(&es, s, NULL, pool, &e), &e);
        entries_drop(s);        /* es holds it */
        entry_search_use_pool(es, false);
        for (int i = 0; i < ASK_ROWS; i++)
            CHECK_OK(entry_search_states(es, q + (size_t)i * ld, ld, 1,
                                         k_of_row(i), want[i].nb,
                                         &want[i].found, &e), &e);
        for (int step = 1; step < 18; step += 6) {
            entry_search_use_pool(es, step > 1);
            memset(got, 0, sizeof got);
            ask_all(es, &rows.x, step, got);
            for (int i = 0; i < ASK_ROWS; i++) {
                const struct neighbor *nb = got[i].nb;

                CHECK_INT(got[i].found, k_of_row(i));
                CHECK(same_neighbors(nb, want[i].nb, k_of_row(i)));
                CHECK(nb->pair * 10 + nb->pos == nb->token - 100);
                CHECK(nb->log_weight == weight[nb->token - 100]);
            }
        }
        entry_search_free(es);
        mem_free(keys);
        mem_free(q);
    }
    pool_free(pool);
}

/* ---- a map --------------------------------------------------------------- */

/* Keys are images of states. The distances are those of the images, computed
 * here in double. */
TEST(states_are_mapped)
{
    enum { FROM = 50, TO = 18, N = 300, NQ = 40, K = 3 };

    for (int type = 0; type < 2; type++) {
        float *mean = shape_vectors(SHAPE_RANDOM, true, 1000, 1, FROM, FROM);
        float *matrix = shape_vectors(SHAPE_RANDOM, true, 2000, TO, FROM, FROM);
        float *keys = shape_vectors(SHAPE_RANDOM, true, 0, N, TO, TO);
        float *q = shape_vectors(SHAPE_RANDOM, true, 3000, NQ, FROM, FROM + 3);
        struct entry_map map = { FROM, TO, mean, matrix };
        struct made_entries m = { .type = (enum entry_type)type, .n = N,
                                  .d = TO, .keys = keys, .map = &map };
        struct entries *s = make_entries(&m);
        struct neighbor nb[NQ * K], one[K];
        struct entry_search *es = NULL;
        int found, bad = 0;
        struct err e;

        REQUIRE_OK(entry_search_new(&es, s, NULL, NULL, &e), &e);
        CHECK_OK(entry_search_states(es, q, FROM + 3, NQ, K, nb, &found, &e),
                 &e);
        CHECK_INT(found, K);
        for (int i = 0; i < NQ; i++) {
            const float *x = q + i * (FROM + 3);
            double y[TO], best = INFINITY;

            for (int c = 0; c < TO; c++) {
                y[c] = 0;
                for (int j = 0; j < FROM; j++)
                    y[c] += (double)matrix[c * FROM + j] *
                            ((double)x[j] - (double)mean[j]);
            }
            for (int j = 0; j < N; j++) {
                float key[TO];
                double d2 = 0;

                entries_key(s, &s->blocks[0], j, key);
                for (int c = 0; c < TO; c++)
                    d2 += pow(y[c] - (double)key[c], 2);
                if (d2 < best) best = d2;
            }
            bad += !(fabs((double)nb[i * K].d2 - best) < 1e-5 * best);
            CHECK_OK(entry_search_states(es, x, 0, 1, K, one, &found, &e), &e);
            bad += !same_neighbors(one, nb + i * K, K);
        }
        CHECK_INT(bad, 0);
        entry_search_free(es);
        entries_drop(s);
        mem_free(mean);
        mem_free(matrix);
        mem_free(keys);
        mem_free(q);
    }
}

/* ---- the helper ---------------------------------------------------------- */

TEST(made_entries_are_read_back)
{
    enum { N = 130, D = 10 };
    float *keys = shape_vectors(SHAPE_RANDOM, true, 0, N, D, D), key[D];

    for (int type = 0; type < 2; type++) {
        struct made_entries m = { .type = (enum entry_type)type, .n = N,
                                  .d = D, .keys = keys, .block = 70,
                                  .pair = 4 };
        struct entries *s = make_entries(&m);
        int n, bad = 0;

        CHECK_INT(s->n_blocks, 2);
        CHECK_INT(s->blocks[0].n, 72);
        CHECK_INT(s->n, N);
        CHECK_INT(s->n_pairs, 33);
        CHECK(entries_block_of(s, 17) == &s->blocks[0]);
        CHECK(entries_block_of(s, 18) == &s->blocks[1]);
        CHECK_INT(entries_tokens(s, 18, &n)[0], 100 + 72);
        CHECK_INT(n, 4);
        CHECK_INT(entries_tokens(s, 32, &n)[1], 100 + 129);
        CHECK_INT(n, 2);
        CHECK(str_eq(s->ops->pair(s, 18).source, str_of("source 18")));
        for (int i = 0; i < N; i++) {
            struct entry_block *b = &s->blocks[i / 72];

            entries_key(s, b, i % 72, key);
            for (int c = 0; c < D; c++)
                bad += !(fabsf(key[c] - keys[i * D + c]) <
                         (type == ENTRY_INT8 ? 1e-2f : 1e-3f));
        }
        CHECK_INT(bad, 0);
        entries_drop(s);
    }
    mem_free(keys);
}
