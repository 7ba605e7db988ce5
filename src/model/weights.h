/* weights.h - the tensors of a model file as struct fields for the network.
 *
 * For each kind of layer, a list gives the fields, their names in the file and
 * their shapes. The struct, the loader with its shape checks and the converter
 * are expanded from this list, and a test compares the format document with it.
 * A linear X consists of the tensors X.w (in panels), X.s and X.c (int8 only)
 * and X.b (optional). After a ReLU, X.t (int8 by input) may replace X.w and
 * X.c. A norm X consists of X.g and X.b. */
#ifndef MODEL_WEIGHTS_H
#define MODEL_WEIGHTS_H

#include "base/err.h"
#include "model/config.h"
#include "model/mfile.h"
#include "tensor/tensor.h"
#include "text/subword.h"

/* An int8 product adds up to 255 * 127 per input. With more inputs than this,
 * the sum might overflow an int32, so the loader rejects the matrix. */
#define LINEAR_I8_MAX_INPUTS 65536

struct norm { const float *gain, *bias; };      /* [d_model] each */

/* L(field, name, outputs, inputs) is a linear layer, N(field, name) a norm.
 * d is d_model; f is ffn in the encoder and ffn_decoder in the decoder. */
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
    /* "tokenizer.spm" for both sides, or "tokenizer.src" and "tokenizer.tgt".
     * The first case is a single object with two holders. */
    const struct subword *src_subword, *tgt_subword;
    /* Hashes, never 0, for files that store pieces: of the source tokenizer,
     * and of both. They are equal if one tokenizer serves both sides. */
    uint64_t src_tokenizer, tokenizer;
    struct linear src_emb;      /* "emb" or "emb.src"  [vocab, d_model] */
    struct linear tgt_emb;      /* "emb" or "emb.tgt" */
    struct linear project;      /* "project", or tgt_emb when tied; the bias
                                   is "project.b" in both cases */
    /* Learned positions, "pos.src" and "pos.tgt": [max_positions, d_model].
     * NULL if positions are sinusoidal. */
    const float *src_pos, *tgt_pos;
    /* "enc.norm" and "dec.norm". gain is NULL if cfg.final_norm is 0. */
    struct norm enc_norm, dec_norm;
    struct encoder_layer *enc;  /* [cfg.encoder_layers] "enc.0.self.qkv", .. */
    struct decoder_layer *dec;  /* [cfg.decoder_layers] */
};

enum status weights_open(struct weights **out, const char *path,
                         struct err *e);
/* The same for an open file. The function owns it from now on, and closes it on
 * failure. */
enum status weights_from(struct weights **out, struct mfile *file,
                         struct err *e);
void weights_close(struct weights *w);          /* NULL is fine */

/* The element type of the projection, which stands for the whole model. */
enum dtype weights_type(const struct weights *w);

#endif
