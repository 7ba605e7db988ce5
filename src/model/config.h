/* config.h - the hyperparameters of a model, stored as text in the model file.
 *
 * The text has one line "key=value\n" for each entry of the list below. A key
 * that is not in the list is ignored, so that older readers accept newer files.
 * A missing key has its default value. config_parse() rejects values that make
 * no sense (zero heads, a million layers), so later code can multiply sizes
 * without checking for overflow. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "tensor/kernels.h"

enum norm_place { NORM_PRE, NORM_POST };
/* POS_HALVES_HF: all sines before all cosines, like POS_HALVES, but with the
 * frequencies that Hugging Face computes for Marian models. */
enum positions {
    POS_HALVES, POS_INTERLEAVED, POS_LEARNED, POS_HALVES_HF
};
/* Where the tokens of the languages of a multilingual model stand. */
enum language_tokens {
    LANGUAGE_TOKENS_NONE,
    LANGUAGE_TOKENS_TARGET_FIRST,   /* target language, before the source */
    LANGUAGE_TOKENS_BOTH            /* source language before the source; the
                                       target language begins the target */
};

/*  kind(field, default, lowest, highest). I is an int or an enum, F a double.
 *  A default outside the range means that the key is required. */
#define CONFIG_LIST(I, F)                              \
    I(vocab_size,       0,  4, 4000000)                \
    I(d_model,          0,  4, 65536)                  \
    I(heads,            0,  1, 1024)                   \
    I(ffn,              0,  4, 1048576)                \
    I(ffn_decoder,      0,  0, 1048576)                \
    I(encoder_layers,   0,  1, 256)                    \
    I(decoder_layers,   0,  1, 256)                    \
    I(norm,             0,  0, 1)                      \
    I(final_norm,       1,  0, 1)                      \
    I(activation,       1,  0, 3)                      \
    I(positions,        0,  0, 3)                      \
    I(position_offset,  0,  0, 1024)                   \
    I(max_positions, 1024,  8, 1048576)                \
    I(max_source,       0,  0, 1048576)                \
    I(attention_layer, -1, -1, 255)                    \
    I(pad_id,          -1, -1, 4000000)                \
    I(unk_id,          -1, -1, 4000000)                \
    I(bos_id,          -1, -1, 4000000)                \
    I(eos_id,          -1,  0, 4000000)                \
    I(start_id,        -1,  0, 4000000)                \
    I(suffix_id,       -1, -1, 4000000)                \
    I(prefix_id,       -1, -1, 4000000)                \
    I(target_prefix_id, -1, -1, 4000000)               \
    I(language_tokens,  0,  0, 2)                      \
    I(beam,             0,  0, 64)                     \
    F(layer_norm_eps,  1e-5, 0, 1)                     \
    F(embedding_scale,    1, 0, 1e6)                   \
    F(knn_tau,          100, 0, 1e12)                  \
    F(length_penalty,    -1, -1, 10)

struct config {
#define I(field, def, low, high) int field;
#define F(field, def, low, high) double field;
    CONFIG_LIST(I, F)
#undef I
#undef F
    char source_lang[16], target_lang[16];
    char name[64];              /* the name of the model */
    char family[32];            /* "marian"; "": made from our own files */
    char license[64];           /* a short name, such as "CC-BY-4.0" */
    char origin[256];           /* what the file was made from */
    char trust[4096];           /* a network for learned trust, as text
                                   (knn/trust.h); "": none */
};
/* norm is an enum norm_place, positions an enum positions, activation an enum
 * act. Three values may be missing, and config_parse() then fills them in:
 * ffn_decoder (0) gets the value of ffn, max_source (0) half the positions but
 * at most 250, and attention_layer (-1) the middle layer of the decoder, the
 * lower one of two. prefix_id and suffix_id are tokens to add before and after
 * the source, or -1 for none. */

/* All numbers have their defaults, and strings are empty. The values of
 * required keys are out of range. */
void config_defaults(struct config *c);
/* Parse and check the text of a model file. */
enum status config_parse(struct config *c, const char *text, size_t len,
                         struct err *e);
/* The first token of each translation, which is given and not printed. A model
 * with a target_prefix_id reads start_id before it, but nothing except the
 * decoder (nn/) sees that: for all others target_prefix_id takes the place of
 * start_id. */
static inline int config_first_token(const struct config *c)
{
    return c->target_prefix_id >= 0 ? c->target_prefix_id : c->start_id;
}

/* Append c as text that config_parse() reads back. false: out of memory. */
bool config_format(const struct config *c, struct strbuf *out);

#endif
