/* own_config.c - reads config.json into struct config, by a table of keys. */
#include "convert/own_config.h"

#include <stddef.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/json_config.h"

enum own_kind {
    OWN_INT, OWN_REAL, OWN_BOOL, OWN_WORD, OWN_STRING, OWN_ONE_ID, OWN_IGNORED
};

/* The words for the values of an enum, in the order of the values. */
static const char *const norm_words[] = { "pre", "post", NULL };
static const char *const position_words[] = {
    "sinusoidal-halves", "sinusoidal-interleaved", "learned",
    "sinusoidal-halves-hf", NULL
};
static const char *const activation_words[] = {
    "none", "relu", "gelu", "silu", "swish", NULL
};
static const char *const type_words[] = { "transformer", NULL };

/* Both structs, so that one table has the offsets of both. */
struct own_values {
    struct config cfg;
    struct own_config own;
    int ignored;
};

struct own_key {
    const char *name;
    enum own_kind kind;
    bool required;
    size_t offset;              /* in struct own_values */
    size_t size;                /* OWN_STRING: of the field */
    const char *const *words;   /* OWN_WORD: NULL-terminated */
};

#define AT(field) offsetof(struct own_values, field)
#define TEXT(field) AT(field), sizeof ((struct own_values *)0)->field

static const struct own_key own_keys[] = {
    { "model_type",        OWN_WORD,   false, AT(ignored), 0, type_words },
    { "source_language",   OWN_STRING, false, TEXT(cfg.source_lang), NULL },
    { "target_language",   OWN_STRING, false, TEXT(cfg.target_lang), NULL },
    { "name",              OWN_STRING, false, TEXT(cfg.name), NULL },
    { "vocab_size",        OWN_INT,    true,  AT(cfg.vocab_size), 0, NULL },
    { "d_model",           OWN_INT,    true,  AT(cfg.d_model), 0, NULL },
    { "heads",             OWN_INT,    true,  AT(cfg.heads), 0, NULL },
    { "ffn",               OWN_INT,    true,  AT(cfg.ffn), 0, NULL },
    { "decoder_ffn",       OWN_INT,    false, AT(cfg.ffn_decoder), 0, NULL },
    { "encoder_layers",    OWN_INT,    true,  AT(cfg.encoder_layers), 0,
      NULL },
    { "decoder_layers",    OWN_INT,    true,  AT(cfg.decoder_layers), 0,
      NULL },
    { "norm",              OWN_WORD,   true,  AT(cfg.norm), 0, norm_words },
    { "final_norm",        OWN_BOOL,   true,  AT(cfg.final_norm), 0, NULL },
    { "layer_norm_eps",    OWN_REAL,   false, AT(cfg.layer_norm_eps), 0,
      NULL },
    { "activation",        OWN_WORD,   true,  AT(cfg.activation), 0,
      activation_words },
    { "positions",         OWN_WORD,   true,  AT(cfg.positions), 0,
      position_words },
    { "position_offset",   OWN_INT,    false, AT(cfg.position_offset), 0,
      NULL },
    { "max_positions",     OWN_INT,    false, AT(cfg.max_positions), 0, NULL },
    { "max_source_length", OWN_INT,    false, AT(cfg.max_source), 0, NULL },
    { "attention_layer",   OWN_INT,    false, AT(cfg.attention_layer), 0,
      NULL },
    { "embedding_scale",   OWN_REAL,   true,  AT(cfg.embedding_scale), 0,
      NULL },
    { "tied_embeddings",   OWN_BOOL,   true,  AT(own.tied_embeddings), 0,
      NULL },
    { "output_bias",       OWN_BOOL,   false, AT(own.output_bias), 0, NULL },
    { "pad_id",            OWN_INT,    false, AT(cfg.pad_id), 0, NULL },
    { "unk_id",            OWN_INT,    false, AT(cfg.unk_id), 0, NULL },
    { "bos_id",            OWN_INT,    false, AT(cfg.bos_id), 0, NULL },
    { "eos_id",            OWN_INT,    true,  AT(cfg.eos_id), 0, NULL },
    { "decoder_start_id",  OWN_INT,    true,  AT(cfg.start_id), 0, NULL },
    { "source_suffix_ids", OWN_ONE_ID, false, AT(cfg.suffix_id), 0, NULL },
    { "source_prefix_ids", OWN_ONE_ID, false, AT(cfg.prefix_id), 0, NULL },
    { "knn_tau",           OWN_REAL,   false, AT(cfg.knn_tau), 0, NULL },
    { "trust",             OWN_STRING, false, TEXT(cfg.trust), NULL },
    { "license",           OWN_IGNORED, false, 0, 0, NULL },
    { "description",       OWN_IGNORED, false, 0, 0, NULL },
};
enum { N_OWN_KEYS = sizeof own_keys / sizeof *own_keys };

/* An array of at most one id. The engine does not support more. */
static enum status read_one_id(int *out, struct json_config *j,
                               const struct own_key *k, struct err *e)
{
    int n = json_config_length(j, k->name);

    if (n == 1) *out = json_config_int_at(j, k->name, 0, -1, INT_MAX);
    return n <= 1 ? ST_OK
                  : err_set(e, ST_FORMAT, "%s: \"%s\" should be an array of at "
                            "most one id", json_config_name(j), k->name);
}

static enum status read_own_string(char *out, struct json_config *j,
                                   const struct own_key *k, struct err *e)
{
    const char *s = json_config_string(j, k->name, "");

    if (strlen(s) >= k->size)
        return err_set(e, ST_FORMAT, "%s: \"%s\" should be a string of at most "
                       "%zu bytes", json_config_name(j), k->name, k->size - 1);
    strcpy(out, s);
    return ST_OK;
}

static int read_own_word(struct json_config *j, const struct own_key *k)
{
    int i = json_config_word(j, k->name, k->words, 0);

    /* "swish" is another word for "silu". */
    return k->words == activation_words && i > ACT_SILU ? ACT_SILU : i;
}

static enum status read_own_value(struct own_values *v, struct json_config *j,
                                  const struct own_key *k, struct err *e)
{
    void *at = (char *)v + k->offset;

    assert(k->offset < sizeof *v && k->size <= sizeof *v - k->offset);
    assert(!k->words == (k->kind != OWN_WORD));
    switch (k->kind) {
    case OWN_INT:
        *(int *)at = json_config_int(j, k->name, 0, -1, INT_MAX);
        break;
    case OWN_REAL:
        *(double *)at = json_config_number(j, k->name, 0, -1e300, 1e300);
        break;
    case OWN_BOOL: *(int *)at = json_config_bool(j, k->name, false); break;
    case OWN_WORD: *(int *)at = read_own_word(j, k); break;
    case OWN_STRING: return read_own_string(at, j, k, e);
    case OWN_ONE_ID: return read_one_id(at, j, k, e);
    case OWN_IGNORED: break;
    }
    return ST_OK;
}

static enum status read_own_values(struct own_values *v,
                                   struct json_config *j, struct err *e)
{
    enum status st = ST_OK;

    for (int i = 0; i < N_OWN_KEYS && !st; i++) {
        const struct own_key *k = &own_keys[i];

        if (json_config_has(j, k->name))
            st = read_own_value(v, j, k, e);
        else if (k->required)
            st = err_set(e, ST_FORMAT, "%s: \"%s\" is missing",
                         json_config_name(j), k->name);
    }
    return st ? st : json_config_check(j, e);
}

/* Stops at a key that is not in the table, which *user then names. */
static bool own_key_known(void *user, const char *name, const char *value)
{
    const char **unknown = user;

    (void)value;
    if (name[0] == '_') return true;
    for (int i = 0; i < N_OWN_KEYS; i++)
        if (!strcmp(own_keys[i].name, name)) return true;
    *unknown = name;
    return false;
}

enum status own_config_read(struct own_config *c, struct config *cfg,
                            struct file_set *s, struct err *e)
{
    struct own_values v = { .cfg = *cfg };
    const char *unknown = NULL;
    struct json_config *j;
    enum status st = json_config_open(&j, s, "config.json", e);

    if (st) return st;
    json_config_each(j, NULL, own_key_known, &unknown);
    st = !unknown ? read_own_values(&v, j, e)
                  : err_set(e, ST_FORMAT, "%s: unknown key \"%.60s\" (rename "
                            "it to \"_%.60s\" if it is only a comment)",
                            json_config_name(j), unknown, unknown);
    *cfg = v.cfg;
    *c = v.own;
    json_config_close(j);
    return st;
}
