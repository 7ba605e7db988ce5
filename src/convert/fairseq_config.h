/* fairseq_config.h - the settings of a Transformer of fairseq that decide what
 * it computes. */
#ifndef CONVERT_FAIRSEQ_CONFIG_H
#define CONVERT_FAIRSEQ_CONFIG_H

#include <stdbool.h>

#include "base/err.h"
#include "convert/json_config.h"
#include "tensor/kernels.h"

/* How texts become pieces, as far as the settings say it. */
enum fairseq_bpe {
    FAIRSEQ_BPE_UNKNOWN = -1,   /* the files tell */
    FAIRSEQ_FASTBPE, FAIRSEQ_SUBWORD_NMT, FAIRSEQ_SENTENCEPIECE
};
enum fairseq_tokenizer {
    FAIRSEQ_TOKENIZER_UNKNOWN = -1,     /* that of Moses before BPE codes, none
                                           before SentencePiece */
    FAIRSEQ_MOSES,
    FAIRSEQ_SPACE               /* none */
};

struct fairseq_config {
    int heads;                  /* 0: the settings do not say it */
    int encoder_layers, decoder_layers;         /* 0: not said */
    enum act activation;
    bool pre_norm;
    bool learned_positions;
    bool scale_embedding;
    bool share_all, share_output;       /* tables that are one */
    int max_source, max_target; /* trained positions */
    const char *source_lang, *target_lang;      /* NULL: not said. Owned by the
                                                   json_config */
    enum fairseq_bpe bpe;
    enum fairseq_tokenizer tokenizer;
    unsigned moses_off;         /* steps of MOSES_FAIRSEQ that are not done */
    int beam;                   /* 0: not said */
    double length_penalty;      /* -1: not said */
};

/* j is what fairseq_settings_read() gave. Fails with ST_FORMAT if a value is
 * not valid or if the model would compute something that we do not. */
enum status fairseq_config_read(struct fairseq_config *c, struct json_config *j,
                                struct err *e);

#endif
