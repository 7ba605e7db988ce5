/* test_batch.c - a batch translates each sentence as if it were alone.
 *
 * Each sentence is decoded alone once. Every batch size, order, thread count
 * and way of refilling lanes must then give results that are equal bit for
 * bit, and so must drafts. naive.h computes the expected numbers. */
#include "base/mem.h"
#include "batch_fix.h"
#include "fake_mixer.h"
#include "nn/decoder.h"

/* ---- results do not depend on the batch ------------------------------ */

/* One thread adds jobs in both orders, all together and one by one. Two threads
 * do only some of this, because threads that wait for each other are slow on a
 * busy machine. */
static const struct way ways[] = {
    { 2, false, 0 }, { 2, true, 1 }, { 1, false, 0 }, { 1, true, 0 },
    { 1, true, 1 }, { 1, false, 3 },
};

static void check_way(const struct backend *b, const struct texts *t,
                      const struct search_options *o, int lanes,
                      const struct way *w, struct job **want)
{
    struct job *got[MAX_TEXTS];
    int other;

    decode(got, t, b, o, lanes, w);
    other = count_other(want, got, t->n);
    if (other)
        test_fail(__FILE__, __LINE__, "batch %d, beam %d, %d threads%s, %d "
                  "added at a time: %d sentences differ", lanes, o->beam,
                  w->threads, w->backwards ? ", backwards" : "", w->together,
                  other);
    free_jobs(got, t->n);
}

static void check_same_bytes(const struct backend *b, const struct texts *t,
                             const struct search_options *o, const int *lanes,
                             int n_lanes)
{
    static const struct way alone = { 1, false, 1 };
    struct job *want[MAX_TEXTS];

    decode(want, t, b, o, 1, &alone);
    for (int i = 0; i < n_lanes; i++) {
        struct texts some = *t;

        if (lanes[i] == 1 && some.n > 8) some.n = 8;
        for (size_t k = 0; k < (lanes[i] == 1 ? 1 : COUNT(ways)); k++)
            check_way(b, &some, o, lanes[i], &ways[k], want);
    }
    free_jobs(want, t->n);
}

static void check_type(enum dtype type, const char *act)
{
    static const int lanes[] = { 1, 7, 32 };
    struct tiny o = tiny_that_ends();
    struct tiny_net m;
    struct texts t;

    o.act = act;
    REQUIRE(tiny_net_open(&m, &o, type, NULL));
    make_texts(&t, &m, 34);
    for (int beam = 1; beam <= 4; beam += 3) {
        struct search_options so = options(beam);

        so.max_len_a = 0.2;
        so.max_len_b = 6;
        check_same_bytes(m.backend, &t, &so, lanes, 3);
    }
    tiny_net_close(&m);
}

TEST(int8_bytes_do_not_depend_on_the_batch) { check_type(DT_I8, "relu"); }
TEST(f32_bytes_do_not_depend_on_the_batch) { check_type(DT_F32, "gelu"); }
TEST(bf16_bytes_do_not_depend_on_the_batch) { check_type(DT_BF16, "silu"); }

/* The matrices of the shipped model are much wider than those of tiny
 * models. */
TEST(the_shipped_models_bytes_do_not_depend_on_the_batch)
{
    static const char *const lines[] = { "Guten Morgen!", "Ja.",
        "Das Haus, in dem ich wohne, ist alt.",
        "Die Sitzung wurde um drei Uhr geschlossen.", "Wer war das?",
        "Wir treffen uns am Montag vor dem Bahnhof." };
    static const int lanes[] = { 4 };
    struct search_options o = options(4);
    struct weights *w;
    struct net *net;
    struct backend *b;
    struct texts t = { .n = COUNT(lines) };
    const char *under = getenv("RUN");  /* set by scripts/check */
    struct err e;

    if (access("models/de-en.skmt", R_OK)) SKIP("models/de-en.skmt is missing");
    if (under && *under) SKIP("takes minutes under an emulator");
    REQUIRE_OK(weights_open(&w, "models/de-en.skmt", &e), &e);
    REQUIRE_OK(net_open(&net, w, NULL, &e), &e);
    REQUIRE_OK(cpu_backend_new(&b, net, &e), &e);
    for (int i = 0; i < t.n; i++) {
        struct pieces p = { 0 };

        CHECK_OK(subword_encode(w->src_subword, lines[i], strlen(lines[i]), &p,
                                &e), &e);
        for (size_t k = 0; k < p.n; k++) t.ids[i][k] = p.at[k].id;
        t.ids[i][p.n] = w->cfg.eos_id;
        t.n_ids[i] = (int)p.n + 1;
        pieces_release(&p);
    }
    o.max_len_a = 0.2;
    o.max_len_b = 4;
    check_same_bytes(b, &t, &o, lanes, 1);
    backend_close(b);
    net_close(net);
    weights_close(w);
}

/* ---- comparison with the plain transformer --------------------------- */

/* Compute the states, probabilities and attention of a hypothesis again, with
 * naive.h. */
static struct naive_pass read_again(const struct naive *m, const struct job *j,
                                    const struct hypothesis *h)
{
    return naive_run(m, j->src, j->n_src, h->tokens, h->n - 1);
}

static void check_logprobs(const struct naive *m, const struct job *j,
                           const struct hypothesis *h)
{
    struct naive_pass p = read_again(m, j, h);
    double sum = 0;

    for (int t = 0; t < h->n; t++) {
        CHECK_NEAR((double)h->logprobs[t],
                   p.logprob[t * m->o->vocab + h->tokens[t]], 1e-4);
        sum += (double)h->logprobs[t];
    }
    CHECK_NEAR(h->logprob, sum, 1e-9 * fabs(sum));
    CHECK_NEAR(h->score, sum / pow((5 + h->n) / 6.0, 0.6), 1e-9 * fabs(sum));
    naive_pass_release(&p);
}

/* Padding (0) and BOS (2) never occur. EOS (3) is only the last token, and
 * never the first. */
static void check_tokens(const struct hypothesis *h)
{
    for (int i = 0; i < h->n; i++) {
        CHECK(h->tokens[i] != 0 && h->tokens[i] != 2);
        CHECK(h->tokens[i] != 3 || (i == h->n - 1 && i > 0));
    }
    CHECK_INT(h->ended, h->tokens[h->n - 1] == 3);
}

static void check_attention(const struct naive *m, const struct job *j,
                            const struct hypothesis *h)
{
    struct naive_pass p = read_again(m, j, h);

    for (int t = 0; t < h->n; t++) {
        double sum = 0;

        for (int k = 0; k < j->n_src; k++) {
            double a = (double)h->attention[t * j->n_src + k];

            CHECK_NEAR(a, p.attention[t * j->n_src + k], 1e-4);
            sum += a;
        }
        CHECK_NEAR(sum, 1, 1e-5);
    }
    naive_pass_release(&p);
}

/* `layer` is the attention layer of the model. */
static void check_with_plain(int layer)
{
    static const struct way w = { 1, false, 0 };
    struct search_options o = options(4);
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct naive nv;
    struct texts t;
    struct job *jobs[MAX_TEXTS];
    int ended = 0;

    to.attention_layer = layer;
    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    REQUIRE(naive_open(&nv, &m));
    make_texts(&t, &m, 12);
    decode(jobs, &t, m.backend, &o, 3, &w);
    for (int i = 0; i < t.n; i++)
        for (int k = 0; k < jobs[i]->n_hyps; k++) {
            check_tokens(&jobs[i]->hyps[k]);
            check_logprobs(&nv, jobs[i], &jobs[i]->hyps[k]);
            check_attention(&nv, jobs[i], &jobs[i]->hyps[k]);
            ended += jobs[i]->hyps[k].ended;
        }
    CHECK(ended > 0 && ended < 2 * t.n);
    free_jobs(jobs, t.n);
    naive_close(&nv);
    tiny_net_close(&m);
}

TEST(scores_and_attention_are_the_plain_transformers)
{
    check_with_plain(-1);
    check_with_plain(1);                /* not the default */
}

/* Beam search with the plain transformer. It has no cache and computes all
 * tokens of a hypothesis again at each step. The search under test must find
 * the same translations. */
struct plain { int32_t id[64]; int n; double total, score; };

static int by_total(const void *a, const void *b)
{
    const struct plain *x = a, *y = b;

    return x->total < y->total ? 1 : x->total > y->total ? -1 : 0;
}

static int plain_candidates(const struct naive *m, const int32_t *src,
                            int n_src, const struct plain *live, int n_live,
                            struct plain *cand)
{
    int n = 0;

    for (int i = 0; i < n_live; i++) {
        struct naive_pass p = naive_run(m, src, n_src, live[i].id, live[i].n);
        const double *lp = p.logprob + live[i].n * m->o->vocab;

        for (int v = 0; v < m->o->vocab; v++) {
            if (v == 0 || v == 2 || (v == 3 && !live[i].n)) continue;
            cand[n] = live[i];
            cand[n].id[cand[n].n++] = v;
            cand[n++].total += log(exp(lp[v]) + 1e-9);
        }
        naive_pass_release(&p);
    }
    qsort(cand, (size_t)n, sizeof *cand, by_total);
    return n;
}

static struct plain plain_beam(const struct naive *m, const int32_t *src,
                               int n_src, int beam, int max_len)
{
    struct plain *cand = calloc((size_t)(beam * m->o->vocab), sizeof *cand);
    struct plain live[8] = { { .n = 0 } }, best = { .score = -INFINITY };
    int n_live = 1;

    for (int t = 1; t <= max_len; t++) {
        int n = plain_candidates(m, src, n_src, live, n_live, cand);

        n_live = 0;
        for (int i = 0; i < n && i < 2 * beam; i++) {
            struct plain *c = &cand[i];

            c->score = c->total / pow((5 + t) / 6.0, 0.6);
            if (c->id[t - 1] != 3 && n_live < beam) live[n_live++] = *c;
            if (c->id[t - 1] == 3 && c->score > best.score) best = *c;
        }
    }
    free(cand);
    return best.n ? best : live[0];
}

TEST(batches_find_what_a_plain_search_finds)
{
    static const struct way w = { 1, false, 0 };
    struct search_options o = options(3);
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct naive nv;
    struct texts t;
    struct job *jobs[MAX_TEXTS];

    o.max_len_a = 0;
    o.max_len_b = 9;
    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    REQUIRE(naive_open(&nv, &m));
    make_texts(&t, &m, 6);
    decode(jobs, &t, m.backend, &o, 4, &w);
    for (int i = 0; i < t.n; i++) {
        struct plain p = plain_beam(&nv, t.ids[i], t.n_ids[i], 3, 9);
        const struct hypothesis *h = &jobs[i]->hyps[0];

        CHECK_INT(h->n, p.n);
        CHECK_MEM(h->tokens, p.id, (size_t)p.n * sizeof *p.id);
        CHECK_NEAR(h->logprob, p.total, 1e-3);
    }
    free_jobs(jobs, t.n);
    naive_close(&nv);
    tiny_net_close(&m);
}

/* ---- limits and prefixes --------------------------------------------- */

TEST(max_len_is_the_rule_and_the_models)
{
    struct search_options o = options(1);
    struct tiny to = tiny_that_ends();
    struct tiny_net m;

    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    CHECK_INT(m.backend->max_pos, 64);
    CHECK_INT(search_max_len(&o, 64, 4), 16);           /* floor(4.8) + 12 */
    CHECK_INT(search_max_len(&o, 64, 5), 18);
    o.max_len_b = 64;
    CHECK_INT(search_max_len(&o, 64, 5), 64);           /* max_positions */
    tiny_net_close(&m);
}

static struct job *decode_prefix(const struct backend *backend,
                                 const struct search_options *o,
                                 const int32_t *prefix, int n)
{
    int32_t src[] = { 70, 71, 72, 3 };
    static const struct way w = { 1, false, 0 };
    struct batch_limits limits = limits_for(backend, o, 1);
    struct job *j = NULL;
    struct batch *b;
    struct err e;

    CHECK_OK(job_new(&j, o, backend->max_pos, src, 4, prefix, n, &e), &e);
    if (CHECK_OK(batch_new(&b, backend, &limits, NULL, &e), &e))
        run_jobs(b, &j, 1, &w);
    batch_free(b);
    return j;
}

TEST(a_prefix_is_kept)
{
    int32_t prefix[100];
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct naive nv;

    for (int i = 0; i < 100; i++) prefix[i] = 20 + i;
    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    REQUIRE(naive_open(&nv, &m));
    for (int beam = 1; beam <= 4; beam += 3)
        for (int type = 0; type < 2; type++) {
            struct search_options o = options(beam);
            static const int lengths[] = { 1, 5, 15, 16, 17, 100 };

            o.lenpen_type = (enum lenpen)type;
            for (size_t i = 0; i < COUNT(lengths); i++) {
                struct job *j = decode_prefix(m.backend, &o, prefix,
                                              lengths[i]);
                int n = lengths[i] < 15 ? lengths[i] : 15;

                CHECK(j->n_hyps >= 1);
                CHECK_INT(j->n_prefix, n);      /* one token stays free */
                CHECK(j->hyps[0].n > n && j->hyps[0].n <= 16);
                CHECK_MEM(j->hyps[0].tokens, prefix,
                          (size_t)n * sizeof *prefix);
                check_tokens(&j->hyps[0]);
                if (type == LENPEN_GNMT) check_logprobs(&nv, j, &j->hyps[0]);
                job_free(j);
            }
        }
    naive_close(&nv);
    tiny_net_close(&m);
}

/* With the rules of fairseq, a translation that reaches the length limit gets
 * EOS there. */
TEST(fairseq_translations_always_end)
{
    static const struct way w = { 1, false, 0 };
    struct search_options o = options(4);
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct texts t;
    struct job *jobs[MAX_TEXTS];

    o.lenpen_type = LENPEN_FAIRSEQ;
    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    make_texts(&t, &m, 10);
    decode(jobs, &t, m.backend, &o, 4, &w);
    for (int i = 0; i < t.n; i++) {
        CHECK(jobs[i]->hyps[0].ended);
        check_tokens(&jobs[i]->hyps[0]);
    }
    free_jobs(jobs, t.n);
    tiny_net_close(&m);
}

/* ---- mixers ---------------------------------------------------------- */

/* The results of translating twelve sentences in five lanes, each with a
 * mixer. */
struct mixed {
    struct tiny_net m;
    struct texts t;
    struct job *jobs[MAX_TEXTS];
    struct naive nv;
};

static bool mixed_run(struct mixed *x, enum mode mode, bool explain)
{
    struct search_options o = options(4);
    struct tiny to = tiny_that_ends();
    static const struct way w = { 1, false, 0 };
    struct batch_limits limits;
    struct batch *b;
    struct err e;

    o.explain = explain;
    if (!tiny_net_open(&x->m, &to, DT_F32, NULL) ||
        !naive_open(&x->nv, &x->m))
        return false;
    make_texts(&x->t, &x->m, 12);
    new_jobs(x->jobs, &x->t, x->m.backend, &o);
    for (int i = 0; i < x->t.n; i++)
        fake_mixer_new(x->jobs[i], mode, &x->nv);
    limits = limits_for(x->m.backend, &o, 5);
    if (!CHECK_OK(batch_new(&b, x->m.backend, &limits, NULL, &e), &e))
        return false;
    run_jobs(b, x->jobs, x->t.n, &w);
    batch_free(b);
    for (int i = 0; i < x->t.n; i++) {
        const struct fake_mixer *f = fake_of(x->jobs[i]->mixer);

        CHECK_INT(f->lists, x->jobs[i]->n_passes);
        CHECK_INT(f->mixes, mode == LATE ? f->lists : 0);
    }
    return true;
}

static void mixed_free(struct mixed *x)
{
    free_mixers(x->jobs, x->t.n);
    free_jobs(x->jobs, x->t.n);
    naive_close(&x->nv);
    tiny_net_close(&x->m);
}

TEST(a_mixer_that_does_nothing_changes_nothing)
{
    struct search_options o = options(4);
    static const struct way w = { 1, false, 0 };
    struct job *want[MAX_TEXTS];
    struct mixed x;

    REQUIRE(mixed_run(&x, ALONE, false));
    decode(want, &x.t, x.m.backend, &o, 5, &w);
    CHECK_INT(count_other(want, x.jobs, x.t.n), 0);
    free_jobs(want, x.t.n);
    mixed_free(&x);
}

/* With option explain, a mixer gets the states of all tokens of all
 * translations once, and nothing else changes. */
TEST(a_mixer_can_explain_every_token)
{
    struct search_options o = options(4);
    static const struct way w = { 1, false, 0 };
    struct job *want[MAX_TEXTS];
    struct mixed x;
    int two = 0;

    REQUIRE(mixed_run(&x, ALONE, true));
    decode(want, &x.t, x.m.backend, &o, 5, &w);
    CHECK_INT(count_other(want, x.jobs, x.t.n), 0);
    for (int i = 0; i < x.t.n; i++) {
        const struct job *j = x.jobs[i];

        for (int k = 0; k < j->n_hyps; k++)
            CHECK_INT(fake_of(j->mixer)->told[k], j->hyps[k].n);
        two += j->n_hyps == 2;
    }
    CHECK(two > 0);
    free_jobs(want, x.t.n);
    mixed_free(&x);
}

TEST(a_mixer_can_force_tokens)
{
    static const int32_t full[] = { 10, 11, 12, 3 }, brief[] = { 10, 3 };
    struct mixed x;

    REQUIRE(mixed_run(&x, FORCE, false));
    for (int i = 0; i < x.t.n; i++) {
        const struct hypothesis *h = &x.jobs[i]->hyps[0];
        bool b = is_brief(x.jobs[i]);

        CHECK_INT(h->n, b ? 2 : 4);
        CHECK_MEM(h->tokens, b ? brief : full, (size_t)h->n * sizeof *full);
        CHECK_NEAR(h->logprob, 0, 1e-7);
        /* Any other hypothesis has one token of probability 0, for which search
         * uses the minimum of 1e-9. */
        if (CHECK(x.jobs[i]->n_hyps == 2))
            CHECK_NEAR(x.jobs[i]->hyps[1].logprob, log(1e-9), 1e-4);
    }
    mixed_free(&x);
}

/* log(keep * p + add + 1e-9), where p comes from the plain transformer. */
static double mixed_log(const double *lp, int vocab, int32_t token, bool late)
{
    int32_t best = 0;
    double add;

    for (int v = 1; v < vocab; v++)
        if (lp[v] > lp[best]) best = v;
    add = token == 20 ? 0.1 : token == 3 ? 0.2
        : token == preferred(best) ? 0.15 : 0;
    if (late) add *= 1 - exp(lp[token]);
    return log(0.15 * exp(lp[token]) + add + 1e-9);
}

static int check_mixed(const struct naive *nv, const struct job *j,
                       const struct hypothesis *h)
{
    bool late = fake_of(j->mixer)->mode == LATE;
    struct naive_pass p = read_again(nv, j, h);
    int vocab = nv->o->vocab, listed = 0;

    check_tokens(h);
    for (int t = 0; t < h->n; t++) {
        CHECK_NEAR((double)h->logprobs[t],
                   mixed_log(p.logprob + t * vocab, vocab, h->tokens[t],
                             late), 1e-4);
        listed += h->tokens[t] == 20 || h->tokens[t] == 3;
    }
    naive_pass_release(&p);
    return listed;
}

static void check_adding(enum mode mode)
{
    struct mixed x;
    int listed = 0;

    REQUIRE(mixed_run(&x, mode, false));
    for (int i = 0; i < x.t.n; i++) {
        const struct hypothesis *h = x.jobs[i]->hyps;

        for (int k = 0; k < x.jobs[i]->n_hyps; k++)
            listed += check_mixed(&x.nv, x.jobs[i], &h[k]);
        /* A listed token that is also the best of the model must not become two
         * candidates. */
        if (x.jobs[i]->n_hyps == 2)
            CHECK(h[0].n != h[1].n ||
                  memcmp(h[0].tokens, h[1].tokens,
                         (size_t)h[0].n * sizeof *h[0].tokens));
    }
    CHECK(listed >= x.t.n);
    mixed_free(&x);
}

TEST(a_mixer_adds_to_probabilities) { check_adding(LIGHT); }

/* The mixer sets its weights when it knows the model's probabilities of the
 * tokens that it has listed. It checks these probabilities itself. */
TEST(a_mixer_may_weigh_what_the_model_says) { check_adding(LATE); }

/* A forced token has the probability that the mixture gives it, also if the
 * mixer lists other tokens. */
TEST(a_mixer_and_a_prefix_share_a_row)
{
    static const int32_t prefix[] = { 50, 20, 51 };
    static const struct way w = { 1, false, 0 };
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct naive nv;

    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    REQUIRE(naive_open(&nv, &m));
    for (int mode = ALONE; mode <= LATE; mode++) {
        struct search_options o = options(mode == FORCE ? 1 : 4);
        struct batch_limits limits = limits_for(m.backend, &o, 1);
        int32_t src[] = { 70, 71, 72, 3 };
        struct job *j;
        struct batch *b;
        struct err e;

        REQUIRE_OK(job_new(&j, &o, m.backend->max_pos, src, 4, prefix, 3, &e),
                   &e);
        fake_mixer_new(j, (enum mode)mode, &nv);
        REQUIRE_OK(batch_new(&b, m.backend, &limits, NULL, &e), &e);
        run_jobs(b, &j, 1, &w);
        CHECK_MEM(j->hyps[0].tokens, prefix, sizeof prefix);
        if (mode == LIGHT || mode == LATE) check_mixed(&nv, j, &j->hyps[0]);
        if (mode == FORCE) {
            CHECK_INT(j->hyps[0].n, 4);
            CHECK_NEAR((double)j->hyps[0].logprobs[0], log(1e-9), 1e-5);
            CHECK_NEAR((double)j->hyps[0].logprobs[3], 0, 1e-7);
        }
        batch_free(b);
        free_mixers(&j, 1);
        job_free(j);
    }
    naive_close(&nv);
    tiny_net_close(&m);
}

/* One mixer fails at its third call, or when it should explain. The step
 * returns its error, and all jobs that are not done can be abandoned. */
TEST(a_mixer_may_fail)
{
    struct search_options o = options(2);
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct texts t;

    o.explain = true;
    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    make_texts(&t, &m, 5);
    for (int explains = 0; explains < 2; explains++) {
        struct batch_limits limits = limits_for(m.backend, &o, t.n);
        struct job *jobs[MAX_TEXTS], *done = NULL;
        struct fake_mixer *f;
        struct batch *b;
        struct err e = { 0 };
        int n = 0;

        new_jobs(jobs, &t, m.backend, &o);
        for (int i = 0; i < t.n; i++) fake_mixer_new(jobs[i], ALONE, NULL);
        f = fake_of(jobs[2]->mixer);
        if (explains) f->explain_fails = 1;
        else f->list_fails = 3;
        REQUIRE_OK(batch_new(&b, m.backend, &limits, NULL, &e), &e);
        REQUIRE_OK(batch_add(b, jobs, t.n, &e), &e);
        while (!batch_step(b, &done, &e) && batch_busy_lanes(b))
            for (; done; done = done->next) n++;
        CHECK_INT(e.status, ST_LIMIT);
        CHECK_STR(e.msg, explains ? "the mixer does not explain"
                                  : "the mixer refuses");
        CHECK_INT(f->lists, explains ? jobs[2]->n_passes : 3);
        for (; done; done = done->next) n++;
        CHECK_INT(batch_busy_lanes(b), t.n - n);
        for (struct job *j = batch_abandon(b); j; j = j->next) n++;
        CHECK_INT(n, t.n);
        CHECK_INT(batch_busy_lanes(b), 0);
        batch_free(b);
        free_mixers(jobs, t.n);
        free_jobs(jobs, t.n);
    }
    tiny_net_close(&m);
}

/* ---- abandoned jobs -------------------------------------------------- */

/* Abandon jobs many times after a few steps. If slots of the cache were lost,
 * it would run out of them. After that, the batch must work like a new one. */
TEST(giving_up_leaves_nothing_behind)
{
    struct search_options o = options(4);
    static const struct way w = { 1, false, 0 };
    struct tiny to = tiny_that_ends();
    struct batch_limits limits;
    struct tiny_net m;
    struct texts t;
    struct job *want[MAX_TEXTS], *got[MAX_TEXTS], *done;
    struct batch *b;
    struct err e;
    struct batch_counts c;

    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    make_texts(&t, &m, 8);
    decode(want, &t, m.backend, &o, 4, &w);
    new_jobs(got, &t, m.backend, &o);
    limits = limits_for(m.backend, &o, 4);
    REQUIRE_OK(batch_new(&b, m.backend, &limits, NULL, &e), &e);
    for (int turn = 0; turn < 60; turn++) {
        int n = 0;

        CHECK_OK(batch_add(b, got, 4, &e), &e);
        for (int i = 0; i < turn % 7; i++) {
            CHECK_OK(batch_step(b, &done, &e), &e);
            for (; done; done = done->next) n++;
        }
        for (struct job *j = batch_abandon(b); j; j = j->next) n++;
        CHECK_INT(n, 4);
        CHECK_INT(batch_count_idle_lanes(b), 4);
    }
    CHECK(batch_abandon(b) == NULL);
    run_jobs(b, got, t.n, &w);
    CHECK_INT(count_other(want, got, t.n), 0);
    c = batch_counts(b);
    CHECK(c.passes > 60 && c.rows > c.passes && c.rows <= 16 * c.passes);
    CHECK(c.steps > c.passes && !c.drafted && !c.drafts_used);
    batch_free(b);
    free_jobs(got, t.n);
    free_jobs(want, t.n);
    tiny_net_close(&m);
}

/* ---- drafts ------------------------------------------------------------ */

/* Give each job a mixer that guesses the translation in `known`. */
static void add_guessers(struct job **jobs, struct job **known, int n,
                         enum mode mode, int lies)
{
    for (int i = 0; i < n; i++) {
        struct fake_mixer *f = fake_mixer_new(jobs[i], mode, NULL);

        f->known = known[i];
        f->lies = lies;
    }
}

/* The results must be those of want, all tokens must be explained, and drafts
 * may only save passes. Returns the most rows that a sentence had in a pass. */
static int check_drafted(struct job **want, struct job **got, int n)
{
    int most = 0;

    for (int i = 0; i < n; i++) {
        const struct fake_mixer *f = fake_of(got[i]->mixer);

        CHECK(same_job(want[i], got[i]));
        CHECK(got[i]->n_passes <= want[i]->n_passes);
        CHECK(f->lists <= got[i]->n_passes);
        for (int k = 0; k < got[i]->n_hyps; k++)
            CHECK_INT(f->told[k], got[i]->hyps[k].n);
        if (f->most_rows > most) most = f->most_rows;
    }
    return most;
}

/* Translate all of t with drafts. The results must be those of want. */
static struct batch_counts decode_with_drafts(const struct backend *backend,
                                              const struct texts *t,
                                              struct job **want, int lanes,
                                              enum mode mode, int lies)
{
    static const struct way w = { 1, false, 0 };
    struct search_options o = want[0]->o;
    struct job *got[MAX_TEXTS];
    struct batch_limits limits;
    struct batch_counts c = { 0 };
    struct batch *b;
    struct err e;
    int most;

    o.draft = 8;
    o.explain = true;
    limits = limits_for(backend, &o, lanes);
    new_jobs(got, t, backend, &o);
    add_guessers(got, want, t->n, mode, lies);
    if (!CHECK_OK(batch_new(&b, backend, &limits, NULL, &e), &e)) return c;
    run_jobs(b, got, t->n, &w);
    c = batch_counts(b);
    CHECK(c.drafts_used <= c.drafted && c.drafted < c.rows);
    CHECK(c.drafted <= 8 * c.passes);
    most = check_drafted(want, got, t->n);
    CHECK(most <= o.beam + o.draft);
    if (!lies && lanes == 1) CHECK(most > o.beam);
    batch_free(b);
    free_mixers(got, t->n);
    free_jobs(got, t->n);
    return c;
}

/* Greedy search in one lane reaches one state per step. Each of them is a row,
 * drafted or not. */
static void check_greedy_counts(const struct batch_counts *right,
                                const struct batch_counts *some,
                                const struct batch_counts *wrong)
{
    CHECK(right->passes * 3 < right->steps);
    CHECK(some->passes < some->steps && some->passes > right->passes);
    CHECK_INT(wrong->drafts_used, 0);
    CHECK_INT(wrong->passes, wrong->steps);
    CHECK_INT(right->rows - right->drafted + right->drafts_used,
              right->steps);
}

TEST(drafts_change_nothing_but_the_passes)
{
    static const int lanes[] = { 1, 5 }, beams[] = { 1, 2, 4 };
    static const double prunes[] = { 0, 0.5, 3 };
    static const struct way w = { 1, false, 0 };
    struct tiny to = tiny_that_ends();
    struct job *want[MAX_TEXTS];
    struct tiny_net m;
    struct texts t;

    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    make_texts(&t, &m, 10);
    for (size_t c = 0; c < 2 * 3 * 3 * 2; c++) {
        struct search_options o = options(beams[c / 2 % 3]);
        struct batch_counts right, some, wrong;
        int n = lanes[c % 2];

        o.attention = c % 4 == 3;
        o.prune = prunes[c / 6 % 3];
        o.lenpen_type = c / 18 ? LENPEN_FAIRSEQ : LENPEN_GNMT;
        decode(want, &t, m.backend, &o, n, &w);
        right = decode_with_drafts(m.backend, &t, want, n, ALONE, 0);
        some = decode_with_drafts(m.backend, &t, want, n, ALONE, 3);
        wrong = decode_with_drafts(m.backend, &t, want, n, ALONE, 1);
        CHECK_INT(right.steps, wrong.steps);
        CHECK_INT(right.steps, some.steps);
        CHECK(right.drafts_used > 0 && some.drafts_used > 0);
        if (n == 1 && o.beam == 1) check_greedy_counts(&right, &some, &wrong);
        free_jobs(want, t.n);
    }
    tiny_net_close(&m);
}

/* The same with mixers that change the distributions. What they say of a row
 * does not depend on whether it is a draft. */
TEST(drafts_do_not_change_mixtures)
{
    static const int beams[] = { 1, 3 };
    static const struct way w = { 1, false, 0 };
    struct tiny to = tiny_that_ends();
    struct job *want[MAX_TEXTS];
    struct tiny_net m;
    struct texts t;

    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    make_texts(&t, &m, 8);
    for (int c = 0; c < 6; c++) {
        enum mode mode = (enum mode)(FORCE + c / 2);
        struct search_options o = options(beams[c % 2]);
        struct batch_limits limits = limits_for(m.backend, &o, 3);
        struct batch_counts right, some;
        struct batch *b;
        struct err e;

        new_jobs(want, &t, m.backend, &o);
        for (int i = 0; i < t.n; i++) fake_mixer_new(want[i], mode, NULL);
        REQUIRE_OK(batch_new(&b, m.backend, &limits, NULL, &e), &e);
        run_jobs(b, want, t.n, &w);
        batch_free(b);
        right = decode_with_drafts(m.backend, &t, want, 3, mode, 0);
        some = decode_with_drafts(m.backend, &t, want, 3, mode, 2);
        CHECK_INT(right.steps, some.steps);
        CHECK(right.drafts_used > 0);
        free_mixers(want, t.n);
        free_jobs(want, t.n);
    }
    tiny_net_close(&m);
}

/* The batch allows fewer drafts than the jobs ask for, or none. */
TEST(a_batch_limits_the_drafts)
{
    static const struct way w = { 1, false, 0 };
    struct search_options o = options(1);
    struct tiny to = tiny_that_ends();
    struct job *want[MAX_TEXTS], *got[MAX_TEXTS];
    struct tiny_net m;
    struct texts t;

    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    make_texts(&t, &m, 6);
    decode(want, &t, m.backend, &o, 2, &w);
    o.draft = 8;
    o.explain = true;
    for (int most = 0; most <= 2; most++) {
        struct batch_limits limits = limits_for(m.backend, &o, 2);
        struct batch_counts c;
        struct batch *b;
        struct err e;

        limits.drafts = most;
        new_jobs(got, &t, m.backend, &o);
        add_guessers(got, want, t.n, ALONE, 0);
        REQUIRE_OK(batch_new(&b, m.backend, &limits, NULL, &e), &e);
        run_jobs(b, got, t.n, &w);
        check_drafted(want, got, t.n);
        c = batch_counts(b);
        CHECK(c.drafted <= (uint64_t)most * c.passes);
        CHECK((c.drafted > 0) == (most > 0));
        batch_free(b);
        free_mixers(got, t.n);
        free_jobs(got, t.n);
    }
    free_jobs(want, t.n);
    tiny_net_close(&m);
}

/* The number of cache slots does not fit into 32 bits. The error must come
 * before any memory is allocated. */
TEST(sizes_whose_product_does_not_fit_are_refused)
{
    struct search_options o = options(64);
    struct tiny to = TINY_DEFAULT;
    struct batch_limits limits;
    struct tiny_net m;
    struct batch *b = (struct batch *)(void *)&o;
    struct err e;

    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    limits = limits_for(m.backend, &o, 1 << 20);
    REQUIRE((double)limits.rows * limits.max_len > INT32_MAX);
    CHECK_INT(batch_new(&b, m.backend, &limits, NULL, &e), ST_LIMIT);
    CHECK(b == NULL && strstr(e.msg, "too much memory together"));
    tiny_net_close(&m);
}

static int count_ended(struct job **jobs, int n)
{
    int ended = 0;

    for (int i = 0; i < n; i++) ended += jobs[i]->hyps[0].ended;
    return ended;
}

/* ---- rows of one pass ------------------------------------------------ */

/* Two hypotheses of one sentence have three and four tokens. Their last tokens,
 * at positions 2 and 3, must give the same states in one pass as in two. */
TEST(rows_of_two_paths_keep_their_own_tokens)
{
    enum { LEN = 4 };
    static const int32_t tokens[2][LEN] = { { 0, 7, 8, 9 }, { 0, 10, 11, 12 } };
    struct tiny o = TINY_DEFAULT;
    struct decoder_pass p = { 0 };
    struct workspace ws;
    struct kvcache cache;
    struct crosskv mem;
    struct tiny_net m;
    int32_t src[16], path[2][LEN];
    float hidden[2 * LEN * PANEL], want[2][PANEL];
    struct decoder_row rows[2];
    uint64_t seed = 3;
    struct err e;
    int n;

    REQUIRE(tiny_net_open(&m, &o, DT_F32, NULL));
    REQUIRE(m.net->d <= PANEL);
    n = tiny_source(&m, &seed, 5, src);
    REQUIRE_OK(workspace_init(&ws, m.net, NULL, 16, 16, &e), &e);
    REQUIRE_OK(kvcache_init(&cache, 16, m.w->cfg.decoder_layers, m.net->d,
                            &e), &e);
    REQUIRE_OK(crosskv_init(&mem, m.net, n, &e), &e);
    encoder_run(&ws, &(struct source){ src, n }, 1, NULL, NULL);
    crosskv_fill(&mem, &ws, ws.x, n);
    p.hidden = hidden;
    for (int h = 0; h < 2; h++) {       /* one row per pass */
        for (int t = 0; t < 3 + h; t++) {
            path[h][t] = kvcache_take(&cache, t ? path[h][t - 1] : -1);
            rows[0] = (struct decoder_row){ &mem, t ? tokens[h][t]
                                            : m.w->cfg.start_id, t, path[h] };
            p.rows = rows;
            p.n = 1;
            decoder_run(&ws, &cache, &p);
        }
        memcpy(want[h], hidden, sizeof(float) * (size_t)m.net->d);
    }
    rows[0] = (struct decoder_row){ &mem, tokens[0][2], 2, path[0] };
    rows[1] = (struct decoder_row){ &mem, tokens[1][3], 3, path[1] };
    p.n = 2;
    decoder_run(&ws, &cache, &p);
    for (int h = 0; h < 2; h++)
        CHECK_MEM(hidden + (size_t)h * ws.ld, want[h],
                  sizeof(float) * (size_t)m.net->d);
    crosskv_release(&mem);
    kvcache_release(&cache);
    workspace_release(&ws);
    tiny_net_close(&m);
}

/* The rows of two complete translations are computed with and without a cache,
 * by one thread and by three. All states must be equal bit for bit. */
TEST(a_translation_known_whole_needs_no_cache)
{
    enum { A = 9, B = 14, N = A + B };
    struct tiny o = TINY_DEFAULT;
    struct pool *pool;
    struct kvcache cache;
    struct crosskv mem[2];
    struct tiny_net m;
    float hidden[N * PANEL], want[N * PANEL];
    int32_t src[16], path[N];
    struct decoder_row rows[N];
    uint64_t seed = 5;
    struct err e;

    REQUIRE(tiny_net_open(&m, &o, DT_F32, NULL));
    REQUIRE(m.net->d <= PANEL);
    REQUIRE_OK(pool_new(&pool, 3, &e), &e);
    for (int way = 0; way < 4; way++) {   /* bit 0: no cache; 1: pool */
        struct workspace ws;
        struct decoder_pass p = { .rows = rows, .n = N, .hidden = hidden };
        int at = 0;

        REQUIRE_OK(workspace_init(&ws, m.net, way & 2 ? pool : NULL, 32, 32,
                                  &e), &e);
        REQUIRE_OK(kvcache_init(&cache, N, m.w->cfg.decoder_layers, m.net->d,
                                &e), &e);
        for (int i = 0; i < 2; i++) {
            uint64_t own = seed + (uint64_t)i;
            int n = tiny_source(&m, &own, 5 + i, src);

            REQUIRE_OK(crosskv_init(&mem[i], m.net, n, &e), &e);
            encoder_run(&ws, &(struct source){ src, n }, 1, NULL, NULL);
            crosskv_fill(&mem[i], &ws, ws.x, n);
            for (int t = 0; t < (i ? B : A); t++, at++) {
                path[at] = kvcache_take(&cache, t ? path[at - 1] : -1);
                rows[at] = (struct decoder_row){ &mem[i], t ? 6 + t
                    : m.w->cfg.start_id, t, way & 1 ? NULL : path + at - t };
            }
        }
        decoder_run(&ws, way & 1 ? NULL : &cache, &p);
        if (!way) memcpy(want, hidden, sizeof want);
        for (int i = 0; i < N; i++)
            CHECK_MEM(hidden + (size_t)i * ws.ld, want + (size_t)i * ws.ld,
                      sizeof(float) * (size_t)m.net->d);
        for (int i = 0; i < 2; i++) crosskv_release(&mem[i]);
        kvcache_release(&cache);
        workspace_release(&ws);
    }
    pool_free(pool);
    tiny_net_close(&m);
}

/* The states of a source are quantized once for all decoder layers. The keys
 * and values must be the same as if each layer quantized them again. */
TEST(every_layer_reads_the_same_states)
{
    static const enum dtype types[] = { DT_I8, DT_F32, DT_BF16 };
    struct tiny o = TINY_DEFAULT;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct workspace ws;
        struct crosskv mem;
        struct tiny_net m;
        float *states, *want;
        int32_t src[16];
        uint64_t seed = 8;
        struct err e;
        int n;

        REQUIRE(tiny_net_open(&m, &o, types[i], NULL));
        n = tiny_source(&m, &seed, 9, src);
        REQUIRE_OK(workspace_init(&ws, m.net, NULL, 16, 16, &e), &e);
        REQUIRE_OK(crosskv_init(&mem, m.net, n, &e), &e);
        encoder_run(&ws, &(struct source){ src, n }, 1, NULL, NULL);
        states = mem_alloc((size_t)n * ws.ld, sizeof *states);
        want = mem_alloc((size_t)n * ws.ld_qkv, sizeof *want);
        REQUIRE(states && want);
        memcpy(states, ws.x, (size_t)n * ws.ld * sizeof *states);
        crosskv_fill(&mem, &ws, ws.x, n);
        for (int l = 0; l < m.w->cfg.decoder_layers; l++) {
            size_t ld = mem.layer_ld / (size_t)n;
            const float *got = mem.kv + (size_t)l * mem.layer_ld;

            net_linear(&ws, &m.w->dec[l].cross_kv, states, ws.ld, n, want,
                       ws.ld_qkv, ACT_NONE, 0);
            for (int r = 0; r < n; r++)
                CHECK_MEM(got + (size_t)r * ld, want + (size_t)r * ws.ld_qkv,
                          2 * (size_t)m.net->d * sizeof *want);
        }
        mem_free(states);
        mem_free(want);
        crosskv_release(&mem);
        workspace_release(&ws);
        tiny_net_close(&m);
    }
}

/* Some models use EOS as padding. Search forbids the padding token, but must
 * allow EOS. */
TEST(a_model_that_pads_with_its_end_can_end)
{
    struct search_options o = options(4);
    static const struct way w = { 1, false, 0 };
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct texts t;
    struct job *jobs[MAX_TEXTS];

    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    m.w->cfg.pad_id = m.w->cfg.eos_id;
    make_texts(&t, &m, MAX_TEXTS);
    decode(jobs, &t, m.backend, &o, 4, &w);
    CHECK(count_ended(jobs, t.n) > 0);
    free_jobs(jobs, t.n);
    tiny_net_close(&m);
}
