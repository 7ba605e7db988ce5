/* metak_train.c - the loss and its gradient, Adam with a falling learning rate,
 * and early stopping. */
#include "knn/metak_train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/random.h"
#include "knn/adam.h"

/* Probabilities of the model are at least this, so that logarithms are
 * finite. */
#define LEAST_MODEL 1e-30
/* The same for mixtures: q_0 may be 0. */
#define LEAST_MIXED 1e-300
/* Added to a probability before its logarithm is taken, as in search. */
#define LEAST_SEARCHED 1e-9
/* The rate is not changed if the loss falls by this factor or more. PyTorch,
 * with which the published network was trained, has the same. */
#define PROGRESS 1e-4

/* ---- samples ------------------------------------------------------------- */

void metak_samples_release(struct metak_samples *s)
{
    free(s->at);
    memset(s, 0, sizeof *s);
}

bool metak_samples_add(struct metak_samples *s, const struct metak_sample *it)
{
    assert(it->n >= 0 && it->n <= METAK_MOST);
    if (!mem_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at)) return false;
    s->at[s->n++] = *it;
    return true;
}

/* The end of the sentence that begins with sample i. */
static size_t sentence_end(const struct metak_samples *s, size_t i)
{
    size_t end = i + 1;

    while (end < s->n && s->at[end].sentence == s->at[i].sentence) end++;
    return end;
}

enum status metak_samples_split(struct metak_samples *s, int every,
                                struct metak_samples *held, struct err *e)
{
    size_t kept = 0, number = 0;

    assert(every >= 1 && !held->n);
    if (!mem_grow(&held->at, &held->cap, s->n, sizeof *held->at))
        return err_nomem(e, "training");
    for (size_t i = 0, end; i < s->n; i = end) {
        bool moves = ++number % (size_t)every == 0;

        end = sentence_end(s, i);
        for (size_t j = i; j < end; j++)
            if (moves) held->at[held->n++] = s->at[j];
            else s->at[kept++] = s->at[j];
    }
    s->n = kept;
    return ST_OK;
}

/* ---- loss and gradient --------------------------------------------------- */

/* What the network computes for a sample. */
struct metak_pass {
    double x[2 * METAK_MOST];
    double hidden[METAK_HIDDEN];        /* after tanh */
    double q[METAK_MOST_CHOICES], log_q0;
    double part[METAK_MOST_CHOICES][METAK_MOST];        /* p_r by neighbor, at
                                                           r + 1 */
    int found;                          /* neighbors that exist */
};

static void pass_choose(const double *w, const struct metak_layout *at,
                        struct metak_pass *p)
{
    double max = -INFINITY, sum = 0;

    for (int h = 0; h < METAK_HIDDEN; h++) {
        const double *row = w + at->h + h * at->inputs;
        double z = w[at->h_bias + h];

        for (int i = 0; i < at->inputs; i++) z += row[i] * p->x[i];
        p->hidden[h] = tanh(z);
    }
    for (int c = 0; c < at->choices; c++) {
        const double *row = w + at->o + c * METAK_HIDDEN;

        p->q[c] = w[at->o_bias + c];
        for (int h = 0; h < METAK_HIDDEN; h++) p->q[c] += row[h] * p->hidden[h];
        max = fmax(max, p->q[c]);
    }
    p->log_q0 = p->q[0] - max;
    for (int c = 0; c < at->choices; c++) sum += p->q[c] = exp(p->q[c] - max);
    for (int c = 0; c < at->choices; c++) p->q[c] /= sum;
    p->log_q0 -= log(sum);
}

/* Returns false if there are no neighbors. */
static bool metak_pass_run(const double *w, const struct metak_training *how,
                           const struct metak_layout *at,
                           const struct metak_sample *s, struct metak_pass *p)
{
    int n = s->n < how->k ? s->n : how->k;

    p->found = metak_count(how->k, s->nb, n);
    if (!p->found) return false;
    metak_inputs(how->k, how->scale, s->nb, n, p->x);
    pass_choose(w, at, p);
    for (int c = 1; c < at->choices; c++) {
        int first = 1 << (c - 1), m = first < p->found ? first : p->found;

        metak_softmax(s->nb, m, how->temperature, p->part[c]);
        for (int j = m; j < p->found; j++) p->part[c][j] = 0;
    }
    return true;
}

/* Add factor * ln p(token) to the loss, and its derivatives by q to dq. `model`
 * is p_model(token). */
static double add_token(const struct metak_layout *at,
                        const struct metak_sample *s,
                        const struct metak_pass *p, int32_t token,
                        double model, double factor, double *dq)
{
    double by[METAK_MOST_CHOICES] = { fmax(model, LEAST_MODEL) };
    double mixed = p->q[0] * by[0];

    for (int c = 1; c < at->choices; c++) {
        for (int j = 0; j < p->found; j++)
            if (s->nb[j].token == token) by[c] += p->part[c][j];
        mixed += p->q[c] * by[c];
    }
    mixed = fmax(mixed, LEAST_MIXED);
    for (int c = 0; c < at->choices; c++) dq[c] += factor * by[c] / mixed;
    return factor * log(mixed);
}

/* The loss, its derivatives by q, and by ln q_0 as far as that is not counted
 * in dq. */
static double loss_of_pass(const struct metak_training *how,
                           const struct metak_layout *at,
                           const struct metak_sample *s,
                           const struct metak_pass *p, double *dq,
                           double *dlog_q0)
{
    double each = how->smoothing / how->vocab, loss;
    int others = how->vocab;

    loss = add_token(at, s, p, s->target, (double)s->model,
                     how->smoothing - 1, dq);
    for (int j = 0; j < p->found; j++) {
        if (!neighbor_has_new_token(s->nb, j)) continue;
        loss += add_token(at, s, p, s->nb[j].token, (double)s->prob[j], -each,
                          dq);
        others--;
    }
    *dlog_q0 = -each * others;
    return loss + *dlog_q0 * p->log_q0;
}

/* Add the gradient by the parameters. dz are the derivatives by the logits of
 * q. */
static void back_propagate(const double *w, const struct metak_layout *at,
                           const struct metak_pass *p, const double *dz,
                           double *grad)
{
    double dhidden[METAK_HIDDEN] = { 0 };

    for (int c = 0; c < at->choices; c++) {
        const double *row = w + at->o + c * METAK_HIDDEN;
        double *to = grad + at->o + c * METAK_HIDDEN;

        grad[at->o_bias + c] += dz[c];
        for (int h = 0; h < METAK_HIDDEN; h++) {
            to[h] += dz[c] * p->hidden[h];
            dhidden[h] += dz[c] * row[h];
        }
    }
    for (int h = 0; h < METAK_HIDDEN; h++) {
        double d = dhidden[h] * (1 - p->hidden[h] * p->hidden[h]);
        double *to = grad + at->h + h * at->inputs;

        grad[at->h_bias + h] += d;
        for (int i = 0; i < at->inputs; i++) to[i] += d * p->x[i];
    }
}

double metak_gradient(const double *w, const struct metak_training *how,
                      const struct metak_sample *s, double *grad)
{
    struct metak_layout at = metak_layout(how->k);
    struct metak_pass p;
    double dq[METAK_MOST_CHOICES] = { 0 }, dz[METAK_MOST_CHOICES];
    double dlog_q0, mean = 0, loss;

    if (!metak_pass_run(w, how, &at, s, &p))
        return (how->smoothing - 1) * log(fmax((double)s->model, LEAST_MODEL));
    loss = loss_of_pass(how, &at, s, &p, dq, &dlog_q0);
    if (!grad) return loss;
    for (int c = 0; c < at.choices; c++) mean += p.q[c] * dq[c];
    for (int c = 0; c < at.choices; c++)
        dz[c] = p.q[c] * (dq[c] - mean) + dlog_q0 * ((c == 0) - p.q[c]);
    back_propagate(w, &at, &p, dz, grad);
    return loss;
}

/* ---- losses -------------------------------------------------------------- */

double metak_loss(const struct metak *m, const struct metak_samples *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct metak_sample *it = &s->at[i];
        int n = it->n < m->k ? it->n : m->k;
        struct metak_result r;
        double hit = 0;

        metak_run(m, it->nb, n, &r);
        for (int j = 0; j < n; j++)
            if (it->nb[j].token == it->target) hit += (double)r.share[j];
        sum -= log((double)r.lambda * hit + (double)r.q[0] * (double)it->model +
                   LEAST_SEARCHED);
    }
    return s->n ? sum / (double)s->n : 0;
}

double metak_loss_model(const struct metak_samples *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++)
        sum -= log((double)s->at[i].model + LEAST_SEARCHED);
    return s->n ? sum / (double)s->n : 0;
}

enum { LAMBDAS = 100 };         /* fixed lambdas that are tried */

/* Add the loss of a sample to sum [LAMBDAS]. */
static void add_fixed_losses(const struct metak_sample *s, int k,
                             double temperature, double *sum)
{
    int n = metak_count(k, s->nb, s->n);
    double share[METAK_MOST], hit = 0, model = (double)s->model;

    metak_softmax(s->nb, n, temperature, share);
    for (int j = 0; j < n; j++)
        if (s->nb[j].token == s->target) hit += share[j];
    for (int i = 0; i < LAMBDAS; i++) {
        double lambda = n ? (double)i / LAMBDAS : 0;

        sum[i] -= log(lambda * hit + (1 - lambda) * model + LEAST_SEARCHED);
    }
}

double metak_loss_fixed(const struct metak_samples *s, int k,
                        double temperature, double *lambda)
{
    double sum[LAMBDAS] = { 0 };
    int best = 0;

    for (size_t i = 0; i < s->n; i++)
        add_fixed_losses(&s->at[i], k, temperature, sum);
    for (int i = 1; i < LAMBDAS; i++)
        if (sum[i] < sum[best]) best = i;
    *lambda = (double)best / LAMBDAS;
    return s->n ? sum[best] / (double)s->n : 0;
}

void metak_compare(const struct metak *m, const struct metak_samples *s,
                   struct metak_report *out)
{
    *out = (struct metak_report){ .steps = s->n, .model = metak_loss_model(s),
                                  .network = metak_loss(m, s) };
    for (int k = 1; k <= m->k; k *= 2) {
        int i = out->n_fixed++;

        out->fixed[i] = metak_loss_fixed(s, k, (double)m->temperature,
                                         &out->lambda[i]);
        if (out->fixed[i] < out->fixed[out->best]) out->best = i;
    }
}

/* ---- training ------------------------------------------------------------ */

struct metak_training metak_training_defaults(int vocab)
{
    return (struct metak_training){
        .k = 8, .temperature = 10, .scale = 1, .vocab = vocab,
        .smoothing = 0.001, .rate = 3e-4, .least_rate = 3e-5,
        .rate_patience = 5, .clip = 1, .batch = 32, .updates = 5000,
        .every = 100, .patience = 30, .seed = 1 };
}

/* A training in progress. */
struct metak_run_state {
    const struct metak_training *how;
    const struct metak_samples *train, *valid;
    struct metak_layout at;
    struct adam adam;
    size_t *begin;              /* [n_sentences] their first samples; they are
                                   used in this order */
    size_t n_sentences, next;   /* next: the first one of the next batch */
    uint64_t random;
    double rate;
    struct metak_trained *went;
};

static double mean_smoothed_loss(const struct metak *m,
                                 const struct metak_training *how,
                                 const struct metak_samples *s)
{
    double w[METAK_MOST_PARAMS], sum = 0;

    for (int i = 0; i < metak_layout(m->k).n; i++) w[i] = (double)m->w[i];
    for (size_t i = 0; i < s->n; i++)
        sum += metak_gradient(w, how, &s->at[i], NULL);
    return sum / (double)s->n;
}

/* The published first parameters: of the first layer, small normal numbers,
 * and smaller ones for distances, which are large; of all others, the uniform
 * ones that PyTorch takes. */
static void metak_begin(struct metak_run_state *t)
{
    const struct metak_layout *at = &t->at;
    int k = t->how->k;
    double *w = t->adam.w, xavier = sqrt(2.0 / (k + METAK_HIDDEN));

    for (int i = at->h; i < at->h_bias; i++)
        w[i] = random_normal(&t->random) * xavier *
               ((i - at->h) % at->inputs < k ? 0.01 : 0.1);
    for (int i = at->h_bias; i < at->o; i++)
        w[i] = random_unit(&t->random) / sqrt(at->inputs);
    for (int i = at->o; i < at->n; i++)
        w[i] = random_unit(&t->random) / sqrt(METAK_HIDDEN);
}

/* Make one update with the next sentences. */
static void metak_update(struct metak_run_state *t)
{
    int samples = 0;

    for (int i = 0; i < t->how->batch && t->next < t->n_sentences; i++) {
        size_t first = t->begin[t->next++], end = sentence_end(t->train, first);

        for (size_t j = first; j < end; j++, samples++)
            metak_gradient(t->adam.w, t->how, &t->train->at[j], t->adam.grad);
    }
    adam_step(&t->adam, t->rate, samples);
    if (t->next < t->n_sentences) return;
    t->next = 0;
    random_shuffle(t->begin, t->n_sentences, &t->random);
}

static void metak_copy(struct metak *out, const struct metak_run_state *t)
{
    *out = (struct metak){ .k = t->how->k,
                           .temperature = (float)t->how->temperature,
                           .scale = (float)t->how->scale };
    for (int i = 0; i < t->at.n; i++) out->w[i] = (float)t->adam.w[i];
}

/* The state of validation. */
struct metak_validation {
    double best;                /* smallest loss; decides which network is kept
                                   and when to stop */
    double level;               /* the loss that progress is measured from */
    int since_best, since_progress;
};

/* Take the loss of a validation into account. Returns whether it is the
 * best. */
static bool metak_judge(struct metak_validation *v, double loss,
                        struct metak_run_state *t)
{
    bool better = loss < v->best;

    v->since_best = better ? 0 : v->since_best + 1;
    if (better) v->best = loss;
    if (loss < v->level * (1 - PROGRESS)) {
        v->level = loss;
        v->since_progress = 0;
    } else if (++v->since_progress > t->how->rate_patience) {
        t->rate = fmax(t->rate / 2, t->how->least_rate);
        v->since_progress = 0;
    }
    return better;
}

static enum status metak_train_until_best(struct metak *out,
                                          struct metak_run_state *t)
{
    const struct metak_training *how = t->how;
    struct metak_validation v = { INFINITY, INFINITY, 0, 0 };

    for (int i = 1; i <= how->updates && v.since_best < how->patience; i++) {
        struct metak now;
        double loss;

        metak_update(t);
        if (i % how->every && i < how->updates) continue;
        metak_copy(&now, t);
        loss = mean_smoothed_loss(&now, how, t->valid->n ? t->valid : t->train);
        *t->went = (struct metak_trained){ i, t->went->best_update, v.best,
                                           t->rate };
        if (metak_judge(&v, loss, t)) {
            *out = now;
            t->went->best_update = i;
            t->went->loss = loss;
        }
        if (how->progress && how->progress(how->user, i, how->updates, loss))
            return ST_CANCELED;
    }
    return ST_OK;
}

static bool training_settings_fit(const struct metak_training *how)
{
    return metak_allows(how->k) && how->temperature > 0 &&
           isfinite((float)how->temperature) && how->scale > 0 &&
           isfinite((float)how->scale) && how->vocab > how->k &&
           how->smoothing >= 0 && how->smoothing < 1 && how->rate > 0 &&
           how->rate <= 1 && how->least_rate >= 0 &&
           how->least_rate <= how->rate && how->clip >= 0 &&
           how->rate_patience >= 0 && how->batch >= 1 && how->updates >= 1 &&
           how->every >= 1 && how->patience >= 1;
}

static bool any_neighbors(const struct metak_samples *s, int k)
{
    for (size_t i = 0; i < s->n; i++)
        if (metak_count(k, s->at[i].nb, s->at[i].n)) return true;
    return false;
}

/* List the sentences, and put them in a random order. */
static enum status metak_list_sentences(struct metak_run_state *t,
                                        struct err *e)
{
    t->begin = calloc(t->train->n, sizeof *t->begin);
    if (!t->begin) return err_nomem(e, "training");
    for (size_t i = 0; i < t->train->n; i = sentence_end(t->train, i))
        t->begin[t->n_sentences++] = i;
    random_shuffle(t->begin, t->n_sentences, &t->random);
    return ST_OK;
}

enum status metak_train(struct metak *out, const struct metak_samples *train,
                        const struct metak_samples *valid,
                        const struct metak_training *how,
                        struct metak_trained *how_it_went, struct err *e)
{
    struct metak_trained unused;
    struct metak_run_state t = { .how = how, .train = train, .valid = valid,
                                 .random = how->seed, .rate = how->rate };
    enum status st;

    t.went = how_it_went ? how_it_went : &unused;
    memset(t.went, 0, sizeof *t.went);
    if (!training_settings_fit(how))
        return err_set(e, ST_ARGUMENT, "a setting of the training is out of "
                       "range");
    if (!any_neighbors(train, how->k))
        return err_set(e, ST_ARGUMENT, "there are no steps with neighbors to "
                       "learn from");
    t.at = metak_layout(how->k);
    st = adam_init(&t.adam, t.at.n, 0.98, how->clip, e);
    if (!st) st = metak_list_sentences(&t, e);
    if (!st) {
        metak_begin(&t);
        st = metak_train_until_best(out, &t);
        if (st) err_set(e, st, "%s", status_text(st));
    }
    free(t.begin);
    adam_release(&t.adam);
    return st;
}
