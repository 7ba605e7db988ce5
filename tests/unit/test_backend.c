/* test_backend.c - the interface between search and arithmetic: each backend
 * passes the checks of backend_suite.h. */
#include "backend_suite.h"
#include "nn/cpu_backend.h"
#include "tiny_net.h"

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
