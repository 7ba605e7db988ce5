/* test_learned.c - the mixer with learned trust: which votes it chooses, what
 * the network sees, what becomes of the row, and that explanations agree with
 * the mixtures that search used. test_trust.c tests the network itself. */
#include "knn/learned.h"

#include <math.h>

#include "engine/engine.h"
#include "engine/trust_trainer.h"
#include "fixed_rows.h"
#include "skmt.h"
#include "skmt_tools.h"
#include "system_suite.h"
#include "tiny_net.h"

enum { D = 16, EOS = 3 };

/* ---- votes and features -------------------------------------------------- */

/* Keys of a pair whose target is tokens[n]. */
static struct pair_keys *keys_of(const int32_t *tokens, int n)
{
    static const float key[D] = { 1 };
    struct pair_keys *b = NULL;
    struct err e;

    CHECK_OK(pair_keys_new(&b, KEY_F32, n, D, &e), &e);
    for (int i = 0; b && i < n; i++) pair_keys_put(b, i, key, tokens[i]);
    return b;
}

static const int32_t first_target[] = { 10, 11, 12, 13, EOS };
static const int32_t second_target[] = { 20, 11, 12, 14 };
static const int32_t sentence[] = { 13, 50, EOS };
static const int32_t foreign_pieces[] = { 14, 20 };
/* The sentence has the first and the last piece of the first source, of which
 * the last one is part of another word, and the first piece of the second. */
static const int32_t first_match[] = { 0, -1, 1 }, second_match[] = { 1, -1 };
static const float first_words[] = { 1, 0, 0.5f }, second_words[] = { 1, 0 };
/* What the targets come from. A long source was cut before the last piece. */
static const int first_from[] = { 0, 1, 1, 0, 2 };
static const int second_from[] = { 60000, 0, 0, 1 };

static void set_from(struct pair_keys *b, const int *from)
{
    for (int i = 0; i < b->n; i++) pair_keys_put_from(b, i, from[i]);
}

/* Voters of a sentence with two pairs. */
static struct voters two_pairs(bool eos_abstains)
{
    struct system_options o = { .k = 8, .weigh = { .tau = 50 }, .eos = EOS,
                                .model_tau = 50,
                                .eos_abstains = eos_abstains };
    struct system_sentence s = { .rows = 1, .nbest = 1, .max_len = 4,
                                 .source = sentence,
                                 .n_source = COUNT(sentence), .n_suffix = 1 };
    struct system_pair pairs[] = {
        { .keys = keys_of(first_target, COUNT(first_target)),
          .similarity = 0.75f, .match = first_match,
          .same_word = first_words, .n_match = COUNT(first_match) },
        { .keys = keys_of(second_target, COUNT(second_target)),
          .similarity = 0.5f, .foreign = foreign_pieces,
          .n_foreign = COUNT(foreign_pieces), .match = second_match,
          .same_word = second_words, .n_match = COUNT(second_match) } };
    struct voters v;
    struct err e;

    set_from(pairs[0].keys, first_from);
    set_from(pairs[1].keys, second_from);
    CHECK_OK(voters_init(&v, &o, &s, TRUST_NEIGHBORS, &e), &e);
    CHECK_OK(voters_prepare(&v, pairs, 2, &e), &e);
    for (int i = 0; i < 2; i++) pair_keys_drop(pairs[i].keys);
    return v;
}

/* The translation so far is "10 11 12". */
static const struct voters_said said_three = { { 10, 11, 12 }, 3 };
static const struct neighbor found_four[] = {
    { 5, 13, 0, 3, 0 }, { 10, EOS, 0, 4, 0 }, { 20, 14, 1, 3, 0 },
    { 30, 13, 0, 3, 0 } };
/* The row attends to the two pieces and to EOS. */
static const float attention[] = { 0.5f, 0.25f, 0.25f };

TEST(votes_that_count_are_chosen)
{
    struct voters v = two_pairs(true);
    struct learned_row row;

    learned_choose(&v, found_four, 4, &said_three, attention, true,
                   &row);
    CHECK_INT(row.n, 4);
    CHECK(row.nb[0].token == 13 && row.nb[1].token == EOS &&
          row.nb[2].token == 14 && row.nb[3].token == 13);
    CHECK(!row.abstains[0] && row.abstains[1] && !row.abstains[2] &&
          !row.abstains[3]);
    CHECK_INT(row.n_tokens, 3);
    CHECK(row.token[0] == 13 && row.token[1] == EOS && row.token[2] == 14);
    CHECK(row.token_of[0] == 0 && row.token_of[1] == 1 &&
          row.token_of[2] == 2 && row.token_of[3] == 0);
    CHECK(row.add[0] == 0 && row.add[1] == 0 && row.add[2] == 0);
    CHECK(row.context[0] == 3 && row.context[2] == 2 && row.context[3] == 3);
    CHECK(!row.foreign[0] && row.foreign[2] && !row.foreign[3]);
    CHECK(row.own[0] && !row.own[2] && row.own[3]);
    voters_release(&v);

    v = two_pairs(false);
    learned_choose(&v, found_four, 4, &said_three, attention, true,
                   &row);
    CHECK_INT(row.n, 4);
    CHECK_INT(row.n_tokens, 3);
    CHECK(row.nb[1].token == EOS && !row.abstains[1]);
    CHECK(row.own[1]);                  /* EOS is a piece of the source, too */
    voters_release(&v);
}

TEST(at_most_as_many_neighbors_as_the_network_sees)
{
    struct voters v = two_pairs(true);
    struct neighbor nb[TRUST_NEIGHBORS + 3];
    struct learned_row row;

    for (size_t i = 0; i < COUNT(nb); i++)
        nb[i] = (struct neighbor){ (float)i, 100 + (int32_t)i, 1, 0, 0 };
    learned_choose(&v, nb, (int)COUNT(nb), &said_three, attention, true,
                   &row);
    CHECK_INT(row.n, TRUST_NEIGHBORS);
    CHECK_INT(row.n_tokens, TRUST_NEIGHBORS);
    CHECK_INT(row.nb[TRUST_NEIGHBORS - 1].token, 100 + TRUST_NEIGHBORS - 1);
    voters_release(&v);
}

/* The model's probabilities are 1/2 for token 14 and 1/4 for token 13. */
static struct projection half_and_quarter(const struct learned_row *row,
                                          float *logit,
                                          struct token_logit *best)
{
    struct projection p = { .n_best = 1, .best = best, .n_found = 1,
                            .n_listed = row->n_tokens, .listed = row->token,
                            .listed_logit = logit, .max = 2, .sum = 2,
                            .zsum = -0.5f };

    *best = (struct token_logit){ .token = 14 };
    for (int i = 0; i < row->n_tokens; i++)
        logit[i] = row->token[i] == 14 ? 2 : 2 - logf(2);
    return p;
}

TEST(features_come_from_neighbors_and_model)
{
    struct voters v = two_pairs(true);
    float logit[TRUST_NEIGHBORS];
    struct token_logit best;
    struct trust_features f;
    struct learned_row row;
    struct projection p;

    learned_choose(&v, found_four, 4, &said_three, attention, true,
                   &row);
    p = half_and_quarter(&row, logit, &best);
    learned_features(&v, &row, &p, &f);
    CHECK_INT(f.n, 4);
    CHECK_NEAR(f.x[TRUST_distance], 0.1, 1e-6);         /* 5 / 50 */
    CHECK_NEAR(f.x[TRUST_gap_1], 0.1, 1e-6);         /* EOS */
    CHECK_NEAR(f.x[TRUST_similarity], 0.75, 1e-6);
    CHECK_NEAR(f.x[TRUST_context], 1, 1e-6);
    CHECK_NEAR(f.x[TRUST_model_token], log(0.25) / 5, 1e-6);
    CHECK_NEAR(f.x[TRUST_model_best], 0.5, 1e-6);
    CHECK_NEAR(f.x[TRUST_entropy], (log(2) + 0.25) / 4, 1e-6);
    CHECK_NEAR(f.x[TRUST_same_best], 0, 0);
    CHECK_NEAR(f.x[TRUST_agree_4], 0.5, 1e-6);
    CHECK(f.x[TRUST_foreign] == 0 && f.x[TRUST_own] == 1);
    CHECK_NEAR(f.x[TRUST_aligned], 1, 0);
    CHECK_NEAR(f.x[TRUST_focus], 0.5 / 0.75, 1e-6);
    CHECK_NEAR(f.x[TRUST_shared], (0.5 + 0.5 * 0.25) / 0.75, 1e-6);
    CHECK_NEAR(f.votes[2][TRUST_VOTE_aligned], 0, 0);
    CHECK_NEAR(f.votes[2][TRUST_VOTE_focus], 0, 0);
    CHECK_NEAR(f.votes[2][TRUST_VOTE_shared], 0.25 / 0.75, 1e-6);
    CHECK_NEAR(f.votes[2][TRUST_VOTE_similarity], 0.5, 1e-6);
    CHECK_NEAR(f.votes[2][TRUST_VOTE_context], 2, 0);
    CHECK_NEAR(f.votes[2][TRUST_VOTE_model], log(0.5) / 5, 1e-6);
    CHECK_NEAR(f.votes[2][TRUST_VOTE_foreign], 1, 0);
    best.token = 13;
    learned_features(&v, &row, &p, &f);
    CHECK_NEAR(f.x[TRUST_same_best], 1, 0);
    p.n_found = 0;                      /* the best token is not known */
    learned_features(&v, &row, &p, &f);
    CHECK_NEAR(f.x[TRUST_same_best], 0, 0);
    voters_release(&v);
}

/* ---- a row --------------------------------------------------------------- */

/* A network that always gives the memory this weight, and all neighbors the
 * same share. */
static struct trust constant_weight(double weight)
{
    struct trust t = { .mean = { 0 } };

    t.w[TRUST_AT_O_BIAS] = (float)log(weight / (1 - weight));
    return t;
}

/* Let the mixer with this network mix one row; votes for one token abstain. The
 * row is near two keys of one pair, with the tokens 14 and 13; the probability
 * of token 14 is 1/2. Returns the mixer, which owns the arrays of *out. */
static struct mixer *mix_one(const struct trust *t, int32_t abstaining,
                             struct mixture *out)
{
    static _Alignas(64) float hidden[D];
    static const int32_t target[] = { 14, 13 }, slot_token[] = { 0 };
    static const int32_t slots[] = { 0 }, *const path[] = { slots };
    static const int n_tokens[] = { 0 };
    struct fixed_rows f = fixed_rows(hidden, D, 1);
    struct mixer_rows in = { .x = &f.x, .n = 1, .n_tokens = n_tokens,
                             .path = path, .slot_token = slot_token };
    struct system_options o = { .k = 8, .weigh = { .tau = 50 },
                                .eos = abstaining, .eos_abstains = true,
                                .model_tau = 50, .trust = t };
    struct system_sentence s = { .rows = 1, .nbest = 1, .max_len = 4 };
    struct system_pair pair = { .keys = keys_of(target, 2),
                                .similarity = 0.5f };
    struct token_logit best = { .token = 14 };
    float logit[] = { 2, 1 };
    struct projection p = { .n_best = 1, .best = &best, .n_found = 1,
                            .listed_logit = logit, .max = 2, .sum = 2 };
    struct mixer *m = NULL;
    struct err e;

    *out = (struct mixture){ .keep = 1 };
    CHECK_OK(learned_system.sentence_new(&m, &o, &s, &e), &e);
    CHECK_OK(learned_system.prepare(m, NULL, &pair, 1, &e), &e);
    pair_keys_drop(pair.keys);
    CHECK_OK(m->ops->list(m, &in, out, &e), &e);
    CHECK_INT(out->n, 2);
    p.n_listed = out->n;
    p.listed = out->token;
    m->ops->mix(m, &in, &p, out);
    return m;
}

/* A network that gives the row of mix_one this weight in search: the pair has
 * no source that could agree with the sentence, its similarity is 0.5, and the
 * entropy of the model is log 2. */
static struct trust weight_in_search(double weight)
{
    struct trust t = constant_weight(weight);

    t.w[TRUST_AT_O_BIAS] -= (float)(0.75 - 2 * 0.5 + 2 * (0.4 - log(2) / 4) +
                                    0.5 - 0.4);
    return t;
}

TEST(a_row_gets_the_weight_of_the_network)
{
    struct trust t = weight_in_search(0.4);
    struct mixture out;
    struct mixer *m = mix_one(&t, EOS, &out);

    CHECK_INT(out.n, 2);
    CHECK_NEAR(out.keep, 0.6, 1e-6);
    CHECK_NEAR(out.add[0], 0.2, 1e-6);
    CHECK_NEAR(out.add[1], 0.2, 1e-6);
    CHECK(out.n_guesses > 0);
    m->ops->free(m);
}

/* Of two neighbors one abstains: its half of the weight goes to the model. If
 * what is left is tiny, the row is left alone. */
TEST(the_share_of_a_neighbor_that_abstains_goes_to_the_model)
{
    struct trust t = weight_in_search(0.4);
    struct mixture out;
    struct mixer *m = mix_one(&t, 13, &out);

    CHECK_INT(out.n, 2);
    CHECK_NEAR(out.keep, 0.8, 1e-6);
    CHECK(out.token[0] == 14 && out.token[1] == 13);
    CHECK_NEAR(out.add[0], 0.2, 1e-6);
    CHECK(out.add[1] == 0);
    CHECK(out.n_guesses == 1 && out.guesses[0].token == 14);
    m->ops->free(m);
    t = weight_in_search(0.039);
    m = mix_one(&t, 13, &out);
    CHECK(out.keep == 1 && out.n == 0);
    m->ops->free(m);
}

TEST(a_row_with_a_tiny_weight_is_left_alone)
{
    static const double weights[] = { 0.0199, 1e-6 };
    struct trust t;
    struct mixture out;
    struct mixer *m;

    for (size_t i = 0; i < COUNT(weights); i++) {
        t = weight_in_search(weights[i]);
        m = mix_one(&t, EOS, &out);
        CHECK(out.keep == 1 && out.n == 0);
        m->ops->free(m);
    }
    t = weight_in_search(0.0201);
    m = mix_one(&t, EOS, &out);
    CHECK_NEAR(out.keep, 1 - 0.0201, 1e-6);
    CHECK_INT(out.n, 2);
    m->ops->free(m);
}

TEST(a_mixer_needs_a_network_and_few_neighbors)
{
    struct trust t = constant_weight(0.5);
    struct system_options o = { .k = 8, .weigh = { .tau = 50 },
                                .model_tau = 50 };
    struct system_sentence s = { .rows = 1, .nbest = 1, .max_len = 4 };
    struct mixer *m;
    struct err e;

    CHECK_INT(learned_system.sentence_new(&m, &o, &s, &e), ST_ARGUMENT);
    CHECK(!m && strstr(e.msg, "needs a network"));
    o.trust = &t;
    o.k = TRUST_NEIGHBORS + 1;
    CHECK_INT(learned_system.sentence_new(&m, &o, &s, &e), ST_ARGUMENT);
    CHECK(!m);
}

/* ---- explanations -------------------------------------------------------- */

/* A mixer that passes all calls on to another, and keeps the mixture of each
 * step of a greedy search. */
struct watcher {
    struct mixer mixer;         /* must be the first member */
    struct mixer *of;
    struct system_seen seen[SUITE_LEN];
    int steps;
};

static struct mixer *watched(struct mixer *m)
{
    return ((struct watcher *)(void *)m)->of;
}

static enum status watch_list(struct mixer *m, const struct mixer_rows *in,
                              struct mixture *out, struct err *e)
{
    return watched(m)->ops->list(watched(m), in, out, e);
}

static void watch_mix(struct mixer *m, const struct mixer_rows *in,
                      const struct projection *p, struct mixture *out)
{
    struct watcher *w = (struct watcher *)(void *)m;
    struct system_seen *s;

    watched(m)->ops->mix(watched(m), in, p, out);
    if (!CHECK(in->n == 1 && in->n_tokens[0] < SUITE_LEN)) return;
    s = &w->seen[in->n_tokens[0]];
    s->keep = (double)out->keep;
    s->n = out->n;
    for (int i = 0; i < out->n; i++) {
        s->token[i] = out->token[i];
        s->add[i] = out->add[i];
    }
    w->steps++;
}

static enum status watch_explain(struct mixer *m,
                                 const struct mixer_reading *in, struct err *e)
{
    return watched(m)->ops->explain(watched(m), in, e);
}

static void watch_end(struct mixer *m) { watched(m)->ops->end(watched(m)); }

static const struct mixer_ops watch_ops = {
    .list = watch_list, .mix = watch_mix, .explain = watch_explain,
    .end = watch_end };

/* A network whose weight depends on all features. */
static struct trust varied_network(void)
{
    struct trust t;
    uint64_t state = 5;

    for (int i = 0; i < TRUST_PARAMS; i++)
        t.w[i] = (float)(tiny_next(&state) % 2001) / 1000 - 1;
    for (int i = 0; i < TRUST_FEATURES; i++) t.mean[i] = 0.25f;
    return t;
}

/* The weight and the votes are those of the mixture, and there are reasons,
 * the strongest first. */
static void check_explained(const struct explanation *why,
                            const struct system_seen *seen)
{
    CHECK_NEAR(why->weight, 1 - seen->keep, 1e-5);
    CHECK_INT(why->n > 0, seen->n > 0);
    for (int i = 0; i < seen->n; i++) {
        double share = 0;

        for (int k = 0; k < why->n; k++)
            if (why->votes[k].token == seen->token[i])
                share += (double)why->votes[k].share;
        CHECK_NEAR(share * (double)why->weight, seen->add[i], 1e-5);
    }
    CHECK_INT(why->n_reasons, EXPLANATION_REASONS);
    for (int i = 0; i < why->n_reasons; i++) {
        CHECK(why->reasons[i].text[0]);
        CHECK(!i || fabsf(why->reasons[i].effect) <=
                    fabsf(why->reasons[i - 1].effect));
    }
}

static struct mixer *varied_mixer(const struct system_fix *f)
{
    struct trust t = varied_network();
    struct system_options o = system_suite_options(f->backend);
    struct system_sentence s = { .rows = 1, .nbest = 1, .max_len = SUITE_LEN,
                                 .explain = true };
    struct mixer *m = NULL;
    struct err e;

    o.trust = &t;
    o.k = TRUST_NEIGHBORS;
    if (CHECK_OK(learned_system.sentence_new(&m, &o, &s, &e), &e))
        CHECK_OK(learned_system.prepare(m, NULL, f->pairs, SYSTEM_PAIRS, &e),
                 &e);
    return m;
}

/* A greedy search whose first tokens are given. */
static struct job *search_after(const struct backend *b, struct mixer *m,
                                const int32_t *prefix, int n)
{
    struct batch_limits l = { .lanes = 1, .rows = 1, .max_beam = 1,
                              .max_source = SUITE_LEN, .max_len = SUITE_LEN };
    struct search_options o = { .beam = 1, .nbest = 1, .explain = true,
                                .max_len_b = SUITE_LEN };
    const int32_t ids[] = { suite_token(b, 2), suite_token(b, 5),
                            b->cfg->eos_id };
    struct job *j = NULL, *done;
    struct batch *batch = NULL;
    struct err e;

    CHECK_OK(batch_new(&batch, b, &l, NULL, &e), &e);
    CHECK_OK(job_new(&j, &o, b->max_pos, ids, COUNT(ids), prefix, n, &e), &e);
    j->mixer = m;
    CHECK_OK(batch_add(batch, &j, 1, &e), &e);
    while (batch_busy_lanes(batch))
        if (!CHECK_OK(batch_step(batch, &done, &e), &e)) break;
    batch_free(batch);
    return j;
}

/* Replace the first pair of f by the sentence of search_after and what the
 * model makes of it, so that the model's best token is often the neighbor's. */
static void store_translation(struct system_fix *f, int32_t *target, int n)
{
    const struct backend *b = f->backend;
    const int32_t ids[] = { suite_token(b, 2), suite_token(b, 5),
                            b->cfg->eos_id };
    struct key_builder_options ko = { .rows = 64, .type = KEY_F32 };
    struct job *plain = search_after(b, NULL, NULL, 0);
    struct key_pair p = { ids, COUNT(ids), target, n, NULL };
    struct key_builder *kb = NULL;
    struct err e;

    REQUIRE(plain->hyps[0].n >= n);
    memcpy(target, plain->hyps[0].tokens, (size_t)n * sizeof *target);
    if (CHECK_OK(key_builder_new(&kb, b, NULL, &ko, &e), &e))
        CHECK_OK(key_builder_run(kb, &p, 1, &e), &e);
    f->mixer->ops->end(f->mixer);
    pair_keys_drop(f->pairs[0].keys);
    f->pairs[0].keys = p.keys;
    /* The corrections hold the keys of the same pairs. */
    pair_keys_drop(f->online->pairs[0]->keys);
    f->online->pairs[0]->keys = pair_keys_hold(p.keys);
    key_builder_free(kb);
    job_free(plain);
}

/* Also where the token was given, and where the search had to end. */
TEST(explanations_are_the_mixtures_of_the_search)
{
    struct tiny to = TINY_DEFAULT;
    int32_t target[SYSTEM_TARGET];
    struct system_fix f;
    struct tiny_net t;

    REQUIRE(tiny_net_open(&t, &to, DT_F32, NULL));
    system_fix_open(&f, &learned_system, t.backend);
    store_translation(&f, target, SYSTEM_TARGET);
    for (int n_prefix = 0; n_prefix <= 3; n_prefix += 3) {
        struct watcher w = { .mixer = { &watch_ops, true } };
        struct job *j;

        w.of = varied_mixer(&f);
        REQUIRE(w.of);
        j = search_after(t.backend, &w.mixer, target, n_prefix);
        CHECK(j->n_hyps == 1 && j->hyps[0].n > 3);
        CHECK_INT(w.steps, j->hyps[0].n);
        for (int i = 0; i < j->hyps[0].n; i++) {
            struct explanation why = w.of->ops->explanation(w.of, 0, i);

            check_explained(&why, &w.seen[i]);
        }
        job_free(j);
        w.of->ops->free(w.of);
    }
    system_fix_close(&f);
    tiny_net_close(&t);
}

/* ---- the option ---------------------------------------------------------- */

static void check_refused(skmt_options *o, const char *value, skmt_status want,
                          const char *message)
{
    skmt_error e;

    CHECK_INT(skmt_options_set(o, "trust", value, &e), want);
    CHECK(strstr(e.message, message));
    CHECK(!strchr(e.message, '\n'));
}

TEST(the_option_takes_only_sound_networks)
{
    struct trust t = varied_network();
    char text[TRUST_TEXT], bad[TRUST_TEXT];
    skmt_options *o;
    skmt_error e;

    trust_write(&t, 1, text);
    REQUIRE(!skmt_options_new(&o, &e));
    CHECK_INT(skmt_options_set(o, "trust", text, &e), SKMT_OK);
    strcpy(bad, text);
    bad[100] ^= 1;
    check_refused(o, bad, SKMT_ERR_FORMAT, "damaged");
    strcpy(bad, text);
    bad[0] = '3';
    check_refused(o, bad, SKMT_ERR_VERSION, "a form that this version");
    strcpy(bad, text);
    memcpy(bad + 19, "00000000", 8);
    check_refused(o, bad, SKMT_ERR_VERSION, "other features");
    CHECK_STR(skmt_options_get(o, "trust"), text);      /* as before */
    CHECK_INT(skmt_options_set(o, "trust", "default", &e), SKMT_OK);
    CHECK_STR(skmt_options_get(o, "trust"), "default");
    skmt_options_free(o);
}

static int ignore_result(void *user, uint64_t number, skmt_result *r,
                         const skmt_error *err)
{
    (void)user;
    (void)number;
    (void)r;
    (void)err;
    return 0;
}

/* Make a session and a stream with the network of this model checksum. */
static skmt_status try_network_of(const skmt_model *model, uint64_t of)
{
    struct trust t = varied_network();
    char text[TRUST_TEXT];
    skmt_session *session = NULL;
    skmt_stream *stream = NULL;
    skmt_options *o = NULL;
    skmt_status st, other;
    skmt_error e;

    trust_write(&t, of, text);
    CHECK_INT(skmt_options_new(&o, &e), SKMT_OK);
    CHECK_INT(skmt_options_set(o, "trust", text, &e), SKMT_OK);
    st = skmt_session_new(&session, model, o, &e);
    if (st) CHECK(strstr(e.message, "another model"));
    other = skmt_stream_new(&stream, model, o, ignore_result, NULL, &e);
    CHECK_INT(st, other);
    skmt_session_free(session);
    skmt_stream_free(stream);
    skmt_options_free(o);
    return st;
}

TEST(a_network_of_another_model_is_refused)
{
    struct tiny to = TINY_DEFAULT;
    struct tiny_net t;
    skmt_model *model;
    skmt_error e;

    REQUIRE(tiny_net_write(&t, &to, DT_I8));
    REQUIRE(!skmt_model_open(&model, tiny_net_file(&t, "m.skmt"), &e));
    CHECK_INT(try_network_of(model, 12345), SKMT_ERR_VERSION);
    CHECK_INT(try_network_of(model, 0), SKMT_OK);       /* of any model */
    skmt_model_close(model);
    tiny_net_close(&t);
}

/* ---- the sources of pair and sentence ------------------------------------ */

static void check_place(const struct voters *v, int pair, int pos,
                        const float *weights, double aligned, double focus,
                        double shared)
{
    struct neighbor nb = { .pair = pair, .pos = pos };
    struct voters_place p = voters_place(v, &nb, weights);

    CHECK_NEAR(p.aligned, aligned, 1e-6);
    CHECK_NEAR(p.focus, focus, 1e-6);
    CHECK_NEAR(p.shared, shared, 1e-6);
}

/* Weights are relative to those of all pieces, without EOS. */
TEST(a_place_is_what_neighbor_and_row_attend_to)
{
    static const float at_end[] = { 0.1f, 0, 0.9f }, other[] = { 0, 1, 0 };
    struct voters v = two_pairs(false);

    check_place(&v, 0, 3, attention, 1, 2 / 3.0, 0.625 / 0.75);
    check_place(&v, 0, 4, attention, 0.5, 1 / 3.0, 0.625 / 0.75);
    check_place(&v, 0, 1, attention, 0, 0, 0.625 / 0.75);
    check_place(&v, 1, 1, attention, 1, 1 / 3.0, 1 / 3.0);
    check_place(&v, 1, 3, attention, 0, 0, 1 / 3.0);
    check_place(&v, 1, 0, attention, 0, 0, 1 / 3.0);    /* was cut */
    check_place(&v, 0, 3, other, 1, 0, 0.5);
    check_place(&v, 1, 1, other, 1, 1, 1);
    /* Little weight on pieces means little. */
    check_place(&v, 0, 3, at_end, 1, 0.4, 0.4);
    v.pairs[0].n_match = 0;
    check_place(&v, 0, 3, attention, 0, 0, 0);
    voters_release(&v);
}

/* A prefix is left out, too. */
TEST(a_place_does_not_count_special_tokens)
{
    static const float weights[] = { 0.25f, 0.25f, 0.5f };
    struct system_options o = { .k = 8, .weigh = { .tau = 50 }, .eos = EOS,
                                .model_tau = 50 };
    struct system_sentence s = { .rows = 1, .nbest = 1, .max_len = 4,
                                 .source = sentence, .n_source = 3,
                                 .n_prefix = 1, .n_suffix = 1 };
    struct system_pair pair = { .keys = keys_of(first_target, 2),
                                .similarity = 0.5f, .match = second_match,
                                .same_word = second_words, .n_match = 2 };
    struct voters v;
    struct err e;

    CHECK_OK(voters_init(&v, &o, &s, TRUST_NEIGHBORS, &e), &e);
    CHECK_OK(voters_prepare(&v, &pair, 1, &e), &e);
    pair_keys_drop(pair.keys);
    check_place(&v, 0, 0, weights, 1, 1, 1);
    voters_release(&v);
}

/* ---- votes that contradict ----------------------------------------------- */

/* How many of the neighbors { 13 of pair 0, 14 of pair 1 } vote. */
static int count_votes(const struct voters *v, const float *weights,
                       bool search)
{
    const struct neighbor nb[] = { found_four[2], found_four[0] };
    struct learned_row row;

    learned_choose(v, nb, 2, &said_three, weights, search, &row);
    CHECK(row.n >= 1 && row.n_tokens == row.n);
    CHECK_INT(row.nb[row.n - 1].token, 13);
    CHECK_INT(row.token[row.n - 1], 13);
    CHECK(row.aligned[row.n - 1] == 1 && row.context[row.n - 1] == 3);
    return row.n;
}

/* Token 14 of pair 1 translates a word that the sentence does not have, and the
 * row one that the pair does not have. */
TEST(votes_that_contradict_are_left_out_in_search)
{
    static const float at_shared[] = { 0.05f, 0.9f, 0.05f };
    struct voters v = two_pairs(false);

    CHECK_INT(count_votes(&v, attention, true), 2);     /* not similar */
    v.similarity[1] = 0.59f;
    CHECK_INT(count_votes(&v, attention, true), 2);
    v.similarity[1] = 0.6f;
    CHECK_INT(count_votes(&v, attention, true), 1);
    CHECK_INT(count_votes(&v, attention, false), 2);    /* training */
    /* The row translates a word that the pair has. */
    CHECK_INT(count_votes(&v, at_shared, true), 2);
    voters_release(&v);
}

/* The neighbor translates a word of the sentence, or more than half of it. */
TEST(votes_for_words_of_the_sentence_do_not_contradict)
{
    static const struct { float same_word; int votes; } c[] = {
        { 1, 2 }, { 0.61f, 2 }, { 0.59f, 1 }, { 0.5f, 1 } };
    float words[2] = { 0, 0 };
    static const int32_t match[] = { 1, 0 };
    struct voters v = two_pairs(false);

    v.similarity[1] = 0.9f;
    v.pairs[1].match = match;
    v.pairs[1].same_word = words;
    for (size_t i = 0; i < COUNT(c); i++) {
        words[1] = c[i].same_word;
        CHECK_INT(count_votes(&v, attention, true), c[i].votes);
    }
    voters_release(&v);
}

/* Two rows that are near the same keys and attend to different words: only the
 * second one translates a word that the pair has. */
TEST(each_row_has_its_own_attention)
{
    static _Alignas(64) float hidden[2 * D];
    static const float weights[2][4] = { { 1, 0, 0, -1 }, { 0, 1, 0, -1 } };
    static const int32_t target[] = { 14 }, slot_token[] = { 0 };
    static const int32_t slots[] = { 0 }, *const path[] = { slots, slots };
    static const int n_tokens[] = { 0, 0 };
    struct trust t = constant_weight(0.5);
    struct fixed_rows f = fixed_rows(hidden, D, 2);
    struct mixer_rows in = { .x = &f.x, .n = 2, .n_tokens = n_tokens,
                             .path = path, .slot_token = slot_token };
    struct system_options o = { .k = 8, .weigh = { .tau = 50 }, .eos = EOS,
                                .model_tau = 50, .trust = &t };
    struct system_sentence s = { .rows = 2, .nbest = 1, .max_len = 4,
                                 .source = sentence, .n_source = 3,
                                 .n_suffix = 1 };
    struct system_pair pair = { .keys = keys_of(target, 1),
                                .similarity = 0.9f, .match = second_match,
                                .same_word = second_words, .n_match = 2 };
    struct mixture out[2] = { { .keep = 1 }, { .keep = 1 } };
    struct mixer *m = NULL;
    struct err e;

    f.attention = weights[0];
    f.attention_ld = 4;
    pair_keys_put_from(pair.keys, 0, 1);
    REQUIRE_OK(learned_system.sentence_new(&m, &o, &s, &e), &e);
    CHECK(mixer_want(m));
    CHECK_OK(learned_system.prepare(m, NULL, &pair, 1, &e), &e);
    pair_keys_drop(pair.keys);
    CHECK_OK(m->ops->list(m, &in, out, &e), &e);
    CHECK_INT(out[0].n, 0);
    CHECK_INT(out[1].n, 1);
    m->ops->free(m);
}

/* ---- comparing sources --------------------------------------------------- */

struct tiny_engine { struct tiny_net t; struct engine *en; };

static bool tiny_engine_open(struct tiny_engine *m)
{
    struct tiny to = TINY_DEFAULT;
    struct err e;

    to.max_positions = 512;
    return tiny_net_write(&m->t, &to, DT_I8) &&
           CHECK_OK(engine_open(&m->en, tiny_net_file(&m->t, "m.skmt"), &e),
                    &e);
}

static void tiny_engine_close(struct tiny_engine *m)
{
    engine_close(m->en);
    tiny_net_close(&m->t);
}

/* Compare a source with a sentence that has the pieces of another text. */
static struct steering_pair compared(const struct engine *en,
                                     const char *source, const char *text)
{
    struct steering_pair pair = { 0 };
    struct pieces p = { 0 };
    int32_t src[1000];
    struct err e;

    CHECK_OK(subword_encode(en->w->src_subword, text, strlen(text), &p, &e),
             &e);
    CHECK(p.n <= COUNT(src));
    for (size_t i = 0; i < p.n && i < COUNT(src); i++) src[i] = p.at[i].id;
    CHECK_OK(steering_pair_compare(en, str_of(source), src, (int)p.n, &pair,
                                   &e), &e);
    pieces_release(&p);
    return pair;
}

static int count_matched(const struct steering_pair *p)
{
    int n = 0;

    for (int i = 0; i < p->match.n; i++) n += p->match.token[i] >= 0;
    return n;
}

TEST(sources_are_compared_piece_by_piece)
{
    struct tiny_engine m;
    struct steering_pair p;
    char longer[1501] = "";
    int n;

    REQUIRE(tiny_engine_open(&m));
    p = compared(m.en, "the house and in", "the house and in");
    n = p.match.n;
    CHECK(n > 3 && p.n_foreign == 0);
    CHECK_INT(count_matched(&p), n);
    steering_pair_release(&p);
    p = compared(m.en, "the house and in", "");
    CHECK(p.match.n == n && p.n_foreign > 0 && p.n_foreign <= n);
    CHECK_INT(count_matched(&p), 0);
    steering_pair_release(&p);
    /* A word in the middle differs: the rest still agrees. */
    p = compared(m.en, "the house and in", "the 7 and in");
    CHECK(count_matched(&p) > 0 && count_matched(&p) < n);
    CHECK(p.match.token[0] == 0 && p.match.token[n - 1] > 0);
    CHECK(p.match.same_word[0] == 1 && p.match.same_word[n - 1] == 1);
    CHECK(p.n_foreign > 0);
    steering_pair_release(&p);
    for (int i = 0; i < 500; i++) memcpy(longer + 3 * i, "in ", 3);
    p = compared(m.en, longer, "in");
    CHECK_INT(p.match.n, PAIR_PIECES);
    steering_pair_release(&p);
    tiny_engine_close(&m);
}

/* ---- samples ------------------------------------------------------------- */

/* Add a text `times` times, with n pairs that are all alike. */
static struct trust_samples samples_with(const struct engine *en,
                                         const char *target,
                                         struct similar_pair pair, int n,
                                         int times)
{
    struct similar_pair pairs[8] = { pair, pair, pair, pair,
                                     pair, pair, pair, pair };
    struct trust_samples s = { 0 };
    struct trust_trainer *t = NULL;
    struct shared_keys *keys = NULL;
    struct options o;
    struct err e;

    options_defaults(&o);
    CHECK_OK(shared_keys_new(&keys, en, &o, NULL, &e), &e);
    CHECK_OK(trust_trainer_new(&t, en, &o, keys, &e), &e);
    for (int i = 0; i < times; i++)
        CHECK_OK(trust_trainer_add(t, str_of("the house"), str_of(target),
                                   pairs, n, &s, &e), &e);
    trust_trainer_free(t);
    shared_keys_free(keys);
    return s;
}

static struct trust_samples samples_of(const struct engine *en,
                                       const char *target, double similarity)
{
    struct similar_pair pair = { str_of("the house"), str_of("the and in"),
                                 similarity };

    return samples_with(en, target, pair, 1, 1);
}

TEST(each_token_is_a_step_and_eos_unless_the_text_was_cut)
{
    struct tiny_engine m;
    struct trust_samples s;
    struct pieces p = { 0 };
    char longer[1501] = "";
    struct err e;

    REQUIRE(tiny_engine_open(&m));
    CHECK_OK(subword_encode(m.en->w->src_subword, "the and", 7, &p, &e), &e);
    s = samples_of(m.en, "the and", 0.5);
    CHECK_INT(s.n, p.n + 1);
    trust_samples_release(&s);
    pieces_release(&p);
    for (int i = 0; i < 500; i++) memcpy(longer + 3 * i, "in ", 3);
    s = samples_of(m.en, longer, 0.5);
    CHECK_INT(s.n, PAIR_PIECES);
    trust_samples_release(&s);
    s = samples_of(m.en, "the and", NAN);
    CHECK(s.n && s.at[0].f.x[TRUST_similarity] == 0);
    trust_samples_release(&s);
    s = samples_of(m.en, "the and", 7);
    CHECK(s.n && s.at[0].f.x[TRUST_similarity] == 1);
    trust_samples_release(&s);
    tiny_engine_close(&m);
}

/* The most neighbors of n steps. */
static int most_neighbors(const struct trust_sample *at, size_t n)
{
    int most = 0;

    for (size_t i = 0; i < n; i++) if (at[i].f.n > most) most = at[i].f.n;
    return most;
}

/* A pair has two keys, one for EOS. With eight pairs there are as many
 * neighbors as the network sees; then come the same steps with the first one,
 * two or four pairs. */
TEST(each_text_is_learned_with_few_pairs_too)
{
    struct similar_pair pair = { str_of("the house"), str_of("the"), 0.5 };
    struct trust_samples s;
    struct tiny_engine m;
    size_t n;

    REQUIRE(tiny_engine_open(&m));
    s = samples_with(m.en, "the and", pair, 1, 1);
    n = s.n;                            /* with one pair, only once */
    CHECK_INT(most_neighbors(s.at, n), 2);
    trust_samples_release(&s);
    s = samples_with(m.en, "the and", pair, 8, 4);
    REQUIRE(s.n == 8 * n);
    for (size_t i = 0; i < 4; i++) {
        const struct trust_sample *all = s.at + 2 * i * n, *few = all + n;

        CHECK_INT(most_neighbors(all, n), 8);
        CHECK_INT(most_neighbors(few, n), 2 << i % 3);
        for (size_t k = 0; k < n; k++)
            CHECK(all[k].model == few[k].model);
    }
    trust_samples_release(&s);
    s = samples_with(m.en, "the and", pair, 2, 3);
    CHECK_INT(s.n, 4 * n);              /* 2 and 1, 2, 2 pairs */
    trust_samples_release(&s);
    tiny_engine_close(&m);
}

/* No word of the pair is in the sentence, but it is similar: search would leave
 * out all its votes. */
TEST(training_sees_votes_that_contradict)
{
    struct similar_pair pair = { str_of("in"), str_of("the"), 0.9 };
    struct trust_samples s;
    struct tiny_engine m;

    REQUIRE(tiny_engine_open(&m));
    s = samples_with(m.en, "the and", pair, 1, 1);
    CHECK_INT(most_neighbors(s.at, s.n), 2);
    CHECK(s.n && s.at[0].f.x[TRUST_aligned] == 0 &&
          s.at[0].f.x[TRUST_shared] == 0);
    trust_samples_release(&s);
    tiny_engine_close(&m);
}
