/* ct2_model.c - makes a plan from model.bin: sizes, tables, positions, and the
 * names of the variables.
 *
 * Sizes come from the shapes of the variables, everything else from
 * ct2_settings.c and ct2_texts.c. What would change the arithmetic and has a
 * known name is refused with a sentence; an unknown variable is left over and
 * refused by convert.c. */
#include "convert/ct2_model.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/ct2_file.h"
#include "convert/ct2_settings.h"
#include "convert/ct2_texts.h"
#include "convert/hf_config.h"
#include "convert/position_table.h"
#include "convert/same_tensor.h"

#define NEWEST_REVISION 7
#define NAME_SIZE 200
#define COUNT_OF(a) (sizeof (a) / sizeof *(a))

static const char target_table[] = "decoder/embeddings/weight";
static const char projection[] = "decoder/projection/weight";
static const char projection_bias[] = "decoder/projection/bias";
/* The second name is that of revisions before 5. */
static const char *const source_tables[] = {
    "encoder/embeddings_0/weight", "encoder/embeddings/weight",
};
static const char *const positions[] = {
    "encoder/position_encodings/encodings",
    "decoder/position_encodings/encodings",
};

/* ---- names ---- */

/* Our names, their layers, and how many parts a layer has below one another. */
static const struct { const char *ours; const char *theirs; int parts; }
ct2_layers[] = {
    { "self.norm",  "self_attention/layer_norm", 1 },
    { "self.qkv",   "self_attention/linear_0",   3 },
    { "self.out",   "self_attention/linear_1",   1 },
    { "cross.norm", "attention/layer_norm",      1 },
    { "cross.q",    "attention/linear_0",        1 },
    { "cross.kv",   "attention/linear_1",        2 },
    { "cross.out",  "attention/linear_2",        1 },
    { "ffn.norm",   "ffn/layer_norm",            1 },
    { "ffn.up",     "ffn/linear_0",              1 },
    { "ffn.down",   "ffn/linear_1",              1 },
};

static const char *find_source_table(const struct checkpoint *c)
{
    for (size_t i = 0; i < COUNT_OF(source_tables); i++)
        if (checkpoint_find(c, source_tables[i], NULL)) return source_tables[i];
    return source_tables[0];
}

static const char *ct2_ending(enum tensor_role role)
{
    switch (role) {
    case ROLE_WEIGHT: return "weight";
    case ROLE_BIAS: return "bias";
    case ROLE_NORM_GAIN: return "gamma";
    case ROLE_NORM_BIAS: return "beta";
    }
    assert(!"a role");
    return "";
}

static void place_table(const struct model_plan *p,
                        const struct tensor_query *q,
                        struct tensor_place *out)
{
    const char *name = target_table;

    if (!strcmp(q->name, "emb.src")) name = find_source_table(p->tensors);
    else if (!strcmp(q->name, "pos.src")) name = positions[0];
    else if (!strcmp(q->name, "pos.tgt")) name = positions[1];
    else if (strcmp(q->name, "project")) assert(!strncmp(q->name, "emb", 3));
    else if (q->role == ROLE_WEIGHT) name = projection;
    else name = p->output_bias ? projection_bias : "";
    snprintf(out->name, sizeof out->name, "%s", name);
}

static void place_layer(const struct model_plan *p,
                        const struct tensor_query *q, const char *stack,
                        struct tensor_place *out)
{
    size_t i = 0;

    while (i < COUNT_OF(ct2_layers) && strcmp(ct2_layers[i].ours, q->name))
        i++;
    assert(i < COUNT_OF(ct2_layers) && q->part < ct2_layers[i].parts);
    snprintf(out->name, sizeof out->name, "%s/layer_%d/%s/%s", stack,
             q->layer, ct2_layers[i].theirs, ct2_ending(q->role));
    if (ct2_layers[i].parts > 1) {
        out->first = (int64_t)q->part * p->cfg.d_model;
        out->whole = (int64_t)ct2_layers[i].parts * p->cfg.d_model;
    }
    if (q->role == ROLE_BIAS && !checkpoint_find(p->tensors, out->name, NULL))
        out->name[0] = 0;
}

static void ct2_place(const struct model_plan *p, const struct tensor_query *q,
                      struct tensor_place *out)
{
    const char *stack = q->stack == STACK_ENCODER ? "encoder" : "decoder";

    *out = (struct tensor_place){ 0 };
    if (q->stack == STACK_NONE)
        place_table(p, q, out);
    else if (!strcmp(q->name, "norm"))
        snprintf(out->name, sizeof out->name, "%s/layer_norm/%s", stack,
                 ct2_ending(q->role));
    else
        place_layer(p, q, stack, out);
}

static const struct model_plan_ops ct2_ops = { .place = ct2_place };

/* ---- what cannot be computed ---- */

static enum status check_spec(const struct tensor_file *f, struct err *e)
{
    static const char *const known[] = {
        "TransformerSpec", "TransformerBase", "TransformerBig", "",
    };
    const char *spec = ct2_file_spec(f);
    int revision = ct2_file_revision(f);
    size_t i = 0;

    while (i < COUNT_OF(known) && strcmp(known[i], spec)) i++;
    if (i == COUNT_OF(known))
        return err_set(e, ST_FORMAT, "%s: the model is a \"%.60s\", not a "
                       "\"TransformerSpec\": only translation models with an "
                       "encoder and a decoder can be converted", f->name,
                       spec);
    if (revision < 2)
        return err_set(e, ST_VERSION, "%s: models of revision %d have other "
                       "names and cannot be read; convert the original model "
                       "again with a newer CTranslate2", f->name, revision);
    if (revision > NEWEST_REVISION)
        return err_set(e, ST_VERSION, "%s: the model has the revision %d, and "
                       "revisions up to %d are known", f->name, revision,
                       NEWEST_REVISION);
    return ST_OK;
}

/* Parts of names that stand for a kind of arithmetic. */
static const struct { const char *part, *what; } foreign[] = {
    { "/relative_", "relative positions" },
    { "/rotary_", "rotary positions" },
    { "/layernorm_embedding/", "a norm after the embeddings" },
    { "/linear_0_noact/", "gated feed-forward layers" },
    { "/project_in/", "another width of the embeddings" },
    { "/project_out/", "another width of the embeddings" },
    { "/scale_outputs", "scaled outputs" },
    { "/queries_scale", "scaled queries" },
    { "/num_heads_kv", "fewer heads for keys and values" },
    { "/head_dim", "another width of the heads" },
    { "/shared_layer_norm/", "parallel residual connections" },
    { "/input_layer_norm/", "parallel residual connections" },
    { "/pre_feedforward_layer_norm/", "norms before and after each block" },
    { "/embeddings_1/", "several features of the source" },
    { "/weight_zero", "weights compressed with AWQ" },
};

static bool has_variable(const struct model_plan *p, const char *name)
{
    return checkpoint_find(p->tensors, name, NULL) != NULL;
}

/* A norm without "beta" is another kind of norm. */
static bool is_rms_norm(const struct model_plan *p, const char *name)
{
    static const char ending[] = "/gamma";
    size_t n = strlen(name), k = sizeof ending - 1;
    char beta[NAME_SIZE];

    if (n < k || strcmp(name + n - k, ending) || n >= sizeof beta)
        return false;
    snprintf(beta, sizeof beta, "%.*s/beta", (int)(n - k), name);
    return !has_variable(p, beta);
}

static enum status refuse_foreign(const struct model_plan *p,
                                  const struct tensor_file *f, struct err *e)
{
    for (int i = 0; i < f->n; i++) {
        const char *name = f->at[i].name, *what = NULL;

        for (size_t k = 0; k < COUNT_OF(foreign) && !what; k++)
            if (strstr(name, foreign[k].part)) what = foreign[k].what;
        if (!what && is_rms_norm(p, name)) what = "RMS norms";
        if (what)
            return err_set(e, ST_FORMAT, "%s: \"%.100s\": the model has %s, "
                           "and skmt cannot compute that", f->name, name,
                           what);
    }
    return ST_OK;
}

/* ---- sizes ---- */

/* The rows and columns of a matrix that must exist. */
static enum status get_shape(const struct model_plan *p, const char *name,
                             int *rows, int *cols, struct err *e)
{
    const struct file_tensor *t = checkpoint_find(p->tensors, name, NULL);

    if (!t)
        return err_set(e, ST_FORMAT, "%s: tensor \"%s\" is missing",
                       checkpoint_name(p->tensors), name);
    if (t->n_dims != 2 || t->shape[0] > INT_MAX || t->shape[1] > INT_MAX)
        return err_set(e, ST_FORMAT, "%s: tensor \"%s\" should be a matrix",
                       checkpoint_name(p->tensors), name);
    if (rows) *rows = (int)t->shape[0];
    if (cols) *cols = (int)t->shape[1];
    return ST_OK;
}

/* The layers of a stack, and the inner size of its first one. */
static enum status count_layers(const struct model_plan *p, const char *stack,
                                int *layers, int *inner, struct err *e)
{
    char name[NAME_SIZE];

    *layers = 0;
    do snprintf(name, sizeof name, "%s/layer_%d/ffn/linear_0/weight", stack,
                (*layers)++);
    while (has_variable(p, name));
    --*layers;
    snprintf(name, sizeof name, "%s/layer_0/ffn/linear_0/weight", stack);
    return get_shape(p, name, inner, NULL, e);
}

static enum status read_sizes(struct model_plan *p, struct err *e)
{
    struct config *c = &p->cfg;
    enum status st = get_shape(p, target_table, NULL, &c->d_model, e);

    if (!st) st = count_layers(p, "encoder", &c->encoder_layers, &c->ffn, e);
    return st ? st : count_layers(p, "decoder", &c->decoder_layers,
                                  &c->ffn_decoder, e);
}

static void apply_settings(struct model_plan *p, const struct ct2_settings *s)
{
    struct config *c = &p->cfg;

    c->heads = s->heads;
    c->norm = s->pre_norm ? NORM_PRE : NORM_POST;
    c->final_norm = has_variable(p, "encoder/layer_norm/gamma") ||
                    has_variable(p, "decoder/layer_norm/gamma");
    c->activation = s->activation;
    c->embedding_scale = s->embedding_scale;
    c->layer_norm_eps = s->layer_norm_eps;
    p->output_bias = has_variable(p, projection_bias);
}

/* ---- tables ---- */

/* Whether two tables are one: aliases of one variable, or equal. */
static enum status same_table(bool *same, const struct checkpoint *c,
                              const char *a, const char *b, struct err *e)
{
    struct tensor_file *f;
    struct file_tensor *x = checkpoint_find(c, a, &f);
    struct file_tensor *y = checkpoint_find(c, b, NULL);
    struct file_tensor *of_x, *of_y;

    *same = false;
    if (!x || !y) return ST_OK;
    of_x = ct2_file_alias(f, x);
    of_y = ct2_file_alias(f, y);
    *same = (of_x ? of_x : x) == (of_y ? of_y : y);
    return *same ? ST_OK : same_tensor(same, c, a, b, e);
}

static enum status find_tables(struct model_plan *p, struct err *e)
{
    const char *source = find_source_table(p->tensors);
    enum status st = same_table(&p->shared_table, p->tensors, source,
                                target_table, e);

    if (!st)
        st = same_table(&p->tied, p->tensors, projection, target_table, e);
    if (p->shared_table) checkpoint_pass_over(p->tensors, source);
    if (p->tied) checkpoint_pass_over(p->tensors, projection);
    return st;
}

/* ---- positions ---- */

/* Learned, until something else is found. */
static enum status read_tables_of_positions(struct model_plan *p,
                                            struct err *e)
{
    struct config *c = &p->cfg;
    struct position_table got[COUNT_OF(positions)];

    c->positions = POS_LEARNED;
    c->max_positions = INT_MAX;
    for (size_t i = 0; i < COUNT_OF(positions); i++) {
        struct tensor_file *f;
        struct file_tensor *t = checkpoint_find(p->tensors, positions[i], &f);
        enum status st = position_table_recognize(&got[i], f, t, e);

        if (st) return st;
        if (file_tensor_rows(t) < c->max_positions)
            c->max_positions = (int)file_tensor_rows(t);
    }
    if (got[0].kind == POS_LEARNED || got[0].kind != got[1].kind ||
        got[0].offset != got[1].offset)
        return ST_OK;
    c->positions = (int)got[0].kind;
    c->position_offset = got[0].offset;
    c->max_positions += got[0].offset;
    for (size_t i = 0; i < COUNT_OF(positions); i++)
        checkpoint_pass_over(p->tensors, positions[i]);
    return ST_OK;
}

/* Without a table, CTranslate2 computes positions, the first of which is 1. */
static enum status read_positions(struct model_plan *p, struct err *e)
{
    bool source = has_variable(p, positions[0]);
    bool target = has_variable(p, positions[1]);

    if (source && target) return read_tables_of_positions(p, e);
    if (source || target)
        return err_set(e, ST_FORMAT, "%s: there is \"%s\", but not \"%s\"",
                       checkpoint_name(p->tensors), positions[!source],
                       positions[source]);
    p->cfg.positions = POS_HALVES;
    p->cfg.position_offset = 1;
    return ST_OK;
}

/* ---- texts ---- */

static enum status check_vocabulary(const struct model_plan *p,
                                    const struct vocabulary *v,
                                    const char *table, struct err *e)
{
    struct tensor_file *f;
    const struct file_tensor *t = checkpoint_find(p->tensors, table, &f);
    int64_t rows = t ? file_tensor_rows(t) : 0;

    if (vocabulary_size(v) <= rows) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: \"%s\" has %lld rows, but the vocabulary "
                   "has %d pieces (with its unknown token)", f->name, table,
                   (long long)rows, vocabulary_size(v));
}

/* What the vocabulary has no pieces for is not used. */
static bool note_unused_rows(struct model_plan *p, const struct vocabulary *v,
                             const char *table)
{
    int64_t rows = file_tensor_rows(checkpoint_find(p->tensors, table, NULL));
    int64_t more = rows - vocabulary_size(v);

    return !more || family_warn(p, "\"%s\" has %lld rows more than the "
                                "vocabulary has pieces; they are left out",
                                table, (long long)more);
}

static enum status check_vocabularies(struct model_plan *p,
                                      const struct ct2_vocabularies *v,
                                      struct err *e)
{
    const char *source = find_source_table(p->tensors);
    enum status st = check_vocabulary(p, v->source, source, e);

    if (!st) st = check_vocabulary(p, v->target, target_table, e);
    /* One table with two vocabularies serves as two. */
    if (v->source != v->target) p->shared_table = false;
    if (!st && (!note_unused_rows(p, v->source, source) ||
                !note_unused_rows(p, v->target, target_table)))
        st = err_nomem(e, "report");
    return st;
}

/* SMaLL-100 is M2M-100 with 12 and 3 layers. The settings of the tokenizer of
 * the original model, which some folders have, name it. */
static enum status find_small100(bool *out, const struct config *c,
                                 struct file_set *s, struct err *e)
{
    struct json_config *j;
    const char *class;
    enum status st = hf_config_open_tokenizer(&j, s, e);

    *out = c->decoder_layers < c->encoder_layers;
    if (st || !j) return st;
    class = json_config_string(j, "tokenizer_class", "");
    if (*class) *out = !strncmp(class, "SMALL100", 8);
    /* NLLB-200 with the token of the source language at its end. */
    json_config_must_be(j, "legacy_behaviour", false);
    st = json_config_check(j, e);
    json_config_close(j);
    return st;
}

static enum status plan_texts(struct model_plan *p, const struct ct2_model *m,
                              const struct ct2_settings *settings,
                              struct err *e)
{
    struct ct2_vocabularies v;
    struct ct2_texts t = {
        .vocabularies = &v, .settings = settings, .files = m->files,
        .tokenizers = m->tokenizers, .codes = m->codes,
        .target_prefix = m->target_prefix, .options = m->options,
    };
    enum status st = ct2_vocabularies_read(&v, m->files, m->folder,
                                           settings->unk.data, e);

    if (!st) st = find_small100(&t.small100, &p->cfg, m->files, e);
    if (!st) st = check_vocabularies(p, &v, e);
    if (!st) st = ct2_texts_plan(p, &t, e);
    ct2_vocabularies_release(&v);
    return st;
}

/* ---- the plan ---- */

static enum status open_weights(struct tensor_file **f, struct model_plan *p,
                                const struct ct2_model *m, struct err *e)
{
    struct file_stream *in;
    char name[NAME_SIZE];
    enum status st = checkpoint_new(&p->tensors, e);

    snprintf(name, sizeof name, "%smodel.bin", m->folder);
    if (!st) st = file_stream_open(&in, m->files, name, e);
    if (!st) st = ct2_file_open(f, in, e);
    return st ? st : checkpoint_add(p->tensors, *f, e);
}

static enum status plan_weights(struct model_plan *p,
                                const struct tensor_file *f, struct err *e)
{
    enum status st = check_spec(f, e);

    if (!st) st = refuse_foreign(p, f, e);
    if (!st) st = read_sizes(p, e);
    if (!st) st = find_tables(p, e);
    return st ? st : read_positions(p, e);
}

enum status ct2_model_plan(struct model_plan *p, const struct ct2_model *m,
                           struct err *e)
{
    struct ct2_settings settings;
    struct tensor_file *f;
    enum status st = open_weights(&f, p, m, e);

    p->ops = &ct2_ops;
    if (!st) st = plan_weights(p, f, e);
    if (st) return st;
    st = ct2_settings_read(&settings, f, m->files, m->folder, p->cfg.d_model,
                           e);
    if (!st) {
        apply_settings(p, &settings);
        st = plan_texts(p, m, &settings, e);
    }
    ct2_settings_release(&settings);
    return st;
}
