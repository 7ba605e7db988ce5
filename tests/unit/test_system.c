/* test_system.c - steering systems: each passes the checks of
 * system_suite.h. */
#include "knn/sk.h"
#include "nn/cpu_backend.h"
#include "system_suite.h"
#include "tiny_net.h"

TEST(every_system_passes_the_suite)
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
        for (int i = 0; system_at(i); i++) system_suite(system_at(i), b);
    backend_close(b);
    tiny_net_close(&t);
}

TEST(systems_are_found_by_name)
{
    CHECK(system_named("sk") == &sk_system);
    CHECK(!system_named("SK") && !system_named(""));
    for (int i = 0; system_at(i); i++)
        CHECK(system_named(system_at(i)->name) == system_at(i));
    CHECK(!system_at(-1));
}
