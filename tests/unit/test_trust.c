/* test_trust.c - the network of learned trust: its features, its output, its
 * text form, and its training. The golden test that compares steps of real
 * translations with an independent program is tests/cli/tune_learn.t. */
#include <math.h>

#include "knn/trust_train.h"
#include "test.h"

/* ---- random data --------------------------------------------------------- */

static uint64_t random_state = 1;

static double uniform(double low, double high)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(random_state >> 11) /
                 (double)(1ull << 53);
}

static struct trust random_network(void)
{
    struct trust t;

    for (int i = 0; i < TRUST_PARAMS; i++) t.w[i] = (float)uniform(-1, 1);
    for (int i = 0; i < TRUST_FEATURES; i++) t.mean[i] = (float)uniform(0, 1);
    return t;
}

static struct trust_sample random_sample(int n)
{
    struct trust_sample s = { .model = (float)uniform(0.01, 0.9) };

    s.f.n = n;
    s.hits = (uint32_t)uniform(0, 256) & ((1u << n) - 1);
    for (int i = 0; i < TRUST_FEATURES; i++)
        s.f.x[i] = (float)uniform(-1, 2);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < TRUST_VOTES; i++)
            s.f.votes[j][i] = (float)uniform(-2, 2);
    return s;
}

/* ---- features ------------------------------------------------------------ */

static const struct neighbor near_three[] = {
    { 20, 7, 0, 3, 0 }, { 50, 9, 1, 0, 0 }, { 350, 7, 0, 5, 0 } };

static struct trust_features features_of_three(int32_t best)
{
    static const bool foreign[] = { false, true, false };
    static const bool own[] = { true, false, true };
    static const float aligned[] = { 0.25f, 0.75f, 0 };
    static const float focus[] = { 0.5f, 0.125f, 0.625f };
    static const float shared[] = { 0.375f, 0.875f, 0.25f };
    static const float similarity[] = { 0.5f, 0.8f, 0.5f };
    static const float logprob[] = { -2, -50, -2 };
    static const int context[] = { 1, 3, 0 };
    struct trust_step s = { .nb = near_three, .n = 3, .similarity = similarity,
                            .context = context, .logprob = logprob,
                            .foreign = foreign, .own = own,
                            .aligned = aligned, .focus = focus,
                            .shared = shared, .best_prob = 0.25f,
                            .entropy = 2, .best_token = best, .tau = 100 };
    struct trust_features f;

    trust_features(&s, &f);
    return f;
}

TEST(features_are_what_the_header_says)
{
    struct trust_features f = features_of_three(9);

    CHECK_INT(f.n, 3);
    CHECK_NEAR(f.x[TRUST_distance], 0.2, 1e-6);
    CHECK_NEAR(f.x[TRUST_gap_1], 0.3, 1e-6);
    CHECK_NEAR(f.x[TRUST_gap_3], 2.8, 1e-6);    /* there is no fourth */
    CHECK_NEAR(f.x[TRUST_similarity], 0.5, 1e-6);
    CHECK_NEAR(f.x[TRUST_context], 1 / 3.0, 1e-6);
    CHECK_NEAR(f.x[TRUST_model_token], -0.4, 1e-6);
    CHECK_NEAR(f.x[TRUST_model_best], 0.25, 1e-6);
    CHECK_NEAR(f.x[TRUST_entropy], 0.5, 1e-6);
    CHECK_NEAR(f.x[TRUST_same_best], 0, 0);
    CHECK_NEAR(f.x[TRUST_agree_4], 2 / 3.0, 1e-6);
    CHECK_NEAR(f.x[TRUST_agree_8], 2 / 3.0, 1e-6);
    CHECK_NEAR(f.x[TRUST_distance_2], 0.04, 1e-6);
    CHECK_NEAR(f.x[TRUST_most_similar], 0.8, 1e-6);
    CHECK_NEAR(f.x[TRUST_most_context], 1, 1e-6);
    CHECK(f.x[TRUST_foreign] == 0 && f.x[TRUST_own] == 1);
    CHECK(f.votes[1][TRUST_VOTE_foreign] == 1 &&
          f.votes[1][TRUST_VOTE_own] == 0);
    CHECK_NEAR(f.votes[1][TRUST_VOTE_near], -0.5, 1e-6);
    CHECK_NEAR(f.votes[2][TRUST_VOTE_near], -3, 1e-6);  /* limited */
    CHECK_NEAR(f.votes[1][TRUST_VOTE_similarity], 0.8, 1e-6);
    CHECK_NEAR(f.votes[1][TRUST_VOTE_context], 3, 0);
    CHECK_NEAR(f.votes[1][TRUST_VOTE_model], -4, 1e-6); /* limited */
    CHECK_NEAR(f.x[TRUST_aligned], 0.25, 0);
    CHECK_NEAR(f.x[TRUST_focus], 0.5, 0);
    CHECK_NEAR(f.x[TRUST_most_focus], 0.625, 0);
    CHECK_NEAR(f.x[TRUST_shared], 0.375, 0);
    CHECK_NEAR(f.x[TRUST_most_shared], 0.875, 0);
    CHECK_NEAR(f.votes[1][TRUST_VOTE_aligned], 0.75, 0);
    CHECK_NEAR(f.votes[1][TRUST_VOTE_focus], 0.125, 0);
    CHECK_NEAR(f.votes[1][TRUST_VOTE_shared], 0.875, 0);
    CHECK_NEAR(f.votes[2][TRUST_VOTE_focus], 0.625, 0);
    f = features_of_three(7);
    CHECK(f.x[TRUST_same_best] == 1);
}

TEST(a_context_is_counted_back_from_the_entry)
{
    const int32_t stored[] = { 1, 2, 3, 4, 5 }, said[] = { 9, 2, 3, 4 };

    CHECK_INT(trust_context(stored, 4, said, 4), 3);    /* the most */
    CHECK_INT(trust_context(stored, 4, said + 3, 1), 1);
    CHECK_INT(trust_context(stored, 3, said, 4), 0);
    CHECK_INT(trust_context(stored, 3, said, 3), 2);
    CHECK_INT(trust_context(stored, 0, said, 0), 1);    /* both begin */
    CHECK_INT(trust_context(stored, 0, said, 2), 0);
    CHECK_INT(trust_context(stored, 1, stored, 1), 2);
    CHECK_INT(trust_context(stored, 2, stored, 2), 3);
}

/* ---- the network --------------------------------------------------------- */

TEST(shares_sum_to_one_and_tiny_weights_are_zero)
{
    for (int i = 0; i < 200; i++) {
        struct trust t = random_network();
        struct trust_sample s = random_sample(1 + i % TRUST_NEIGHBORS);
        struct trust_result r;
        double sum = 0;

        trust_run(&t, &s.f, &r);
        for (int j = 0; j < s.f.n; j++) sum += (double)r.share[j];
        CHECK_NEAR(sum, 1, 1e-5);
        CHECK(r.lambda == 0 || (r.lambda >= TRUST_LEAST && r.lambda <= 1));
        t.w[TRUST_AT_O_BIAS] = -100;
        trust_run(&t, &s.f, &r);
        CHECK(r.lambda == 0);
        t.w[TRUST_AT_O_BIAS] = 100;
        trust_run(&t, &s.f, &r);
        CHECK(r.lambda == 1);
    }
}

/* With no weights, lambda is 1/2 for the network and depends on three features
 * for search. */
TEST(search_trusts_places_where_the_sources_agree)
{
    struct trust t = { .w = { 0 } };
    struct trust_sample s = random_sample(2);
    struct trust_result r;

    s.f.x[TRUST_shared] = 1;
    s.f.x[TRUST_entropy] = s.f.x[TRUST_similarity] = 0.4f;
    trust_run(&t, &s.f, &r);
    CHECK_NEAR(r.lambda, 0.5, 1e-6);
    trust_decide(&t, &s.f, &r);
    CHECK_NEAR(r.lambda, 1 / (1 + exp(-1.75)), 1e-6);
    s.f.x[TRUST_shared] = 0;
    s.f.x[TRUST_entropy] = 0.9f;
    trust_decide(&t, &s.f, &r);
    CHECK_NEAR(r.lambda, 1 / (1 + exp(1.25)), 1e-6);
    s.f.x[TRUST_similarity] = 0.9f;
    trust_decide(&t, &s.f, &r);
    CHECK_NEAR(r.lambda, 1 / (1 + exp(0.75)), 1e-6);
}

TEST(the_strongest_reasons_come_first)
{
    struct trust t = { .mean = { 0 } };
    struct trust_sample s = random_sample(3);
    struct trust_reason why[TRUST_REASONS];

    /* One hidden unit, nearly linear: the effect of a feature is its weight. */
    t.w[TRUST_AT_O] = 1000;
    t.w[TRUST_AT_H + TRUST_context] = 0.002f;
    t.w[TRUST_AT_H + TRUST_distance] = -0.001f;
    for (int i = 0; i < TRUST_FEATURES; i++) s.f.x[i] = 1;
    s.f.x[TRUST_shared] = s.f.x[TRUST_entropy] = 0;
    s.f.x[TRUST_similarity] = 0;
    trust_explain(&t, &s.f, why);
    CHECK_INT(why[0].feature, TRUST_context);
    CHECK_NEAR(why[0].effect, 2, 0.01);
    CHECK_INT(why[1].feature, TRUST_distance);
    CHECK_NEAR(why[1].effect, -1, 0.01);
    CHECK_STR(trust_phrase(&t, &s.f, TRUST_context), "same words before it");
    CHECK_STR(trust_phrase(&t, &s.f, TRUST_distance), "distant state");
    /* The distance and its square are one reason. */
    t.w[TRUST_AT_H + TRUST_distance_2] = -0.004f;
    trust_explain(&t, &s.f, why);
    CHECK_INT(why[0].feature, TRUST_distance);
    CHECK_NEAR(why[0].effect, -5, 0.01);
    CHECK_INT(why[1].feature, TRUST_context);
    CHECK(why[2].effect == 0);
    s.f.x[TRUST_distance] = -1;
    CHECK_STR(trust_phrase(&t, &s.f, TRUST_distance), "close state");
    /* What search adds is explained, too. */
    s.f.x[TRUST_shared] = 1.5f;
    trust_explain(&t, &s.f, why);
    CHECK_INT(why[0].feature, TRUST_shared);
    CHECK_NEAR(why[0].effect, 3, 0.01);
}

/* ---- text ---------------------------------------------------------------- */

TEST(a_network_survives_being_written)
{
    struct trust t = random_network(), back;
    char text[TRUST_TEXT];
    uint64_t model;
    struct err e;

    trust_write(&t, 0x123456789abcdef0u, text);
    CHECK_INT(strlen(text), TRUST_TEXT - 1);
    REQUIRE_OK(trust_read(&back, &model, text, &e), &e);
    CHECK(model == 0x123456789abcdef0u);
    CHECK_MEM(&back, &t, sizeof t);
}

TEST(a_damaged_network_is_refused)
{
    struct trust t = random_network(), back;
    char text[TRUST_TEXT], bad[TRUST_TEXT + 1];
    uint64_t model;
    struct err e;

    trust_write(&t, 1, text);
    for (size_t i = 0; i < TRUST_TEXT - 1; i++) {
        strcpy(bad, text);
        bad[i] = bad[i] == '1' ? '2' : '1';
        CHECK(trust_read(&back, &model, bad, &e));
        strcpy(bad, text);
        bad[i] = 0;
        CHECK(trust_read(&back, &model, bad, &e));
    }
    snprintf(bad, sizeof bad, "%s0", text);
    CHECK_INT(trust_read(&back, &model, bad, &e), ST_FORMAT);
    CHECK_INT(trust_read(&back, &model, "", &e), ST_VERSION);
    strcpy(bad, text);
    bad[0] = '2';
    CHECK_INT(trust_read(&back, &model, bad, &e), ST_VERSION);
    strcpy(bad, text);
    bad[20] = bad[20] == '0' ? '1' : '0';
    CHECK_INT(trust_read(&back, &model, bad, &e), ST_VERSION);
    CHECK(strstr(e.msg, "other features"));
    t.w[5] = NAN;
    trust_write(&t, 1, text);
    CHECK_INT(trust_read(&back, &model, text, &e), ST_FORMAT);
}

/* ---- training ------------------------------------------------------------ */

TEST(gradients_are_those_of_the_loss)
{
    for (int round = 0; round < 20; round++) {
        struct trust t = random_network();
        struct trust_sample s = random_sample(1 + round % TRUST_NEIGHBORS);
        double w[TRUST_PARAMS], grad[TRUST_PARAMS] = { 0 };
        double none[TRUST_PARAMS] = { 0 };

        for (int i = 0; i < TRUST_PARAMS; i++) w[i] = (double)t.w[i];
        s.abstains = round % 3 ? 0 : 5;     /* neighbors 0 and 2 */
        trust_gradient(w, &s, grad);
        for (int i = 0; i < TRUST_PARAMS; i++) {
            double h = 1e-5, at = w[i], up, down;

            w[i] = at + h;
            up = trust_gradient(w, &s, none);
            w[i] = at - h;
            down = trust_gradient(w, &s, none);
            w[i] = at;
            CHECK_NEAR((up - down) / (2 * h), grad[i],
                       1e-5 * fmax(fabs(grad[i]), 1e-3));
        }
    }
}

/* A neighbor that abstains says what the model says. */
TEST(a_neighbor_that_abstains_counts_like_the_model)
{
    struct trust t = random_network();
    struct trust_sample s = random_sample(3);
    struct trust_samples one = { &s, 1, 1 };
    struct trust_result r;
    double p;

    s.hits = 3;
    s.abstains = 1;
    trust_run(&t, &s.f, &r);
    p = (double)(1 - r.lambda) * (double)s.model +
        (double)r.lambda * ((double)r.share[0] * (double)s.model +
                            (double)r.share[1]);
    CHECK_NEAR(trust_loss(&t, &one), -log(p + 1e-9), 1e-5);
    CHECK_NEAR(trust_loss_oracle(&one), 0, 1e-6);
    s.hits = 1;                         /* nobody who votes is right */
    CHECK_NEAR(trust_loss_oracle(&one), -log((double)s.model + 1e-9), 1e-5);
}

/* Steps at which the nearest neighbor is right if and only if the distance is
 * small. */
static struct trust_samples learnable(int n)
{
    struct trust_samples s = { 0 };

    for (int i = 0; i < n; i++) {
        struct trust_sample it = random_sample(2);

        it.model = 0.3f;
        it.hits = it.f.x[TRUST_distance] < 0.5f ? 1 : 0;
        it.f.votes[0][TRUST_VOTE_near] = -0.1f;
        it.f.votes[1][TRUST_VOTE_near] = -1;
        CHECK(trust_samples_add(&s, &it));
    }
    return s;
}

TEST(training_finds_when_the_memory_is_right)
{
    struct trust_samples train = learnable(800), valid = learnable(200);
    struct trust_training how = trust_training_defaults();
    struct trust a, b, c;
    struct err e;

    REQUIRE_OK(trust_train(&a, NULL, &train, &valid, &how, &e), &e);
    CHECK(trust_loss(&a, &valid) < 0.8 * trust_loss_model(&valid));
    CHECK(trust_loss(&a, &valid) < trust_loss_sk(&valid, 2, 1));
    CHECK(trust_loss(&a, &valid) > trust_loss_oracle(&valid));
    /* The same seed gives the same network, another one gives another. */
    REQUIRE_OK(trust_train(&b, NULL, &train, &valid, &how, &e), &e);
    CHECK_MEM(&a, &b, sizeof a);
    how.seed = 2;
    REQUIRE_OK(trust_train(&c, NULL, &train, &valid, &how, &e), &e);
    CHECK(memcmp(&a, &c, sizeof a));
    /* Without the distance there is less to learn. */
    how.drop = 1u << TRUST_distance;
    REQUIRE_OK(trust_train(&c, NULL, &train, &valid, &how, &e), &e);
    CHECK(trust_loss(&c, &valid) > trust_loss(&a, &valid) + 0.1);
    trust_samples_release(&train);
    trust_samples_release(&valid);
}

static int stop_at_once(void *user, int epoch, int epochs, double loss)
{
    (void)epochs;
    (void)loss;
    *(int *)user = epoch;
    return 1;
}

TEST(training_can_be_stopped_and_needs_steps)
{
    struct trust_samples train = learnable(10), none = { 0 };
    struct trust_training how = trust_training_defaults();
    struct trust t;
    struct err e;
    int epoch = 0;

    CHECK_INT(trust_train(&t, NULL, &none, &none, &how, &e), ST_ARGUMENT);
    how.progress = stop_at_once;
    how.user = &epoch;
    CHECK_INT(trust_train(&t, NULL, &train, &none, &how, &e), ST_CANCELED);
    CHECK_INT(epoch, 1);
    trust_samples_release(&train);
}

TEST(losses_for_comparison)
{
    struct trust_samples s = { 0 };
    struct trust_sample it = { .model = 0.5f, .hits = 2, .f.n = 2,
                               .distance = { 0.5f, 0.7f } };
    double lambda, share = exp(-0.2) / (1 + exp(-0.2));

    CHECK(trust_samples_add(&s, &it));
    CHECK_NEAR(trust_loss_model(&s), log(2), 1e-6);
    CHECK_NEAR(trust_loss_sk(&s, 1, 1), -log(0.25), 1e-6);
    CHECK_NEAR(trust_loss_sk(&s, 2, 1), -log(0.25 + 0.5 * share), 1e-6);
    CHECK_NEAR(trust_loss_oracle(&s), 0, 1e-6);
    CHECK_NEAR(trust_loss_fixed(&s, &lambda), log(2), 1e-6);
    CHECK_NEAR(lambda, 0, 0);
    s.at[0].hits = 3;
    CHECK_NEAR(trust_loss_fixed(&s, &lambda), -log(0.95 + 0.05 / 2), 1e-6);
    CHECK_NEAR(lambda, 0.95, 1e-9);
    trust_samples_release(&s);
}
