/* metak_train.h - trains the network of metak.h on steps of known translations,
 * by the recipe of Zheng et al. 2021 (method 5.2).
 *
 * A sample is a step: its neighbors, the model's probabilities of their tokens,
 * and the reference token y with its probability. The loss of a sample is the
 * cross entropy of the mixture p, with label smoothing over all V tokens:
 *
 *     - (1 - eps) ln p(y) - eps / V * sum over all tokens v of ln p(v)
 *
 * For a token that no neighbor has, ln p(v) = ln q_0 + ln p_model(v). So only
 * the number of these tokens matters for training. The sum of their ln
 * p_model(v) is a constant, which is left out of all losses here.
 *
 * Training minimizes the mean with Adam, in batches of sentences. Every few
 * updates the loss of the validation samples is computed, and the best network
 * so far is kept. If the loss does not fall, the learning rate is halved, and
 * after some time training stops.
 *
 * Training is deterministic: it uses one thread, double precision, and random
 * numbers from a seed. */
#ifndef KNN_METAK_TRAIN_H
#define KNN_METAK_TRAIN_H

#include "knn/metak.h"

struct metak_sample {
    int32_t sentence;           /* its number */
    int32_t target;             /* y */
    float model;                /* p_model(y) */
    int n;                      /* neighbors, 0 .. METAK_MOST */
    struct neighbor nb[METAK_MOST];     /* nearest first */
    float prob[METAK_MOST];     /* p_model of the token of each neighbor */
};

struct metak_samples {          /* a growing array; the samples of a sentence
                                   are adjacent */
    struct metak_sample *at;
    size_t n, cap;
};
void metak_samples_release(struct metak_samples *s);
/* Append a sample. Returns false when out of memory. */
bool metak_samples_add(struct metak_samples *s, const struct metak_sample *it);
/* Move every `every`-th sentence to *held, which is empty: those with the
 * numbers every - 1, 2 * every - 1 and so on, counted from 0 in the order of
 * the samples. On failure nothing changes. */
enum status metak_samples_split(struct metak_samples *s, int every,
                                struct metak_samples *held, struct err *e);

struct metak_training {
    int k;                      /* of the network, see metak_allows */
    double temperature, scale;
    int vocab;                  /* V */
    double smoothing;           /* eps, 0 to 1 */
    double rate, least_rate;    /* learning rate, 0 to 1: at first, and the
                                   smallest */
    int rate_patience;          /* the rate is halved after more than so many
                                   validations without progress */
    double clip;                /* largest norm of a gradient; 0: no limit */
    int batch;                  /* sentences per update */
    int updates;                /* at most */
    int every;                  /* updates between two validations */
    int patience;               /* validations without a better network, after
                                   which training stops */
    uint64_t seed;
    /* Called after each validation. Return non-zero to stop. May be NULL. */
    int (*progress)(void *user, int update, int updates, double loss);
    void *user;
};
/* The published settings. Other scales train no better (method 5.2). */
struct metak_training metak_training_defaults(int vocab);

/* How training went. */
struct metak_trained {
    int updates;                /* in all */
    int best_update;            /* after which the network was best */
    double loss;                /* its smoothed loss in validation */
    double rate;                /* learning rate at the end */
};

/* Train a network. If `valid` is empty, the loss of `train` decides which
 * network is best, as in the published recipe. Fails with ST_ARGUMENT when a
 * setting is out of range, or when no sample has neighbors; and with
 * ST_CANCELED. `how_it_went` may be NULL. */
enum status metak_train(struct metak *out, const struct metak_samples *train,
                        const struct metak_samples *valid,
                        const struct metak_training *how,
                        struct metak_trained *how_it_went, struct err *e);

/* ---- for comparison: the mean of -ln p(y), in nats per token ------------- */

/* As in search, 1e-9 is added to each probability. */
double metak_loss(const struct metak *m, const struct metak_samples *s);
double metak_loss_model(const struct metak_samples *s);         /* lambda 0 */
/* kNN-MT with k neighbors and the best lambda of 0, 0.01 .. 0.99, which is
 * stored in *lambda. */
double metak_loss_fixed(const struct metak_samples *s, int k,
                        double temperature, double *lambda);

struct metak_report {
    size_t steps;
    double model, network;      /* losses */
    double fixed[METAK_MOST_CHOICES - 1];       /* of the best fixed lambda with
                                                   1, 2, 4 .. K neighbors */
    double lambda[METAK_MOST_CHOICES - 1];      /* this lambda */
    int n_fixed, best;          /* their number; the index of the best */
};
/* Compare a network with fixed lambdas at its own temperature. */
void metak_compare(const struct metak *m, const struct metak_samples *s,
                   struct metak_report *out);

/* The smoothed loss of one sample without its constant, and its gradient, which
 * is added to grad [metak_layout(how->k).n]. w has the parameters in double
 * precision. For tests. */
double metak_gradient(const double *w, const struct metak_training *how,
                      const struct metak_sample *s, double *grad);

#endif
