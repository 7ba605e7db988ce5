/* fairseq_pieces.h - what the vocabularies of fairseq and FSMT have in common:
 * special pieces, and tokenizers of Moses rules and BPE codes. */
#ifndef CONVERT_FAIRSEQ_PIECES_H
#define CONVERT_FAIRSEQ_PIECES_H

#include "convert/model_plan.h"
#include "convert/plan_bpe.h"
#include "convert/plan_rows.h"
#include "convert/vocabulary.h"

/* Whether a piece is one that no text contains and that prints nothing: <s>,
 * <pad>, </s>, or one that only fills up the vocabulary. `user` is not used; it
 * is a control_piece_fn. */
bool fairseq_pieces_control(void *user, const char *piece);

/* Keep the special pieces of the target, except </s>, and the unknown piece
 * from coming out. Call plan_rows() before. */
void fairseq_pieces_bar(struct model_plan *p, const struct vocabulary *target);

/* The language whose rules of Moses are used for a language of the config:
 * "deu" has those of "de". An unknown language is returned as it is. */
const char *fairseq_pieces_language(const char *written);

/* Append the tokenizer of one side to *out, and set *side for plan_rows(). All
 * of *b but the control pieces must be set. */
enum status fairseq_pieces_bpe(struct strbuf *out, struct plan_side *side,
                               const struct plan_bpe *b,
                               const struct vocabulary *v, struct file_set *s,
                               struct err *e);

/* Note which rules split the texts; warn if a language of the config is not
 * known. */
enum status fairseq_pieces_note(struct model_plan *p, struct err *e);

#endif
