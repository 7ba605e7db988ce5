/* test_barred.c - a token whose output bias is -1e9 never comes out, neither
 * as one of the best tokens nor because a memory votes for it. */
#include "base/mem.h"
#include "batch_fix.h"
#include "fake_mixer.h"
#include "tensor/tensor.h"

/* A model whose projection has a bias of its own. */
struct barring {
    struct tiny_net m;
    struct weights w;           /* a copy of *m.w with this bias */
    float *bias;                /* [vocab padded] */
    struct net *net;
    struct backend *backend;
};

static bool barring_open(struct barring *b, enum dtype type)
{
    struct tiny o = tiny_that_ends();
    struct err e;
    size_t n;

    memset(b, 0, sizeof *b);
    o.out_bias = true;
    if (!tiny_net_open(&b->m, &o, type, NULL)) return false;
    b->w = *b->m.w;
    n = (size_t)pad_to(b->w.cfg.vocab_size, PANEL);
    b->bias = mem_zalloc(n, sizeof *b->bias);
    if (!CHECK(b->bias != NULL)) return false;
    memcpy(b->bias, b->w.project.bias, n * sizeof *b->bias);
    b->w.project.bias = b->bias;
    return CHECK_OK(net_open(&b->net, &b->w, NULL, &e), &e) &&
           CHECK_OK(cpu_backend_new(&b->backend, b->net, &e), &e);
}

static void barring_close(struct barring *b)
{
    backend_close(b->backend);
    net_close(b->net);
    mem_free(b->bias);
    tiny_net_close(&b->m);
}

/* How often the translations contain a token. */
static int count_token(struct job **jobs, int n, int32_t token)
{
    int found = 0;

    for (int i = 0; i < n; i++)
        for (int k = 0; k < jobs[i]->n_hyps; k++)
            for (int t = 0; t < jobs[i]->hyps[k].n; t++)
                found += jobs[i]->hyps[k].tokens[t] == token;
    return found;
}

static void decode_mixed(struct job **jobs, const struct texts *t,
                         const struct backend *b, enum mode mode,
                         const struct search_options *o)
{
    static const struct way way = { 1, false, 0 };
    struct batch_limits limits = limits_for(b, o, 4);
    struct batch *batch;
    struct err e;

    new_jobs(jobs, t, b, o);
    for (int i = 0; i < t->n; i++) fake_mixer_new(jobs[i], mode, NULL);
    REQUIRE_OK(batch_new(&batch, b, &limits, NULL, &e), &e);
    run_jobs(batch, jobs, t->n, &way);
    batch_free(batch);
    free_mixers(jobs, t->n);
}

static void check_mixed(struct barring *b, enum mode mode, int beam)
{
    struct search_options o = options(beam);
    struct job *jobs[MAX_TEXTS];
    float was = b->bias[20];
    struct texts t;

    make_texts(&t, &b->m, 12);
    o.nbest = beam;
    for (int barred = 0; barred < 2; barred++) {
        b->bias[20] = barred ? -1e9f : was;
        decode_mixed(jobs, &t, b->backend, mode, &o);
        if (barred) CHECK_INT(count_token(jobs, t.n, 20), 0);
        else CHECK(count_token(jobs, t.n, 20) > 0);
        free_jobs(jobs, t.n);
    }
    b->bias[20] = was;
}

TEST(votes_do_not_raise_a_barred_token)
{
    for (int type = 0; type < 2; type++) {
        struct barring b;

        REQUIRE(barring_open(&b, type ? DT_I8 : DT_F32));
        check_mixed(&b, LIGHT, 4);
        check_mixed(&b, LATE, 4);
        barring_close(&b);
    }
}

/* Everything but a few tokens is barred, so there are fewer than the beam
 * asks for. */
TEST(only_the_tokens_that_are_left_come_out)
{
    static const struct way way = { 1, false, 0 };
    struct search_options o = options(8);
    struct job *jobs[MAX_TEXTS];
    struct barring b;
    struct texts t;

    o.nbest = 8;
    REQUIRE(barring_open(&b, DT_F32));
    for (int i = 0; i < b.w.cfg.vocab_size; i++)
        if (i != 3 && i != 40 && i != 41) b.bias[i] = -1e9f;
    make_texts(&t, &b.m, 6);
    decode(jobs, &t, b.backend, &o, 2, &way);
    for (int i = 0; i < t.n; i++) {
        CHECK(jobs[i]->n_hyps > 0);
        for (int k = 0; k < jobs[i]->n_hyps; k++)
            for (int n = 0; n < jobs[i]->hyps[k].n; n++) {
                int32_t token = jobs[i]->hyps[k].tokens[n];

                CHECK(token == 3 || token == 40 || token == 41);
                CHECK(isfinite(jobs[i]->hyps[k].logprobs[n]));
            }
    }
    free_jobs(jobs, t.n);
    barring_close(&b);
}

/* The sums over the vocabulary stay finite, with every table of kernels. */
TEST(barred_tokens_leave_the_other_probabilities_alone)
{
    uint64_t seed = 3;

    for (enum isa i = ISA_REF; i <= cpu_best_isa(); i++) {
        struct row_stats s;
        float logits[640], block[10];
        double sum = 0, zsum = 0;

        if (!kernels_for(i)) continue;
        for (int k = 0; k < 640; k++)
            logits[k] = k % 3 ? -1e9f + 4 * tiny_random(&seed)
                              : 4 * tiny_random(&seed);
        kernels_for(i)->row_stats(logits, 633, block, &s);
        for (int k = 0; k < 633; k += 3) {
            double z = (double)logits[k] - (double)s.max;

            sum += exp(z);
            zsum += z * exp(z);
        }
        CHECK_NEAR(s.sum, sum, 1e-4 * sum);
        CHECK_NEAR(s.zsum, zsum, 1e-4 * fabs(zsum));
    }
}
