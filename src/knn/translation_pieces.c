/* translation_pieces.c - the steering system "pieces" (Zhang et al., Guiding
 * Neural Machine Translation with Retrieved Translation Pieces, NAACL 2018).
 *
 * The n-grams come from the pairs of the sentence (ngrams.h). Which words
 * translate which comes from links that the engine computed with a trained
 * alignment, or else from the attention that is stored with the keys of a pair.
 * At each step a token gets lambda times the weights of the n-grams that it
 * completes. This is added to its log-probability and is not normalized, unless
 * option pieces-normalize is set: then the result is a distribution again, a
 * mixture of the model's distribution with the listed tokens. EOS never gets a
 * reward.
 *
 * Invariant: rewards of row i belong to the last pass only. */
#include "knn/translation_pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "knn/ngrams.h"

struct translation_pieces {     /* the mixer of a sentence */
    struct mixer mixer;         /* must be the first member */
    float lambda;
    bool normalize;
    int32_t eos;
    int rows;
    struct ngrams *ngrams;      /* from prepare to end; NULL: no pairs */
    float *reward;              /* [rows, n_words] likewise */
    float *add;                 /* [rows, n_words] likewise; zeros unless
                                   probabilities are normalized */
    int hyps, tokens;           /* room for explanations; 0: none */
    struct explanation *why;    /* [hyps, tokens] */
    struct vote *votes;         /* [hyps, tokens, NGRAM_MOST] */
};

static struct translation_pieces *translation_pieces_of(struct mixer *m)
{
    return (struct translation_pieces *)(void *)m;
}

/* ---- a step ------------------------------------------------------------- */

static enum status translation_pieces_list(struct mixer *m,
                                           const struct mixer_rows *in,
                                           struct mixture *out, struct err *e)
{
    struct translation_pieces *tp = translation_pieces_of(m);
    int n = tp->ngrams ? tp->ngrams->n_words : 0;

    (void)e;
    assert(in->n <= tp->rows);
    if (!n) return ST_OK;
    for (int i = 0; i < in->n; i++) {
        float *reward = tp->reward + (size_t)i * (size_t)n;
        int32_t last[NGRAM_MOST - 1];
        int n_last = mixer_last_tokens(in, i, last, NGRAM_MOST - 1);

        ngrams_rewards(tp->ngrams, last, n_last, reward);
        for (int k = 0; k < n; k++) reward[k] *= tp->lambda;
        out[i] = (struct mixture){ .keep = 1, .n = n,
                                   .token = tp->ngrams->word,
                                   .add = tp->add + (size_t)i * (size_t)n,
                                   .reward = tp->normalize ? NULL : reward };
    }
    return ST_OK;
}

/* Turn the rewards of a row into a mixture (method 10.4). */
static void normalize_row(const float *reward, const struct projection *p,
                          float *add, struct mixture *out)
{
    double sum = 1;

    for (int k = 0; k < out->n; k++) {
        double model = exp((double)p->listed_logit[k] - (double)p->max) /
                       (double)p->sum;

        add[k] = (float)(model * expm1((double)reward[k]));
        sum += (double)add[k];
    }
    for (int k = 0; k < out->n; k++) add[k] = (float)((double)add[k] / sum);
    out->keep = (float)(1 / sum);
}

static void translation_pieces_mix(struct mixer *m,
                                   const struct mixer_rows *in,
                                   const struct projection *p,
                                   struct mixture *out)
{
    struct translation_pieces *tp = translation_pieces_of(m);

    if (!tp->normalize || !tp->ngrams) return;
    for (int i = 0; i < in->n; i++) {
        size_t at = (size_t)i * (size_t)tp->ngrams->n_words;

        if (out[i].n)
            normalize_row(tp->reward + at, &p[i], tp->add + at, &out[i]);
    }
}

/* ---- explanations ------------------------------------------------------- */

/* Record the n-grams that token t of a reading completes. */
static void translation_pieces_record(struct translation_pieces *tp,
                                      const struct mixer_reading *in, int t)
{
    static const char *const reasons[] = {
        "", "stored token", "completes 2 stored tokens",
        "completes 3 stored tokens", "completes 4 stored tokens" };
    size_t at = (size_t)in->hyp * (size_t)tp->tokens + (size_t)(in->from + t);
    int before = in->from + t;
    int n_last = before < NGRAM_MOST - 1 ? before : NGRAM_MOST - 1;
    const struct ngram *found[NGRAM_MOST];
    int n = ngrams_completed(tp->ngrams, in->tokens + before - n_last, n_last,
                             in->tokens[before], found);
    struct vote *votes = tp->votes + at * NGRAM_MOST;
    float sum = 0;

    if (!n) return;
    for (int i = n; i-- > 0;) sum += found[i]->weight;
    for (int i = 0; i < n; i++)
        votes[i] = (struct vote){ found[i]->pair, found[i]->pos,
                                  in->tokens[before], 0,
                                  found[i]->weight / sum };
    tp->why[at] = (struct explanation){
        .weight = 1 - expf(-tp->lambda * sum), .n = n, .votes = votes,
        .n_reasons = 1,
        .reasons = { { reasons[found[0]->n], tp->lambda * sum } } };
}

static enum status translation_pieces_explain(struct mixer *m,
                                              const struct mixer_reading *in,
                                              struct err *e)
{
    struct translation_pieces *tp = translation_pieces_of(m);

    (void)e;
    if (!tp->ngrams || in->hyp >= tp->hyps || !(tp->lambda > 0)) return ST_OK;
    for (int t = 0; t < in->n && in->from + t < tp->tokens; t++)
        translation_pieces_record(tp, in, t);
    return ST_OK;
}

static struct explanation translation_pieces_explanation(const struct mixer *m,
                                                         int hyp, int pos)
{
    const struct translation_pieces *tp = (const void *)m;

    if (hyp < 0 || hyp >= tp->hyps || pos < 0 || pos >= tp->tokens)
        return (struct explanation){ 0 };
    return tp->why[(size_t)hyp * (size_t)tp->tokens + (size_t)pos];
}

/* ---- creation and destruction ------------------------------------------- */

static void translation_pieces_end(struct mixer *m)
{
    struct translation_pieces *tp = translation_pieces_of(m);

    ngrams_free(tp->ngrams);
    free(tp->reward);
    free(tp->add);
    tp->ngrams = NULL;
    tp->reward = tp->add = NULL;
}

static void translation_pieces_free(struct mixer *m)
{
    struct translation_pieces *tp = translation_pieces_of(m);

    translation_pieces_end(m);
    free(tp->why);
    free(tp->votes);
    free(tp);
}

static const struct mixer_ops translation_pieces_ops = {
    .list = translation_pieces_list, .mix = translation_pieces_mix,
    .explain = translation_pieces_explain,
    .explanation = translation_pieces_explanation,
    .end = translation_pieces_end, .free = translation_pieces_free,
};

static bool translation_pieces_alloc(struct translation_pieces *tp,
                                     const struct system_sentence *s)
{
    size_t n = (size_t)s->nbest * (size_t)s->max_len;

    if (!s->explain) return true;
    tp->why = calloc(n, sizeof *tp->why);
    tp->votes = calloc(n * NGRAM_MOST, sizeof *tp->votes);
    if (!tp->why || !tp->votes) return false;
    tp->hyps = s->nbest;
    tp->tokens = s->max_len;
    return true;
}

static enum status translation_pieces_new(struct mixer **out,
                                          const struct system_options *o,
                                          const struct system_sentence *s,
                                          struct err *e)
{
    struct translation_pieces *tp;

    *out = NULL;
    if (!(o->pieces_weight >= 0 && o->pieces_weight <= PIECES_WEIGHT_MOST))
        return err_set(e, ST_ARGUMENT, "pieces-weight must be from 0 to %d",
                       (int)PIECES_WEIGHT_MOST);
    assert(s->rows > 0 && s->nbest > 0 && s->max_len > 0);
    tp = calloc(1, sizeof *tp);
    if (!tp) return err_nomem(e, "translation pieces");
    tp->mixer.ops = &translation_pieces_ops;
    tp->lambda = (float)o->pieces_weight;
    tp->normalize = o->pieces_normalize;
    tp->eos = o->eos;
    tp->rows = s->rows;
    if (!translation_pieces_alloc(tp, s)) {
        translation_pieces_free(&tp->mixer);
        return err_nomem(e, "translation pieces");
    }
    *out = &tp->mixer;
    return ST_OK;
}

/* ---- pairs -------------------------------------------------------------- */

/* Set the fates of the target tokens of a pair. EOS is no word. Without links,
 * each token is aligned to the source piece that its state attends to most. */
static void pair_fates(const struct translation_pieces *tp,
                       const struct system_pair *p, uint8_t *fate)
{
    assert(p->links || p->keys->n == p->n_target);
    if (p->links)
        unedited_fates(p->kept, p->n_kept, p->links, p->n_links, fate,
                       p->n_target);
    else
        for (int i = 0; i < p->n_target; i++)
            fate[i] = p->keys->from[i] < p->n_kept &&
                      p->kept[p->keys->from[i]] ? FATE_KEPT : FATE_EDITED;
    for (int i = 0; i < p->n_target; i++)
        if (p->target[i] == tp->eos) fate[i] = FATE_EDITED;
}

static enum status collect_ngrams(struct translation_pieces *tp,
                                  const struct system_pair *pairs, int n,
                                  struct err *e)
{
    struct ngram_target *targets = calloc((size_t)n, sizeof *targets);
    size_t all = 1, at = 0;
    enum status st;
    uint8_t *fates;

    for (int i = 0; i < n; i++) all += (size_t)pairs[i].n_target;
    fates = malloc(all);
    if (targets && fates) {
        for (int i = 0; i < n; i++) {
            targets[i] = (struct ngram_target){
                pairs[i].target, fates + at, pairs[i].n_target,
                pairs[i].similarity };
            pair_fates(tp, &pairs[i], fates + at);
            at += (size_t)pairs[i].n_target;
        }
        st = ngrams_new(&tp->ngrams, targets, n, e);
    } else {
        st = err_nomem(e, "translation pieces");
    }
    free(targets);
    free(fates);
    return st;
}

static enum status translation_pieces_prepare(struct mixer *m, void *worker,
                                              const struct system_pair *pairs,
                                              int n, struct err *e)
{
    struct translation_pieces *tp = translation_pieces_of(m);
    enum status st;
    size_t words;

    (void)worker;
    assert(!tp->ngrams);
    if (!n) return ST_OK;
    st = collect_ngrams(tp, pairs, n, e);
    if (st) return st;
    words = (size_t)tp->ngrams->n_words;
    tp->reward = calloc(words * (size_t)tp->rows + 1, sizeof *tp->reward);
    tp->add = calloc(words * (size_t)tp->rows + 1, sizeof *tp->add);
    if (!tp->reward || !tp->add) return err_nomem(e, "translation pieces");
    if (!tp->normalize)
        m->most_reward = ngrams_most_reward(tp->ngrams) * tp->lambda;
    return ST_OK;
}

static const char *const translation_pieces_option_names[] = {
    "pieces-weight", "pieces-normalize", NULL
};

const struct steering_system translation_pieces_system = {
    .name = "pieces",
    .title = "rewards for n-grams of a few similar pairs",
    .paper = "Zhang et al., Guiding Neural Machine Translation with Retrieved "
             "Translation Pieces, NAACL 2018",
    .options = translation_pieces_option_names,
    .needs = NEEDS_PAIRS | NEEDS_KEPT,
    .sentence_new = translation_pieces_new,
    .prepare = translation_pieces_prepare,
};
