/* learned.h - the steering system with learned trust: the nearest entries of
 * the sentence's datastore vote, as in SK-MT, and a small network (trust.h)
 * decides at each step how much weight they have together and how they share
 * it. A row whose weight would be tiny is left to the model. */
#ifndef KNN_LEARNED_H
#define KNN_LEARNED_H

#include "knn/voters.h"

extern const struct steering_system learned_system;

/* The votes of one row: neighbors whose vote counts or that abstain, and their
 * tokens. That a near neighbor is for EOS says that the others deserve less
 * trust, also if it has to abstain. */
struct learned_row {
    struct neighbor nb[TRUST_NEIGHBORS];        /* nearest first */
    int n;
    bool abstains[TRUST_NEIGHBORS];     /* its share goes to the model */
    int context[TRUST_NEIGHBORS];
    bool foreign[TRUST_NEIGHBORS], own[TRUST_NEIGHBORS];
    float aligned[TRUST_NEIGHBORS], focus[TRUST_NEIGHBORS];
    float shared[TRUST_NEIGHBORS];
    int token_of[TRUST_NEIGHBORS];      /* by neighbor: index of its token */
    int n_tokens;
    int32_t token[TRUST_NEIGHBORS];     /* the distinct ones */
    float add[TRUST_NEIGHBORS];         /* by token */
};

struct learned_values {         /* of the neighbors of a row */
    float similarity[TRUST_NEIGHBORS], logprob[TRUST_NEIGHBORS];
};

/* These functions are also used to make the samples of a training, so that
 * the network is trained on what it will see.
 *
 * Choose the votes of a row from its n neighbors. said are the tokens before
 * it, attention is that of the row. search: leave out neighbors that would
 * bring in a wrong word; training keeps them. */
void learned_choose(const struct voters *v, const struct neighbor *nb, int n,
                    const struct voters_said *said, const float *attention,
                    bool search, struct learned_row *row);
/* What is known at a row, from which its features are computed. Its tokens are
 * the first that p lists. row->n must not be 0. The result points to row and
 * *of. */
struct trust_step learned_step(const struct voters *v,
                               const struct learned_row *row,
                               const struct projection *p,
                               struct learned_values *of);
/* Compute the features of a row. */
void learned_features(const struct voters *v, const struct learned_row *row,
                      const struct projection *p, struct trust_features *out);

#endif
