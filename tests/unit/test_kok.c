/* test_kok.c - the policy of system kok: keys, values, lambda, and the store
 * that grows. tests/cli/nets.t compares many steps with an independent
 * program. */
#include <pthread.h>

#include "base/random.h"
#include "knn/kok_policy.h"
#include "test.h"

static struct neighbor neighbor_at(double d2, int token)
{
    return (struct neighbor){ .d2 = (float)d2, .token = token };
}

/* Eight neighbors from d2 on, all with one token. */
static void eight(struct neighbor *nb, double d2, int token)
{
    for (int i = 0; i < 8; i++) nb[i] = neighbor_at(d2 + i, token);
}

/* Append a sentence of n equal entries. */
static void add_entries(struct kok_policy *p, const struct kok_options *o,
                        const struct neighbor *nb, int n, int32_t right,
                        double model)
{
    struct kok_block *b;
    struct err e;

    REQUIRE_OK(kok_block_new(&b, n, o->k, &e), &e);
    for (int i = 0; i < n; i++) kok_block_put(b, o, nb, o->k, right, model);
    CHECK_INT(kok_block_count(b), n);
    CHECK_OK(kok_policy_add(p, b, &e), &e);
    kok_block_drop(b);
}

/* ---- formulas ------------------------------------------------------------ */

TEST(weights_are_halves)
{
    static const double want[] = { 0.25, 0.125, 0.0625, 0.03125, 0.015625,
                                   0.0078125, 0.00390625, 0.00390625 };
    struct kok_options o = kok_options_defaults();
    double w[KOK_MOST];

    kok_weights(&o, w);
    for (int i = 0; i < 8; i++) CHECK_NEAR(w[i], want[i], 0);
    for (o.k = 1; o.k <= KOK_MOST; o.k++) {
        double sum = 0;

        kok_weights(&o, w);
        for (int i = 0; i < o.k; i++) sum += w[i];
        CHECK_NEAR(sum, 0.5, 1e-12);
    }
}

TEST(a_key_has_weighted_distances_and_counts)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[4] = { neighbor_at(8, 0), neighbor_at(16, 3),
                              neighbor_at(32, 0), neighbor_at(64, 5) };
    static const double want[] = { 2, 2, 2, 4, 0.0625, 0.125, 0.25, 0.75 };
    float key[8];

    o.k = 4;
    REQUIRE(kok_key(&o, nb, 4, key));
    for (int i = 0; i < 8; i++) CHECK_NEAR(key[i], want[i], 1e-6);
    CHECK(!kok_key(&o, nb, 3, key));
    nb[3].d2 = INFINITY;
    CHECK(!kok_key(&o, nb, 4, key));
    nb[3].d2 = NAN;
    CHECK(!kok_key(&o, nb, 4, key));
}

TEST(the_probability_of_a_token_is_a_softmax)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[2] = { neighbor_at(20, 7), neighbor_at(30, 9) };

    o.k = 2;
    CHECK_NEAR(kok_token_prob(&o, nb, 2, 7), 1 / (1 + exp(-1)), 1e-6);
    CHECK_NEAR(kok_token_prob(&o, nb, 2, 9), 1 / (1 + exp(1)), 1e-6);
    CHECK_NEAR(kok_token_prob(&o, nb, 2, 8), 0, 0);
    CHECK_NEAR(kok_token_prob(&o, nb, 0, 7), 0, 0);
    nb[1].log_weight = 1;               /* it stands for several entries */
    CHECK_NEAR(kok_token_prob(&o, nb, 2, 9), 0.5, 1e-6);
}

/* The worked example of method 6.2. The numbers were printed by
 * "tools/check_kok.py --example". */
TEST(the_worked_example_has_its_numbers)
{
    static const struct { double d2[2]; int token[2], right; double model; }
    entries[] = {
        { { 20, 30 }, { 7, 7 }, 7, 0.4 }, { { 24, 44 }, { 7, 9 }, 7, 0.8 },
        { { 28, 36 }, { 5, 6 }, 6, 0.4 }, { { 80, 90 }, { 5, 6 }, 8, 0.1 } };
    static const double key[] = { 5.5, 8, 0.25, 0.5 };
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[2];
    struct kok_policy p;
    struct kok_found found[2];
    struct knn_mixture v;
    float got[4];

    o.k = 2;
    kok_policy_init(&p);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 2; j++)
            nb[j] = neighbor_at(entries[i].d2[j], entries[i].token[j]);
        add_entries(&p, &o, nb, 1, entries[i].right, entries[i].model);
    }
    nb[0] = neighbor_at(22, 7);
    nb[1] = neighbor_at(32, 9);
    REQUIRE(kok_key(&o, nb, 2, got));
    for (int i = 0; i < 4; i++) CHECK_NEAR(got[i], key[i], 1e-6);
    CHECK_INT(kok_policy_nearest(&p, 2, got, found), 2);
    CHECK_NEAR(found[0].d2, 0.5625, 1e-6);
    CHECK_NEAR(found[1].d2, 3.25, 1e-6);
    CHECK(found[0].value && !found[1].value);
    kok_policy_decide(&p, &o, nb, 2, &v);
    CHECK_NEAR(v.lambda, 0.566786, 2e-6);
    CHECK_INT(v.n, 2);
    CHECK_INT(v.token[0], 7);
    CHECK_NEAR(v.add[0], 0.414354, 2e-6);
    CHECK_NEAR(v.add[1], 0.152432, 2e-6);
    kok_policy_release(&p);
}

/* ---- rules --------------------------------------------------------------- */

TEST(a_policy_needs_k_entries)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[8];
    struct kok_policy p;
    struct knn_mixture v;

    kok_policy_init(&p);
    eight(nb, 20, 7);
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 0, 0);
    add_entries(&p, &o, nb, 7, 7, 0.1);
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 0, 0);
    add_entries(&p, &o, nb, 1, 8, 0.1);         /* the memory was wrong */
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 7 / 8.0, 1e-6);
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 7), 0, 0);
    kok_policy_decide(&p, &o, nb, 7, &v);
    CHECK(v.n == 0 && v.lambda == 0);
    kok_policy_release(&p);
}

TEST(the_memory_must_be_better_than_the_model)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[8];
    struct kok_policy p;

    kok_policy_init(&p);
    eight(nb, 20, 7);
    nb[0].token = 9;
    o.temperature = 1e9;                /* p_tok is 1/8 for token 9 */
    add_entries(&p, &o, nb, 4, 9, 0.12);
    add_entries(&p, &o, nb, 4, 9, 0.13);
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 0.5, 1e-6);
    kok_policy_release(&p);
}

TEST(near_entries_of_the_policy_count_more)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[8], far[8];
    struct kok_policy p;
    double d2 = 0, w[KOK_MOST];

    kok_policy_init(&p);
    eight(nb, 20, 7);
    eight(far, 30, 7);
    add_entries(&p, &o, nb, 4, 7, 0.1);
    add_entries(&p, &o, far, 4, 8, 0.1);
    kok_weights(&o, w);
    for (int i = 0; i < 8; i++) d2 += w[i] * w[i] * 100;
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 1 / (1 + exp(-d2 / 10)),
               1e-6);
    o.policy_temperature = 5;
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 1 / (1 + exp(-d2 / 5)),
               1e-6);
    kok_policy_release(&p);
}

TEST(lambda_has_limits)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[8];
    struct kok_policy p;

    kok_policy_init(&p);
    eight(nb, 20, 7);
    add_entries(&p, &o, nb, 20, 7, 0.1);
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 0.9999, 1e-7);
    o.sure_lambda = 0.7;
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 0.7, 1e-7);
    o.sure = 1;
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 1, 1e-7);
    eight(nb, 100, 7);
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 1, 1e-7);
    eight(nb, 100.01, 7);
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 0, 0);
    o.farthest = 101;
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 1, 1e-7);
    kok_policy_release(&p);
}

TEST(options_out_of_range_are_refused)
{
    for (int i = 0; i < 9; i++) {
        struct kok_options o = kok_options_defaults();
        struct err e;

        if (i == 0) o.k = 0;
        if (i == 1) o.k = KOK_MOST + 1;
        if (i == 2) o.temperature = 0;
        if (i == 3) o.policy_temperature = NAN;
        if (i == 4) o.weight = -1;
        if (i == 5) o.sure = 1.5;
        if (i == 6) o.sure_lambda = -0.1;
        if (i == 7) o.farthest = NAN;
        if (i < 8) CHECK_INT(kok_options_check(&o, &e), ST_ARGUMENT);
        else CHECK_OK(kok_options_check(&o, &e), &e);
    }
}

/* ---- the store ----------------------------------------------------------- */

/* The search agrees with a simple one, for numbers of entries around the size
 * of a group. */
TEST(the_nearest_entries_are_found)
{
    enum { MOST = 70 };
    struct kok_options o = kok_options_defaults();
    uint64_t state = 5;

    o.k = 3;
    for (int n = 0; n <= MOST; n++) {
        float keys[MOST][6];
        struct kok_policy p;
        struct neighbor nb[3];
        struct kok_found found[3], *end = found;
        float key[6];
        double last = -1;

        kok_policy_init(&p);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < 3; j++)
                nb[j] = neighbor_at(50 * (1 + random_unit(&state)), j);
            CHECK(kok_key(&o, nb, 3, keys[i]));
            add_entries(&p, &o, nb, 1, i % 3, 0.2);
        }
        CHECK_INT(p.n, n);
        for (int j = 0; j < 3; j++) nb[j] = neighbor_at(50, j);
        CHECK(kok_key(&o, nb, 3, key));
        end += kok_policy_nearest(&p, 3, key, found);
        CHECK_INT(end - found, n < 3 ? n : 3);
        for (struct kok_found *f = found; f < end; f++) {
            int nearer = 0, same = 0;

            for (int i = 0; i < n; i++) {
                double d2 = 0;

                for (int j = 0; j < 6; j++)
                    d2 += ((double)keys[i][j] - (double)key[j]) *
                          ((double)keys[i][j] - (double)key[j]);
                nearer += d2 < f->d2 - 1e-9;
                same += fabs(d2 - f->d2) <= 1e-9;
            }
            CHECK_INT(nearer, f - found);
            CHECK_INT(same, 1);
            CHECK(f->d2 > last);
            last = f->d2;
        }
        kok_policy_release(&p);
    }
}

/* Of entries at the same distance, the older ones are found. */
TEST(older_entries_come_first)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[2] = { neighbor_at(20, 7), neighbor_at(30, 7) };
    struct kok_policy p;

    o.k = 2;
    kok_policy_init(&p);
    add_entries(&p, &o, nb, 2, 8, 0.1);
    add_entries(&p, &o, nb, 40, 7, 0.1);
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 2), 0, 0);
    kok_policy_release(&p);
}

TEST(an_entry_without_a_key_is_not_added)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[8];
    struct kok_block *b;
    struct err e;

    eight(nb, 20, 7);
    REQUIRE_OK(kok_block_new(&b, 3, 8, &e), &e);
    kok_block_put(b, &o, nb, 7, 7, 0.1);
    nb[4].d2 = NAN;
    kok_block_put(b, &o, nb, 8, 7, 0.1);
    CHECK_INT(kok_block_count(b), 0);
    kok_block_drop(b);
    kok_block_drop(NULL);
    REQUIRE_OK(kok_block_new(&b, 0, 8, &e), &e);
    kok_block_drop(b);
}

/* A reader keeps the entries that it began with. */
TEST(a_copy_does_not_grow)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[8];
    struct kok_policy p, copy, empty;
    struct err e;

    kok_policy_init(&p);
    kok_policy_init(&copy);
    kok_policy_init(&empty);
    REQUIRE_OK(kok_policy_copy(&empty, &p, &e), &e);
    eight(nb, 20, 7);
    add_entries(&p, &o, nb, 8, 8, 0.1);
    REQUIRE_OK(kok_policy_copy(&copy, &p, &e), &e);
    eight(nb, 20.5, 7);
    add_entries(&p, &o, nb, 8, 7, 0.1);
    CHECK_NEAR(kok_policy_lambda(&p, &o, nb, 8), 0.9999, 1e-7);
    kok_policy_release(&p);             /* the document ends */
    CHECK_INT(p.n, 0);
    CHECK_INT(copy.n, 8);
    CHECK_NEAR(kok_policy_lambda(&copy, &o, nb, 8), 0, 0);
    CHECK_INT(empty.n, 0);
    kok_policy_release(&copy);
    kok_policy_release(&empty);
}

/* Threads read and release copies while the policy grows. */
static void *read_copy(void *arg)
{
    struct kok_options o = kok_options_defaults();
    struct kok_policy *copy = arg;
    struct neighbor nb[8];
    size_t n = copy->n;

    eight(nb, 20, 7);
    for (int i = 0; i < 200; i++) {
        float lambda = kok_policy_lambda(copy, &o, nb, 8);

        CHECK(lambda == (n ? 0.9999f : 0) && copy->n == n);
    }
    kok_policy_release(copy);
    return NULL;
}

TEST(copies_can_be_read_by_threads)
{
    enum { READERS = 4 };
    struct kok_options o = kok_options_defaults();
    struct kok_policy p, copy[READERS];
    struct neighbor nb[8];
    pthread_t thread[READERS];
    struct err e;

    kok_policy_init(&p);
    eight(nb, 20, 7);
    for (int i = 0; i < READERS; i++) {
        kok_policy_init(&copy[i]);
        REQUIRE_OK(kok_policy_copy(&copy[i], &p, &e), &e);
        REQUIRE(!pthread_create(&thread[i], NULL, read_copy, &copy[i]));
        for (int j = 0; j < 10; j++) add_entries(&p, &o, nb, 8, 7, 0.1);
    }
    for (int i = 0; i < READERS; i++) pthread_join(thread[i], NULL);
    CHECK_INT(p.n, READERS * 80);
    kok_policy_release(&p);
}
