/* test_backend.c - the interface between search and arithmetic: each backend
 * passes the checks of backend_suite.h, and search reports a device that
 * fails. */
#include "backend_suite.h"
#include "batch_fix.h"
#include "nn/cpu_backend.h"
#include "tiny_net.h"
#include "toy_backend.h"

static void check_cpu(enum dtype type, const struct kernels *k)
{
    struct tiny o = tiny_that_ends();
    struct backend *b = NULL;
    struct tiny_net t;
    struct err e;

    if (tiny_net_open(&t, &o, type, k) &&
        CHECK_OK(cpu_backend_new(&b, t.net, &e), &e))
        backend_suite(b);
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
    backend_suite(b);
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
        CHECK_INT(st, ST_DEVICE);
        failures++;
    }
    CHECK(failures > 5 && failures < 100);
}
