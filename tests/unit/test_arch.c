/* test_arch.c - compares every architecture that the engine supports with a
 * naive implementation.
 *
 * The engine decodes a given translation in one pass (forced.h), with weights
 * in panels and the kernels of each ISA. naive.h computes the same in double
 * precision. In f32 the results agree within rounding, so that any wrong mask,
 * position, norm, residual or scale shows. bf16 and int8 have larger bounds. */
#include "naive.h"
#include "nn/forced.h"

struct arch {
    const char *name;
    int d, heads, ffn, dec_ffn, enc, dec;
    bool post, final_norm;
    const char *act, *pos;
    int offset;
    bool separate, out_bias, no_bias;
};

#define HALVES "sinusoidal-halves"
#define INTER "sinusoidal-interleaved"
#define HALVES_HF "sinusoidal-halves-hf"

static const struct arch archs[] = {
    { "the shipped kind", 32, 4, 64, 64, 2, 2, false, true, "relu", HALVES, 0,
      false, false, false },
    { "fairseq", 32, 4, 64, 32, 2, 2, true, false, "relu", HALVES, 2, false,
      false, false },
    { "Marian", 32, 2, 64, 64, 2, 1, true, false, "silu", HALVES, 0, false,
      true, false },
    { "Marian of Hugging Face", 32, 2, 64, 64, 1, 2, true, false, "silu",
      HALVES_HF, 0, false, true, false },
    { "M2M", 48, 4, 96, 96, 2, 2, false, true, "relu", HALVES, 2, false,
      false, false },
    { "interleaved, gelu", 32, 4, 64, 64, 1, 2, false, true, "gelu", INTER, 0,
      true, false, false },
    { "interleaved from 2", 32, 4, 64, 64, 2, 2, true, true, "gelu", INTER, 2,
      false, false, false },
    { "learned", 32, 4, 64, 64, 2, 2, true, false, "gelu", "learned", 0, true,
      true, false },
    { "learned from 2", 32, 4, 64, 64, 2, 2, false, true, "silu", "learned",
      2, false, false, false },
    { "odd sizes", 36, 3, 50, 70, 2, 3, false, true, "relu", HALVES, 0, false,
      true, false },
    { "odder sizes", 35, 5, 67, 31, 1, 2, true, true, "silu", "learned", 1,
      true, true, false },
    { "heads of one", 12, 12, 20, 20, 2, 2, false, true, "gelu", HALVES, 0,
      false, false, false },
    { "one wide head", 130, 1, 70, 129, 1, 1, false, true, "relu", INTER, 0,
      false, false, false },
    { "no biases, no last norm", 32, 4, 64, 64, 2, 2, false, false, "relu",
      HALVES, 0, true, false, true },
};

/* Lengths of source and target, with and without EOS. */
static const struct { int n_src, n_tgt; } lengths[] = {
    { 1, 0 }, { 2, 1 }, { 5, 9 }, { 17, 4 }, { 33, 30 },
};

static struct tiny tiny_of(const struct arch *a, uint64_t seed)
{
    struct tiny o = TINY_DEFAULT;

    o.d = a->d;
    o.heads = a->heads;
    o.ffn = a->ffn;
    o.dec_ffn = a->dec_ffn;
    o.enc_layers = a->enc;
    o.dec_layers = a->dec;
    o.post = a->post;
    o.final_norm = a->final_norm;
    o.act = a->act;
    o.pos = a->pos;
    o.offset = a->offset;
    o.separate = a->separate;
    o.out_bias = a->out_bias;
    o.no_bias = a->no_bias;
    o.max_positions = 80;
    o.seed = seed;
    return o;
}

/* Compares the engine's results with those of the naive model as they
 * arrive. */
struct seen {
    const struct naive_pass *want;
    int vocab;
    double logits;              /* worst difference of any log-probability */
};

static void see_logits(void *user, int t, const float *x, struct row_stats st)
{
    struct seen *s = user;
    const double *want = s->want->logprob + t * s->vocab;

    for (int i = 0; i < s->vocab; i++) {
        double lp = (double)x[i] - (double)st.max - log((double)st.sum);

        s->logits = fmax(s->logits, fabs(lp - want[i]));
    }
}

static double worst_hidden(const float *got, const double *want, int n)
{
    double worst = 0, most = 0;

    for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs((double)got[i] - want[i]));
        most = fmax(most, fabs(want[i]));
    }
    return worst / most;
}

/* The largest difference of states and log probabilities over one pair. */
static double compare(const struct net *net, const struct naive *m,
                      const int32_t *src, int n_src, const int32_t *tgt,
                      int n_tgt)
{
    struct naive_pass want = naive_run(m, src, n_src, tgt, n_tgt);
    struct seen s = { &want, m->o->vocab, 0 };
    float *hidden = calloc((size_t)((n_tgt + 1) * m->o->d), sizeof *hidden);
    float lp[64];
    struct forced f = { .src = src, .n_src = n_src, .tgt = tgt,
        .n_tgt = n_tgt, .hidden = hidden, .logprob = lp,
        .logits = see_logits, .user = &s };
    struct err e;
    double worst;

    CHECK_OK(forced_run(net, NULL, &f, &e), &e);
    worst = worst_hidden(hidden, want.hidden, (n_tgt + 1) * m->o->d);
    for (int t = 0; t <= n_tgt; t++) {
        int32_t id = t < n_tgt ? tgt[t] : 3;

        worst = fmax(worst, fabs((double)lp[t] -
                                 want.logprob[t * m->o->vocab + id]));
    }
    free(hidden);
    naive_pass_release(&want);
    return fmax(worst, s.logits);
}

static double compare_all(const struct tiny_net *t, const struct net *net,
                          const struct naive *m)
{
    double worst = 0;
    uint64_t seed = 7;

    for (size_t i = 0; i < COUNT(lengths); i++) {
        int32_t src[64], tgt[64];

        tiny_source(t, &seed, lengths[i].n_src, src);
        tiny_source(t, &seed, lengths[i].n_tgt + 1, tgt);
        worst = fmax(worst, compare(net, m, src, lengths[i].n_src, tgt,
                                    lengths[i].n_tgt));
    }
    return worst;
}

/* Check one architecture with every kernel table; returns the largest
 * difference. */
static double check_arch(const struct arch *a, enum dtype type, double bound,
                         uint64_t seed)
{
    struct tiny o = tiny_of(a, seed);
    struct tiny_net t;
    struct naive m;
    struct err e;
    double worst = 0;

    if (!tiny_net_open(&t, &o, type, NULL) || !naive_open(&m, &t)) return 0;
    for (enum isa i = ISA_REF; i <= cpu_best_isa(); i++) {
        struct net *net;
        double w;

        if (!kernels_for(i)) continue;
        if (!CHECK_OK(net_open(&net, t.w, kernels_for(i), &e), &e)) break;
        w = compare_all(&t, net, &m);
        if (!(w <= bound))
            test_fail(__FILE__, __LINE__, "%s, %s, %s: off by %g", a->name,
                      dtype_name(type), isa_name(i), w);
        worst = fmax(worst, w);
        net_close(net);
    }
    naive_close(&m);
    tiny_net_close(&t);
    return worst;
}

static void check_all(enum dtype type, double bound)
{
    double worst = 0;

    for (size_t i = 0; i < COUNT(archs); i++)
        worst = fmax(worst, check_arch(&archs[i], type, bound, 11 + i));
    printf("     %s: worst difference %.2g\n", dtype_name(type), worst);
}

TEST(f32_is_the_plain_transformer) { check_all(DT_F32, 1e-4); }

/* bf16 weights have 8 significant bits. int8 weights and inputs have 7 bits
 * relative to the largest value of their row. Two layers with random weights do
 * not dampen these errors (measured: 0.048 and 0.21). A wrong computation
 * differs by 1 or more. */
TEST(bf16_is_nearly_the_plain_transformer) { check_all(DT_BF16, 0.1); }
TEST(int8_is_roughly_the_plain_transformer) { check_all(DT_I8, 0.5); }

/* The bounds above mean something only if each option of the architecture
 * changes the result by far more than they allow. */
TEST(every_switch_matters)
{
    struct arch a = archs[0], b[9];
    struct tiny o = tiny_of(&a, 3);
    struct tiny_net t;

    for (size_t i = 0; i < COUNT(b); i++) b[i] = a;
    b[0].post = true;
    b[1].act = "gelu";
    b[2].act = "silu";
    b[3].pos = INTER;
    b[4].offset = 2;
    b[5].final_norm = false;
    b[6].heads = 2;
    b[7].pos = INTER, b[7].offset = 2;
    b[8].pos = HALVES_HF;
    REQUIRE(tiny_net_open(&t, &o, DT_F32, NULL));
    for (size_t i = 0; i < COUNT(b); i++) {
        struct tiny other = tiny_of(&b[i], 3);
        struct naive m;

        other.vocab = t.o.vocab;
        REQUIRE(naive_open(&m, &t));
        m.o = &other;
        if (!(compare_all(&t, t.net, &m) > 0.01))
            test_fail(__FILE__, __LINE__, "switch %zu changes nothing", i);
        naive_close(&m);
    }
    tiny_net_close(&t);
}

/* A text that is longer than the table of positions is rejected; nothing is
 * read past the table. */
TEST(texts_past_the_last_position_are_refused)
{
    struct tiny o = TINY_DEFAULT;
    struct tiny_net t;
    int32_t ids[80];
    uint64_t seed = 1;
    struct forced f = { .src = ids, .tgt = ids };
    struct err e;

    o.pos = "learned";
    o.offset = 2;               /* 62 of 64 are left */
    REQUIRE(tiny_net_open(&t, &o, DT_F32, NULL));
    tiny_source(&t, &seed, 80, ids);
    f.n_src = 62;
    f.n_tgt = 61;
    CHECK_OK(forced_run(t.net, NULL, &f, &e), &e);
    f.n_src = 63;
    CHECK_INT(forced_run(t.net, NULL, &f, &e), ST_LIMIT);
    f.n_src = 62;
    f.n_tgt = 62;
    CHECK_INT(forced_run(t.net, NULL, &f, &e), ST_LIMIT);
    tiny_net_close(&t);
}
