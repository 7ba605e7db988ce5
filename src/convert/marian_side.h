/* marian_side.h - the vocabulary and the tokenizer of one side of a Marian
 * model.
 *
 * The vocabulary is YAML (.yml), JSON (.json), a list of lines, or a
 * SentencePiece model (.spm), whose ids then are those of the model. Texts are
 * split by a SentencePiece model (source.spm, target.spm, or that of the
 * vocabulary), or in older packages by the rules of Moses and BPE codes of
 * subword-nmt (source.bpe, target.bpe). */
#ifndef CONVERT_MARIAN_SIDE_H
#define CONVERT_MARIAN_SIDE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "convert/file_set.h"
#include "convert/plan_rows.h"
#include "convert/vocabulary.h"

struct marian_side {
    struct vocabulary *v;
    int32_t eos, unk;           /* ids */
};

void marian_side_init(struct marian_side *m);
void marian_side_release(struct marian_side *m);

/* Read the vocabulary in a file of the set. */
enum status marian_side_read(struct marian_side *m, struct file_set *s,
                             const char *vocab, struct err *e);

/* How the texts of a side are split. */
struct marian_texts {
    const char *stem;           /* "source" or "target" */
    const char *vocab;          /* the file of the vocabulary */
    const char *language;       /* its code, or "" if it is not known; only BPE
                                   codes need it */
    bool clean;                 /* texts are cleaned first (opus_cleaning.h) */
};

/* Make the tokenizer in *out, which is empty, and set *side for plan_rows(). */
enum status marian_side_tokenizer(struct marian_side *m, struct strbuf *out,
                                  struct plan_side *side, struct file_set *s,
                                  const struct marian_texts *t, struct err *e);

/* Whether texts are split by BPE codes. */
bool marian_side_has_bpe(const struct file_set *s);

/* Whether the vocabularies have the same pieces in the same order. */
bool marian_side_same(const struct marian_side *a, const struct marian_side *b);

#endif
