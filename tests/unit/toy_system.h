/* toy_system.h - a steering system without distances: the token that follows
 * the last token of a hypothesis in the first pair that contains it gets a
 * vote.
 *
 *     weight = lambda * similarity of the pair * (1 - p(token))
 *     p'(v)  = (1 - weight) p(v) + (weight if v is the token)
 *
 * A translation without tokens gets the first token of the first pair. An
 * occurrence at the end of a pair does not count. The weight depends on the
 * probability p that the model gives the token, so this system has a `mix`. It
 * also guesses that the translation continues like the pair. All functions are
 * static.
 *
 * The state of a worker counts sentences and votes. A mixer uses it from
 * `prepare` to `end` only, in the thread of the worker.
 *
 * Invariants of a mixer:
 *   - pairs[0 .. n_pairs) each hold a reference to their keys; none after
 *     `end`.
 *   - vote[i], token[i] and add[i] belong to row i of the last `list`. */
#ifndef TOY_SYSTEM_H
#define TOY_SYSTEM_H

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "knn/system.h"

struct toy_worker { int sentences, votes; };

struct toy_vote {
    int pair, pos;              /* of the token in the target */
    int32_t token;              /* -1: there is no vote */
    float weight;               /* before the model's probability is known */
};

struct toy_reason { float weight; struct vote vote; };

struct toy_mixer {
    struct mixer base;
    float lambda;
    struct system_sentence limits;
    struct toy_worker *worker;  /* borrowed; NULL after `end` */
    struct system_pair *pairs;
    int n_pairs;
    struct toy_vote *vote;      /* [limits.rows] */
    int32_t *token;             /* [limits.rows] */
    float *add;                 /* [limits.rows] */
    struct toy_reason *reasons; /* [limits.nbest, limits.max_len] or NULL */
};

/* ---- votes --------------------------------------------------------------- */

static inline struct toy_vote toy_vote_at(const struct toy_mixer *m, int pair,
                                          int pos)
{
    return (struct toy_vote){ pair, pos, m->pairs[pair].keys->token[pos],
                              m->lambda * m->pairs[pair].similarity };
}

/* The vote after `last`; -1 stands for the beginning. */
static inline struct toy_vote toy_find(const struct toy_mixer *m, int32_t last)
{
    for (int i = 0; i < m->n_pairs; i++) {
        const struct pair_keys *keys = m->pairs[i].keys;

        if (last == -1 && keys->n) return toy_vote_at(m, i, 0);
        for (int k = 1; k < keys->n; k++)
            if (keys->token[k - 1] == last) return toy_vote_at(m, i, k);
    }
    return (struct toy_vote){ .token = -1 };
}

/* The weight of a vote. Listed token 0 of p is that of the vote. */
static inline float toy_weight(const struct toy_vote *v,
                               const struct projection *p)
{
    float model = expf(p->listed_logit[0] - p->max) / p->sum;

    return model < 1 ? v->weight * (1 - model) : 0;
}

/* ---- decoding ------------------------------------------------------------ */

/* Guess that the translation continues like the pair from `pos` on. */
static inline struct guess toy_guess(const struct toy_mixer *m,
                                     const struct toy_vote *v, int pos)
{
    const struct pair_keys *keys = m->pairs[v->pair].keys;

    return (struct guess){ v->token, keys->n - pos, keys->token + pos,
                           v->weight };
}

static inline void toy_first(struct mixer *base, struct guess *out)
{
    const struct toy_mixer *m = (const struct toy_mixer *)base;
    struct toy_vote v = toy_find(m, -1);

    if (v.token >= 0) *out = toy_guess(m, &v, v.pos);
}

static inline enum status toy_list(struct mixer *base,
                                   const struct mixer_rows *in,
                                   struct mixture *out, struct err *e)
{
    struct toy_mixer *m = (struct toy_mixer *)base;

    (void)e;
    assert(in->n <= m->limits.rows);
    for (int i = 0; i < in->n; i++) {
        int32_t last = -1;

        mixer_last_tokens(in, i, &last, 1);
        m->vote[i] = toy_find(m, last);
        if (m->vote[i].token < 0) continue;
        if (m->worker) m->worker->votes++;
        m->token[i] = m->vote[i].token;
        m->add[i] = 0;
        out[i].n = 1;
        out[i].token = &m->token[i];
        out[i].add = &m->add[i];
        out[i].guesses[0] = toy_guess(m, &m->vote[i], m->vote[i].pos + 1);
        out[i].n_guesses = out[i].guesses[0].n > 0;
    }
    return ST_OK;
}

static inline void toy_mix(struct mixer *base, const struct mixer_rows *in,
                           const struct projection *p, struct mixture *out)
{
    struct toy_mixer *m = (struct toy_mixer *)base;

    for (int i = 0; i < in->n; i++) {
        if (!out[i].n) continue;
        assert(p[i].n_listed >= 1 && p[i].listed[0] == m->token[i]);
        m->add[i] = toy_weight(&m->vote[i], &p[i]);
        out[i].keep = 1 - m->add[i];
    }
}

/* ---- explanations -------------------------------------------------------- */

/* Record the vote for row i of a reading. */
static inline void toy_record(struct toy_mixer *m,
                              const struct mixer_reading *in, int i,
                              const struct toy_vote *v,
                              const struct projection *p)
{
    struct toy_reason *r = m->reasons +
        (size_t)in->hyp * (size_t)m->limits.max_len + in->from + i;

    assert(in->hyp < m->limits.nbest);
    assert(in->from + i < m->limits.max_len);
    *r = (struct toy_reason){ toy_weight(v, p),
                              { .pair = v->pair, .pos = v->pos,
                                .token = v->token, .share = 1 } };
}

/* Find each vote again, and project its row to learn the model's probability of
 * the token. */
static inline enum status toy_explain(struct mixer *base,
                                      const struct mixer_reading *in,
                                      struct err *e)
{
    struct toy_mixer *m = (struct toy_mixer *)base;
    enum status st = ST_OK;

    for (int i = 0; !st && i < in->n; i++) {
        int at = in->from + i;
        struct toy_vote v = toy_find(m, at ? in->tokens[at - 1] : -1);
        float logit;
        struct projection p = { .n_listed = 1, .listed = &v.token,
                                .listed_logit = &logit };

        if (v.token < 0) continue;
        st = in->x->ops->project(in->x, in->row + i, 1, &p, e);
        if (!st) toy_record(m, in, i, &v, &p);
    }
    return st;
}

static inline struct explanation toy_explanation(const struct mixer *base,
                                                 int hyp, int token)
{
    const struct toy_mixer *m = (const struct toy_mixer *)base;
    const struct toy_reason *r;

    if (!m->reasons || hyp < 0 || hyp >= m->limits.nbest || token < 0 ||
        token >= m->limits.max_len)
        return (struct explanation){ 0 };
    r = m->reasons + (size_t)hyp * (size_t)m->limits.max_len + token;
    if (!(r->weight > 0)) return (struct explanation){ 0 };
    return (struct explanation){ .weight = r->weight, .n = 1,
                                 .votes = &r->vote };
}

/* ---- making and freeing -------------------------------------------------- */

static inline void toy_end(struct mixer *base)
{
    struct toy_mixer *m = (struct toy_mixer *)base;

    for (int i = 0; i < m->n_pairs; i++) pair_keys_drop(m->pairs[i].keys);
    m->n_pairs = 0;
    m->worker = NULL;
}

static inline void toy_mixer_free(struct mixer *base)
{
    struct toy_mixer *m = (struct toy_mixer *)base;

    toy_end(base);
    free(m->pairs);
    free(m->vote);
    free(m->token);
    free(m->add);
    free(m->reasons);
    free(m);
}

static const struct mixer_ops toy_mixer_ops = {
    .first = toy_first,
    .list = toy_list,
    .mix = toy_mix,
    .explain = toy_explain,
    .explanation = toy_explanation,
    .end = toy_end,
    .free = toy_mixer_free,
};

static inline enum status toy_sentence_new(struct mixer **out,
                                           const struct system_options *o,
                                           const struct system_sentence *s,
                                           struct err *e)
{
    size_t rows = (size_t)s->rows;
    size_t reasons = (size_t)s->nbest * (size_t)s->max_len;
    struct toy_mixer *m;

    *out = NULL;
    if (!(o->weigh.lambda >= 0 && o->weigh.lambda <= 1))
        return err_set(e, ST_ARGUMENT, "lambda is %g, and must be from 0 to 1",
                       o->weigh.lambda);
    if (!(m = calloc(1, sizeof *m))) return err_nomem(e, "toy mixer");
    m->base.ops = &toy_mixer_ops;
    m->lambda = (float)o->weigh.lambda;
    m->limits = *s;
    m->vote = calloc(rows, sizeof *m->vote);
    m->token = calloc(rows, sizeof *m->token);
    m->add = calloc(rows, sizeof *m->add);
    if (s->explain) m->reasons = calloc(reasons, sizeof *m->reasons);
    if (!m->vote || !m->token || !m->add || (s->explain && !m->reasons)) {
        toy_mixer_free(&m->base);
        return err_nomem(e, "toy mixer");
    }
    *out = &m->base;
    return ST_OK;
}

static inline enum status toy_prepare(struct mixer *base, void *worker,
                                      const struct system_pair *pairs, int n,
                                      struct err *e)
{
    struct toy_mixer *m = (struct toy_mixer *)base;

    assert(!m->pairs);
    m->pairs = calloc((size_t)n + 1, sizeof *m->pairs);
    if (!m->pairs) return err_nomem(e, "toy pairs");
    m->worker = worker;
    if (m->worker) m->worker->sentences++;
    for (int i = 0; i < n; i++) {
        m->pairs[i] = pairs[i];
        pair_keys_hold(pairs[i].keys);
    }
    m->n_pairs = n;
    return ST_OK;
}

static inline enum status toy_worker_new(void **out, const struct backend *b,
                                         struct err *e)
{
    (void)b;
    *out = calloc(1, sizeof(struct toy_worker));
    return *out ? ST_OK : err_nomem(e, "toy worker");
}

static inline void toy_worker_free(void *worker)
{
    free(worker);
}

static const char *const toy_system_options[] = { "lambda", NULL };

static const struct steering_system toy_system = {
    .name = "toy",
    .title = "vote for the token that follows in a similar pair",
    .paper = "-",
    .options = toy_system_options,
    .needs = NEEDS_PAIRS,
    .worker_new = toy_worker_new,
    .worker_free = toy_worker_free,
    .sentence_new = toy_sentence_new,
    .prepare = toy_prepare,
};

#endif
