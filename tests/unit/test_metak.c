/* test_metak.c - the network of system adaptive: its inputs, its output, its
 * text form, and its training. tests/cli/nets.t compares many steps with an
 * independent program. */
#include <math.h>

#include "base/random.h"
#include "knn/metak_train.h"
#include "test.h"

/* ---- random data --------------------------------------------------------- */

static uint64_t random_state = 1;

static double uniform(double low, double high)
{
    return low + (high - low) * (random_unit(&random_state) + 1) / 2;
}

static int below(int n)
{
    return (int)(random_next(&random_state) % (uint64_t)n);
}

/* The weights of distances are small, so that hidden units are not
 * saturated. */
static struct metak random_network(int k)
{
    struct metak m = { .k = k, .temperature = 10, .scale = 1 };

    for (int i = 0; i < metak_layout(k).n; i++)
        m.w[i] = (float)uniform(-0.5, 0.5);
    for (int h = 0; h < METAK_HIDDEN; h++)
        for (int i = 0; i < k; i++) m.w[h * 2 * k + i] *= 0.01f;
    return m;
}

static void random_neighbors(struct neighbor *nb, int n)
{
    double d2 = uniform(0, 40);

    for (int i = 0; i < n; i++) {
        nb[i] = (struct neighbor){ .d2 = (float)d2, .token = below(5) };
        if (i % 3 == 1) nb[i].log_weight = (float)log(1 + below(5));
        d2 += uniform(0, 20);
    }
}

static struct metak_sample random_sample(int n)
{
    struct metak_sample s = { .target = below(7), .n = n,
                              .model = (float)uniform(0.001, 0.3) };

    random_neighbors(s.nb, n);
    for (int j = 0; j < n; j++)
        s.prob[j] = s.nb[j].token == s.target
                    ? s.model : (float)(0.01 * (1 + s.nb[j].token));
    return s;
}

/* ---- the worked example of method 5.2 ------------------------------------ */

/* The numbers that are compared with were printed by
 * "tools/check_metak.py --example". */

static const struct neighbor example_nb[] = {
    { .d2 = 20, .token = 7 }, { .d2 = 30, .token = 9 },
    { .d2 = 32, .token = 7, .log_weight = 0.693147181f },
    { .d2 = INFINITY, .token = -1 } };

static struct metak example_network(void)
{
    struct metak m = { .k = 4, .temperature = 10, .scale = 1 };
    float *o = m.w + metak_layout(4).o;

    m.w[0] = -0.02f;
    m.w[1] = 0.01f;
    m.w[8 + 7] = 0.5f;
    o[0] = -2;
    o[1] = 1;
    o[METAK_HIDDEN] = 1;
    o[2 * METAK_HIDDEN + 1] = -1;
    o[3 * METAK_HIDDEN] = 2;
    return m;
}

TEST(the_worked_example_has_its_numbers)
{
    static const double x[] = { 20, 30, 32, 32, 1, 2, 2, 2 };
    static const double q[] = { 0.543991, 0.188356, 0.097165, 0.170488 };
    static const double share[] = { 0.758581, 0.127112, 0.114307 };
    struct metak m = example_network();
    struct metak_result r;
    struct knn_mixture v;
    double got[8];

    metak_inputs(4, 1, example_nb, 3, got);
    for (int i = 0; i < 8; i++) CHECK_NEAR(got[i], x[i], 1e-9);
    metak_run(&m, example_nb, 3, &r);
    for (int i = 0; i < 4; i++) CHECK_NEAR(r.q[i], q[i], 2e-6);
    for (int i = 0; i < 3; i++) CHECK_NEAR(r.share[i], share[i], 2e-6);
    CHECK_NEAR(r.lambda, 0.456009, 2e-6);
    metak_decide(&m, example_nb, 3, &v);
    CHECK_INT(v.n, 2);
    CHECK_INT(v.token[0], 7);
    CHECK_INT(v.token[1], 9);
    CHECK_NEAR(v.add[0], 0.398045, 2e-6);
    CHECK_NEAR(v.add[1], 0.057964, 2e-6);
    CHECK_NEAR(v.lambda, 0.456009, 2e-6);
}

/* ---- inputs -------------------------------------------------------------- */

TEST(a_network_has_the_published_size)
{
    static const int sizes[] = { 162, 259, 420, 709, 1254, 2311 };

    for (int i = 0; i < 6; i++) {
        CHECK(metak_allows(1 << i));
        CHECK_INT(metak_layout(1 << i).n, sizes[i]);
        CHECK_INT(metak_layout(1 << i).choices, i + 2);
    }
    CHECK_INT(METAK_MOST_PARAMS, 2311);
    CHECK(!metak_allows(0) && !metak_allows(3) && !metak_allows(12));
    CHECK(!metak_allows(64) && !metak_allows(-8));
}

TEST(inputs_are_distances_and_counts)
{
    static const struct neighbor nb[] = {
        { .d2 = 4, .token = 0 }, { .d2 = 6, .token = 0 },
        { .d2 = 8, .token = 3 }, { .d2 = 8, .token = 0 },
        { .d2 = 9, .token = 5 }, { .d2 = 9, .token = 3 },
        { .d2 = 9, .token = 1 }, { .d2 = 9.5f, .token = 1 } };
    static const double count[] = { 1, 1, 2, 2, 3, 3, 4, 4 };
    double x[16];

    metak_inputs(8, 0.5, nb, 8, x);
    for (int i = 0; i < 8; i++) {
        CHECK_NEAR(x[i], (double)nb[i].d2 / 2, 1e-9);
        CHECK_NEAR(x[8 + i], count[i], 0);
    }
}

/* Missing neighbors repeat the last one that exists. */
TEST(fewer_neighbors_are_enough)
{
    struct metak m = example_network();
    struct metak_result three, four;
    struct knn_mixture v;

    metak_run(&m, example_nb, 3, &three);
    metak_run(&m, example_nb, 4, &four);        /* the last is missing */
    CHECK_MEM(&three, &four, sizeof three);
    CHECK(four.share[3] == 0);
    memset(&v, 0xff, sizeof v);
    metak_decide(&m, example_nb, 4, &v);
    CHECK_INT(v.n, 2);
    CHECK(v.token[0] != -1 && v.token[1] != -1 && v.share[3] == 0);
    /* With one neighbor, all choices but the first are for it. */
    metak_decide(&m, example_nb, 1, &v);
    CHECK_INT(v.n, 1);
    CHECK_NEAR(v.add[0], v.lambda, 1e-6);
    CHECK_NEAR(v.share[0], 1, 1e-6);
    metak_decide(&m, example_nb, 0, &v);
    CHECK(v.n == 0 && v.lambda == 0);
    metak_decide(&m, example_nb + 3, 1, &v);
    CHECK(v.n == 0 && v.lambda == 0);
    metak_run(&m, example_nb, 0, &three);
    CHECK(three.q[0] == 1 && three.lambda == 0);
}

TEST(a_distance_that_is_not_a_number_ends_the_list)
{
    struct neighbor nb[4];
    struct metak m = example_network();
    struct metak_result one, bad;

    memcpy(nb, example_nb, sizeof nb);
    nb[1].d2 = NAN;
    metak_run(&m, nb, 1, &one);
    metak_run(&m, nb, 4, &bad);
    CHECK_MEM(&one, &bad, sizeof one);
}

/* ---- the network --------------------------------------------------------- */

/* With all weights 0, each choice has the same probability. */
TEST(each_choice_is_a_softmax_over_the_first_neighbors)
{
    struct neighbor nb[4] = { { .d2 = 1, .token = 1 }, { .d2 = 3, .token = 2 },
                              { .d2 = 4, .token = 3 },
                              { .d2 = 6, .token = 4 } };
    struct metak m = { .k = 4, .temperature = 2, .scale = 1 };
    struct metak_result r;
    double e[4], two, four, lambda = 0.75;

    for (int i = 0; i < 4; i++) e[i] = exp(-(double)nb[i].d2 / 2);
    two = e[0] + e[1];
    four = two + e[2] + e[3];
    metak_run(&m, nb, 4, &r);
    CHECK_NEAR(r.lambda, lambda, 1e-6);
    CHECK_NEAR(r.share[0], 0.25 * (1 + e[0] / two + e[0] / four) / lambda,
               1e-6);
    CHECK_NEAR(r.share[1], 0.25 * (e[1] / two + e[1] / four) / lambda, 1e-6);
    CHECK_NEAR(r.share[2], 0.25 * e[2] / four / lambda, 1e-6);
    CHECK_NEAR(r.share[3], 0.25 * e[3] / four / lambda, 1e-6);
}

/* The published program multiplies the distances of other neighbors by 1000.
 * That does not exclude them if they are tiny. */
TEST(neighbors_beyond_a_choice_have_no_part_in_it)
{
    struct neighbor nb[2] = { { .d2 = 0, .token = 1 },
                              { .d2 = 0.001f, .token = 2 } };
    struct metak m = { .k = 2, .temperature = 10, .scale = 1 };
    struct metak_result r;

    m.w[metak_layout(2).o_bias + 1] = 100;      /* one neighbor */
    metak_run(&m, nb, 2, &r);
    CHECK_NEAR(r.q[1], 1, 1e-6);
    CHECK_NEAR(r.share[0], 1, 1e-6);
    CHECK_NEAR(r.share[1], 0, 1e-6);
}

TEST(a_mixture_keeps_its_invariants)
{
    for (int i = 0; i < 600; i++) {
        int k = 1 << i % 6, n = below(k + 1);
        struct metak m = random_network(k);
        struct neighbor nb[METAK_MOST];
        struct knn_mixture v;
        double add = 0, share = 0;

        random_neighbors(nb, n);
        m.w[metak_layout(k).o_bias] = (float)uniform(-200, 200);
        metak_decide(&m, nb, n, &v);
        REQUIRE(v.lambda >= 0 && v.lambda <= 1);
        if (v.lambda == 0) {
            CHECK_INT(v.n, 0);
            continue;
        }
        for (int j = 0; j < n; j++) share += (double)v.share[j];
        for (int j = 0; j < v.n; j++) {
            add += (double)v.add[j];
            CHECK(v.add[j] >= 0);
            for (int l = 0; l < j; l++) CHECK(v.token[l] != v.token[j]);
        }
        CHECK_NEAR(share, 1, 1e-5);
        CHECK_NEAR(add, v.lambda, 1e-5);
    }
}

/* q_0 is so large that the other choices are 0 in double precision. */
TEST(a_network_may_exclude_all_neighbors)
{
    struct metak m = example_network();
    struct metak_result r;
    struct knn_mixture v;

    m.w[metak_layout(4).o_bias] = 1000;
    metak_run(&m, example_nb, 3, &r);
    CHECK(r.q[0] == 1 && r.lambda == 0);
    for (int i = 0; i < 4; i++) CHECK(r.share[i] == 0);
    metak_decide(&m, example_nb, 3, &v);
    CHECK(v.n == 0 && v.lambda == 0);
}

/* ---- text ---------------------------------------------------------------- */

TEST(a_network_of_each_size_survives_being_written)
{
    for (int i = 0; i < 6; i++) {
        struct metak m = random_network(1 << i), back;
        char text[METAK_TEXT];
        uint64_t model;
        struct err e;

        m.scale = 0.01f;
        metak_write(&m, 0x123456789abcdef0u, text);
        CHECK(strlen(text) < METAK_TEXT);
        REQUIRE_OK(metak_read(&back, &model, text, &e), &e);
        CHECK(model == 0x123456789abcdef0u);
        CHECK_MEM(&back, &m, sizeof m);
    }
    CHECK_INT(METAK_TEXT, 58 + 8 * 2311);
}

TEST(a_damaged_network_is_refused)
{
    struct metak m = random_network(8), back;
    char text[METAK_TEXT], bad[METAK_TEXT + 1];
    uint64_t model;
    struct err e;
    size_t n;

    metak_write(&m, 1, text);
    n = strlen(text);
    for (size_t i = 0; i < n; i++) {
        strcpy(bad, text);
        bad[i] = bad[i] == '1' ? '2' : '1';
        CHECK(metak_read(&back, &model, bad, &e));
        strcpy(bad, text);
        bad[i] = 0;
        CHECK(metak_read(&back, &model, bad, &e));
    }
    snprintf(bad, sizeof bad, "%s0", text);
    CHECK_INT(metak_read(&back, &model, bad, &e), ST_FORMAT);
    CHECK_STR(e.msg, "metak: the network is damaged");
    CHECK_INT(metak_read(&back, &model, "", &e), ST_VERSION);
    strcpy(bad, text);
    bad[0] = '2';
    CHECK_INT(metak_read(&back, &model, bad, &e), ST_VERSION);
    CHECK(strstr(e.msg, "train it again"));
}

/* These have a right checksum. */
TEST(a_network_with_impossible_numbers_is_refused)
{
    struct metak m, back;
    char text[METAK_TEXT];
    uint64_t model;
    struct err e;

    for (int i = 0; i < 6; i++) {
        m = random_network(8);
        if (i == 0) m.w[700] = NAN;
        if (i == 1) m.temperature = 0;
        if (i == 2) m.temperature = INFINITY;
        if (i == 3) m.scale = -1;
        if (i == 4) m.scale = NAN;
        if (i == 5) m.w[0] = -INFINITY;
        metak_write(&m, 1, text);
        CHECK_INT(metak_read(&back, &model, text, &e), ST_FORMAT);
    }
}

/* ---- the loss ------------------------------------------------------------ */

enum { PARAMS = 709 };          /* of K = 8 */

static void double_parameters(const struct metak *m, double *w)
{
    for (int i = 0; i < metak_layout(m->k).n; i++) w[i] = (double)m->w[i];
}

/* A derivative from five points; the error is of the fourth order in h. */
static double slope(double *at, double h, double *w,
                    const struct metak_training *how,
                    const struct metak_sample *s)
{
    static const double step[] = { -2, -1, 1, 2 }, part[] = { 1, -8, 8, -1 };
    double was = *at, sum = 0;

    for (int i = 0; i < 4; i++) {
        *at = was + step[i] * h;
        sum += part[i] * metak_gradient(w, how, s, NULL);
    }
    *at = was;
    return sum / (12 * h);
}

TEST(gradients_are_those_of_the_loss)
{
    double worst = 0;

    for (int round = 0; round < 27; round++) {
        struct metak_training how = metak_training_defaults(16000);
        struct metak m = random_network(8);
        struct metak_sample s = random_sample(round % 9);
        double w[PARAMS], grad[PARAMS] = { 0 };

        how.smoothing = round % 2 ? 0.001 : 0.2;
        double_parameters(&m, w);
        metak_gradient(w, &how, &s, grad);
        for (int i = 0; i < PARAMS; i++) {
            bool distance = i < METAK_HIDDEN * 16 && i % 16 < 8;
            double want = slope(&w[i], distance ? 1e-5 : 1e-3, w, &how, &s);
            double off = fabs(grad[i] - want) / fmax(fabs(want), 1e-5);

            worst = fmax(worst, off);
        }
    }
    CHECK(worst < 1e-5);
}

/* The smoothed loss, computed with all tokens of a small vocabulary. What the
 * sum over tokens without neighbors adds for the model is constant. */
TEST(the_loss_is_that_of_the_whole_vocabulary)
{
    enum { V = 12 };
    struct metak_training how = metak_training_defaults(V);

    how.smoothing = 0.1;
    for (int round = 0; round < 20; round++) {
        struct metak m = random_network(8);
        struct metak_sample s = random_sample(1 + round % 8);
        struct metak_result r;
        double w[PARAMS], p[V], sum = 0, want = 0;
        bool voted[V] = { false };

        for (int v = 0; v < V; v++) sum += p[v] = uniform(0.01, 1);
        for (int v = 0; v < V; v++) p[v] /= sum;
        s.model = (float)p[s.target];
        for (int j = 0; j < s.n; j++) s.prob[j] = (float)p[s.nb[j].token];
        metak_run(&m, s.nb, s.n, &r);
        for (int v = 0; v < V; v++) {
            double mixed = (double)r.q[0] * p[v];

            for (int j = 0; j < s.n; j++) {
                if (s.nb[j].token != v) continue;
                mixed += (double)(r.lambda * r.share[j]);
                voted[v] = true;
            }
            want -= how.smoothing / V * log(mixed);
            if (!voted[v]) want += how.smoothing / V * log(p[v]);
            if (v == s.target) want -= (1 - how.smoothing) * log(mixed);
        }
        double_parameters(&m, w);
        CHECK_NEAR(metak_gradient(w, &how, &s, NULL), want, 1e-5);
    }
}

/* Even a network that has no doubt gives finite numbers. */
TEST(extreme_networks_have_finite_gradients)
{
    struct metak_training how = metak_training_defaults(16000);
    struct metak_sample s = random_sample(8);
    double w[PARAMS] = { 0 };

    s.model = 0;
    s.target = 6;                       /* nobody votes for it */
    memset(s.prob, 0, sizeof s.prob);
    for (int c = 0; c < 5; c++) {
        double grad[PARAMS] = { 0 };

        for (int i = 0; i < 5; i++) w[PARAMS - 5 + i] = i == c ? 1e4 : -1e4;
        CHECK(isfinite(metak_gradient(w, &how, &s, grad)));
        for (int i = 0; i < PARAMS; i++) CHECK(isfinite(grad[i]));
    }
}

TEST(losses_for_comparison)
{
    struct metak_sample it = { .model = 0.5f, .target = 7, .n = 2 };
    struct metak_samples s = { 0 };
    struct metak m = { .k = 2, .temperature = 10, .scale = 1 };
    struct metak_report r;
    double lambda, share = 1 / (1 + exp(-1));

    it.nb[0] = (struct neighbor){ .d2 = 10, .token = 9 };
    it.nb[1] = (struct neighbor){ .d2 = 20, .token = 7 };
    CHECK(metak_samples_add(&s, &it));
    CHECK_NEAR(metak_loss_model(&s), log(2), 1e-6);
    /* All weights are 0, so the three choices are equal. */
    CHECK_NEAR(metak_loss(&m, &s), -log((0.5 + 1 - share) / 3), 1e-6);
    CHECK_NEAR(metak_loss_fixed(&s, 1, 10, &lambda), log(2), 1e-6);
    CHECK_NEAR(lambda, 0, 0);
    it.target = 9;
    CHECK(metak_samples_add(&s, &it));
    /* One right, one wrong: ln(1 + l) + ln(1 - l) is largest at 0. */
    CHECK_NEAR(metak_loss_fixed(&s, 1, 10, &lambda), log(2), 1e-6);
    CHECK(metak_samples_add(&s, &it));
    CHECK_NEAR(metak_loss_fixed(&s, 1, 10, &lambda),
               -(2 * log(0.5 * 4 / 3) + log(0.5 * 2 / 3)) / 3, 1e-4);
    CHECK_NEAR(lambda, 0.33, 1e-9);
    metak_compare(&m, &s, &r);
    CHECK_INT(r.steps, 3);
    CHECK_INT(r.n_fixed, 2);
    CHECK_NEAR(r.lambda[0], 0.33, 1e-9);
    CHECK(r.fixed[r.best] <= r.fixed[0] && r.fixed[r.best] <= r.fixed[1]);
    CHECK_NEAR(r.model, log(2), 1e-6);
    CHECK_NEAR(r.network, metak_loss(&m, &s), 1e-12);
    metak_samples_release(&s);
}

/* ---- training ------------------------------------------------------------ */

/* Steps at which the neighbors are right if and only if the nearest is close
 * and they agree. With `few`, some steps have fewer than 8 neighbors. */
static struct metak_samples learnable(int sentences, bool few)
{
    struct metak_samples s = { 0 };

    for (int i = 0; i < sentences * 8; i++) {
        bool close = below(2), agree = below(2);
        struct metak_sample it = { .sentence = i / 8, .target = 1,
                                   .model = 0.1f, .n = few ? below(9) : 8 };
        double d2 = close ? uniform(5, 40) : uniform(80, 200);

        for (int j = 0; j < it.n; j++) {
            it.nb[j] = (struct neighbor){ .d2 = (float)(d2 + 3 * j) };
            it.nb[j].token = agree ? 2 : 2 + j;
            if (close && agree) it.nb[j].token = 1;
            it.prob[j] = it.nb[j].token == 1 ? 0.1f : 0.01f;
        }
        CHECK(metak_samples_add(&s, &it));
    }
    return s;
}

/* Fewer updates than in the published recipe, and a larger rate. */
static struct metak_training quick(void)
{
    struct metak_training how = metak_training_defaults(100);

    how.rate = 0.005;
    how.updates = 400;
    how.every = 20;
    return how;
}

TEST(training_finds_when_the_neighbors_are_right)
{
    for (int few = 0; few < 2; few++) {
        struct metak_samples train = learnable(150, few), valid = { 0 };
        struct metak_training how = quick();
        struct metak_report r;
        struct metak_trained went;
        struct metak a, b;
        struct err e;

        REQUIRE_OK(metak_samples_split(&train, 4, &valid, &e), &e);
        REQUIRE_OK(metak_train(&a, &train, &valid, &how, &went, &e), &e);
        metak_compare(&a, &valid, &r);
        CHECK(r.network < 0.85 * r.fixed[r.best]);
        CHECK(r.fixed[r.best] < r.model);
        CHECK(went.best_update > 0 && went.best_update <= went.updates);
        /* The same seed gives the same network, another one gives another. */
        REQUIRE_OK(metak_train(&b, &train, &valid, &how, NULL, &e), &e);
        CHECK_MEM(&a, &b, sizeof a);
        how.seed = 2;
        REQUIRE_OK(metak_train(&b, &train, &valid, &how, NULL, &e), &e);
        CHECK(memcmp(&a, &b, sizeof a));
        metak_samples_release(&train);
        metak_samples_release(&valid);
    }
}

TEST(the_network_says_none_where_neighbors_are_wrong)
{
    struct metak_samples train = learnable(100, false), none = { 0 };
    struct metak_training how = quick();
    struct metak_result r;
    struct metak m;
    struct err e;

    REQUIRE_OK(metak_train(&m, &train, &none, &how, NULL, &e), &e);
    for (size_t i = 0; i < train.n; i++) {
        const struct metak_sample *s = &train.at[i];

        metak_run(&m, s->nb, s->n, &r);
        if (s->nb[0].token == 1) CHECK(r.lambda > 0.9f);
        else CHECK(r.lambda < 0.2f);
    }
    metak_samples_release(&train);
}

/* Nothing can be learned for validation samples whose targets contradict those
 * of training, so the first network is the best. */
TEST(training_stops_early)
{
    struct metak_samples train = learnable(40, false);
    struct metak_samples valid = learnable(10, false);
    struct metak_training how = quick();
    struct metak_trained went;
    struct metak m;
    struct err e;

    for (size_t i = 0; i < valid.n; i++) valid.at[i].target = 99;
    how.patience = 7;
    how.rate_patience = 2;
    REQUIRE_OK(metak_train(&m, &train, &valid, &how, &went, &e), &e);
    CHECK_INT(went.updates, went.best_update + 7 * how.every);
    CHECK(went.updates < how.updates);
    /* Halved after the third and the sixth validation without progress. */
    CHECK_NEAR(went.rate, how.rate / 4, 1e-12);
    how.least_rate = how.rate / 2;
    REQUIRE_OK(metak_train(&m, &train, &valid, &how, &went, &e), &e);
    CHECK_NEAR(went.rate, how.rate / 2, 1e-12);
    metak_samples_release(&train);
    metak_samples_release(&valid);
}

static int stop_at_once(void *user, int update, int updates, double loss)
{
    (void)updates;
    (void)loss;
    *(int *)user = update;
    return 1;
}

TEST(training_can_be_stopped_and_needs_neighbors)
{
    struct metak_samples train = learnable(10, false), none = { 0 };
    struct metak_training how = quick();
    struct metak m;
    struct err e;
    int update = 0;

    CHECK_INT(metak_train(&m, &none, &none, &how, NULL, &e), ST_ARGUMENT);
    how.progress = stop_at_once;
    how.user = &update;
    CHECK_INT(metak_train(&m, &train, &none, &how, NULL, &e), ST_CANCELED);
    CHECK_INT(update, how.every);
    for (size_t i = 0; i < train.n; i++) train.at[i].n = 0;
    CHECK_INT(metak_train(&m, &train, &none, &how, NULL, &e), ST_ARGUMENT);
    CHECK(strstr(e.msg, "neighbors"));
    metak_samples_release(&train);
}

TEST(settings_out_of_range_are_refused)
{
    struct metak_samples train = learnable(2, false), none = { 0 };

    for (int i = 0; i < 10; i++) {
        struct metak_training how = quick();
        struct metak m;
        struct err e;

        if (i == 0) how.k = 6;
        if (i == 1) how.temperature = 0;
        if (i == 2) how.scale = NAN;
        if (i == 3) how.vocab = 8;
        if (i == 4) how.smoothing = 1;
        if (i == 5) how.rate = 1.5;
        if (i == 6) how.least_rate = 0.1;
        if (i == 7) how.clip = -1;
        if (i == 8) how.batch = 0;
        if (i == 9) how.temperature = 1e300;
        CHECK_INT(metak_train(&m, &train, &none, &how, NULL, &e), ST_ARGUMENT);
    }
    metak_samples_release(&train);
}

/* Sentences 3 and 7 of 0 .. 8, of 1 to 9 samples. */
TEST(every_fourth_sentence_is_held_out)
{
    struct metak_samples s = { 0 }, held = { 0 };
    struct err e;
    int32_t last = -1;

    for (int i = 0; i < 9; i++)
        for (int j = 0; j <= i; j++) {
            struct metak_sample it = { .sentence = 100 + i, .target = j };

            CHECK(metak_samples_add(&s, &it));
        }
    REQUIRE_OK(metak_samples_split(&s, 4, &held, &e), &e);
    CHECK_INT(held.n, 4 + 8);
    CHECK_INT(s.n, 45 - 12);
    for (size_t i = 0; i < held.n; i++) {
        CHECK_INT(held.at[i].sentence, i < 4 ? 103 : 107);
        CHECK_INT(held.at[i].target, i < 4 ? (int)i : (int)i - 4);
    }
    for (size_t i = 0; i < s.n; i++) {
        CHECK(s.at[i].sentence != 103 && s.at[i].sentence != 107);
        CHECK(s.at[i].sentence >= last);
        last = s.at[i].sentence;
    }
    metak_samples_release(&s);
    metak_samples_release(&held);
}
