/* marian_side.h - the vocabulary and the tokenizer of one side of a Marian
 * model.
 *
 * The vocabulary is YAML (.yml), JSON (.json), a list of lines, or a
 * SentencePiece model (.spm), whose ids then are those of the model. Texts are
 * split by a SentencePiece model: source.spm, target.spm, or that of the
 * vocabulary. */
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

/* Make the tokenizer in *out, which is empty, and set *side for plan_rows().
 * `stem` is "source" or "target", `vocab` the file of the vocabulary. `clean`:
 * texts are cleaned first (opus_cleaning.h). */
enum status marian_side_tokenizer(struct marian_side *m, struct strbuf *out,
                                  struct plan_side *side, struct file_set *s,
                                  const char *stem, const char *vocab,
                                  bool clean, struct err *e);

/* Whether the vocabularies have the same pieces in the same order. */
bool marian_side_same(const struct marian_side *a, const struct marian_side *b);

#endif
