/* moses_bpe.h - makes the bytes of a BPE tokenizer with Moses rules, the second
 * kind of tokenizer that subword_open() reads.
 *
 * Models that were trained with fairseq, and older ones of OPUS-MT and Argos,
 * do not use SentencePiece. They clean the text, split it into words and
 * punctuation with the rules of Moses, and split these words with a list of
 * merges (fastBPE or subword-nmt). A converter fills in a struct
 * moses_bpe_spec, writes the bytes, and stores them in the model file
 * (docs/formats/model.md describes them). From then on it is a struct subword
 * like any other: subword_encode() goes from the user's text to ids, with spans
 * of that text, and subword_decode() from ids to text, detokenized. */
#ifndef TEXT_MOSES_BPE_H
#define TEXT_MOSES_BPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

/* The first bytes of the model. A SentencePiece model never begins so. */
#define MOSES_BPE_MAGIC "skmt-moses-bpe 1\n"

/* Limits, for writing and for reading. */
#define MOSES_BPE_PIECES_MAX 4000000
#define MOSES_BPE_MERGES_MAX 4000000
#define MOSES_BPE_WORDS_MAX 8000000     /* of a truecasing model */
#define MOSES_BPE_TEXT_MAX 8000         /* bytes of a piece, symbol or word */

/* What is done with a text, in this order. STEP(constant, name in the model
 * file). */
#define MOSES_STEPS(STEP)                                                     \
    /* Replace full-width and CJK punctuation by ASCII. */                    \
    STEP(MOSES_WIDE, "wide")                                                  \
    /* With it: the full-width 1 becomes a quote, as in the script of         \
     * Moses, and not the digit. */                                           \
    STEP(MOSES_WIDE_ONE_QUOTE, "wide-one-quote")                              \
    /* Control, format, private and unassigned characters become spaces. */   \
    STEP(MOSES_BLANK_CONTROLS, "blank-controls")                              \
    /* Moses punctuation normalization, by the rules of the language. */      \
    STEP(MOSES_NORMALIZE, "normalize")                                        \
    /* Remove control, format, private and unassigned characters. */          \
    STEP(MOSES_DROP_CONTROLS, "drop-controls")                                \
    /* Split words and punctuation. Without it, at spaces only. */            \
    STEP(MOSES_TOKENIZE, "tokenize")                                          \
    /* With it: "a-b" becomes "a @-@ b". */                                   \
    STEP(MOSES_DASHES, "dashes")                                              \
    /* With it: & | < > ' " [ ] become &amp; and so on. */                    \
    STEP(MOSES_ESCAPE, "escape")                                              \
    /* With it: all steps as the Perl scripts of Moses. Else as their Python  \
     * port (sacremoses), which treats the last full stop like others, knows  \
     * fewer letters, and has no rules for some languages. */                 \
    STEP(MOSES_PERL, "perl")                                                  \
    /* On output: upper-case the first letter of each sentence. */            \
    STEP(MOSES_DETRUECASE, "detruecase")                                      \
    /* On output: "@-@", entities and spaces as Moses' detokenizer writes     \
     * them. Without it, words are joined by spaces. */                       \
    STEP(MOSES_DETOKENIZE, "detokenize")

enum {
#define STEP(constant, name) constant##_BIT,
    MOSES_STEPS(STEP)
#undef STEP
    MOSES_STEP_COUNT
};
enum moses_step {
#define STEP(constant, name) constant = 1 << constant##_BIT,
    MOSES_STEPS(STEP)
#undef STEP
};

/* What the projects do. OPUS-MT: packages with source.bpe. */
#define MOSES_FAIRSEQ                                                         \
    (MOSES_TOKENIZE | MOSES_DASHES | MOSES_ESCAPE | MOSES_DETOKENIZE)
#define MOSES_FSMT                                                            \
    (MOSES_WIDE | MOSES_NORMALIZE | MOSES_DROP_CONTROLS | MOSES_FAIRSEQ)
#define MOSES_OPUS                                                            \
    (MOSES_WIDE | MOSES_WIDE_ONE_QUOTE | MOSES_BLANK_CONTROLS                 \
     | MOSES_NORMALIZE | MOSES_PERL | MOSES_FAIRSEQ)
#define MOSES_ARGOS (MOSES_NORMALIZE | MOSES_TOKENIZE | MOSES_ESCAPE          \
                     | MOSES_DETOKENIZE)

enum bpe_codes {
    BPE_CODES_FASTBPE,          /* lines "left right count" */
    BPE_CODES_SUBWORD_NMT,      /* lines "left right"; the first line is
                                   "#version: 0.2", or missing (0.1) */
    BPE_CODES_MERGES            /* lines "left right", merges.txt of FSMT; a
                                   first line "#version" is allowed */
};

enum bpe_marks {
    BPE_MARKS_AT,               /* "hou@@ se": pieces inside of a word end in
                                   "@@" (fairseq, subword-nmt) */
    BPE_MARKS_WORD_END          /* "hou se</w>" (FSMT) */
};

struct moses_bpe_spec {
    const char *language;       /* of the text: "de". Unknown ones have the
                                   rules that are no language's own */
    unsigned steps;             /* enum moses_step, or'ed */
    enum bpe_codes codes_form;
    const char *codes;          /* the bytes of the file of merges */
    size_t codes_size;
    const char *codes_name;     /* of the file, for messages */
    enum bpe_marks marks;
    /* The vocabulary in the order of the ids, each piece with its marks. */
    const char *const *pieces;
    int32_t n_pieces;
    int32_t unk;                /* the id of words that have no piece */
    /* Ids that no text contains and that print nothing: </s>, <s>, <pad>,
     * language tokens. `unk` is not one of them. */
    const int32_t *control;
    size_t n_control;
    /* The bytes of a truecasing model of Moses (source.tcmodel), or NULL. */
    const char *truecaser;
    size_t truecaser_size;
    const char *truecaser_name;
};

/* Append the model to *out. Fails with ST_FORMAT if a file is not what it
 * should be; the message names the file and the line. On failure *out is as it
 * was. */
enum status moses_bpe_write(struct strbuf *out, const struct moses_bpe_spec *s,
                            struct err *e);

#endif
