/* net.h - a model ready to run, and the operations its layers are made of.
 *
 * A struct net joins the mapped weights with the kernels for this CPU; it is
 * immutable and shared by threads. A struct workspace is one thread's scratch:
 * activations for up to `rows` rows, whose row stride is padded to a panel so
 * that products may write whole panels. */
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
    const float *src_pos;       /* [max_pos, d], the offset already applied */
    const float *tgt_pos;
    float *table;               /* computed sinusoids, or NULL */
};

/* kernels NULL: the best for this CPU. The weights are borrowed. */
enum status net_open(struct net **out, const struct weights *w,
                     const struct kernels *k, struct err *e);
void net_close(struct net *net);                /* NULL is fine */

/* Rows that pass the wide part of a layer together: with 2,048 floats each they
 * stay in the second cache until the way back, which many rows would not (Zen
 * 4: 1 to 3 % of key building; 32 to 128 are as good). */
#define FFN_ROWS 64

struct workspace {
    const struct net *net;
    struct pool *pool;          /* borrowed; NULL: one thread */
    int rows;                   /* capacity */
    size_t ld, ld_qkv, ld_ffn, ld_vocab;    /* row strides in floats */
    float *x;                   /* [rows, d]       the residual stream */
    float *y;                   /* [rows, d]       a normed copy */
    float *att;                 /* [rows, d]       attention output */
    float *qkv;                 /* [rows, 3d] */
    float *up;                  /* [FFN_ROWS, ffn] */
    uint8_t *xq;                /* [rows, d] or [FFN_ROWS, widest] quantised */
    float *xs;                  /* [rows] */
    struct nonzero *nz;         /* [FFN_ROWS] of xq, for weights by input */
    uint16_t *nz_at;            /* [FFN_ROWS, widest] their lists */
    uint8_t *nz_value;
    float *scratch;             /* attention, per thread */
    size_t scratch_ld;
};

/* Room for `rows` rows and keys up to max_keys. */
enum status workspace_init(struct workspace *ws, const struct net *net,
                           struct pool *pool, int rows, int max_keys,
                           struct err *e);
void workspace_release(struct workspace *ws);

/* x[row] = scale * embedding(id) + position(pos). out is [d]. */
void net_embed(const struct net *net, const struct linear *emb,
               const float *table, int32_t id, int pos, float *out);

/* y[rows, n] = act(x W^T + b), added to y when add is set. At most FFN_ROWS
 * rows where x is wider than the model or the weights are by input. */
void net_linear(struct workspace *ws, const struct linear *l, const float *x,
                size_t ldx, int rows, float *y, size_t ldy, enum act act,
                int add);

/* y = x W^T + b of the very rows that net_linear was given last, with
 * `before`: they are not quantised again. */
void net_linear_again(struct workspace *ws, const struct linear *before,
                      const struct linear *l, const float *x, size_t ldx,
                      int rows, float *y, size_t ldy);

void net_norm(struct workspace *ws, const struct norm *n, const float *x,
              int rows, float *y);

/* The part all layers share: x += down(act(up(norm(x)))), pre- or post-norm.
 * `sublayer_in` gives what a sublayer reads (the normed copy or x itself),
 * `sublayer_out` closes it (post-norm normalises x in place). */
const float *sublayer_in(struct workspace *ws, const struct norm *n, int rows);
void sublayer_out(struct workspace *ws, const struct norm *n, int rows);
void net_ffn(struct workspace *ws, const struct norm *n,
             const struct linear *up, const struct linear *down, int rows);

#endif
