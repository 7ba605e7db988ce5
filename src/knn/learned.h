/* learned.h - the steering system with learned trust: the nearest entries of
 * the sentence's datastore vote, as in SK-MT, and a small network (trust.h)
 * decides at each step how much weight they have together and how they share
 * it. A row whose weight would be tiny is left to the model. */
#ifndef KNN_LEARNED_H
#define KNN_LEARNED_H

#include "knn/voters.h"

extern const struct steering_system learned_system;

/* The votes of one row: neighbors whose vote counts, and their tokens. */
struct learned_row {
    struct neighbor nb[TRUST_NEIGHBORS];        /* nearest first */
    int n;
    int context[TRUST_NEIGHBORS];
    bool foreign[TRUST_NEIGHBORS], own[TRUST_NEIGHBORS];
    float matched[TRUST_NEIGHBORS];
    int token_of[TRUST_NEIGHBORS];      /* by neighbor: index of its token */
    int n_tokens;
    int32_t token[TRUST_NEIGHBORS];     /* the distinct ones */
    float add[TRUST_NEIGHBORS];         /* by token */
};

/* These two functions are also used to make the samples of a training, so that
 * the network is trained on what it will see.
 *
 * Choose the votes of a row from its n neighbors. said are the tokens before
 * it. */
void learned_choose(const struct voters *v, const struct neighbor *nb, int n,
                    const struct voters_said *said, struct learned_row *row);
/* Compute the features of a row. Its tokens are the first that p lists. row->n
 * must not be 0. */
void learned_features(const struct voters *v, const struct learned_row *row,
                      const struct projection *p, struct trust_features *out);

#endif
