/* sk.h - the mixer of SK-MT: at each step the entries of the sentence's
 * datastore that are nearest to the decoder state vote for the next token.
 *
 * The mixer_data of a job is the struct sk_sentence of its sentence, or NULL
 * for a sentence without a memory. The mixer borrows it until the sentence
 * leaves the batch, and empties its datastore then. A sentence without entries
 * costs no more than plain decoding, and neither does a step at which all
 * neighbors are too far away.
 *
 * The votes for a row depend only on its state and on the tokens that led to
 * it. They depend neither on other rows nor on whether the row was a draft. */
#ifndef KNN_SK_H
#define KNN_SK_H

#include "knn/weigh.h"
#include "nn/mixer.h"

struct sk_options {
    int k;                      /* neighbors per step, 1 .. KNN_MAX_K */
    int repeat_votes;           /* how many times in a row the memory may vote
                                   for a phrase (repeat.h); 0: no limit */
    bool eos_abstains;          /* the weight of a vote for `eos` goes to the
                                   model */
    int32_t eos;
    struct weigh_options weigh;
};

/* The neighbors that voted on a token of a translation, with their weights. */
struct sk_vote {
    struct neighbor nb;
    float share;                /* part of lambda; all votes sum to 1 */
};
struct sk_token_votes {
    float lambda;               /* 0: the model alone decided */
    int n;                      /* number of votes */
    struct sk_vote *votes;      /* [k], nearest first */
};

struct sk_sentence {            /* all zeros: a sentence without votes */
    struct datastore store;
    float *similarity;          /* [store.n_pairs], or NULL: not known */
    struct sk_token_votes *votes;  /* [hyps][tokens], for explanations; NULL
                                      when none are wanted */
    int hyps, tokens;           /* size of votes */
};

void sk_sentence_release(struct sk_sentence *s);
/* Allocate room for the votes on `hyps` translations of up to `tokens` tokens
 * with k neighbors each. */
enum status sk_sentence_alloc_votes(struct sk_sentence *s, int hyps, int tokens,
                                    int k, struct err *e);

struct sk;

/* Make a mixer for a batch with up to `lanes` lanes and `rows` rows per pass.
 * Fails with ST_ARGUMENT when an option is out of range. */
enum status sk_new(struct sk **out, const struct sk_options *o,
                   const struct kernels *kn, int lanes, int rows,
                   struct err *e);
void sk_free(struct sk *sk);                    /* NULL is fine */
struct mixer *sk_mixer(struct sk *sk);          /* part of sk */

#endif
