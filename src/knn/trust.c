/* trust.c - computes the features of a step and runs the network on them; reads
 * and writes networks. trust.h has the formulas. */
#include "knn/trust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "knn/net_text.h"

/* Distances above this many tau are equally far. */
#define TRUST_FAR 3.0f
/* Log-probabilities are limited to this and then divided by LOGPROB_UNIT, to
 * bring all features to a similar size. */
#define LOGPROB_LEAST -20.0f
#define LOGPROB_UNIT 5.0f
#define ENTROPY_UNIT 4.0f

/* ---- features ------------------------------------------------------------ */

/* The distance of neighbor i in units of tau. A neighbor that does not exist is
 * far. NaN (from a damaged key) is far, too. */
static float trust_distance(const struct trust_step *s, int i)
{
    float d = i < s->n ? s->nb[i].d2 / s->tau : TRUST_FAR;

    return d < TRUST_FAR ? d : TRUST_FAR;
}

static float trust_logprob(float logprob)
{
    return fmaxf(logprob, LOGPROB_LEAST) / LOGPROB_UNIT;
}

/* The share of the first `most` neighbors that have the token of the
 * nearest. */
static float trust_agreement(const struct trust_step *s, int most)
{
    int n = s->n < most ? s->n : most, same = 0;

    for (int i = 0; i < n; i++) same += s->nb[i].token == s->nb[0].token;
    return (float)same / (float)n;
}

static void vote_features(const struct trust_step *s,
                          struct trust_features *out)
{
    for (int i = 0; i < s->n; i++) {
        float *v = out->votes[i];

        v[TRUST_VOTE_near] = -trust_distance(s, i);
        v[TRUST_VOTE_similarity] = s->similarity[i];
        v[TRUST_VOTE_context] = (float)s->context[i];
        v[TRUST_VOTE_model] = trust_logprob(s->logprob[i]);
        v[TRUST_VOTE_foreign] = s->foreign[i];
        v[TRUST_VOTE_own] = s->own[i];
        v[TRUST_VOTE_aligned] = s->aligned[i];
        v[TRUST_VOTE_focus] = s->focus[i];
        v[TRUST_VOTE_shared] = s->shared[i];
    }
}

void trust_features(const struct trust_step *s, struct trust_features *out)
{
    float *x = out->x, d = trust_distance(s, 0);
    float similar = 0, focus = 0, shared = 0;
    int context = 0;

    assert(s->n >= 1 && s->n <= TRUST_NEIGHBORS && s->tau > 0);
    for (int i = 0; i < s->n; i++) {
        similar = fmaxf(similar, s->similarity[i]);
        focus = fmaxf(focus, s->focus[i]);
        shared = fmaxf(shared, s->shared[i]);
        if (s->context[i] > context) context = s->context[i];
    }
    out->n = s->n;
    x[TRUST_distance] = d;
    x[TRUST_gap_1] = trust_distance(s, 1) - d;
    x[TRUST_gap_3] = trust_distance(s, 3) - d;
    x[TRUST_similarity] = s->similarity[0];
    x[TRUST_context] = (float)s->context[0] / TRUST_CONTEXT;
    x[TRUST_model_token] = trust_logprob(s->logprob[0]);
    x[TRUST_model_best] = s->best_prob;
    x[TRUST_entropy] = s->entropy / ENTROPY_UNIT;
    x[TRUST_same_best] = s->best_token == s->nb[0].token;
    x[TRUST_agree_4] = trust_agreement(s, 4);
    x[TRUST_agree_8] = trust_agreement(s, TRUST_NEIGHBORS);
    x[TRUST_distance_2] = d * d;
    x[TRUST_most_similar] = similar;
    x[TRUST_most_context] = (float)context / TRUST_CONTEXT;
    x[TRUST_foreign] = s->foreign[0];
    x[TRUST_own] = s->own[0];
    x[TRUST_aligned] = s->aligned[0];
    x[TRUST_focus] = s->focus[0];
    x[TRUST_most_focus] = focus;
    x[TRUST_shared] = s->shared[0];
    x[TRUST_most_shared] = shared;
    vote_features(s, out);
}

int trust_context(const int32_t *stored, int pos, const int32_t *said,
                  int n_said)
{
    int n = 0;

    while (n < TRUST_CONTEXT && n < pos && n < n_said &&
           stored[pos - 1 - n] == said[n_said - 1 - n])
        n++;
    return n < TRUST_CONTEXT && n == pos && n == n_said ? n + 1 : n;
}

/* ---- the network --------------------------------------------------------- */

static double trust_logit(const struct trust *t, const float *x)
{
    double a = (double)t->w[TRUST_AT_O_BIAS];

    for (int h = 0; h < TRUST_HIDDEN; h++) {
        const float *row = t->w + TRUST_AT_H + h * TRUST_FEATURES;
        double z = (double)t->w[TRUST_AT_H_BIAS + h];

        for (int i = 0; i < TRUST_FEATURES; i++)
            z += (double)row[i] * (double)x[i];
        a += (double)t->w[TRUST_AT_O + h] * tanh(z);
    }
    return a;
}

static void trust_shares(const struct trust *t, const struct trust_features *f,
                         float *share)
{
    double z[TRUST_NEIGHBORS], max = -INFINITY, sum = 0;

    for (int j = 0; j < f->n; j++) {
        z[j] = 0;
        for (int i = 0; i < TRUST_VOTES; i++)
            z[j] += (double)t->w[TRUST_AT_U + i] * (double)f->votes[j][i];
        max = fmax(max, z[j]);
    }
    for (int j = 0; j < f->n; j++) sum += z[j] = exp(z[j] - max);
    for (int j = 0; j < f->n; j++) share[j] = (float)(z[j] / sum);
}

static void trust_finish(const struct trust *t, const struct trust_features *f,
                         double logit, struct trust_result *out)
{
    assert(f->n >= 1 && f->n <= TRUST_NEIGHBORS);
    out->lambda = (float)(1 / (1 + exp(-logit)));
    if (!(out->lambda >= TRUST_LEAST)) out->lambda = 0;
    trust_shares(t, f, out->share);
}

void trust_run(const struct trust *t, const struct trust_features *f,
               struct trust_result *out)
{
    trust_finish(t, f, trust_logit(t, f->x), out);
}

/* What search adds to the logit of lambda: the values with the best BLEU on
 * lines of the dev sets of IT, Koran and law. */
static double search_offset(const float *x)
{
    return 0.75 + 2 * ((double)x[TRUST_shared] - 0.5) -
           2 * ((double)x[TRUST_entropy] - 0.4) +
           ((double)x[TRUST_similarity] - 0.4);
}

static double search_logit(const struct trust *t, const float *x)
{
    return trust_logit(t, x) + search_offset(x);
}

void trust_decide(const struct trust *t, const struct trust_features *f,
                  struct trust_result *out)
{
    trust_finish(t, f, search_logit(t, f->x), out);
}

/* ---- reasons ------------------------------------------------------------- */

void trust_explain(const struct trust *t, const struct trust_features *f,
                   struct trust_reason out[TRUST_REASONS])
{
    double all = search_logit(t, f->x);
    struct trust_reason r[TRUST_FEATURES];

    for (int i = 0; i < TRUST_FEATURES; i++) {
        float x[TRUST_FEATURES];
        int at = i;

        memcpy(x, f->x, sizeof x);
        x[i] = t->mean[i];
        /* The distance and its square are one reason. */
        if (i == TRUST_distance)
            x[TRUST_distance_2] = t->mean[TRUST_distance_2];
        if (i == TRUST_distance_2) x[i] = f->x[i];
        r[i].feature = (enum trust_feature)i;
        r[i].effect = (float)(all - search_logit(t, x));
        /* Insert it into the list, which is sorted by effect. */
        for (struct trust_reason v = r[i];
             at > 0 && fabsf(r[at - 1].effect) < fabsf(v.effect); at--) {
            r[at] = r[at - 1];
            r[at - 1] = v;
        }
    }
    memcpy(out, r, TRUST_REASONS * sizeof *out);
}

const char *trust_phrase(const struct trust *t, const struct trust_features *f,
                         enum trust_feature feature)
{
    static const char *const phrases[][2] = {
#define X(name, high, low) { high, low },
        TRUST_FEATURES_LIST(X)
#undef X
    };

    assert(feature < TRUST_FEATURES);
    return phrases[feature][!(f->x[feature] >= t->mean[feature])];
}

/* ---- as text ------------------------------------------------------------- */

static const char feature_names[] =
#define X(name, high, low) #name " "
    TRUST_FEATURES_LIST(X)
#undef X
    "/ "
#define X(name) #name " "
    TRUST_VOTES_LIST(X)
#undef X
    ;

static uint32_t feature_checksum(void)
{
    return (uint32_t)XXH3_64bits(feature_names, sizeof feature_names - 1);
}

void trust_write(const struct trust *t, uint64_t model, char out[TRUST_TEXT])
{
    char *at = out;

    at += sprintf(at, "1 %016llx %08lx ", (unsigned long long)model,
                  (unsigned long)feature_checksum());
    at = net_text_put_floats(at, t->w, TRUST_PARAMS);
    at = net_text_put_floats(at, t->mean, TRUST_FEATURES);
    at = net_text_put_seal(out, at);
    assert(at - out == TRUST_TEXT - 1);
}

static enum status trust_damaged(struct err *e)
{
    return err_set(e, ST_FORMAT, "trust: the network is damaged");
}

enum status trust_read(struct trust *t, uint64_t *model, const char *text,
                       struct err *e)
{
    enum { MODEL = 2, NAMES = MODEL + 17, VALUES = NAMES + 9 };
    size_t n = TRUST_TEXT - 1 - NET_TEXT_SEAL;
    uint64_t names;

    if (strncmp(text, "1 ", 2))
        return err_set(e, ST_VERSION, "trust: the network has a form that this "
                       "version of skmt does not know; train it again (skmt "
                       "tune --learn)");
    if (strlen(text) < VALUES || !net_text_number(text + NAMES, 8, &names))
        return trust_damaged(e);
    if (names != feature_checksum())
        return err_set(e, ST_VERSION, "trust: the network has other features "
                       "than this version of skmt; train it again (skmt tune "
                       "--learn)");
    if (strlen(text) != TRUST_TEXT - 1 || !net_text_sealed(text, n) ||
        text[NAMES - 1] != ' ' || text[VALUES - 1] != ' ' ||
        !net_text_number(text + MODEL, 16, model) ||
        !net_text_floats(text + VALUES, t->w, TRUST_PARAMS) ||
        !net_text_floats(text + VALUES + 8 * TRUST_PARAMS, t->mean,
                         TRUST_FEATURES))
        return trust_damaged(e);
    return ST_OK;
}
