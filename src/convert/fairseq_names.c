/* fairseq_names.c - finds the tensors of a checkpoint of fairseq.
 *
 * The sizes are those of the tensors. The settings need not say them, and where
 * they do, fairseq could not load a checkpoint that differs. A tensor that is
 * missing or left over is found by convert.c. */
#include "convert/fairseq_names.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"

#define NAME_SIZE 100
#define LAYERS_MOST 1000
/* Token i of a text has the position i + 2: fairseq counts from the id of
 * <pad>, 1, and one more. */
#define FIRST_POSITION 2
#define POSITIONS_LEAST 8       /* of computed ones */
/* Longer sources are split, as for all models (config.c). */
#define SOURCE_MOST 250

static const char *const stack_names[] = {
    [STACK_ENCODER] = "encoder", [STACK_DECODER] = "decoder",
};

static struct file_tensor *find(const struct model_plan *p, const char *name)
{
    return checkpoint_find(p->tensors, name, NULL);
}

static enum status missing(const struct model_plan *p, const char *name,
                           struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: tensor \"%s\" is missing",
                   checkpoint_name(p->tensors), name);
}

/* ---- tables ---- */

/* A checkpoint has each table under each of its names. */
static enum status require_tables(const struct model_plan *p,
                                  const struct fairseq_config *c,
                                  struct err *e)
{
    static const char *const tables[] = { "encoder.embed_tokens.weight",
                                          "decoder.embed_tokens.weight" };
    static const char project[] = "decoder.output_projection.weight";

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!find(p, tables[i])) return missing(p, tables[i], e);
    /* Before 2019, the projection was not stored if it is the table. */
    if (!c->share_output && !find(p, project) && !find(p, "decoder.embed_out"))
        return missing(p, project, e);
    return ST_OK;
}

/* convert.c compares their columns with the other tensors. */
static enum status check_table(const struct model_plan *p, const char *name,
                               struct err *e)
{
    const struct file_tensor *t = find(p, name);

    assert(t);
    if (t->n_dims == 2) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: the table \"%s\" should have two "
                   "dimensions, not %d", checkpoint_name(p->tensors), name,
                   t->n_dims);
}

/* Tables that only happen to be equal are one too. */
static enum status find_tables(struct hf_names *n, struct model_plan *p,
                               const struct fairseq_config *c, struct err *e)
{
    struct hf_rules rules = {
        .sides = c->share_all ? HF_TIE_YES : HF_TIE_BY_VALUE,
        .output = c->share_output ? HF_TIE_YES : HF_TIE_BY_VALUE,
    };
    enum status st = require_tables(p, c, e);

    if (!st) st = hf_names_init(n, p, &rules, e);
    return st ? st : check_table(p, n->source, e);
}

/* ---- sizes ---- */

static int as_int(int64_t n) { return n > INT_MAX ? INT_MAX : (int)n; }

/* The layers are those of the settings, or those that are there. */
static int count_layers(const struct model_plan *p, enum stack stack, int said)
{
    char name[NAME_SIZE];
    int n = 0;

    if (said) return said;
    do snprintf(name, sizeof name, "%s.layers.%d.fc1.weight",
                stack_names[stack], n);
    while (n < LAYERS_MOST && find(p, name) && ++n);
    return n ? n : 1;
}

/* The width of the feed-forward layers of a stack. */
static enum status read_ffn(int *out, const struct model_plan *p,
                            enum stack stack, struct err *e)
{
    const struct file_tensor *t;
    char name[NAME_SIZE];

    snprintf(name, sizeof name, "%s.layers.0.fc1.weight", stack_names[stack]);
    t = find(p, name);
    if (!t) return missing(p, name, e);
    *out = as_int(file_tensor_rows(t));
    return ST_OK;
}

static enum status read_sizes(struct model_plan *p, const struct hf_names *n,
                              const struct fairseq_config *c, struct err *e)
{
    struct config *out = &p->cfg;
    enum status st = read_ffn(&out->ffn, p, STACK_ENCODER, e);

    if (!st) st = read_ffn(&out->ffn_decoder, p, STACK_DECODER, e);
    out->d_model = as_int(file_tensor_cols(find(p, n->source)));
    out->encoder_layers = count_layers(p, STACK_ENCODER, c->encoder_layers);
    out->decoder_layers = count_layers(p, STACK_DECODER, c->decoder_layers);
    return st;
}

/* The number of a version of the code; 1 if it is not there. */
static enum status read_version(double *out, const struct model_plan *p,
                                const char *name, struct err *e)
{
    struct tensor_file *f;
    struct file_tensor *t = checkpoint_find(p->tensors, name, &f);

    *out = 1;
    return t ? tensor_file_scalar(f, t, out, e) : ST_OK;
}

/* The first versions with norms before the blocks had none after the last
 * block. */
static enum status find_final_norm(struct model_plan *p,
                                   const struct fairseq_config *c,
                                   struct err *e)
{
    double encoder, decoder;
    enum status st = read_version(&encoder, p, "encoder.version", e);

    if (!st) st = read_version(&decoder, p, "decoder.version", e);
    if (st) return st;
    p->cfg.final_norm = c->pre_norm &&
                        (encoder >= 2 || decoder >= 3 ||
                         find(p, "encoder.layer_norm.weight") ||
                         find(p, "decoder.layer_norm.weight"));
    return ST_OK;
}

/* ---- positions ---- */

static const char *positions_table(enum stack stack)
{
    return stack == STACK_ENCODER ? "encoder.embed_positions.weight"
                                  : "decoder.embed_positions.weight";
}

/* A source may be as long as the sources in training were, with two special
 * tokens. */
static void limit_source(struct model_plan *p, const struct fairseq_config *c)
{
    int most = p->cfg.max_positions - FIRST_POSITION - 2;

    if (most > SOURCE_MOST) most = SOURCE_MOST;
    if (most > c->max_source) most = c->max_source;
    if (most > 0) p->cfg.max_source = most;
}

/* The sides may have tables of different lengths. */
static enum status read_learned(struct model_plan *p,
                                const struct fairseq_config *c, struct err *e)
{
    int least = INT_MAX;

    for (enum stack s = STACK_ENCODER; s <= STACK_DECODER; s++) {
        const struct file_tensor *t = find(p, positions_table(s));
        int rows;

        if (!t) return missing(p, positions_table(s), e);
        rows = as_int(file_tensor_rows(t));
        if (rows < least) least = rows;
    }
    p->cfg.max_positions = least;
    limit_source(p, c);
    return ST_OK;
}

static enum status read_positions(struct model_plan *p,
                                  const struct fairseq_config *c,
                                  struct err *e)
{
    int most = c->max_source < c->max_target ? c->max_source : c->max_target;

    p->cfg.positions = c->learned_positions ? POS_LEARNED : POS_HALVES;
    p->cfg.position_offset = FIRST_POSITION;
    if (c->learned_positions) return read_learned(p, c, e);
    if (most < POSITIONS_LEAST) most = POSITIONS_LEAST;
    p->cfg.max_positions = most + FIRST_POSITION;
    return ST_OK;
}

/* ---- the network ---- */

static void pass_over_buffers(struct model_plan *p)
{
    static const char *const buffers[] = {
        "version", "embed_positions._float_tensor", "embed_positions.weights",
    };
    char name[NAME_SIZE];

    for (enum stack s = STACK_ENCODER; s <= STACK_DECODER; s++)
        for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
            snprintf(name, sizeof name, "%s.%s", stack_names[s], buffers[i]);
            checkpoint_pass_over(p->tensors, name);
        }
}

enum status fairseq_names_init(struct hf_names *n, struct model_plan *p,
                               const struct fairseq_config *c, struct err *e)
{
    enum status st = find_tables(n, p, c, e);

    if (!st) st = read_sizes(p, n, c, e);
    if (!st) st = read_positions(p, c, e);
    if (!st) st = find_final_norm(p, c, e);
    if (st) return st;
    pass_over_buffers(p);
    return ST_OK;
}

/* ---- places ---- */

/* Which third of "in_proj" a part is, or -1. */
static int third_of(const struct tensor_query *q)
{
    if (!strcmp(q->name, "self.qkv")) return q->part;
    if (!strcmp(q->name, "cross.q")) return 0;
    if (!strcmp(q->name, "cross.kv")) return 1 + q->part;
    return -1;
}

/* The number of a norm in a layer, or -1. */
static int number_of_norm(const struct tensor_query *q)
{
    if (!strcmp(q->name, "self.norm")) return 0;
    if (!strcmp(q->name, "cross.norm")) return 1;
    if (!strcmp(q->name, "ffn.norm")) return q->stack == STACK_DECODER ? 2 : 1;
    return -1;
}

/* Replace the name of a part by its name in older versions: false if it has
 * none. */
static bool older_name(const struct model_plan *p,
                       const struct tensor_query *q, struct tensor_place *x)
{
    int third = third_of(q), norm = number_of_norm(q);
    bool bias = q->role == ROLE_BIAS || q->role == ROLE_NORM_BIAS;
    const char *kind = bias ? "bias" : "weight";
    const char *stack = stack_names[q->stack];

    if (norm >= 0) {
        snprintf(x->name, sizeof x->name, "%s.layers.%d.layer_norms.%d.%s",
                 stack, q->layer, norm, kind);
    } else if (third >= 0) {
        snprintf(x->name, sizeof x->name, "%s.layers.%d.%s.in_proj_%s", stack,
                 q->layer, q->name[0] == 's' ? "self_attn" : "encoder_attn",
                 kind);
        x->whole = 3 * (int64_t)p->cfg.d_model;
        x->first = third * (int64_t)p->cfg.d_model;
    } else {
        return false;
    }
    return find(p, x->name) != NULL;
}

void fairseq_names_place(const struct hf_names *n, const struct model_plan *p,
                         const struct tensor_query *q,
                         struct tensor_place *out)
{
    const struct file_tensor *t;
    struct tensor_place older = { 0 };

    hf_names_place(n, q, out);
    t = find(p, out->name);
    if (q->stack != STACK_NONE) {
        if (!t && older_name(p, q, &older)) *out = older;
    } else if (!strncmp(q->name, "pos.", 4) && t) {
        out->whole = file_tensor_rows(t);
    }
}
