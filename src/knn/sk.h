/* sk.h - SK-MT: each sentence has a key store of its own, small and searched
 * whole, and its nearest entries speak at every step.
 *
 * A job's `user` is the sentence's struct sk_sentence, or NULL for none; it is
 * borrowed until the sentence leaves, and its store is empty then. A sentence
 * without entries, and a step whose neighbors are too far to be trusted, cost
 * no more than plain decoding does.
 *
 * What a row gets depends on its state and on the tokens that led to it, and
 * on nothing else: not on other rows, nor on whether it was a draft. */
#ifndef KNN_SK_H
#define KNN_SK_H

#include "knn/weigh.h"
#include "nn/mixer.h"

struct sk_options {
    int k;                      /* neighbors, 1 .. KNN_MAX_K */
    int repeat_votes;           /* times in a row that the memory may vote for
                                   a phrase (repeat.h); 0: no limit */
    bool eos_abstains;          /* a vote for `eos` goes to the model */
    int32_t eos;
    struct weigh_options weigh;
};

/* Who spoke before a token of a translation, and how loud. */
struct sk_vote {
    struct neighbor nb;
    float share;                /* of lambda: its part of p_knn */
};
struct sk_token_votes {
    float lambda;               /* 0: the model alone */
    int n;                      /* voters, nearest first */
    struct sk_vote *voters;     /* [k] */
};

struct sk_sentence {            /* zeroed, it has nothing to say */
    struct datastore store;
    float *similarity;          /* [pairs] of the store, or NULL: not known */
    struct sk_token_votes *notes;  /* or NULL: [hyps][tokens], filled by tell */
    int hyps, tokens;
};

void sk_sentence_release(struct sk_sentence *s);
/* Room to explain so many translations of so many tokens. */
enum status sk_sentence_alloc_votes(struct sk_sentence *s, int hyps, int tokens,
                                    int k, struct err *e);

struct sk;

/* lanes and rows: the most the search will have. */
enum status sk_new(struct sk **out, const struct sk_options *o,
                   const struct kernels *kn, int lanes, int rows,
                   struct err *e);
void sk_free(struct sk *sk);                    /* NULL is fine */
struct mixer *sk_mixer(struct sk *sk);

#endif
