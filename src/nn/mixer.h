/* mixer.h - the interface of a mixer. A mixer sits between the decoder and the
 * search: the decoder computes a probability distribution over the vocabulary
 * for the next token, the mixer may change it, and the search uses the result.
 *
 * A mixer is called after each decoder pass. It reads the hidden states of the
 * rows and the model's distribution p, and returns for each row a mixture
 *
 *     p'(v) = keep * p(v) + add(v)
 *
 * where add is zero except for a short list of tokens. This is enough for a
 * nearest-neighbor method, and search needs to look at the listed tokens and
 * the model's best tokens only. A row with keep = 1 and no listed tokens costs
 * nothing. An implementation has a struct mixer as its first member and its own
 * data after it. All functions are called by the thread that runs the search.
 */
#ifndef NN_MIXER_H
#define NN_MIXER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tensor/kernels.h"

/* The tokens that probably follow if `token` is chosen next. The memory of
 * `ahead` stays valid as long as the sentence is in the batch. */
struct guess {
    int32_t token;
    int n;
    const int32_t *ahead;       /* [n] */
    float likely;               /* probability that a token of `ahead` is
                                   right, provided those before it are */
};
enum { MIX_GUESSES = 4 };

/* The mixture of one row. */
struct mix {
    float keep;                 /* 1 when the mixer does not change the row */
    int n;                      /* listed tokens, at most 64; 0 when the mixer
                                   does not change the row */
    /* The mixer owns both arrays. They stay valid until its next step. */
    const int32_t *token;       /* [n] the listed tokens, all different */
    const float *add;           /* [n] what is added for each of them, >= 0 */
    /* Guesses for the tokens after the next one, best first. Search computes
     * their states ahead of time; the result is the same without them. */
    int n_guesses;
    struct guess guesses[MIX_GUESSES];
};

/* The rows of one decoder pass. */
struct mixer_step {
    int rows, d, vocab;
    const float *hidden;        /* [rows, ld_hidden], final decoder states */
    size_t ld_hidden;
    const float *logits;        /* [rows, ld_logits]; */
    size_t ld_logits;           /* p(v) = exp(logit - stats.max) / stats.sum */
    const struct row_stats *stats;      /* [rows] */
    const int *lane;            /* [rows] the lane of its sentence; the rows of
                                   a sentence are adjacent */
    const int32_t *state;       /* [rows] a number that identifies the state
                                   among all states in use */
    const int32_t *parent;      /* [rows] the state it continues; -1 for the
                                   first state of a sentence */
    const int *n_tokens;        /* [rows] tokens of the translation so far */
    const int32_t *const *path; /* [rows][n_tokens + 1] the states from the
                                   first of the sentence to the row's own */
    const int32_t *state_token; /* by state: the token that led to it; for the
                                   first state the start token */
};

/* Copy the last tokens of a row's translation so far to out, oldest first, at
 * most `most`. Returns their number. */
static inline int mixer_last_tokens(const struct mixer_step *in, int row,
                                    int32_t *out, int most)
{
    int n = in->n_tokens[row] < most ? in->n_tokens[row] : most;
    const int32_t *path = in->path[row] + in->n_tokens[row] - n;

    for (int i = 0; i < n; i++) out[i] = in->state_token[path[i + 1]];
    return n;
}

/* A part of a finished translation: token from + i was chosen at the decoder
 * state in row i. */
struct mixer_reading {
    int hyp;                    /* index of the translation */
    int from, n;
    const float *hidden;        /* [n, ld_hidden] */
    size_t ld_hidden;
    const int32_t *tokens;      /* the translation from its first token on */
};

/* For each sentence, begin is called first and end last. Only step is
 * mandatory; the other functions may be NULL. */
struct mixer {
    /* A sentence enters a lane. mixer_data comes from its job. */
    enum status (*begin)(struct mixer *mx, int lane, void *mixer_data,
                         struct err *e);
    /* Guess the first tokens of the translation. *out is zeroed by the caller;
     * out->token is not used. */
    void (*first)(struct mixer *mx, int lane, struct guess *out);
    /* Compute the mixtures of a pass. The caller has set every out[row] to
     * "not changed". Some rows may be drafts that search never reaches. */
    void (*step)(struct mixer *mx, const struct mixer_step *in,
                 struct mix *out);
    /* Explain a part of a final translation. Called before end, and only if
     * search_options.explain is set. */
    void (*explain)(struct mixer *mx, int lane, const struct mixer_reading *in);
    /* The sentence leaves the lane. */
    void (*end)(struct mixer *mx, int lane);
};

#endif
