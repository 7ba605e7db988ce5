/* batch_tokens.c - runs a decoder pass and turns each of its rows into the
 * continuations of its state: the model's best tokens and the tokens that the
 * mixer of the sentence lists, with the log-probabilities that search uses. */
#include <math.h>
#include <string.h>

#include "base/invariant.h"
#include "search/batch_internal.h"

/* ---- a pass ---------------------------------------------------------- */

static struct mixer_rows mixer_rows_of(const struct batch *b,
                                       const struct lane *l)
{
    return (struct mixer_rows){ b->x, l->row, l->n_rows, b->row_pos + l->row,
                                b->row_path + l->row, b->slot_token };
}

/* The only token that a row may continue with, or -1: a forced token of the
 * prefix, or EOS where fairseq ends a translation at its length limit. */
static int32_t only_token(const struct lane *l, int pos)
{
    if (pos < l->job->n_prefix) return l->job->prefix[pos];
    if (l->job->o.lenpen_type == LENPEN_FAIRSEQ && pos + 1 == l->beam.max_len)
        return l->beam.eos;
    return -1;
}

/* Say what is needed of a row: the tokens of its mixture, then its only token,
 * or else its best tokens. A mixer may look at the best token of any row whose
 * tokens it named. */
static void ask_for_row(struct batch *b, const struct lane *l, int r)
{
    struct projection *p = &b->projected[r];
    int32_t *listed = b->listed + (size_t)r * PROJECT_LISTED;
    int32_t only = only_token(l, b->row_pos[r]);
    int n = b->mix[r].n;

    assert(n >= 0 && n <= MIXTURE_TOKENS);
    if (n) memcpy(listed, b->mix[r].token, (size_t)n * sizeof *listed);
    if (only >= 0) listed[n++] = only;
    *p = (struct projection){
        .n_best = only < 0 ? beam_width(&l->beam) + BARRED_TOKENS : n > 1,
        .best = b->best + (size_t)r * (size_t)b->most_best,
        .n_listed = n, .listed = listed,
        .listed_logit = b->listed_logit + (size_t)r * PROJECT_LISTED };
}

/* Let the mixers put their queries into the queues of the searches that they
 * share, and run these. A search whose queue is empty does nothing. */
static enum status batch_search(struct batch *b, struct err *e)
{
    enum status st = ST_OK;

    for (int i = 0; !st && i < b->limits.lanes; i++) {
        struct lane *l = &b->lanes[i];
        struct mixer *m = l->job ? l->job->mixer : NULL;
        struct mixer_rows in = mixer_rows_of(b, l);

        if (m && m->ops->ask && in.n) st = m->ops->ask(m, &in, e);
    }
    for (int i = 0; !st && i < b->limits.lanes; i++) {
        struct mixer *m = b->lanes[i].job ? b->lanes[i].job->mixer : NULL;

        if (m && m->search) st = m->search->run(m->search, b->x, e);
    }
    return st;
}

/* Let the mixer of a lane name its tokens, and ask for the rows. */
static enum status list_lane(struct batch *b, struct lane *l, struct err *e)
{
    struct mixer *m = l->job->mixer;
    struct mixer_rows in = mixer_rows_of(b, l);
    enum status st = ST_OK;

    if (m && in.n) st = m->ops->list(m, &in, b->mix + l->row, e);
    for (int i = 0; !st && i < l->n_rows; i++) ask_for_row(b, l, l->row + i);
    return st;
}

static void mix_lane(struct batch *b, struct lane *l)
{
    struct mixer *m = l->job->mixer;
    struct mixer_rows in = mixer_rows_of(b, l);

    if (m && m->ops->mix && in.n)
        m->ops->mix(m, &in, b->projected + l->row, b->mix + l->row);
}

/* ---- continuations --------------------------------------------------- */

/* The log-probability that search uses. 1e-9 is added to the probability, so
 * that the logarithm is finite even for a probability of 0 (docs/method.md,
 * 0.5). The sum is limited to 1, so that the result is never above 0. */
static float search_log(double p)
{
    return (float)log(fmin(p + 1e-9, 1));
}

/* The index of a token among those that the mixer lists; -1 for others. */
static int mixture_index(const struct mixture *m, int32_t token)
{
    for (int i = 0; i < m->n; i++)
        if (m->token[i] == token) return i;
    return -1;
}

/* The bias of a token that must never come out is -1e9. No other logit is near
 * that. */
#define BARRED_LOGIT (-1e8f)

/* Whether a token may not occur at this position: padding, BOS and tokens with
 * the bias -1e9 never, EOS not as the first token. (EOS may have the same id as
 * padding or BOS.) */
static bool token_barred(const struct batch *b, int pos, int32_t id,
                         float logit)
{
    const struct config *c = b->backend->cfg;

    if (logit < BARRED_LOGIT) return true;
    if (id == c->eos_id) return pos == 0;
    return id == c->pad_id || id == c->bos_id;
}

/* Add a continuation with this logit to the state of a row. `at` is the index
 * of the token in the mixture, or -1. */
static void add_continuation(struct batch *b, int row, int32_t token,
                             float logit, int at)
{
    const struct projection *p = &b->projected[row];
    const struct mixture *m = &b->mix[row];
    struct state *s = b->row_state[row];
    double add = at < 0 ? 0 : (double)m->add[at];
    float reward = at < 0 || !m->reward ? 0 : m->reward[at];
    double model = exp((double)logit - (double)p->max) / (double)p->sum;
    double mixed = (double)m->keep * model;

    assert(token >= 0 && token < b->backend->vocab);
    assert(s->n < b->lanes[b->rows[row].lane].states.width);
    s->next[s->n++] = (struct continuation){
        token, search_log(add > 0 ? mixed + add : mixed), reward };
}

/* Add the tokens that the mixer lists and the model's best tokens. Mixing
 * raises only the listed tokens relative to the others, so no other token can
 * be among the best. */
static void add_best_tokens(struct batch *b, const struct lane *l, int row)
{
    const struct projection *p = &b->projected[row];
    const struct mixture *m = &b->mix[row];
    int width = beam_width(&l->beam), allowed = 0, pos = b->row_pos[row];

    for (int j = 0; j < m->n; j++)
        if (!token_barred(b, pos, m->token[j], p->listed_logit[j]))
            add_continuation(b, row, m->token[j], p->listed_logit[j], j);
    for (int j = 0; j < p->n_found && allowed < width; j++) {
        if (token_barred(b, pos, p->best[j].token, p->best[j].logit)) continue;
        allowed++;
        if (mixture_index(m, p->best[j].token) >= 0) continue;
        add_continuation(b, row, p->best[j].token, p->best[j].logit, -1);
    }
}

/* Store the continuations of a row in its state, which is known then. */
static void set_continuations(struct batch *b, int row)
{
    const struct lane *l = &b->lanes[b->rows[row].lane];
    const struct mixture *m = &b->mix[row];
    struct state *s = b->row_state[row];
    int32_t only = only_token(l, b->row_pos[row]);

    s->n = 0;
    if (only >= 0)
        add_continuation(b, row, only,
                         b->projected[row].listed_logit
                             [b->projected[row].n_listed - 1],
                         mixture_index(m, only));
    else
        add_best_tokens(b, l, row);
    s->known = true;
    s->n_guesses = m->n_guesses;
    memcpy(s->guesses, m->guesses, sizeof s->guesses);
}

/* What the mixers of the batch read of a pass. */
static unsigned batch_want(const struct batch *b)
{
    unsigned want = 0;

    for (int i = 0; i < b->limits.lanes; i++)
        if (b->lanes[i].job) want |= mixer_want(b->lanes[i].job->mixer);
    return want;
}

enum status batch_run_pass(struct batch *b, struct err *e)
{
    enum status st = b->x->ops->run(b->x, b->rows, b->n_rows, batch_want(b),
                                    e);

    for (int i = 0; i < b->n_rows; i++)
        b->mix[i] = (struct mixture){ .keep = 1 };
    if (!st) st = batch_search(b, e);
    for (int i = 0; !st && i < b->limits.lanes; i++)
        if (b->lanes[i].job) st = list_lane(b, &b->lanes[i], e);
    if (!st) st = b->x->ops->project(b->x, 0, b->n_rows, b->projected, e);
    if (st) return st;
    for (int i = 0; i < b->limits.lanes; i++)
        if (b->lanes[i].job) mix_lane(b, &b->lanes[i]);
    for (int i = 0; i < b->n_rows; i++) set_continuations(b, i);
    b->counts.passes++;
    b->counts.rows += (uint64_t)b->n_rows;
    return ST_OK;
}
