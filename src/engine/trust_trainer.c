/* trust_trainer.c - runs pairs through the model by teacher forcing and records
 * the features of each step. */
#include "engine/trust_trainer.h"

#include <math.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "engine/datastore_builder.h"
#include "knn/learned.h"

/* Rows of a forced text. Stored texts are cut to fewer. */
enum { MOST_ROWS = 512 };

struct trust_trainer {
    const struct engine *en;
    struct options o;
    struct shared_keys *keys;
    struct datastore_builder *builder;
    struct executor *x;
    struct steering_pair pairs[TRAINING_PAIRS]; /* of one text */
    struct steering_pair *missing[TRAINING_PAIRS];
    struct system_pair prepared[TRAINING_PAIRS];
    unsigned texts_added;
};

enum status trust_trainer_new(struct trust_trainer **out,
                              const struct engine *en, const struct options *o,
                              struct shared_keys *keys, struct err *e)
{
    struct trust_trainer *t = calloc(1, sizeof *t);
    int most = en->backend->max_pos < MOST_ROWS ? en->backend->max_pos
                                                : MOST_ROWS;
    struct executor_limits l = { .max_source = most, .max_len = most,
                                 .rows = most };
    enum status st;

    *out = NULL;
    if (!t) return err_nomem(e, "training");
    t->en = en;
    t->o = *o;
    t->keys = keys;
    t->o.system = SYSTEM_LEARNED;
    if (t->o.preset == PRESET_AUTO) t->o.preset = PRESET_LEARNED;
    st = datastore_builder_new(&t->builder, en, NULL, e);
    if (!st)
        st = backend_executor_new(en->backend, &l, NULL, &t->x, e);
    if (st) trust_trainer_free(t);
    else *out = t;
    return st;
}

void trust_trainer_free(struct trust_trainer *t)
{
    if (!t) return;
    executor_free(t->x);
    datastore_builder_free(t->builder);
    free(t);
}

/* ---- the pairs of a text ------------------------------------------------- */

/* Compute the keys of the similar pairs. *n_used is the number of those that
 * can vote; they are in t->pairs. */
static enum status trainer_find_keys(struct trust_trainer *t,
                                     const struct steering_pair *self,
                                     const struct similar_pair *pairs, int n,
                                     int *n_used, struct err *e)
{
    enum status st = ST_OK;

    *n_used = 0;
    if (n > TRAINING_PAIRS) n = TRAINING_PAIRS;
    for (int i = 0; !st && i < n; i++) {
        struct steering_pair *p = &t->pairs[*n_used];

        *p = (struct steering_pair){
            .similarity = fmin(fmax(pairs[i].similarity, 0), 1) };
        t->missing[*n_used] = p;
        st = steering_pair_prepare(t->en, t->keys->cache, pairs[i].source,
                                   pairs[i].target, p, e);
        if (!st)
            st = steering_pair_compare(t->en, pairs[i].source, self->ids,
                                       self->n_src, p, e);
        if (st || (!p->keys && !p->n_tgt)) steering_pair_release(p);
        else ++*n_used;
    }
    if (!st)
        st = datastore_builder_make(t->builder, t->keys, t->missing, *n_used,
                                    e);
    return st;
}

static void trainer_release_pairs(struct trust_trainer *t, int n)
{
    for (int i = 0; i < n; i++) steering_pair_release(&t->pairs[i]);
}

/* ---- the steps of a text ------------------------------------------------- */

/* A text that runs through the decoder. */
struct trainer_text {
    const int32_t *tokens;      /* [n] without EOS */
    int n;
    struct voters voters;
};

static int32_t right_token(const struct trust_trainer *t,
                           const struct trainer_text *text, int step)
{
    return step < text->n ? text->tokens[step]
                          : t->en->backend->cfg->eos_id;
}

static void said_before(struct voters_said *said,
                        const struct trainer_text *text, int step)
{
    struct mixer_reading in = { .from = 0, .tokens = text->tokens };

    voters_said_token(said, &in, step);
}

/* The probabilities of the tokens of a row, and of the right one after them. */
static enum status project_step(struct trust_trainer *t, int step,
                                int32_t right, const struct learned_row *row,
                                struct projection *p, int32_t *listed,
                                struct err *e)
{
    for (int i = 0; i < row->n_tokens; i++) listed[i] = row->token[i];
    listed[row->n_tokens] = right;
    p->n_listed = row->n_tokens + 1;
    p->listed = listed;
    return t->x->ops->project(t->x, step, 1, p, e);
}

static void keep_inputs(const struct trust_step *s, struct trust_inputs *out)
{
    for (int i = 0; i < s->n; i++) {
        out->nb[i] = s->nb[i];
        out->similarity[i] = s->similarity[i];
        out->logprob[i] = s->logprob[i];
        out->context[i] = s->context[i];
        out->foreign[i] = s->foreign[i];
        out->own[i] = s->own[i];
        out->aligned[i] = s->aligned[i];
        out->focus[i] = s->focus[i];
        out->shared[i] = s->shared[i];
    }
    out->best_prob = s->best_prob;
    out->entropy = s->entropy;
    out->tau = s->tau;
    out->best_token = s->best_token;
}

/* Compute the features of a sample. */
static void set_features(const struct trainer_text *text,
                         const struct learned_row *row,
                         const struct projection *p, struct trust_sample *out)
{
    struct learned_values of;
    struct trust_step step = learned_step(&text->voters, row, p, &of);

    keep_inputs(&step, &out->in);
    learned_features(&text->voters, row, p, &out->f);
}

static enum status trainer_add_step(struct trust_trainer *t,
                                    struct trainer_text *text, int step,
                                    struct trust_samples *to, struct err *e)
{
    int found = voters_active(&text->voters)
              ? voters_count(&text->voters, step) : 0;
    int32_t listed[TRUST_NEIGHBORS + 1], right = right_token(t, text, step);
    float logit[TRUST_NEIGHBORS + 1];
    struct token_logit best;
    struct projection p = { .n_best = 1, .best = &best,
                            .listed_logit = logit };
    struct trust_sample s = { .hits = 0 };
    struct learned_row row;
    struct voters_said said;
    const float *attention;
    size_t ld;
    enum status st = t->x->ops->attention(t->x, step, 1, &attention, &ld, e);

    if (st) return st;
    said_before(&said, text, step);
    learned_choose(&text->voters, voters_of(&text->voters, step), found, &said,
                   attention, false, &row);
    st = project_step(t, step, right, &row, &p, listed, e);
    if (st) return st;
    s.model = expf(logit[row.n_tokens] - p.max) / p.sum;
    if (row.n) set_features(text, &row, &p, &s);
    for (int j = 0; j < row.n; j++) {
        s.hits |= (uint32_t)(row.nb[j].token == right) << j;
        s.abstains |= (uint32_t)row.abstains[j] << j;
        s.distance[j] = row.nb[j].d2 / (float)text->voters.o.model_tau;
    }
    return trust_samples_add(to, &s) ? ST_OK : err_nomem(e, "training");
}

/* Add the steps of a text that has run through the decoder. */
static enum status trainer_add_steps(struct trust_trainer *t,
                                     struct trainer_text *text,
                                     struct trust_samples *to, struct err *e)
{
    struct mixer_rows rows = { .x = t->x, .n = text->n + 1 };
    enum status st = voters_find(&text->voters, &rows, e);

    /* A text that was cut does not end where EOS would be. */
    for (int i = 0; !st && i < text->n + (text->n < PAIR_PIECES); i++)
        st = trainer_add_step(t, text, i, to, e);
    return st;
}

static struct system_options trainer_options(const struct trust_trainer *t)
{
    const struct config *cfg = t->en->backend->cfg;
    double tau = options_tau(&(struct options){ 0 }, cfg->knn_tau);

    return (struct system_options){
        .k = options_k(&t->o), .weigh = { .tau = tau }, .model_tau = tau,
        .repeat_votes = options_repeat_votes(&t->o),
        .eos_abstains = options_eos_abstains(&t->o),
        .eos = cfg->eos_id };
}

static void trainer_list_pairs(struct trust_trainer *t, int n)
{
    for (int i = 0; i < n; i++)
        t->prepared[i] = (struct system_pair){
            .keys = t->pairs[i].keys,
            .similarity = (float)t->pairs[i].similarity,
            .foreign = t->pairs[i].foreign,
            .n_foreign = t->pairs[i].n_foreign,
            .match = t->pairs[i].match.token,
            .same_word = t->pairs[i].match.same_word,
            .n_match = t->pairs[i].match.n };
}

/* Add the steps of a text as they are with its first n_pairs pairs. */
static enum status trainer_add_with(struct trust_trainer *t,
                                    const struct steering_pair *self,
                                    int n_pairs, struct trust_samples *to,
                                    struct err *e)
{
    struct trainer_text text = { self->ids + self->n_src, self->n_tgt,
                                 .voters = { .rows = 0 } };
    const struct config *cfg = t->en->backend->cfg;
    struct system_options o = trainer_options(t);
    struct system_sentence need = { .rows = text.n + 1, .nbest = 1,
                                    .max_len = text.n + 1,
                                    .source = self->ids,
                                    .n_source = self->n_src,
                                    .n_prefix = cfg->prefix_id >= 0,
                                    .n_suffix = cfg->suffix_id >= 0 };
    enum status st = voters_init(&text.voters, &o, &need, TRUST_NEIGHBORS, e);

    if (!st) st = voters_prepare(&text.voters, t->prepared, n_pairs, e);
    if (!st) st = trainer_add_steps(t, &text, to, e);
    voters_release(&text.voters);
    return st;
}

/* Run the text through the decoder and add its steps: with all its pairs, and
 * once more with the first 1, 2 or 4, as if the memory were small. */
static enum status trainer_add_text(struct trust_trainer *t,
                                    const struct steering_pair *self,
                                    int n_pairs, struct trust_samples *to,
                                    struct err *e)
{
    struct source src = { self->ids, self->n_src };
    struct forced_text forced = { 0, self->ids + self->n_src,
                                  self->n_tgt + 1 };
    int few = 1 << t->texts_added++ % 3;
    enum status st = t->x->ops->force(t->x, &src, 1, &forced, 1,
                                      WANT_ATTENTION, e);

    trainer_list_pairs(t, n_pairs);
    if (!st) st = trainer_add_with(t, self, n_pairs, to, e);
    if (!st && few < n_pairs) st = trainer_add_with(t, self, few, to, e);
    return st;
}

enum status trust_trainer_add(struct trust_trainer *t, struct str source,
                              struct str target,
                              const struct similar_pair *pairs, int n,
                              struct trust_samples *to, struct err *e)
{
    int most = t->x->limits.rows, n_used = 0;
    struct steering_pair self = { 0 };
    enum status st = steering_pair_encode(t->en, source, target, &self, e);

    if (!st && self.n_tgt && self.n_tgt < most && self.n_src <= most) {
        st = trainer_find_keys(t, &self, pairs, n, &n_used, e);
        if (!st) st = trainer_add_text(t, &self, n_used, to, e);
        trainer_release_pairs(t, n_used);
    }
    steering_pair_release(&self);
    return st;
}
