/* voters.c - the parts of a mixer that do not depend on how its votes are
 * weighed. */
#include "knn/voters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* ---- creation and destruction ------------------------------------------- */

/* Make room for the pairs that n votes may name. */
static bool voters_alloc_names(struct voters *v, size_t n)
{
    size_t size = 16;

    while (size < 2 * n) size *= 2;
    v->named = calloc(n, sizeof *v->named);
    v->named_at = calloc(size, sizeof *v->named_at);
    v->named_mask = (uint32_t)(size - 1);
    return v->named && v->named_at;
}

/* Make room for explanations. */
static bool voters_alloc(struct voters *v, const struct system_sentence *s)
{
    size_t n = (size_t)s->nbest * (size_t)s->max_len, k = (size_t)v->o.k;

    if (!s->explain) return true;
    v->why = calloc(n, sizeof *v->why);
    v->votes = calloc(n * k, sizeof *v->votes);
    v->again = calloc((size_t)s->max_len * k, sizeof *v->again);
    v->found_again = calloc((size_t)s->max_len, sizeof *v->found_again);
    if (!v->why || !v->votes || !v->again || !v->found_again) return false;
    if ((v->entries || v->online) && !voters_alloc_names(v, n * k))
        return false;
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
    assert(!o->repeat_votes || (!o->entries && !o->online));
    v->o = *o;
    if (o->entries) v->entries = entries_hold(o->entries);
    if (o->online) v->online = online_view_hold(o->online);
    v->rows = s->rows;
    v->max_len = s->max_len;
    v->source = s->source;
    v->n_source = s->n_source;
    v->first_piece = s->n_prefix;
    v->end_piece = s->n_source - s->n_suffix;
    return voters_alloc(v, s) ? ST_OK : err_nomem(e, "neighbor search");
}

/* Make room for the neighbors of a pass. */
static enum status voters_alloc_rows(struct voters *v, struct err *e)
{
    assert(!v->nb && !voters_active(v));
    v->nb = calloc((size_t)v->rows * (size_t)v->o.k, sizeof *v->nb);
    v->found = calloc((size_t)v->rows, sizeof *v->found);
    return v->nb && v->found ? ST_OK : err_nomem(e, "neighbor search");
}

enum status voters_prepare_entries(struct voters *v, struct worker_search *ws,
                                   struct err *e)
{
    struct asking_options o = {
        v->o.k, v->rows, v->max_len, v->n_source, v->o.cache,
        v->in_chunks ? &v->o.chunk : NULL };
    enum status st = voters_alloc_rows(v, e);

    assert(v->entries);
    return st ? st : asking_new(&v->asking, v->entries, ws, &o, e);
}

enum status voters_prepare_finder(struct voters *v, const struct finder *f,
                                  struct err *e)
{
    enum status st = voters_alloc_rows(v, e);

    assert(v->entries);
    if (!st) v->finder = f;
    return st;
}

enum status voters_prepare(struct voters *v, const struct system_pair *pairs,
                           int n, struct err *e)
{
    enum status st = ST_OK;

    assert(!v->store.n_pairs && !v->nb && !v->entries);
    if (!n) return ST_OK;
    st = voters_alloc_rows(v, e);
    if (st) return st;
    v->similarity = calloc((size_t)n, sizeof *v->similarity);
    v->pairs = calloc((size_t)n, sizeof *v->pairs);
    if (!v->similarity || !v->pairs) return err_nomem(e, "neighbor search");
    memcpy(v->pairs, pairs, (size_t)n * sizeof *pairs);
    for (int i = 0; !st && i < n; i++) {
        v->similarity[i] = pairs[i].similarity;
        st = datastore_add(&v->store, pairs[i].keys, e);
    }
    if (!st && v->store.n) v->finder = &v->store.finder;
    return st;
}

enum status voters_prepare_online(struct voters *v, struct err *e)
{
    int n = v->online->n;
    enum status st = n ? voters_alloc_rows(v, e) : ST_OK;

    for (int i = 0; !st && i < n; i++)
        st = datastore_add(&v->store, v->online->pairs[i]->keys, e);
    if (!st && v->store.n) v->finder = &v->store.finder;
    return st;
}

void voters_end(struct voters *v)
{
    datastore_release(&v->store);
    asking_free(v->asking);
    v->asking = NULL;
    v->finder = NULL;
    free(v->similarity);
    free(v->nb);
    free(v->found);
    free(v->pairs);
    v->pairs = NULL;
    v->similarity = NULL;
    v->nb = NULL;
    v->found = NULL;
}

void voters_release(struct voters *v)
{
    voters_end(v);
    entries_drop(v->entries);
    online_view_drop(v->online);
    free(v->why);
    free(v->votes);
    free(v->again);
    free(v->found_again);
    free(v->named);
    free(v->named_at);
}

/* ---- neighbors ----------------------------------------------------------- */

struct pass_search *voters_search(const struct voters *v)
{
    return v->asking ? asking_search(v->asking) : NULL;
}

enum status voters_ask(struct voters *v, const struct mixer_rows *in,
                       struct err *e)
{
    assert(in->n <= v->rows);
    if (!v->asking) return ST_OK;
    return asking_rows(v->asking, in, v->nb, v->found, e);
}

/* Ask the finder for the neighbors of rows [row, row + n). */
static enum status voters_ask_finder(const struct voters *v,
                                     struct executor *x, int row, int n,
                                     struct neighbor *nb, int *found,
                                     struct err *e)
{
    int each;
    enum status st = finder_nearest(v->finder,
                                    &(struct finder_query){ x, row, n },
                                    v->o.k, nb, &each, e);

    for (int i = 0; !st && i < n; i++) found[i] = each;
    return st;
}

enum status voters_find(struct voters *v, const struct mixer_rows *in,
                        struct err *e)
{
    assert(in->n <= v->rows);
    if (v->asking) return asking_done(v->asking, in, v->nb, v->found, e);
    if (!v->finder) return ST_OK;
    return voters_ask_finder(v, in->x, in->row, in->n, v->nb, v->found, e);
}

enum status voters_find_again(struct voters *v, const struct mixer_reading *in,
                              struct err *e)
{
    int n = v->tokens - in->from < in->n ? v->tokens - in->from : in->n;

    assert(voters_can_record(v, in, 0) && n > 0);
    if (v->asking)
        return asking_again(v->asking, in, n, v->again, v->found_again, e);
    return voters_ask_finder(v, in->x, in->row, n, v->again, v->found_again,
                             e);
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
    /* In a large datastore the nearest pair is often another at the next
     * step. */
    if (v->entries || v->online) return;
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
    if (!v->store.n_pairs || v->online) return;
    *out = guess_of(v, 0, -1, 0);
    out->likely = fmaxf(0, 1.25f * v->similarity[0] - 0.25f);
}

/* ---- explanations -------------------------------------------------------- */

bool voters_can_record(const struct voters *v, const struct mixer_reading *in,
                       int t)
{
    assert(in->hyp >= 0 && in->from >= 0);
    return in->hyp < v->hyps && voters_active(v) && in->from + t < v->tokens;
}

/* The index of a pair in the explanations. */
static int32_t voters_name(struct voters *v, int32_t pair)
{
    uint32_t at = (uint32_t)pair * 2654435761u & v->named_mask;

    if (!v->named) return pair;
    while (v->named_at[at] && v->named[v->named_at[at] - 1] != pair)
        at = (at + 1) & v->named_mask;
    if (!v->named_at[at]) {
        v->named[v->n_named++] = pair;
        v->named_at[at] = v->n_named;
    }
    return v->named_at[at] - 1;
}

bool voters_pair(const struct voters *v, int i, struct mixer_pair *out)
{
    const struct online_pair *corrected;
    struct entry_pair p;

    if (i < 0 || i >= v->n_named) return false;
    if (v->entries) {
        p = v->entries->ops->pair(v->entries, v->named[i]);
        *out = (struct mixer_pair){ p.source.p, p.target.p, p.id, 0 };
        entries_tokens(v->entries, v->named[i], &out->n);
    } else {
        corrected = v->online->pairs[v->named[i]];
        *out = (struct mixer_pair){ corrected->source, corrected->target,
                                    corrected->id, corrected->keys->n };
    }
    return true;
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
        votes[i] = (struct vote){ voters_name(v, nb[i].pair), nb[i].pos,
                                  nb[i].token, nb[i].d2, share[i] };
    return &v->why[at];
}

struct explanation voters_explanation(const struct voters *v, int hyp, int pos)
{
    if (hyp < 0 || hyp >= v->hyps || pos < 0 || pos >= v->tokens)
        return (struct explanation){ 0 };
    return v->why[(size_t)hyp * (size_t)v->tokens + (size_t)pos];
}
