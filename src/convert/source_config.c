/* source_config.c - reads config.json into struct config, by a table of keys.
 *
 * This file checks types only. The values are then written as text and parsed
 * by config.c, which alone knows their ranges. */
#include "convert/source_config.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/invariant.h"

#define CONFIG_JSON_MAX 1000000

enum json_kind { K_INT, K_REAL, K_BOOL, K_WORD, K_STRING, K_ONE_ID, K_IGNORED };

/* The words for the values of an enum, in the order of the values. */
static const char *const norm_words[] = { "pre", "post", NULL };
static const char *const position_words[] = {
    "sinusoidal-halves", "sinusoidal-interleaved", "learned",
    "sinusoidal-halves-hf", NULL
};
static const char *const activation_words[] = {
    "none", "relu", "gelu", "silu", NULL
};
static const char *const type_words[] = { "transformer", NULL };

struct config_key {
    const char *name;
    enum json_kind kind;
    bool required;
    size_t offset;              /* in struct source_config */
    size_t size;                /* K_STRING: of the field */
    const char *const *words;   /* K_WORD: NULL-terminated */
};

#define AT(field) offsetof(struct source_config, field)
#define LEN(field) sizeof ((struct source_config *)0)->field

static const struct config_key keys[] = {
    { "model_type",        K_WORD,   false, 0, 0, type_words },
    { "source_language",   K_STRING, false, AT(cfg.source_lang),
      LEN(cfg.source_lang), NULL },
    { "target_language",   K_STRING, false, AT(cfg.target_lang),
      LEN(cfg.target_lang), NULL },
    { "name",              K_STRING, false, AT(cfg.name), LEN(cfg.name), NULL },
    { "vocab_size",        K_INT,    true,  AT(cfg.vocab_size), 0, NULL },
    { "d_model",           K_INT,    true,  AT(cfg.d_model), 0, NULL },
    { "heads",             K_INT,    true,  AT(cfg.heads), 0, NULL },
    { "ffn",               K_INT,    true,  AT(cfg.ffn), 0, NULL },
    { "decoder_ffn",       K_INT,    false, AT(cfg.ffn_decoder), 0, NULL },
    { "encoder_layers",    K_INT,    true,  AT(cfg.encoder_layers), 0, NULL },
    { "decoder_layers",    K_INT,    true,  AT(cfg.decoder_layers), 0, NULL },
    { "norm",              K_WORD,   true,  AT(cfg.norm), 0, norm_words },
    { "final_norm",        K_BOOL,   true,  AT(cfg.final_norm), 0, NULL },
    { "layer_norm_eps",    K_REAL,   false, AT(cfg.layer_norm_eps), 0, NULL },
    { "activation",        K_WORD,   true,  AT(cfg.activation), 0,
      activation_words },
    { "positions",         K_WORD,   true,  AT(cfg.positions), 0,
      position_words },
    { "position_offset",   K_INT,    false, AT(cfg.position_offset), 0, NULL },
    { "max_positions",     K_INT,    false, AT(cfg.max_positions), 0, NULL },
    { "max_source_length", K_INT,    false, AT(cfg.max_source), 0, NULL },
    { "attention_layer",   K_INT,    false, AT(cfg.attention_layer), 0, NULL },
    { "embedding_scale",   K_REAL,   true,  AT(cfg.embedding_scale), 0, NULL },
    { "tied_embeddings",   K_BOOL,   true,  AT(tied_embeddings), 0, NULL },
    { "output_bias",       K_BOOL,   false, AT(output_bias), 0, NULL },
    { "pad_id",            K_INT,    false, AT(cfg.pad_id), 0, NULL },
    { "unk_id",            K_INT,    false, AT(cfg.unk_id), 0, NULL },
    { "bos_id",            K_INT,    false, AT(cfg.bos_id), 0, NULL },
    { "eos_id",            K_INT,    true,  AT(cfg.eos_id), 0, NULL },
    { "decoder_start_id",  K_INT,    true,  AT(cfg.start_id), 0, NULL },
    { "source_suffix_ids", K_ONE_ID, false, AT(cfg.suffix_id), 0, NULL },
    { "source_prefix_ids", K_ONE_ID, false, AT(cfg.prefix_id), 0, NULL },
    { "knn_tau",           K_REAL,   false, AT(cfg.knn_tau), 0, NULL },
    { "trust",             K_STRING, false, AT(cfg.trust), LEN(cfg.trust),
      NULL },
    { "license",           K_IGNORED, false, 0, 0, NULL },
    { "description",       K_IGNORED, false, 0, 0, NULL },
};
enum { N_KEYS = sizeof keys / sizeof *keys };

/* Each of these functions stores a value and returns NULL. If the value is not
 * valid, it returns what the value should be, for the message. */

static const char *read_json_int(const json_t *v, int *out)
{
    json_int_t i = json_integer_value(v);

    if (!json_is_integer(v) || i < -1 || i > 0x7fffffff)
        return "a whole number";
    *out = (int)i;
    return NULL;
}

static const char *read_json_real(const json_t *v, double *out)
{
    if (!json_is_number(v)) return "a number";
    *out = json_number_value(v);
    return NULL;
}

static const char *read_json_bool(const json_t *v, int *out)
{
    if (!json_is_boolean(v)) return "true or false";
    *out = json_is_true(v);
    return NULL;
}

static const char *read_json_string(const json_t *v, char *out, size_t size)
{
    const char *s = json_string_value(v);

    if (!s || strlen(s) >= size || strlen(s) != json_string_length(v) ||
        strpbrk(s, "\r\n"))
        return "a short string";
    strcpy(out, s);
    return NULL;
}

/* An array of at most one id. The engine does not support more. */
static const char *read_one_id(const json_t *v, int *out)
{
    if (!json_is_array(v) || json_array_size(v) > 1)
        return "an array of at most one id";
    if (!json_array_size(v)) return NULL;
    return read_json_int(json_array_get(v, 0), out);
}

/* Join words for a message: "relu, gelu or silu". */
static void join_words(const char *const *words, char *out, size_t size)
{
    size_t n = 0;

    out[0] = 0;
    for (int i = 0; words[i] && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s",
                              i == 0 ? "" : words[i + 1] ? ", " : " or ",
                              words[i]);
}

static const char *read_enum_word(const json_t *v, const struct config_key *k,
                                  int *out, char *hint, size_t hint_size)
{
    const char *s = json_string_value(v);

    if (s && !strcmp(s, "swish")) s = "silu";   /* the same activation */
    for (int i = 0; s && k->words[i]; i++)
        if (!strcmp(s, k->words[i])) {
            if (k->words != type_words) *out = i;
            return NULL;
        }
    join_words(k->words, hint, hint_size);
    return hint;
}

static enum status read_value(struct source_config *c,
                              const struct config_key *k, const json_t *v,
                              const char *path, struct err *e)
{
    void *at = (char *)c + k->offset;
    const char *want = NULL;
    char hint[128];

    assert(k->offset < sizeof *c && k->size <= sizeof *c - k->offset);
    assert(!k->words == (k->kind != K_WORD));
    switch (k->kind) {
    case K_INT: want = read_json_int(v, at); break;
    case K_REAL: want = read_json_real(v, at); break;
    case K_BOOL: want = read_json_bool(v, at); break;
    case K_WORD: want = read_enum_word(v, k, at, hint, sizeof hint); break;
    case K_STRING: want = read_json_string(v, at, k->size); break;
    case K_ONE_ID: want = read_one_id(v, at); break;
    case K_IGNORED: break;
    }
    if (!want) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: \"%s\" should be %s", path, k->name,
                   want);
}

static const struct config_key *find_source_key(const char *name)
{
    for (int i = 0; i < N_KEYS; i++)
        if (!strcmp(keys[i].name, name)) return &keys[i];
    return NULL;
}

static enum status read_object(struct source_config *c, json_t *json,
                               const char *path, struct err *e)
{
    const char *name;
    json_t *v;
    enum status st = ST_OK;

    json_object_foreach(json, name, v) {
        const struct config_key *k = find_source_key(name);

        if (name[0] == '_') continue;
        if (!k)
            return err_set(e, ST_FORMAT, "%s: unknown key \"%.60s\" (rename "
                           "it to \"_%.60s\" if it is only a comment)", path,
                           name, name);
        st = read_value(c, k, v, path, e);
        if (st) return st;
    }
    for (int i = 0; i < N_KEYS; i++)
        if (keys[i].required && !json_object_get(json, keys[i].name))
            return err_set(e, ST_FORMAT, "%s: \"%s\" is missing", path,
                           keys[i].name);
    return ST_OK;
}

/* The defaults of config.c. */
static void set_source_defaults(struct source_config *c)
{
    memset(c, 0, sizeof *c);
#define I(field, def, low, high) c->cfg.field = def;
#define F(field, def, low, high) c->cfg.field = def;
    CONFIG_LIST(I, F)
#undef I
#undef F
}

/* Check c and fill in missing values, by writing it as text and parsing that
 * again. */
static enum status check_source_config(struct config *c, const char *path,
                                       struct err *e)
{
    struct strbuf text;
    struct err why;
    enum status st;

    strbuf_init(&text, 0);
    if (!c->name[0])
        snprintf(c->name, sizeof c->name, "%s-%s", c->source_lang,
                 c->target_lang);
    if (!config_format(c, &text)) st = err_nomem(e, path);
    else if ((st = config_parse(c, text.data, text.len, &why)))
        err_set(e, st, "%s: %s", path, why.msg);
    strbuf_release(&text);
    return st;
}

enum status source_config_read(struct source_config *c, const char *path,
                               struct err *e)
{
    json_error_t why;
    json_t *json;
    char *text;
    size_t size;
    enum status st = file_read(&text, &size, path, CONFIG_JSON_MAX, e);

    set_source_defaults(c);
    if (st) return st;
    json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    if (!json && !why.text[0])          /* jansson is out of memory */
        st = err_nomem(e, path);
    else if (!json)
        st = err_set(e, ST_FORMAT, "%s:%d: %s", path, why.line, why.text);
    else if (!json_is_object(json))
        st = err_set(e, ST_FORMAT, "%s: not a JSON object", path);
    if (!st) st = read_object(c, json, path, e);
    if (!st) st = check_source_config(&c->cfg, path, e);
    json_decref(json);
    free(text);
    return st;
}
