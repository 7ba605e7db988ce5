/* marian_config.h - the settings of a Marian model and of its decoder.
 *
 * Those of the model are in its file (special:model.yml). They decide what it
 * computes, so that every key must be known: one that is not known is refused
 * unless it is off. Those of the decoder are in decoder.yml. They name the
 * files of the model and say how to search; other keys there are ignored. */
#ifndef CONVERT_MARIAN_CONFIG_H
#define CONVERT_MARIAN_CONFIG_H

#include <stdbool.h>

#include "base/err.h"
#include "convert/json_config.h"
#include "tensor/kernels.h"

#define MARIAN_LAYERS_MAX 256

/* Which tables of embeddings are one. */
enum marian_tables {
    MARIAN_SEPARATE,            /* none */
    MARIAN_TIED_TARGET,         /* those of the target and the output */
    MARIAN_TIED_SIDES,          /* those of source and target */
    MARIAN_TIED_ALL
};

struct marian_config {
    int d_model, heads, ffn, decoder_ffn;
    int encoder_layers, decoder_layers;
    enum act activation;
    bool pre_norm;              /* norms before the blocks, and one at the end;
                                   else after the blocks only */
    enum marian_tables tables;
    bool output_bias;
    /* Decoder layer i (from 0) has the tensors of layer decoder_layer[i] (from
     * 1) of the file. [decoder_layers] */
    int decoder_layer[MARIAN_LAYERS_MAX];
};

/* Fails with ST_FORMAT if a value is not valid or if the model would compute
 * something that we do not. */
enum status marian_config_read(struct marian_config *c, struct json_config *j,
                               struct err *e);

struct marian_decoder {
    /* Of the set, relative to decoder.yml. Owned by the json_config. */
    const char *model, *source_vocab, *target_vocab;
    int beam;                   /* 0: not said */
    double normalize;           /* exponent of the length of a translation */
    double word_penalty;
    bool allow_unk;             /* <unk> may come out */
    bool allow_special;         /* control characters may come out */
};

enum status marian_decoder_read(struct marian_decoder *d, struct json_config *j,
                                struct err *e);

#endif
