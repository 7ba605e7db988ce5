/* fairseq_names.h - the tensors in a checkpoint of fairseq: what they are
 * called in its versions, and the sizes of the network that they have.
 *
 * The names are those of hf_names.h. Older versions have one tensor
 * "in_proj_weight" for q, k and v, and number the norms of a layer. */
#ifndef CONVERT_FAIRSEQ_NAMES_H
#define CONVERT_FAIRSEQ_NAMES_H

#include "convert/fairseq_config.h"
#include "convert/hf_names.h"
#include "convert/model_plan.h"

/* p->tensors must be open. Fills in shared_table and tied of the plan, and of
 * its config the sizes, whether there are final norms, and the positions.
 * Marks what translation does not need as used: numbers of versions, and
 * buffers of computed positions. */
enum status fairseq_names_init(struct hf_names *n, struct model_plan *p,
                               const struct fairseq_config *c, struct err *e);

/* Where a part is. */
void fairseq_names_place(const struct hf_names *n, const struct model_plan *p,
                         const struct tensor_query *q,
                         struct tensor_place *out);

#endif
