/* trust_train.h - trains the network of trust.h by maximum likelihood.
 *
 * A sample is a step of a reference translation: the features of the step, the
 * model's probability of the reference token, and which neighbors have this
 * token. The loss of a sample is
 *
 *     - log(lambda * (sum of the shares of those neighbors)
 *           + (1 - lambda) * p_model(token))
 *
 * where the share of a neighbor that abstains is multiplied by p_model(token).
 * Training minimizes the mean with Adam. Samples come in groups, one for
 * each sentence; some groups are for validation. After each epoch the loss of
 * the validation samples is computed, and the best network so far is kept.
 * Training stops when there was no better one for some epochs.
 *
 * Training is deterministic: it uses one thread, double precision, and random
 * numbers from a seed. */
#ifndef KNN_TRUST_TRAIN_H
#define KNN_TRUST_TRAIN_H

#include "knn/trust.h"

/* What was known at a step: struct trust_step without its pointers. Training
 * does not need it; tests compute the features from it again. */
struct trust_inputs {
    struct neighbor nb[TRUST_NEIGHBORS];
    float similarity[TRUST_NEIGHBORS], logprob[TRUST_NEIGHBORS];
    int context[TRUST_NEIGHBORS];
    bool foreign[TRUST_NEIGHBORS], own[TRUST_NEIGHBORS];
    float aligned[TRUST_NEIGHBORS], focus[TRUST_NEIGHBORS];
    float shared[TRUST_NEIGHBORS];
    float best_prob, entropy, tau;
    int32_t best_token;
};

struct trust_sample {
    struct trust_features f;    /* n is 0: no neighbors, and lambda is 0 */
    float model;                /* p_model of the reference token */
    uint32_t hits;              /* bit j: neighbor j has that token */
    uint32_t abstains;          /* bit j: the share of neighbor j goes to the
                                   model */
    float distance[TRUST_NEIGHBORS];    /* d2 / tau, for the comparisons */
    struct trust_inputs in;     /* of the f.n neighbors */
};

struct trust_samples {          /* a growing array */
    struct trust_sample *at;
    size_t n, cap;
};
void trust_samples_release(struct trust_samples *s);
/* Append a sample. Returns false when out of memory. */
bool trust_samples_add(struct trust_samples *s, const struct trust_sample *it);

struct trust_training {
    double rate;                /* of Adam */
    int epochs, patience, batch;
    uint64_t seed;
    unsigned drop;              /* bit i: feature i is always 0; to find out
                                   what it is worth */
    /* Called after each epoch. Return non-zero to stop. May be NULL. */
    int (*progress)(void *user, int epoch, int epochs, double loss);
    void *user;
};
/* The settings that are used unless there is a reason for others. */
struct trust_training trust_training_defaults(void);

/* Train a network from the beginning, or, if `from` is not NULL, go on from
 * that one. Fails with ST_ARGUMENT when there are no samples. */
enum status trust_train(struct trust *out, const struct trust *from,
                        const struct trust_samples *train,
                        const struct trust_samples *valid,
                        const struct trust_training *how, struct err *e);

/* ---- for comparison: the mean loss of samples, in nats per token --------- */

double trust_loss(const struct trust *t, const struct trust_samples *s);
double trust_loss_model(const struct trust_samples *s);         /* lambda 0 */
/* SK-MT with k neighbors, and tau in units of the model's. */
double trust_loss_sk(const struct trust_samples *s, int k, double tau);
/* The best of the fixed lambdas 0, 0.05 .. 0.95, and *lambda. The shares are
 * those of SK-MT with all neighbors and the model's tau. */
double trust_loss_fixed(const struct trust_samples *s, double *lambda);
/* A bound: where a neighbor has the reference token, its probability is 1. */
double trust_loss_oracle(const struct trust_samples *s);

/* The loss of one sample, and its gradient, which is added to grad
 * [TRUST_PARAMS]. w has the parameters in double precision. For tests. */
double trust_gradient(const double *w, const struct trust_sample *s,
                      double *grad);

#endif
