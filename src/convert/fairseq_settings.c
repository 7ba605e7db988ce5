/* fairseq_settings.c - collects the settings of a checkpoint of fairseq from
 * the values of its pickle, in an object of jansson.
 *
 * Where two places say the same, the first one counts: the model, then the
 * task, and so on. Only the levels that are named here are visited, so that
 * values that contain themselves do no harm. */
#include "convert/fairseq_settings.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"

#define KEY_SIZE 200
#define WRAPPED_MOST 4          /* objects of omegaconf around a value */
/* A small pickle can refer to one large value many times. */
#define LIST_MOST 100           /* elements; a longer list is "(a list)" */
#define FIELDS_MOST 10000

/* ---- values ---- */

/* A value without the objects of omegaconf around it. The content of a dict or
 * a list is their field "_content", that of a scalar "_val". */
static const struct pickle_value *unwrap(const struct pickle_value *v)
{
    for (int i = 0; i < WRAPPED_MOST; i++) {
        const struct pickle_value *inner = NULL;

        if (pickle_type(v) == PICKLE_OBJECT) {
            inner = pickle_get(v, "_content");
            if (!inner) inner = pickle_get(v, "_val");
        }
        if (!inner) break;
        v = inner;
    }
    return v;
}

/* The word of an enumeration, which is made from it. */
static const char *enum_word(const struct pickle_value *v)
{
    const struct pickle_value *args = pickle_args(v);

    return pickle_count(args) == 1 ? pickle_string(pickle_at(args, 0)) : NULL;
}

static json_t *other_to_json(const struct pickle_value *v)
{
    const char *word = enum_word(v);

    return word ? json_string(word)
                : json_sprintf("(%s)", pickle_type_name(pickle_type(v)));
}

/* NULL: out of memory. */
static json_t *scalar_to_json(const struct pickle_value *v)
{
    const char *text = pickle_string(v);
    json_t *real = NULL;
    double number;
    bool flag;

    if (pickle_type(v) == PICKLE_NONE) return json_null();
    if (pickle_bool(v, &flag)) return json_boolean(flag);
    if (text) return json_string(text);
    /* jansson has no NaN and no infinity. */
    if (pickle_number(v, &number) && number - number == 0)
        real = json_real(number);
    return real ? real : other_to_json(v);
}

static json_t *value_to_json(const struct pickle_value *v)
{
    enum pickle_type type = pickle_type(v);
    json_t *list;

    if ((type != PICKLE_LIST && type != PICKLE_TUPLE) ||
        pickle_count(v) > LIST_MOST)
        return scalar_to_json(v);
    list = json_array();
    for (size_t i = 0; i < pickle_count(v) && list; i++)
        if (json_array_append_new(list,
                                  scalar_to_json(unwrap(pickle_at(v, i))))) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

/* ---- fields ---- */

/* The dict of the fields of an object such as argparse.Namespace, or a dict;
 * NULL if it is neither, or too large. */
static const struct pickle_value *fields_of(const struct pickle_value *v)
{
    v = unwrap(v);
    if (pickle_type(v) == PICKLE_OBJECT) v = pickle_state(v);
    return pickle_type(v) == PICKLE_DICT && pickle_count(v) <= FIELDS_MOST
           ? v : NULL;
}

/* Set a key, unless it has a value that is not null. */
static bool put_value(json_t *out, const char *key,
                      const struct pickle_value *v)
{
    if (!json_is_null(json_object_get(out, key)) && json_object_get(out, key))
        return true;
    return !json_object_set_new(out, key, value_to_json(unwrap(v)));
}

/* Add the field `from` of a value as the key `to`, if it is there. */
static bool put_field(json_t *out, const char *to,
                      const struct pickle_value *v, const char *from)
{
    const struct pickle_value *field = pickle_get(fields_of(v), from);

    return !field || put_value(out, to, field);
}

/* Add all fields, with `prefix` before their names. */
static bool put_fields(json_t *out, const struct pickle_value *v,
                       const char *prefix)
{
    v = fields_of(v);
    for (size_t i = 0; i < pickle_count(v); i++) {
        const char *key = pickle_string(pickle_key(v, i));
        char name[KEY_SIZE];

        if (!key ||
            snprintf(name, sizeof name, "%s%s", prefix, key) >= KEY_SIZE)
            continue;
        if (!put_value(out, name, pickle_at(v, i))) return false;
    }
    return true;
}

/* ---- the two forms ---- */

/* The settings of encoder and decoder may have dicts of their own. */
static bool put_model(json_t *out, const struct pickle_value *model)
{
    const struct pickle_value *v = fields_of(model);

    return put_fields(out, v, "") &&
           put_fields(out, pickle_get(v, "encoder"), "encoder_") &&
           put_fields(out, pickle_get(v, "decoder"), "decoder_") &&
           put_field(out, "arch", v, "_name");
}

/* "bpe" and "tokenizer" are names, or dicts with a name and options. */
static bool put_text(json_t *out, const struct pickle_value *cfg,
                     const char *what)
{
    const struct pickle_value *v = pickle_get(fields_of(cfg), what);

    if (!fields_of(v)) return !v || put_value(out, what, v);
    return put_field(out, what, v, "_name") && put_fields(out, v, "");
}

static bool put_cfg(json_t *out, const struct pickle_value *cfg)
{
    const struct pickle_value *v = fields_of(cfg);
    const struct pickle_value *task = pickle_get(v, "task");
    const struct pickle_value *generation = pickle_get(v, "generation");

    return put_model(out, pickle_get(v, "model")) &&
           put_field(out, "task", task, "_name") &&
           put_fields(out, task, "") && put_text(out, v, "bpe") &&
           put_text(out, v, "tokenizer") &&
           put_field(out, "beam", generation, "beam") &&
           put_field(out, "lenpen", generation, "lenpen");
}

enum status fairseq_settings_read(struct json_config **out,
                                  const struct pickle_value *root,
                                  const char *name, struct err *e)
{
    const struct pickle_value *args = pickle_get(root, "args");
    const struct pickle_value *cfg = pickle_get(root, "cfg");
    json_t *object;
    bool ok;

    *out = NULL;
    if (!fields_of(args) && !fields_of(pickle_get(fields_of(cfg), "model")))
        return err_set(e, ST_FORMAT, "%s: not a checkpoint of fairseq: it has "
                       "no settings in \"args\" or \"cfg\"", name);
    object = json_object();
    if (!object) return err_nomem(e, name);
    ok = (!fields_of(args) || put_model(object, args)) && put_cfg(object, cfg);
    if (ok) return json_config_take(out, object, name, e);
    json_decref(object);
    return err_nomem(e, name);
}
