/* sk.c - the steering system SK-MT ("Simple and Scalable Nearest Neighbor
 * Machine Translation"): searches a sentence's datastore at every step and
 * turns the nearest entries into votes, and into guesses of what follows.
 *
 * Invariants:
 *   - The datastore is empty, and similarity, nb and mixtures are NULL, before
 *     sk_prepare and after sk_end, and always in a sentence without pairs.
 *   - nb and mixtures of row i belong to the last pass only. */
#include "knn/sk.h"

#include <math.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "knn/datastore.h"
#include "knn/repeat.h"

struct sk {                     /* the mixer of a sentence */
    struct mixer mixer;         /* must be the first member */
    struct system_options o;
    struct datastore store;
    float *similarity;          /* [store.n_pairs] */
    int rows;                   /* most rows of the sentence in a pass */
    struct neighbor *nb;        /* [rows, k] of the last pass */
    struct knn_mixture *mixtures;       /* [rows] of the last pass */
    int hyps, tokens;           /* room for explanations; 0: none */
    struct explanation *why;    /* [hyps, tokens] */
    struct vote *votes;         /* [hyps, tokens, k] memory of why[].votes */
};

static struct sk *sk_of(struct mixer *m) { return (struct sk *)(void *)m; }

/* ---- votes -------------------------------------------------------------- */

/* Whether the vote of a neighbor counts. recent[n_recent] are the last tokens
 * of the translation so far, oldest first. */
static bool vote_counts(const struct sk *sk, const int32_t *recent,
                        int n_recent, const struct neighbor *nb)
{
    if (sk->o.eos_abstains && nb->token == sk->o.eos) return false;
    return !sk->o.repeat_votes ||
           !repeats_too_often(recent, n_recent,
                              sk->store.pairs[nb->pair]->token, nb->pos,
                              sk->o.repeat_votes);
}

/* Remove the neighbors whose vote does not count from nb and v. Returns how
 * many remain. */
static int drop_votes(const struct sk *sk, const int32_t *recent,
                      int n_recent, struct neighbor *nb, int n,
                      struct knn_mixture *v)
{
    int remaining = 0;

    for (int i = 0; i < n; i++) {
        if (!vote_counts(sk, recent, n_recent, &nb[i])) continue;
        assert(remaining <= i);
        nb[remaining] = nb[i];
        v->share[remaining++] = v->share[i];
    }
    if (remaining < n) weigh_remaining(nb, remaining, v);
    return remaining;
}

/* Compute the votes of the n neighbors of row i. Returns how many of them
 * vote. */
static int vote_row(struct sk *sk, const struct mixer_rows *in, int i, int n)
{
    struct neighbor *nb = sk->nb + (size_t)i * (size_t)sk->o.k;
    struct knn_mixture *v = &sk->mixtures[i];
    int32_t recent[REPEAT_TOKENS];
    int n_recent = 0;

    weigh(nb, n, &sk->o.weigh, v);
    if (!v->n) return 0;
    if (sk->o.repeat_votes)
        n_recent = mixer_last_tokens(in, i, recent, REPEAT_TOKENS);
    return drop_votes(sk, recent, n_recent, nb, n, v);
}

/* ---- guesses ------------------------------------------------------------ */

/* An estimate of the probability that the translation continues like the pair.
 * It rises linearly with the pair's similarity, up to 0.92. This follows a
 * measurement on law and IT texts (greedy search, 200 sentences each): a third
 * of the guesses were right where the similarity was below 0.2, 70% from 0.2
 * to 0.4, and 90% above. */
static float sk_follow_probability(float similarity)
{
    return fminf(0.92f, 0.15f + 1.8f * similarity);
}

/* Guess that the translation continues like this pair after position pos. */
static struct guess guess_of(const struct sk *sk, int pair, int pos,
                             int32_t token)
{
    const struct pair_keys *b = sk->store.pairs[pair];

    assert(pos >= -1 && pos < b->n);    /* -1: before the first token */
    return (struct guess){ token, b->n - pos - 1, b->token + pos + 1,
                           sk_follow_probability(sk->similarity[pair]) };
}

/* Add a guess for each token that got a vote: the continuation of the nearest
 * pair that voted for it. */
static void add_guesses(const struct sk *sk, const struct neighbor *nb, int n,
                        struct mixture *out)
{
    for (int i = 0; i < n && out->n_guesses < MIXTURE_GUESSES; i++) {
        int k = 0;

        while (k < out->n_guesses && out->guesses[k].token != nb[i].token)
            k++;
        if (k == out->n_guesses)
            out->guesses[out->n_guesses++] = guess_of(sk, nb[i].pair,
                                                      nb[i].pos, nb[i].token);
    }
}

/* Guess that the translation begins like the best pair. This is right less
 * often than a guess that it continues like the pair. */
static void sk_first(struct mixer *m, struct guess *out)
{
    const struct sk *sk = sk_of(m);

    if (!sk->store.n_pairs) return;
    *out = guess_of(sk, 0, -1, 0);
    out->likely = fmaxf(0, 1.25f * sk->similarity[0] - 0.25f);
}

/* ---- a step ------------------------------------------------------------- */

/* The weights of SK-MT do not depend on the model's probabilities, so they are
 * set here already, and there is no `mix`. */
static enum status sk_list(struct mixer *m, const struct mixer_rows *in,
                           struct mixture *out, struct err *e)
{
    struct sk *sk = sk_of(m);
    int n;
    enum status st;

    assert(in->n <= sk->rows);
    if (!sk->store.n) return ST_OK;
    st = finder_nearest(&sk->store.finder,
                        &(struct finder_query){ in->x, in->row, in->n },
                        sk->o.k, sk->nb, &n, e);
    for (int i = 0; !st && i < in->n; i++) {
        const struct knn_mixture *v = &sk->mixtures[i];
        int n_votes = vote_row(sk, in, i, n);

        if (!v->n) continue;
        out[i] = (struct mixture){ .keep = 1 - v->lambda, .n = v->n,
                                   .token = v->token, .add = v->add };
        add_guesses(sk, sk->nb + (size_t)i * (size_t)sk->o.k, n_votes,
                    &out[i]);
    }
    return st;
}

/* ---- explanations ------------------------------------------------------- */

/* Compute the votes on token t of a reading again. nb has its neighbors. */
static void explain_token(const struct sk *sk, const struct mixer_reading *in,
                          int t, struct neighbor *nb, int n)
{
    size_t at = (size_t)in->hyp * (size_t)sk->tokens + (size_t)(in->from + t);
    struct vote *votes = sk->votes + at * (size_t)sk->o.k;
    struct knn_mixture v;
    int n_before = in->from + t;
    int skip = n_before > REPEAT_TOKENS ? n_before - REPEAT_TOKENS : 0;

    weigh(nb, n, &sk->o.weigh, &v);
    if (v.n)
        n = drop_votes(sk, in->tokens + skip, n_before - skip, nb, n, &v);
    sk->why[at] = (struct explanation){ v.lambda, v.n ? n : 0, votes };
    for (int i = 0; i < sk->why[at].n; i++)
        votes[i] = (struct vote){ nb[i].pair, nb[i].pos, nb[i].token,
                                  nb[i].d2, v.share[i] };
}

static enum status sk_explain(struct mixer *m, const struct mixer_reading *in,
                              struct err *e)
{
    struct sk *sk = sk_of(m);
    struct neighbor nb[KNN_MAX_K];
    enum status st = ST_OK;

    assert(in->hyp >= 0 && in->from >= 0);
    if (in->hyp >= sk->hyps || !sk->store.n) return ST_OK;
    for (int t = 0; !st && t < in->n && in->from + t < sk->tokens; t++) {
        struct finder_query q = { in->x, in->row + t, 1 };
        int n;

        st = finder_nearest(&sk->store.finder, &q, sk->o.k, nb, &n, e);
        if (!st) explain_token(sk, in, t, nb, n);
    }
    return st;
}

static struct explanation sk_explanation(const struct mixer *m, int hyp,
                                         int pos)
{
    const struct sk *sk = (const struct sk *)(const void *)m;

    if (hyp < 0 || hyp >= sk->hyps || pos < 0 || pos >= sk->tokens)
        return (struct explanation){ 0 };
    return sk->why[(size_t)hyp * (size_t)sk->tokens + (size_t)pos];
}

/* ---- creation and destruction ------------------------------------------- */

/* Release what sk_prepare made. The votes stay. */
static void sk_end(struct mixer *m)
{
    struct sk *sk = sk_of(m);

    datastore_release(&sk->store);
    free(sk->similarity);
    free(sk->nb);
    free(sk->mixtures);
    sk->similarity = NULL;
    sk->nb = NULL;
    sk->mixtures = NULL;
}

static void sk_free(struct mixer *m)
{
    struct sk *sk = sk_of(m);

    sk_end(m);
    free(sk->why);
    free(sk->votes);
    free(sk);
}

static const struct mixer_ops sk_ops = {
    .first = sk_first, .list = sk_list, .explain = sk_explain,
    .explanation = sk_explanation, .end = sk_end, .free = sk_free,
};

/* Make room for explanations. */
static bool sk_alloc(struct sk *sk, const struct system_sentence *s)
{
    size_t n = (size_t)s->nbest * (size_t)s->max_len;

    if (!s->explain) return true;
    sk->why = calloc(n, sizeof *sk->why);
    sk->votes = calloc(n * (size_t)sk->o.k, sizeof *sk->votes);
    if (!sk->why || !sk->votes) return false;
    sk->hyps = s->nbest;
    sk->tokens = s->max_len;
    return true;
}

static enum status sk_new(struct mixer **out, const struct system_options *o,
                          const struct system_sentence *s, struct err *e)
{
    struct sk *sk;

    *out = NULL;
    if (o->k < 1 || o->k > KNN_MAX_K || !(o->weigh.tau > 0) ||
        !(o->weigh.lambda >= 0 && o->weigh.lambda <= 1) ||
        o->repeat_votes < 0 || o->repeat_votes > REPEAT_MAX_LIMIT)
        return err_set(e, ST_ARGUMENT, "k must be from 1 to %d, tau above 0, "
                       "lambda from 0 to 1 and repeat-votes from 0 to %d",
                       KNN_MAX_K, REPEAT_MAX_LIMIT);
    assert(s->rows > 0 && s->nbest > 0 && s->max_len > 0);
    sk = calloc(1, sizeof *sk);
    if (!sk) return err_nomem(e, "neighbor search");
    sk->mixer.ops = &sk_ops;
    sk->o = *o;
    sk->rows = s->rows;
    datastore_init(&sk->store);
    if (!sk_alloc(sk, s)) {
        sk_free(&sk->mixer);
        return err_nomem(e, "neighbor search");
    }
    *out = &sk->mixer;
    return ST_OK;
}

static enum status sk_prepare(struct mixer *m, void *worker,
                              const struct system_pair *pairs, int n,
                              struct err *e)
{
    struct sk *sk = sk_of(m);
    size_t rows = (size_t)sk->rows;
    enum status st = ST_OK;

    (void)worker;
    assert(!sk->store.n_pairs && !sk->nb);
    if (!n) return ST_OK;
    sk->similarity = calloc((size_t)n, sizeof *sk->similarity);
    sk->nb = calloc(rows * (size_t)sk->o.k, sizeof *sk->nb);
    sk->mixtures = calloc(rows, sizeof *sk->mixtures);
    if (!sk->similarity || !sk->nb || !sk->mixtures)
        return err_nomem(e, "neighbor search");
    for (int i = 0; !st && i < n; i++) {
        sk->similarity[i] = pairs[i].similarity;
        st = datastore_add(&sk->store, pairs[i].keys, e);
    }
    return st;
}

static const char *const sk_option_names[] = {
    "k", "tau", "adapter", "lambda", "knn-eos", "eos-votes", "repeat-votes",
    NULL
};

const struct steering_system sk_system = {
    .name = "sk",
    .title = "nearest neighbors among the states of a few similar pairs",
    .paper = "Dai et al., Simple and Scalable Nearest Neighbor Machine "
             "Translation, ICLR 2023",
    .options = sk_option_names,
    .needs = NEEDS_PAIRS,
    .sentence_new = sk_new,
    .prepare = sk_prepare,
};
