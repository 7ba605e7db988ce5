/* decoder.h - target tokens to hidden states, and states to logits.
 *
 * A row is one token of one hypothesis at one position. A pass takes any mix
 * of rows: one per live hypothesis in search, or all tokens of a known
 * translation at once - a row sees exactly the slots on its path, and within
 * a pass every row's keys are written before any row attends. */
#ifndef NN_DECODER_H
#define NN_DECODER_H

#include "nn/encoder.h"
#include "nn/kvcache.h"
#include "nn/net.h"

/* What the decoder attends to: the encoder's states of one sentence, as keys
 * and values of every decoder layer. */
struct memory {
    float *kv;                  /* [layers][n][2 * d and a skew], touched as
                                   used */
    size_t layer_ld;            /* floats from one layer to the next */
    size_t bytes;               /* reserved; 0: of another one's */
    int n, cap;                 /* source positions */
};

enum status memory_init(struct memory *m, const struct net *net, int cap,
                        struct err *e);
void memory_release(struct memory *m);
/* From n states in x (stride ws->ld), as encoder_run leaves them. */
void memory_fill(struct memory *m, struct workspace *ws, const float *x,
                 int n);

/* One sentence, n positions from `at` on, of a memory that was filled with
 * several at once: it reads `all`, and is not to be released. */
struct memory memory_part(const struct memory *all, const struct net *net,
                          int at, int n);

struct row {
    const struct memory *mem;   /* rows of one sentence stand together */
    int32_t token;
    int pos;                    /* 0 for the start token */
    const int32_t *path;        /* [pos + 1] slots, its own last; NULL where
                                   there is no cache */
};

struct decoder_pass {
    const struct row *rows;
    int n;                      /* at most ws->rows */
    float *hidden;              /* out: [n, d], stride ws->ld */
    float *cross;               /* out, or NULL: cross-attention of the last
                                   layer, heads averaged, [n, cross_ld] */
    size_t cross_ld;
    float *cross_scratch;       /* [heads * cross_ld] when cross is set */
    layer_probe *probe;         /* or NULL */
    void *user;
};

/* cache NULL: translations that are known whole, each from its first token on
 * and in order. Their rows attend to what the pass itself has made of those
 * before, and nothing is kept. */
void decoder_run(struct workspace *ws, struct kvcache *cache,
                 const struct decoder_pass *p);

/* logits [n, vocab padded] (stride ws->ld_vocab) of hidden states. */
void decoder_logits(struct workspace *ws, const float *hidden, int n,
                    float *logits);

#endif
