/* backend_suite.h - checks that every backend must pass (nn/backend.h). The
 * model behind it does not matter, but its vocabulary must have at least 8
 * tokens, and it must allow 12 positions. All functions are static. */
#ifndef BACKEND_SUITE_H
#define BACKEND_SUITE_H

#include "base/mem.h"
#include "search/batch.h"
#include "test.h"

enum { SUITE_LANES = 3, SUITE_ROWS = 12, SUITE_LEN = 12, SUITE_STATES = 40 };

static inline struct executor *suite_executor(const struct backend *b,
                                              int states)
{
    struct executor_limits l = { states ? SUITE_LANES : 0, SUITE_LEN,
                                 SUITE_ROWS, SUITE_LEN, states };
    struct executor *x = NULL;
    struct err e;

    CHECK_OK(b->ops->executor_new(b, &l, NULL, &x, &e), &e);
    return x;
}

/* An ordinary token, different for different n. */
static inline int32_t suite_token(const struct backend *b, int n)
{
    return 4 + (int32_t)((n * 7 + 3) % (b->vocab - 4));
}

/* Encode a source of n tokens into a lane. */
static inline void suite_encode(struct executor *x, int lane, int n)
{
    int32_t ids[SUITE_LEN];
    struct source s = { ids, n };
    struct err e;

    for (int i = 0; i < n - 1; i++)
        ids[i] = suite_token(x->backend, 10 * lane + i);
    ids[n - 1] = x->backend->cfg->eos_id;
    CHECK_OK(x->ops->encode(x, &s, &lane, 1, &e), &e);
}

/* A hypothesis: a lane and the path of its states. */
struct suite_hyp {
    int lane, n;                /* n states, including the start token's */
    int32_t token[SUITE_LEN], path[SUITE_LEN];
};

static inline void suite_append(struct executor *x, struct suite_hyp *h,
                                int32_t token)
{
    h->token[h->n] = token;
    h->path[h->n] = x->ops->state_new(x, h->n ? h->path[h->n - 1] : -1);
    CHECK(h->path[h->n] >= 0);
    h->n++;
}

static inline struct pass_row suite_last_row(const struct suite_hyp *h)
{
    return (struct pass_row){ h->lane, h->token[h->n - 1], h->n - 1, h->path };
}

/* Copy the states of the rows of the last pass to out [n, d]. */
static inline void suite_read(struct executor *x, int n, float *out)
{
    size_t d = (size_t)x->backend->d, ld = 0;
    const float *states = NULL;
    struct err e;

    if (!CHECK_OK(x->ops->read(x, 0, n, &states, &ld, &e), &e)) return;
    for (int i = 0; i < n; i++)
        memcpy(out + (size_t)i * d, states + (size_t)i * ld,
               d * sizeof *out);
}

/* Two hypotheses in different lanes give the same states when their rows run in
 * one pass and in passes of their own. */
static inline void suite_rows_are_independent(const struct backend *b)
{
    size_t d = (size_t)b->d;
    float *together = calloc(4 * d, sizeof *together);
    struct executor *x = suite_executor(b, SUITE_STATES);
    struct err e;

    for (int turn = 0; x && together && turn < 2; turn++) {
        struct suite_hyp h[2] = { { .lane = 0 }, { .lane = 2 } };
        float *alone = together + 2 * d;

        suite_encode(x, 0, 5);
        suite_encode(x, 2, 3);
        for (int t = 0; t < 3; t++) {
            struct pass_row rows[2];

            for (int i = 0; i < 2; i++) {
                suite_append(x, &h[i], t ? suite_token(b, t + i)
                                         : b->cfg->start_id);
                rows[i] = suite_last_row(&h[i]);
            }
            if (turn == 0) {
                CHECK_OK(x->ops->run(x, rows, 2, NULL, 0, &e), &e);
                suite_read(x, 2, together);
                continue;
            }
            for (int i = 0; i < 2; i++) {
                CHECK_OK(x->ops->run(x, &rows[i], 1, NULL, 0, &e), &e);
                suite_read(x, 1, alone + (size_t)i * d);
            }
        }
        if (turn) CHECK_MEM(together, alone, 2 * d * sizeof *alone);
    }
    executor_free(x);
    free(together);
}

/* Forcing a translation gives the states that running it token by token
 * gives. */
static inline void suite_force_equals_run(const struct backend *b)
{
    enum { N = 4 };
    int32_t ids[3] = { suite_token(b, 1), suite_token(b, 2), b->cfg->eos_id };
    int32_t tokens[N - 1];
    struct source src = { ids, 3 };
    struct forced_text text = { 0, tokens, N };
    size_t d = (size_t)b->d;
    float *forced = calloc(2 * N * d, sizeof *forced), *run = forced + N * d;
    struct executor *x = suite_executor(b, SUITE_STATES);
    struct executor *f = suite_executor(b, 0);
    struct suite_hyp h = { .lane = 1 };
    int lane = 1;
    struct err e;

    for (int t = 0; t < N - 1; t++) tokens[t] = suite_token(b, 20 + t);
    CHECK_OK(f->ops->force(f, &src, 1, &text, 1, &e), &e);
    suite_read(f, N, forced);
    CHECK_OK(x->ops->encode(x, &src, &lane, 1, &e), &e);
    for (int t = 0; t < N; t++) {
        struct pass_row row;

        suite_append(x, &h, t ? tokens[t - 1] : b->cfg->start_id);
        row = suite_last_row(&h);
        CHECK_OK(x->ops->run(x, &row, 1, NULL, 0, &e), &e);
        suite_read(x, 1, run + (size_t)t * d);
    }
    for (size_t i = 0; i < N * d; i++) CHECK_NEAR(forced[i], run[i], 1e-3);
    executor_free(x);
    executor_free(f);
    free(forced);
}

/* The best tokens are sorted, the listed logits agree with them, and max and
 * sum are those of the row. */
static inline void suite_projects(const struct backend *b)
{
    struct executor *x = suite_executor(b, SUITE_STATES);
    struct suite_hyp h = { .lane = 0 };
    struct token_logit best[8];
    int32_t listed[2];
    float logit[2];
    double sum = 0;
    struct projection p;
    struct pass_row row;
    struct err e;

    suite_encode(x, 0, 4);
    suite_append(x, &h, b->cfg->start_id);
    row = suite_last_row(&h);
    CHECK_OK(x->ops->run(x, &row, 1, NULL, 0, &e), &e);
    p = (struct projection){ .n_best = 8, .best = best };
    CHECK_OK(x->ops->project(x, &p, 1, &e), &e);
    CHECK_INT(p.n_found, 8);
    CHECK_NEAR(best[0].logit, p.max, 0);
    for (int i = 1; i < 8; i++)
        CHECK(best[i].logit < best[i - 1].logit ||
              (best[i].logit == best[i - 1].logit &&
               best[i].token > best[i - 1].token));
    for (int32_t v = 0; v < b->vocab; v++) {
        listed[0] = v;
        listed[1] = best[0].token;
        p = (struct projection){ .n_listed = 2, .listed = listed,
                                 .listed_logit = logit };
        CHECK_OK(x->ops->project(x, &p, 1, &e), &e);
        CHECK(logit[1] == p.max && logit[0] <= p.max);
        for (int i = 0; i < 8; i++)
            if (best[i].token == v) CHECK(logit[0] == best[i].logit);
        sum += exp((double)logit[0] - (double)p.max);
    }
    CHECK_NEAR(sum / (double)p.sum, 1, 1e-4);
    executor_free(x);
}

/* All states can be taken, no more than that, and dropped ones again. */
static inline void suite_states_come_back(const struct backend *b)
{
    struct executor *x = suite_executor(b, SUITE_STATES);
    int32_t last = -1, first;

    for (int round = 0; round < 3; round++) {
        last = -1;
        for (int i = 0; i < SUITE_STATES; i++) {
            int32_t state = x->ops->state_new(x, last);

            if (!CHECK(state >= 0 && state < SUITE_STATES)) break;
            x->ops->state_drop(x, last);    /* its child holds it now */
            last = state;
        }
        CHECK_INT(x->ops->state_new(x, last), -1);
        x->ops->state_drop(x, last);        /* frees the whole path */
    }
    first = x->ops->state_new(x, -1);
    CHECK(first >= 0);
    x->ops->state_drop(x, first);
    x->ops->state_drop(x, -1);
    executor_free(x);
}

/* Distances agree with the states that read returns. */
static inline void suite_distances(const struct backend *b)
{
    enum { KEYS = 5 };
    size_t d = (size_t)b->d, ld = (d + 15) / 16 * 16;
    float *keys = mem_zalloc(KEYS * ld, sizeof *keys);
    float *state = calloc(d, sizeof *state), out[KEYS] = { 0 };
    struct key_rows k = { KEY_F32, KEYS, b->d, ld, keys, NULL, 99 };
    struct executor *x = suite_executor(b, SUITE_STATES);
    struct suite_hyp h = { .lane = 0 };
    struct pass_row row;
    struct err e;

    suite_encode(x, 0, 4);
    suite_append(x, &h, b->cfg->start_id);
    row = suite_last_row(&h);
    CHECK_OK(x->ops->run(x, &row, 1, NULL, 0, &e), &e);
    suite_read(x, 1, state);
    for (int i = 0; i < KEYS; i++)
        for (size_t j = 0; j < d; j++)
            keys[(size_t)i * ld + j] = state[j] + (float)i;
    CHECK_OK(x->ops->distances(x, 0, 1, &k, 1, KEYS - 1, out, KEYS, &e), &e);
    for (int i = 1; i < KEYS; i++)
        CHECK_NEAR(out[i - 1], (double)(i * i) * (double)d,
                   1e-3 * (double)d);
    executor_free(x);
    mem_free(keys);
    free(state);
}

/* Search over this backend gives a sentence the same translation alone and
 * together with others. */
static inline void suite_searches(const struct backend *b)
{
    enum { N = 4 };
    struct batch_limits l = { .lanes = N, .rows = 3 * N, .max_beam = 3,
                              .max_source = SUITE_LEN, .max_len = SUITE_LEN };
    struct search_options o = { .beam = 3, .nbest = 2, .lenpen = 0.6,
                                .max_len_a = 0, .max_len_b = SUITE_LEN,
                                .early_stop = true };
    struct job *jobs[2][N], *done;
    struct err e;

    for (int turn = 0; turn < 2; turn++) {
        struct batch *batch;

        if (!CHECK_OK(batch_new(&batch, b, &l, NULL, &e), &e)) return;
        for (int i = 0; i < N; i++) {
            int32_t ids[SUITE_LEN];
            int n = 2 + i;

            for (int t = 0; t < n; t++) ids[t] = suite_token(b, 5 * i + t);
            ids[n - 1] = b->cfg->eos_id;
            o.beam = 1 + i % 3;
            o.nbest = o.beam > 1 ? 2 : 1;
            CHECK_OK(job_new(&jobs[turn][i], &o, b->max_pos, ids, n, NULL, 0,
                             &e), &e);
            CHECK_OK(batch_add(batch, &jobs[turn][i], 1, &e), &e);
            while (turn == 0 && batch_busy_lanes(batch))
                if (!CHECK_OK(batch_step(batch, &done, &e), &e)) break;
        }
        while (batch_busy_lanes(batch))
            if (!CHECK_OK(batch_step(batch, &done, &e), &e)) break;
        batch_free(batch);
    }
    for (int i = 0; i < N; i++) {
        const struct job *one = jobs[0][i], *all = jobs[1][i];

        CHECK(one->n_hyps > 0);
        CHECK_INT(one->n_hyps, all->n_hyps);
        for (int k = 0; k < one->n_hyps && k < all->n_hyps; k++) {
            CHECK_INT(one->hyps[k].n, all->hyps[k].n);
            CHECK_MEM(one->hyps[k].tokens, all->hyps[k].tokens,
                      (size_t)one->hyps[k].n * sizeof(int32_t));
            CHECK(one->hyps[k].score == all->hyps[k].score);
        }
        job_free(jobs[0][i]);
        job_free(jobs[1][i]);
    }
}

static inline void backend_suite(const struct backend *b)
{
    suite_rows_are_independent(b);
    suite_force_equals_run(b);
    suite_projects(b);
    suite_states_come_back(b);
    suite_distances(b);
    suite_searches(b);
}

#endif
