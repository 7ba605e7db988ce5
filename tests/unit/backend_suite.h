/* backend_suite.h - checks that every backend must pass (nn/backend.h). The
 * model behind it does not matter, but its vocabulary must have at least 12
 * tokens, it must allow 12 positions, and some of its translations must end
 * (suite_searches). All functions are static. */
#ifndef BACKEND_SUITE_H
#define BACKEND_SUITE_H

#include <pthread.h>

#include "knn/pair_keys.h"
#include "search/batch.h"
#include "test.h"

enum { SUITE_LANES = 3, SUITE_ROWS = 12, SUITE_LEN = 12, SUITE_SLOTS = 40 };

static inline struct executor *suite_executor(const struct backend *b,
                                              int slots)
{
    struct executor_limits l = { slots ? SUITE_LANES : 0, SUITE_LEN,
                                 SUITE_ROWS, SUITE_LEN, slots };
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

/* A hypothesis: a lane and the path of its slots. */
struct suite_hyp {
    int lane, n;                /* n slots, including the start token's */
    int32_t token[SUITE_LEN], path[SUITE_LEN];
};

static inline void suite_append(struct executor *x, struct suite_hyp *h,
                                int32_t token)
{
    h->token[h->n] = token;
    h->path[h->n] = x->ops->slot_new(x, h->n ? h->path[h->n - 1] : -1);
    CHECK(h->path[h->n] >= 0);
    h->n++;
}

static inline struct pass_row suite_last_row(const struct suite_hyp *h)
{
    return (struct pass_row){ h->lane, h->token[h->n - 1], h->n - 1, h->path };
}

/* Copy the states of rows [row, row + n) of the last pass to out [n, d]. */
static inline void suite_read(struct executor *x, int row, int n, float *out)
{
    size_t d = (size_t)x->backend->d, ld = 0;
    const float *states = NULL;
    struct err e;

    if (!CHECK_OK(x->ops->read(x, STATE_FINAL, row, n, &states, &ld, &e), &e))
        return;
    CHECK(ld >= d);
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
    struct executor *x = suite_executor(b, SUITE_SLOTS);
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
                CHECK_OK(x->ops->run(x, rows, 2, 0, &e), &e);
                suite_read(x, 0, 2, together);
                continue;
            }
            for (int i = 0; i < 2; i++) {
                CHECK_OK(x->ops->run(x, &rows[i], 1, 0, &e), &e);
                suite_read(x, 0, 1, alone + (size_t)i * d);
            }
        }
        if (turn) CHECK_MEM(together, alone, 2 * d * sizeof *alone);
    }
    executor_free(x);
    free(together);
}

/* Encoding several sources in one call puts each into its own lane. */
static inline void suite_encodes_lanes(const struct backend *b)
{
    static const int lane[2] = { 2, 0 };
    int32_t ids[2][4] = { { suite_token(b, 1), suite_token(b, 2),
                            suite_token(b, 3), b->cfg->eos_id },
                          { suite_token(b, 4), b->cfg->eos_id } };
    struct source src[2] = { { ids[0], 4 }, { ids[1], 2 } };
    size_t d = (size_t)b->d;
    float *out = calloc(4 * d, sizeof *out);
    struct err e;

    for (int turn = 0; turn < 2; turn++) {
        struct executor *x = suite_executor(b, SUITE_SLOTS);

        for (int i = 0; i < 2 - turn; i++)
            CHECK_OK(x->ops->encode(x, src + i, lane + i, 1 + turn, &e), &e);
        for (int i = 0; i < 2; i++) {
            struct suite_hyp h = { .lane = lane[i] };
            struct pass_row row;

            suite_append(x, &h, b->cfg->start_id);
            row = suite_last_row(&h);
            CHECK_OK(x->ops->run(x, &row, 1, 0, &e), &e);
            suite_read(x, 0, 1, out + (size_t)(2 * turn + i) * d);
        }
        executor_free(x);
    }
    CHECK_MEM(out + 2 * d, out, 2 * d * sizeof *out);
    CHECK(memcmp(out, out + d, d * sizeof *out) != 0);
    free(out);
}

/* Copy the attention of n rows of the last pass, which have this many weights,
 * to out [n, SUITE_LEN]. */
static inline void suite_read_attention(struct executor *x, int row, int n,
                                        int weights, float (*out)[SUITE_LEN])
{
    const float *from = NULL;
    size_t ld = 0;
    struct err e;

    if (!CHECK_OK(x->ops->attention(x, row, n, &from, &ld, &e), &e)) return;
    CHECK(ld >= (size_t)weights);
    for (int i = 0; i < n; i++)
        memcpy(out[i], from + (size_t)i * ld,
               (size_t)weights * sizeof **out);
}

/* Weights of attention are not negative and sum to 1. */
static inline void suite_check_weights(const float *weights, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        CHECK(weights[i] >= 0);
        sum += (double)weights[i];
    }
    CHECK_NEAR(sum, 1, 1e-4);
}

/* Run the rows of hypothesis h from position `from` on in one pass, and copy
 * their states to out. */
static inline void suite_run_part(struct executor *x,
                                  const struct suite_hyp *h, int from,
                                  unsigned want, float *out)
{
    struct pass_row rows[SUITE_LEN];
    struct err e;

    for (int i = from; i < h->n; i++)
        rows[i - from] = (struct pass_row){ h->lane, h->token[i], i, h->path };
    CHECK_OK(x->ops->run(x, rows, h->n - from, want, &e), &e);
    suite_read(x, 0, h->n - from, out);
}

/* A row sees the slots of earlier rows of its pass as it sees those of earlier
 * passes. A slot that was dropped stays as long as it has children: slots that
 * are taken in between do not change the path. */
static inline void suite_rows_follow_rows(const struct backend *b)
{
    enum { N = 5 };
    size_t d = (size_t)b->d;
    float *out = calloc(3 * N * d, sizeof *out);
    struct executor *x = suite_executor(b, SUITE_SLOTS);
    struct suite_hyp h[4] = { { 0 } };

    suite_encode(x, 0, 4);
    for (int t = 0; t < N; t++) {
        int32_t token = t ? suite_token(b, t) : b->cfg->start_id;

        suite_append(x, &h[0], token);
        suite_append(x, &h[1], token);
        suite_append(x, &h[2], t ? suite_token(b, 9 + t) : token);
        suite_run_part(x, &h[0], t, false, out + (size_t)t * d);
        if (t) x->ops->slot_drop(x, h[0].path[t - 1]);
    }
    suite_run_part(x, &h[2], 0, false, out + N * d);
    CHECK(memcmp(out + (N + 1) * d, out + d, d * sizeof *out) != 0);
    suite_run_part(x, &h[1], 0, false, out + N * d);
    CHECK_MEM(out + N * d, out, N * d * sizeof *out);
    /* One more token after the path whose slots were dropped, and after the
     * other one. */
    for (int i = 0; i < 2; i++) {
        suite_append(x, &h[i], suite_token(b, 20));
        suite_run_part(x, &h[i], N, false, out + (size_t)i * d);
    }
    CHECK_MEM(out, out + d, d * sizeof *out);
    /* Rows from the second on can be read without the first. */
    suite_append(x, &h[3], b->cfg->start_id);
    suite_append(x, &h[3], suite_token(b, 1));
    suite_append(x, &h[3], suite_token(b, 2));
    suite_run_part(x, &h[3], 0, false, out);
    suite_read(x, 1, 2, out + 3 * d);
    CHECK_MEM(out + 3 * d, out + d, 2 * d * sizeof *out);
    executor_free(x);
    free(out);
}

/* The attention of a row is a distribution over the tokens of its source, the
 * same in every pass. Neither asking for it nor reading it changes the
 * states. */
static inline void suite_attends(const struct backend *b)
{
    enum { N = 4, SRC = 5 };
    size_t d = (size_t)b->d;
    float *out = calloc(3 * N * d, sizeof *out);
    float all[N][SUITE_LEN], one[1][SUITE_LEN], some[2][SUITE_LEN];
    struct executor *x = suite_executor(b, SUITE_SLOTS);
    struct suite_hyp h[2] = { { .lane = 1 }, { .lane = 1 } };

    suite_encode(x, 1, SRC);
    for (int t = 0; t < N; t++)
        suite_append(x, &h[0], t ? suite_token(b, t) : b->cfg->start_id);
    suite_run_part(x, &h[0], 0, true, out);
    suite_read_attention(x, 0, N, SRC, all);
    suite_read_attention(x, N, 0, SRC, all);
    suite_read_attention(x, 1, 2, SRC, some);
    suite_read(x, 0, N, out + 2 * N * d);
    CHECK_MEM(out + 2 * N * d, out, N * d * sizeof *out);
    for (int t = 0; t < N; t++) {
        suite_append(x, &h[1], h[0].token[t]);
        suite_run_part(x, &h[1], t, t % 2, out + (size_t)(N + t) * d);
        suite_check_weights(all[t], SRC);
        if (t % 2) {
            suite_read_attention(x, 0, 1, SRC, one);
            CHECK_MEM(one[0], all[t], SRC * sizeof **one);
        }
        if (t == 1 || t == 2)
            CHECK_MEM(some[t - 1], all[t], SRC * sizeof **some);
    }
    CHECK(memcmp(all[0], all[1], SRC * sizeof **all) != 0);
    CHECK_MEM(out + N * d, out, N * d * sizeof *out);
    executor_free(x);
    free(out);
}

/* Rows of several lanes in one pass attend each to its own source, as they do
 * alone. The sources have different lengths. */
static inline void suite_lanes_attend(const struct backend *b)
{
    static const int n_src[SUITE_LANES] = { 5, SUITE_LEN, 2 };
    float together[2 * SUITE_LANES][SUITE_LEN], alone[2][SUITE_LEN];
    float *out = calloc(2 * (size_t)b->d, sizeof *out);
    struct executor *x = suite_executor(b, SUITE_SLOTS);
    struct suite_hyp h[SUITE_LANES] = { { 0 } };
    struct pass_row rows[2 * SUITE_LANES];
    struct err e;

    for (int i = 0; i < SUITE_LANES; i++) {
        h[i].lane = i;
        suite_encode(x, i, n_src[i]);
        suite_append(x, &h[i], b->cfg->start_id);
        suite_append(x, &h[i], suite_token(b, i));
        for (int t = 0; t < 2; t++)
            rows[2 * i + t] = (struct pass_row){ i, h[i].token[t], t,
                                                 h[i].path };
    }
    CHECK_OK(x->ops->run(x, rows, 2 * SUITE_LANES, WANT_ATTENTION, &e), &e);
    for (int i = 0; i < SUITE_LANES; i++)
        suite_read_attention(x, 2 * i, 2, n_src[i], together + 2 * i);
    for (int i = 0; i < SUITE_LANES; i++) {
        suite_run_part(x, &h[i], 0, true, out);
        suite_read_attention(x, 0, 2, n_src[i], alone);
        for (int t = 0; t < 2; t++) {
            suite_check_weights(alone[t], n_src[i]);
            CHECK_MEM(together[2 * i + t], alone[t],
                      (size_t)n_src[i] * sizeof **alone);
        }
    }
    executor_free(x);
    free(out);
}

/* Forcing translations gives the states and the attention that running them
 * token by token gives.
 * There are two sources and three texts, and a text without rows. */
static inline void suite_force_equals_run(const struct backend *b)
{
    enum { TEXTS = 4, ROWS = 9 };
    static const int of[TEXTS] = { 1, 0, 0, 1 }, rows[TEXTS] = { 4, 0, 2, 3 };
    int32_t ids[2][3] = { { suite_token(b, 1), suite_token(b, 2),
                            b->cfg->eos_id },
                          { suite_token(b, 5), b->cfg->eos_id } };
    int32_t tokens[TEXTS][4];
    struct source src[2] = { { ids[0], 3 }, { ids[1], 2 } };
    struct forced_text text[TEXTS];
    size_t d = (size_t)b->d, n = 0;
    float *forced = calloc(2 * ROWS * d, sizeof *forced);
    float *run = forced + ROWS * d;
    float attention[ROWS][SUITE_LEN], one[1][SUITE_LEN];
    struct executor *x = suite_executor(b, SUITE_SLOTS);
    struct executor *f = suite_executor(b, 0);
    struct err e;

    for (int i = 0; i < TEXTS; i++) {
        for (int t = 0; t < 4; t++) tokens[i][t] = suite_token(b, 3 * i + t);
        text[i] = (struct forced_text){ of[i], tokens[i], rows[i] };
    }
    CHECK_OK(f->ops->force(f, src, 2, text, TEXTS, WANT_ATTENTION, &e), &e);
    suite_read(f, 0, ROWS, forced);
    suite_read_attention(f, 0, ROWS, 2, attention);
    suite_read_attention(f, 4, 2, 3, attention + 4);
    CHECK_OK(x->ops->encode(x, src, (const int[]){ 0, 1 }, 2, &e), &e);
    for (int i = 0; i < TEXTS; i++) {
        struct suite_hyp h = { .lane = of[i] };

        for (int t = 0; t < rows[i]; t++, n++) {
            suite_append(x, &h, t ? tokens[i][t - 1] : b->cfg->start_id);
            suite_run_part(x, &h, t, true, run + n * d);
            suite_read_attention(x, 0, 1, src[of[i]].n, one);
            for (int k = 0; k < src[of[i]].n; k++)
                CHECK_NEAR(attention[n][k], one[0][k], 1e-4);
        }
    }
    CHECK_INT(n, ROWS);
    for (size_t i = 0; i < ROWS * d; i++) CHECK_NEAR(forced[i], run[i], 1e-3);
    CHECK(memcmp(forced, forced + 4 * d, d * sizeof *forced) != 0);
    executor_free(x);
    executor_free(f);
    free(forced);
}

/* Encode a source into lane 0, and run the start token and n - 1 more in one
 * pass. Returns the executor. */
static inline struct executor *suite_pass(const struct backend *b, int n)
{
    struct executor *x = suite_executor(b, SUITE_SLOTS);
    struct suite_hyp h = { .lane = 0 };
    float *out = calloc((size_t)n * (size_t)b->d, sizeof *out);

    suite_encode(x, 0, 4);
    for (int t = 0; t < n; t++)
        suite_append(x, &h, t ? suite_token(b, t) : b->cfg->start_id);
    suite_run_part(x, &h, 0, false, out);
    free(out);
    return x;
}

/* The best tokens of a row are sorted, the listed logits agree with them, and
 * max and sum are those of the row. */
static inline void suite_projects_row(struct executor *x, int row)
{
    const struct backend *b = x->backend;
    int most = b->vocab < PROJECT_BEST ? b->vocab : PROJECT_BEST;
    struct token_logit best[PROJECT_BEST];
    int32_t listed[2];
    float logit[2];
    double sum = 0, zsum = 0;
    struct projection p = { .n_best = PROJECT_BEST, .best = best };
    struct err e;

    CHECK_OK(x->ops->project(x, row, 1, &p, &e), &e);
    CHECK_INT(p.n_found, most);
    CHECK_NEAR(best[0].logit, p.max, 0);
    for (int i = 1; i < most; i++)
        CHECK(best[i].logit < best[i - 1].logit ||
              (best[i].logit == best[i - 1].logit &&
               best[i].token > best[i - 1].token));
    for (int32_t v = 0; v < b->vocab; v++) {
        int i = 0;

        listed[0] = v;
        listed[1] = best[0].token;
        p = (struct projection){ .n_listed = 2, .listed = listed,
                                 .listed_logit = logit };
        CHECK_OK(x->ops->project(x, row, 1, &p, &e), &e);
        CHECK(logit[1] == p.max && logit[0] <= p.max);
        while (i < most && best[i].token != v) i++;
        CHECK(i < most ? logit[0] == best[i].logit
                       : logit[0] <= best[most - 1].logit);
        sum += exp((double)logit[0] - (double)p.max);
        zsum += ((double)logit[0] - (double)p.max) *
                exp((double)logit[0] - (double)p.max);
    }
    CHECK_NEAR(sum / (double)p.sum, 1, 1e-4);
    CHECK_NEAR(zsum, (double)p.zsum, 1e-4 * (sum - zsum));
}

/* Rows are projected one by one and together, from any row on, with different
 * wishes. */
static inline void suite_projects(const struct backend *b)
{
    enum { N = 3 };
    struct executor *x = suite_pass(b, N);
    struct token_logit best[N][4], one[4];
    struct projection p[N] = { { 0 } }, q;
    struct err e;

    CHECK_OK(x->ops->project(x, N, 0, p, &e), &e);
    for (int i = 0; i < N; i++) {
        suite_projects_row(x, i);
        p[i] = (struct projection){ .n_best = 2 + i % 2, .best = best[i] };
    }
    CHECK_OK(x->ops->project(x, 1, N - 1, p + 1, &e), &e);
    for (int i = 1; i < N; i++) {
        q = (struct projection){ .n_best = 4, .best = one };
        CHECK_OK(x->ops->project(x, i, 1, &q, &e), &e);
        CHECK_INT(p[i].n_found, 2 + i % 2);
        CHECK(p[i].max == q.max && p[i].sum == q.sum);
        for (int k = 0; k < p[i].n_found; k++)
            CHECK(best[i][k].token == one[k].token &&
                  best[i][k].logit == one[k].logit);
    }
    CHECK(p[1].sum != p[2].sum || best[1][0].token != best[2][0].token);
    executor_free(x);
}

/* All slots can be taken, no more than that, and dropped ones again. */
static inline void suite_slots_come_back(const struct backend *b)
{
    struct executor *x = suite_executor(b, SUITE_SLOTS);
    int32_t last = -1, first;

    for (int round = 0; round < 3; round++) {
        last = -1;
        for (int i = 0; i < SUITE_SLOTS; i++) {
            int32_t slot = x->ops->slot_new(x, last);

            if (!CHECK(slot >= 0 && slot < SUITE_SLOTS)) break;
            x->ops->slot_drop(x, last);    /* its child holds it now */
            last = slot;
        }
        CHECK_INT(x->ops->slot_new(x, last), -1);
        x->ops->slot_drop(x, last);        /* frees the whole path */
    }
    first = x->ops->slot_new(x, -1);
    CHECK(first >= 0);
    x->ops->slot_drop(x, first);
    x->ops->slot_drop(x, -1);
    executor_free(x);
}

enum { SUITE_KEYS = 5 };

/* Make keys near a state. They are different for different `far`. */
static inline struct pair_keys *suite_keys(enum key_type type, size_t d,
                                           const float *state, float far)
{
    struct pair_keys *keys = NULL;
    float *key = calloc(d, sizeof *key);
    struct err e;

    CHECK_OK(pair_keys_new(&keys, type, SUITE_KEYS, (int)d, &e), &e);
    for (int i = 0; i < SUITE_KEYS; i++) {
        for (size_t c = 0; c < d; c++)
            key[c] = state[c] + far * (float)i * (float)(1 + c % 3);
        pair_keys_put(keys, i, key, 5);
    }
    free(key);
    return keys;
}

static inline double suite_distance(const struct pair_keys *keys, int i,
                                    const float *state)
{
    float *key = calloc((size_t)keys->d, sizeof *key);
    double sum = 0;

    pair_keys_get(keys, i, key);
    for (int c = 0; c < keys->d; c++)
        sum += pow((double)state[c] - (double)key[c], 2);
    free(key);
    return sum;
}

/* The distances of two rows, which are not the first, to some of the keys are
 * those to the numbers that the keys stand for. Nothing else is written. Keys
 * with another serial number are other keys. */
static inline void suite_distances(const struct backend *b, enum key_type type)
{
    enum { ROWS = 4, FIRST = 2, FROM = 1, N = 3, LDO = 7 };
    size_t d = (size_t)b->d;
    float *state = calloc(ROWS * d, sizeof *state), out[2][LDO];
    struct executor *x = suite_pass(b, ROWS);
    struct pair_keys *keys[2];
    struct err e;

    suite_read(x, 0, ROWS, state);
    for (int i = 0; i < 2; i++)
        keys[i] = suite_keys(type, d, state + FIRST * d,
                             0.3f + 0.2f * (float)i);
    CHECK(keys[0]->serial != keys[1]->serial);
    for (int turn = 0; turn < 4; turn++) {
        struct key_rows rows = pair_keys_rows(keys[turn % 2]);

        for (int i = 0; i < 2 * LDO; i++) out[i / LDO][i % LDO] = -7;
        CHECK_OK(x->ops->distances(x, FIRST, 2, &rows, FROM, N, out[0], LDO,
                                   &e), &e);
        for (int i = 0; i < 2 * LDO; i++) {
            float got = out[i / LDO][i % LDO];
            double want = -7;

            if (i % LDO < N)
                want = suite_distance(keys[turn % 2], FROM + i % LDO, state +
                                      (size_t)(FIRST + i / LDO) * d);
            CHECK_NEAR(got, want, 1e-3 * (double)d);
        }
    }
    executor_free(x);
    for (int i = 0; i < 2; i++) pair_keys_drop(keys[i]);
    free(state);
}

/* ---- threads ------------------------------------------------------------- */

enum { SUITE_TURNS = 20 };

struct suite_thread {
    const struct backend *b;
    pthread_barrier_t *both;    /* NULL: it is the only thread */
    int source;                 /* tokens of its source */
    float *states;              /* [2, d] */
    bool same;                  /* in all turns */
};

/* Run a hypothesis again and again with an executor of its own. Its states are
 * read when the other thread has run a pass, too. */
static inline void *suite_thread_main(void *arg)
{
    struct suite_thread *t = arg;
    size_t n = 2 * (size_t)t->b->d;
    struct executor *x = suite_executor(t->b, SUITE_SLOTS);
    float *again = calloc(n, sizeof *again);

    t->same = true;
    for (int turn = 0; turn < SUITE_TURNS; turn++) {
        struct suite_hyp h = { .lane = 1 };

        suite_encode(x, 1, t->source);
        suite_append(x, &h, t->b->cfg->start_id);
        suite_append(x, &h, suite_token(t->b, t->source));
        suite_run_part(x, &h, 0, false, again);
        if (t->both) pthread_barrier_wait(t->both);
        suite_read(x, 0, 2, turn ? again : t->states);
        if (turn && memcmp(again, t->states, n * sizeof *again))
            t->same = false;
        for (int i = 0; i < h.n; i++) x->ops->slot_drop(x, h.path[i]);
    }
    executor_free(x);
    free(again);
    return NULL;
}

/* Two threads with an executor each get what each gets alone. */
static inline void suite_threads(const struct backend *b)
{
    size_t n = 2 * (size_t)b->d;
    float *states = calloc(4 * n, sizeof *states);
    pthread_barrier_t both;
    struct suite_thread t[4];
    pthread_t id[2];

    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 4; i++)
        t[i] = (struct suite_thread){ b, i < 2 ? &both : NULL, 3 + i % 2,
                                      states + (size_t)i * n, false };
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&id[i], NULL, suite_thread_main, &t[i]));
    for (int i = 0; i < 2; i++) pthread_join(id[i], NULL);
    pthread_barrier_destroy(&both);
    for (int i = 2; i < 4; i++) {
        suite_thread_main(&t[i]);
        CHECK(t[i].same && t[i - 2].same);
        CHECK_MEM(t[i - 2].states, t[i].states, n * sizeof *states);
    }
    free(states);
}

/* ---- searches ------------------------------------------------------------ */

/* A translation ends with its only EOS, or was cut off. */
static inline void suite_check_hypothesis(const struct backend *b,
                                          const struct job *j, int k)
{
    const struct hypothesis *h = &j->hyps[k];

    CHECK(h->n > 0 && h->n <= j->max_len);
    CHECK(h->ended || h->n == j->max_len);
    for (int t = 0; t < h->n; t++) {
        CHECK(h->tokens[t] >= 0 && h->tokens[t] < b->vocab);
        CHECK_INT(h->tokens[t] == b->cfg->eos_id, h->ended && t == h->n - 1);
    }
    if (!k) return;
    CHECK(h->score <= h[-1].score);
    CHECK(h->n != h[-1].n || memcmp(h->tokens, h[-1].tokens,
                                    (size_t)h->n * sizeof *h->tokens) != 0);
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
    int ended = 0, several = 0;
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

        CHECK(one->n_hyps >= 1 && one->n_hyps <= one->o.nbest);
        several += one->n_hyps > 1;
        CHECK_INT(one->n_hyps, all->n_hyps);
        for (int k = 0; k < one->n_hyps && k < all->n_hyps; k++) {
            suite_check_hypothesis(b, one, k);
            ended += one->hyps[k].ended;
            CHECK_INT(one->hyps[k].n, all->hyps[k].n);
            CHECK_MEM(one->hyps[k].tokens, all->hyps[k].tokens,
                      (size_t)one->hyps[k].n * sizeof(int32_t));
            CHECK(one->hyps[k].score == all->hyps[k].score);
        }
        job_free(jobs[0][i]);
        job_free(jobs[1][i]);
    }
    CHECK(ended > 0 && several > 0);
}

static inline void backend_suite(const struct backend *b)
{
    suite_rows_are_independent(b);
    suite_encodes_lanes(b);
    suite_rows_follow_rows(b);
    suite_attends(b);
    suite_lanes_attend(b);
    suite_force_equals_run(b);
    suite_projects(b);
    suite_slots_come_back(b);
    suite_distances(b, KEY_F32);
    suite_distances(b, KEY_INT8);
    suite_threads(b);
    suite_searches(b);
}

#endif
