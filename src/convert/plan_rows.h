/* plan_rows.h - the ids of a model and their rows in its tables, where the ids
 * are those of vocabularies.
 *
 * A tokenizer may have more pieces than the vocabulary that its tables were
 * made for (spm_rewrite.h), the vocabularies of the two sides may have
 * different sizes, and a decoder may begin with a zero vector, which needs an
 * id of its own. This fills in what follows from that: vocab_size, unk_id,
 * source_row, target_row and barred of a plan. */
#ifndef CONVERT_PLAN_ROWS_H
#define CONVERT_PLAN_ROWS_H

#include "convert/model_plan.h"

struct plan_side {
    int32_t rows;               /* size of the vocabulary. Id i has row i */
    int32_t pieces;             /* of the tokenizer, >= rows. The ones after the
                                   rows have the row of unk */
    int32_t unk;                /* the id of the unknown piece, < rows */
};

/* `target` is NULL if both sides have the same tokenizer. shared_table of the
 * plan must be set; if it is true, both sides have the same number of rows.
 * Ids of the target without a row of their own are barred. With zero_row there
 * is one more id, whose row is zeros: start_id and pad_id become that id. */
enum status plan_rows(struct model_plan *p, const struct plan_side *source,
                      const struct plan_side *target, bool zero_row,
                      struct err *e);

/* An id must never come out. Call plan_rows() before. */
void plan_bar(struct model_plan *p, int32_t id);

#endif
