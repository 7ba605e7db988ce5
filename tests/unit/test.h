/* test.h - tests that register themselves and fail by exit status.
 *
 *     TEST(strbuf_grows) { CHECK(strbuf_adds(&sb, "x")); CHECK_INT(n, 3); }
 *
 * A failed check prints file, line and both values, and the test goes on; a
 * REQUIRE ends it. SKIP("why") counts apart and is printed. Arguments of the
 * program select tests by substring. */
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

/* A file kept with the tests: TEST_DATA (default "tests/golden") / name; and
 * one of the full sets beside the checkout, NULL when they are not there. */
const char *test_data(const char *name);
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
/* enum status st = call; CHECK_OK(st, &e) prints the sentence */
#define CHECK_OK(st, e) ((st) == 0 ? true : \
    test_fail(__FILE__, __LINE__, "%s", (e)->msg))
#define REQUIRE_OK(st, e) do { if (!CHECK_OK(st, e)) return; } while (0)
#define SKIP(why) do { test_skip(why); return; } while (0)

#endif
