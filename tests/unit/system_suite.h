/* system_suite.h - checks that every steering system must pass (knn/system.h).
 * The keys are those that a backend computes for made-up pairs. With the
 * options of system_suite_options, the system must change some distributions.
 * All functions are static. */
#ifndef SYSTEM_SUITE_H
#define SYSTEM_SUITE_H

#include "backend_suite.h"
#include "engine/options.h"
#include "knn/entries.h"
#include "knn/key_builder.h"
#include "knn/system.h"
#include "tensor/tensor.h"

enum { SYSTEM_PAIRS = 3, SYSTEM_TARGET = 5, SYSTEM_BEAM = 3,
       SYSTEM_DRAFTS = 4, SYSTEM_HYPS = 2 };

/* The same pairs as a datastore: f16 keys of all their entries. */
enum { SYSTEM_ENTRIES = SYSTEM_PAIRS * SYSTEM_TARGET, SYSTEM_D = 64,
       SYSTEM_SOURCES = 2 * SYSTEM_PAIRS };
struct system_entries {
    struct entries s;           /* must be the first member */
    struct entry_block block;
    struct entry_span span[SYSTEM_PAIRS];
    _Alignas(64) uint16_t keys[ENTRY_PANEL][SYSTEM_D];
    float norm[ENTRY_PANEL];
    int32_t token[ENTRY_PANEL], pair[ENTRY_PANEL];
    uint16_t pos[ENTRY_PANEL];
    /* Two source tokens of each pair, those of the sentence. The first is
     * aligned to all target tokens but the last, the second to the last. */
    _Alignas(64) int8_t src_keys[SYSTEM_SOURCES][SYSTEM_D];
    float src_scale[SYSTEM_SOURCES];
    int32_t src_token[SYSTEM_SOURCES];
    uint32_t link_begin[SYSTEM_SOURCES + 1], link[SYSTEM_ENTRIES];
};

struct system_fix {             /* a mixer that is ready to decode */
    struct system_entries entries;
    struct online_view *online; /* the same pairs as corrections */
    const struct steering_system *system;
    const struct backend *backend;
    struct system_pair pairs[SYSTEM_PAIRS];
    int32_t src[SYSTEM_PAIRS][4], tgt[SYSTEM_PAIRS][SYSTEM_TARGET];
    int32_t sentence[3];        /* the source that is translated */
    void *worker;
    struct mixer *mixer;
};

/* Option pieces-normalize in system_suite_options. */
static bool suite_normalizes;

static inline struct system_options system_suite_options(
    const struct backend *b)
{
    /* A network that always gives the memory the same weight. */
    static struct trust trust = { .w = { [TRUST_AT_U + TRUST_VOTE_near] = 1,
                                         [TRUST_AT_O_BIAS] = 1 } };

    /* One that always gives the model and 1 or 2 neighbors equal weights. */
    static struct metak metak = { .k = 2, .temperature = 100, .scale = 1 };

    return (struct system_options){
        .k = 2, .eos = b->cfg->eos_id, .trust = &trust, .model_tau = 100,
        .metak = &metak, .cache = 0.01, .occurrences = 8,
        .chunk = { 4, 2, 2, 64 }, .chunk_tau = 50, .chunk_lambda = 0.4,
        .pieces_weight = 4, .pieces_normalize = suite_normalizes,
        .weigh = { .tau = 100, .adapter = ADAPTER_DISTANCE, .lambda = 0.5 } };
}

/* ---- a datastore --------------------------------------------------------- */

static inline struct entry_pair system_entry_pair(const struct entries *s,
                                                  int32_t pair)
{
    static const char *const texts[] = { "zero", "one", "two" };

    CHECK(pair >= 0 && pair < s->n_pairs);
    return (struct entry_pair){ str_of(texts[pair]), str_of(texts[pair]), pair,
                                false };
}

static inline void system_entries_free(struct entries *s) { (void)s; }

static inline void system_fix_sources(struct system_fix *f)
{
    struct system_entries *t = &f->entries;
    uint32_t n = 0;

    for (int i = 0; i < SYSTEM_SOURCES; i++) {
        t->src_keys[i][i] = 127;
        t->src_scale[i] = 1 / 127.0f;
        t->src_token[i] = f->sentence[i % 2];
        t->link_begin[i] = n;
        for (int k = 0; k < (i % 2 ? 1 : SYSTEM_TARGET - 1); k++, n++)
            t->link[n] = n;
    }
    t->link_begin[SYSTEM_SOURCES] = n;
    CHECK_INT(n, SYSTEM_ENTRIES);
}

/* Put the keys of the pairs, which are floats, into the datastore. */
static inline void system_fix_entries(struct system_fix *f)
{
    static const struct entries_ops ops = { system_entry_pair,
                                            system_entries_free };
    struct system_entries *t = &f->entries;
    int d = f->backend->d, n = 0;
    float key[SYSTEM_D];

    CHECK(d <= SYSTEM_D && pad_to(d, 32) <= SYSTEM_D);
    for (int i = 0; i < SYSTEM_PAIRS; i++) {
        t->span[i] = (struct entry_span){ (uint32_t)n, SYSTEM_TARGET };
        for (int pos = 0; pos < SYSTEM_TARGET; pos++, n++) {
            uint16_t *at = t->keys[0] + n * pad_to(d, 32);

            pair_keys_get(f->pairs[i].keys, pos, key);
            for (int k = 0; k < d; k++) {
                at[k] = f32_to_f16(key[k]);
                t->norm[n] += f16_to_f32(at[k]) * f16_to_f32(at[k]);
            }
            t->token[n] = f->tgt[i][pos];
            t->pair[n] = i;
            t->pos[n] = (uint16_t)pos;
        }
    }
    for (; n < ENTRY_PANEL; n++) t->norm[n] = INFINITY;
    system_fix_sources(f);
    t->block = (struct entry_block){
        .n = SYSTEM_ENTRIES, .keys = t->keys, .norm = t->norm,
        .token = t->token, .pair = t->pair, .pos = t->pos,
        .n_pairs = SYSTEM_PAIRS, .span = t->span, .n_src = SYSTEM_SOURCES,
        .src_keys = t->src_keys[0], .src_scale = t->src_scale,
        .src_token = t->src_token, .link_begin = t->link_begin,
        .link = t->link };
    t->s = (struct entries){
        .ops = &ops, .holders = 1, .type = ENTRY_F16, .d_model = d, .d = d,
        .blocks = &t->block, .n_blocks = 1, .n_pairs = SYSTEM_PAIRS,
        .n = SYSTEM_ENTRIES, .has_sources = true };
}

/* ---- corrections --------------------------------------------------------- */

/* Policy entries that say that the memory was right. */
static inline struct kok_block *system_policy(void)
{
    struct kok_options o = kok_options_defaults();
    struct neighbor nb[2] = { { 1, 5, 0, 0, 0 }, { 2, 5, 0, 0, 0 } };
    struct kok_block *b = NULL;
    struct err e;

    o.k = 2;
    CHECK_OK(kok_block_new(&b, 3, o.k, &e), &e);
    for (int i = 0; i < 3; i++) kok_block_put(b, &o, nb, 2, 5, 0.1);
    CHECK_INT(kok_block_count(b), 3);
    return b;
}

static inline void system_fix_online(struct system_fix *f)
{
    struct kok_block *policy = system_policy();
    struct err e;

    CHECK_OK(online_view_new(&f->online, &e), &e);
    for (int i = 0; i < SYSTEM_PAIRS; i++) {
        struct online_view *old = f->online;
        struct online_pair *p;

        CHECK_OK(online_pair_new(&p, f->pairs[i].keys, str_of("source"),
                                 str_of("target"), i, &e), &e);
        CHECK_OK(online_view_add(&f->online, old, p, i ? NULL : policy, &e),
                 &e);
        online_pair_drop(p);
        online_view_drop(old);
    }
    kok_block_drop(policy);
}

static inline void system_fix_keys(struct system_fix *f)
{
    /* Every sentence has at least two tokens. */
    static const int32_t match[] = { 0, 1, 1 };
    static const float same_word[] = { 1, 0.75f, 0.75f };
    /* The second piece is edited. It translates the third word. */
    static const uint8_t kept[] = { 1, 0, 1 };
    static const struct word_link links[] = { { 0, 0 }, { 0, 1 }, { 1, 2 },
                                              { 2, 3 }, { 2, 4 } };
    struct key_builder_options ko = { .rows = 64, .type = KEY_F32 };
    struct key_pair pairs[SYSTEM_PAIRS];
    struct key_builder *kb = NULL;
    struct err e;

    for (int i = 0; i < SYSTEM_PAIRS; i++) {
        for (int t = 0; t < 3; t++)
            f->src[i][t] = suite_token(f->backend, 10 + i + t);
        f->src[i][3] = f->backend->cfg->eos_id;
        for (int t = 0; t < SYSTEM_TARGET; t++)
            f->tgt[i][t] = suite_token(f->backend, 30 + 3 * i + t);
        pairs[i] = (struct key_pair){ f->src[i], 4, f->tgt[i], SYSTEM_TARGET,
                                      NULL };
    }
    if (CHECK_OK(key_builder_new(&kb, f->backend, NULL, &ko, &e), &e))
        CHECK_OK(key_builder_run(kb, pairs, SYSTEM_PAIRS, &e), &e);
    key_builder_free(kb);
    for (int i = 0; i < SYSTEM_PAIRS; i++)
        f->pairs[i] = (struct system_pair){
            .keys = pairs[i].keys, .similarity = 0.9f - 0.2f * (float)i,
            .match = match, .same_word = same_word, .n_match = 3,
            .kept = kept, .n_kept = 3, .target = f->tgt[i],
            .n_target = SYSTEM_TARGET, .links = links, .n_links = 5 };
}

/* Make a mixer for the first n pairs of f. */
static inline struct mixer *system_mixer(const struct system_fix *f,
                                         double lambda, bool explain, int n)
{
    struct system_options o = system_suite_options(f->backend);
    struct system_sentence s = {
        .rows = SYSTEM_BEAM + SYSTEM_DRAFTS, .nbest = SYSTEM_HYPS,
        .max_len = SUITE_LEN, .explain = explain, .source = f->sentence,
        .n_source = 3, .n_suffix = 1 };
    struct mixer *m = NULL;
    struct err e;

    o.weigh.lambda = lambda;
    o.entries = (struct entries *)(uintptr_t)&f->entries.s;
    o.online = f->online;
    if (CHECK_OK(f->system->sentence_new(&m, &o, &s, &e), &e))
        CHECK_OK(f->system->prepare(m, f->worker, f->pairs, n, &e), &e);
    return m;
}

static inline void system_fix_open(struct system_fix *f,
                                   const struct steering_system *system,
                                   const struct backend *b)
{
    struct err e;

    memset(f, 0, sizeof *f);
    f->system = system;
    f->backend = b;
    f->sentence[0] = suite_token(b, 2);
    f->sentence[1] = suite_token(b, 5);
    f->sentence[2] = b->cfg->eos_id;
    system_fix_keys(f);
    system_fix_entries(f);
    system_fix_online(f);
    if (system->worker_new)
        CHECK_OK(system->worker_new(&f->worker, b, &e), &e);
    f->mixer = system_mixer(f, 0.5, true, SYSTEM_PAIRS);
}

/* Whether the mixers have given all keys back: only the fix and its corrections
 * hold them. */
static inline bool system_keys_released(const struct system_fix *f)
{
    for (int i = 0; i < SYSTEM_PAIRS; i++)
        if (f->pairs[i].keys->refs != 2) return false;
    return true;
}

static inline void system_fix_close(struct system_fix *f)
{
    if (f->worker) f->system->worker_free(f->worker);
    /* A mixer may live longer than the worker. */
    if (f->mixer) f->mixer->ops->free(f->mixer);
    CHECK(system_keys_released(f));
    CHECK_INT(f->entries.s.holders, 1);
    CHECK_INT(f->online->holders, 1);
    online_view_drop(f->online);
    for (int i = 0; i < SYSTEM_PAIRS; i++) pair_keys_drop(f->pairs[i].keys);
}

/* A mixture is a distribution: the tokens are different, and what is kept and
 * what is added sum to 1. */
static inline void check_mixture(const struct backend *b,
                                 const struct mixture *m)
{
    double sum = (double)m->keep;

    CHECK(m->keep >= 0 && m->keep <= 1);
    CHECK(m->n >= 0 && m->n <= MIXTURE_TOKENS);
    for (int i = 0; i < m->n; i++) {
        CHECK(m->token[i] >= 0 && m->token[i] < b->vocab);
        CHECK(m->add[i] >= 0 && (!m->reward || m->reward[i] >= 0));
        sum += (double)m->add[i];
        for (int k = 0; k < i; k++) CHECK(m->token[k] != m->token[i]);
    }
    CHECK_NEAR(sum, 1, 1e-4);
    CHECK(m->n || m->keep == 1);
    CHECK(m->n_guesses >= 0 && m->n_guesses <= MIXTURE_GUESSES);
    for (int i = 0; i < m->n_guesses; i++) {
        CHECK(m->guesses[i].n >= 0);
        for (int k = 0; k < i; k++)
            CHECK(m->guesses[k].token != m->guesses[i].token);
        CHECK(m->guesses[i].likely >= 0 && m->guesses[i].likely <= 1);
    }
}

/* Run ask, the search, list, the projection and mix over n rows of the last
 * pass. */
static inline void system_mix(struct system_fix *f, struct executor *x,
                              const struct mixer_rows *in, struct mixture *out)
{
    struct projection p[SUITE_ROWS] = { 0 };
    float logit[SUITE_ROWS][MIXTURE_TOKENS];
    struct err e;

    for (int i = 0; i < in->n; i++) out[i] = (struct mixture){ .keep = 1 };
    if (f->mixer->ops->ask)
        CHECK_OK(f->mixer->ops->ask(f->mixer, in, &e), &e);
    if (f->mixer->search)
        CHECK_OK(f->mixer->search->run(f->mixer->search, x, &e), &e);
    CHECK_OK(f->mixer->ops->list(f->mixer, in, out, &e), &e);
    for (int i = 0; i < in->n; i++)
        p[i] = (struct projection){ .n_listed = out[i].n,
                                    .listed = out[i].token,
                                    .listed_logit = logit[i] };
    CHECK_OK(x->ops->project(x, in->row, in->n, p, &e), &e);
    if (f->mixer->ops->mix) f->mixer->ops->mix(f->mixer, in, p, out);
}

/* The mixtures of two hypotheses are distributions, and those of a row do not
 * depend on the rows beside it. */
static inline void suite_mixes(const struct steering_system *system,
                               const struct backend *b)
{
    struct executor *x = suite_executor(b, SUITE_SLOTS);
    struct suite_hyp h[2] = { { .lane = 0 }, { .lane = 0 } };
    struct pass_row rows[2];
    int32_t *slot_token = calloc(SUITE_SLOTS, sizeof *slot_token);
    const int32_t *path[2] = { h[0].path, h[1].path };
    struct system_fix f;
    int changed = 0;
    struct err e;

    system_fix_open(&f, system, b);
    suite_encode(x, 0, 4);
    for (int t = 0; t < 4; t++) {
        struct mixture both[2], one;
        int n_tokens[2] = { t, t };
        struct mixer_rows in = { x, 0, 2, n_tokens, path, slot_token };
        float add[MIXTURE_TOKENS];

        for (int i = 0; i < 2; i++) {
            suite_append(x, &h[i], t ? f.tgt[i][t - 1] : b->cfg->start_id);
            slot_token[h[i].path[t]] = h[i].token[t];
            rows[i] = suite_last_row(&h[i]);
        }
        CHECK_OK(x->ops->run(x, rows, 2, mixer_want(f.mixer), &e), &e);
        system_mix(&f, x, &in, both);
        check_mixture(b, &both[0]);
        check_mixture(b, &both[1]);
        one = both[1];
        changed += one.n > 0;
        if (one.n) memcpy(add, one.add, (size_t)one.n * sizeof *add);
        in = (struct mixer_rows){ x, 1, 1, n_tokens + 1, path + 1,
                                  slot_token };
        system_mix(&f, x, &in, both);
        CHECK(both[0].keep == one.keep && both[0].n == one.n);
        if (both[0].n == one.n && one.n)
            CHECK_MEM(both[0].add, add, (size_t)one.n * sizeof *add);
    }
    CHECK(changed > 0);
    f.mixer->ops->end(f.mixer);
    CHECK(system_keys_released(&f));
    system_fix_close(&f);
    executor_free(x);
    free(slot_token);
}

/* ---- explanations -------------------------------------------------------- */

/* The mixture of a row, copied. */
struct system_seen {
    double keep;
    int n;
    int32_t token[MIXTURE_TOKENS];
    float add[MIXTURE_TOKENS];
    double reward;              /* of the token that follows; -1: the mixer
                                   gives no rewards */
};

static inline double system_reward(const struct mixture *m, int32_t token)
{
    if (!m->reward) return -1;
    for (int i = 0; i < m->n; i++)
        if (m->token[i] == token) return (double)m->reward[i];
    return 0;
}

/* What is added to a token; -1 if it is not listed. */
static inline double system_added(const struct system_seen *s, int32_t token)
{
    for (int i = 0; i < s->n; i++)
        if (s->token[i] == token) return (double)s->add[i];
    return -1;
}

/* Decode the target of the first pair token by token, and copy the mixtures. */
static inline void system_watch(struct system_fix *f, struct executor *x,
                                struct system_seen *seen)
{
    int32_t slot_token[SUITE_SLOTS];
    struct suite_hyp h = { .lane = 0 };
    const int32_t *path = h.path;
    struct err e;

    for (int t = 0; t < SYSTEM_TARGET; t++) {
        struct mixer_rows in = { x, 0, 1, &t, &path, slot_token };
        struct mixture m;
        struct pass_row row;

        suite_append(x, &h, t ? f->tgt[0][t - 1] : f->backend->cfg->start_id);
        slot_token[h.path[t]] = h.token[t];
        row = suite_last_row(&h);
        CHECK_OK(x->ops->run(x, &row, 1, mixer_want(f->mixer), &e), &e);
        system_mix(f, x, &in, &m);
        seen[t].keep = (double)m.keep;
        seen[t].n = m.n;
        seen[t].reward = system_reward(&m, f->tgt[0][t]);
        CHECK(seen[t].reward <= (double)f->mixer->most_reward);
        if (m.n) memcpy(seen[t].token, m.token, (size_t)m.n * sizeof *m.token);
        if (m.n) memcpy(seen[t].add, m.add, (size_t)m.n * sizeof *m.add);
    }
}

/* Let the mixer explain this target in two parts, as translation 0. */
static inline void system_tell(const struct system_fix *f, struct executor *x)
{
    struct suite_hyp h = { .lane = 0 };
    float *out = calloc(SYSTEM_TARGET * (size_t)x->backend->d, sizeof *out);
    struct err e;

    for (int t = 0; t < SYSTEM_TARGET; t++)
        suite_append(x, &h, t ? f->tgt[0][t - 1] : f->backend->cfg->start_id);
    suite_run_part(x, &h, 0, mixer_want(f->mixer), out);
    for (int from = 0; from < SYSTEM_TARGET; from += 3) {
        int n = SYSTEM_TARGET - from < 3 ? SYSTEM_TARGET - from : 3;
        struct mixer_reading in = { x, from, n, 0, from, f->tgt[0] };

        CHECK_OK(f->mixer->ops->explain(f->mixer, &in, &e), &e);
    }
    free(out);
}

/* The pair of a vote: one of those that prepare got, or one of the mixer's own
 * list, whose id is the index of the pair. */
static inline int system_voting_pair(const struct mixer *m,
                                     const struct vote *v)
{
    struct mixer_pair p;

    return m->ops->pair && m->ops->pair(m, v->pair, &p) ? (int)p.id : v->pair;
}

/* The votes are entries of the pairs, nearest first, and their shares are those
 * of the mixture. */
static inline void check_votes(const struct system_fix *f,
                               const struct mixer *m,
                               const struct explanation *why,
                               const struct system_seen *seen)
{
    double shares = 0;

    CHECK(why->weight >= 0 && why->weight <= 1);
    CHECK(why->n >= 0 && (why->n == 0 || why->weight > 0));
    if (seen && seen->reward < 0)
        CHECK_NEAR(why->weight, 1 - seen->keep, 1e-4);
    else if (seen && f->system->needs & NEEDS_KEPT)
        CHECK_NEAR(why->weight, 1 - exp(-seen->reward), 1e-4);
    for (int i = 0; i < why->n; i++) {
        const struct vote *v = &why->votes[i];
        int pair = system_voting_pair(m, v);
        double same = 0;

        if (!CHECK(pair >= 0 && pair < SYSTEM_PAIRS && v->pos >= 0 &&
                   v->pos < SYSTEM_TARGET))
            continue;
        CHECK_INT(v->token, f->tgt[pair][v->pos]);
        CHECK(v->share > 0 && v->distance >= 0);
        CHECK(!i || v->distance >= v[-1].distance);
        shares += (double)v->share;
        for (int k = 0; k < why->n; k++)
            if (why->votes[k].token == v->token)
                same += (double)why->votes[k].share;
        if (seen && seen->reward < 0)
            CHECK((double)why->weight * same <
                  system_added(seen, v->token) + 1e-4);
    }
    CHECK(shares < 1 + 1e-4);
}

static inline bool system_unexplained(const struct mixer *m, int hyp, int pos)
{
    struct explanation why = m->ops->explanation(m, hyp, pos);

    return !(why.weight > 0) && why.n == 0;
}

/* Explanations agree with the mixtures of the search, and are the same after
 * `end`. Nothing is said on other tokens. */
static inline void suite_explains(const struct steering_system *system,
                                  const struct backend *b)
{
    struct executor *x = suite_executor(b, SUITE_SLOTS);
    struct explanation before[SYSTEM_TARGET];
    struct vote votes[SYSTEM_TARGET][KNN_MAX_K];
    struct system_seen seen[SYSTEM_TARGET];
    struct system_fix f;
    int explained = 0;

    system_fix_open(&f, system, b);
    suite_encode(x, 0, 4);
    CHECK(system_unexplained(f.mixer, 0, 0));
    system_watch(&f, x, seen);
    system_tell(&f, x);
    for (int t = 0; t < SYSTEM_TARGET; t++) {
        before[t] = f.mixer->ops->explanation(f.mixer, 0, t);
        check_votes(&f, f.mixer, &before[t], &seen[t]);
        explained += before[t].n > 0;
        for (int i = 0; i < before[t].n && i < KNN_MAX_K; i++)
            votes[t][i] = before[t].votes[i];
    }
    CHECK(explained > 0);
    f.mixer->ops->end(f.mixer);
    executor_free(x);
    for (int t = 0; t < SYSTEM_TARGET; t++) {
        struct explanation why = f.mixer->ops->explanation(f.mixer, 0, t);

        CHECK(why.weight == before[t].weight);
        CHECK_INT(why.n, before[t].n);
        if (why.n)
            CHECK_MEM(why.votes, votes[t], (size_t)why.n * sizeof **votes);
    }
    CHECK(system_unexplained(f.mixer, 0, SYSTEM_TARGET));
    CHECK(system_unexplained(f.mixer, 1, 0));
    CHECK(system_unexplained(f.mixer, 0, -1));
    CHECK(system_unexplained(f.mixer, -1, 0));
    CHECK(system_unexplained(f.mixer, 0, SUITE_LEN));
    CHECK(system_unexplained(f.mixer, SYSTEM_HYPS, 0));
    system_fix_close(&f);
}

/* ---- searches ------------------------------------------------------------ */

/* Translate a sentence that is not the source of a pair; m may be NULL. */
static inline struct job *system_search(const struct backend *b,
                                        struct mixer *m, int beam, int drafts,
                                        bool explain)
{
    struct batch_limits l = { .lanes = 1, .rows = beam, .drafts = drafts,
                              .max_beam = beam, .max_source = SUITE_LEN,
                              .max_len = SUITE_LEN };
    struct search_options o = { .beam = beam, .nbest = beam > 1 ? 2 : 1,
                                .lenpen = 0.6, .max_len_b = SUITE_LEN,
                                .early_stop = true, .explain = explain,
                                .draft = drafts };
    int32_t ids[3] = { suite_token(b, 2), suite_token(b, 5),
                       b->cfg->eos_id };
    struct job *j = NULL, *done;
    struct batch *batch = NULL;
    struct err e;

    CHECK_OK(batch_new(&batch, b, &l, NULL, &e), &e);
    CHECK_OK(job_new(&j, &o, b->max_pos, ids, 3, NULL, 0, &e), &e);
    j->mixer = m;
    CHECK_OK(batch_add(batch, &j, 1, &e), &e);
    while (batch_busy_lanes(batch))
        if (!CHECK_OK(batch_step(batch, &done, &e), &e)) break;
    batch_free(batch);
    CHECK(j->n_hyps > 0);
    return j;
}

static inline void check_same_results(const struct job *a, const struct job *b)
{
    CHECK_INT(a->n_hyps, b->n_hyps);
    for (int h = 0; h < a->n_hyps && h < b->n_hyps; h++) {
        if (!CHECK(a->hyps[h].n == b->hyps[h].n)) continue;
        CHECK_MEM(a->hyps[h].tokens, b->hyps[h].tokens,
                  (size_t)a->hyps[h].n * sizeof(int32_t));
        CHECK(a->hyps[h].score == b->hyps[h].score);
    }
}

/* Whether a token of the results is explained. */
static inline bool system_explained(const struct mixer *m, const struct job *j)
{
    for (int h = 0; h < j->n_hyps; h++)
        for (int t = 0; t < j->hyps[h].n; t++)
            if (!system_unexplained(m, h, t)) return true;
    return false;
}

/* A search is explained if this is wanted, also the second translation. The
 * results are the same otherwise. A mixer that needs pairs and has none changes
 * nothing. */
static inline void suite_explains_searches(const struct steering_system *system,
                                           const struct backend *b)
{
    bool pairs = system->needs & NEEDS_PAIRS;
    struct system_fix f;
    struct mixer *silent, *empty;
    struct job *j[4];

    system_fix_open(&f, system, b);
    silent = system_mixer(&f, 0.5, false, SYSTEM_PAIRS);
    empty = system_mixer(&f, 0.5, true, 0);
    j[0] = system_search(b, f.mixer, SYSTEM_BEAM, 0, true);
    j[1] = system_search(b, silent, SYSTEM_BEAM, 0, false);
    j[2] = system_search(b, empty, SYSTEM_BEAM, SYSTEM_DRAFTS, true);
    j[3] = system_search(b, NULL, SYSTEM_BEAM, 0, false);
    CHECK(system_keys_released(&f));
    check_same_results(j[0], j[1]);
    if (pairs) check_same_results(j[2], j[3]);
    CHECK(j[0]->hyps[0].score != j[3]->hyps[0].score);
    for (int h = 0; h < j[0]->n_hyps; h++)
        for (int t = 0; t < j[0]->hyps[h].n; t++) {
            struct explanation why = f.mixer->ops->explanation(f.mixer, h, t);

            check_votes(&f, f.mixer, &why, NULL);
        }
    CHECK(system_explained(f.mixer, j[0]));
    CHECK(!system_explained(silent, j[1]));
    CHECK(system_explained(empty, j[2]) == !pairs);
    for (int i = 0; i < 4; i++) job_free(j[i]);
    silent->ops->free(silent);
    empty->ops->free(empty);
    system_fix_close(&f);
}

/* Drafts do not change the results. Returns how many passes they save. */
static inline int suite_drafts(const struct steering_system *system,
                               const struct backend *b, double lambda)
{
    struct job *without, *with;
    struct mixer *m[2];
    struct system_fix f;
    int saved;

    system_fix_open(&f, system, b);
    for (int i = 0; i < 2; i++)
        m[i] = system_mixer(&f, lambda, true, SYSTEM_PAIRS);
    without = system_search(b, m[0], 2, 0, true);
    with = system_search(b, m[1], 2, SYSTEM_DRAFTS, true);
    check_same_results(without, with);
    saved = without->n_passes - with->n_passes;
    job_free(without);
    job_free(with);
    for (int i = 0; i < 2; i++) m[i]->ops->free(m[i]);
    system_fix_close(&f);
    return saved;
}

/* ---- options ------------------------------------------------------------- */

static inline bool system_uses(const struct steering_system *system,
                               const char *option)
{
    for (const char *const *o = system->options; *o; o++)
        if (!strcmp(*o, option)) return true;
    return false;
}

static inline void check_rejected(const struct steering_system *system,
                                  const char *option,
                                  const struct system_options *o)
{
    struct system_sentence s = { .rows = 1, .nbest = 1, .max_len = 4 };
    struct mixer *m = (struct mixer *)&s;       /* not NULL */
    struct err e;

    if (!system_uses(system, option)) return;
    CHECK_INT(system->sentence_new(&m, o, &s, &e), ST_ARGUMENT);
    CHECK(!m && e.status == ST_ARGUMENT && e.msg[0]);
}

/* The options of a system are options of steering, and values that are out of
 * range are rejected. */
static inline void suite_rejects(const struct steering_system *system,
                                 const struct backend *b)
{
    static const int ks[] = { 0, -1, KNN_MAX_K + 1 };
    static const double lambdas[] = { -0.1, 1.1, NAN }, taus[] = { 0, -1, NAN };
    struct system_options good = system_suite_options(b), o;
    struct option_info info;
    struct system_fix f;

    for (const char *const *name = system->options; *name; name++) {
        int i = 0;

        while (option_describe(OPTIONS_STEER, i, &info) &&
               strcmp(info.name, *name))
            i++;
        CHECK(option_describe(OPTIONS_STEER, i, &info));
    }
    system_fix_open(&f, system, b);
    good.entries = &f.entries.s;
    good.online = f.online;
    for (int i = 0; i < 3; i++) {
        o = good;
        o.k = ks[i];
        check_rejected(system, "k", &o);
        o = good;
        o.weigh.lambda = lambdas[i];
        check_rejected(system, "lambda", &o);
        o = good;
        o.weigh.tau = taus[i];
        check_rejected(system, "tau", &o);
    }
    o = good;
    o.repeat_votes = -1;
    check_rejected(system, "repeat-votes", &o);
    for (int i = 0; i < 2; i++) {
        o = good;
        o.pieces_weight = i ? NAN : -0.1;
        check_rejected(system, "pieces-weight", &o);
    }
    system_fix_close(&f);
}

/* A mixer that never enters a batch is only freed. */
static inline void suite_frees(const struct steering_system *system,
                               const struct backend *b)
{
    struct system_options o = system_suite_options(b);
    struct system_sentence s = { .rows = 1, .nbest = 1, .max_len = 4,
                                 .explain = true };
    struct mixer *m = NULL;
    struct system_fix f;
    struct err e;

    system_fix_open(&f, system, b);
    /* A system that needs no more than the tokens of pairs copies them. */
    CHECK(system_keys_released(&f) ==
          (!(system->needs & (NEEDS_PAIRS | NEEDS_ONLINE)) ||
           system->needs & NEEDS_KEPT));
    o.entries = &f.entries.s;
    o.online = f.online;
    CHECK_OK(system->sentence_new(&m, &o, &s, &e), &e);
    CHECK(system_unexplained(m, 0, 0));
    m->ops->free(m);
    system_fix_close(&f);
}

static inline void system_suite(const struct steering_system *system,
                                const struct backend *b)
{
    CHECK(system->name[0] && system->title[0] && system->paper[0]);
    CHECK(system->options != NULL);
    if (!system->sentence_new) return;
    suite_mixes(system, b);
    suite_explains(system, b);
    suite_explains_searches(system, b);
    CHECK(suite_drafts(system, b, 0.5) >= 0);
    suite_rejects(system, b);
    suite_frees(system, b);
}

#endif
