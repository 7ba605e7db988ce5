/* test_system.c - steering systems: each passes the checks of system_suite.h,
 * on the CPU and on a backend that keeps its data to itself. */
#include "knn/sk.h"
#include "nn/cpu_backend.h"
#include "system_suite.h"
#include "tiny_net.h"
#include "toy_backend.h"
#include "toy_system.h"

static void with_cpu(void (*check)(const struct backend *b))
{
    const struct tiny o = { .d = 32, .heads = 4, .ffn = 64, .dec_ffn = 64,
                            .enc_layers = 2, .dec_layers = 2,
                            .max_positions = 64,
                            .act = "relu", .pos = "sinusoidal-halves",
                            .type = "F32", .prefix_id = -1, .seed = 7,
                            .final_norm = true };
    struct backend *b = NULL;
    struct tiny_net t;
    struct err e;

    if (tiny_net_open(&t, &o, DT_F32, NULL) &&
        CHECK_OK(cpu_backend_new(&b, t.net, &e), &e))
        check(b);
    backend_close(b);
    tiny_net_close(&t);
}

static void with_toy(void (*check)(const struct backend *b))
{
    struct backend *b;
    struct err e;

    REQUIRE_OK(toy_backend_new(&b, -1, &e), &e);
    check(b);
    backend_close(b);
}

static void check_all_systems(const struct backend *b)
{
    for (int i = 0; system_at(i); i++) system_suite(system_at(i), b);
}

TEST(every_system_passes_the_suite) { with_cpu(check_all_systems); }

TEST(every_system_passes_the_suite_on_the_toy_backend)
{
    with_toy(check_all_systems);
}

/* Normalized rewards are a mixture like any other. */
static void check_normalized_pieces(const struct backend *b)
{
    suite_normalizes = true;
    suite_mixes(system_named("pieces"), b);
    suite_normalizes = false;
}

TEST(normalized_pieces_are_mixtures)
{
    with_cpu(check_normalized_pieces);
    with_toy(check_normalized_pieces);
}

static void check_toy_system(const struct backend *b)
{
    system_suite(&toy_system, b);
}

TEST(the_toy_system_passes_the_suite) { with_cpu(check_toy_system); }

TEST(the_toy_system_passes_the_suite_on_the_toy_backend)
{
    with_toy(check_toy_system);
}

TEST(systems_are_found_by_name)
{
    CHECK(system_named("sk") == &sk_system);
    CHECK(!system_named("SK") && !system_named(""));
    for (int i = 0; system_at(i); i++)
        CHECK(system_named(system_at(i)->name) == system_at(i));
    CHECK(!system_at(-1));
}

/* ---- searches with the toy system ---------------------------------------- */

/* How many tokens of a translation are those of the first pair. */
static int common_tokens(const struct system_fix *f, const struct job *j)
{
    int n = 0;

    for (int t = 0; t < SYSTEM_TARGET && t < j->hyps[0].n; t++)
        n += j->hyps[0].tokens[t] == f->tgt[0][t];
    return n;
}

/* The explanations name the place in the pair, and the weights are those that
 * the search used: they lead to its log-probabilities. */
static void check_toy_reasons(const struct mixer *m, const struct job *j,
                              const struct system_fix *f)
{
    for (int t = 0; t < SYSTEM_TARGET; t++) {
        struct explanation why = m->ops->explanation(m, 0, t);
        double w = (double)why.weight;
        double p = 1 - w / (double)f->pairs[0].similarity;

        if (!CHECK(w > 0 && why.n == 1)) continue;
        CHECK_INT(why.votes[0].pair, 0);
        CHECK_INT(why.votes[0].pos, t);
        CHECK_INT(why.votes[0].token, f->tgt[0][t]);
        CHECK_NEAR(j->hyps[0].logprobs[t], log((1 - w) * p + w), 1e-4);
    }
}

/* With lambda 1 and similarity 0.9, the voted token has more than half of the
 * probability, whatever the model says. So greedy search follows the pair. */
static void check_steering(const struct backend *b)
{
    struct system_fix f;
    struct toy_worker *worker;
    struct mixer *strong, *none;
    struct job *plain, *steered, *same;

    system_fix_open(&f, &toy_system, b);
    worker = f.worker;
    strong = system_mixer(&f, 1, true, SYSTEM_PAIRS);
    none = system_mixer(&f, 0, true, SYSTEM_PAIRS);
    CHECK_INT(worker->sentences, 3);
    CHECK_INT(worker->votes, 0);
    plain = system_search(b, NULL, 1, 0, true);
    steered = system_search(b, strong, 1, 0, true);
    CHECK(worker->votes >= SYSTEM_TARGET);
    same = system_search(b, none, 1, 0, true);
    CHECK(common_tokens(&f, plain) < SYSTEM_TARGET - 2);
    CHECK_INT(common_tokens(&f, steered), SYSTEM_TARGET);
    check_toy_reasons(strong, steered, &f);
    check_same_results(plain, same);
    CHECK_INT(none->ops->explanation(none, 0, 0).n, 0);
    job_free(plain);
    job_free(steered);
    job_free(same);
    strong->ops->free(strong);
    none->ops->free(none);
    system_fix_close(&f);
}

TEST(the_toy_system_steers_towards_a_pair) { with_cpu(check_steering); }

TEST(the_toy_system_steers_towards_a_pair_on_the_toy_backend)
{
    with_toy(check_steering);
}

static void check_toy_drafts(const struct backend *b)
{
    CHECK(suite_drafts(&toy_system, b, 1) > 0);
}

TEST(drafts_save_passes_of_the_toy_system)
{
    with_cpu(check_toy_drafts);
    with_toy(check_toy_drafts);
}
