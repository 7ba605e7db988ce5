/* beam.h - one sentence's hypotheses: which live on, which are finished.
 *
 * Beam search as method 0.4 describes it (THUMT / Tensor2Tensor): of the best
 * 2 * beam continuations those that end go to the finished ones with their
 * score, the best `beam` others live on. One-best search stops when the best
 * finished score is above all that a live one can still reach; n-best when
 * the n-th is. fairseq's variant (lenpen type fairseq) takes an end only from
 * the best `beam` continuations and stops after `beam` of them. With a beam
 * of 1 it is greedy search: the best continuation is taken, the end ends.
 *
 * This knows nothing of networks: the caller offers continuations, the lane
 * decides. It allocates nothing after beam_init. */
#ifndef SEARCH_BEAM_H
#define SEARCH_BEAM_H

#include "search/job.h"

struct cand {                   /* a continuation of live hypothesis `from` */
    double total;               /* log-probability of the whole */
    float logprob;              /* of the token alone */
    int32_t token;
    int from;
};

struct node { int32_t parent, token; float logprob; };
struct live { int32_t node; double total; int from; };
struct finished { int32_t node; double total, score; bool ended; };

struct beam {
    const struct search_options *o;
    int32_t eos;
    int t;                      /* tokens so far */
    int max_len;
    double prune;               /* the options', unless changed after begin */
    struct node *nodes;         /* tree of all tokens ever taken */
    int n_nodes;
    struct live *live;          /* [beam] best first; from: index before */
    struct live *next;          /* [beam] */
    int n_live;
    struct finished *done;      /* [beam] best first */
    int n_done;
    struct cand *cand;          /* [2 * beam] best first */
    int n_cand;
};

/* Room for sentences of up to max_len tokens. */
enum status beam_init(struct beam *b, const struct search_options *o,
                      int32_t eos, int max_len, struct err *e);
void beam_release(struct beam *b);

void beam_begin(struct beam *b, int max_len);           /* a new sentence */
/* Token live hypothesis i ends in; -1 before the first. */
int32_t beam_token(const struct beam *b, int i);

/* Offer a continuation of live hypothesis `from`; the best ones are kept. A
 * row's candidates come best first, so false means: no use offering more. */
bool beam_offer(struct beam *b, int from, int32_t token, float logprob);
/* How many candidates a row should offer at the most. */
int beam_width(const struct beam *b);

/* Take the step. After it live[i].from says which hypothesis each one
 * continues. Returns true when the sentence is decided. */
bool beam_advance(struct beam *b);

/* Best hypotheses into the job's results. */
void beam_results(const struct beam *b, struct job *j);

#endif
