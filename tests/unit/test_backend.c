/* test_backend.c - the interface between search and arithmetic: each backend
 * passes the checks of backend_suite.h, and search reports a device that
 * fails. */
#include "backend_suite.h"
#include "knn/pair_keys.h"
#include "nn/cpu_backend.h"
#include "tiny_net.h"
#include "toy_backend.h"

/* Run the start token in lane 0, after a source of n tokens. Returns an
 * executor whose last pass has this row. */
static struct executor *run_start(const struct backend *b, int n,
                                  float *attention)
{
    struct executor *x = suite_executor(b, SUITE_STATES);
    struct suite_hyp h = { .lane = 0 };
    struct pass_row row;
    struct err e;

    suite_encode(x, 0, n);
    suite_append(x, &h, b->cfg->start_id);
    row = suite_last_row(&h);
    CHECK_OK(x->ops->run(x, &row, 1, attention, SUITE_LEN, &e), &e);
    return x;
}

/* The distances to int8 keys are those to the numbers that they stand for. */
static void check_int8_distances(const struct backend *b)
{
    enum { KEYS = 3 };
    struct executor *x = run_start(b, 4, NULL);
    size_t d = (size_t)b->d;
    float *state = calloc(2 * d, sizeof *state), *key = state + d;
    struct pair_keys *keys = NULL;
    float out[KEYS] = { 0 };
    struct key_rows rows;
    struct err e;

    suite_read(x, 1, state);
    CHECK_OK(pair_keys_new(&keys, KEY_INT8, KEYS, b->d, &e), &e);
    for (int i = 0; i < KEYS; i++) {
        for (size_t c = 0; c < d; c++)
            key[c] = state[c] + 0.5f * (float)i * (float)(c % 3);
        pair_keys_put(keys, i, key, 5);
    }
    rows = pair_keys_rows(keys);
    CHECK_OK(x->ops->distances(x, 0, 1, &rows, 0, KEYS, out, KEYS, &e), &e);
    for (int i = 0; i < KEYS; i++) {
        double want = 0;

        pair_keys_get(keys, i, key);
        for (size_t c = 0; c < d; c++)
            want += pow((double)state[c] - (double)key[c], 2);
        CHECK_NEAR(out[i], want, 1e-3 * (double)d);
    }
    executor_free(x);
    pair_keys_drop(keys);
    free(state);
}

/* The attention of a row is a distribution over the tokens of its source, and
 * nothing after it is written. */
static void check_attention(const struct backend *b)
{
    float attention[SUITE_LEN];
    double sum = 0;

    for (int i = 0; i < SUITE_LEN; i++) attention[i] = -7;
    executor_free(run_start(b, 5, attention));
    for (int i = 0; i < 5; i++) {
        CHECK(attention[i] >= 0);
        sum += (double)attention[i];
    }
    CHECK_NEAR(sum, 1, 1e-4);
    for (int i = 5; i < SUITE_LEN; i++) CHECK(attention[i] == -7);
}

static void check_backend(const struct backend *b)
{
    backend_suite(b);
    check_int8_distances(b);
    check_attention(b);
}

static void check_cpu(enum dtype type, const struct kernels *k)
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

    if (tiny_net_open(&t, &o, type, k) &&
        CHECK_OK(cpu_backend_new(&b, t.net, &e), &e))
        check_backend(b);
    backend_close(b);
    tiny_net_close(&t);
}

TEST(the_cpu_backend_passes_the_suite) { check_cpu(DT_F32, NULL); }

TEST(the_cpu_backend_passes_the_suite_with_int8) { check_cpu(DT_I8, NULL); }

TEST(the_cpu_backend_passes_the_suite_with_plain_kernels)
{
    check_cpu(DT_I8, kernels_for(ISA_REF));
}

TEST(the_toy_backend_passes_the_suite)
{
    struct backend *b;
    struct err e;

    REQUIRE_OK(toy_backend_new(&b, -1, &e), &e);
    check_backend(b);
    backend_close(b);
}

/* Search two sentences, with attention. Returns the status of the first call
 * that fails. */
static enum status search_until_failure(const struct backend *b)
{
    struct batch_limits l = { .lanes = 2, .rows = 4, .max_beam = 2,
                              .max_source = SUITE_LEN, .max_len = SUITE_LEN };
    struct search_options o = { .beam = 2, .nbest = 2, .max_len_b = 4,
                                .attention = true };
    int32_t ids[3] = { 5, 6, b->cfg->eos_id };
    struct batch *batch = NULL;
    struct job *jobs[2] = { NULL, NULL }, *done;
    enum status st = ST_OK;
    struct err e;

    if (!CHECK_OK(batch_new(&batch, b, &l, NULL, &e), &e)) return ST_OK;
    for (int i = 0; i < 2; i++)
        CHECK_OK(job_new(&jobs[i], &o, b->max_pos, ids, 3, NULL, 0, &e), &e);
    st = batch_add(batch, jobs, 2, &e);
    while (!st && batch_busy_lanes(batch)) st = batch_step(batch, &done, &e);
    batch_abandon(batch);
    batch_free(batch);
    for (int i = 0; i < 2; i++) job_free(jobs[i]);
    return st;
}

TEST(search_reports_that_a_device_failed)
{
    int failures = 0;

    for (int calls = 0; calls < 100; calls++) {
        struct backend *b;
        enum status st;
        struct err e;

        REQUIRE_OK(toy_backend_new(&b, calls, &e), &e);
        st = search_until_failure(b);
        backend_close(b);
        if (!st) break;
        CHECK_INT(st, ST_IO);
        failures++;
    }
    CHECK(failures > 5 && failures < 100);
}
