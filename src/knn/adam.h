/* adam.h - the optimizer Adam (Kingma and Ba 2015), for networks with some
 * hundred parameters.
 *
 * The caller adds the gradients of the samples of a batch to grad and calls
 * adam_step, which changes the parameters and clears grad. All in double
 * precision, in a fixed order. */
#ifndef KNN_ADAM_H
#define KNN_ADAM_H

#include "base/err.h"

struct adam {
    int n;                      /* parameters */
    double *w;                  /* [n] the parameters */
    double *grad;               /* [n] sum of the gradients of a batch */
    double *m, *v;              /* [n] moments of the gradient */
    double decay;               /* of v; the decay of m is 0.9 */
    double clip;                /* the largest norm of a gradient; longer ones
                                   are made shorter. 0: no limit */
    long step;
};

/* All parameters are 0 at first. */
enum status adam_init(struct adam *a, int n, double decay, double clip,
                      struct err *e);
void adam_release(struct adam *a);
/* Make a step with the mean gradient of n samples. */
void adam_step(struct adam *a, double rate, int n);

#endif
