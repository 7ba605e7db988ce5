/* trust.h - a small network that decides how far the memory is trusted at a
 * step, and how its neighbors share the vote.
 *
 *   share of neighbor j = softmax over j of  u . votes[j]
 *   lambda              = sigmoid(o . tanh(H x + h) + c)
 *   p                   = lambda p_knn + (1 - lambda) p_model
 *
 * x are the features of the step and votes[j] those of its neighbor j, both
 * listed below. The network has about 380 parameters (u, H, h, o, c). It is
 * trained by knn/trust_train.h on pairs that were left out of a memory.
 *
 * If lambda is below TRUST_LEAST, it is 0, and the model alone decides. */
#ifndef KNN_TRUST_H
#define KNN_TRUST_H

#include <stdbool.h>

#include "base/err.h"
#include "knn/finder.h"

enum {
    TRUST_NEIGHBORS = 8,        /* the most neighbors that the network sees */
    TRUST_CONTEXT = 3,          /* the most tokens of a context match */
    TRUST_HIDDEN = 16
};
#define TRUST_LEAST 0.02f

/* The features of a step. Neighbors are numbered from 0, the nearest. D(i) is
 * the squared distance of neighbor i in units of the model's tau, at most 3; a
 * neighbor that does not exist has 3. L(i) is the model's log-probability of
 * its token, at least -20.
 *
 *   distance      D(0)                 agree_4       share of the first 4
 *   gap_1         D(1) - D(0)                        neighbors (or of all, if
 *   gap_3         D(3) - D(0)                        there are fewer) that have
 *   similarity    of the pair of 0                   the token of neighbor 0
 *   context       context of 0, / 3    agree_8       the same for all
 *   model_token   L(0) / 5             distance_2    D(0) squared
 *   model_best    best_prob            most_similar  the largest similarity
 *   entropy       entropy / 4          most_context  the largest context, / 3
 *   same_best     1 if the model's     foreign       1 if neighbor 0 is
 *                 best token is that   own           1 if neighbor 0 is
 *                 of neighbor 0        aligned       of neighbor 0
 *   focus         of neighbor 0        most_focus    the largest focus
 *   shared        of neighbor 0        most_shared   the largest shared
 *
 * X(name, what a high value means, what a low value means) */
#define TRUST_FEATURES_LIST(X)                                              \
    X(distance, "distant state", "close state")                             \
    X(gap_1, "no second state near", "several close states")                \
    X(gap_3, "few states near", "many close states")                        \
    X(similarity, "similar sentence", "different sentence")                 \
    X(context, "same words before it", "other words before it")             \
    X(model_token, "model agrees", "model disagrees")                       \
    X(model_best, "model is sure", "model is unsure")                       \
    X(entropy, "model is undecided", "model is decided")                    \
    X(same_best, "model's first choice", "not the model's first choice")    \
    X(agree_4, "near states agree", "near states disagree")                 \
    X(agree_8, "states agree", "states disagree")                           \
    X(distance_2, "very distant state", "very close state")                 \
    X(most_similar, "similar sentence found", "no similar sentence")        \
    X(most_context, "same words found", "words not found")                  \
    X(foreign, "word of the stored source", "no word of the stored source") \
    X(own, "word of this source", "no word of this source")                 \
    X(aligned, "same source word", "another source word")                   \
    X(focus, "translates the same word", "translates another word")         \
    X(most_focus, "same word found", "word not found")                      \
    X(shared, "the sources agree here", "the sources differ here")          \
    X(most_shared, "some source agrees here", "no source agrees here")
#define X(name, high, low) TRUST_##name,
enum trust_feature { TRUST_FEATURES_LIST(X) TRUST_FEATURES };
#undef X

/* The features of neighbor i: -D(i), the similarity of its pair, its context,
 * L(i) / 5, whether it is foreign, whether it is own, and its place (struct
 * voters_place). */
#define TRUST_VOTES_LIST(X) \
    X(near) X(similarity) X(context) X(model) X(foreign) X(own) \
    X(aligned) X(focus) X(shared)
#define X(name) TRUST_VOTE_##name,
enum trust_vote_feature { TRUST_VOTES_LIST(X) TRUST_VOTES };
#undef X

/* Where the parameters are in the array of all. */
enum {
    TRUST_AT_U = 0,                                             /* [VOTES] */
    TRUST_AT_H = TRUST_AT_U + TRUST_VOTES,          /* [HIDDEN, FEATURES] */
    TRUST_AT_H_BIAS = TRUST_AT_H + TRUST_HIDDEN * TRUST_FEATURES,
    TRUST_AT_O = TRUST_AT_H_BIAS + TRUST_HIDDEN,
    TRUST_AT_O_BIAS = TRUST_AT_O + TRUST_HIDDEN,
    TRUST_PARAMS = TRUST_AT_O_BIAS + 1
};

struct trust {
    float w[TRUST_PARAMS];
    float mean[TRUST_FEATURES]; /* of the features in training; explanations
                                   compare with it */
};

/* What is known at a step. The arrays are by neighbor. */
struct trust_step {
    const struct neighbor *nb;  /* [n] nearest first, n >= 1 */
    int n;
    const float *similarity;    /* [n] of its pair, 0 to 1 */
    const int *context;         /* [n] tokens before the entry that equal the
                                   last tokens of the translation, 0 ..
                                   TRUST_CONTEXT */
    const float *logprob;       /* [n] of its token, by the model */
    const bool *foreign;        /* [n] its token is a piece of its pair's
                                   source, but not of the sentence: a number or
                                   name that does not belong here */
    const bool *own;            /* [n] its token is a piece of the sentence */
    const float *aligned, *focus, *shared;      /* [n] see struct voters_place:
                                   whether its source piece is in the sentence,
                                   and how much the step attends to that piece
                                   and to pieces of the pair */
    float best_prob;            /* the model's largest probability */
    float entropy;              /* of the model's distribution, in nats */
    int32_t best_token;         /* the model's best token; -1: not known */
    float tau;                  /* of the model: the unit of distances */
};

struct trust_features {
    int n;                      /* neighbors */
    float x[TRUST_FEATURES];
    float votes[TRUST_NEIGHBORS][TRUST_VOTES];
};

void trust_features(const struct trust_step *s, struct trust_features *out);

struct trust_result {
    float lambda;               /* 0, or at least TRUST_LEAST */
    float share[TRUST_NEIGHBORS];       /* they sum to 1 */
};
/* Run the network. lambda is what training made it: the probability that the
 * memory is right. */
void trust_run(const struct trust *t, const struct trust_features *f,
               struct trust_result *out);
/* The same for search, with other values of lambda. Search takes the most
 * probable sequence. A stored sentence is one sequence, while the model's
 * probability is divided among many ways to say the same. So lambda is larger
 * where the sources of pair and sentence agree and the model is decided, and
 * smaller elsewhere (bench/STEERING.md has the figures). */
void trust_decide(const struct trust *t, const struct trust_features *f,
                  struct trust_result *out);

/* The number of tokens before stored[pos] that equal the last tokens of the
 * translation, at most TRUST_CONTEXT. said[n_said] are the last tokens, oldest
 * first: all of them, or at least TRUST_CONTEXT. Two beginnings of a sentence
 * count as one equal token. */
int trust_context(const int32_t *stored, int pos, const int32_t *said,
                  int n_said);

/* Why lambda is high or low: the features whose change to the mean would change
 * its logit most, with the amount. effect > 0: the feature raises lambda. The
 * distance and its square are one reason. */
struct trust_reason {
    enum trust_feature feature;
    float effect;
};
enum { TRUST_REASONS = 3 };
void trust_explain(const struct trust *t, const struct trust_features *f,
                   struct trust_reason out[TRUST_REASONS]);
/* A phrase for a reason, such as "close state". */
const char *trust_phrase(const struct trust *t, const struct trust_features *f,
                         enum trust_feature feature);

/* ---- as text ------------------------------------------------------------- */

/* A network is written as one line:
 *
 *     1 MODEL FEATURES PARAMETERS CHECKSUM
 *
 * the version of the form, the checksum of the model it belongs to (16 digits;
 * 0: any model), a checksum of the names of the features (8 digits), the
 * parameters and means (8 digits each, the bits of a float), and a checksum of
 * the text before it (16 digits); all in hexadecimal. */
enum { TRUST_TEXT = 2 + 17 + 9 + 8 * (TRUST_PARAMS + TRUST_FEATURES) + 18 };
void trust_write(const struct trust *t, uint64_t model, char out[TRUST_TEXT]);
/* Fails with ST_FORMAT or ST_VERSION, and says what is wrong. */
enum status trust_read(struct trust *t, uint64_t *model, const char *text,
                       struct err *e);

#endif
