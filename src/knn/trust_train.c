/* trust_train.c - the gradient of the loss, and training with Adam and early
 * stopping. */
#include "knn/trust_train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/random.h"
#include "knn/adam.h"

/* Added to a probability before its logarithm is taken, as in search. */
#define LEAST_PROB 1e-9

void trust_samples_release(struct trust_samples *s)
{
    free(s->at);
    memset(s, 0, sizeof *s);
}

bool trust_samples_add(struct trust_samples *s, const struct trust_sample *it)
{
    if (!mem_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at)) return false;
    s->at[s->n++] = *it;
    return true;
}

struct trust_training trust_training_defaults(void)
{
    return (struct trust_training){ .rate = 0.003, .epochs = 200,
                                    .patience = 20, .batch = 128, .seed = 1 };
}

/* ---- loss and gradient --------------------------------------------------- */

/* What the network computes for a sample. */
struct trust_pass {
    double hidden[TRUST_HIDDEN];        /* after tanh */
    double lambda;
    double share[TRUST_NEIGHBORS];
    double hit;                         /* probability by the neighbors */
    double p;                           /* of the reference token */
};

/* The probability of the reference token by neighbor j. */
static double neighbor_prob(const struct trust_sample *s, int j)
{
    if (s->abstains >> j & 1) return (double)s->model;
    return s->hits >> j & 1;
}

static void pass_shares(const double *w, const struct trust_sample *s,
                        struct trust_pass *q)
{
    double max = -INFINITY, sum = 0;

    for (int j = 0; j < s->f.n; j++) {
        double z = 0;

        for (int i = 0; i < TRUST_VOTES; i++)
            z += w[TRUST_AT_U + i] * (double)s->f.votes[j][i];
        q->share[j] = z;
        max = fmax(max, z);
    }
    for (int j = 0; j < s->f.n; j++)
        sum += q->share[j] = exp(q->share[j] - max);
    q->hit = 0;
    for (int j = 0; j < s->f.n; j++) {
        q->share[j] /= sum;
        q->hit += q->share[j] * neighbor_prob(s, j);
    }
}

static void pass_run(const double *w, const struct trust_sample *s,
                     struct trust_pass *q)
{
    double a = w[TRUST_AT_O_BIAS];

    for (int h = 0; h < TRUST_HIDDEN; h++) {
        const double *row = w + TRUST_AT_H + h * TRUST_FEATURES;
        double z = w[TRUST_AT_H_BIAS + h];

        for (int i = 0; i < TRUST_FEATURES; i++)
            z += row[i] * (double)s->f.x[i];
        q->hidden[h] = tanh(z);
        a += w[TRUST_AT_O + h] * q->hidden[h];
    }
    q->lambda = 1 / (1 + exp(-a));
    pass_shares(w, s, q);
    q->p = q->lambda * q->hit + (1 - q->lambda) * (double)s->model;
}

static void add_lambda_gradient(const double *w, const struct trust_sample *s,
                                const struct trust_pass *q, double da,
                                double *grad)
{
    grad[TRUST_AT_O_BIAS] += da;
    for (int h = 0; h < TRUST_HIDDEN; h++) {
        double dz = da * w[TRUST_AT_O + h] *
                    (1 - q->hidden[h] * q->hidden[h]);
        double *row = grad + TRUST_AT_H + h * TRUST_FEATURES;

        grad[TRUST_AT_O + h] += da * q->hidden[h];
        grad[TRUST_AT_H_BIAS + h] += dz;
        for (int i = 0; i < TRUST_FEATURES; i++)
            row[i] += dz * (double)s->f.x[i];
    }
}

double trust_gradient(const double *w, const struct trust_sample *s,
                      double *grad)
{
    struct trust_pass q;
    double dp;

    if (!s->f.n) return -log((double)s->model + LEAST_PROB);
    pass_run(w, s, &q);
    dp = -1 / (q.p + LEAST_PROB);
    add_lambda_gradient(w, s, &q, dp * (q.hit - (double)s->model) * q.lambda *
                                  (1 - q.lambda), grad);
    for (int j = 0; j < s->f.n; j++) {
        double dz = dp * q.lambda * q.share[j] *
                    (neighbor_prob(s, j) - q.hit);

        for (int i = 0; i < TRUST_VOTES; i++)
            grad[TRUST_AT_U + i] += dz * (double)s->f.votes[j][i];
    }
    return -log(q.p + LEAST_PROB);
}

/* ---- losses -------------------------------------------------------------- */

static double mean_loss(const struct trust_samples *s,
                        double (*prob)(const struct trust_sample *s,
                                       const void *user), const void *user)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++)
        sum -= log(prob(&s->at[i], user) + LEAST_PROB);
    return s->n ? sum / (double)s->n : 0;
}

static double learned_prob(const struct trust_sample *s, const void *user)
{
    struct trust_result r;
    double hit = 0;

    if (!s->f.n) return (double)s->model;
    trust_run(user, &s->f, &r);
    for (int j = 0; j < s->f.n; j++)
        hit += (double)r.share[j] * neighbor_prob(s, j);
    return (double)r.lambda * hit + (1 - (double)r.lambda) * (double)s->model;
}

double trust_loss(const struct trust *t, const struct trust_samples *s)
{
    return mean_loss(s, learned_prob, t);
}

static double model_prob(const struct trust_sample *s, const void *user)
{
    (void)user;
    return (double)s->model;
}

double trust_loss_model(const struct trust_samples *s)
{
    return mean_loss(s, model_prob, NULL);
}

struct sk_setting { int k; double tau, lambda; };       /* lambda < 0: that of
                                                           SK-MT */

static double sk_prob(const struct trust_sample *s, const void *user)
{
    const struct sk_setting *o = user;
    int n = s->f.n < o->k ? s->f.n : o->k;
    double lambda = o->lambda, hit = 0, sum = 0;

    if (!n) return (double)s->model;
    if (lambda < 0) lambda = fmax(0, 1 - (double)s->distance[0] / o->tau);
    for (int j = 0; j < n; j++) {
        double w = exp(((double)s->distance[0] - (double)s->distance[j]) /
                       o->tau);

        sum += w;
        hit += w * neighbor_prob(s, j);
    }
    return lambda * hit / sum + (1 - lambda) * (double)s->model;
}

double trust_loss_sk(const struct trust_samples *s, int k, double tau)
{
    return mean_loss(s, sk_prob, &(struct sk_setting){ k, tau, -1 });
}

double trust_loss_fixed(const struct trust_samples *s, double *lambda)
{
    double best = INFINITY;

    for (int i = 0; i < 20; i++) {
        struct sk_setting o = { TRUST_NEIGHBORS, 1, i / 20.0 };
        double loss = mean_loss(s, sk_prob, &o);

        if (loss >= best) continue;
        best = loss;
        *lambda = o.lambda;
    }
    return best;
}

static double oracle_prob(const struct trust_sample *s, const void *user)
{
    (void)user;
    return s->hits & ~s->abstains ? 1 : (double)s->model;
}

double trust_loss_oracle(const struct trust_samples *s)
{
    return mean_loss(s, oracle_prob, NULL);
}

/* ---- training ------------------------------------------------------------ */

/* Small random weights, so that hidden units differ, and a lambda of about
 * 0.5. The votes begin with the softmax of SK-MT. */
static void trust_begin(struct adam *a, const struct trust *from,
                        uint64_t *random)
{
    for (int i = 0; from && i < TRUST_PARAMS; i++) a->w[i] = (double)from->w[i];
    if (from) return;
    a->w[TRUST_AT_U + TRUST_VOTE_near] = 1;
    for (int i = TRUST_AT_H; i < TRUST_AT_H_BIAS; i++)
        a->w[i] = random_unit(random) / sqrt(TRUST_FEATURES);
    for (int i = TRUST_AT_O; i < TRUST_AT_O_BIAS; i++)
        a->w[i] = random_unit(random) / sqrt(TRUST_HIDDEN);
}

static void train_epoch(struct adam *a, const struct trust_samples *s,
                        const struct trust_training *how, const size_t *order)
{
    for (size_t i = 0; i < s->n; ) {
        int n = 0;

        for (; n < how->batch && i < s->n; n++, i++) {
            struct trust_sample it = s->at[order[i]];

            for (int k = 0; k < TRUST_FEATURES; k++)
                if (how->drop >> k & 1) it.f.x[k] = 0;
            trust_gradient(a->w, &it, a->grad);
        }
        adam_step(a, how->rate, n);
    }
}

static void set_means(struct trust *t, const struct trust_samples *s)
{
    double sum[TRUST_FEATURES] = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (!s->at[i].f.n) continue;
        n++;
        for (int k = 0; k < TRUST_FEATURES; k++)
            sum[k] += (double)s->at[i].f.x[k];
    }
    for (int k = 0; k < TRUST_FEATURES; k++)
        t->mean[k] = (float)(n ? sum[k] / (double)n : 0);
}

/* Parameters of dropped features have no effect on features that are not
 * 0. */
static void copy_network(struct trust *out, const struct adam *a,
                         unsigned drop)
{
    for (int i = 0; i < TRUST_PARAMS; i++) out->w[i] = (float)a->w[i];
    for (int h = 0; h < TRUST_HIDDEN; h++)
        for (int k = 0; k < TRUST_FEATURES; k++)
            if (drop >> k & 1) out->w[TRUST_AT_H + h * TRUST_FEATURES + k] = 0;
}

/* Run epochs until the loss of the validation samples stops falling. */
static enum status train_until_best(struct trust *out, struct adam *a,
                                    const struct trust_samples *train,
                                    const struct trust_samples *valid,
                                    const struct trust_training *how,
                                    size_t *order, uint64_t *random)
{
    struct trust now = *out;
    double best = INFINITY;
    int since = 0;

    for (int epoch = 0; epoch < how->epochs && since < how->patience; epoch++) {
        double loss;

        random_shuffle(order, train->n, random);
        train_epoch(a, train, how, order);
        copy_network(&now, a, how->drop);
        loss = trust_loss(&now, valid->n ? valid : train);
        since++;
        if (loss < best) {
            best = loss;
            *out = now;
            since = 0;
        }
        if (how->progress &&
            how->progress(how->user, epoch + 1, how->epochs, loss))
            return ST_CANCELED;
    }
    return ST_OK;
}

enum status trust_train(struct trust *out, const struct trust *from,
                        const struct trust_samples *train,
                        const struct trust_samples *valid,
                        const struct trust_training *how, struct err *e)
{
    struct adam a;
    size_t *order = calloc(train->n + 1, sizeof *order);
    uint64_t random = how->seed;
    enum status st = adam_init(&a, TRUST_PARAMS, 0.999, 0, e);

    if (!train->n)
        st = err_set(e, ST_ARGUMENT, "there are no steps to learn from");
    else if (!order)
        st = err_nomem(e, "training");
    if (!st) {
        for (size_t i = 0; i < train->n; i++) order[i] = i;
        memset(out, 0, sizeof *out);
        trust_begin(&a, from, &random);
        set_means(out, train);
        st = train_until_best(out, &a, train, valid, how, order, &random);
        if (st) err_set(e, st, "%s", status_text(st));
    }
    free(order);
    adam_release(&a);
    return st;
}
