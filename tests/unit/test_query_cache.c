/* test_query_cache.c - which queries get the answers of earlier ones.
 * tools/check_cache.py computes the golden answers. */
#include "golden_lines.h"
#include "knn/query_cache.h"
#include "made_entries.h"

enum { STEPS = 30, ROWS = 4, D = 3, K = 2, ALL = STEPS * ROWS };

static const struct query_cache_limits limits = { D, K, ROWS, STEPS };

static void query_of(int number, float *q)
{
    for (int j = 0; j < D; j++) q[j] = made_number(33, number, j);
}

/* Neighbors that can be recognized; every fifth answer is empty, every third
 * has one neighbor. */
static int answer_of(int number, struct neighbor *nb)
{
    for (int i = 0; i < K; i++)
        nb[i] = (struct neighbor){ (float)i, number, number, i, 0 };
    return number % 5 == 0 ? 0 : number % 3 == 0 ? 1 : K;
}

/* Ask for query `number`; nb and *n are its answer. Returns whether the answer
 * must be added. */
static bool ask(struct query_cache *c, int number, struct neighbor *nb, int *n)
{
    struct query_answer a;
    float q[D];

    query_of(number, q);
    if (!query_cache_find(c, number / ROWS, q, &a)) {
        *n = answer_of(number, nb);
        return true;
    }
    *n = a.n;
    memcpy(nb, a.nb, (size_t)a.n * sizeof *nb);
    return false;
}

/* The rows of each step in one of four orders. */
static int row_at(int order, int step, int i)
{
    static const int orders[][ROWS] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 },
                                        { 2, 0, 3, 1 }, { 1, 3, 0, 2 } };

    return orders[(order + (order > 1 ? step : 0)) % 4][i];
}

struct asked { struct neighbor nb[K]; int n; bool searched; };

/* Run a sentence. With `late`, all queries of a step are asked before the first
 * answer is added, as a mixer does it. */
static void run_sentence(struct query_cache *c, int order, bool late,
                         struct asked *out)
{
    for (int step = 0; step < STEPS; step++)
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < ROWS; i++) {
                int number = step * ROWS + row_at(order, step, i);
                struct asked *a = &out[number];
                float q[D];

                query_of(number, q);
                if (!pass) a->searched = ask(c, number, a->nb, &a->n);
                if (a->searched && pass == late)
                    query_cache_add(c, step, q, a->nb, a->n);
            }
}

static struct query_cache *open_cache(double threshold, bool keep_reused)
{
    struct query_cache_options o = { threshold, keep_reused };
    struct query_cache *c = NULL;
    struct err e;

    CHECK_OK(query_cache_new(&c, &o, &limits, &e), &e);
    return c;
}

static void check_golden(bool keep_reused, const char *name, int order,
                         bool late)
{
    struct query_cache *c = open_cache(0.625, keep_reused);
    struct asked got[ALL];
    double want[ALL], reused = 0;
    char line[24];

    REQUIRE(c);
    run_sentence(c, order, late, got);
    CHECK_INT(golden_line("cache.txt", name, want, ALL), ALL);
    for (int i = 0; i < ALL; i++) {
        struct neighbor nb[K];
        int n = answer_of((int)want[i], nb);

        CHECK_INT(got[i].searched, (int)want[i] == i);
        CHECK_INT(got[i].n, n);
        CHECK(!memcmp(got[i].nb, nb, (size_t)n * sizeof *nb));
    }
    snprintf(line, sizeof line, "%s_reused", name);
    CHECK_INT(golden_line("cache.txt", line, &reused, 1), 1);
    CHECK_INT(query_cache_counts(c).reused, (int)reused);
    CHECK_INT(query_cache_counts(c).asked, ALL);
    query_cache_free(c);
}

TEST(answers_agree_with_a_second_program)
{
    for (int order = 0; order < 4; order++)
        for (int late = 0; late < 2; late++) {
            check_golden(false, "searched", order, late);
            check_golden(true, "all", order, late);
        }
}

/* After the sentence, each query gets the answer that it had. */
TEST(answers_can_be_recalled)
{
    for (int keep = 0; keep < 2; keep++) {
        struct query_cache *c = open_cache(0.625, keep);
        struct asked got[ALL];
        struct query_answer a;
        float q[D];

        REQUIRE(c);
        run_sentence(c, 2, true, got);
        for (int i = ALL - 1; i >= 0; i--) {
            query_of(i, q);
            CHECK(query_cache_recall(c, i / ROWS, q, &a));
            CHECK_INT(a.n, got[i].n);
            CHECK(!memcmp(a.nb, got[i].nb, (size_t)a.n * sizeof *a.nb));
            CHECK((a.distance == 0) == got[i].searched);
        }
        q[0] += 100;
        CHECK(!query_cache_recall(c, STEPS - 1, q, &a));
        CHECK_INT(query_cache_counts(c).asked, ALL);
        query_cache_free(c);
    }
}

TEST(the_threshold_is_a_distance_and_is_included)
{
    static const float first[D] = { 1, 2, 3 }, at_five[D] = { 4, 6, 3 };
    static const float beyond[D] = { 4, 6, 3.03125f };
    struct query_cache *c = open_cache(5, false);
    struct neighbor nb = { 7, 8, 9, 10, 0.5f };
    struct query_answer a;

    REQUIRE(c);
    CHECK(!query_cache_find(c, 0, first, &a));
    query_cache_add(c, 0, first, &nb, 1);
    CHECK(!query_cache_find(c, 0, first, &a));  /* same step */
    CHECK(query_cache_find(c, 1, at_five, &a));
    CHECK_NEAR(a.distance, 5, 0);
    CHECK(a.n == 1 && !memcmp(a.nb, &nb, sizeof nb));
    CHECK(!query_cache_find(c, 1, beyond, &a));
    query_cache_free(c);
}

/* With the threshold 0, only equal queries share an answer. */
TEST(a_threshold_of_zero_needs_equal_queries)
{
    struct query_cache *c = open_cache(0, false);
    struct query_answer a;
    struct neighbor nb = { 0 };
    float q[D] = { 1, 2, 3 };

    REQUIRE(c);
    query_cache_add(c, 3, q, &nb, 1);
    CHECK(query_cache_find(c, 4, q, &a));
    q[1] = nextafterf(q[1], 5);
    CHECK(!query_cache_find(c, 4, q, &a));
    q[1] = NAN;
    CHECK(!query_cache_find(c, 4, q, &a));
    query_cache_free(c);
}

/* Two stored queries are at the same distance. An earlier step wins; in one
 * step the numbers decide, not the order. */
TEST(equal_distances_have_a_fixed_order)
{
    static const float q[D] = { 0, 0, 0 };
    static const float side[][D] = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 } };

    for (int order = 0; order < 2; order++) {
        struct query_cache *c = open_cache(1, false);
        struct query_answer a;

        REQUIRE(c);
        for (int i = 0; i < 2; i++) {
            int which = order ? 1 - i : i;

            query_cache_add(c, 1, side[which],
                            &(struct neighbor){ .token = which }, 1);
        }
        query_cache_add(c, 2, side[2], &(struct neighbor){ .token = 2 }, 1);
        CHECK(query_cache_find(c, 3, q, &a));
        CHECK_INT(a.nb[0].token, 1);
        query_cache_free(c);
    }
}

/* Room for all queries of all steps, with more queries than a kernel call
 * compares. */
TEST(a_cache_has_room_for_all_queries)
{
    struct query_cache_options o = { 0.001, true };
    struct query_cache_limits l = { 20, 1, 8, 50 };
    struct query_cache *c;
    struct query_answer a;
    struct err e;
    float q[20];

    REQUIRE_OK(query_cache_new(&c, &o, &l, &e), &e);
    for (int i = 0; i < l.rows * l.steps; i++) {
        made_numbers((unsigned)i, 1, l.d, q);
        query_cache_add(c, i / l.rows, q, &(struct neighbor){ .pair = i }, 1);
    }
    for (int i = 0; i < l.rows * l.steps; i++) {
        made_numbers((unsigned)i, 1, l.d, q);
        CHECK(query_cache_recall(c, i / l.rows, q, &a));
        CHECK(a.n == 1 && a.nb[0].pair == i);
        CHECK(query_cache_recall(c, l.steps, q, &a));
        CHECK(a.nb[0].pair == i);
    }
    query_cache_free(c);
}
