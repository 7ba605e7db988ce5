/* net.h - a model ready to run, and the operations that its layers consist of.
 *
 * A struct net joins the mapped weights with the kernels for this CPU. It is
 * immutable, and threads share it. A struct workspace is the scratch memory of
 * one thread: activations for up to `rows` rows. Row strides are padded to a
 * whole panel, so that products can write whole panels. */
#ifndef NN_NET_H
#define NN_NET_H

#include "base/err.h"
#include "base/pool.h"
#include "model/weights.h"
#include "tensor/kernels.h"

struct net {
    const struct weights *w;
    const struct kernels *k;
    int d, heads, head_dim, vocab;
    int max_pos;                /* rows of the position tables */
    const float *src_pos;       /* [max_pos, d], the offset is applied */
    const float *tgt_pos;
    float *table;               /* computed sinusoids, or NULL */
};

/* kernels NULL: the fastest for this CPU. The weights are borrowed. */
enum status net_open(struct net **out, const struct weights *w,
                     const struct kernels *k, struct err *e);
void net_close(struct net *net);                /* NULL is fine */

/* Rows that go through the feed-forward block together. With 2,048 floats each
 * they stay in the L2 cache between the two products; more rows would not
 * (1 to 3 % of key building on Zen 4; anything from 32 to 128 is as good). */
#define FFN_ROWS 64

struct workspace {
    const struct net *net;
    struct pool *pool;          /* borrowed; NULL: one thread */
    int rows;                   /* capacity */
    size_t ld, ld_qkv, ld_ffn, ld_vocab;    /* row strides in floats */
    float *x;                   /* [rows, d]       the residual stream */
    float *y;                   /* [rows, d]       normalized copy */
    float *att;                 /* [rows, d]       attention output */
    float *qkv;                 /* [rows, 3d] */
    float *up;                  /* [FFN_ROWS, ffn] */
    uint8_t *xq;                /* [rows, d] or [FFN_ROWS, widest] quantized */
    float *xs;                  /* [rows] */
    struct nonzero *nz;         /* [FFN_ROWS] of xq, for weights by input */
    uint16_t *nz_at;            /* [FFN_ROWS, widest] memory of those lists */
    uint8_t *nz_value;
    float *scratch;             /* attention, per thread */
    size_t scratch_ld;
};

/* Allocate for `rows` rows, each of which attends to at most max_keys keys. */
enum status workspace_init(struct workspace *ws, const struct net *net,
                           struct pool *pool, int rows, int max_keys,
                           struct err *e);
void workspace_release(struct workspace *ws);

/* x[row] = scale * embedding(id) + position(pos). out is [d]. */
void net_embed(const struct net *net, const struct linear *emb,
               const float *table, int32_t id, int pos, float *out);

/* y[rows, n] = act(x W^T + b); when add is set, this is added to y. At most
 * FFN_ROWS rows when x is wider than the model or the weights are stored by
 * input. */
void net_linear(struct workspace *ws, const struct linear *l, const float *x,
                size_t ldx, int rows, float *y, size_t ldy, enum act act,
                int add);

/* y = x W^T + b, where x has the same rows as in the last call of net_linear,
 * whose weights were `before`. The rows are not quantized again. */
void net_linear_again(struct workspace *ws, const struct linear *before,
                      const struct linear *l, const float *x, size_t ldx,
                      int rows, float *y, size_t ldy);

void net_norm(struct workspace *ws, const struct norm *n, const float *x,
              int rows, float *y);

/* sublayer_in returns what a sublayer reads: the normalized copy (pre-norm) or
 * x itself (post-norm). sublayer_out ends a sublayer: post-norm normalizes x in
 * place. net_ffn is the feed-forward block: x += down(act(up(norm(x)))). */
const float *sublayer_in(struct workspace *ws, const struct norm *n, int rows);
void sublayer_out(struct workspace *ws, const struct norm *n, int rows);
void net_ffn(struct workspace *ws, const struct norm *n,
             const struct linear *up, const struct linear *down, int rows);

#endif
