/* test.h - a small framework for unit tests.
 *
 *     TEST(strbuf_grows) { CHECK(strbuf_adds(&sb, "x")); CHECK_INT(n, 3); }
 *
 * TEST defines a test and registers it; main.c runs all of them, or those whose
 * names contain an argument of the program. A failed CHECK prints file, line
 * and both values, and the test continues; a failed REQUIRE ends the test.
 * SKIP("why") ends the test, which then counts as skipped, and prints why. The
 * exit status is 1 if a test failed. */
#ifndef TEST_H
#define TEST_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof (a) / sizeof *(a))

struct test { const char *name; void (*fn)(void); struct test *next; };
void test_register(struct test *t);
bool test_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));      /* returns false */
void test_skip(const char *why);

/* The path of a file of the tests: $TEST_DATA (default tests/golden) / name.
 * It is valid until the fourth call after it. */
const char *test_data(const char *name);
/* The path of a file of the full sets: $SKMT_SHARED (default ../shared) / name.
 * NULL if the file does not exist. */
const char *test_shared(const char *name);

#define TEST(id)                                                          \
    static void id(void);                                                 \
    static struct test test_##id = { #id, id, NULL };                     \
    __attribute__((constructor)) static void reg_##id(void)               \
    { test_register(&test_##id); }                                        \
    static void id(void)

#define CHECK(c) ((c) ? true : test_fail(__FILE__, __LINE__, "%s", #c))
#define REQUIRE(c) do { if (!CHECK(c)) return; } while (0)
#define CHECK_INT(got, want) do {                                         \
    long long g_ = (got), w_ = (want);                                    \
    if (g_ != w_) test_fail(__FILE__, __LINE__, "%s: %lld, want %lld",    \
                            #got, g_, w_); } while (0)
#define CHECK_STR(got, want) do {                                         \
    const char *g_ = (got), *w_ = (want);                                 \
    if (strcmp(g_, w_)) test_fail(__FILE__, __LINE__,                     \
        "%s: \"%s\", want \"%s\"", #got, g_, w_); } while (0)
#define CHECK_NEAR(got, want, tol) do {                                   \
    double g_ = (got), w_ = (want);                                       \
    if (!(fabs(g_ - w_) <= (tol))) test_fail(__FILE__, __LINE__,          \
        "%s: %.9g, want %.9g +- %g", #got, g_, w_, (double)(tol)); } while (0)
#define CHECK_MEM(got, want, n) do {                                      \
    if (memcmp(got, want, n)) test_fail(__FILE__, __LINE__,               \
        "%s and %s differ", #got, #want); } while (0)
/* After st = f(.., &e), CHECK_OK(st, &e) fails with the message in e. */
#define CHECK_OK(st, e) ((st) == 0 ? true : \
    test_fail(__FILE__, __LINE__, "%s", (e)->msg))
#define REQUIRE_OK(st, e) do { if (!CHECK_OK(st, e)) return; } while (0)
#define SKIP(why) do { test_skip(why); return; } while (0)

#endif
