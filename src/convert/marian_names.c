/* marian_names.c - the names of the tensors in a Marian model.
 *
 * The projection has three forms: none (it is the table of the target), by row
 * (decoder_ff_logit_out_Wt) and, in very old models, transposed (.._W). */
#include "convert/marian_names.h"

#include <stdio.h>
#include <string.h>

#include "base/invariant.h"

#define PROJECT_ROWS "decoder_ff_logit_out_Wt"
#define PROJECT_OLD "decoder_ff_logit_out_W"
#define PROJECT_BIAS "decoder_ff_logit_out_b"

/* Our linears with their parts, and the middle and the last letter of Marian's
 * names: "self_Wq" and "self_bq". */
static const struct { const char *ours; int part; const char *block, *end; }
marian_linears[] = {
    { "self.qkv", 0, "self", "q" },
    { "self.qkv", 1, "self", "k" },
    { "self.qkv", 2, "self", "v" },
    { "self.out", 0, "self", "o" },
    { "cross.q", 0, "context", "q" },
    { "cross.kv", 0, "context", "k" },
    { "cross.kv", 1, "context", "v" },
    { "cross.out", 0, "context", "o" },
    { "ffn.up", 0, "ffn", "1" },
    { "ffn.down", 0, "ffn", "2" },
};

/* Our norms, and the stems of Marian's names. */
static const struct { const char *ours, *stem; } marian_norms[] = {
    { "self.norm", "self_Wo" },
    { "cross.norm", "context_Wo" },
    { "ffn.norm", "ffn_ffn" },
};

/* ---- tables ---- */

const char *marian_names_table(const struct model_plan *p,
                               enum marian_table which)
{
    if (which == MARIAN_OUTPUT && !p->tied)
        return checkpoint_find(p->tensors, PROJECT_OLD, NULL) ? PROJECT_OLD
                                                              : PROJECT_ROWS;
    if (p->shared_table) return "Wemb";
    return which == MARIAN_SOURCE ? "encoder_Wemb" : "decoder_Wemb";
}

void marian_names_tables(struct model_plan *p, const struct marian_config *c)
{
    p->shared_table = c->tables == MARIAN_TIED_SIDES ||
                      c->tables == MARIAN_TIED_ALL;
    p->tied = c->tables == MARIAN_TIED_TARGET || c->tables == MARIAN_TIED_ALL;
    p->output_bias = c->output_bias;
}

/* ---- places ---- */

static void place_outside(const struct model_plan *p,
                          const struct tensor_query *q,
                          struct tensor_place *out)
{
    enum marian_table table = !strcmp(q->name, "project") ? MARIAN_OUTPUT :
                              !strcmp(q->name, "emb.tgt") ? MARIAN_TARGET
                                                          : MARIAN_SOURCE;
    const char *name = marian_names_table(p, table);

    assert(strncmp(q->name, "pos", 3));         /* never learned */
    if (q->role == ROLE_BIAS) name = p->output_bias ? PROJECT_BIAS : "";
    else out->transposed = !strcmp(name, PROJECT_OLD);
    snprintf(out->name, sizeof out->name, "%s", name);
}

/* The norm of a block or, with the name "norm", of a whole stack. */
static void place_norm(const struct marian_config *c,
                       const struct tensor_query *q, const char *prefix,
                       struct tensor_place *out)
{
    const char *kind = q->role == ROLE_NORM_GAIN ? "scale" : "bias";

    for (size_t i = 0; i < sizeof marian_norms / sizeof *marian_norms; i++)
        if (!strcmp(marian_norms[i].ours, q->name))
            snprintf(out->name, sizeof out->name, "%s%s_ln_%s%s", prefix,
                     marian_norms[i].stem, kind, c->pre_norm ? "_pre" : "");
    if (!strcmp(q->name, "norm"))
        snprintf(out->name, sizeof out->name, "%s_top_ln_%s",
                 q->stack == STACK_ENCODER ? "encoder" : "decoder", kind);
}

static void place_linear(const struct tensor_query *q, const char *prefix,
                         struct tensor_place *out)
{
    size_t n = sizeof marian_linears / sizeof *marian_linears;

    out->transposed = q->role == ROLE_WEIGHT;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(marian_linears[i].ours, q->name) &&
            marian_linears[i].part == q->part)
            snprintf(out->name, sizeof out->name, "%s%s_%c%s", prefix,
                     marian_linears[i].block,
                     q->role == ROLE_WEIGHT ? 'W' : 'b',
                     marian_linears[i].end);
}

void marian_names_place(const struct model_plan *p,
                        const struct marian_config *c,
                        const struct tensor_query *q,
                        struct tensor_place *out)
{
    char prefix[40];

    *out = (struct tensor_place){ 0 };
    if (q->stack == STACK_NONE) {
        place_outside(p, q, out);
        return;
    }
    snprintf(prefix, sizeof prefix, "%s_l%d_",
             q->stack == STACK_ENCODER ? "encoder" : "decoder",
             q->stack == STACK_ENCODER ? q->layer + 1
                                       : c->decoder_layer[q->layer]);
    if (q->role == ROLE_NORM_GAIN || q->role == ROLE_NORM_BIAS)
        place_norm(c, q, prefix, out);
    else
        place_linear(q, prefix, out);
    assert(out->name[0]);
}
