/* test_kernels.c - tests every operation of every ISA that this CPU supports.
 *
 * The plain C table is compared with a naive computation in double precision
 * from the original matrix. Every other table is compared with the plain C
 * table: int8 products bit for bit, the rest within rounding. Other tests check
 * that the bytes of a row depend neither on the other rows nor on how the
 * panels are divided. */
#include "test.h"

#include <float.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/mem.h"
#include "tensor/kernels.h"
#include "tensor/pack.h"

static const int dim[][3] = {           /* rows, outputs, inputs */
    { 1, 1, 1 },     { 1, 33, 64 },   { 5, 31, 63 },    { 2, 64, 4 },
    { 3, 130, 517 }, { 4, 128, 128 }, { 6, 65, 66 },    { 8, 200, 96 },
    { 13, 70, 31 },  { 31, 64, 130 }, { 64, 512, 512 }, { 7, 192, 2048 },
};

#define FOR_EACH_ISA(k) \
    for (const struct kernels *k = next_isa(NULL); k; k = next_isa(k))

/* The table after k, or the first one after ref; NULL at the end. */
static const struct kernels *next_isa(const struct kernels *k)
{
    int i = k ? k->isa + 1 : ISA_AVX2;
    return i < ISA_COUNT ? kernels_for((enum isa)i) : NULL;
}

static uint32_t seed;

static uint32_t next(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

/* A random number from -1 to 1, more often near zero. */
static float draw(void)
{
    float a = (float)next() / 8388608 - 1, b = (float)next() / 16777216;
    return a * b;
}

static float *floats(size_t n, float size)
{
    float *p = mem_alloc(n, sizeof *p);
    for (size_t i = 0; i < n; i++) p[i] = size * draw();
    return p;
}

static size_t out_size(int rows, int n)
{
    return (size_t)rows * (size_t)pad_to(n, PANEL);
}

/* Check |got - want| <= tol * (|want| + floor) for all values. NaN fails. */
static void check_near(const char *what, const struct kernels *k,
                       const float *got, const float *want, size_t n,
                       double tol, double floor)
{
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]);
        if (!(d <= tol * (fabs((double)want[i]) + floor))) {
            test_fail(__FILE__, __LINE__, "%s %s: [%zu] is %.9g, want %.9g",
                      isa_name(k->isa), what, i, got[i], want[i]);
            return;
        }
    }
}

static void check_same(const char *what, const struct kernels *k,
                       const float *got, const float *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (memcmp(got + i, want + i, sizeof *got)) {
            test_fail(__FILE__, __LINE__,
                      "%s %s: [%zu] is %.9g, want the bytes of %.9g",
                      isa_name(k->isa), what, i, got[i], want[i]);
            return;
        }
    }
}

/* --- products ------------------------------------------------------------- */

/* A product with its operands and memory. */
struct product {
    struct linear l;
    struct gemm g;              /* g.y has the size of y0 */
    float *w, *x, *scale, *bias, *xs, *y0;
    int32_t *comp;
    void *packed;
    uint8_t *xq;
};

static void product_init(struct product *p, enum dtype type, int rows, int n,
                         int k)
{
    size_t np = (size_t)pad_to(n, PANEL), kp = (size_t)pad_to(k, 4);

    seed = (uint32_t)(rows * 1000003 + n * 1009 + k);
    p->w = floats((size_t)n * k, 0.1f);
    p->x = floats((size_t)rows * k, 4);
    p->y0 = floats(out_size(rows, n), 1);
    p->bias = floats(np, 1);
    p->scale = mem_alloc(np, sizeof(float));
    p->comp = mem_alloc(np, sizeof(int32_t));
    p->xs = mem_alloc((size_t)rows, sizeof(float));
    p->xq = mem_alloc((size_t)rows * kp, 1);
    p->packed = mem_alloc(linear_bytes(type, n, k), 1);
    pack_linear(type, p->w, n, k, p->packed, p->scale, p->comp);
    kernels_for(ISA_REF)->quantize(p->x, (size_t)k, rows, k, p->xq, p->xs);
    p->l = (struct linear){ .type = type, .n = n, .k = k, .w = p->packed,
                            .scale = p->scale, .comp = p->comp,
                            .bias = p->bias };
    p->g = (struct gemm){ .l = &p->l, .rows = rows, .x = p->x,
                          .ldx = (size_t)k, .xq = p->xq, .xs = p->xs,
                          .ldy = np };
}

static void product_release(struct product *p)
{
    mem_free(p->w);
    mem_free(p->x);
    mem_free(p->y0);
    mem_free(p->bias);
    mem_free(p->scale);
    mem_free(p->comp);
    mem_free(p->xs);
    mem_free(p->xq);
    mem_free(p->packed);
}

static void multiply(const struct kernels *k, const struct gemm *g, int p0,
                     int p1)
{
    switch (g->l->type) {
    case DT_I8: k->gemm_i8(g, p0, p1); break;
    case DT_F32: k->gemm_f32(g, p0, p1); break;
    default: k->gemm_bf16(g, p0, p1); break;
    }
}

/* Compute the whole product into y, which starts as a copy of y0. */
static void product_run(const struct product *p, const struct kernels *k,
                        float *y)
{
    struct gemm g = p->g;

    memcpy(y, p->y0, sizeof *y * out_size(g.rows, p->l.n));
    g.y = y;
    multiply(k, &g, 0, linear_panels(&p->l));
}

static double activated(enum act act, double x)
{
    switch (act) {
    case ACT_RELU: return x > 0 ? x : 0;
    case ACT_GELU: return x / 2 * (1 + erf(x / sqrt(2)));
    case ACT_SILU: return x / (1 + exp(-x));
    default: return x;
    }
}

/* One element, computed from the definition. For int8, the inputs are the
 * 8-bit activations and the quantized weights; the error of quantizing is
 * tested separately. */
static double product_naive(const struct product *p, const float *unpacked,
                            int row, int out)
{
    int k = p->l.k;
    size_t at = (size_t)row * p->g.ldy + (size_t)out;
    double sum = 0;

    for (int i = 0; i < k; i++) {
        double x = p->x[(size_t)row * k + i];
        if (p->l.type == DT_I8)
            x = (double)p->xs[row] *
                (p->xq[(size_t)row * pad_to(k, 4) + i] - 128);
        sum += x * unpacked[i];
    }
    if (p->l.bias) sum += p->bias[out];
    sum = activated(p->g.act, sum);
    return p->g.add ? sum + p->y0[at] : sum;
}

static const enum dtype types[] = { DT_I8, DT_F32, DT_BF16 };

/* How much a stored weight may differ from the original. */
static double packing_error(enum dtype type, const float *row, int k, float w)
{
    float max = 0;

    if (type == DT_F32) return 0;
    if (type == DT_BF16) return fabsf(w) / 256;
    for (int i = 0; i < k; i++) max = fmaxf(max, fabsf(row[i]));
    return max / 127 * 0.50001;
}

TEST(packed_rows_come_back)
{
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t i = 0; i < COUNT(dim); i++) {
            int n = dim[i][1], k = dim[i][2], bad = 0;
            struct product p;
            float *row = mem_alloc((size_t)k, sizeof *row);

            product_init(&p, types[t], 1, n, k);
            for (int o = 0; o < n; o++) {
                int32_t sum = 0;
                linear_row(&p.l, o, row);
                for (int j = 0; j < k; j++) {
                    const float *w = p.w + (size_t)o * k;
                    bad += fabs((double)row[j] - w[j]) >
                           packing_error(types[t], w, k, w[j]);
                    if (types[t] == DT_I8)
                        sum += (int32_t)lrintf(row[j] / p.scale[o]);
                }
                if (types[t] == DT_I8) bad += 128 * sum != p.comp[o];
            }
            CHECK_INT(bad, 0);
            if (types[t] == DT_I8)
                for (int o = n; o < pad_to(n, PANEL); o++)
                    CHECK(p.comp[o] == 0 && p.scale[o] == 1);
            mem_free(row);
            product_release(&p);
        }
    }
}

TEST(packing_a_row_of_zeros)
{
    static const float w[2][5] = { { 0 }, { 1, -2, 0.5f, 0, 1 } };
    static const int8_t want[5] = { 64, -127, 32, 0, 64 };  /* 63.5, 31.75 */
    int8_t q[2 * 4 * PANEL];
    float scale[PANEL];
    int32_t comp[PANEL];

    CHECK_INT((long long)linear_bytes(DT_I8, 2, 5), sizeof q);
    pack_linear(DT_I8, &w[0][0], 2, 5, q, scale, comp);
    CHECK(scale[0] == 1 && scale[1] == 2.0f / 127);
    CHECK_INT(comp[0], 0);
    CHECK_INT(comp[1], 128 * (64 - 127 + 32 + 64));
    for (int i = 0; i < 5; i++) {
        CHECK_INT(q[i / 4 * 4 * PANEL + i % 4], 0);
        CHECK_INT(q[i / 4 * 4 * PANEL + 4 + i % 4], want[i]);
    }
}

TEST(bf16_rounds_to_nearest_even)
{
    CHECK_INT(f32_to_bf16(1), 0x3f80);
    CHECK_INT(f32_to_bf16(1 + 1.0f / 256), 0x3f80);         /* tie, even */
    CHECK_INT(f32_to_bf16(1 + 3.0f / 256), 0x3f82);         /* tie, up */
    CHECK_INT(f32_to_bf16(1 + 1.1f / 256), 0x3f81);
    CHECK_INT(f32_to_bf16(-INFINITY), 0xff80);
    CHECK_INT(f32_to_bf16(3.4e38f), 0x7f80);
    CHECK(isnan(bf16_to_f32(f32_to_bf16(NAN))));
    CHECK(bf16_to_f32(0xc000) == -2);
}

TEST(ref_products_are_the_definition)
{
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t i = 0; i < COUNT(dim); i++) {
            for (int c = 0; c < 5; c++) {
                int m = dim[i][0], n = dim[i][1], k = dim[i][2], bad = 0;
                struct product p;
                float *y, *w = mem_alloc((size_t)k, sizeof *w);

                if (m > 8) m = 8;
                product_init(&p, types[t], m, n, k);
                y = mem_alloc(out_size(m, n), sizeof *y);
                p.g.act = (enum act)(c % 4);
                p.g.add = c >= 2;
                if (c == 4) p.l.bias = NULL;
                product_run(&p, kernels_for(ISA_REF), y);
                for (int o = 0; o < n; o++) {
                    linear_row(&p.l, o, w);
                    for (int r = 0; r < m; r++) {
                        double want = product_naive(&p, w, r, o);
                        double got = y[(size_t)r * p.g.ldy + o];
                        bad += !(fabs(got - want) < 5e-6 * (1 + fabs(want)));
                    }
                }
                if (bad) test_fail(__FILE__, __LINE__, "%s %dx%dx%d: %d bad",
                                   dtype_name(types[t]), m, n, k, bad);
                mem_free(w);
                mem_free(y);
                product_release(&p);
            }
        }
    }
}

TEST(small_rows_keep_their_digits)
{
    static const float x[2][4] = { { 1e-25f, -5e-26f, 0, 1e-26f },
                                   { 1e-31f, -1e-31f, 0, 0 } };
    static const uint8_t want[2][4] = { { 255, 64, 128, 141 },  /* -63.5 tie */
                                        { 128, 128, 128, 128 } };

    for (enum isa i = ISA_REF; i < ISA_COUNT; i++) {
        const struct kernels *k = kernels_for(i);
        uint8_t q[2][4];
        float s[2];

        if (!k) continue;
        k->quantize(&x[0][0], 4, 2, 4, &q[0][0], s);
        CHECK_MEM(q, want, sizeof q);
        CHECK(s[0] == 1e-25f / 127 && s[1] == 1);
    }
}

/* --- products with sparse inputs ------------------------------------------ */

/* A product with its weights in both layouts. Its inputs are nonnegative, and
 * only one in `every` is not zero. */
struct sparse_product {
    struct product p;
    struct linear by_input;
    int8_t *w;
    struct nonzero *nz;
    uint16_t *at;
    uint8_t *value;
};

static void sparse_init(struct sparse_product *s, int rows, int n, int k,
                        int every)
{
    size_t np = (size_t)pad_to(n, PANEL), kp = (size_t)pad_to(k, 4);
    float *scale;

    product_init(&s->p, DT_I8, rows, n, k);
    for (int i = 0; i < rows * k; i++)
        s->p.x[i] = every && i % every == 0 ? fabsf(s->p.x[i]) : 0;
    kernels_for(ISA_REF)->quantize(s->p.x, (size_t)k, rows, k, s->p.xq,
                                   s->p.xs);
    s->w = mem_alloc(np * (size_t)k, 1);
    scale = mem_alloc(np, sizeof *scale);
    pack_by_input(s->p.w, n, k, s->w, (int)np, scale);
    CHECK_MEM(scale, s->p.scale, np * sizeof *scale);
    mem_free(scale);
    s->by_input = s->p.l;
    s->by_input.w = NULL;
    s->by_input.comp = NULL;
    s->by_input.by_input = s->w;
    s->nz = mem_alloc((size_t)rows, sizeof *s->nz);
    s->at = mem_alloc((size_t)rows * kp, sizeof *s->at);
    s->value = mem_alloc((size_t)rows * kp, 1);
    for (size_t r = 0; r < (size_t)rows; r++)
        s->nz[r] = (struct nonzero){ -1, s->at + r * kp, s->value + r * kp };
}

static void sparse_release(struct sparse_product *s)
{
    product_release(&s->p);
    mem_free(s->w);
    mem_free(s->nz);
    mem_free(s->at);
    mem_free(s->value);
}

/* Every input that is not zero is listed once, in order, with its value. */
static void check_lists(const struct sparse_product *s)
{
    int k = s->p.l.k;

    for (int r = 0; r < s->p.g.rows; r++) {
        const uint8_t *x = s->p.xq + (size_t)r * pad_to(k, 4);
        const struct nonzero *nz = &s->nz[r];
        int n = 0;

        for (int i = 0; i < k; i++) {
            if (x[i] == 128) continue;
            CHECK_INT(nz->at[n], i);
            CHECK_INT(nz->value[n], x[i] - 128);
            n++;
        }
        CHECK_INT(nz->n, (n + 3) / 4);
        for (; n < 4 * nz->n; n++)
            CHECK(nz->value[n] == 0 && nz->at[n] < k);
    }
}

/* Compute the product in two parts, to check that a range of panels writes
 * nothing else. */
static void sparse_run(struct sparse_product *s, const struct kernels *k,
                       float *y)
{
    struct gemm g = s->p.g;
    int panels = linear_panels(&s->by_input);

    g.l = &s->by_input;
    g.y = y;
    g.nz = s->nz;
    memcpy(y, s->p.y0, sizeof *y * out_size(g.rows, s->p.l.n));
    k->list_nonzero(s->p.xq, g.rows, s->p.l.k, s->nz);
    check_lists(s);
    k->gemm_sparse(&g, 0, panels / 2);
    k->gemm_sparse(&g, panels / 2, panels);
}

TEST(sparse_products_are_the_dense_ones)
{
    static const int every[] = { 0, 1, 3, 14 };

    for (size_t i = 0; i < COUNT(dim) * COUNT(every); i++) {
        const int *d = dim[i / COUNT(every)];
        size_t size = out_size(d[0], d[1]);
        struct sparse_product s;
        float *want = mem_alloc(size, sizeof *want);
        float *got = mem_alloc(size, sizeof *got);

        sparse_init(&s, d[0], d[1], d[2], every[i % COUNT(every)]);
        s.p.g.add = (int)(i % 2);
        product_run(&s.p, kernels_for(ISA_REF), want);
        sparse_run(&s, kernels_for(ISA_REF), got);
        check_same("gemm_sparse", kernels_for(ISA_REF), got, want, size);
        FOR_EACH_ISA(k) {
            sparse_run(&s, k, got);
            check_same("gemm_sparse", k, got, want, size);
        }
        mem_free(want);
        mem_free(got);
        sparse_release(&s);
    }
}

/* Compare every table with ref for one product. */
static void compare_product(struct product *p, float *want, float *got)
{
    size_t size = out_size(p->g.rows, p->l.n);

    product_run(p, kernels_for(ISA_REF), want);
    FOR_EACH_ISA(k) {
        product_run(p, k, got);
        if (p->l.type == DT_I8 && p->g.act <= ACT_RELU)
            check_same("gemm_i8", k, got, want, size);
        else if (p->l.type == DT_I8)
            check_near("gemm_i8", k, got, want, size, 4e-6,
                       p->g.add ? 1 : 1e-9);
        else
            check_near(dtype_name(p->l.type), k, got, want, size,
                       3e-7 * sqrt(p->l.k), 1);
    }
}

TEST(products_agree_with_ref)
{
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t i = 0; i < COUNT(dim); i++) {
            struct product p;
            size_t size = out_size(dim[i][0], dim[i][1]);
            float *want = mem_alloc(size, sizeof *want);
            float *got = mem_alloc(size, sizeof *got);

            product_init(&p, types[t], dim[i][0], dim[i][1], dim[i][2]);
            for (int c = 0; c < 16; c++) {
                p.g.act = (enum act)(c % 4);
                p.g.add = c / 4 % 2;
                p.l.bias = c / 8 ? p.bias : NULL;
                compare_product(&p, want, got);
            }
            mem_free(want);
            mem_free(got);
            product_release(&p);
        }
    }
}

/* Kernels divide rows among tiles and passes. No row may be left out or
 * computed twice (with `add` this would show), and nothing may be written after
 * the last row. */
TEST(int8_products_of_any_number_of_rows)
{
    enum { MOST = 70, N = 70 };
    static const int inputs[] = { 64, 192, 100 };
    size_t size = out_size(MOST + 1, N);
    float *want = mem_alloc(size, sizeof *want);
    float *got = mem_alloc(size, sizeof *got);

    for (size_t i = 0; i < COUNT(inputs) * MOST; i++) {
        int rows = 1 + (int)(i % MOST);
        struct product p;

        product_init(&p, DT_I8, rows, N, inputs[i / MOST]);
        p.g.add = 1;
        got[out_size(rows, N)] = -7;
        compare_product(&p, want, got);
        CHECK(got[out_size(rows, N)] == -7);
        product_release(&p);
    }
    mem_free(want);
    mem_free(got);
}

/* With weights of +-127 and activations of 0, 1 and 255, a kernel that adds
 * pairs of products in 16 bits with saturation gives wrong results. */
TEST(int8_extremes_do_not_saturate)
{
    enum { M = 20, N = 64, K = 2048 };
    struct product p;
    float *want = mem_alloc(M * N, sizeof *want);
    float *got = mem_alloc(M * N, sizeof *got);

    product_init(&p, DT_I8, M, N, K);
    for (int pattern = 0; pattern < 4; pattern++) {
        for (int o = 0; o < N; o++)
            for (int i = 0; i < K; i++)
                p.w[o * K + i] = pattern == 3 && next() % 2 ? -1 :
                                 pattern == 1 ? -1 : 1;
        pack_linear(DT_I8, p.w, N, K, p.packed, p.scale, p.comp);
        for (int i = 0; i < M * K; i++) {
            static const uint8_t ends[] = { 1, 255, 255, 1, 0 };
            p.xq[i] = pattern == 3 ? ends[next() % 5] : ends[i / K % 5];
        }
        compare_product(&p, want, got);
    }
    mem_free(want);
    mem_free(got);
    product_release(&p);
}

/* Computing row by row and panel by panel gives the same bytes. */
TEST(rows_and_panels_are_independent)
{
    static const int most[] = { 1, 5, 6, 7, 12, 13, 19, 25, 64 };
    enum { N = 130, PANELS = 3 };

    for (size_t t = 0; t < 2 * COUNT(types); t++) {
        const enum dtype type = types[t / 2];
        const int K = t % 2 ? 192 : 133;        /* whole tiles, or not */
        struct product p;
        float *want = mem_alloc(out_size(64, N), sizeof *want);
        float *got = mem_alloc(out_size(64, N), sizeof *got);

        product_init(&p, type, 64, N, K);
        p.g.act = ACT_GELU;
        FOR_EACH_ISA(k) {
            struct gemm g = p.g;
            for (int r = 0; r < 64; r++) {
                g.rows = 1;
                g.x = p.x + (size_t)r * K;
                g.xq = p.xq + (size_t)r * pad_to(K, 4);
                g.xs = p.xs + r;
                g.y = want + (size_t)r * g.ldy;
                for (int q = 0; q < PANELS; q++) multiply(k, &g, q, q + 1);
            }
            for (size_t i = 0; i < COUNT(most); i++) {
                size_t size = out_size(most[i], N);
                memset(got, 0xff, sizeof *got * size);
                g = p.g;
                g.rows = most[i];
                g.y = got;
                multiply(k, &g, 0, 1);
                CHECK(isnan(got[PANEL]));       /* not written */
                multiply(k, &g, 1, PANELS);
                check_same(dtype_name(type), k, got, want, size);
            }
        }
        mem_free(want);
        mem_free(got);
        product_release(&p);
    }
}

/* Test activations over their whole range with a 1 x 1 matrix, where y = x
 * before the activation. */
TEST(activations_are_exact_enough)
{
    static const float w[1] = { 1 };
    float packed[PANEL], y[PANEL], x;
    struct linear l = { .type = DT_F32, .n = 1, .k = 1, .w = packed };
    struct gemm g = { .l = &l, .rows = 1, .x = &x, .ldx = 1, .y = y,
                      .ldy = PANEL };

    pack_linear(DT_F32, w, 1, 1, packed, NULL, NULL);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const struct kernels *k = kernels_for((enum isa)isa);
        if (!k) continue;
        for (int i = -12000; i <= 12000; i++) {
            double want, tol = isa ? abs(i) < 6000 ? 1.5e-6 : 5e-6 : 1e-7;

            x = (float)i / 1000;
            g.act = ACT_GELU;
            k->gemm_f32(&g, 0, 1);
            want = 0.5 * x * erfc(-x / sqrt(2));
            if (!CHECK(fabs(y[0] - want) <= tol * fabs(want))) break;
            g.act = ACT_SILU;
            k->gemm_f32(&g, 0, 1);
            want = x / (1 + exp(-(double)x));
            if (!CHECK(fabs(y[0] - want) <= 2.5e-7 * fabs(want))) break;
        }
        x = 100;
        k->gemm_f32(&g, 0, 1);
        CHECK(y[0] == 100);
        x = -100;
        k->gemm_f32(&g, 0, 1);
        CHECK(fabsf(y[0]) < 1e-30f);
    }
}

/* --- rows ----------------------------------------------------------------- */

static void quantize_by_hand(const float *x, int k, const uint8_t *want,
                             float s)
{
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const struct kernels *kern = kernels_for((enum isa)isa);
        uint8_t q[32];
        float got;

        if (!kern) continue;
        memset(q, 7, sizeof q);
        kern->quantize(x, (size_t)k, 1, k, q, &got);
        CHECK(got == s);
        CHECK_MEM(q, want, (size_t)pad_to(k, 4));
        CHECK_INT(q[pad_to(k, 4)], 7);
    }
}

TEST(quantize_known_rows)
{
    /* s = 1: ties go to even */
    static const float ties[] = { 127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -127 };
    static const uint8_t ties_q[] = { 255, 128, 130, 130, 128, 126, 1, 128 };
    static const float zero[5] = { 0, -0.0f, 1e-38f, 0, 0 };
    static const uint8_t zero_q[] = { 128, 128, 128, 128, 128, 128, 128, 128 };
    static const float one[] = { -3 };
    static const uint8_t one_q[] = { 1, 128, 128, 128 };

    quantize_by_hand(ties, 7, ties_q, 1);
    quantize_by_hand(zero, 5, zero_q, 1);
    quantize_by_hand(one, 1, one_q, 3.0f / 127);
}

TEST(quantize_agrees_with_ref)
{
    static const int sizes[] = { 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 47, 64, 127,
                                 191, 512, 517 };

    for (size_t i = 0; i < COUNT(sizes); i++) {
        int k = sizes[i], kp = pad_to(k, 4);
        size_t ldx = (size_t)k + 3;
        float *x = floats(5 * ldx, 3), want_s[5], s[5];
        uint8_t *want = mem_alloc(5 * (size_t)kp, 1);
        uint8_t *got = mem_alloc(5 * (size_t)kp, 1);

        kernels_for(ISA_REF)->quantize(x, ldx, 5, k, want, want_s);
        for (int r = 0; r < 5; r++) {
            double worst = 0;
            for (int j = 0; j < k; j++)
                worst = fmax(worst, fabs(want_s[r] * (want[r * kp + j] - 128.0)
                                         - x[(size_t)r * ldx + j]));
            CHECK(worst <= 0.50001 * want_s[r]);
        }
        FOR_EACH_ISA(kern) {
            kern->quantize(x, ldx, 5, k, got, s);
            CHECK_MEM(got, want, 5 * (size_t)kp);
            CHECK_MEM(s, want_s, sizeof s);
        }
        mem_free(x);
        mem_free(want);
        mem_free(got);
    }
}

/* Quantizing half floats is quantizing the same numbers as floats. */
TEST(quantize_half_floats)
{
    static const int sizes[] = { 1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 47, 64, 127,
                                 191, 512, 517 };
    enum { ROWS = 5 };

    for (size_t i = 0; i < COUNT(sizes); i++) {
        int k = sizes[i], kp = pad_to(k, 4);
        size_t ld = (size_t)pad_to(k, 32), all = ROWS * ld;
        float *x = floats(all, 3), want_s[ROWS], s[ROWS];
        uint16_t *h = mem_zalloc(all, sizeof *h);
        uint8_t *want = mem_alloc(ROWS * (size_t)kp, 1);
        uint8_t *got = mem_alloc(ROWS * (size_t)kp, 1);

        for (size_t j = 0; j < all; j++) {
            if (j % ld < (size_t)k && j / ld > 0) h[j] = f32_to_f16(x[j]);
            x[j] = f16_to_f32(h[j]);
        }
        kernels_for(ISA_REF)->quantize(x, ld, ROWS, k, want, want_s);
        for (enum isa isa = ISA_REF; isa < ISA_COUNT; isa++) {
            if (!kernels_for(isa)) continue;
            kernels_for(isa)->quantize_f16(h, ld, ROWS, k, got, s);
            CHECK_MEM(got, want, ROWS * (size_t)kp);
            CHECK_MEM(s, want_s, sizeof s);
        }
        mem_free(x);
        mem_free(h);
        mem_free(want);
        mem_free(got);
    }
}

TEST(layer_norm_agrees_with_ref)
{
    static const int sizes[] = { 1, 2, 7, 8, 9, 15, 16, 17, 33, 63, 512, 1024,
                                 1027 };
    static const float eps[] = { 1e-5f, 0.1f };

    for (size_t i = 0; i < 2 * COUNT(sizes); i++) {
        int d = sizes[i / 2];
        size_t ldx = (size_t)d + 2, ldy = (size_t)d + 5;
        float *x = floats(3 * ldx, i % 2 ? 0.5f : 20);
        float *gain = floats((size_t)d, 2), *bias = floats((size_t)d, 2);
        float *want = floats(3 * ldy, 1), *got = floats(3 * ldy, 1);

        for (int j = 0; j < d; j++) x[j] += 3;      /* a mean to remove */
        kernels_for(ISA_REF)->layer_norm(x, ldx, 3, d, gain, bias, eps[i % 2],
                                         want, ldy);
        for (int j = 0; j < d; j++) {       /* check the first row of ref */
            double mean = 0, var = 0;
            for (int c = 0; c < d; c++) mean += x[c] / (double)d;
            for (int c = 0; c < d; c++) var += pow(x[c] - mean, 2) / d;
            CHECK_NEAR(want[j], (x[j] - mean) / sqrt(var + eps[i % 2]) * gain[j]
                       + bias[j], 2e-6);
        }
        FOR_EACH_ISA(k) {
            memcpy(got, want, sizeof *got * 3 * ldy);
            for (int r = 0; r < 3; r++)
                for (int j = 0; j < d; j++) got[(size_t)r * ldy + j] = 77;
            k->layer_norm(x, ldx, 3, d, gain, bias, eps[i % 2], got, ldy);
            check_near("layer_norm", k, got, want, 3 * ldy - 5, 2e-6, 1);
        }
        mem_free(x);
        mem_free(gain);
        mem_free(bias);
        mem_free(want);
        mem_free(got);
    }
}

TEST(row_stats_agree_with_ref)
{
    static const int sizes[] = { 1, 2, 15, 16, 17, 63, 64, 65, 100, 127, 1000,
                                 16000, 250002 };

    for (size_t i = 0; i < COUNT(sizes); i++) {
        int n = sizes[i], blocks = (n + PANEL - 1) / PANEL;
        float *x = floats((size_t)n + 1, 20);
        float *want = mem_alloc((size_t)blocks, sizeof *want);
        float *got = mem_alloc((size_t)blocks + 1, sizeof *got);
        struct row_stats a, b;
        double sum = 0, zsum = 0;

        x[n / 2] = -INFINITY;           /* a masked token */
        if (n == 1) x[0] = -4;
        x[n] = 1000;                    /* not part of the row */
        kernels_for(ISA_REF)->row_stats(x, n, want, &a);
        for (int j = 0; j < n; j++) {
            CHECK(x[j] <= want[j / PANEL] && want[j / PANEL] <= a.max);
            sum += exp((double)x[j] - a.max);
            if (x[j] > -INFINITY)
                zsum += ((double)x[j] - a.max) * exp((double)x[j] - a.max);
        }
        CHECK_NEAR(a.sum, sum, 1e-6 * sum);
        CHECK_NEAR(a.zsum, zsum, 1e-6 * (sum - zsum));
        FOR_EACH_ISA(k) {
            got[blocks] = 5;
            k->row_stats(x, n, got, &b);
            CHECK_MEM(got, want, sizeof *got * (size_t)blocks);
            CHECK(got[blocks] == 5);
            CHECK(b.max == a.max);
            CHECK_NEAR(b.sum, a.sum, (n > 16000 ? 1e-5 : 1e-6) * a.sum);
            CHECK_NEAR(b.zsum, a.zsum,
                       (n > 16000 ? 1e-5 : 1e-6) * (a.sum - a.zsum));
        }
        mem_free(x);
        mem_free(want);
        mem_free(got);
    }
}

/* --- attention ------------------------------------------------------------ */

/* With keys 0 and x the weights are in the ratio 1 : exp(x). */
TEST(exp_of_the_whole_range)
{
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const struct kernels *k = kernels_for((enum isa)isa);
        float q[1] = { 1 }, v[2] = { 0, 0 }, key[2] = { 0, 0 }, out, w[2];
        float scratch[ATTENTION_SCRATCH(2)];
        struct attention a = { .n_q = 1, .n_k = 2, .heads = 1, .head_dim = 1,
                               .q = q, .ldq = 1, .k = key, .v = v, .ldk = 1,
                               .ldv = 1, .scale = 1, .out = &out, .ldo = 1,
                               .weights = w, .scratch = scratch };
        if (!k) continue;
        for (int i = 0; i <= 8700; i++) {
            key[1] = (float)-i / 100;
            k->attention(&a);
            double want = exp((double)key[1]);
            if (!CHECK(fabs((double)w[1] / w[0] - want) <= 3e-7 * want)) break;
        }
        key[1] = -87.3365402f;          /* the weight is still normal */
        k->attention(&a);
        CHECK(w[1] >= FLT_MIN && w[1] < 1.1756e-38f);
        key[1] = -INFINITY;
        k->attention(&a);
        CHECK(w[0] == 1 && w[1] == 0);
        key[1] = -200;
        k->attention(&a);
        CHECK(w[0] == 1 && w[1] < 1e-37f);
    }
}

static const int att[][4] = {           /* queries, keys, heads, head_dim */
    { 1, 1, 1, 1 },    { 1, 1, 8, 64 },   { 4, 30, 8, 64 },  { 1, 37, 3, 64 },
    { 2, 5, 2, 32 },   { 3, 17, 2, 128 }, { 5, 16, 3, 20 },  { 7, 33, 2, 7 },
    { 9, 9, 1, 80 },   { 13, 64, 2, 64 }, { 1, 1000, 2, 64 }, { 4, 515, 1, 96 },
    { 6, 3, 2, 130 },  { 33, 33, 2, 64 }, { 11, 40, 1, 64 },
    { 12, 256, 1, 64 }, { 12, 257, 1, 64 }, { 18, 250, 2, 64 },
    { 12, 300, 1, 64 },
};

/* Attention of one query and head, computed from the definition in double. */
static void attend_naive(const struct attention *a, int i, int h, double *p,
                         double *out)
{
    double max = -INFINITY, sum = 0;
    size_t at = (size_t)h * a->head_dim;

    for (int j = 0; j < a->n_k; j++) {
        size_t row = (size_t)(a->slot ? a->slot[j] : j);
        p[j] = 0;
        for (int c = 0; c < a->head_dim; c++)
            p[j] += (double)a->q[(size_t)i * a->ldq + at + c] *
                    a->k[row * a->ldk + at + c];
        p[j] *= a->scale;
        max = fmax(max, p[j]);
    }
    for (int j = 0; j < a->n_k; j++) sum += p[j] = exp(p[j] - max);
    for (int c = 0; c < a->head_dim; c++) out[c] = 0;
    for (int j = 0; j < a->n_k; j++) {
        size_t row = (size_t)(a->slot ? a->slot[j] : j);
        p[j] /= sum;
        for (int c = 0; c < a->head_dim; c++)
            out[c] += p[j] * a->v[row * a->ldv + at + c];
    }
}

static void check_definition(const struct attention *a)
{
    double *p = mem_alloc((size_t)a->n_k, sizeof *p), out[256];
    int bad = 0;

    for (int i = 0; i < a->n_q; i++) {
        for (int h = 0; h < a->heads; h++) {
            attend_naive(a, i, h, p, out);
            for (int j = 0; j < a->n_k; j++) {
                double w = a->weights[((size_t)i * a->heads + h) * a->n_k + j];
                bad += !(fabs(w - p[j]) <= 3e-6 * p[j]);
            }
            for (int c = 0; c < a->head_dim; c++)
                bad += !(fabs(a->out[(size_t)i * a->ldo + h * a->head_dim + c]
                              - out[c]) <= 3e-6);
        }
    }
    CHECK_INT(bad, 0);
    mem_free(p);
}

TEST(attention_agrees_with_ref)
{
    for (size_t t = 0; t < 2 * COUNT(att); t++) {
        const int *s = att[t / 2];
        int n_q = s[0], n_k = s[1];
        size_t d = (size_t)s[2] * s[3], ldk = d + 3, ldv = d + 1, ldo = d + 2;
        size_t n_w = (size_t)n_q * s[2] * n_k;
        int32_t *slot = mem_alloc((size_t)n_k, sizeof *slot);
        float *q = floats((size_t)n_q * d, 3), *k = floats(2 * n_k * ldk, 3);
        float *v = floats(2 * n_k * ldv, 1), *got_w = floats(n_w + 1, 1);
        float *want = floats((size_t)n_q * ldo, 1), *want_w = floats(n_w, 1);
        float *got = floats((size_t)n_q * ldo, 1);
        float *scratch = floats(ATTENTION_SCRATCH(n_k), 1);
        struct attention a = { .n_q = n_q, .n_k = n_k, .heads = s[2],
                               .head_dim = s[3], .q = q, .ldq = d, .k = k,
                               .v = v, .ldk = ldk, .ldv = ldv,
                               .slot = t % 2 ? slot : NULL,
                               .scale = 1 / sqrtf((float)s[3]), .out = want,
                               .ldo = ldo, .weights = want_w,
                               .scratch = scratch };

        for (int j = 0; j < n_k; j++) slot[j] = (int32_t)(next() % (2 * n_k));
        kernels_for(ISA_REF)->attention(&a);
        check_definition(&a);
        FOR_EACH_ISA(kern) {
            memcpy(got, want, sizeof *got * (size_t)n_q * ldo);
            for (int i = 0; i < n_q; i++)
                for (size_t c = 0; c < d; c++) got[(size_t)i * ldo + c] = 9;
            got_w[n_w] = 5;
            a.out = got;
            a.weights = got_w;
            kern->attention(&a);
            check_near("attention", kern, got, want, (size_t)n_q * ldo, 3e-6,
                       0.3);
            check_near("weights", kern, got_w, want_w, n_w, 3e-6, 0);
            CHECK(got_w[n_w] == 5);

            a.n_q = 1;                  /* single queries give the same bytes */
            a.weights = NULL;
            for (int i = 0; i < n_q; i++) {
                float one[1024];
                a.q = q + (size_t)i * d;
                a.out = one;
                kern->attention(&a);
                check_same("single query", kern, one, got + (size_t)i * ldo, d);
            }
            a.n_q = n_q;
            a.q = q;
        }
        mem_free(slot);
        mem_free(q);
        mem_free(k);
        mem_free(v);
        mem_free(want);
        mem_free(got);
        mem_free(want_w);
        mem_free(got_w);
        mem_free(scratch);
    }
}

/* Causal attention gives the same result as one call per query, each with one
 * key more. */
TEST(causal_attention_is_one_query_after_the_other)
{
    for (size_t t = 0; t < 2 * COUNT(att) * ISA_COUNT; t++) {
        const struct kernels *kern = kernels_for((enum isa)(t % ISA_COUNT));
        const int *s = att[t / ISA_COUNT / 2];
        bool slots = t / ISA_COUNT % 2;
        int n_k = s[1], n_q = s[0] < n_k ? s[0] : n_k;
        size_t d = (size_t)s[2] * s[3], ldq = d + 2, ldk = d + 3, ldv = d + 1;
        int32_t slot[1000];
        float *q, *k, *v, *got, *one, *scratch;

        if (!kern) continue;
        q = floats((size_t)n_q * ldq, 3);
        k = floats(2 * (size_t)n_k * ldk, 3);
        v = floats(2 * (size_t)n_k * ldv, 1);
        got = floats((size_t)n_q * d, 1);
        one = floats(d, 1);
        scratch = floats(ATTENTION_SCRATCH(n_k), 1);
        for (int j = 0; j < n_k; j++) slot[j] = (int32_t)(next() % (2 * n_k));
        struct attention a = { .n_q = n_q, .n_k = n_k, .heads = s[2],
                               .head_dim = s[3], .causal = 1, .q = q,
                               .ldq = ldq, .k = k, .v = v, .ldk = ldk,
                               .ldv = ldv, .slot = slots ? slot : NULL,
                               .scale = 1 / sqrtf((float)s[3]), .out = got,
                               .ldo = d, .scratch = scratch };

        kern->attention(&a);
        a.n_q = 1;
        a.causal = 0;
        a.out = one;
        for (int i = 0; i < n_q; i++) {
            a.n_k = n_k - n_q + 1 + i;
            a.q = q + (size_t)i * ldq;
            kern->attention(&a);
            check_same("causal query", kern, one, got + (size_t)i * d, d);
        }
        mem_free(q);
        mem_free(k);
        mem_free(v);
        mem_free(got);
        mem_free(one);
        mem_free(scratch);
    }
}

/* --- distances ----------------------------------------------------------- */

enum { DIST_NQ = 9, DIST_N = 40 };
static const int dist_d[] = { 1, 7, 8, 9, 15, 16, 17, 24, 64, 100, 512 };

/* The types of keys. */
enum dist_type { DIST_KEYS_F32, DIST_KEYS_I8, DIST_KEYS_F16, DIST_TYPES };
static const char *const dist_name[] = { "distances_f32", "distances_i8",
                                         "distances_f16" };

/* DIST_NQ queries and DIST_N keys of all types, padded as kernels.h requires.
 * Every key is made from a query: a third of the float keys are equal to the
 * query, a third are close to it. The padding of queries is NaN. */
struct points {
    int d;
    size_t ldq, ldf, ldi, ldh;          /* of queries, f32, int8, f16 keys */
    float *q, *f, *scale;
    float *same[DIST_TYPES];            /* the keys of each type as floats */
    int8_t *i;
    uint16_t *h;
};

/* Set key j to query j % DIST_NQ, plus at most about `off` in each column. */
static void points_key(struct points *p, size_t j, float off)
{
    const float *q = p->q + j % DIST_NQ * p->ldq;
    float *f = p->f + j * p->ldf;
    int8_t *i = p->i + j * p->ldi;
    uint16_t *h = p->h + j * p->ldh;

    p->scale[j] = (1.5f + draw()) / 127;
    for (size_t c = 0; c < (size_t)p->d; c++) {
        float v = rintf((q[c] + off * draw()) / p->scale[j]);

        f[c] = q[c] + off * draw();
        i[c] = (int8_t)fmaxf(-127, fminf(127, v));
        h[c] = f32_to_f16(f[c]);
        p->same[DIST_KEYS_F32][j * p->ldf + c] = f[c];
        p->same[DIST_KEYS_I8][j * p->ldf + c] = p->scale[j] * (float)i[c];
        p->same[DIST_KEYS_F16][j * p->ldf + c] = f16_to_f32(h[c]);
    }
}

static void points_init(struct points *p, int d)
{
    static const float off[] = { 0, 1e-3f, 1 };

    seed = (uint32_t)d;
    p->d = d;
    p->ldq = (size_t)pad_to(d, 16);
    p->ldf = p->ldq + 16;
    p->ldi = (size_t)pad_to(d, 64) + 64;
    p->ldh = (size_t)pad_to(d, 32) + 32;
    p->q = floats(DIST_NQ * p->ldq, 2);
    p->f = mem_zalloc(DIST_N * p->ldf, sizeof *p->f);
    for (int t = 0; t < DIST_TYPES; t++)
        p->same[t] = mem_zalloc(DIST_N * p->ldf, sizeof *p->same[t]);
    p->i = mem_zalloc(DIST_N * p->ldi, 1);
    p->h = mem_zalloc(DIST_N * p->ldh, sizeof *p->h);
    p->scale = mem_alloc(DIST_N, sizeof *p->scale);
    for (size_t j = 0; j < DIST_N; j++) points_key(p, j, off[j % COUNT(off)]);
    for (size_t t = 0; t < DIST_NQ; t++)
        for (size_t c = (size_t)d; c < p->ldq; c++)
            p->q[t * p->ldq + c] = NAN;
}

static void points_release(struct points *p)
{
    mem_free(p->q);
    mem_free(p->f);
    for (int t = 0; t < DIST_TYPES; t++) mem_free(p->same[t]);
    mem_free(p->i);
    mem_free(p->h);
    mem_free(p->scale);
}

/* Compute the distances of a range of queries to a range of keys. */
static void measure(const struct kernels *k, const struct points *p, int type,
                    const int *part, float *out, size_t ldo)
{
    size_t q0 = (size_t)part[0], k0 = (size_t)part[2];
    struct distances a = { .q = p->q + q0 * p->ldq, .ldq = p->ldq,
                           .n_q = part[1], .n = part[3], .d = p->d,
                           .out = out, .ldo = ldo };

    if (type == DIST_KEYS_F16) {
        a.keys = p->h + k0 * p->ldh;
        a.ldk = p->ldh;
        k->distances_f16(&a);
    } else if (type == DIST_KEYS_I8) {
        a.keys = p->i + k0 * p->ldi;
        a.ldk = p->ldi;
        a.scale = p->scale + k0;
        k->distances_i8(&a);
    } else {
        a.keys = p->f + k0 * p->ldf;
        a.ldk = p->ldf;
        k->distances_f32(&a);
    }
}

static const int dist_whole[] = { 0, DIST_NQ, 0, DIST_N };

/* Compare with a computation in double. All terms of a sum are nonnegative, so
 * even the smallest distance is accurate. */
TEST(ref_distances_are_the_definition)
{
    for (size_t i = 0; i < COUNT(dist_d); i++) {
        float got[DIST_TYPES][DIST_NQ][DIST_N];
        struct points p;
        int bad = 0;

        points_init(&p, dist_d[i]);
        for (int type = 0; type < DIST_TYPES; type++)
            measure(kernels_for(ISA_REF), &p, type, dist_whole, got[type][0],
                    DIST_N);
        for (size_t t = 0; t < DIST_NQ; t++) {
            for (size_t j = 0; j < DIST_N; j++) {
                double want[DIST_TYPES] = { 0 };
                for (size_t c = 0; c < DIST_TYPES * (size_t)p.d; c++)
                    want[c % DIST_TYPES] +=
                        pow((double)p.q[t * p.ldq + c / DIST_TYPES] -
                            p.same[c % DIST_TYPES][j * p.ldf + c / DIST_TYPES],
                            2);
                for (int type = 0; type < DIST_TYPES; type++)
                    bad += !(fabs(got[type][t][j] - want[type]) <=
                             2e-7 * want[type]);
                bad += j % 3 == 0 && t == j % DIST_NQ && got[0][t][j] != 0;
            }
        }
        CHECK_INT(bad, 0);
        points_release(&p);
    }
}

/* Distances to keys of any type are equal, bit for bit, to the distances to the
 * same keys as floats. */
static void check_same_as_floats(const struct kernels *k, struct points *p,
                                 int type, const float *want)
{
    float got[DIST_NQ * DIST_N], *keys = p->f;

    p->f = p->same[type];
    measure(k, p, DIST_KEYS_F32, dist_whole, got, DIST_N);
    p->f = keys;
    check_same(dist_name[type], k, got, want, COUNT(got));
}

TEST(distances_agree_with_ref)
{
    for (size_t i = 0; i < COUNT(dist_d); i++) {
        float want[DIST_NQ * DIST_N], got[DIST_NQ * DIST_N];
        struct points p;

        points_init(&p, dist_d[i]);
        FOR_EACH_ISA(k) {
            for (int type = 0; type < DIST_TYPES; type++) {
                measure(kernels_for(ISA_REF), &p, type, dist_whole, want,
                        DIST_N);
                measure(k, &p, type, dist_whole, got, DIST_N);
                check_near(dist_name[type], k, got, want, COUNT(got), 1e-6,
                           0);
                check_same_as_floats(k, &p, type, got);
            }
        }
        points_release(&p);
    }
}

/* Compute a part of all distances and compare it with that part of `whole`.
 * Nothing else may be written. */
static void check_part(const struct kernels *k, const struct points *p,
                       int type, const int *part,
                       float whole[DIST_NQ][DIST_N])
{
    float got[DIST_NQ][DIST_N + 3];
    int bad = 0;

    for (int t = 0; t < DIST_NQ; t++)
        for (int j = 0; j < DIST_N + 3; j++) got[t][j] = -5;
    measure(k, p, type, part, got[0], COUNT(got[0]));
    for (int t = 0; t < DIST_NQ; t++) {
        for (int j = 0; j < DIST_N + 3; j++) {
            int inside = t < part[1] && j < part[3];
            float want = -5;
            if (inside) want = whole[part[0] + t][part[2] + j];
            bad += memcmp(&got[t][j], &want, sizeof want) != 0;
        }
    }
    if (bad)
        test_fail(__FILE__, __LINE__, "%s %s, %d x %d keys of %d: %d differ",
                  isa_name(k->isa), dist_name[type], part[1], part[3], p->d,
                  bad);
}

TEST(a_distance_depends_on_its_pair_only)
{
    for (size_t i = 0; i < COUNT(dist_d) * ISA_COUNT * DIST_TYPES; i++) {
        const struct kernels *k =
            kernels_for((enum isa)(i / DIST_TYPES % ISA_COUNT));
        float whole[DIST_NQ][DIST_N];
        struct points p;
        int type = (int)(i % DIST_TYPES);

        if (!k) continue;
        points_init(&p, dist_d[i / DIST_TYPES / ISA_COUNT]);
        measure(k, &p, type, dist_whole, whole[0], DIST_N);
        for (int n_q = 0; n_q <= DIST_NQ; n_q++) {
            for (int n = 0; n <= DIST_N; n++) {
                int part[] = { (int)next() % (DIST_NQ - n_q + 1), n_q,
                               (int)next() % (DIST_N - n + 1), n };
                if (k->isa == ISA_REF && n % 8) continue;
                check_part(k, &p, type, part, whole);
            }
        }
        points_release(&p);
    }
}

/* --- near keys ------------------------------------------------------------ */

/* A number for mask_near: one in eight is special, and many are equal. */
static float near_number(void)
{
    static const float special[] = { NAN, INFINITY, -INFINITY, 0, -0.0f,
                                     FLT_MAX, -FLT_MAX, 1e-45f };

    if (next() % 8 == 0) return special[next() % COUNT(special)];
    return (float)(int)(next() % 16) - 8;
}

/* Compare all tables with the definition, for `rows` rows. */
static void check_masks(int rows, float factor)
{
    enum { MOST = 40, LD = PANEL + 5 };
    float base[PANEL], y[MOST * LD], limit[MOST];
    struct near a = { base, factor, y, LD, rows, limit, NULL };

    for (int i = 0; i < PANEL; i++) base[i] = near_number();
    for (int i = 0; i < MOST * LD; i++) y[i] = near_number();
    for (int r = 0; r < MOST; r++) limit[r] = near_number();
    for (enum isa i = ISA_REF; i < ISA_COUNT; i++) {
        const struct kernels *k = kernels_for(i);
        uint64_t mask[MOST + 1];
        int bad = 0;

        if (!k) continue;
        for (int r = 0; r <= rows; r++) mask[r] = 12345;
        a.mask = mask;
        k->mask_near(&a);
        for (int b = 0; b < rows * PANEL; b++) {
            int r = b / PANEL, c = b % PANEL;
            float t = base[c] + factor * y[r * LD + c];
            bad += (mask[r] >> c & 1) != !(t >= limit[r]);
        }
        if (bad || mask[rows] != 12345)
            test_fail(__FILE__, __LINE__, "%s mask_near, %d rows: %d bad",
                      isa_name(i), rows, bad);
    }
}

TEST(near_keys_are_those_below_the_limit)
{
    seed = 5;
    for (int rows = 0; rows < 40; rows++) {
        check_masks(rows, -2);
        check_masks(rows, 1);
    }
}

/* --- choosing a table ----------------------------------------------------- */

TEST(isa_names)
{
    enum isa isa;

    for (int i = 0; i < ISA_COUNT; i++)
        CHECK(isa_parse(isa_name((enum isa)i), &isa) && isa == (enum isa)i);
    CHECK(!isa_parse("sse9", &isa));
    CHECK(*cpu_name());
}

TEST(isas_are_listed)
{
    printf("%s:", cpu_name());
    for (int i = 0; i < ISA_COUNT; i++)
        printf(" %s%s", isa_name((enum isa)i),
               kernels_for((enum isa)i) ? "" : " (skipped: not on this CPU)");
    printf("\n");
    CHECK(kernels_for(ISA_REF)->isa == ISA_REF);
    CHECK(kernels_for(cpu_best_isa()) != NULL);
    CHECK(kernels_for(ISA_COUNT) == NULL);
}

/* The choice is made once per process, so only the present environment can be
 * tested. */
TEST(pick_honors_the_environment)
{
    const char *want = getenv("SKMT_ISA"), *unusable = "?";
    const struct kernels *k = kernels_pick(&unusable);
    enum isa isa;

    if (want && *want && isa_parse(want, &isa) && kernels_for(isa)) {
        CHECK(k->isa == isa && !unusable);
    } else {
        CHECK(k->isa == cpu_best_isa());
        CHECK(want && *want ? unusable == want : !unusable);
    }
}

TEST(element_types)
{
    CHECK_INT((long long)dtype_bytes(DT_F32), 4);
    CHECK_INT((long long)dtype_bytes(DT_BF16), 2);
    CHECK_INT((long long)dtype_bytes(DT_I8), 1);
    CHECK_STR(dtype_name(DT_I8), "int8");
    CHECK_INT((long long)linear_bytes(DT_I8, 65, 5), 128 * 8);
    CHECK_INT((long long)linear_bytes(DT_BF16, 64, 5), 64 * 5 * 2);
}
