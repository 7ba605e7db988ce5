/* skmt_trainer.c - the part of include/skmt_tools.h that trains the network of
 * learned trust. The work is done in engine/trust_trainer.c and
 * knn/trust_train.c. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/sized.h"
#include "api/tm_handle.h"
#include "base/invariant.h"
#include "engine/trust_trainer.h"
#include "text/utf8.h"

enum trainer_begin { BEGIN_MODEL, BEGIN_PRESENT, BEGIN_RANDOM };

struct skmt_trainer {
    const struct engine *en;    /* held */
    struct shared_keys *own_keys;       /* NULL: keys of the caller */
    struct trust_trainer *trainer;
    struct trust_samples train, valid;
    struct trust_training how;
    struct options o;           /* of the translations */
    enum trainer_begin begin;
    bool trained;
    struct trust net;
    char network[TRUST_TEXT];
    double stats[10];
    char step[4000];            /* of skmt_trainer_step */
};

skmt_status skmt_trainer_new(skmt_trainer **out, const skmt_model *model,
                             const skmt_options *options, skmt_keys *keys,
                             skmt_error *err)
{
    skmt_trainer *t = calloc(1, sizeof *t);
    enum status st;

    *out = NULL;
    err_clear(err_of(err));
    if (!t) return (skmt_status)err_nomem(err_of(err), "training");
    t->en = engine_hold(engine_of(model));
    t->how = trust_training_defaults();
    t->o = options_or_defaults(options);
    if (keys) st = shared_keys_fit(keys->k, t->en, &t->o, err_of(err));
    else st = shared_keys_new(&t->own_keys, t->en, &t->o, NULL, err_of(err));
    if (!st)
        st = trust_trainer_new(&t->trainer, t->en, &t->o,
                               keys ? keys->k : t->own_keys, err_of(err));
    if (st) skmt_trainer_free(t);
    else *out = t;
    return (skmt_status)st;
}

void skmt_trainer_free(skmt_trainer *t)
{
    if (!t) return;
    trust_trainer_free(t->trainer);
    shared_keys_free(t->own_keys);
    trust_samples_release(&t->train);
    trust_samples_release(&t->valid);
    engine_close(t->en);
    free(t);
}

/* ---- settings ------------------------------------------------------------ */

static const char *const trainer_features[] = {
#define X(name, high, low) #name,
    TRUST_FEATURES_LIST(X)
#undef X
};

const char *skmt_trainer_feature(int i)
{
    return i >= 0 && i < TRUST_FEATURES ? trainer_features[i] : NULL;
}

static enum status trainer_drop(skmt_trainer *t, const char *name,
                                struct err *e)
{
    if (!*name) t->how.drop = 0;
    if (!*name) return ST_OK;
    for (int i = 0; i < TRUST_FEATURES; i++)
        if (!strcmp(trainer_features[i], name)) {
            t->how.drop |= 1u << i;
            return ST_OK;
        }
    return err_set(e, ST_ARGUMENT, "drop: there is no feature \"%.40s\"", name);
}

static enum status trainer_set_begin(skmt_trainer *t, const char *value,
                                     struct err *e)
{
    static const char *const names[] = { [BEGIN_MODEL] = "model",
                                         [BEGIN_PRESENT] = "present",
                                         [BEGIN_RANDOM] = "random" };

    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        if (strcmp(names[i], value)) continue;
        t->begin = (enum trainer_begin)i;
        return i == BEGIN_PRESENT ? engine_check_trust(t->en, &t->o, e) : ST_OK;
    }
    return err_set(e, ST_ARGUMENT, "begin: \"%.40s\" is not model, present or "
                   "random", value);
}

static enum status trainer_number(const char *key, const char *value,
                                  double low, double high, double *out,
                                  struct err *e)
{
    char *end;

    *out = strtod(value, &end);
    if (end != value && !*end && *out >= low && *out <= high) return ST_OK;
    return err_set(e, ST_ARGUMENT, "%s: \"%.40s\" is not a number from %g to "
                   "%g", key, value, low, high);
}

static enum status trainer_set(skmt_trainer *t, const char *key,
                               const char *value, struct err *e)
{
    struct trust_training *h = &t->how;
    double x;
    enum status st;

    if (!strcmp(key, "drop")) return trainer_drop(t, value, e);
    if (!strcmp(key, "begin")) return trainer_set_begin(t, value, e);
    if (!strcmp(key, "rate"))
        return trainer_number(key, value, 1e-6, 1, &h->rate, e);
    st = trainer_number(key, value, !strcmp(key, "seed") ? 0 : 1, 1e9, &x, e);
    if (!strcmp(key, "seed")) h->seed = st ? h->seed : (uint64_t)x;
    else if (!strcmp(key, "epochs")) h->epochs = st ? h->epochs : (int)x;
    else if (!strcmp(key, "patience")) h->patience = st ? h->patience : (int)x;
    else if (!strcmp(key, "batch")) h->batch = st ? h->batch : (int)x;
    else return err_set(e, ST_ARGUMENT, "a trainer has no setting \"%.40s\"",
                        key);
    return st;
}

skmt_status skmt_trainer_set(skmt_trainer *t, const char *key,
                             const char *value, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)trainer_set(t, key, value, err_of(err));
}

/* ---- steps --------------------------------------------------------------- */

_Static_assert(SKMT_TRAINER_PAIRS == TRAINING_PAIRS, "the same number");

static enum status trainer_check_text(const char *what, const char *text,
                                      struct err *e)
{
    if (text && utf8_check(text, strlen(text)) == strlen(text)) return ST_OK;
    return err_set(e, text ? ST_TEXT : ST_ARGUMENT, "the %s is %s", what,
                   text ? "not valid UTF-8" : "NULL");
}

skmt_status skmt_trainer_add(skmt_trainer *t, const char *source,
                             const char *target, const skmt_similar *pairs,
                             int n, int validate, skmt_error *err)
{
    struct err *e = err_of(err);
    struct similar_pair *given = NULL;
    enum status st;

    err_clear(e);
    st = trainer_check_text("source", source, e);
    if (!st) st = trainer_check_text("target", target, e);
    if (!st) st = similar_pairs_of(pairs, n, &given, e);
    if (!st)
        st = trust_trainer_add(t->trainer, str_of(source), str_of(target),
                               given, n, validate ? &t->valid : &t->train, e);
    free(given);
    return (skmt_status)st;
}

/* The network that the options choose; NULL: SK-MT2. */
static const struct trust *trainer_present(const skmt_trainer *t)
{
    return t->o.trust.is_set ? &t->o.trust.net : t->en->trust;
}

static const struct trust *trainer_first(const skmt_trainer *t)
{
    switch (t->begin) {
    case BEGIN_MODEL: return t->en->trust;
    case BEGIN_PRESENT: return trainer_present(t);
    case BEGIN_RANDOM: break;
    }
    return NULL;
}

skmt_status skmt_trainer_train(skmt_trainer *t, skmt_trainer_fn *fn, void *user,
                               skmt_error *err)
{
    enum status st;

    err_clear(err_of(err));
    t->how.progress = fn;
    t->how.user = user;
    st = trust_train(&t->net, trainer_first(t), &t->train, &t->valid, &t->how,
                     err_of(err));
    t->trained = !st;
    if (!st) trust_write(&t->net, engine_weights_id(t->en), t->network);
    return (skmt_status)st;
}

const char *skmt_trainer_network(skmt_trainer *t)
{
    return t->trained ? t->network : NULL;
}

/* ---- statistics ---------------------------------------------------------- */

static void trainer_count(skmt_trainer *t)
{
    const struct trust_samples *v = t->valid.n ? &t->valid : &t->train;
    double lambda = 0, *s = t->stats;

    s[0] = (double)t->train.n;
    s[1] = (double)t->valid.n;
    s[2] = trust_loss_model(v);
    s[3] = trust_loss_sk(v, 2, 1);
    s[4] = trust_loss_fixed(v, &lambda);
    s[5] = lambda;
    s[6] = t->en->trust ? trust_loss(t->en->trust, v) : s[3];
    s[7] = t->trained ? trust_loss(&t->net, v) : s[6];
    s[8] = trust_loss_oracle(v);
    s[9] = trainer_present(t) ? trust_loss(trainer_present(t), v) : s[3];
}

const char *skmt_trainer_stat(skmt_trainer *t, int i, double *value)
{
    static const char *const names[] = { "steps", "valid_steps", "plain",
        "sk2", "fixed", "fixed_weight", "model", "learned", "oracle",
        "present" };
    _Static_assert(sizeof names / sizeof *names ==
                   sizeof t->stats / sizeof *t->stats, "a name for each");

    *value = 0;
    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    if (i == 0) trainer_count(t);
    *value = t->stats[i];
    return names[i];
}

/* The JSON of a step. All numbers of the most neighbors fit in skmt_trainer's
 * `step`: a number takes at most 16 characters. */
struct step_text {
    char *at;
    size_t room;
};

__attribute__((format(printf, 2, 3)))
static void step_addf(struct step_text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->at, t->room, fmt, ap);
    va_end(ap);
    assert(n >= 0 && (size_t)n < t->room);
    t->at += n;
    t->room -= (size_t)n;
}

static void step_add_floats(struct step_text *t, const float *x, int n)
{
    for (int i = 0; i < n; i++)
        step_addf(t, "%s%.9g", i ? "," : "[", (double)x[i]);
    step_addf(t, n ? "]" : "[]");
}

/* What was known of a neighbor. */
static void step_add_neighbor(struct step_text *t,
                              const struct trust_inputs *in, int j)
{
    step_addf(t, "%s{\"token\":%ld,\"d2\":%.9g,\"similarity\":%.9g,"
              "\"context\":%d,\"logprob\":%.9g,\"foreign\":%d,\"own\":%d,"
              "\"aligned\":%.9g,\"focus\":%.9g,\"shared\":%.9g}",
              j ? "," : "", (long)in->nb[j].token, (double)in->nb[j].d2,
              (double)in->similarity[j], in->context[j],
              (double)in->logprob[j], in->foreign[j], in->own[j],
              (double)in->aligned[j], (double)in->focus[j],
              (double)in->shared[j]);
}

static void step_add_inputs(struct step_text *t, const struct trust_sample *s)
{
    const struct trust_inputs *in = &s->in;

    if (s->f.n)
        step_addf(t, "\"tau\":%.9g,\"best_prob\":%.9g,\"entropy\":%.9g,"
                  "\"best_token\":%ld,", (double)in->tau,
                  (double)in->best_prob, (double)in->entropy,
                  (long)in->best_token);
    step_addf(t, "\"neighbors\":[");
    for (int j = 0; j < s->f.n; j++) step_add_neighbor(t, in, j);
    step_addf(t, "],");
}

const char *skmt_trainer_step(skmt_trainer *t, size_t i)
{
    const struct trust_sample *s;
    struct trust_result r = { 0 }, search = { 0 };
    struct step_text out = { t->step, sizeof t->step };

    if (i >= t->train.n) return NULL;
    s = &t->train.at[i];
    if (s->f.n && t->trained) {
        trust_run(&t->net, &s->f, &r);
        trust_decide(&t->net, &s->f, &search);
    }
    step_addf(&out, "{\"model\":%.9g,\"hits\":%u,", (double)s->model,
              s->hits);
    step_add_inputs(&out, s);
    step_addf(&out, "\"x\":");
    step_add_floats(&out, s->f.x, s->f.n ? TRUST_FEATURES : 0);
    step_addf(&out, ",\"votes\":[");
    for (int j = 0; j < s->f.n; j++) {
        step_addf(&out, j ? "," : "");
        step_add_floats(&out, s->f.votes[j], TRUST_VOTES);
    }
    step_addf(&out, "],\"lambda\":%.9g,\"search_lambda\":%.9g,\"share\":",
              (double)r.lambda, (double)search.lambda);
    step_add_floats(&out, r.share, s->f.n);
    step_addf(&out, "}");
    return t->step;
}
