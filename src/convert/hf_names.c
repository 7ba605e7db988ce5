/* hf_names.c - finds the tables of a checkpoint with fairseq's names, and says
 * what the tensors of the layers are called.
 *
 * There are four names for tables: one that both sides share, one of each side,
 * and the projection. A writer leaves out some of the tables that are equal,
 * and which one it keeps is not fixed. So a missing table is replaced by
 * one that the rules say is the same. All tables that are there and that the
 * rules say are the same must have the same values. */
#include "convert/hf_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/position_table.h"
#include "convert/same_tensor.h"

#define NAME_SIZE 48

/* The names of the projection, in the order in which they are looked for. The
 * last one is that of fairseq before 2019. */
static const struct { const char *name; bool prefixed; } projections[] = {
    { "lm_head.weight", false },
    { "decoder.output_projection.weight", true },
    { "decoder.embed_out", true },
};

/* Whole names of the tables that are there; "" if one is not. */
struct hf_tables {
    char shared[NAME_SIZE], source[NAME_SIZE], target[NAME_SIZE];
    char project[NAME_SIZE];
};

static bool exists(const struct model_plan *p, const char *name)
{
    return checkpoint_find(p->tensors, name, NULL) != NULL;
}

static void find_prefix(struct hf_names *n, const struct model_plan *p)
{
    struct file_tensor *t;

    n->prefix[0] = 0;
    for (int i = 0; (t = checkpoint_at(p->tensors, i, NULL)); i++)
        if (!strncmp(t->name, "model.encoder.", 14) ||
            !strncmp(t->name, "model.decoder.", 14)) {
            strcpy(n->prefix, "model.");
            return;
        }
}

static void find_table(char *out, const struct model_plan *p,
                       const char *prefix, const char *name)
{
    snprintf(out, NAME_SIZE, "%s%s", prefix, name);
    if (!exists(p, out)) out[0] = 0;
}

static void find_tables(struct hf_tables *t, const struct hf_names *n,
                        const struct model_plan *p)
{
    find_table(t->shared, p, n->prefix, "shared.weight");
    find_table(t->source, p, n->prefix, "encoder.embed_tokens.weight");
    find_table(t->target, p, n->prefix, "decoder.embed_tokens.weight");
    t->project[0] = 0;
    for (size_t i = 0; i < sizeof projections / sizeof *projections; i++)
        if (!t->project[0])
            find_table(t->project, p, projections[i].prefixed ? n->prefix : "",
                       projections[i].name);
}

/* The first name that is not empty; "" if there is none. NULL is skipped. */
static const char *first_of(const char *a, const char *b, const char *c,
                            const char *d)
{
    const char *const names[] = { a, b, c, d };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] && names[i][0]) return names[i];
    return "";
}

static enum status missing_table(const struct model_plan *p,
                                 const struct hf_names *n, const char *which,
                                 const char *name, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: there is no table of the %s: neither "
                   "\"%s%s\" nor one that is the same is there",
                   checkpoint_name(p->tensors), which, n->prefix, name);
}

static enum status choose_tables(struct hf_names *n,
                                 const struct model_plan *p,
                                 const struct hf_tables *t,
                                 const struct hf_rules *r, struct err *e)
{
    bool sides = r->sides != HF_TIE_NO, output = r->output != HF_TIE_NO;
    const char *project = output ? t->project : NULL;
    const char *target = first_of(t->target, t->shared, project,
                                  sides ? t->source : NULL);
    /* Without a common table, the shared name cannot serve both sides. */
    bool free_name = sides || strcmp(target, t->shared);
    const char *source = first_of(t->source, free_name ? t->shared : NULL,
                                  sides ? target : NULL, NULL);

    if (!target[0])
        return missing_table(p, n, "target", "decoder.embed_tokens.weight",
                             e);
    if (!source[0])
        return missing_table(p, n, "source", "encoder.embed_tokens.weight",
                             e);
    strcpy(n->target, target);
    strcpy(n->source, source);
    strcpy(n->project, first_of(t->project, output ? target : NULL, NULL,
                                NULL));
    if (n->project[0]) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: there is no projection \"%s\", and the "
                   "settings say that it is not the table of the target",
                   checkpoint_name(p->tensors), projections[0].name);
}

/* Whether two tables are one according to a rule and their values. */
static enum status tables_tied(bool *tied, const struct model_plan *p,
                               enum hf_tie rule, const char *a, const char *b,
                               struct err *e)
{
    enum status st;

    *tied = !strcmp(a, b);
    if (*tied || rule == HF_TIE_NO) return ST_OK;
    st = same_tensor(tied, p->tensors, a, b, e);
    if (st || *tied || rule != HF_TIE_YES) return st;
    return err_set(e, ST_FORMAT, "%s: \"%s\" and \"%s\" should be the same "
                   "table according to the settings, but differ",
                   checkpoint_name(p->tensors), a, b);
}

/* The shared name may be there besides those that are used. If it is a copy,
 * nothing is lost without it; if not, it is left over, and that is an error. */
static enum status pass_over_copy(struct model_plan *p,
                                  const struct hf_names *n, const char *name,
                                  struct err *e)
{
    bool same = false;
    enum status st = ST_OK;

    if (!name[0] || !strcmp(name, n->source) || !strcmp(name, n->target) ||
        !strcmp(name, n->project))
        return ST_OK;
    st = same_tensor(&same, p->tensors, name, n->target, e);
    if (!st && !same)
        st = same_tensor(&same, p->tensors, name, n->source, e);
    if (!st && same) checkpoint_pass_over(p->tensors, name);
    return st;
}

static enum status tie_tables(struct hf_names *n, struct model_plan *p,
                              const struct hf_tables *t,
                              const struct hf_rules *r, struct err *e)
{
    enum status st = tables_tied(&p->shared_table, p, r->sides, n->source,
                                 n->target, e);

    if (!st)
        st = tables_tied(&p->tied, p, r->output, n->project, n->target, e);
    if (st) return st;
    if (p->shared_table) strcpy(n->source, n->target);
    if (p->tied) strcpy(n->project, n->target);
    st = pass_over_copy(p, n, t->shared, e);
    if (!st) st = pass_over_copy(p, n, t->source, e);
    if (!st) st = pass_over_copy(p, n, t->project, e);
    return st;
}

enum status hf_names_init(struct hf_names *n, struct model_plan *p,
                          const struct hf_rules *r, struct err *e)
{
    struct hf_tables t;
    enum status st;

    assert(p->tensors && (!r->bias || strlen(r->bias) < sizeof n->bias));
    memset(n, 0, sizeof *n);
    find_prefix(n, p);
    find_tables(&t, n, p);
    st = choose_tables(n, p, &t, r, e);
    if (!st) st = tie_tables(n, p, &t, r, e);
    if (st) return st;
    p->output_bias = r->bias && exists(p, r->bias);
    if (p->output_bias) strcpy(n->bias, r->bias);
    return ST_OK;
}

static enum status check_rows(const struct model_plan *p, const char *name,
                              int rows, struct err *e)
{
    struct tensor_file *f;
    struct file_tensor *t = checkpoint_find(p->tensors, name, &f);

    assert(t);
    if (t->n_dims == 2 && t->shape[0] == rows) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: the table \"%s\" has %" PRId64
                   " rows, but config.json says %d", f->name, name,
                   t->shape[0], rows);
}

enum status hf_names_check_rows(const struct hf_names *n,
                                const struct model_plan *p, int source,
                                int target, struct err *e)
{
    enum status st = check_rows(p, n->source, source, e);

    if (!st) st = check_rows(p, n->target, target, e);
    return st ? st : check_rows(p, n->project, target, e);
}

/* ---- positions ---- */

/* Look at one table, if it is there. */
static enum status check_positions(bool *learned, struct model_plan *p,
                                   const char *name, enum positions kind,
                                   struct err *e)
{
    struct position_table is;
    struct tensor_file *f;
    struct file_tensor *t = checkpoint_find(p->tensors, name, &f);
    enum status st;

    if (!t) return ST_OK;
    st = position_table_recognize(&is, f, t, e);
    if (st) return st;
    if (is.kind == kind && !is.offset) t->used = true;
    else *learned = true;
    return ST_OK;
}

enum status hf_names_positions(bool *learned, const struct hf_names *n,
                               struct model_plan *p, enum positions kind,
                               struct err *e)
{
    /* "weights" is a buffer of the computed positions, which transformers
     * stored until 2020. */
    static const char *const tables[] = {
        "encoder.embed_positions.weight", "decoder.embed_positions.weight",
        "encoder.embed_positions.weights", "decoder.embed_positions.weights",
    };
    char name[NAME_SIZE + 8];
    enum status st = ST_OK;

    *learned = false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !st; i++) {
        snprintf(name, sizeof name, "%s%s", n->prefix, tables[i]);
        st = check_positions(learned, p, name, kind, e);
    }
    return st;
}

/* ---- names of the layers ---- */

/* Our names with their parts, and theirs. */
static const struct { const char *ours; int part; const char *theirs; }
layer_names[] = {
    { "self.norm",  0, "self_attn_layer_norm" },
    { "self.qkv",   0, "self_attn.q_proj" },
    { "self.qkv",   1, "self_attn.k_proj" },
    { "self.qkv",   2, "self_attn.v_proj" },
    { "self.out",   0, "self_attn.out_proj" },
    { "cross.norm", 0, "encoder_attn_layer_norm" },
    { "cross.q",    0, "encoder_attn.q_proj" },
    { "cross.kv",   0, "encoder_attn.k_proj" },
    { "cross.kv",   1, "encoder_attn.v_proj" },
    { "cross.out",  0, "encoder_attn.out_proj" },
    { "ffn.norm",   0, "final_layer_norm" },
    { "ffn.up",     0, "fc1" },
    { "ffn.down",   0, "fc2" },
};

static const char *find_layer_name(const char *name, int part)
{
    for (size_t i = 0; i < sizeof layer_names / sizeof *layer_names; i++)
        if (!strcmp(layer_names[i].ours, name) && layer_names[i].part == part)
            return layer_names[i].theirs;
    return NULL;
}

static void place_in_stack(const struct hf_names *n,
                           const struct tensor_query *q, char *out,
                           size_t size)
{
    const char *stack = q->stack == STACK_ENCODER ? "encoder" : "decoder";
    const char *suffix = q->role == ROLE_BIAS || q->role == ROLE_NORM_BIAS
                             ? "bias" : "weight";
    const char *name = find_layer_name(q->name, q->part);

    if (!strcmp(q->name, "norm")) {
        snprintf(out, size, "%s%s.layer_norm.%s", n->prefix, stack, suffix);
        return;
    }
    assert(name);
    snprintf(out, size, "%s%s.layers.%d.%s.%s", n->prefix, stack, q->layer,
             name, suffix);
}

static void place_table(const struct hf_names *n, const struct tensor_query *q,
                        char *out, size_t size)
{
    if (!strcmp(q->name, "emb") || !strcmp(q->name, "emb.tgt"))
        snprintf(out, size, "%s", n->target);
    else if (!strcmp(q->name, "emb.src"))
        snprintf(out, size, "%s", n->source);
    else if (!strcmp(q->name, "project"))
        snprintf(out, size, "%s", q->role == ROLE_BIAS ? n->bias : n->project);
    else if (!strcmp(q->name, "pos.src"))
        snprintf(out, size, "%sencoder.embed_positions.weight", n->prefix);
    else if (!strcmp(q->name, "pos.tgt"))
        snprintf(out, size, "%sdecoder.embed_positions.weight", n->prefix);
    else
        assert(!"a name of model/weights.h");
}

void hf_names_place(const struct hf_names *n, const struct tensor_query *q,
                    struct tensor_place *out)
{
    *out = (struct tensor_place){ 0 };
    if (q->stack == STACK_NONE)
        place_table(n, q, out->name, sizeof out->name);
    else
        place_in_stack(n, q, out->name, sizeof out->name);
}
