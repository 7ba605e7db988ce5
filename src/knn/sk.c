/* sk.c - see sk.h. */
#include "knn/sk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sk {
    struct mixer mixer;         /* first */
    struct sk_options o;
    const struct kernels *kn;
    struct sk_sentence **sentences;     /* [lanes] */
    struct neighbour *nb;       /* [rows, k] of the last step */
    struct vote *votes;         /* [rows] */
};

static struct sk *sk_of(struct mixer *mx) { return (struct sk *)(void *)mx; }

static enum status sk_begin(struct mixer *mx, int lane, void *user,
                            struct err *e)
{
    (void)e;
    sk_of(mx)->sentences[lane] = user;
    return ST_OK;
}

/* How likely the translation goes on as the pair does. Measured on law and IT
 * (greedy search, 200 sentences each): a third of the guesses were right where
 * the pair's similarity was below 0.2, 0.70 from there to 0.4, 0.9 beyond. */
static float follow(const struct sk_sentence *s, const struct neighbour *nb)
{
    float sim = s->similarity ? s->similarity[nb->pair] : 0.3f;

    return fminf(0.92f, 0.15f + 1.8f * sim);
}

static struct guess guess_of(const struct sk_sentence *s,
                             const struct neighbour *nb)
{
    struct guess g = { .token = nb->token, .likely = follow(s, nb) };

    g.n = keystore_ahead(&s->store, nb, &g.ahead);
    return g;
}

/* One for each token that was voted for: as the nearest of its voters goes
 * on. */
static void add_guesses(const struct sk_sentence *s,
                        const struct neighbour *nb, int n, struct mix *out)
{
    for (int i = 0; i < n && out->n_guesses < MIX_GUESSES; i++) {
        int k = 0;

        while (k < out->n_guesses && out->guesses[k].token != nb[i].token)
            k++;
        if (k == out->n_guesses)
            out->guesses[out->n_guesses++] = guess_of(s, &nb[i]);
    }
}

/* As the best pair begins: less often right than that it goes on. */
static void sk_first(struct mixer *mx, int lane, struct guess *out)
{
    const struct sk_sentence *s = sk_of(mx)->sentences[lane];
    const struct neighbour before = { .pair = 0, .pos = -1 };

    if (!s || !s->store.n_blocks || !s->similarity) return;
    *out = guess_of(s, &before);
    out->likely = fmaxf(0, 1.25f * s->similarity[0] - 0.25f);
}

/* Rows [lo, hi) are of one sentence. */
static void step_rows(struct sk *sk, const struct mixer_step *in, int lo,
                      int hi, struct mix *out)
{
    const struct sk_sentence *s = sk->sentences[in->lane[lo]];
    size_t k = (size_t)sk->o.k;
    int n;

    if (!s || !s->store.n) return;
    n = keystore_nearest(&s->store, sk->kn,
                         in->hidden + (size_t)lo * in->ld_hidden,
                         in->ld_hidden, hi - lo, sk->o.k,
                         sk->nb + (size_t)lo * k);
    for (int r = lo; r < hi; r++) {
        const struct neighbour *nb = sk->nb + (size_t)r * k;
        struct vote *v = &sk->votes[r];

        weigh(nb, n, &sk->o.weigh, v);
        if (!v->n) continue;
        out[r] = (struct mix){ .keep = 1 - v->lambda, .n = v->n,
                               .token = v->token, .add = v->add };
        add_guesses(s, nb, n, &out[r]);
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

static void sk_tell(struct mixer *mx, int lane, int hyp, int from,
                    const float *hidden, size_t ld_hidden, int n)
{
    struct sk *sk = sk_of(mx);
    struct sk_sentence *s = sk->sentences[lane];
    struct neighbour nb[KNN_MAX_K];
    struct vote v;

    if (!s || !s->notes || hyp >= s->hyps || !s->store.n) return;
    for (int t = 0; t < n && from + t < s->tokens; t++) {
        struct sk_note *to = &s->notes[(size_t)hyp * (size_t)s->tokens +
                                       (size_t)(from + t)];
        int found = keystore_nearest(&s->store, sk->kn,
                                     hidden + (size_t)t * ld_hidden,
                                     ld_hidden, 1, sk->o.k, nb);

        weigh(nb, found, &sk->o.weigh, &v);
        to->lambda = v.lambda;
        to->n = v.n ? found : 0;
        for (int i = 0; i < to->n; i++)
            to->voters[i] = (struct sk_voter){ nb[i], v.share[i] };
    }
}

/* Nobody asks the keys any more; the notes stay. */
static void sk_end(struct mixer *mx, int lane)
{
    struct sk *sk = sk_of(mx);

    if (sk->sentences[lane]) keystore_release(&sk->sentences[lane]->store);
    sk->sentences[lane] = NULL;
}

enum status sk_new(struct sk **out, const struct sk_options *o,
                   const struct kernels *kn, int lanes, int rows,
                   struct err *e)
{
    struct sk *sk = calloc(1, sizeof *sk);

    *out = NULL;
    if (o->k < 1 || o->k > KNN_MAX_K || !(o->weigh.tau > 0)) {
        free(sk);
        return err_set(e, ST_ARGUMENT, "there must be 1 to %d neighbours and "
                       "a temperature above 0", KNN_MAX_K);
    }
    if (sk) {
        sk->mixer = (struct mixer){ sk_begin, sk_first, sk_step, sk_tell,
                                    sk_end };
        sk->o = *o;
        sk->kn = kn;
        sk->sentences = calloc((size_t)lanes, sizeof *sk->sentences);
        sk->nb = calloc((size_t)rows * (size_t)o->k, sizeof *sk->nb);
        sk->votes = calloc((size_t)rows, sizeof *sk->votes);
    }
    if (!sk || !sk->sentences || !sk->nb || !sk->votes) {
        sk_free(sk);
        return err_nomem(e, "memory keys");
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

/* ---- sentences ------------------------------------------------------------ */

void sk_sentence_release(struct sk_sentence *s)
{
    keystore_release(&s->store);
    free(s->similarity);
    if (s->notes) free(s->notes[0].voters);
    free(s->notes);
    memset(s, 0, sizeof *s);
}

enum status sk_sentence_notes(struct sk_sentence *s, int hyps, int tokens,
                              int k, struct err *e)
{
    size_t n = (size_t)hyps * (size_t)tokens;
    struct sk_note *notes = calloc(n ? n : 1, sizeof *notes);
    struct sk_voter *voters = calloc(n * (size_t)k + 1, sizeof *voters);

    if (!notes || !voters) {
        free(notes);
        free(voters);
        return err_nomem(e, "explanations");
    }
    for (size_t i = 0; i < n; i++) notes[i].voters = voters + i * (size_t)k;
    notes[0].voters = voters;
    s->notes = notes;
    s->hyps = hyps;
    s->tokens = tokens;
    return ST_OK;
}
