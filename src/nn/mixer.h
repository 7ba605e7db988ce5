/* mixer.h - what may change a step's distribution between decoder and search.
 *
 * A mixer sees every pass: the rows' hidden states and the model's own
 * distribution, and answers per row with a mixture
 *
 *     p'(v) = keep * p(v) + add(v)
 *
 * where add is zero but for a short list of tokens. That is all a nearest
 * neighbor system needs, and it lets search look only at the listed tokens
 * and the model's best ones: a row left alone costs nothing. A system embeds
 * this as its first member and keeps its own state after it. All calls come
 * from the thread that runs the search. */
#ifndef NN_MIXER_H
#define NN_MIXER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tensor/kernels.h"

/* If `token` is next, these come after it. They live as long as the
 * sentence. */
struct guess {
    int32_t token;
    int n;
    const int32_t *ahead;       /* [n] */
    float likely;               /* that a token of it is right, where those
                                   before it were */
};
enum { MIX_GUESSES = 4 };

struct mix {
    float keep;                 /* 1 when the row is left alone */
    int n;                      /* listed tokens, at most 64; 0 when left
                                   alone */
    const int32_t *token;       /* [n], distinct; the mixer's memory, valid */
    const float *add;           /* [n], >= 0      until its next step       */
    /* Guesses of what comes after the next token, for search to try ahead of
     * time, the best first; they change no result. */
    int n_guesses;
    struct guess guesses[MIX_GUESSES];
};

struct mixer_step {
    int rows, d, vocab;
    const float *hidden;        /* [rows, ld_hidden], final decoder states */
    size_t ld_hidden;
    const float *logits;        /* [rows, ld_logits]; */
    size_t ld_logits;           /* p(v) = exp(logit - stats.max) / stats.sum */
    const struct row_stats *stats;      /* [rows] */
    const int *lane;            /* [rows] which sentence of the batch; rows of
                                   one stand together */
    const int32_t *state;       /* [rows] a number no other state has that is
                                   still in use */
    const int32_t *parent;      /* [rows] the state it continues, -1 at a
                                   sentence's first */
    const int *n_tokens;        /* [rows] tokens of the translation so far */
    const int32_t *const *path; /* [rows][n_tokens + 1] the states from the
                                   sentence's first to the row's own */
    const int32_t *state_token; /* by state: the token that led to it; of a
                                   sentence's first state the start token */
};

/* The last tokens of a row's translation so far, oldest first: at most `most`
 * of them. Returns how many there are. */
static inline int mixer_last_tokens(const struct mixer_step *in, int row,
                                    int32_t *out, int most)
{
    int n = in->n_tokens[row] < most ? in->n_tokens[row] : most;
    const int32_t *path = in->path[row] + in->n_tokens[row] - n;

    for (int i = 0; i < n; i++) out[i] = in->state_token[path[i + 1]];
    return n;
}

/* A part of a finished translation: token number from + i was chosen at the
 * decoder state in row i. */
struct mixer_reading {
    int hyp;                    /* number of the translation */
    int from, n;
    const float *hidden;        /* [n, ld_hidden] */
    size_t ld_hidden;
    const int32_t *tokens;      /* the translation, from its first token on */
};

struct mixer {
    /* A sentence enters a lane; `user` is what its job carries. */
    enum status (*begin)(struct mixer *mx, int lane, void *user,
                         struct err *e);
    /* A guess of what the translation begins with; out->token is not read.
     * Comes empty. May be NULL. */
    void (*first)(struct mixer *mx, int lane, struct guess *out);
    /* out[rows] comes with every row left alone. Rows come in any order of
     * time: some may be guesses that search never takes. */
    void (*step)(struct mixer *mx, const struct mixer_step *in,
                 struct mix *out);
    /* A translation that search has settled on, to explain it. Called before
     * end, when search was asked to; may be NULL. */
    void (*explain)(struct mixer *mx, int lane, const struct mixer_reading *in);
    void (*end)(struct mixer *mx, int lane);
};

#endif
