/* sk.c - the mixer of SK-MT ("Simple and Scalable Nearest Neighbor Machine
 * Translation"): searches a sentence's datastore at every step and turns the
 * nearest entries into votes and guesses. The datastore is filled by the engine
 * before the sentence enters the batch.
 *
 * Invariants:
 *   - sentences[lane] is NULL when the lane is free or its sentence has no
 *     memory.
 *   - nb and votes of row r belong to the last step only. */
#include "knn/sk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "knn/repeat.h"

struct sk {
    struct mixer mixer;         /* must be the first member */
    struct sk_options o;
    const struct kernels *kn;
    int lanes, rows;
    struct sk_sentence **sentences;     /* [lanes] borrowed */
    struct neighbor *nb;        /* [rows, k] of the last step */
    struct knn_mixture *votes;  /* [rows] of the last step */
};

static struct sk *sk_of(struct mixer *mx) { return (struct sk *)(void *)mx; }

static enum status sk_begin(struct mixer *mx, int lane, void *mixer_data,
                            struct err *e)
{
    struct sk *sk = sk_of(mx);

    (void)e;
    assert(lane >= 0 && lane < sk->lanes && !sk->sentences[lane]);
    sk->sentences[lane] = mixer_data;
    return ST_OK;
}

/* An estimate of the probability that the translation continues like the pair.
 * It rises linearly with the pair's similarity, up to 0.92. This follows a
 * measurement on law and IT texts (greedy search, 200 sentences each): a third
 * of the guesses were right where the similarity was below 0.2, 70 % from 0.2
 * to 0.4, and 90 % above. If the similarity is not known, 0.3 is assumed. */
static float sk_follow_probability(const struct sk_sentence *s,
                                   const struct neighbor *nb)
{
    float sim = s->similarity ? s->similarity[nb->pair] : 0.3f;

    return fminf(0.92f, 0.15f + 1.8f * sim);
}

static struct guess guess_of(const struct sk_sentence *s,
                             const struct neighbor *nb)
{
    struct guess g = { .token = nb->token,
                       .likely = sk_follow_probability(s, nb) };

    g.n = datastore_ahead(&s->store, nb, &g.ahead);
    return g;
}

/* Add a guess for each token that got a vote: the continuation of the nearest
 * pair that voted for it. */
static void add_guesses(const struct sk_sentence *s,
                        const struct neighbor *nb, int n, struct mix *out)
{
    for (int i = 0; i < n && out->n_guesses < MIX_GUESSES; i++) {
        int k = 0;

        while (k < out->n_guesses && out->guesses[k].token != nb[i].token)
            k++;
        if (k == out->n_guesses)
            out->guesses[out->n_guesses++] = guess_of(s, &nb[i]);
    }
}

/* Guess that the translation begins like the best pair. This is right less
 * often than a guess that it continues like the pair. */
static void sk_first(struct mixer *mx, int lane, struct guess *out)
{
    const struct sk_sentence *s = sk_of(mx)->sentences[lane];
    /* The position before the first token of the best pair. */
    const struct neighbor start_of_best_pair = { .pair = 0, .pos = -1 };

    if (!s || !s->store.n_pairs || !s->similarity) return;
    *out = guess_of(s, &start_of_best_pair);
    out->likely = fmaxf(0, 1.25f * s->similarity[0] - 0.25f);
}

/* Whether the vote of a neighbor counts. recent[n_recent] are the last tokens
 * of the translation so far, oldest first. */
static bool vote_counts(const struct sk *sk, const struct sk_sentence *s,
                        const int32_t *recent, int n_recent,
                        const struct neighbor *nb)
{
    if (sk->o.eos_abstains && nb->token == sk->o.eos) return false;
    return !sk->o.repeat_votes ||
           !repeats_too_often(recent, n_recent, s->store.pairs[nb->pair]->token,
                              nb->pos, sk->o.repeat_votes);
}

/* Remove the neighbors whose vote does not count from nb and v. Returns how
 * many remain. */
static int drop_votes(const struct sk *sk, const struct sk_sentence *s,
                      const int32_t *recent, int n_recent, struct neighbor *nb,
                      int n, struct knn_mixture *v)
{
    int remaining = 0;

    for (int i = 0; i < n; i++) {
        if (!vote_counts(sk, s, recent, n_recent, &nb[i])) continue;
        assert(remaining <= i);
        nb[remaining] = nb[i];
        v->share[remaining++] = v->share[i];
    }
    if (remaining < n) weigh_remaining(nb, remaining, v);
    return remaining;
}

/* Compute the votes of the n neighbors of row r. Returns how many of them
 * vote. */
static int vote_row(struct sk *sk, const struct mixer_step *in, int r,
                    struct neighbor *nb, int n)
{
    const struct sk_sentence *s = sk->sentences[in->lane[r]];
    struct knn_mixture *v = &sk->votes[r];
    int32_t recent[REPEAT_TOKENS];
    int n_recent = 0;

    weigh(nb, n, &sk->o.weigh, v);
    if (!v->n) return n;
    if (sk->o.repeat_votes)
        n_recent = mixer_last_tokens(in, r, recent, REPEAT_TOKENS);
    return drop_votes(sk, s, recent, n_recent, nb, n, v);
}

/* Compute the mixtures of rows [lo, hi), which belong to one sentence. */
static void step_rows(struct sk *sk, const struct mixer_step *in, int lo,
                      int hi, struct mix *out)
{
    const struct sk_sentence *s = sk->sentences[in->lane[lo]];
    size_t k = (size_t)sk->o.k;
    int n;

    assert(lo < hi && hi <= sk->rows);
    if (!s || !s->store.n) return;
    n = datastore_nearest(&s->store, sk->kn,
                          in->hidden + (size_t)lo * in->ld_hidden,
                          in->ld_hidden, hi - lo, sk->o.k,
                          sk->nb + (size_t)lo * k);
    for (int r = lo; r < hi; r++) {
        struct neighbor *nb = sk->nb + (size_t)r * k;
        const struct knn_mixture *v = &sk->votes[r];
        int n_votes = vote_row(sk, in, r, nb, n);

        if (!v->n) continue;
        out[r] = (struct mix){ .keep = 1 - v->lambda, .n = v->n,
                               .token = v->token, .add = v->add };
        add_guesses(s, nb, n_votes, &out[r]);
    }
}

static void sk_step(struct mixer *mx, const struct mixer_step *in,
                    struct mix *out)
{
    for (int lo = 0, hi; lo < in->rows; lo = hi) {
        for (hi = lo + 1; hi < in->rows && in->lane[hi] == in->lane[lo];) hi++;
        step_rows(sk_of(mx), in, lo, hi, out);
    }
}

/* Compute the votes on token t of a reading again, to explain it. */
static void explain_token(const struct sk *sk, const struct sk_sentence *s,
                          const struct mixer_reading *in, int t,
                          struct sk_token_votes *to)
{
    struct neighbor nb[KNN_MAX_K];
    struct knn_mixture v;
    int n_before = in->from + t, n;
    int skip = n_before > REPEAT_TOKENS ? n_before - REPEAT_TOKENS : 0;

    n = datastore_nearest(&s->store, sk->kn,
                          in->hidden + (size_t)t * in->ld_hidden,
                          in->ld_hidden, 1, sk->o.k, nb);
    weigh(nb, n, &sk->o.weigh, &v);
    if (v.n)
        n = drop_votes(sk, s, in->tokens + skip, n_before - skip, nb, n, &v);
    to->lambda = v.lambda;
    to->n = v.n ? n : 0;
    for (int i = 0; i < to->n; i++)
        to->votes[i] = (struct sk_vote){ nb[i], v.share[i] };
}

static void sk_explain(struct mixer *mx, int lane,
                       const struct mixer_reading *in)
{
    struct sk *sk = sk_of(mx);
    struct sk_sentence *s = sk->sentences[lane];

    assert(lane >= 0 && lane < sk->lanes && in->hyp >= 0 && in->from >= 0);
    if (!s || !s->votes || in->hyp >= s->hyps || !s->store.n) return;
    for (int t = 0; t < in->n && in->from + t < s->tokens; t++)
        explain_token(sk, s, in, t,
                      &s->votes[(size_t)in->hyp * (size_t)s->tokens +
                                (size_t)(in->from + t)]);
}

/* Release the keys, which are not needed any more. The votes stay. */
static void sk_end(struct mixer *mx, int lane)
{
    struct sk *sk = sk_of(mx);

    assert(lane >= 0 && lane < sk->lanes);
    if (sk->sentences[lane]) datastore_release(&sk->sentences[lane]->store);
    sk->sentences[lane] = NULL;
}

enum status sk_new(struct sk **out, const struct sk_options *o,
                   const struct kernels *kn, int lanes, int rows,
                   struct err *e)
{
    struct sk *sk = calloc(1, sizeof *sk);

    *out = NULL;
    if (o->k < 1 || o->k > KNN_MAX_K || !(o->weigh.tau > 0) ||
        o->repeat_votes < 0 || o->repeat_votes > REPEAT_MAX_LIMIT) {
        free(sk);
        return err_set(e, ST_ARGUMENT, "k must be from 1 to %d, tau above 0 "
                       "and repeat-votes from 0 to %d", KNN_MAX_K,
                       REPEAT_MAX_LIMIT);
    }
    if (sk) {
        sk->mixer = (struct mixer){ sk_begin, sk_first, sk_step, sk_explain,
                                    sk_end };
        sk->o = *o;
        sk->kn = kn;
        sk->lanes = lanes;
        sk->rows = rows;
        sk->sentences = calloc((size_t)lanes, sizeof *sk->sentences);
        sk->nb = calloc((size_t)rows * (size_t)o->k, sizeof *sk->nb);
        sk->votes = calloc((size_t)rows, sizeof *sk->votes);
    }
    if (!sk || !sk->sentences || !sk->nb || !sk->votes) {
        sk_free(sk);
        return err_nomem(e, "neighbor search");
    }
    *out = sk;
    return ST_OK;
}

void sk_free(struct sk *sk)
{
    if (!sk) return;
    free(sk->sentences);
    free(sk->nb);
    free(sk->votes);
    free(sk);
}

struct mixer *sk_mixer(struct sk *sk) { return &sk->mixer; }

/* ---- sentences ----------------------------------------------------------- */

void sk_sentence_release(struct sk_sentence *s)
{
    datastore_release(&s->store);
    free(s->similarity);
    if (s->votes) free(s->votes[0].votes);
    free(s->votes);
    memset(s, 0, sizeof *s);
}

enum status sk_sentence_alloc_votes(struct sk_sentence *s, int hyps, int tokens,
                                    int k, struct err *e)
{
    size_t n = (size_t)hyps * (size_t)tokens;
    struct sk_token_votes *tokens_votes = calloc(n ? n : 1,
                                                 sizeof *tokens_votes);
    struct sk_vote *votes = calloc(n * (size_t)k + 1, sizeof *votes);

    assert(!s->votes);
    if (!tokens_votes || !votes) {
        free(tokens_votes);
        free(votes);
        return err_nomem(e, "explanations");
    }
    for (size_t i = 0; i < n; i++)
        tokens_votes[i].votes = votes + i * (size_t)k;
    tokens_votes[0].votes = votes;      /* owns the memory of all */
    s->votes = tokens_votes;
    s->hyps = hyps;
    s->tokens = tokens;
    return ST_OK;
}
