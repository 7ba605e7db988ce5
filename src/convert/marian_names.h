/* marian_names.h - where Marian keeps each tensor: "encoder_l1_self_Wq".
 *
 * Matrices are stored as [inputs, outputs], tables of embeddings by row.
 * Vectors are [1, n]. Layers count from 1. */
#ifndef CONVERT_MARIAN_NAMES_H
#define CONVERT_MARIAN_NAMES_H

#include "convert/marian_config.h"
#include "convert/model_plan.h"

/* Set shared_table, tied and output_bias of a plan as the settings say. */
void marian_names_tables(struct model_plan *p, const struct marian_config *c);

/* The name of the table of a side, or of the output: "Wemb". It may be missing
 * in the files. p->tensors must be open. */
enum marian_table { MARIAN_SOURCE, MARIAN_TARGET, MARIAN_OUTPUT };
const char *marian_names_table(const struct model_plan *p,
                               enum marian_table which);

/* Where a part is. */
void marian_names_place(const struct model_plan *p,
                        const struct marian_config *c,
                        const struct tensor_query *q,
                        struct tensor_place *out);

#endif
