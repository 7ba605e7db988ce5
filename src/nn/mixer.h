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
 * where add is zero except for the listed tokens, and keep plus the sum of add
 * is 1, up to rounding. This is enough for a nearest-neighbor method, and
 * search needs to look at the listed tokens and the model's best tokens only. A
 * row with keep = 1 and no listed tokens costs nothing.
 *
 * A mixer may also give rewards to listed tokens. Search then uses
 *
 *     log p'(v) + reward(v)
 *
 * in place of log p'(v). A reward is never negative, so here, too, no token
 * outside the list can pass one of the model's best tokens. But the sum may be
 * above 0, and hypotheses may gain by growing; so the mixer says how large a
 * reward can be (most_reward), and search decides with it when it may stop.
 *
 * After each pass the batch first calls `ask` of all mixers that have it. There
 * a mixer puts its rows into the queue of a search that the sentences of the
 * pass share, because one search for many rows costs less (struct pass_search).
 * The batch then runs that search. Next it calls `list`, which sees the decoder
 * states and names the tokens. Then the rows are projected. Then it calls
 * `mix`, which sees the model's probabilities of the listed tokens and sets the
 * weights. A mixer whose weights do not depend on these probabilities sets them
 * in `list`, and has no `mix`.
 *
 * A mixer also explains itself: for each token of a final translation it tells
 * the weight that the memory had, and the votes.
 *
 * The life of a mixer:
 *   1. `first`, at most once, when the sentence enters the batch
 *   2. for each pass with rows of the sentence: `ask`, `list`, then `mix` with
 *      the same rows, unless an error comes between them
 *   3. `explain`, for each part of each final translation
 *   4. `end`, when the sentence leaves the batch: it is finished, or it was
 *      removed, or a call failed
 *   5. `explanation`, any number of times
 *   6. `free`. A sentence that never entered a batch goes from its creation to
 *      `free` directly.
 *
 * The thread of the worker makes all calls up to `end`. Any thread may make the
 * calls after it, also after the worker is gone. No function up to `end` may
 * allocate memory.
 *
 * `ask`, `list`, `explain` and the shared search may fail only because a
 * function of the executor failed, and return the error of that function. An
 * error stops the worker, and all requests that have a sentence in its batch
 * are answered with the error. A mixer that has nothing to say about a row
 * leaves it unchanged; that is no error.
 *
 * An implementation has a struct mixer as its first member. `first`, `ask`,
 * `mix` and `pair` may be NULL, the other functions not. */
#ifndef NN_MIXER_H
#define NN_MIXER_H

#include "nn/backend.h"

/* The most tokens that a mixture may list. */
enum { MIXTURE_TOKENS = 512 };
_Static_assert((int)PROJECT_LISTED == MIXTURE_TOKENS + 1,
               "the tokens of a mixture and one that search adds");

/* The tokens that probably follow if `token` is chosen next. The memory of
 * `ahead` stays valid as long as the sentence is in the batch. `likely` decides
 * whether it is worthwhile to compute their states ahead of time: with 0 this
 * is never done, with 1 as far as there is room. It has no influence on the
 * translation. */
struct guess {
    int32_t token;
    int n;
    const int32_t *ahead;       /* [n] */
    float likely;               /* probability, 0 to 1, that a token of `ahead`
                                   is right, provided those before it are */
};
enum { MIXTURE_GUESSES = 4 };

/* The mixture of one row. The mixer owns both arrays. They stay valid until its
 * next `list` or its `end`. */
struct mixture {
    float keep;                 /* 1 when the mixer does not change the row */
    int n;                      /* listed tokens, at most MIXTURE_TOKENS */
    const int32_t *token;       /* [n] the listed tokens, all different, in any
                                   order; `mix` does not change them */
    const float *add;           /* [n] what is added for each of them, >= 0 */
    const float *reward;        /* [n] of each of them, 0 .. most_reward; NULL:
                                   there are none */
    /* Guesses for the tokens after the next one, best first, set by `list` or
     * `mix`. Their `token`s are different. Search computes the states of the
     * guessed tokens ahead of time; the result is the same without them. */
    int n_guesses;
    struct guess guesses[MIXTURE_GUESSES];
};

/* The rows of one sentence in a pass. Some may be drafts: rows that search
 * may never need. */
struct mixer_rows {
    struct executor *x;         /* reads the states of rows [row, row + n) */
    int row, n;
    const int *n_tokens;        /* [n] tokens of each translation so far,
                                   without the start token: 0 for the first row
                                   of the sentence */
    const int32_t *const *path; /* [n][n_tokens + 1] the slots from the first
                                   of the sentence to the row's own */
    const int32_t *slot_token;  /* by slot: the token that led to it; for the
                                   first slot the start token */
};

/* Copy the last tokens of translation i of the rows to out, oldest first, at
 * most `most`. Returns their number. */
static inline int mixer_last_tokens(const struct mixer_rows *in, int i,
                                    int32_t *out, int most)
{
    int n = in->n_tokens[i] < most ? in->n_tokens[i] : most;
    const int32_t *path = in->path[i] + in->n_tokens[i] - n;

    for (int k = 0; k < n; k++) out[k] = in->slot_token[path[k + 1]];
    return n;
}

/* A part of a final translation, run through the decoder again: token from + i
 * was chosen at the decoder state in row + i of the last pass. The parts come
 * in order: the translations by their index, and the parts of each from its
 * first token to its last. n is at most limits.rows of the executor; that can
 * be more than the rows of the sentence in a pass of the search. */
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
    float distance;             /* squared; of the two states. 0 if the system
                                   compares no states */
    float share;                /* of the weight; all shares sum to at most 1 */
};
/* In the mixture from which the token was chosen, keep was 1 - weight, and
 * add(v) was at least weight * share, summed over the votes for v. If the token
 * got a reward, weight is 1 - exp(-reward) instead: which part of the rewarded
 * probability the model did not give. There is a vote for each n-gram then. */
enum { EXPLANATION_REASONS = 3 };
struct reason {                 /* why the weight is high or low */
    const char *text;           /* a phrase, such as "close state" */
    float effect;               /* > 0: it raised the weight */
};
struct explanation {
    float weight;               /* lambda; 0: the model alone decided */
    int n;                      /* 0 if the weight is 0 */
    const struct vote *votes;   /* [n] nearest first; valid until `free` */
    int n_reasons;              /* 0 if the system gives none */
    struct reason reasons[EXPLANATION_REASONS]; /* strongest first */
};

struct mixer;

/* A search that several sentences of a batch share. It belongs to the worker of
 * the batch. Mixers put queries into its queue; `run` answers all of them and
 * empties the queue. An implementation has a struct pass_search as its first
 * member. */
struct pass_search {
    enum status (*run)(struct pass_search *s, struct executor *x,
                       struct err *e);
};

/* A stored pair that an explanation names. The texts belong to the mixer. */
struct mixer_pair {
    const char *source, *target;
    int64_t id;
    int n;                      /* its entries */
};

struct mixer_ops {
    /* Guess the first tokens of the translation. May be NULL; called only if
     * search_options.draft is set. The caller has set *out to zero; out->token
     * is not used. */
    void (*first)(struct mixer *m, struct guess *out);
    /* May be NULL. Put queries for the rows into the queue of `search`. */
    enum status (*ask)(struct mixer *m, const struct mixer_rows *in,
                       struct err *e);
    /* Name the tokens of each row. The caller has set every out[i] to "not
     * changed". */
    enum status (*list)(struct mixer *m, const struct mixer_rows *in,
                        struct mixture *out, struct err *e);
    /* May be NULL. Set out[i].keep and out[i].add of each row; out[i] is as
     * `list` left it. p[i].listed_logit[k] is the logit of out[i].token[k].
     * p[i] may list more tokens after these, for the use of search. If out[i]
     * has tokens, p[i].best[0] is the model's best token. To leave a row to the
     * model after all, set keep to 1 and n to 0. */
    void (*mix)(struct mixer *m, const struct mixer_rows *in,
                const struct projection *p, struct mixture *out);
    /* Record why the tokens of a final translation were chosen. Called only if
     * search_options.explain is set. */
    enum status (*explain)(struct mixer *m, const struct mixer_reading *in,
                           struct err *e);
    /* What `explain` recorded on the token at position pos of translation hyp,
     * both from 0. The weight is 0 if nothing was recorded; hyp and pos may be
     * any numbers. */
    struct explanation (*explanation)(const struct mixer *m, int hyp, int pos);
    /* May be NULL. The votes of some mixers name pairs of the mixer's own list;
     * this sets *out to pair i of that list, and returns false after the last.
     * The votes of other mixers name pairs by their index among those that
     * `prepare` got (knn/system.h). They have no such list. */
    bool (*pair)(const struct mixer *m, int i, struct mixer_pair *out);
    /* Called exactly once for a sentence that entered a batch. Release what
     * only decoding needs, such as keys. What `explain` recorded stays. */
    void (*end)(struct mixer *m);
    /* Release everything. `end` may not have been called. */
    void (*free)(struct mixer *m);
};

struct mixer {
    const struct mixer_ops *ops;
    unsigned want;              /* what `ask`, `list`, `mix` and `explain` read
                                   of a pass, besides the final states: bits of
                                   enum pass_want */
    struct pass_search *search; /* that `ask` uses, set before the sentence
                                   enters the batch; NULL: none */
    float most_reward;          /* no reward is larger; set likewise */
};
static inline unsigned mixer_want(const struct mixer *m)
{
    return m ? m->want : 0;
}

#endif
