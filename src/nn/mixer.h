/* mixer.h - the interface of a mixer. A mixer belongs to one sentence and sits
 * between the decoder and the search: the decoder computes a distribution over
 * the vocabulary for the next token, the mixer may change it, and the search
 * uses the result.
 *
 * For each row of a pass, a mixer returns a mixture of the model's distribution
 * p with a short list of tokens:
 *
 *     p'(v) = keep * p(v) + add(v)
 *
 * where add is zero except for the listed tokens. This is enough for a
 * nearest-neighbor method, and search needs to look at the listed tokens and
 * the model's best tokens only. A row with keep = 1 and no listed tokens costs
 * nothing.
 *
 * After each pass the batch first calls `list`, which sees the decoder states
 * and names the tokens. Then the rows are projected. Then it calls `mix`, which
 * sees the model's probabilities of the listed tokens and sets the weights. A
 * mixer whose weights do not depend on these probabilities sets them in `list`,
 * and has no `mix`.
 *
 * A mixer also explains itself: for each token of a final translation it tells
 * the weight that the memory had, and the votes.
 *
 * An implementation has a struct mixer as its first member. All functions are
 * called by the thread that runs the search; `explanation` may be called by any
 * thread once the sentence has left the batch. */
#ifndef NN_MIXER_H
#define NN_MIXER_H

#include "nn/backend.h"

/* The most tokens that a mixture may list. */
enum { MIXTURE_TOKENS = 64 };

/* The tokens that probably follow if `token` is chosen next. The memory of
 * `ahead` stays valid as long as the sentence is in the batch. */
struct guess {
    int32_t token;
    int n;
    const int32_t *ahead;       /* [n] */
    float likely;               /* probability that a token of `ahead` is
                                   right, provided those before it are */
};
enum { MIXTURE_GUESSES = 4 };

/* The mixture of one row. The mixer owns both arrays. They stay valid until its
 * next `list`. */
struct mixture {
    float keep;                 /* 1 when the mixer does not change the row */
    int n;                      /* listed tokens, at most MIXTURE_TOKENS */
    const int32_t *token;       /* [n] the listed tokens, all different */
    const float *add;           /* [n] what is added for each of them, >= 0 */
    /* Guesses for the tokens after the next one, best first. Search computes
     * their states ahead of time; the result is the same without them. */
    int n_guesses;
    struct guess guesses[MIXTURE_GUESSES];
};

/* The rows of one sentence in a pass. Some may be drafts: states that search
 * may never reach. */
struct mixer_rows {
    struct executor *x;         /* reads the states of rows [row, row + n) */
    int row, n;
    const int *n_tokens;        /* [n] tokens of each translation so far */
    const int32_t *const *path; /* [n][n_tokens + 1] the states from the first
                                   of the sentence to the row's own */
    const int32_t *state_token; /* by state: the token that led to it; for the
                                   first state the start token */
};

/* Copy the last tokens of translation i of the rows to out, oldest first, at
 * most `most`. Returns their number. */
static inline int mixer_last_tokens(const struct mixer_rows *in, int i,
                                    int32_t *out, int most)
{
    int n = in->n_tokens[i] < most ? in->n_tokens[i] : most;
    const int32_t *path = in->path[i] + in->n_tokens[i] - n;

    for (int k = 0; k < n; k++) out[k] = in->state_token[path[k + 1]];
    return n;
}

/* A part of a final translation, run through the decoder again: token from + i
 * was chosen at the decoder state in row + i of the last pass. */
struct mixer_reading {
    struct executor *x;
    int row, n;
    int hyp;                    /* index of the translation */
    int from;
    const int32_t *tokens;      /* the translation from its first token on */
};

/* Why a token was chosen. */
struct vote {
    int32_t pair;               /* index among the pairs of the sentence */
    int32_t pos;                /* position of the token in the pair's target */
    int32_t token;
    float distance;             /* squared; of the two states */
    float share;                /* of the weight; all shares sum to at most 1 */
};
struct explanation {
    float weight;               /* lambda; 0: the model alone decided */
    int n;
    const struct vote *votes;   /* [n] nearest first */
};

struct mixer;

struct mixer_ops {
    /* Guess the first tokens of the translation. May be NULL. *out is zeroed by
     * the caller; out->token is not used. */
    void (*first)(struct mixer *m, struct guess *out);
    /* Name the tokens of each row. The caller has set every out[i] to "not
     * changed". */
    enum status (*list)(struct mixer *m, const struct mixer_rows *in,
                        struct mixture *out, struct err *e);
    /* May be NULL. p[i] has the logits of the tokens in out[i]; set out[i].keep
     * and out[i].add. */
    void (*mix)(struct mixer *m, const struct mixer_rows *in,
                const struct projection *p, struct mixture *out);
    /* Record why the tokens of a final translation were chosen. Called only if
     * search_options.explain is set. */
    enum status (*explain)(struct mixer *m, const struct mixer_reading *in,
                           struct err *e);
    /* What `explain` recorded on a token. The weight is 0 if nothing was. */
    struct explanation (*explanation)(const struct mixer *m, int hyp,
                                      int token);
    /* The sentence has left the batch: release what only decoding needs. */
    void (*end)(struct mixer *m);
    void (*free)(struct mixer *m);
};

struct mixer { const struct mixer_ops *ops; };

#endif
