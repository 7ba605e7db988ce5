/* test_target_prefix.c - a model with a target_prefix_id computes what the same
 * model without one computes after a forced first token.
 *
 * The forced token is known to be right: test_arch.c and test_batch.c compare
 * it with a plain implementation. So states, scores and translations are
 * compared with those, bit for bit. */
#include "batch_fix.h"
#include "engine/engine.h"
#include "fake_mixer.h"
#include "knn/key_builder.h"
#include "nn/forced.h"

enum { LANGUAGE = 100, MOST_TGT = 30 };

/* A model, and the backend of the same model with a target_prefix_id. */
struct both {
    struct tiny_net m;
    struct weights w;           /* a copy of *m.w with another config */
    struct net *net;
    struct backend *backend;
};

static bool both_open(struct both *b, const struct tiny *o, enum dtype type)
{
    struct err e;

    memset(b, 0, sizeof *b);
    if (!tiny_net_open(&b->m, o, type, NULL)) return false;
    b->w = *b->m.w;
    b->w.cfg.target_prefix_id = LANGUAGE;
    return CHECK_OK(net_open(&b->net, &b->w, NULL, &e), &e) &&
           CHECK_OK(cpu_backend_new(&b->backend, b->net, &e), &e);
}

static void both_close(struct both *b)
{
    backend_close(b->backend);
    net_close(b->net);
    tiny_net_close(&b->m);
}

static struct tiny post_norm(void)
{
    struct tiny o = tiny_that_ends();

    o.post = true;
    o.offset = 2;
    return o;
}

/* ---- known translations -------------------------------------------------- */

static void check_forced(const struct both *b, int n_src, int n_tgt)
{
    float hidden[2][(MOST_TGT + 2) * 32], lp[2][MOST_TGT + 2];
    int32_t src[40], tgt[MOST_TGT + 2] = { LANGUAGE };
    struct forced plain = { .src = src, .n_src = n_src, .tgt = tgt,
        .n_tgt = n_tgt + 1, .hidden = hidden[0], .logprob = lp[0] };
    struct forced f = { .src = src, .n_src = n_src, .tgt = tgt + 1,
        .n_tgt = n_tgt, .hidden = hidden[1], .logprob = lp[1] };
    uint64_t seed = 5;
    size_t n = (size_t)n_tgt + 1, d = (size_t)b->net->d;
    struct err e;

    REQUIRE(d == 32 && n_tgt <= MOST_TGT);
    tiny_source(&b->m, &seed, n_src, src);
    tiny_source(&b->m, &seed, n_tgt + 1, tgt + 1);
    REQUIRE_OK(forced_run(b->m.net, NULL, &plain, &e), &e);
    REQUIRE_OK(forced_run(b->net, NULL, &f, &e), &e);
    CHECK_MEM(hidden[1], hidden[0] + d, n * d * sizeof(float));
    CHECK_MEM(lp[1], lp[0] + 1, n * sizeof(float));
}

TEST(scores_are_those_after_a_forced_first_token)
{
    struct tiny o = post_norm();
    struct both b;
    struct err e;
    int32_t ids[80] = { 5 };
    struct forced f = { .src = ids, .n_src = 1, .tgt = ids };

    for (int way = 0; way < 4; way++) {
        o.post = way & 1;
        REQUIRE(both_open(&b, &o, way & 2 ? DT_I8 : DT_F32));
        check_forced(&b, 1, 0);
        check_forced(&b, 7, 1);
        check_forced(&b, 33, MOST_TGT);
        /* One position fewer is left for the translation. */
        CHECK_INT(b.backend->max_pos, b.m.backend->max_pos - 1);
        f.n_tgt = b.backend->max_pos - 1;
        CHECK_OK(forced_run(b.net, NULL, &f, &e), &e);
        f.n_tgt++;
        CHECK_INT(forced_run(b.net, NULL, &f, &e), ST_LIMIT);
        both_close(&b);
    }
}

/* ---- keys ---------------------------------------------------------------- */

enum { PAIRS = 12 };

/* Targets of 0 to 11 tokens. `with` says whether LANGUAGE is the first. */
static void make_pairs(const struct both *b, struct key_pair *p,
                       int32_t (*ids)[40], bool with)
{
    uint64_t seed = 9;

    for (int i = 0; i < PAIRS; i++) {
        int n = tiny_source(&b->m, &seed, 2 + i % 4, ids[i]);

        ids[i][n] = LANGUAGE;
        tiny_source(&b->m, &seed, i + 1, ids[i] + n + 1);
        p[i] = (struct key_pair){ ids[i], n, ids[i] + n + !with, i + with,
                                  NULL };
    }
}

static void check_same_keys(const struct key_pair *with,
                            const struct key_pair *plain)
{
    const struct pair_keys *a = plain->keys, *b = with->keys;
    const float *x = a->keys, *y = b->keys;

    REQUIRE(a->n == b->n + 1 && a->ld == b->ld);
    CHECK_MEM(y, x + a->ld, (size_t)b->n * b->ld * sizeof *y);
    CHECK_MEM(b->token, a->token + 1, (size_t)b->n * sizeof *b->token);
    CHECK_MEM(b->from, a->from + 1, (size_t)b->n * sizeof *b->from);
}

static void check_keys(const struct both *b, int rows, enum state_kind kind)
{
    struct key_builder_options o = { .rows = rows, .type = KEY_F32,
                                     .with_eos = true, .kind = kind };
    struct key_pair with[PAIRS], plain[PAIRS];
    int32_t ids[2][PAIRS][40];
    struct key_builder *kb[2];
    struct err e;

    make_pairs(b, with, ids[0], false);
    make_pairs(b, plain, ids[1], true);
    REQUIRE_OK(key_builder_new(&kb[0], b->backend, NULL, &o, &e), &e);
    REQUIRE_OK(key_builder_new(&kb[1], b->m.backend, NULL, &o, &e), &e);
    REQUIRE_OK(key_builder_run(kb[0], with, PAIRS, &e), &e);
    REQUIRE_OK(key_builder_run(kb[1], plain, PAIRS, &e), &e);
    for (int i = 0; i < PAIRS; i++) {
        check_same_keys(&with[i], &plain[i]);
        pair_keys_drop(with[i].keys);
        pair_keys_drop(plain[i].keys);
    }
    key_builder_free(kb[0]);
    key_builder_free(kb[1]);
}

/* With few rows a pass has room for one text only, with many for some. */
TEST(keys_are_those_after_a_forced_first_token)
{
    struct tiny o = TINY_DEFAULT;
    struct both b;

    REQUIRE(both_open(&b, &o, DT_F32));
    for (int rows = 1; rows <= 256; rows *= 4) {
        check_keys(&b, rows, STATE_FINAL);
        check_keys(&b, rows, STATE_FFN);
    }
    both_close(&b);
}

/* ---- search -------------------------------------------------------------- */

/* Compare the translations of a sentence. The forced token of `plain` is its
 * first. */
static void check_hyps(const struct job *with, const struct job *plain)
{
    REQUIRE(with->n_hyps > 0 && with->n_hyps == plain->n_hyps);
    for (int i = 0; i < with->n_hyps; i++) {
        const struct hypothesis *a = &with->hyps[i], *b = &plain->hyps[i];
        size_t n = (size_t)a->n, src = (size_t)with->n_src;

        REQUIRE(b->n == a->n + 1 && b->tokens[0] == LANGUAGE);
        CHECK_INT(a->ended, b->ended);
        CHECK_MEM(a->tokens, b->tokens + 1, n * sizeof *a->tokens);
        CHECK_MEM(a->logprobs, b->logprobs + 1, n * sizeof *a->logprobs);
        CHECK_MEM(a->attention, b->attention + src,
                  n * src * sizeof(float));
        CHECK_NEAR(a->logprob, b->logprob - (double)b->logprobs[0], 1e-4);
    }
}

static void decode_after(struct job **jobs, const struct texts *t,
                         const struct both *b, struct search_options o)
{
    static const int32_t language[] = { LANGUAGE };
    static const struct way way = { 1, false, 0 };
    struct batch_limits limits;
    struct batch *batch;
    struct err e;

    o.max_len_b++;
    limits = limits_for(b->m.backend, &o, 4);
    for (int i = 0; i < t->n; i++)
        CHECK_OK(job_new(&jobs[i], &o, b->m.backend->max_pos, t->ids[i],
                         t->n_ids[i], language, 1, &e), &e);
    REQUIRE_OK(batch_new(&batch, b->m.backend, &limits, NULL, &e), &e);
    run_jobs(batch, jobs, t->n, &way);
    batch_free(batch);
}

/* Without a length penalty, because that counts tokens. EOS is barred as the
 * first token, which is another one after a forced token; so only sentences in
 * which it is unlikely there are compared. */
static void check_search(const struct both *b, int beam)
{
    static const struct way way = { 1, false, 0 };
    struct job *with[MAX_TEXTS], *plain[MAX_TEXTS];
    struct search_options o = options(beam);
    struct texts t;

    o.lenpen = 0;
    make_texts(&t, &b->m, 20);
    decode(with, &t, b->backend, &o, 3, &way);
    decode_after(plain, &t, b, o);
    for (int i = 0; i < t.n; i++) check_hyps(with[i], plain[i]);
    free_jobs(with, t.n);
    free_jobs(plain, t.n);
}

TEST(search_finds_what_it_finds_after_a_forced_first_token)
{
    struct tiny o = post_norm();
    struct both b;

    for (int way = 0; way < 4; way++) {
        o.post = way & 1;
        REQUIRE(both_open(&b, &o, way & 2 ? DT_I8 : DT_F32));
        check_search(&b, 1);
        check_search(&b, 4);
        both_close(&b);
    }
}

/* Batches of all sizes, refilled in several ways, and with two threads. */
TEST(translations_do_not_depend_on_the_batch)
{
    static const struct way ways[] = { { 1, false, 1 }, { 2, true, 0 },
                                       { 1, false, 3 } };
    static const int lanes[] = { 1, 3, 16 };
    struct tiny o = tiny_that_ends();
    struct search_options so = options(3);
    struct job *want[MAX_TEXTS], *got[MAX_TEXTS];
    struct texts t;
    struct both b;

    REQUIRE(both_open(&b, &o, DT_I8));
    make_texts(&t, &b.m, 20);
    decode(want, &t, b.backend, &so, 1, &ways[0]);
    for (size_t i = 0; i < COUNT(ways); i++) {
        decode(got, &t, b.backend, &so, lanes[i], &ways[i]);
        CHECK_INT(count_other(want, got, t.n), 0);
        free_jobs(got, t.n);
    }
    free_jobs(want, t.n);
    both_close(&b);
}

/* A mixer sees target_prefix_id as the token of the first slot (fake_mixer.h
 * checks it), positions without it, and its drafts are used. */
TEST(a_mixer_sees_nothing_of_the_start_token)
{
    static const struct way way = { 1, false, 0 };
    struct tiny o = tiny_that_ends();
    struct search_options so = options(1);
    struct job *want[MAX_TEXTS], *got[MAX_TEXTS];
    struct batch_limits limits;
    struct batch_counts counts;
    struct batch *batch;
    struct texts t;
    struct both b;
    struct err e;

    so.explain = true;
    REQUIRE(both_open(&b, &o, DT_F32));
    make_texts(&t, &b.m, 8);
    so.draft = 3;
    decode(want, &t, b.backend, &so, 2, &way);
    limits = limits_for(b.backend, &so, 2);
    new_jobs(got, &t, b.backend, &so);
    for (int i = 0; i < t.n; i++)
        fake_mixer_new(got[i], ALONE, NULL)->known = want[i];
    REQUIRE_OK(batch_new(&batch, b.backend, &limits, NULL, &e), &e);
    run_jobs(batch, got, t.n, &way);
    counts = batch_counts(batch);
    batch_free(batch);
    CHECK(counts.drafts_used > 0);
    CHECK_INT(count_other(want, got, t.n), 0);
    for (int i = 0; i < t.n; i++)
        CHECK_INT(fake_of(got[i]->mixer)->told[0], got[i]->hyps[0].n);
    free_mixers(got, t.n);
    free_jobs(got, t.n);
    free_jobs(want, t.n);
    both_close(&b);
}

/* ---- the identity of a model --------------------------------------------- */

static uint64_t id_of(struct weights *w, int tokens, int prefix, int target)
{
    struct engine en = { .w = w };

    w->cfg.language_tokens = tokens;
    w->cfg.prefix_id = prefix;
    w->cfg.target_prefix_id = target;
    return engine_weights_id(&en);
}

/* Keys and datastores belong to a model with its languages: they must not be
 * used with others. A model without languages has the same identity as in
 * earlier versions. */
TEST(identity_depends_on_the_languages)
{
    struct tiny o = post_norm();
    struct both b;
    uint64_t id;

    REQUIRE(both_open(&b, &o, DT_F32));
    id = id_of(&b.w, LANGUAGE_TOKENS_NONE, -1, -1);
    CHECK(id == id_of(&b.w, LANGUAGE_TOKENS_NONE, 7, 8));
    id = id_of(&b.w, LANGUAGE_TOKENS_BOTH, 7, 8);
    CHECK(id == id_of(&b.w, LANGUAGE_TOKENS_BOTH, 7, 8));
    CHECK(id != id_of(&b.w, LANGUAGE_TOKENS_BOTH, 8, 7));
    CHECK(id != id_of(&b.w, LANGUAGE_TOKENS_BOTH, 7, 9));
    CHECK(id_of(&b.w, LANGUAGE_TOKENS_TARGET_FIRST, 7, -1) !=
          id_of(&b.w, LANGUAGE_TOKENS_TARGET_FIRST, 8, -1));
    both_close(&b);
}
