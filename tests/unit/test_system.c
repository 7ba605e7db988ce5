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

enum { STEERED_BEAM = 2, STEERED_DRAFTS = 4 };

/* Make a mixer for the pairs of f. */
static struct mixer *new_mixer(struct system_fix *f, double lambda)
{
    struct system_options o = system_suite_options(f->backend);
    struct system_sentence s = { STEERED_BEAM + STEERED_DRAFTS, STEERED_BEAM,
                                 SUITE_LEN, true };
    struct mixer *m = NULL;
    struct err e;

    o.weigh.lambda = lambda;
    if (CHECK_OK(f->system->sentence_new(&m, &o, &s, &e), &e))
        CHECK_OK(f->system->prepare(m, f->worker, f->pairs, SYSTEM_PAIRS, &e),
                 &e);
    return m;
}

/* Translate a sentence that is not the source of a pair; m may be NULL. */
static struct job *steered_search(const struct backend *b, struct mixer *m,
                                  int beam, int drafts)
{
    struct batch_limits l = { .lanes = 1, .rows = beam, .drafts = drafts,
                              .max_beam = beam, .max_source = SUITE_LEN,
                              .max_len = SUITE_LEN };
    struct search_options o = { .beam = beam, .nbest = beam, .lenpen = 0.6,
                                .max_len_b = SUITE_LEN, .early_stop = true,
                                .explain = true, .draft = drafts };
    int32_t ids[3] = { suite_token(b, 2), suite_token(b, 5),
                       b->cfg->eos_id };
    struct job *j = NULL, *done;
    struct batch *batch = NULL;
    struct err e;

    CHECK_OK(batch_new(&batch, b, &l, NULL, &e), &e);
    CHECK_OK(job_new(&j, &o, b->max_pos, ids, 3, NULL, 0, &e), &e);
    j->mixer = m;
    CHECK_OK(batch_add(batch, &j, 1, &e), &e);
    while (batch_busy_lanes(batch))
        if (!CHECK_OK(batch_step(batch, &done, &e), &e)) break;
    batch_free(batch);
    CHECK(j->n_hyps > 0);
    return j;
}

/* How many tokens of a translation are those of the first pair. */
static int common_tokens(const struct system_fix *f, const struct job *j)
{
    int n = 0;

    for (int t = 0; t < SYSTEM_TARGET && t < j->hyps[0].n; t++)
        n += j->hyps[0].tokens[t] == f->tgt[0][t];
    return n;
}

static void check_same_results(const struct job *a, const struct job *b)
{
    CHECK_INT(a->n_hyps, b->n_hyps);
    for (int h = 0; h < a->n_hyps && h < b->n_hyps; h++) {
        if (!CHECK(a->hyps[h].n == b->hyps[h].n)) continue;
        CHECK_MEM(a->hyps[h].tokens, b->hyps[h].tokens,
                  (size_t)a->hyps[h].n * sizeof(int32_t));
        CHECK(a->hyps[h].score == b->hyps[h].score);
    }
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
    strong = new_mixer(&f, 1);
    none = new_mixer(&f, 0);
    CHECK_INT(worker->sentences, 3);
    CHECK_INT(worker->votes, 0);
    plain = steered_search(b, NULL, 1, 0);
    steered = steered_search(b, strong, 1, 0);
    CHECK(worker->votes >= SYSTEM_TARGET);
    same = steered_search(b, none, 1, 0);
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

/* Drafts do not change the results. Returns how many passes they save. */
static int check_drafts(const struct steering_system *system,
                        const struct backend *b, double lambda)
{
    struct job *without, *with;
    struct mixer *m[2];
    struct system_fix f;
    int saved;

    system_fix_open(&f, system, b);
    for (int i = 0; i < 2; i++) m[i] = new_mixer(&f, lambda);
    without = steered_search(b, m[0], STEERED_BEAM, 0);
    with = steered_search(b, m[1], STEERED_BEAM, STEERED_DRAFTS);
    check_same_results(without, with);
    saved = without->n_passes - with->n_passes;
    job_free(without);
    job_free(with);
    for (int i = 0; i < 2; i++) m[i]->ops->free(m[i]);
    system_fix_close(&f);
    return saved;
}

static void check_toy_drafts(const struct backend *b)
{
    CHECK(check_drafts(&toy_system, b, 1) > 0);
    CHECK(check_drafts(&toy_system, b, 0.5) >= 0);
}

static void check_sk_drafts(const struct backend *b)
{
    CHECK(check_drafts(&sk_system, b, 0.5) >= 0);
}

TEST(drafts_do_not_change_results)
{
    with_cpu(check_toy_drafts);
    with_cpu(check_sk_drafts);
}

TEST(drafts_do_not_change_results_on_the_toy_backend)
{
    with_toy(check_toy_drafts);
    with_toy(check_sk_drafts);
}

TEST(the_toy_system_rejects_a_lambda_out_of_range)
{
    struct system_options o = { .weigh = { .lambda = 1.5 } };
    struct system_sentence s = { 1, 1, 4, false };
    struct mixer *m;
    struct err e;

    CHECK_INT(toy_system.sentence_new(&m, &o, &s, &e), ST_ARGUMENT);
    CHECK(!m);
}
