/* learned.c - the mixer with learned trust. After a pass it chooses the
 * neighbors that vote; when the model's probabilities of their tokens are
 * known, the network weighs them.
 *
 * Invariant: rows[i] belongs to the last pass only. */
#include "knn/learned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

struct learned {                /* the mixer of a sentence */
    struct mixer mixer;         /* must be the first member */
    struct voters v;
    struct trust trust;
    struct learned_row *rows;   /* [v.rows] from prepare to end */
};

static struct learned *learned_of(struct mixer *m)
{
    return (struct learned *)(void *)m;
}

/* ---- votes and features -------------------------------------------------- */

static void learned_add_token(struct learned_row *row, int32_t token)
{
    int k = 0;

    while (k < row->n_tokens && row->token[k] != token) k++;
    row->token_of[row->n] = k;
    if (k < row->n_tokens) return;
    row->token[k] = token;
    row->add[k] = 0;
    row->n_tokens++;
}

static void learned_add_place(const struct voters *v, const float *attention,
                              struct learned_row *row)
{
    struct voters_place p = voters_place(v, &row->nb[row->n], attention);

    row->aligned[row->n] = p.aligned;
    row->focus[row->n] = p.focus;
    row->shared[row->n] = p.shared;
}

/* Whether the next neighbor of the row would bring in a wrong word: its pair is
 * similar to the sentence, but it translates a word that the sentence does not
 * have, while the row translates a word that the pair does not have. In "The
 * control pad shows an alert" for "zeigt keine Störung" such a word is "an".
 * The network does not learn this well enough, because it is rare in most
 * memories. (Training sees such neighbors: without them it learns less.) */
static bool contradicts(const struct voters *v, const struct learned_row *row)
{
    int i = row->n;

    return v->similarity[row->nb[i].pair] >= 0.6f && row->aligned[i] < 0.6f &&
           row->shared[i] < 0.8f;
}

void learned_choose(const struct voters *v, const struct neighbor *nb, int n,
                    const struct voters_said *said, const float *attention,
                    bool search, struct learned_row *row)
{
    row->n = row->n_tokens = 0;
    for (int i = 0; i < n && row->n < TRUST_NEIGHBORS; i++) {
        bool abstains = vote_abstains(v, &nb[i]);

        if (!abstains && !vote_counts(v, said, &nb[i])) continue;
        row->nb[row->n] = nb[i];
        row->abstains[row->n] = abstains;
        learned_add_place(v, attention, row);
        if (search && !abstains && contradicts(v, row)) continue;
        row->context[row->n] =
            trust_context(v->store.pairs[nb[i].pair]->token, nb[i].pos,
                          said->token, said->n);
        row->foreign[row->n] = voters_foreign(v, &nb[i]);
        row->own[row->n] = voters_own(v, &nb[i]);
        learned_add_token(row, nb[i].token);
        row->n++;
    }
}

struct trust_step learned_step(const struct voters *v,
                               const struct learned_row *row,
                               const struct projection *p,
                               struct learned_values *of)
{
    float log_sum = logf(p->sum);

    assert(p->n_listed >= row->n_tokens);
    for (int i = 0; i < row->n; i++) {
        assert(p->listed[row->token_of[i]] == row->nb[i].token);
        of->similarity[i] = v->similarity[row->nb[i].pair];
        of->logprob[i] = p->listed_logit[row->token_of[i]] - p->max - log_sum;
    }
    return (struct trust_step){
        .nb = row->nb, .n = row->n, .similarity = of->similarity,
        .context = row->context, .logprob = of->logprob,
        .foreign = row->foreign, .own = row->own, .aligned = row->aligned,
        .focus = row->focus, .shared = row->shared,
        .best_prob = 1 / p->sum, .entropy = log_sum - p->zsum / p->sum,
        .best_token = p->n_found ? p->best[0].token : -1,
        .tau = (float)v->o.model_tau };
}

void learned_features(const struct voters *v, const struct learned_row *row,
                      const struct projection *p, struct trust_features *out)
{
    struct learned_values of;
    struct trust_step s = learned_step(v, row, p, &of);

    trust_features(&s, out);
}

/* ---- a step -------------------------------------------------------------- */

static void learned_first(struct mixer *m, struct guess *out)
{
    voters_guess_first(&learned_of(m)->v, out);
}

static enum status learned_list(struct mixer *m, const struct mixer_rows *in,
                                struct mixture *out, struct err *e)
{
    struct learned *l = learned_of(m);
    const float *attention = NULL;
    size_t ld = 0;
    enum status st = voters_find(&l->v, in, e);

    if (!voters_active(&l->v)) return ST_OK;
    if (!st)
        st = in->x->ops->attention(in->x, in->row, in->n, &attention, &ld, e);
    for (int i = 0; !st && i < in->n; i++) {
        struct learned_row *row = &l->rows[i];
        struct voters_said said;

        voters_said_row(&said, in, i);
        learned_choose(&l->v, voters_of(&l->v, i), voters_count(&l->v, i),
                       &said, attention + (size_t)i * ld, true, row);
        out[i] = (struct mixture){ .keep = 1, .n = row->n_tokens,
                                   .token = row->token, .add = row->add };
    }
    return st;
}

/* Give the shares of neighbors that abstain to the model. Returns true if the
 * model gets all the weight; the shares are not valid then. */
static bool learned_abstain(const struct learned_row *row,
                            struct trust_result *r)
{
    float counted = 0;

    for (int j = 0; j < row->n; j++)
        if (!row->abstains[j]) counted += r->share[j];
    r->lambda *= counted;
    if (!(r->lambda >= TRUST_LEAST)) {
        r->lambda = 0;
        return true;
    }
    for (int j = 0; j < row->n; j++)
        r->share[j] = row->abstains[j] ? 0 : r->share[j] / counted;
    return false;
}

/* Remove the neighbors that abstain. Returns the number of the others. */
static int learned_counted(struct learned_row *row, struct trust_result *r)
{
    int n = 0;

    for (int j = 0; j < row->n; j++) {
        if (row->abstains[j]) continue;
        row->nb[n] = row->nb[j];
        r->share[n++] = r->share[j];
    }
    return n;
}

static void learned_mix_row(struct learned *l, struct learned_row *row,
                            const struct projection *p, struct mixture *out)
{
    struct trust_features f;
    struct trust_result r;

    learned_features(&l->v, row, p, &f);
    trust_decide(&l->trust, &f, &r);
    if (learned_abstain(row, &r)) {
        out->keep = 1;
        out->n = 0;
        return;
    }
    out->keep = 1 - r.lambda;
    for (int j = 0; j < row->n; j++)
        row->add[row->token_of[j]] += r.lambda * r.share[j];
    voters_guess(&l->v, row->nb, learned_counted(row, &r), out);
}

static void learned_mix(struct mixer *m, const struct mixer_rows *in,
                        const struct projection *p, struct mixture *out)
{
    struct learned *l = learned_of(m);

    for (int i = 0; i < in->n; i++)
        if (out[i].n) learned_mix_row(l, &l->rows[i], &p[i], &out[i]);
}

/* ---- explanations -------------------------------------------------------- */

static void learned_add_reasons(const struct learned *l,
                                const struct trust_features *f,
                                struct explanation *why)
{
    struct trust_reason r[TRUST_REASONS];

    _Static_assert((int)TRUST_REASONS == (int)EXPLANATION_REASONS, "all fit");
    trust_explain(&l->trust, f, r);
    why->n_reasons = TRUST_REASONS;
    for (int i = 0; i < TRUST_REASONS; i++)
        why->reasons[i] = (struct reason){
            trust_phrase(&l->trust, f, r[i].feature), r[i].effect };
}

/* Compute the votes on token t of a reading again. */
static enum status learned_explain_token(struct learned *l,
                                         const struct mixer_reading *in, int t,
                                         struct err *e)
{
    struct learned_row row;
    struct voters_said said;
    struct token_logit best;
    float logit[TRUST_NEIGHBORS];
    struct projection p = { .n_best = 1, .best = &best, .listed = row.token,
                            .listed_logit = logit };
    struct trust_features f;
    struct trust_result r;
    const float *attention;
    size_t ld;
    int n;
    struct neighbor *nb = voters_again(&l->v, t, &n);
    enum status st = in->x->ops->attention(in->x, in->row + t, 1, &attention,
                                           &ld, e);

    if (st) return st;
    voters_said_token(&said, in, t);
    learned_choose(&l->v, nb, n, &said, attention, true, &row);
    if (!row.n) return ST_OK;
    p.n_listed = row.n_tokens;
    st = in->x->ops->project(in->x, in->row + t, 1, &p, e);
    if (st) return st;
    learned_features(&l->v, &row, &p, &f);
    trust_decide(&l->trust, &f, &r);
    n = learned_abstain(&row, &r) ? 0 : learned_counted(&row, &r);
    learned_add_reasons(l, &f, voters_record(&l->v, in, t, r.lambda, row.nb,
                                             r.share, n));
    return ST_OK;
}

static enum status learned_explain(struct mixer *m,
                                   const struct mixer_reading *in,
                                   struct err *e)
{
    struct learned *l = learned_of(m);
    enum status st;

    if (!in->n || !voters_can_record(&l->v, in, 0)) return ST_OK;
    st = voters_find_again(&l->v, in, e);
    for (int t = 0; !st && t < in->n && voters_can_record(&l->v, in, t); t++)
        st = learned_explain_token(l, in, t, e);
    return st;
}

static struct explanation learned_explanation(const struct mixer *m, int hyp,
                                              int pos)
{
    return voters_explanation(&((const struct learned *)(const void *)m)->v,
                              hyp, pos);
}

/* ---- creation and destruction -------------------------------------------- */

static void learned_end(struct mixer *m)
{
    struct learned *l = learned_of(m);

    voters_end(&l->v);
    free(l->rows);
    l->rows = NULL;
}

static void learned_free(struct mixer *m)
{
    struct learned *l = learned_of(m);

    learned_end(m);
    voters_release(&l->v);
    free(l);
}

static const struct mixer_ops learned_ops = {
    .first = learned_first, .list = learned_list, .mix = learned_mix,
    .explain = learned_explain, .explanation = learned_explanation,
    .end = learned_end, .free = learned_free,
};

static enum status learned_new(struct mixer **out,
                               const struct system_options *o,
                               const struct system_sentence *s, struct err *e)
{
    struct system_options own = *o;
    struct learned *l;
    enum status st;

    *out = NULL;
    own.entries = NULL;
    own.online = NULL;
    if (!o->trust)
        return err_set(e, ST_ARGUMENT, "system: learned trust needs a network");
    l = calloc(1, sizeof *l);
    if (!l) return err_nomem(e, "neighbor search");
    l->mixer.ops = &learned_ops;
    l->mixer.want = WANT_ATTENTION;
    l->trust = *o->trust;
    st = voters_init(&l->v, &own, s, TRUST_NEIGHBORS, e);
    if (st) learned_free(&l->mixer);
    else *out = &l->mixer;
    return st;
}

static enum status learned_prepare(struct mixer *m, void *worker,
                                   const struct system_pair *pairs, int n,
                                   struct err *e)
{
    struct learned *l = learned_of(m);

    (void)worker;
    if (n) l->rows = calloc((size_t)l->v.rows, sizeof *l->rows);
    if (n && !l->rows) return err_nomem(e, "neighbor search");
    return voters_prepare(&l->v, pairs, n, e);
}

static const char *const learned_option_names[] = {
    "k", "knn-eos", "eos-votes", "repeat-votes", NULL
};

const struct steering_system learned_system = {
    .name = "learned",
    .title = "the neighbors of SK-MT, weighed by a small network",
    .paper = "-",
    .options = learned_option_names,
    .needs = NEEDS_PAIRS | NEEDS_FOREIGN,
    .sentence_new = learned_new,
    .prepare = learned_prepare,
};
