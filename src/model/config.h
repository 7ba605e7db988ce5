/* config.h - a model's hyper-parameters, as text lines in the model file.
 *
 * Stored as "key=value\n" lines, one per entry of the list below; unknown
 * keys are kept out of the way of older readers (ignored), missing ones take
 * the default. config_parse() refuses what no engine should try (zero heads,
 * a million layers), so later code multiplies without fear. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "tensor/kernels.h"

enum norm_place { NORM_PRE, NORM_POST };
enum positions { POS_HALVES, POS_INTERLEAVED, POS_LEARNED };

/*  kind, field, default, low, high. Kinds: I int, F float, E enum */
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
    I(positions,        0,  0, 2)                      \
    I(position_offset,  0,  0, 1024)                   \
    I(max_positions, 1024,  8, 1048576)                \
    I(max_source,       0,  0, 1048576)                \
    I(pad_id,          -1, -1, 4000000)                \
    I(unk_id,          -1, -1, 4000000)                \
    I(bos_id,          -1, -1, 4000000)                \
    I(eos_id,          -1,  0, 4000000)                \
    I(start_id,        -1,  0, 4000000)                \
    I(suffix_id,       -1, -1, 4000000)                \
    I(prefix_id,       -1, -1, 4000000)                \
    F(layer_norm_eps,  1e-5, 0, 1)                     \
    F(embedding_scale,    1, 0, 1e6)                   \
    F(knn_tau,          100, 0, 1e12)

struct config {
#define I(field, def, low, high) int field;
#define F(field, def, low, high) double field;
    CONFIG_LIST(I, F)
#undef I
#undef F
    char source_lang[16], target_lang[16];
    char name[64];              /* what the model calls itself */
};
/* norm is enum norm_place, positions enum positions, activation enum act;
 * ffn_decoder 0 means "as ffn", max_source 0 "250 or max_positions / 2";
 * both are filled in by config_parse. suffix_id/prefix_id: put after/before
 * the source pieces, -1 for none. */

enum status config_parse(struct config *c, const char *text, size_t len,
                         struct err *e);
bool config_format(const struct config *c, struct strbuf *out);

#endif
