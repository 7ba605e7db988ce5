/* ct2_settings.c - reads the scalars of model.bin and config.json.
 *
 * Since revision 5 each side has its own scalars, such as "encoder/pre_norm";
 * before that there was one "pre_norm" for both. A scalar that a revision does
 * not know yet has its default. Until version 5 the options of the tokens are
 * variables too. */
#include "convert/ct2_settings.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/ct2_file.h"
#include "convert/json_config.h"

static const char *const sides[] = { "encoder", "decoder" };
enum { SIDES = 2 };

/* Settings that translation does not need, of a side or of the model. */
static const char *const ignored[] = {
    "alignment_layer", "alignment_heads", "embeddings_merge",
    "alibi_use_positive_positions", "scale_alibi",
};
/* Settings that must be off. */
static const char *const refused[] = {
    "alibi", "multi_query_attention", "sliding_window",
    "with_relative_position", "layernorm_embedding",
};
#define COUNT_OF(a) (sizeof (a) / sizeof *(a))

/* ---- scalars ---- */

/* "encoder/NAME", or "NAME" without a side. NULL if the file has neither; what
 * is found is marked as used. `side` may be NULL. */
static struct file_tensor *find_setting(struct tensor_file *f,
                                        const char *side, const char *name)
{
    struct file_tensor *t = NULL;
    char whole[100];

    if (side) {
        snprintf(whole, sizeof whole, "%s/%s", side, name);
        t = tensor_file_find(f, whole);
    }
    if (!t) t = tensor_file_find(f, name);
    if (t) t->used = true;
    return t;
}

/* An integer. `def` if the file does not have it. */
static enum status get_setting(struct tensor_file *f, const char *side,
                               const char *name, int def, int *out,
                               struct err *e)
{
    struct file_tensor *t = find_setting(f, side, name);
    double v;
    enum status st = t ? tensor_file_scalar(f, t, &v, e) : ST_OK;

    *out = def;
    if (st || !t) return st;
    if (v < INT_MIN || v > INT_MAX || v != floor(v))
        return err_set(e, ST_FORMAT, "%s: \"%s\" should be an integer, not %g",
                       f->name, t->name, v);
    *out = (int)v;
    return ST_OK;
}

/* An integer that both sides must agree on. */
static enum status get_common(struct tensor_file *f, const char *name, int def,
                              int *out, struct err *e)
{
    int v[SIDES];

    for (int i = 0; i < SIDES; i++) {
        enum status st = get_setting(f, sides[i], name, def, &v[i], e);

        if (st) return st;
    }
    *out = v[0];
    if (v[0] == v[1]) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: \"%s\" of the encoder is %d and that of "
                   "the decoder %d; skmt needs the same for both", f->name,
                   name, v[0], v[1]);
}

static enum status refuse_settings(struct tensor_file *f, struct err *e)
{
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        for (int k = 0; k < SIDES; k++) {
            int v;
            enum status st = get_setting(f, sides[k], refused[i], 0, &v, e);

            if (st) return st;
            if (v)
                return err_set(e, ST_FORMAT, "%s: \"%s\" of the %s is on, and "
                               "skmt cannot compute that", f->name,
                               refused[i], sides[k]);
        }
    for (size_t i = 0; i < COUNT_OF(ignored); i++)
        for (int k = 0; k < SIDES; k++) find_setting(f, sides[k], ignored[i]);
    return ST_OK;
}

static enum status read_activation(struct ct2_settings *c,
                                   struct tensor_file *f, struct err *e)
{
    static const struct { const char *name; enum act act; } known[] = {
        { "ReLU", ACT_RELU },
        { "GELU approximated with tanh", ACT_NONE },
        { "Swish", ACT_SILU },
        { "GELU", ACT_GELU },
        { "GELU approximated with the sigmoid function", ACT_NONE },
        { "tanh", ACT_NONE },
        { "the sigmoid function", ACT_NONE },
    };
    int v;
    enum status st = get_common(f, "activation", 0, &v, e);

    if (st) return st;
    if (v < 0 || v >= (int)COUNT_OF(known))
        return err_set(e, ST_FORMAT, "%s: \"activation\" is %d, which is not "
                       "known", f->name, v);
    if (known[v].act == ACT_NONE)
        return err_set(e, ST_FORMAT, "%s: \"activation\" is %d (%s), and skmt "
                       "cannot compute that", f->name, v, known[v].name);
    c->activation = known[v].act;
    return ST_OK;
}

/* A number of 8 bits is a flag; any other is the scale itself. */
static enum status read_scale_of(double *out, struct tensor_file *f,
                                 const char *side, int d, struct err *e)
{
    struct file_tensor *t = find_setting(f, side, "scale_embeddings");
    enum status st;

    *out = sqrt(d);
    if (!t)
        t = find_setting(f, side, "embeddings/multiply_by_sqrt_depth");
    if (!t) return ST_OK;
    st = tensor_file_scalar(f, t, out, e);
    if (!st && t->type == ELEMENT_I8) *out = *out != 0 ? sqrt(d) : 1;
    return st;
}

static enum status read_embedding_scale(struct ct2_settings *c,
                                        struct tensor_file *f, int d,
                                        struct err *e)
{
    double v[SIDES];

    for (int i = 0; i < SIDES; i++) {
        enum status st = read_scale_of(&v[i], f, sides[i], d, e);

        if (st) return st;
    }
    c->embedding_scale = v[0];
    if (fabs(v[0] - v[1]) <= 1e-6 * fabs(v[0])) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: the embeddings of the source are "
                   "multiplied by %g and those of the target by %g; skmt needs "
                   "the same for both", f->name, v[0], v[1]);
}

static enum status read_scalars(struct ct2_settings *c, struct tensor_file *f,
                                int d, struct err *e)
{
    /* Before revision 3, the number followed from the kind of the model. */
    bool big = ct2_file_revision(f) < 3 &&
               !strcmp(ct2_file_spec(f), "TransformerBig");
    int pre_norm, zero;
    enum status st = get_common(f, "num_heads", big ? 16 : 8, &c->heads, e);

    if (!st) st = get_common(f, "pre_norm", 1, &pre_norm, e);
    if (!st) st = read_activation(c, f, e);
    if (!st) st = read_embedding_scale(c, f, d, e);
    if (!st)
        st = get_setting(f, "decoder", "start_from_zero_embedding", 0, &zero,
                         e);
    if (st) return st;
    c->pre_norm = pre_norm != 0;
    c->zero_start = zero != 0;
    return refuse_settings(f, e);
}

/* ---- tokens ---- */

static enum status set_token(struct strbuf *out, const char *text,
                             struct err *e)
{
    strbuf_reset(out);
    return strbuf_adds(out, text) ? ST_OK : err_nomem(e, "tokens");
}

static enum status get_token(struct strbuf *out, struct tensor_file *f,
                             const char *name, const char *def, struct err *e)
{
    struct file_tensor *t = find_setting(f, NULL, name);

    strbuf_reset(out);
    return t ? ct2_file_text(f, t, out, e) : set_token(out, def, e);
}

static enum status no_start(const char *file, struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: the model has no start token of its own "
                   "(\"decoder_start_token\" is null): the program that calls "
                   "CTranslate2 chooses it, and the files do not say which one "
                   "it is. Convert the original model instead", file);
}

/* Version 2 to 5. */
static enum status read_token_variables(struct ct2_settings *c,
                                        struct tensor_file *f, struct err *e)
{
    int source_bos, source_eos, target_bos, user;
    enum status st = get_token(&c->unk, f, "unk_token", "<unk>", e);

    if (!st) st = get_token(&c->bos, f, "bos_token", "<s>", e);
    if (!st) st = get_token(&c->eos, f, "eos_token", "</s>", e);
    if (!st) st = get_setting(f, NULL, "with_source_bos", 0, &source_bos, e);
    if (!st) st = get_setting(f, NULL, "with_source_eos", 0, &source_eos, e);
    if (!st) st = get_setting(f, NULL, "with_target_bos", 1, &target_bos, e);
    if (!st)
        st = get_setting(f, NULL, "user_decoder_start_tokens", 0, &user, e);
    if (st) return st;
    if (user) return no_start(f->name, e);
    c->source_bos = source_bos != 0;
    c->source_eos = source_eos != 0;
    return set_token(&c->start, target_bos ? c->bos.data : c->eos.data, e);
}

/* decoder_start_token is null, which differs from being absent. */
static bool find_null_start(void *user, const char *name, const char *value)
{
    bool *found = user;

    *found = !strcmp(name, "decoder_start_token") && !value;
    return !*found;
}

/* Version 6. */
static enum status read_token_config(struct ct2_settings *c,
                                     struct json_config *j, struct err *e)
{
    const char *unk = json_config_string(j, "unk_token", "<unk>");
    const char *bos = json_config_string(j, "bos_token", "<s>");
    const char *eos = json_config_string(j, "eos_token", "</s>");
    const char *start = json_config_string(j, "decoder_start_token", "<s>");
    bool null_start = false;
    enum status st;

    c->source_bos = json_config_bool(j, "add_source_bos", false);
    c->source_eos = json_config_bool(j, "add_source_eos", false);
    json_config_refuse(j, "multi_query_attention");
    json_config_refuse(j, "quantization_type");
    json_config_each(j, NULL, find_null_start, &null_start);
    st = json_config_check(j, e);
    if (!st && null_start && !c->zero_start)
        st = no_start(json_config_name(j), e);
    if (!st) st = set_token(&c->unk, unk, e);
    if (!st) st = set_token(&c->bos, bos, e);
    if (!st) st = set_token(&c->eos, eos, e);
    return st ? st : set_token(&c->start, start, e);
}

static enum status read_config(struct ct2_settings *c, int version,
                               struct file_set *s, const char *name,
                               struct err *e)
{
    struct json_config *j;
    enum status st;

    if (!file_set_has(s, name, NULL)) {
        if (version < 6) return ST_OK;
        return err_set(e, ST_FORMAT, "%s: there is no %s, which a model of "
                       "version 6 needs", file_set_path(s), name);
    }
    st = json_config_open(&j, s, name, e);
    if (st) return st;
    c->layer_norm_eps = json_config_number(j, "layer_norm_epsilon", 1e-5, 0,
                                           1);
    st = version >= 6 ? read_token_config(c, j, e)
                      : json_config_check(j, e);
    json_config_close(j);
    return st;
}

/* ---- all ---- */

enum status ct2_settings_read(struct ct2_settings *c, struct tensor_file *f,
                              struct file_set *s, const char *folder, int d,
                              struct err *e)
{
    int version = ct2_file_version(f);
    char name[100];
    enum status st;

    assert(strlen(folder) < sizeof name - 20);
    *c = (struct ct2_settings){ .layer_norm_eps = 1e-5 };
    strbuf_init(&c->unk, 0);
    strbuf_init(&c->bos, 0);
    strbuf_init(&c->eos, 0);
    strbuf_init(&c->start, 0);
    snprintf(name, sizeof name, "%sconfig.json", folder);
    st = read_scalars(c, f, d, e);
    if (!st) st = read_config(c, version, s, name, e);
    if (!st && version < 6) st = read_token_variables(c, f, e);
    return st;
}

void ct2_settings_release(struct ct2_settings *c)
{
    strbuf_release(&c->unk);
    strbuf_release(&c->bos);
    strbuf_release(&c->eos);
    strbuf_release(&c->start);
}
