/* test_pca.c - eigenvectors of symmetric matrices, principal components, and
 * the drawing of keys from a datastore. tools/check_pca.py computes the golden
 * numbers by power iteration. */
#include "golden_lines.h"
#include "knn/eigen.h"
#include "knn/pca.h"
#include "made_entries.h"

/* ---- eigenvectors -------------------------------------------------------- */

struct solved {
    int n;
    double *a;                  /* [n, n] a copy of the matrix */
    double *value, *vector;
    bool ok;
};

/* Frees a. */
static struct solved solve(double *a, int n)
{
    size_t nn = (size_t)n * (size_t)n;
    struct solved s = { n, calloc(nn, sizeof *a), calloc((size_t)n, sizeof *a),
                        calloc(nn, sizeof *a), false };
    double *scratch = calloc(2 * (size_t)n, sizeof *scratch);

    memcpy(s.a, a, nn * sizeof *a);
    s.ok = eigen_symmetric(a, n, s.value, s.vector, scratch);
    free(scratch);
    free(a);
    return s;
}

static void solved_release(struct solved *s)
{
    free(s->a);
    free(s->value);
    free(s->vector);
}

static double product(const double *x, const double *y, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* The largest element of V V^T - I. */
static double not_orthonormal(const double *v, int rows, int n)
{
    double worst = 0;

    for (int i = 0; i < rows; i++)
        for (int j = 0; j <= i; j++)
            worst = fmax(worst, fabs(product(v + i * n, v + j * n, n) -
                                     (i == j)));
    return worst;
}

/* The largest element of A v - value v. */
static double residual(const struct solved *s)
{
    double worst = 0;
    int n = s->n;

    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            worst = fmax(worst,
                         fabs(product(s->a + i * n, s->vector + k * n, n) -
                              s->value[k] * s->vector[k * n + i]));
    return worst;
}

/* Solve, and check everything that the header promises. Frees a. */
static void check_solution(double *a, int n, double size)
{
    struct solved s = solve(a, n);

    CHECK(s.ok);
    CHECK(not_orthonormal(s.vector, n, n) < 1e-12);
    CHECK(residual(&s) <= 1e-12 * size);
    for (int k = 0; k < n; k++) {
        const double *v = s.vector + k * n;
        int most = 0;

        for (int i = 1; i < n; i++)
            if (fabs(v[i]) > fabs(v[most])) most = i;
        CHECK(v[most] > 0);
        if (k) CHECK(s.value[k - 1] >= s.value[k]);
    }
    solved_release(&s);
}

static double *random_symmetric(int n, unsigned seed)
{
    double *a = calloc((size_t)(n * n), sizeof *a);

    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            a[i * n + j] = a[j * n + i] = (double)made_number(seed, i, j);
    return a;
}

TEST(eigenvectors_of_random_matrices)
{
    for (int n = 1; n <= 12; n++)
        check_solution(random_symmetric(n, (unsigned)n), n, n);
    check_solution(random_symmetric(97, 3), 97, 97);
}

/* 2 on the diagonal and -1 beside it: value k is 2 - 2 cos(k pi / (n + 1)). */
TEST(eigenvalues_of_a_known_matrix)
{
    enum { N = 60 };
    double *a = calloc(N * N, sizeof *a);
    struct solved s;

    for (int i = 0; i < N; i++) {
        a[i * N + i] = 2;
        if (i) a[i * N + i - 1] = a[(i - 1) * N + i] = -1;
    }
    s = solve(a, N);
    CHECK(s.ok);
    for (int k = 0; k < N; k++)
        CHECK_NEAR(s.value[k], 2 - 2 * cos((N - k) * acos(-1) / (N + 1)),
                   1e-13);
    solved_release(&s);
}

TEST(eigenvectors_where_values_are_equal_or_zero)
{
    enum { N = 9 };
    double *zero = calloc(N * N, sizeof *zero), *same, *ones, *graded;

    same = calloc(N * N, sizeof *same);
    ones = calloc(N * N, sizeof *ones);         /* rank 1 */
    graded = random_symmetric(N, 4);
    for (int i = 0; i < N; i++) {
        same[i * N + i] = 3;
        for (int j = 0; j < N; j++) {
            ones[i * N + j] = 1;
            graded[i * N + j] *= pow(10, -i - j);
        }
    }
    check_solution(zero, N, 0);
    check_solution(same, N, 0);
    check_solution(ones, N, N);
    check_solution(graded, N, 1);
}

/* A row that is almost a multiple of the first unit vector, with either sign;
 * and a block of the smallest numbers beside an ordinary one. */
TEST(eigenvectors_of_matrices_that_rounding_could_spoil)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        double *a = random_symmetric(3, 1);

        a[1] = a[3] = sign;
        a[2] = a[6] = 1e-9;
        check_solution(a, 3, 3);
    }
    for (int i = 0; i < 2; i++) {
        double *a = calloc(9, sizeof *a);

        a[0] = 1;
        a[5] = a[7] = i ? 4.9e-324 : 1e-200;
        check_solution(a, 3, 1);
    }
}

TEST(a_matrix_that_is_not_finite_is_refused)
{
    double *a = random_symmetric(5, 1);
    struct solved s;

    a[7] = NAN;
    s = solve(a, 5);
    CHECK(!s.ok);
    solved_release(&s);
}

/* ---- principal components ------------------------------------------------ */

static struct pca *pca_of_rows(const float *rows, int n, int d, int to,
                               struct pool *pool)
{
    struct pca_sums *s;
    struct pca *p = NULL;
    struct err e;

    if (!CHECK_OK(pca_sums_new(&s, d, pool, &e), &e)) return NULL;
    for (int i = 0; i < n; i++) pca_sums_add(s, rows + i * d);
    CHECK_INT(pca_sums_count(s), n);
    CHECK_OK(pca_new(&p, s, to, &e), &e);
    pca_sums_free(s);
    return p;
}

/* 5 along (0.6, 0.8), 1 across. */
TEST(components_of_four_points)
{
    static const float rows[] = { 3 - 0.8f + 7, 4 + 0.6f,  3 + 0.8f + 7,
        4 - 0.6f,  -3 - 0.8f + 7, -4 + 0.6f,  -3 + 0.8f + 7, -4 - 0.6f };
    struct pca *p = pca_of_rows(rows, 4, 2, 2, NULL);

    REQUIRE(p);
    CHECK_NEAR(p->mean[0], 7, 1e-6);
    CHECK_NEAR(p->mean[1], 0, 1e-6);
    CHECK_NEAR(p->variance[0], 25, 1e-5);
    CHECK_NEAR(p->variance[1], 1, 1e-5);
    CHECK_NEAR(p->matrix[0], 0.6, 1e-6);
    CHECK_NEAR(p->matrix[1], 0.8, 1e-6);
    CHECK_NEAR(p->matrix[2], 0.8, 1e-6);
    CHECK_NEAR(p->matrix[3], -0.6, 1e-6);
    CHECK_NEAR(pca_explained(p, 1), 25 / 26.0, 1e-7);
    CHECK_NEAR(pca_explained(p, 2), 1, 0);
    CHECK_NEAR(pca_explained(p, 0), 0, 0);
    pca_free(p);
}

enum { ROWS = 60, D = 7, KEEP = 4 };    /* those of tools/check_pca.py */

static void golden_rows(float *out)
{
    for (int i = 0; i < ROWS; i++, out += D) {
        for (int j = 0; j < D; j++)
            out[j] = made_number(5, i, j) * (float)(j + 1) + 100 -
                     10 * (float)j;
        out[0] += out[6] / 2;
    }
}

static void check_floats(const float *got, const char *name, int n, double tol)
{
    double want[16];

    CHECK_INT(golden_line("pca.txt", name, want, 16), n);
    for (int i = 0; i < n; i++) CHECK_NEAR(got[i], want[i], tol);
}

TEST(components_agree_with_power_iteration)
{
    float rows[ROWS * D], y[KEEP];
    struct pca *p;
    double want = 0;

    golden_rows(rows);
    p = pca_of_rows(rows, ROWS, D, KEEP, NULL);
    REQUIRE(p);
    check_floats(p->mean, "mean", D, 1e-5);
    for (int k = 0; k < KEEP; k++) {
        char name[2][16];

        snprintf(name[0], sizeof *name, "variance%d", k);
        snprintf(name[1], sizeof *name, "row%d", k);
        CHECK_INT(golden_line("pca.txt", name[0], &want, 1), 1);
        CHECK_NEAR(p->variance[k], want, 1e-10 * want);
        check_floats(p->matrix + k * D, name[1], D, 1e-7);
    }
    CHECK_INT(golden_line("pca.txt", "explained", &want, 1), 1);
    CHECK_NEAR(pca_explained(p, KEEP), want, 1e-10);
    pca_map(&p->map, rows + 3 * D, y);
    check_floats(y, "image3", KEEP, 2e-5);
    pca_free(p);
}

/* The squared distance of a row to what is left of it, on average, is the
 * variance that was dropped. */
TEST(the_dropped_variance_is_what_is_lost)
{
    enum { N = 200, W = 19, TO = 6 };
    static float rows[N * W];
    float y[TO], back[W];
    double lost = 0, dropped = 0, kept = 0;
    struct pca *p;

    for (int i = 0; i < N; i++)
        for (int j = 0; j < W; j++)
            rows[i * W + j] = made_number(8, i, j) / (float)(1 + j % 5) +
                              made_number(9, i, j % 3);
    p = pca_of_rows(rows, N, W, TO, NULL);
    REQUIRE(p);
    for (int i = 0; i < N; i++) {
        pca_map(&p->map, rows + i * W, y);
        pca_unmap(&p->map, y, back);
        for (int j = 0; j < W; j++)
            lost += pow((double)(rows[i * W + j] - back[j]), 2) / N;
    }
    for (int i = 0; i < W; i++)
        *(i < TO ? &kept : &dropped) += p->variance[i];
    CHECK_NEAR(lost, dropped, 1e-5 * dropped);
    CHECK_NEAR(pca_explained(p, TO), kept / (kept + dropped), 1e-12);
    pca_free(p);
}

/* Whether the matrix has orthonormal rows, up to the rounding of floats. */
static void check_orthonormal(const struct pca *p)
{
    int n = p->map.to, d = p->map.from;
    double *v = calloc((size_t)(n * d), sizeof *v);

    for (int i = 0; i < n * d; i++) v[i] = (double)p->matrix[i];
    CHECK(not_orthonormal(v, n, d) < 1e-6);
    free(v);
}

TEST(fewer_rows_than_dimensions)
{
    enum { W = 33 };
    float rows[6 * W];
    struct pca *p;

    made_numbers(2, 6, W, rows);
    p = pca_of_rows(rows, 6, W, W, NULL);
    REQUIRE(p);
    check_orthonormal(p);
    CHECK(p->variance[4] > 0.1);
    for (int i = 5; i < W; i++) CHECK_NEAR(p->variance[i], 0, 1e-12);
    CHECK_NEAR(pca_explained(p, 5), 1, 1e-12);
    pca_free(p);
    p = pca_of_rows(rows, 1, W, 3, NULL);       /* all variances are 0 */
    REQUIRE(p);
    check_orthonormal(p);
    CHECK_NEAR(pca_explained(p, 0), 1, 0);
    CHECK_MEM(p->mean, rows, sizeof *rows * W);
    pca_free(p);
}

TEST(equal_variances_in_all_directions)
{
    enum { W = 10 };
    float rows[2 * W * W] = { 0 };
    struct pca *p;

    for (int j = 0; j < W; j++) {
        rows[2 * j * W + j] = 1;
        rows[(2 * j + 1) * W + j] = -1;
    }
    p = pca_of_rows(rows, 2 * W, W, W, NULL);
    REQUIRE(p);
    check_orthonormal(p);
    for (int j = 0; j < W; j++) CHECK_NEAR(p->variance[j], 0.1, 1e-15);
    pca_free(p);
}

/* With a mean that is 100,000 times the deviations, x x^T - mean mean^T would
 * have no correct digit in floats and few in doubles. */
TEST(a_large_mean_costs_no_digits)
{
    enum { N = 500, W = 5 };
    static float near_zero[N * W], far[N * W];
    struct pca *a, *b;

    for (int i = 0; i < N * W; i++) {
        near_zero[i] = made_number(3, i / W, i % W) / 32;
        far[i] = near_zero[i] + 4096;   /* exact */
    }
    a = pca_of_rows(near_zero, N, W, W, NULL);
    b = pca_of_rows(far, N, W, W, NULL);
    REQUIRE(a && b);
    for (int i = 0; i < W; i++)
        CHECK_NEAR(b->variance[i], a->variance[i], 1e-10 * a->variance[i]);
    for (int i = 0; i < W * W; i++)
        CHECK_NEAR(b->matrix[i], a->matrix[i], 1e-6);
    pca_free(a);
    pca_free(b);
}

static bool same_pca(const struct pca *a, const struct pca *b)
{
    size_t d = (size_t)a->map.from, n = d * (size_t)a->map.to;

    return a->map.from == b->map.from && a->map.to == b->map.to &&
           !memcmp(a->mean, b->mean, d * sizeof *a->mean) &&
           !memcmp(a->matrix, b->matrix, n * sizeof *a->matrix) &&
           !memcmp(a->variance, b->variance, d * sizeof *a->variance);
}

TEST(threads_do_not_change_the_components)
{
    enum { N = 300, W = 41 };
    static float rows[N * W];
    struct pool *pool;
    struct pca *a, *b;
    struct err e;

    made_numbers(6, N, W, rows);
    REQUIRE_OK(pool_new(&pool, 3, &e), &e);
    a = pca_of_rows(rows, N, W, 20, NULL);
    b = pca_of_rows(rows, N, W, 20, pool);
    REQUIRE(a && b);
    CHECK(same_pca(a, b));
    pca_free(a);
    pca_free(b);
    pool_free(pool);
}

/* All sizes around the blocks of pca_map. The first outputs do not depend on
 * how many there are. */
TEST(images_are_products)
{
    enum { FROM = 35, TO = 11 };
    float mean[FROM], matrix[TO * FROM], x[FROM], y[TO], fewer[TO];

    made_numbers(1, 1, FROM, mean);
    made_numbers(2, TO, FROM, matrix);
    made_numbers(3, 1, FROM, x);
    for (int from = 1; from <= FROM; from++)
        for (int to = 1; to <= TO; to++) {
            struct entry_map map = { from, to, mean, matrix };
            struct entry_map half = { from, (to + 1) / 2, mean, matrix };

            pca_map(&map, x, y);
            pca_map(&half, x, fewer);
            CHECK_MEM(y, fewer, sizeof *y * (size_t)half.to);
            for (int i = 0; i < to; i++) {
                double want = 0;

                for (int j = 0; j < from; j++)
                    want += (double)matrix[i * from + j] *
                            (double)(x[j] - mean[j]);
                CHECK_NEAR(y[i], want, 1e-5);
            }
        }
}

/* ---- from a datastore ---------------------------------------------------- */

enum { PAIRS = 40, PER_PAIR = 5, KEY_W = 6 };

/* Pair 7 is deleted. */
static struct entries *sample_store(enum entry_type type)
{
    static int32_t token[PER_PAIR];
    static float keys[PAIRS * PER_PAIR * KEY_W];
    struct made_pair p[PAIRS];

    made_numbers(11, PAIRS * PER_PAIR, KEY_W, keys);
    for (int i = 0; i < PAIRS; i++)
        p[i] = (struct made_pair){ .n = PER_PAIR, .token = token,
                                   .key = keys + i * PER_PAIR * KEY_W,
                                   .deleted = i == 7 };
    return made_entries(&(struct made_options){ type, KEY_W, NULL, 9 }, p,
                        PAIRS);
}

/* The components of all keys that can be found. */
static struct pca *pca_of_all(const struct entries *s, int to)
{
    float rows[PAIRS * PER_PAIR * KEY_W];
    int n = 0;

    for (int i = 0; i < s->n_blocks; i++)
        for (int k = 0; k < s->blocks[i].n; k++)
            if (isfinite(s->blocks[i].norm[k]))
                entries_key(s, &s->blocks[i], k, rows + n++ * KEY_W);
    return pca_of_rows(rows, n, KEY_W, to, NULL);
}

TEST(components_of_all_keys_of_a_datastore)
{
    for (int type = ENTRY_INT8; type <= ENTRY_F16; type++) {
        struct entries *s = sample_store((enum entry_type)type);
        struct pca_options o = { .to = 3, .sample = type ? 0 : 1000 };
        struct pca *want = pca_of_all(s, 3), *got;
        struct err e;

        REQUIRE_OK(pca_of_entries(&got, s, &o, NULL, &e), &e);
        CHECK_INT(s->n, (PAIRS - 1) * PER_PAIR);
        CHECK(same_pca(want, got));
        pca_free(want);
        pca_free(got);
        entries_drop(s);
    }
}

struct seen { int calls; int64_t done, total; int stop; };

static int see(void *user, int64_t done, int64_t total)
{
    struct seen *s = user;

    s->calls++;
    s->done = done;
    s->total = total;
    return s->stop;
}

TEST(a_sample_is_drawn_by_the_seed)
{
    struct entries *s = sample_store(ENTRY_F16);
    struct seen seen = { 0 };
    struct pca_options o = { .to = 2, .sample = 50, .seed = 3, .user = &seen,
                             .progress = see };
    struct pca *a, *b, *c, *all = pca_of_all(s, 2);
    struct err e;

    REQUIRE_OK(pca_of_entries(&a, s, &o, NULL, &e), &e);
    CHECK_INT(seen.calls, 1);
    CHECK(seen.done == 50 && seen.total == 50);
    REQUIRE_OK(pca_of_entries(&b, s, &o, NULL, &e), &e);
    o.seed = 4;
    REQUIRE_OK(pca_of_entries(&c, s, &o, NULL, &e), &e);
    CHECK(same_pca(a, b));
    CHECK(!same_pca(a, c) && !same_pca(a, all));
    pca_free(a);
    pca_free(b);
    pca_free(c);
    pca_free(all);
    seen.stop = 1;
    CHECK_INT(pca_of_entries(&a, s, &o, NULL, &e), ST_CANCELED);
    CHECK(!a);
    entries_drop(s);
}

static void check_refused(const struct entries *s, int to, enum status want,
                          const char *message)
{
    struct pca_options o = { .to = to };
    struct pca *p;
    struct err e;

    CHECK_INT(pca_of_entries(&p, s, &o, NULL, &e), want);
    CHECK_STR(e.msg, message);
    CHECK(!p);
}

TEST(a_datastore_that_does_not_fit_is_refused)
{
    struct entries *s = sample_store(ENTRY_F16);
    struct entries *none = made_entries(&(struct made_options){ ENTRY_F16,
                                        KEY_W, NULL, 1 }, NULL, 0);

    check_refused(s, 0, ST_ARGUMENT, "keys of 6 dimensions can be reduced to "
                  "1 to 6 dimensions, not to 0");
    check_refused(s, 7, ST_ARGUMENT, "keys of 6 dimensions can be reduced to "
                  "1 to 6 dimensions, not to 7");
    check_refused(none, 2, ST_ARGUMENT, "there are no keys to compute "
                  "principal components from");
    ((uint16_t *)(void *)s->blocks[1].keys)[3] = 0x7c00;        /* infinity */
    check_refused(s, 2, ST_FORMAT, "principal components: a key has a number "
                  "that is not finite");
    s->map = &(struct entry_map){ .from = 9, .to = KEY_W };
    check_refused(s, 2, ST_ARGUMENT, "the keys of this datastore are reduced "
                  "already, to 6 dimensions");
    entries_drop(s);
    entries_drop(none);
}
