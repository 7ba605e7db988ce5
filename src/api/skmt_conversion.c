/* skmt_conversion.c - the public functions that convert models: settings as
 * texts, and the order of the calls. The conversion itself is in convert/. */
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "base/invariant.h"
#include "convert/convert.h"
#include "convert/family.h"
#include "skmt_tools.h"

struct skmt_conversion {
    enum dtype type;
    int heads;
    /* NULL, or as set. */
    char *family, *source_lang, *target_lang, *positions, *checkpoint;
    char *tokenizer, *target_tokenizer;
    struct file_set *files;
    struct model_plan *plan;    /* NULL: not opened, or already written */
};

skmt_status skmt_conversion_new(skmt_conversion **out, skmt_error *err)
{
    err_clear(err_of(err));
    *out = calloc(1, sizeof **out);
    if (!*out) return (skmt_status)err_nomem(err_of(err), "conversion");
    (*out)->type = DT_I8;
    return SKMT_OK;
}

/* The plan reads the files, so it is closed first. */
static void close_input(skmt_conversion *c)
{
    model_plan_free(c->plan);
    file_set_close(c->files);
    c->plan = NULL;
    c->files = NULL;
}

void skmt_conversion_free(skmt_conversion *c)
{
    if (!c) return;
    close_input(c);
    free(c->family);
    free(c->source_lang);
    free(c->target_lang);
    free(c->positions);
    free(c->checkpoint);
    free(c->tokenizer);
    free(c->target_tokenizer);
    free(c);
}

static enum status set_type(enum dtype *out, const char *value, struct err *e)
{
    static const enum dtype types[] = { DT_F32, DT_BF16, DT_I8 };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(value, dtype_name(types[i]))) {
            *out = types[i];
            return ST_OK;
        }
    return err_set(e, ST_ARGUMENT, "type: \"%.40s\" is not one of f32, bf16, "
                   "int8", value);
}

static enum status set_heads(int *out, const char *value, struct err *e)
{
    char *end;
    long n = strtol(value, &end, 10);

    if (end == value || *end || n < 1 || n > 1024)
        return err_set(e, ST_ARGUMENT, "heads: \"%.40s\" is not a whole number "
                       "from 1 to 1024", value);
    *out = (int)n;
    return ST_OK;
}

static enum status set_string(char **out, const char *value, struct err *e)
{
    char *copy = strdup(value);

    if (!copy) return err_nomem(e, "conversion");
    free(*out);
    *out = copy;
    return ST_OK;
}

skmt_status skmt_conversion_set(skmt_conversion *c, const char *key,
                                const char *value, skmt_error *err)
{
    struct err *e = err_of(err);
    const struct { const char *key; char **at; } strings[] = {
        { "family", &c->family }, { "source-lang", &c->source_lang },
        { "target-lang", &c->target_lang }, { "positions", &c->positions },
        { "checkpoint", &c->checkpoint },
        { "tokenizer", &c->tokenizer },
        { "target-tokenizer", &c->target_tokenizer },
    };

    err_clear(e);
    if (!key || !value)
        return (skmt_status)err_set(e, ST_ARGUMENT, "the name or the value of "
                                    "a setting is NULL");
    if (!strcmp(key, "type"))
        return (skmt_status)set_type(&c->type, value, e);
    if (!strcmp(key, "heads"))
        return (skmt_status)set_heads(&c->heads, value, e);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!strcmp(strings[i].key, key))
            return (skmt_status)set_string(strings[i].at, value, e);
    return (skmt_status)err_set(e, ST_ARGUMENT, "a conversion has no setting "
                                "\"%.60s\"", key);
}

skmt_status skmt_conversion_open(skmt_conversion *c, const char *path,
                                 skmt_error *err)
{
    struct family_options o = {
        .family = c->family, .source_lang = c->source_lang,
        .target_lang = c->target_lang, .heads = c->heads,
        .positions = c->positions, .checkpoint = c->checkpoint,
        .tokenizer = c->tokenizer,
        .target_tokenizer = c->target_tokenizer,
    };
    enum status st;

    err_clear(err_of(err));
    close_input(c);
    if (!path)
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, "the name of the "
                                    "model to convert is missing");
    st = file_set_open(&c->files, path, err_of(err));
    if (!st) st = model_plan_make(&c->plan, c->files, &o, err_of(err));
    if (st) close_input(c);
    return (skmt_status)st;
}

const char *skmt_conversion_report(const skmt_conversion *c)
{
    return c->plan ? c->plan->report.data : "";
}

skmt_status skmt_conversion_write(skmt_conversion *c, const char *out,
                                  skmt_conversion_fn *progress, void *user,
                                  skmt_error *err)
{
    struct err *e = err_of(err);
    enum status st;

    err_clear(e);
    if (!c->plan || !out)
        return (skmt_status)err_set(e, ST_ARGUMENT, out ? "there is no model "
                                    "to convert" : "the name of the new model "
                                    "file is missing");
    st = convert_plan(c->plan, c->type, out, progress, user, e);
    close_input(c);
    return (skmt_status)st;
}

const char *skmt_family(int i, const char **title)
{
    const struct family *f = family_at(i);

    *title = f ? f->title : NULL;
    return f ? f->name : NULL;
}
