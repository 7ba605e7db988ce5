/* sk.c - the steering system SK-MT ("Simple and Scalable Nearest Neighbor
 * Machine Translation"): searches a sentence's datastore at every step and
 * turns the nearest entries into votes (weigh.h).
 *
 * Invariant: mixtures of row i belong to the last pass only; they exist from
 * sk_prepare to sk_end. */
#include "knn/sk.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "knn/voters.h"

struct sk {                     /* the mixer of a sentence */
    struct mixer mixer;         /* must be the first member */
    struct voters v;
    struct knn_mixture *mixtures;       /* [v.rows] of the last pass */
};

static struct sk *sk_of(struct mixer *m) { return (struct sk *)(void *)m; }

/* ---- votes -------------------------------------------------------------- */

/* Remove the neighbors whose vote does not count from nb and mix. Returns how
 * many remain. */
static int drop_votes(const struct sk *sk, const struct voters_said *said,
                      struct neighbor *nb, int n, struct knn_mixture *mix)
{
    int remaining = 0;

    for (int i = 0; i < n; i++) {
        if (!vote_counts(&sk->v, said, &nb[i])) continue;
        assert(remaining <= i);
        nb[remaining] = nb[i];
        mix->share[remaining++] = mix->share[i];
    }
    if (remaining < n) weigh_remaining(nb, remaining, mix);
    return remaining;
}

/* Compute the votes of the n neighbors of row i. Returns how many of them
 * vote. */
static int vote_row(struct sk *sk, const struct mixer_rows *in, int i, int n)
{
    struct neighbor *nb = voters_of(&sk->v, i);
    struct knn_mixture *mix = &sk->mixtures[i];
    struct voters_said said = { .n = 0 };

    weigh(nb, n, &sk->v.o.weigh, mix);
    if (!mix->n) return 0;
    if (sk->v.o.repeat_votes) voters_said_row(&said, in, i);
    return drop_votes(sk, &said, nb, n, mix);
}

/* ---- a step ------------------------------------------------------------- */

static void sk_first(struct mixer *m, struct guess *out)
{
    voters_guess_first(&sk_of(m)->v, out);
}

/* The weights of SK-MT do not depend on the model's probabilities, so they are
 * set here already, and there is no `mix`. */
static enum status sk_list(struct mixer *m, const struct mixer_rows *in,
                           struct mixture *out, struct err *e)
{
    struct sk *sk = sk_of(m);
    int n;
    enum status st = voters_find(&sk->v, in->x, in->row, in->n, &n, e);

    for (int i = 0; !st && n && i < in->n; i++) {
        const struct knn_mixture *mix = &sk->mixtures[i];
        int n_votes = vote_row(sk, in, i, n);

        if (!mix->n) continue;
        out[i] = (struct mixture){ .keep = 1 - mix->lambda, .n = mix->n,
                                   .token = mix->token, .add = mix->add };
        voters_guess(&sk->v, voters_of(&sk->v, i), n_votes, &out[i]);
    }
    return st;
}

/* ---- explanations ------------------------------------------------------- */

/* Compute the votes on token t of a reading again. */
static enum status explain_token(struct sk *sk, const struct mixer_reading *in,
                                 int t, struct err *e)
{
    struct neighbor nb[KNN_MAX_K];
    struct knn_mixture mix;
    struct voters_said said;
    int n;
    enum status st = voters_find_again(&sk->v, in->x, in->row + t, nb, &n, e);

    if (st) return st;
    weigh(nb, n, &sk->v.o.weigh, &mix);
    voters_said_token(&said, in, t);
    if (mix.n) n = drop_votes(sk, &said, nb, n, &mix);
    voters_record(&sk->v, in, t, mix.lambda, nb, mix.share, mix.n ? n : 0);
    return ST_OK;
}

static enum status sk_explain(struct mixer *m, const struct mixer_reading *in,
                              struct err *e)
{
    struct sk *sk = sk_of(m);
    enum status st = ST_OK;

    for (int t = 0; !st && t < in->n && voters_can_record(&sk->v, in, t); t++)
        st = explain_token(sk, in, t, e);
    return st;
}

static struct explanation sk_explanation(const struct mixer *m, int hyp,
                                         int pos)
{
    return voters_explanation(&((const struct sk *)(const void *)m)->v, hyp,
                              pos);
}

/* ---- creation and destruction ------------------------------------------- */

static void sk_end(struct mixer *m)
{
    struct sk *sk = sk_of(m);

    voters_end(&sk->v);
    free(sk->mixtures);
    sk->mixtures = NULL;
}

static void sk_free(struct mixer *m)
{
    struct sk *sk = sk_of(m);

    sk_end(m);
    voters_release(&sk->v);
    free(sk);
}

static const struct mixer_ops sk_ops = {
    .first = sk_first, .list = sk_list, .explain = sk_explain,
    .explanation = sk_explanation, .end = sk_end, .free = sk_free,
};

static enum status sk_new(struct mixer **out, const struct system_options *o,
                          const struct system_sentence *s, struct err *e)
{
    struct sk *sk = calloc(1, sizeof *sk);
    enum status st;

    *out = NULL;
    if (!sk) return err_nomem(e, "neighbor search");
    sk->mixer.ops = &sk_ops;
    st = voters_init(&sk->v, o, s, KNN_MAX_K, e);
    if (st) sk_free(&sk->mixer);
    else *out = &sk->mixer;
    return st;
}

static enum status sk_prepare(struct mixer *m, void *worker,
                              const struct system_pair *pairs, int n,
                              struct err *e)
{
    struct sk *sk = sk_of(m);

    (void)worker;
    if (n) sk->mixtures = calloc((size_t)sk->v.rows, sizeof *sk->mixtures);
    if (n && !sk->mixtures) return err_nomem(e, "neighbor search");
    return voters_prepare(&sk->v, pairs, n, e);
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
