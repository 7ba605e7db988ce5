/* system_suite.h - checks that every steering system must pass (knn/system.h).
 * The keys are those that a backend computes for made-up pairs. All functions
 * are static. */
#ifndef SYSTEM_SUITE_H
#define SYSTEM_SUITE_H

#include "backend_suite.h"
#include "knn/key_builder.h"
#include "knn/system.h"

enum { SYSTEM_PAIRS = 3, SYSTEM_TARGET = 5, SYSTEM_BEAM = 3 };

struct system_fix {             /* a mixer that is ready to decode */
    const struct steering_system *system;
    const struct backend *backend;
    struct system_pair pairs[SYSTEM_PAIRS];
    int32_t src[SYSTEM_PAIRS][4], tgt[SYSTEM_PAIRS][SYSTEM_TARGET];
    void *worker;
    struct mixer *mixer;
};

static inline struct system_options system_suite_options(
    const struct backend *b)
{
    return (struct system_options){
        .k = 2, .eos = b->cfg->eos_id,
        .weigh = { .tau = 1e6, .adapter = ADAPTER_DISTANCE, .lambda = 0.5 } };
}

static inline void system_fix_keys(struct system_fix *f)
{
    struct key_builder_options ko = { 64, KEY_F32, false };
    struct key_pair pairs[SYSTEM_PAIRS];
    struct key_builder *kb = NULL;
    struct err e;

    for (int i = 0; i < SYSTEM_PAIRS; i++) {
        for (int t = 0; t < 3; t++)
            f->src[i][t] = suite_token(f->backend, 10 + i + t);
        f->src[i][3] = f->backend->cfg->eos_id;
        for (int t = 0; t < SYSTEM_TARGET; t++)
            f->tgt[i][t] = suite_token(f->backend, 30 + 3 * i + t);
        pairs[i] = (struct key_pair){ f->src[i], 4, f->tgt[i], SYSTEM_TARGET,
                                      NULL };
    }
    if (CHECK_OK(key_builder_new(&kb, f->backend, NULL, &ko, &e), &e))
        CHECK_OK(key_builder_run(kb, pairs, SYSTEM_PAIRS, &e), &e);
    key_builder_free(kb);
    for (int i = 0; i < SYSTEM_PAIRS; i++)
        f->pairs[i] = (struct system_pair){ pairs[i].keys,
                                            0.9f - 0.2f * (float)i };
}

static inline void system_fix_open(struct system_fix *f,
                                   const struct steering_system *system,
                                   const struct backend *b)
{
    struct system_options o = system_suite_options(b);
    struct system_sentence s = { SYSTEM_BEAM, 2, SUITE_LEN, true };
    struct err e;

    memset(f, 0, sizeof *f);
    f->system = system;
    f->backend = b;
    system_fix_keys(f);
    if (system->worker_new)
        CHECK_OK(system->worker_new(&f->worker, b, &e), &e);
    CHECK_OK(system->sentence_new(&f->mixer, &o, &s, &e), &e);
    CHECK_OK(system->prepare(f->mixer, f->worker, f->pairs, SYSTEM_PAIRS, &e),
             &e);
}

static inline void system_fix_close(struct system_fix *f)
{
    if (f->mixer) f->mixer->ops->free(f->mixer);
    if (f->worker) f->system->worker_free(f->worker);
    for (int i = 0; i < SYSTEM_PAIRS; i++) pair_keys_drop(f->pairs[i].keys);
}

/* A mixture is a distribution: the tokens are different, and what is kept and
 * what is added sum to 1. */
static inline void check_mixture(const struct backend *b,
                                 const struct mixture *m)
{
    double sum = (double)m->keep;

    CHECK(m->keep >= 0 && m->keep <= 1);
    CHECK(m->n >= 0 && m->n <= MIXTURE_TOKENS);
    for (int i = 0; i < m->n; i++) {
        CHECK(m->token[i] >= 0 && m->token[i] < b->vocab);
        CHECK(m->add[i] >= 0);
        sum += (double)m->add[i];
        for (int k = 0; k < i; k++) CHECK(m->token[k] != m->token[i]);
    }
    CHECK_NEAR(sum, 1, 1e-4);
    for (int i = 0; i < m->n_guesses; i++) {
        CHECK(m->guesses[i].n >= 0);
        CHECK(m->guesses[i].likely >= 0 && m->guesses[i].likely <= 1);
    }
}

/* Run list, the projection and mix over n rows of the last pass. */
static inline void system_mix(struct system_fix *f, struct executor *x,
                              const struct mixer_rows *in, struct mixture *out)
{
    struct projection p[SUITE_ROWS] = { 0 };
    float logit[SUITE_ROWS][MIXTURE_TOKENS];
    struct err e;

    for (int i = 0; i < in->n; i++) out[i] = (struct mixture){ .keep = 1 };
    CHECK_OK(f->mixer->ops->list(f->mixer, in, out, &e), &e);
    for (int i = 0; i < in->n; i++)
        p[i] = (struct projection){ .n_listed = out[i].n,
                                    .listed = out[i].token,
                                    .listed_logit = logit[i] };
    CHECK_OK(x->ops->project(x, in->row, in->n, p, &e), &e);
    if (f->mixer->ops->mix) f->mixer->ops->mix(f->mixer, in, p, out);
}

/* The mixtures of two hypotheses are distributions, and those of a row do not
 * depend on the rows beside it. */
static inline void suite_mixes(const struct steering_system *system,
                               const struct backend *b)
{
    struct executor *x = suite_executor(b, SUITE_SLOTS);
    struct suite_hyp h[2] = { { .lane = 0 }, { .lane = 0 } };
    struct pass_row rows[2];
    int32_t *slot_token = calloc(SUITE_SLOTS, sizeof *slot_token);
    const int32_t *path[2] = { h[0].path, h[1].path };
    struct system_fix f;
    struct err e;

    system_fix_open(&f, system, b);
    suite_encode(x, 0, 4);
    for (int t = 0; t < 4; t++) {
        struct mixture both[2], one;
        int n_tokens[2] = { t, t };
        struct mixer_rows in = { x, 0, 2, n_tokens, path, slot_token };
        float add[MIXTURE_TOKENS];

        for (int i = 0; i < 2; i++) {
            suite_append(x, &h[i], t ? f.tgt[i][t - 1] : b->cfg->start_id);
            slot_token[h[i].path[t]] = h[i].token[t];
            rows[i] = suite_last_row(&h[i]);
        }
        CHECK_OK(x->ops->run(x, rows, 2, NULL, 0, &e), &e);
        system_mix(&f, x, &in, both);
        check_mixture(b, &both[0]);
        check_mixture(b, &both[1]);
        one = both[1];
        if (one.n) memcpy(add, one.add, (size_t)one.n * sizeof *add);
        in = (struct mixer_rows){ x, 1, 1, n_tokens + 1, path + 1,
                                  slot_token };
        system_mix(&f, x, &in, both);
        CHECK(both[0].keep == one.keep && both[0].n == one.n);
        if (both[0].n == one.n && one.n)
            CHECK_MEM(both[0].add, add, (size_t)one.n * sizeof *add);
    }
    f.mixer->ops->end(f.mixer);
    system_fix_close(&f);
    executor_free(x);
    free(slot_token);
}

/* A search with the system is explained token by token. */
static inline void suite_explains(const struct steering_system *system,
                                  const struct backend *b)
{
    struct batch_limits l = { .lanes = 1, .rows = SYSTEM_BEAM,
                              .max_beam = SYSTEM_BEAM,
                              .max_source = SUITE_LEN, .max_len = SUITE_LEN };
    struct search_options o = { .beam = SYSTEM_BEAM, .nbest = 2, .lenpen = 0.6,
                                .max_len_b = SUITE_LEN, .early_stop = true,
                                .explain = true };
    struct batch *batch = NULL;
    struct job *j = NULL, *done;
    struct system_fix f;
    struct err e;

    system_fix_open(&f, system, b);
    CHECK_OK(batch_new(&batch, b, &l, NULL, &e), &e);
    CHECK_OK(job_new(&j, &o, b->max_pos, f.src[0], 4, NULL, 0, &e), &e);
    j->mixer = f.mixer;
    CHECK_OK(batch_add(batch, &j, 1, &e), &e);
    while (batch_busy_lanes(batch))
        if (!CHECK_OK(batch_step(batch, &done, &e), &e)) break;
    CHECK(j->n_hyps > 0);
    for (int h = 0; h < j->n_hyps; h++)
        for (int t = 0; t < j->hyps[h].n; t++) {
            struct explanation why = f.mixer->ops->explanation(f.mixer, h, t);
            double sum = 0;

            CHECK(why.weight >= 0 && why.weight <= 1);
            CHECK(why.n >= 0 && (why.n == 0 || why.weight > 0));
            for (int i = 0; i < why.n; i++) {
                CHECK(why.votes[i].pair >= 0 &&
                      why.votes[i].pair < SYSTEM_PAIRS);
                CHECK(why.votes[i].token >= 0 &&
                      why.votes[i].token < b->vocab);
                sum += (double)why.votes[i].share;
            }
            CHECK(sum < 1 + 1e-4);
        }
    CHECK(f.mixer->ops->explanation(f.mixer, 0, SUITE_LEN + 1).n == 0);
    job_free(j);
    batch_free(batch);
    system_fix_close(&f);
}

static inline void system_suite(const struct steering_system *system,
                                const struct backend *b)
{
    CHECK(system->name[0] && system->title[0] && system->paper[0]);
    CHECK(system->options != NULL);
    suite_mixes(system, b);
    suite_explains(system, b);
}

#endif
