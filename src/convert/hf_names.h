/* hf_names.h - the names that fairseq gave to the tensors of its Transformer,
 * which Marian, M2M-100 and FSMT models on Hugging Face use too:
 * "encoder.layers.0.self_attn.q_proj.weight", with or without "model." before
 * them.
 *
 *     st = hf_names_init(&n, p, &(struct hf_rules){ .. }, e);
 *
 * finds out which tables a checkpoint has, and fills in shared_table and tied
 * of the plan. hf_names_place() is then what the plan's place() calls. */
#ifndef CONVERT_HF_NAMES_H
#define CONVERT_HF_NAMES_H

#include "convert/model_plan.h"

/* What the model's settings say about two tables. */
enum hf_tie {
    HF_TIE_NO,                  /* they differ */
    HF_TIE_YES,                 /* they are one: only one of them need be there,
                                   and two must be equal */
    HF_TIE_BY_VALUE             /* they are one if only one is there, or if they
                                   are equal */
};

struct hf_rules {
    enum hf_tie sides;          /* tables of source and target */
    enum hf_tie output;         /* table of the target and projection */
    const char *bias;           /* the bias of the projection, or NULL */
};

struct hf_names {
    char prefix[8];             /* "model." or "" */
    char source[48], target[48];        /* the tables, whole names */
    char project[48];           /* whole name; of `target` if tied */
    char bias[48];              /* "": none */
};

/* p->tensors must be open. The names of the tables that are not used are marked
 * as used if their values are those of the tables that are, so that they are
 * not left over. Fails with ST_FORMAT if two tables should be one and are not,
 * or if a table is missing. Sets output_bias if the bias exists. */
enum status hf_names_init(struct hf_names *n, struct model_plan *p,
                          const struct hf_rules *r, struct err *e);

/* Fail with ST_FORMAT unless the tables of source and target have this many
 * rows, and the projection those of the target. A family checks this before it
 * makes vocabularies of that size. */
enum status hf_names_check_rows(const struct hf_names *n,
                                const struct model_plan *p, int source,
                                int target, struct err *e);

/* Whether the files have tables of positions that do not follow the formula
 * `kind` from position 0 on, and so are learned. Tables that follow it are not
 * needed and are marked as used. */
enum status hf_names_positions(bool *learned, const struct hf_names *n,
                               struct model_plan *p, enum positions kind,
                               struct err *e);

/* Where a part is. Learned positions are embed_positions.weight. */
void hf_names_place(const struct hf_names *n, const struct tensor_query *q,
                    struct tensor_place *out);

#endif
