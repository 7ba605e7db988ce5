/* align_train.h - learns the parameters of one direction of word alignment by
 * expectation maximization (method 4.2).
 *
 * The model is IBM model 2 with the diagonal prior of Dyer, Chahuneau and Smith
 * (2013). Each word of the made text comes from one word of the given text, or
 * from the null word. The forward direction makes targets of sources; the
 * reverse direction makes sources of targets.
 *
 * The result depends neither on the number of threads nor on the machine's
 * load: every sum is computed in a fixed order. */
#ifndef ALIGN_ALIGN_TRAIN_H
#define ALIGN_ALIGN_TRAIN_H

#include "align/lexicon.h"
#include "base/pool.h"

struct align_iteration {        /* what is reported after an iteration */
    bool reverse;
    int number, of;             /* from 1 */
    double log_likelihood;      /* of the made texts, before the iteration */
    double perplexity;          /* per made word */
    double tension;             /* after the iteration */
};
/* A non-zero result stops the training. */
typedef int align_iteration_fn(void *user, const struct align_iteration *it);
/* done: how much of the direction is done, from 0 to 1. A non-zero result stops
 * the training. */
typedef int align_progress_fn(void *user, double done);

struct align_settings {
    int iterations;             /* at least 1 */
    double null_prob;           /* of the null word, between 0 and 1 */
    double tension;             /* at the beginning; see diagonal.h */
    double alpha;               /* of the Dirichlet prior (variational Bayes);
                                   0: none (maximum likelihood) */
    align_iteration_fn *on_iteration;   /* may be NULL */
    align_progress_fn *on_progress;     /* may be NULL */
    void *user;                 /* passed to both */
};
struct align_settings align_settings_defaults(void);

struct align_direction {
    struct lexicon lexicon;
    double tension, null_prob;
};

/* Trains a direction. The bitext is finished and has words. pool may be
 * NULL. Free the result with lexicon_release(&out->lexicon). Returns
 * ST_CANCELED when a function of the settings wants to stop. */
enum status align_train(struct align_direction *out, const struct bitext *b,
                        bool reverse, const struct align_settings *s,
                        struct pool *pool, struct err *e);

#endif
