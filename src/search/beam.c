/* beam.c - keeps the candidates, live and finished hypotheses of one sentence.
 * beam.h states the invariants. */
#include "search/beam.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum status beam_init(struct beam *b, int max_beam, int max_len, int32_t eos,
                      struct err *e)
{
    size_t n = (size_t)max_beam;

    memset(b, 0, sizeof *b);
    b->eos = eos;
    b->cap_beam = max_beam;
    b->cap_len = max_len;
    /* Each step adds at most `beam` live tokens and 2 * beam EOS tokens. */
    b->nodes = malloc(3 * n * ((size_t)max_len + 1) * sizeof *b->nodes);
    b->live = malloc(n * sizeof *b->live);
    b->next = malloc(n * sizeof *b->next);
    b->done = malloc(n * sizeof *b->done);
    b->cand = malloc(2 * n * sizeof *b->cand);
    if (b->nodes && b->live && b->next && b->done && b->cand) return ST_OK;
    beam_release(b);
    return err_nomem(e, "hypotheses");
}

void beam_release(struct beam *b)
{
    free(b->nodes);
    free(b->live);
    free(b->next);
    free(b->done);
    free(b->cand);
    memset(b, 0, sizeof *b);
}

void beam_begin(struct beam *b, const struct search_options *o, int max_len)
{
    assert(o->beam > 0 && o->beam <= b->cap_beam && max_len <= b->cap_len);
    b->o = o;
    b->t = 0;
    b->max_len = max_len;
    b->most_reward = 0;
    b->n_nodes = 0;
    b->n_done = b->n_cand = 0;
    b->n_live = 1;
    b->live[0] = (struct beam_live){ -1, 0, -1 };
}

int32_t beam_token(const struct beam *b, int i)
{
    int32_t node = b->live[i].node;

    return node < 0 ? -1 : b->nodes[node].token;
}

int beam_width(const struct beam *b)
{
    return b->o->beam == 1 ? 1 : 2 * b->o->beam;
}

bool beam_offer(struct beam *b, int from, int32_t token, float logprob)
{
    return beam_offer_rewarded(b, from, token, logprob, 0);
}

bool beam_offer_rewarded(struct beam *b, int from, int32_t token,
                         float logprob, float reward)
{
    double total = b->live[from].total + ((double)logprob + (double)reward);
    int cap = beam_width(b), i;

    assert(from >= 0 && from < b->n_live && b->n_cand <= cap);
    assert(logprob <= 0);               /* false for NaN too */
    assert(reward >= 0 && (double)reward <= b->most_reward);
    if (b->n_cand == cap && total <= b->cand[cap - 1].total) return false;
    for (i = b->n_cand < cap ? b->n_cand : cap - 1;
         i > 0 && b->cand[i - 1].total < total; i--)
        b->cand[i] = b->cand[i - 1];
    b->cand[i] = (struct beam_candidate){ total, logprob, token, from };
    if (b->n_cand < cap) b->n_cand++;
    return true;
}

static int32_t add_node(struct beam *b, const struct beam_candidate *c)
{
    assert(b->n_nodes < 3 * b->o->beam * (b->max_len + 1));
    assert(b->live[c->from].node < b->n_nodes);
    b->nodes[b->n_nodes] = (struct beam_node){ b->live[c->from].node, c->token,
                                          c->logprob };
    return b->n_nodes++;
}

static double score_of(const struct beam *b, double total, int n)
{
    return total / penalty(b->o->lenpen_type, b->o->lenpen, b->given + n);
}

/* Insert into the finished hypotheses: best first, equal scores in order of
 * arrival. fairseq keeps the first `beam` of them, even if better ones
 * follow. */
static void beam_finish(struct beam *b, const struct beam_candidate *c)
{
    struct beam_finished f = { 0, c->total, score_of(b, c->total, b->t), true };
    int i, cap = b->o->beam;

    if (b->n_done == cap && (b->o->lenpen_type == LENPEN_FAIRSEQ ||
                             f.score <= b->done[cap - 1].score))
        return;
    f.node = add_node(b, c);
    for (i = b->n_done < cap ? b->n_done : cap - 1;
         i > 0 && b->done[i - 1].score < f.score; i--)
        b->done[i] = b->done[i - 1];
    b->done[i] = f;
    if (b->n_done < cap) b->n_done++;
}

/* Whether a log-probability is more than the pruning limit below the best
 * (method 0.6). */
static bool behind(const struct beam *b, double total, double best)
{
    return b->o->prune > 0 && total < best - b->o->prune;
}

static void prune(struct beam *b)
{
    while (b->n_live > 1 &&
           behind(b, b->live[b->n_live - 1].total, b->live[0].total))
        b->n_live--;
}

/* Whether a candidate ends a translation. After pruning few hypotheses are
 * left, so the 2 * beam candidates include EOS tokens of low probability, and a
 * short translation is hard to beat. So with pruning, EOS is rejected when it
 * is more than 3.5 x prune below the best candidate. (With 3 fewer lines are
 * cut short than without pruning, with 4 more; bench/STEERING.md.) */
#define EOS_LIMIT 3.5
static bool ends(const struct beam *b, int i)
{
    if (b->cand[i].token != b->eos) return false;
    if (b->o->lenpen_type == LENPEN_FAIRSEQ && i >= b->o->beam) return false;
    return !behind(b, b->cand[i].total,
                   b->cand[0].total - (EOS_LIMIT - 1) * b->o->prune);
}

/* The highest score that a live hypothesis with this total can still reach. A
 * negative total is best divided by the penalty of the longest translation.
 * With rewards a total can rise, so each length is tried. */
static double beam_bound(const struct beam *b, double total)
{
    double bound = score_of(b, total, b->max_len);

    if (!(b->most_reward > 0)) return bound;
    for (int n = b->t + 1; n <= b->max_len; n++) {
        double most = score_of(b, total + (n - b->t) * b->most_reward, n);

        if (most > bound) bound = most;
    }
    return bound;
}

/* Whether no live hypothesis can still change the result. */
static bool decided(const struct beam *b)
{
    int need = b->o->early_stop ? b->o->nbest : b->o->beam;

    if (b->n_live == 0 || b->t >= b->max_len) return true;
    if (b->o->lenpen_type == LENPEN_FAIRSEQ && b->n_done >= b->o->beam)
        return true;
    if (b->n_done < need) return false;
    return b->done[need - 1].score > beam_bound(b, b->live[0].total);
}

bool beam_advance(struct beam *b)
{
    int n = 0;
    struct beam_live *swap;

    assert(b->t < b->max_len && b->n_live > 0);
    b->t++;
    for (int i = 0; i < b->n_cand; i++) {
        const struct beam_candidate *c = &b->cand[i];

        if (ends(b, i)) beam_finish(b, c);
        else if (c->token != b->eos && n < b->o->beam)
            b->next[n++] =
                (struct beam_live){ add_node(b, c), c->total, c->from };
    }
    b->n_cand = 0;
    b->n_live = n;
    swap = b->live;
    b->live = b->next;
    b->next = swap;
    prune(b);
    return decided(b);
}

static void copy_out(const struct beam *b, const struct beam_finished *f,
                     struct hypothesis *h)
{
    int n = 0;

    for (int32_t i = f->node; i >= 0; i = b->nodes[i].parent) {
        assert(i < b->n_nodes && b->nodes[i].parent < i);
        n++;
    }
    assert(n <= b->max_len);
    h->n = n;
    for (int32_t i = f->node; i >= 0; i = b->nodes[i].parent) {
        h->tokens[--n] = b->nodes[i].token;
        h->logprobs[n] = b->nodes[i].logprob;
    }
    h->logprob = 0;             /* in this order it is the total, bit by bit,
                                   if there are no rewards */
    for (int i = 0; i < h->n; i++) h->logprob += (double)h->logprobs[i];
    h->score = f->score;
    h->ended = f->ended;
}

void beam_results(const struct beam *b, struct job *j)
{
    struct beam_finished cut;

    j->n_hyps = b->n_done < b->o->nbest ? b->n_done : b->o->nbest;
    for (int i = 0; i < j->n_hyps; i++)
        copy_out(b, &b->done[i], &j->hyps[i]);
    if (j->n_hyps || !b->n_live) return;
    /* The length limit came before any EOS: take the best live hypothesis. */
    cut = (struct beam_finished){ b->live[0].node, b->live[0].total,
                             score_of(b, b->live[0].total, b->t), false };
    copy_out(b, &cut, &j->hyps[0]);
    j->n_hyps = 1;
}
