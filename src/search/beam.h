/* beam.h - beam search over one sentence: which hypotheses live on, which are
 * finished.
 *
 * Beam search as in THUMT and Tensor2Tensor (method 0.4). Each step takes the
 * best 2 * beam continuations. Those that end in EOS join the finished
 * hypotheses with their score; the best `beam` others live on. One-best search
 * stops when no live hypothesis can still reach the best finished score; n-best
 * search stops when none can reach the n-th. The fairseq variant (lenpen type
 * fairseq) accepts EOS only among the best `beam` continuations and stops after
 * `beam` finished hypotheses. A beam of 1 is greedy search.
 *
 * Hypotheses are ranked by their total: log-probabilities and rewards. What a
 * live hypothesis can still reach follows from two facts: no log-probability is
 * above 0, and no reward is above most_reward.
 *
 * Invariants between steps:
 *   - live[0 .. n_live) and done[0 .. n_done) are sorted, best first; neither
 *     has more than `beam` entries.
 *   - live[i].node and done[i].node are indices into nodes (or -1 before the
 *     first token), and every node's parent has a smaller index.
 *   - There are no candidates.
 *
 * This file knows nothing of networks: the caller offers continuations. Nothing
 * is allocated after beam_init. */
#ifndef SEARCH_BEAM_H
#define SEARCH_BEAM_H

#include "search/job.h"

struct beam_candidate {         /* continuation of live hypothesis `from` */
    double total;               /* log-probability of all tokens, with their
                                   rewards (nn/mixer.h) */
    float logprob;              /* of the token alone */
    int32_t token;
    int from;
};

struct beam_node { int32_t parent, token; float logprob; };
struct beam_live { int32_t node; double total; int from; };
struct beam_finished { int32_t node; double total, score; bool ended; };

struct beam {
    const struct search_options *o;     /* of the sentence, borrowed */
    int32_t eos;
    int given;                  /* tokens before the first that count for the
                                   penalty */
    int t;                      /* tokens so far */
    int max_len;                /* of the sentence */
    double most_reward;         /* of a token; 0: there are no rewards */
    int cap_beam, cap_len;      /* largest beam and max_len */
    struct beam_node *nodes;    /* tree of all tokens taken so far */
    int n_nodes;
    struct beam_live *live;     /* [beam] from: index before the step */
    struct beam_live *next;     /* [beam] */
    int n_live;
    struct beam_finished *done; /* [beam] best first */
    int n_done;
    struct beam_candidate *cand;  /* [2 * beam] best first */
    int n_cand;
};

/* Allocate for beams of up to max_beam hypotheses and max_len tokens. No token
 * is given; set `given` then if one is. */
enum status beam_init(struct beam *b, int max_beam, int max_len, int32_t eos,
                      struct err *e);
void beam_release(struct beam *b);

/* Begin a sentence whose translation has at most max_len tokens. o is borrowed
 * until the next sentence begins. There are no rewards; to have some, set
 * most_reward then. */
void beam_begin(struct beam *b, const struct search_options *o, int max_len);
/* The last token of live hypothesis i; -1 before the first. */
int32_t beam_token(const struct beam *b, int i);

/* Offer a continuation of live hypothesis `from`. Returns false when it is not
 * among the best: offer the tokens of a row best first, and stop then. */
bool beam_offer(struct beam *b, int from, int32_t token, float logprob);
/* The same for a token with a reward, 0 .. most_reward. */
bool beam_offer_rewarded(struct beam *b, int from, int32_t token,
                         float logprob, float reward);
/* The most candidates that a row needs to offer. */
int beam_width(const struct beam *b);

/* Take the step: choose among the candidates. After it live[i].from says which
 * hypothesis each one continues. Returns true when the sentence is done. */
bool beam_advance(struct beam *b);

/* Copy the best hypotheses to the results of the job. */
void beam_results(const struct beam *b, struct job *j);

#endif
