/* moses_bpe_model.h - the model of a BPE tokenizer with Moses rules, as tables.
 *
 * docs/formats/model.md describes the bytes. Texts stay in the borrowed bytes.
 * Opening a model checks everything, so the tokenizer trusts the tables. For
 * use inside text/ only; the interface for converters is moses_bpe.h. */
#ifndef TEXT_MOSES_BPE_MODEL_H
#define TEXT_MOSES_BPE_MODEL_H

#include "text/bpe_merges.h"
#include "text/moses_bpe.h"
#include "text/moses_language.h"
#include "text/truecaser.h"

/* What the head of a model says. Line by line, "KEY VALUE":
 * NUMBER(field, key, least, most). */
#define MOSES_BPE_NUMBERS(NUMBER)                                             \
    NUMBER(unk, "unk", 0, MOSES_BPE_PIECES_MAX - 1)                           \
    NUMBER(n_pieces, "pieces", 1, MOSES_BPE_PIECES_MAX)                       \
    NUMBER(n_control, "control", 0, MOSES_BPE_PIECES_MAX)                     \
    NUMBER(n_merges, "merges", 1, MOSES_BPE_MERGES_MAX)                       \
    NUMBER(n_best, "best", 0, MOSES_BPE_WORDS_MAX)                            \
    NUMBER(n_known, "known", 0, MOSES_BPE_WORDS_MAX)

struct moses_bpe_head {
    char language[MOSES_LANGUAGE_MAX + 1];
    unsigned steps;
    enum bpe_marks marks;
    bool apart;                 /* "</w>" is a symbol of its own */
#define NUMBER(field, key, least, most) int32_t field;
    MOSES_BPE_NUMBERS(NUMBER)
#undef NUMBER
};

struct bpe_piece { const char *text; uint16_t len; bool control; };

/* The pieces of a symbol: inside of a word, and at its end. */
struct bpe_forms { int32_t inner, last; };

struct moses_bpe_model {
    struct moses_bpe_head head;
    struct moses_language language;
    struct bpe_piece *piece;    /* [n_pieces] */
    struct string_ids names;    /* of pieces */
    int32_t *named;             /* [names.n] the last piece of that name */
    struct bpe_merges merges;
    struct bpe_forms *forms;    /* [merges.symbols.n]; unk where there is no
                                   piece, or a control piece */
    struct truecaser truecaser;
};

/* Read a model. Returns ST_FORMAT, with a message, if the bytes are not one.
 * The caller must release *m in any case. */
enum status moses_bpe_model_init(struct moses_bpe_model *m, const void *bytes,
                                 size_t size, struct err *e);
void moses_bpe_model_release(struct moses_bpe_model *m);

/* Whether the code of a language can be stored. */
bool moses_bpe_language_fits(const char *code);

/* "tokenize", or NULL after the last step. */
const char *moses_bpe_step_name(int bit);

#endif
