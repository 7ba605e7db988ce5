/* decoder.h - the decoder: target tokens to hidden states, states to logits.
 *
 * A row is one token of one hypothesis at one position. A pass runs any mix of
 * rows through all layers: one row for each live hypothesis in search, or all
 * tokens of a known translation at once. A row attends to the slots on its own
 * path and to nothing else. Within a layer, the keys of all rows are written
 * before any row attends. */
#ifndef NN_DECODER_H
#define NN_DECODER_H

#include "nn/encoder.h"
#include "nn/kvcache.h"
#include "nn/net.h"

/* The source side of cross-attention: keys and values of every decoder layer,
 * computed from the encoder states of one sentence. */
struct crosskv {
    float *kv;                  /* [layers][n][2 * d plus padding]; memory is
                                   committed as it is used */
    size_t layer_ld;            /* floats from one layer to the next */
    size_t bytes;               /* reserved; 0: a part, owned by another */
    int n, cap;                 /* source positions */
};

enum status crosskv_init(struct crosskv *m, const struct net *net, int cap,
                         struct err *e);
void crosskv_release(struct crosskv *m);
/* Compute keys and values of n encoder states x (stride ws->ld), in the form
 * in which encoder_run leaves them. */
void crosskv_fill(struct crosskv *m, struct workspace *ws, const float *x,
                  int n);

/* One sentence of several that were filled together: the n positions from
 * `at` on. The result borrows the memory of `all`; do not release it. */
struct crosskv crosskv_part(const struct crosskv *all, const struct net *net,
                            int at, int n);

/* Rows whose attention weights of all heads are kept at a time. */
enum { CROSS_QUERIES = 16 };

struct decoder_row {
    const struct crosskv *crosskv;  /* rows of one sentence should be adjacent:
                                   it is faster */
    int32_t token;
    int pos;                    /* 0 for the start token */
    const int32_t *path;        /* [pos + 1] slots, its own last; NULL when
                                   the pass has no cache */
};

struct decoder_pass {
    const struct decoder_row *rows;
    int n;                      /* at most ws->rows */
    float *hidden;              /* out: [n, d], stride ws->ld */
    float *cross;               /* out, or NULL: cross-attention of layer
                                   config.attention_layer, heads averaged,
                                   [n, cross_ld] */
    size_t cross_ld;            /* at least the longest source of the rows */
    float *ffn_in;              /* out, or NULL: STATE_FFN of each row,
                                   [n, ws->ld] */
    float *cross_scratch;       /* when cross is set: for each thread
                                   [CROSS_QUERIES, heads, cross_ld] */
    layer_probe *probe;         /* or NULL */
    void *user;
};

/* Run one pass. With cache NULL the rows must be whole translations, each from
 * its first token on and in order: a row then attends to the keys that this
 * pass computes for the rows before it, and no keys are kept. */
void decoder_run(struct workspace *ws, struct kvcache *cache,
                 const struct decoder_pass *p);

/* Project hidden states to logits [n, vocab padded], stride ws->ld_vocab. */
void decoder_logits(struct workspace *ws, const float *hidden, int n,
                    float *logits);

#endif
