/* weighed.c - the mixer of all systems whose weights depend on the neighbors
 * alone: at every step it turns the nearest entries into votes. Where the
 * neighbors come from is the business of voters.c.
 *
 * Invariant: mixtures of row i belong to the last pass only; they exist from
 * weighed_ready to weighed_end. */
#include "knn/weighed.h"

#include <stdlib.h>

#include "base/invariant.h"

/* ---- votes -------------------------------------------------------------- */

/* Remove the neighbors whose vote does not count from nb and mix. Returns how
 * many remain. */
static int drop_votes(const struct weighed *w, const struct voters_said *said,
                      struct neighbor *nb, int n, struct knn_mixture *mix)
{
    int remaining = 0;

    for (int i = 0; i < n; i++) {
        if (!vote_counts(&w->v, said, &nb[i])) continue;
        assert(remaining <= i);
        nb[remaining] = nb[i];
        mix->share[remaining++] = mix->share[i];
    }
    if (remaining < n) weigh_remaining(nb, remaining, mix);
    return remaining;
}

/* Compute the votes of the n neighbors nb. Returns how many of them vote. */
static int weighed_vote(const struct weighed *w, int step,
                        const struct voters_said *said, struct neighbor *nb,
                        int n, struct knn_mixture *mix)
{
    mix->n = 0;
    mix->lambda = 0;
    if (n) w->weigh(w, step, nb, n, mix);
    return mix->n ? drop_votes(w, said, nb, n, mix) : 0;
}

/* ---- a step ------------------------------------------------------------- */

void weighed_first(struct mixer *m, struct guess *out)
{
    voters_guess_first(&weighed_of(m)->v, out);
}

enum status weighed_ask(struct mixer *m, const struct mixer_rows *in,
                        struct err *e)
{
    return voters_ask(&weighed_of(m)->v, in, e);
}

/* The weights do not depend on the model's probabilities, so they are set here
 * already, and there is no `mix`. */
enum status weighed_list(struct mixer *m, const struct mixer_rows *in,
                         struct mixture *out, struct err *e)
{
    struct weighed *w = weighed_of(m);
    enum status st = voters_find(&w->v, in, e);

    if (!voters_active(&w->v)) return ST_OK;
    for (int i = 0; !st && i < in->n; i++) {
        struct neighbor *nb = voters_of(&w->v, i);
        struct knn_mixture *mix = &w->mixtures[i];
        struct voters_said said = { .n = 0 };
        int n_votes;

        if (w->v.o.repeat_votes) voters_said_row(&said, in, i);
        n_votes = weighed_vote(w, in->n_tokens[i], &said, nb,
                               voters_count(&w->v, i), mix);
        if (!mix->n) continue;
        out[i] = (struct mixture){ .keep = 1 - mix->lambda, .n = mix->n,
                                   .token = mix->token, .add = mix->add };
        voters_guess(&w->v, nb, n_votes, &out[i]);
    }
    return st;
}

/* ---- explanations ------------------------------------------------------- */

/* Compute the votes on token t of a reading again. */
static void explain_token(struct weighed *w, const struct mixer_reading *in,
                          int t)
{
    struct knn_mixture mix;
    struct voters_said said;
    int n;
    struct neighbor *nb = voters_again(&w->v, t, &n);

    voters_said_token(&said, in, t);
    n = weighed_vote(w, in->from + t, &said, nb, n, &mix);
    voters_record(&w->v, in, t, mix.lambda, nb, mix.share, n);
}

enum status weighed_explain(struct mixer *m, const struct mixer_reading *in,
                            struct err *e)
{
    struct weighed *w = weighed_of(m);
    enum status st;

    if (!in->n || !voters_can_record(&w->v, in, 0)) return ST_OK;
    st = voters_find_again(&w->v, in, e);
    for (int t = 0; !st && t < in->n && voters_can_record(&w->v, in, t); t++)
        explain_token(w, in, t);
    return st;
}

struct explanation weighed_explanation(const struct mixer *m, int hyp,
                                       int pos)
{
    return voters_explanation(&((const struct weighed *)(const void *)m)->v,
                              hyp, pos);
}

bool weighed_pair(const struct mixer *m, int i, struct mixer_pair *out)
{
    return voters_pair(&((const struct weighed *)(const void *)m)->v, i, out);
}

/* ---- creation and destruction ------------------------------------------- */

void weighed_end(struct mixer *m)
{
    struct weighed *w = weighed_of(m);

    voters_end(&w->v);
    free(w->mixtures);
    w->mixtures = NULL;
}

void weighed_free(struct mixer *m)
{
    weighed_end(m);
    voters_release(&weighed_of(m)->v);
    free(m);
}

static const struct mixer_ops weighed_ops = WEIGHED_OPS(weighed_end,
                                                        weighed_free);

enum status weighed_init(struct weighed *w, weighed_fn *fn,
                         const struct system_options *o,
                         const struct system_sentence *s, int most_k,
                         struct err *e)
{
    w->mixer.ops = &weighed_ops;
    w->weigh = fn;
    return voters_init(&w->v, o, s, most_k, e);
}

enum status weighed_ready(struct weighed *w, struct err *e)
{
    if (!voters_active(&w->v)) return ST_OK;
    w->mixer.search = voters_search(&w->v);
    w->mixtures = calloc((size_t)w->v.rows, sizeof *w->mixtures);
    return w->mixtures ? ST_OK : err_nomem(e, "neighbor search");
}

void weighed_by_options(const struct weighed *w, int step,
                        const struct neighbor *nb, int n,
                        struct knn_mixture *out)
{
    (void)step;
    weigh(nb, n, &w->v.o.weigh, out);
}
