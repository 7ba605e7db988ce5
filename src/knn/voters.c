/* voters.c - the parts of a mixer that do not depend on how its votes are
 * weighed. */
#include "knn/voters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* ---- creation and destruction ------------------------------------------- */

/* Make room for explanations. */
static bool voters_alloc(struct voters *v, const struct system_sentence *s)
{
    size_t n = (size_t)s->nbest * (size_t)s->max_len;

    if (!s->explain) return true;
    v->why = calloc(n, sizeof *v->why);
    v->votes = calloc(n * (size_t)v->o.k, sizeof *v->votes);
    if (!v->why || !v->votes) return false;
    v->hyps = s->nbest;
    v->tokens = s->max_len;
    return true;
}

enum status voters_init(struct voters *v, const struct system_options *o,
                        const struct system_sentence *s, int most_k,
                        struct err *e)
{
    memset(v, 0, sizeof *v);
    datastore_init(&v->store);
    if (o->k < 1 || o->k > most_k || !(o->weigh.tau > 0) ||
        !(o->weigh.lambda >= 0 && o->weigh.lambda <= 1) ||
        o->repeat_votes < 0 || o->repeat_votes > REPEAT_MAX_LIMIT)
        return err_set(e, ST_ARGUMENT, "k must be from 1 to %d, tau above 0, "
                       "lambda from 0 to 1 and repeat-votes from 0 to %d",
                       most_k, REPEAT_MAX_LIMIT);
    assert(s->rows > 0 && s->nbest > 0 && s->max_len > 0);
    v->o = *o;
    v->rows = s->rows;
    v->source = s->source;
    v->n_source = s->n_source;
    v->first_piece = s->n_prefix;
    v->end_piece = s->n_source - s->n_suffix;
    return voters_alloc(v, s) ? ST_OK : err_nomem(e, "neighbor search");
}

enum status voters_prepare(struct voters *v, const struct system_pair *pairs,
                           int n, struct err *e)
{
    enum status st = ST_OK;

    assert(!v->store.n_pairs && !v->nb);
    if (!n) return ST_OK;
    v->similarity = calloc((size_t)n, sizeof *v->similarity);
    v->nb = calloc((size_t)v->rows * (size_t)v->o.k, sizeof *v->nb);
    v->pairs = calloc((size_t)n, sizeof *v->pairs);
    if (!v->similarity || !v->nb || !v->pairs)
        return err_nomem(e, "neighbor search");
    memcpy(v->pairs, pairs, (size_t)n * sizeof *pairs);
    for (int i = 0; !st && i < n; i++) {
        v->similarity[i] = pairs[i].similarity;
        st = datastore_add(&v->store, pairs[i].keys, e);
    }
    return st;
}

void voters_end(struct voters *v)
{
    datastore_release(&v->store);
    free(v->similarity);
    free(v->nb);
    free(v->pairs);
    v->pairs = NULL;
    v->similarity = NULL;
    v->nb = NULL;
}

void voters_release(struct voters *v)
{
    voters_end(v);
    free(v->why);
    free(v->votes);
}

/* ---- neighbors ----------------------------------------------------------- */

enum status voters_find(struct voters *v, struct executor *x, int row, int n,
                        int *found, struct err *e)
{
    assert(n <= v->rows);
    *found = 0;
    if (!v->store.n) return ST_OK;
    return finder_nearest(&v->store.finder, &(struct finder_query){ x, row, n },
                          v->o.k, v->nb, found, e);
}

enum status voters_find_again(const struct voters *v, struct executor *x,
                              int row, struct neighbor *nb, int *found,
                              struct err *e)
{
    return finder_nearest(&v->store.finder, &(struct finder_query){ x, row, 1 },
                          v->o.k, nb, found, e);
}

void voters_said_row(struct voters_said *said, const struct mixer_rows *in,
                     int i)
{
    said->n = mixer_last_tokens(in, i, said->token, REPEAT_TOKENS);
}

void voters_said_token(struct voters_said *said,
                       const struct mixer_reading *in, int t)
{
    int before = in->from + t;

    said->n = before < REPEAT_TOKENS ? before : REPEAT_TOKENS;
    memcpy(said->token, in->tokens + before - said->n,
           (size_t)said->n * sizeof *said->token);
}

bool vote_abstains(const struct voters *v, const struct neighbor *nb)
{
    return v->o.eos_abstains && nb->token == v->o.eos;
}

bool vote_counts(const struct voters *v, const struct voters_said *said,
                 const struct neighbor *nb)
{
    if (vote_abstains(v, nb)) return false;
    return !v->o.repeat_votes ||
           !repeats_too_often(said->token, said->n,
                              v->store.pairs[nb->pair]->token, nb->pos,
                              v->o.repeat_votes);
}

bool voters_foreign(const struct voters *v, const struct neighbor *nb)
{
    const struct system_pair *p = &v->pairs[nb->pair];

    return has_piece(p->foreign, p->n_foreign, nb->token);
}

bool voters_own(const struct voters *v, const struct neighbor *nb)
{
    return has_piece(v->source, v->n_source, nb->token);
}

/* The weight of a row on all pieces of the sentence. Many heads attend to the
 * end of the source when nothing else is needed, so special tokens are left
 * out. If hardly any weight is left, it means little. */
static float piece_weight(const struct voters *v, const float *attention)
{
    float sum = 0;

    for (int i = v->first_piece; i < v->end_piece; i++) sum += attention[i];
    return fmaxf(sum, 0.25f);
}

struct voters_place voters_place(const struct voters *v,
                                 const struct neighbor *nb,
                                 const float *attention)
{
    const struct system_pair *p = &v->pairs[nb->pair];
    float all = piece_weight(v, attention), shared = 0;
    int from = v->store.pairs[nb->pair]->from[nb->pos];
    int32_t at = from < p->n_match ? p->match[from] : -1;

    for (int i = 0; i < p->n_match; i++)
        if (p->match[i] >= 0)
            shared += attention[p->match[i]] * p->same_word[i];
    return (struct voters_place){ .aligned = at >= 0 ? p->same_word[from] : 0,
                                  .focus = at >= 0 ? attention[at] / all : 0,
                                  .shared = shared / all };
}

/* ---- guesses ------------------------------------------------------------- */

/* An estimate of the probability that the translation continues like the pair.
 * It rises linearly with the pair's similarity, up to 0.92. This follows a
 * measurement on law and IT texts (greedy search, 200 sentences each): a third
 * of the guesses were right where the similarity was below 0.2, 70% from 0.2
 * to 0.4, and 90% above. */
static float follow_probability(float similarity)
{
    return fminf(0.92f, 0.15f + 1.8f * similarity);
}

/* Guess that the translation continues like this pair after position pos. */
static struct guess guess_of(const struct voters *v, int pair, int pos,
                             int32_t token)
{
    const struct pair_keys *b = v->store.pairs[pair];

    assert(pos >= -1 && pos < b->n);    /* -1: before the first token */
    return (struct guess){ token, b->n - pos - 1, b->token + pos + 1,
                           follow_probability(v->similarity[pair]) };
}

void voters_guess(const struct voters *v, const struct neighbor *nb, int n,
                  struct mixture *out)
{
    for (int i = 0; i < n && out->n_guesses < MIXTURE_GUESSES; i++) {
        int k = 0;

        while (k < out->n_guesses && out->guesses[k].token != nb[i].token)
            k++;
        if (k == out->n_guesses)
            out->guesses[out->n_guesses++] = guess_of(v, nb[i].pair, nb[i].pos,
                                                      nb[i].token);
    }
}

/* This is right less often than a guess that the translation continues like a
 * pair that voted. */
void voters_guess_first(const struct voters *v, struct guess *out)
{
    if (!v->store.n_pairs) return;
    *out = guess_of(v, 0, -1, 0);
    out->likely = fmaxf(0, 1.25f * v->similarity[0] - 0.25f);
}

/* ---- explanations -------------------------------------------------------- */

bool voters_can_record(const struct voters *v, const struct mixer_reading *in,
                       int t)
{
    assert(in->hyp >= 0 && in->from >= 0);
    return in->hyp < v->hyps && v->store.n && in->from + t < v->tokens;
}

struct explanation *voters_record(struct voters *v,
                                  const struct mixer_reading *in, int t,
                                  float weight, const struct neighbor *nb,
                                  const float *share, int n)
{
    size_t at = (size_t)in->hyp * (size_t)v->tokens + (size_t)(in->from + t);
    struct vote *votes = v->votes + at * (size_t)v->o.k;

    assert(n <= v->o.k);
    v->why[at] = (struct explanation){ .weight = weight, .n = n,
                                       .votes = votes };
    for (int i = 0; i < n; i++)
        votes[i] = (struct vote){ nb[i].pair, nb[i].pos, nb[i].token, nb[i].d2,
                                  share[i] };
    return &v->why[at];
}

struct explanation voters_explanation(const struct voters *v, int hyp, int pos)
{
    if (hyp < 0 || hyp >= v->hyps || pos < 0 || pos >= v->tokens)
        return (struct explanation){ 0 };
    return v->why[(size_t)hyp * (size_t)v->tokens + (size_t)pos];
}
