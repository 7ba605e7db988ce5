/* weights.h - the tensors of a model file as the fields the network uses.
 *
 * One list per kind of layer says the field, the name in the file and the
 * shape; the struct, the loader with its shape check and the converter expand
 * it, and a test holds the format document to it. A linear `X` is the tensors
 * X.w (packed), X.s and X.c (int8 only) and X.b (optional), or after a ReLU
 * X.t (int8 by input) in place of X.w and X.c; a norm `X` is X.g and X.b. */
#ifndef MODEL_WEIGHTS_H
#define MODEL_WEIGHTS_H

#include "base/err.h"
#include "model/config.h"
#include "model/mfile.h"
#include "tensor/tensor.h"
#include "text/subword.h"

/* An int8 product adds 255 * 127 per input; beyond this an int32 may not
 * hold the sum, and the loader refuses the matrix. */
#define LINEAR_I8_MAX_INPUTS 65536

struct norm { const float *gain, *bias; };      /* [d_model] each */

/* L(field, name, outputs, inputs) linear, N(field, name) norm.
 * d = d_model, f = the stack's ffn. */
#define ENCODER_LAYER_WEIGHTS(L, N)             \
    N(self_norm, "self.norm")                   \
    L(qkv,  "self.qkv",  3 * d, d)              \
    L(out,  "self.out",  d,     d)              \
    N(ffn_norm, "ffn.norm")                     \
    L(up,   "ffn.up",    f,     d)              \
    L(down, "ffn.down",  d,     f)

#define DECODER_LAYER_WEIGHTS(L, N)             \
    ENCODER_LAYER_WEIGHTS(L, N)                 \
    N(cross_norm, "cross.norm")                 \
    L(cross_q,   "cross.q",   d,     d)         \
    L(cross_kv,  "cross.kv",  2 * d, d)         \
    L(cross_out, "cross.out", d,     d)

#define L(field, name, n, k) struct linear field;
#define N(field, name) struct norm field;
struct encoder_layer { ENCODER_LAYER_WEIGHTS(L, N) };
struct decoder_layer { DECODER_LAYER_WEIGHTS(L, N) };
#undef L
#undef N

struct weights {
    struct mfile *file;
    struct config cfg;
    struct subword *subword;
    uint64_t tokenizer;         /* a hash of its bytes, not 0: what is kept in
                                   its pieces elsewhere says which it was */
    struct linear src_emb;      /* "emb" or "emb.src"  [vocab, d_model] */
    struct linear tgt_emb;      /* "emb" or "emb.tgt" */
    struct linear project;      /* "project", or tgt_emb when tied; its bias
                                   is "project.b" either way */
    const float *src_pos;       /* [max_positions, d_model], learned only: */
    const float *tgt_pos;       /* "pos.src", "pos.tgt" */
    struct norm enc_norm;       /* "enc.norm", "dec.norm"; gain NULL when */
    struct norm dec_norm;       /* cfg.final_norm is 0 */
    struct encoder_layer *enc;  /* [cfg.encoder_layers] "enc.0.self.qkv".. */
    struct decoder_layer *dec;  /* [cfg.decoder_layers] */
};

enum status weights_open(struct weights **out, const char *path,
                         struct err *e);
/* Takes over the file, also on failure. */
enum status weights_from(struct weights **out, struct mfile *file,
                         struct err *e);
void weights_close(struct weights *w);          /* NULL is fine */

enum dtype weights_type(const struct weights *w);   /* of the projection */

#endif
