/* test_adam.c - the optimizer Adam, and the random numbers of training. */
#include "base/random.h"
#include "knn/adam.h"
#include "test.h"

/* The first numbers of splitmix64 with state 1234567 are a known test. */
TEST(random_numbers_are_those_of_splitmix64)
{
    uint64_t state = 1234567;

    CHECK(random_next(&state) == 6457827717110365317u);
    CHECK(random_next(&state) == 3203168211198807973u);
}

TEST(random_numbers_have_their_distribution)
{
    const int n = 100000;
    uint64_t state = 1;
    double sum = 0, squares = 0, fourth = 0, least = 0, most = 0;

    for (int i = 0; i < n; i++) {
        double x = random_unit(&state);

        least = fmin(least, x);
        most = fmax(most, x);
        sum += x;
    }
    CHECK(least >= -1 && least < -0.999 && most < 1 && most > 0.999);
    CHECK_NEAR(sum / n, 0, 0.01);
    sum = 0;
    for (int i = 0; i < n; i++) {
        double x = random_normal(&state);

        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    CHECK_NEAR(sum / n, 0, 0.015);
    CHECK_NEAR(squares / n, 1, 0.02);
    CHECK_NEAR(fourth / n, 3, 0.15);
}

TEST(a_shuffle_keeps_all_items)
{
    size_t items[100], seen[100] = { 0 }, moved = 0;
    uint64_t state = 7;

    for (size_t i = 0; i < 100; i++) items[i] = i;
    random_shuffle(items, 100, &state);
    for (size_t i = 0; i < 100; i++) {
        REQUIRE(items[i] < 100);
        seen[items[i]]++;
        moved += items[i] != i;
    }
    for (size_t i = 0; i < 100; i++) CHECK_INT(seen[i], 1);
    CHECK(moved > 80);
}

/* The first step has the length `rate` in each dimension, whatever the
 * gradient. For the second one the formulas are written out. */
TEST(adam_makes_the_steps_of_its_formula)
{
    const double d = 0.98, g1 = 4, g2 = -1;
    struct adam a;
    struct err e;
    double m, v, want;

    REQUIRE_OK(adam_init(&a, 2, d, 0, &e), &e);
    a.grad[0] = 2 * g1;
    a.grad[1] = -1e-3;
    adam_step(&a, 0.5, 2);
    CHECK_NEAR(a.w[0], -0.5, 1e-8);
    CHECK_NEAR(a.w[1], 0.5, 1e-5);
    CHECK(a.grad[0] == 0 && a.grad[1] == 0);
    a.grad[0] = g2;
    adam_step(&a, 0.5, 1);
    m = 0.1 * (0.9 * g1 + g2) / (1 - 0.81);
    v = (1 - d) * (d * g1 * g1 + g2 * g2) / (1 - d * d);
    want = -0.5 - 0.5 * m / sqrt(v);
    CHECK_NEAR(a.w[0], want, 1e-7);
    adam_release(&a);
}

/* A gradient of norm 5 becomes one of norm 1. A small one is not changed. */
TEST(adam_limits_the_norm_of_a_gradient)
{
    struct adam a;
    struct err e;

    REQUIRE_OK(adam_init(&a, 2, 0.98, 1, &e), &e);
    a.grad[0] = 3;
    a.grad[1] = 4;
    adam_step(&a, 0.1, 1);
    CHECK_NEAR(a.m[0], 0.1 * 0.6, 1e-12);
    CHECK_NEAR(a.m[1], 0.1 * 0.8, 1e-12);
    a.grad[0] = 0.5;
    adam_step(&a, 0.1, 1);
    CHECK_NEAR(a.m[0], 0.9 * 0.06 + 0.05, 1e-12);
    adam_release(&a);
}

/* (x - 3)^2 + (y + 1)^2 */
TEST(adam_finds_a_minimum)
{
    struct adam a;
    struct err e;

    REQUIRE_OK(adam_init(&a, 2, 0.999, 0, &e), &e);
    for (int i = 0; i < 2000; i++) {
        a.grad[0] = 2 * (a.w[0] - 3);
        a.grad[1] = 2 * (a.w[1] + 1);
        adam_step(&a, 0.01, 1);
    }
    CHECK_NEAR(a.w[0], 3, 1e-3);
    CHECK_NEAR(a.w[1], -1, 1e-3);
    adam_release(&a);
}
