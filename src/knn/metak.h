/* metak.h - the network of Adaptive kNN-MT (Zheng et al. 2021). It decides, at
 * each step, how much the model counts and how much the nearest 1, 2, 4 .. K
 * neighbors (method 5.2).
 *
 *   x    = (scale * d2_1, .., scale * d2_K, c_1, .., c_K)            [2K]
 *   q    = softmax(O tanh(H x + h) + o)                     [2 + log2 K]
 *   p(v) = q_0 p_model(v) + sum over r of q_(r+1) p_r(v)
 *
 * d2_j is the squared distance of neighbor j, and c_j the number of distinct
 * tokens among the first j. p_r is the softmax of -d2 / T + log_weight over the
 * first 2^r neighbors. So the weight of the memory is lambda = 1 - q_0, and the
 * share of a neighbor is what all p_r together give it, divided by lambda.
 *
 * K is a power of two. With K = 8 the network has 709 parameters. It is trained
 * by knn/metak_train.h.
 *
 * Fewer than K neighbors: in x the last neighbor that exists is repeated, so a
 * missing one has its distance and adds no distinct token. Each p_r is over
 * those of the first 2^r that exist. Without neighbors, lambda is 0. A neighbor
 * whose d2 is not finite does not exist, nor do those after it. */
#ifndef KNN_METAK_H
#define KNN_METAK_H

#include <stdbool.h>

#include "base/err.h"
#include "knn/weigh.h"

enum {
    METAK_MOST = 32,            /* the largest K */
    METAK_HIDDEN = 32,
    METAK_MOST_CHOICES = 7,     /* 2 + log2 K */
    METAK_MOST_PARAMS = METAK_HIDDEN * (2 * METAK_MOST + 1) +
                        METAK_MOST_CHOICES * (METAK_HIDDEN + 1)
};

/* Where the parameters are in the array of all. */
struct metak_layout {
    int inputs, choices;
    int h, h_bias;              /* [HIDDEN, inputs], [HIDDEN] */
    int o, o_bias;              /* [choices, HIDDEN], [choices] */
    int n;                      /* parameters */
};
/* Whether k is a number of neighbors that a network can have. */
bool metak_allows(int k);
struct metak_layout metak_layout(int k);

struct metak {
    int k;
    float temperature;          /* T, above 0 */
    float scale;                /* of the distances in x, above 0; 1 in the
                                   published program */
    float w[METAK_MOST_PARAMS];
};

/* The neighbors that exist: at most k. */
int metak_count(int k, const struct neighbor *nb, int n);
/* Compute x [2 k]. At least one neighbor exists. */
void metak_inputs(int k, double scale, const struct neighbor *nb, int n,
                  double *x);

/* The softmax of -d2 / temperature + log_weight over n neighbors, nearest
 * first. */
void metak_softmax(const struct neighbor *nb, int n, double temperature,
                   double *share);

struct metak_result {
    float lambda;
    float q[METAK_MOST_CHOICES];        /* of the model; of 2^r neighbors at
                                           r + 1 */
    float share[METAK_MOST];            /* by neighbor; they sum to 1, or are 0
                                           if lambda is 0 */
};
/* Run the network on n neighbors, nearest first; n is at most m->k. */
void metak_run(const struct metak *m, const struct neighbor *nb, int n,
               struct metak_result *out);
/* The same as a mixture, which keeps the invariants in weigh.h. */
void metak_decide(const struct metak *m, const struct neighbor *nb, int n,
                  struct knn_mixture *out);

/* ---- as text ------------------------------------------------------------- */

/* A network is written as one line:
 *
 *     1 MODEL K T SCALE PARAMETERS CHECKSUM
 *
 * the version of the form, the checksum of the model it belongs to (16 digits;
 * 0: any model), K (2 digits), T and the scale (8 digits each, the bits of a
 * float), the parameters (8 digits each), and a checksum of the text before it
 * (16 digits); all in hexadecimal. METAK_TEXT is enough for the largest K. */
enum { METAK_TEXT = 2 + 17 + 3 + 9 + 9 + 8 * METAK_MOST_PARAMS + 18 };
void metak_write(const struct metak *m, uint64_t model, char out[METAK_TEXT]);
/* Fails with ST_FORMAT or ST_VERSION, and says what is wrong. */
enum status metak_read(struct metak *m, uint64_t *model, const char *text,
                       struct err *e);

#endif
