/* test_cover.c - tests the greedy cover of apps/common: worked cases, and small
 * random ones against all sets of pairs. */
#include "common/cover.h"

#include <string.h>

#include "base/random.h"
#include "test.h"

enum { PAIRS = 8, STEPS = 10, USES = 40 };

struct cover_case {
    struct cover_use uses[USES];
    int n, n_steps;
};

static int solve(const struct cover_case *c, int *chosen)
{
    return cover_greedy(c->uses, c->n, c->n_steps, PAIRS, chosen);
}

/* Whether each step that has uses has one of the pairs. */
static bool covers(const struct cover_case *c, unsigned pairs)
{
    for (int step = 0; step < c->n_steps; step++) {
        bool used = false, covered = false;

        for (int i = 0; i < c->n; i++) {
            if (c->uses[i].step != step) continue;
            used = true;
            covered |= pairs >> c->uses[i].pair & 1;
        }
        if (used && !covered) return false;
    }
    return true;
}

static int smallest_cover(const struct cover_case *c)
{
    int best = PAIRS;

    for (unsigned pairs = 0; pairs < 1u << PAIRS; pairs++)
        if (__builtin_popcount(pairs) < best && covers(c, pairs))
            best = __builtin_popcount(pairs);
    return best;
}

static unsigned as_bits(const int *chosen, int n)
{
    unsigned bits = 0;

    for (int i = 0; i < n; i++) bits |= 1u << chosen[i];
    CHECK_INT(__builtin_popcount(bits), n);
    return bits;
}

static struct cover_case random_case(uint64_t *rng)
{
    struct cover_case c = { .n_steps = 1 + (int)(random_next(rng) % STEPS) };

    for (int step = 0; step < c.n_steps; step++)
        for (int k = (int)(random_next(rng) % (USES / STEPS + 1)); k-- > 0;)
            c.uses[c.n++] = (struct cover_use){
                step, (int)(random_next(rng) % PAIRS) };
    return c;
}

TEST(cover_prefers_pairs_of_many_steps)
{
    /* Pair 5 is at three steps, and twice at one of them. Then 2 and 3 cover
     * the same step. */
    struct cover_case c = { .n = 7, .n_steps = 6, .uses = {
        { 0, 5 }, { 0, 5 }, { 1, 3 }, { 1, 2 }, { 2, 5 }, { 2, 3 },
        { 5, 5 } } };
    int chosen[PAIRS];

    REQUIRE(solve(&c, chosen) == 2);
    CHECK_INT(chosen[0], 5);
    CHECK_INT(chosen[1], 2);
}

TEST(cover_of_nothing_is_empty)
{
    struct cover_case c = { .n = 0, .n_steps = 4 };
    int chosen[PAIRS];

    CHECK_INT(solve(&c, chosen), 0);
    c.n_steps = 0;
    CHECK_INT(solve(&c, chosen), 0);
    CHECK_INT(cover_greedy(NULL, 0, 0, 0, NULL), 0);
}

TEST(cover_drops_superfluous_pairs)
{
    /* Greedy takes 0 (steps 1 to 4) first; 1 and 2 are needed for steps 0 and
     * 5, and cover all of its steps. */
    struct cover_case c = { .n = 10, .n_steps = 6, .uses = {
        { 0, 1 }, { 1, 0 }, { 1, 1 }, { 2, 0 }, { 2, 1 }, { 3, 0 }, { 3, 2 },
        { 4, 0 }, { 4, 2 }, { 5, 2 } } };
    int chosen[PAIRS];

    REQUIRE(solve(&c, chosen) == 2);
    CHECK_INT(chosen[0], 1);
    CHECK_INT(chosen[1], 2);
}

TEST(cover_is_almost_the_smallest)
{
    uint64_t rng = 7;
    int equal = 0, n_cases = 2000;

    for (int i = 0; i < n_cases; i++) {
        struct cover_case c = random_case(&rng);
        int chosen[PAIRS], n = solve(&c, chosen), best = smallest_cover(&c);
        unsigned bits;

        REQUIRE(n >= 0);
        bits = as_bits(chosen, n);
        CHECK(covers(&c, bits));
        for (int k = 0; k < n; k++)
            CHECK(!covers(&c, bits & ~(1u << chosen[k])));
        CHECK(n >= best && n <= best + 1);
        equal += n == best;
    }
    CHECK(equal > n_cases * 95 / 100);
}
