/* hf_config.c - reads settings of Hugging Face. Their defaults are those of the
 * code of transformers, because a value that is the default need not be in the
 * file. */
#include "convert/hf_config.h"

#include <math.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/family.h"
#include "convert/plan_rows.h"

#define NORM_EPS 1e-5           /* of torch.nn.LayerNorm */
#define MAX_SIZE 1048576
#define BEAM_MOST 64
#define PENALTY_MOST 10

/* ---- the network ---- */

/* The code of the models ignores some of these when they are false, and a
 * model with another value of the others was not made by it. */
static const char *const refused[] = {
    "normalize_before", "normalize_embedding", "add_final_layer_norm",
    "add_bias_logits", "quantization_config", "pruned_heads", "is_decoder",
};

static const char *const act_words[] = { "relu", "gelu", "silu", "swish",
                                         NULL };
static const enum act act_kinds[] = { ACT_RELU, ACT_GELU, ACT_SILU,
                                      ACT_SILU };

static int act_word(enum act kind)
{
    int i = 0;

    while (act_kinds[i] != kind) i++;
    return i;
}

enum status hf_config_network(struct config *c, struct json_config *j,
                              const struct hf_defaults *d, struct err *e)
{
    int encoder = json_config_int(j, "encoder_attention_heads", 16, 1, 1024);
    int decoder = json_config_int(j, "decoder_attention_heads", 16, 1, 1024);
    int word = json_config_word(j, "activation_function", act_words,
                                act_word(d->activation));

    c->heads = encoder;
    c->d_model = json_config_int(j, "d_model", 1024, 4, 65536);
    c->encoder_layers = json_config_int(j, "encoder_layers", 12, 1, 256);
    c->decoder_layers = json_config_int(j, "decoder_layers", 12, 1, 256);
    c->ffn = json_config_int(j, "encoder_ffn_dim", 4096, 4, MAX_SIZE);
    c->ffn_decoder = json_config_int(j, "decoder_ffn_dim", 4096, 4, MAX_SIZE);
    c->activation = act_kinds[word];
    c->embedding_scale = json_config_bool(j, "scale_embedding",
                                          d->scale_embedding)
                             ? sqrt(c->d_model) : 1;
    c->layer_norm_eps = NORM_EPS;
    c->max_positions = json_config_int(j, "max_position_embeddings", 1024, 8,
                                       MAX_SIZE / 2);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        json_config_refuse(j, refused[i]);
    if (encoder == decoder) return json_config_check(j, e);
    return err_set(e, ST_FORMAT, "%s: \"encoder_attention_heads\" is %d and "
                   "\"decoder_attention_heads\" is %d; a model where they "
                   "differ cannot be converted", json_config_name(j), encoder,
                   decoder);
}

/* ---- search ---- */

static bool number_is(struct json_config *j, const char *key, double usual)
{
    return json_config_number(j, key, usual, -1e300, 1e300) == usual;
}

/* Settings of search that change translations and that skmt does not have. */
static bool note_other_search(struct model_plan *p, struct json_config *j)
{
    static const struct { const char *key; double usual; } others[] = {
        { "no_repeat_ngram_size", 0 }, { "encoder_no_repeat_ngram_size", 0 },
        { "repetition_penalty", 1 }, { "num_beam_groups", 1 },
        { "min_length", 0 },
    };
    bool ok = true;

    for (size_t i = 0; i < sizeof others / sizeof *others && ok; i++)
        if (!number_is(j, others[i].key, others[i].usual))
            ok = family_note(p, "\"%s\" of the settings of search has no "
                             "counterpart in skmt", others[i].key);
    return ok;
}

/* What is out of range is noted when the settings that count are read. */
static void read_beam(struct config *c, struct json_config *j)
{
    double beam = json_config_number(j, "num_beams", 0, -1e300, 1e300);
    double penalty = json_config_number(j, "length_penalty", -1, -1e300,
                                        1e300);

    if (beam >= 1) c->beam = beam < BEAM_MOST ? (int)beam : BEAM_MOST;
    if (penalty >= 0 && penalty <= PENALTY_MOST) c->length_penalty = penalty;
}

static bool note_beam(struct model_plan *p, struct json_config *j)
{
    double beam = json_config_number(j, "num_beams", 1, -1e300, 1e300);
    double penalty = json_config_number(j, "length_penalty", 1, -1e300, 1e300);

    return (beam <= BEAM_MOST ||
            family_note(p, "\"num_beams\" is %g; %d is used", beam,
                        BEAM_MOST)) &&
           ((penalty >= 0 && penalty <= PENALTY_MOST) ||
            family_note(p, "\"length_penalty\" is %g; %g is used", penalty,
                        p->cfg.length_penalty));
}

/* Lists of ids, and of lists of ids: only those with one id can be barred. */
static bool bar_tokens(struct model_plan *p, struct json_config *j)
{
    int last = p->cfg.vocab_size - 1, sequences = 0;
    int n = json_config_length(j, "suppress_tokens");

    for (int i = 0; i < n; i++)
        plan_bar(p, json_config_int_at(j, "suppress_tokens", i, 0, last));
    n = json_config_length(j, "bad_words_ids");
    for (int i = 0; i < n; i++) {
        int id = json_config_only_int_at(j, "bad_words_ids", i, 0, last);

        if (id >= 0) plan_bar(p, id);
        else sequences++;
    }
    return !sequences ||
           family_note(p, "\"bad_words_ids\" has %d sequences of tokens; only "
                       "single tokens are kept from coming out", sequences);
}

static enum status read_search(struct model_plan *p, struct json_config *j,
                               struct err *e)
{
    read_beam(&p->cfg, j);
    if (!bar_tokens(p, j) || !note_beam(p, j) || !note_other_search(p, j))
        return err_nomem(e, "settings of search");
    return json_config_check(j, e);
}

enum status hf_config_search(struct model_plan *p, struct file_set *s,
                             struct json_config *j, struct err *e)
{
    struct json_config *g;
    enum status st;

    assert(p->barred);
    p->cfg.length_penalty = 1;          /* of transformers */
    if (!file_set_has(s, "generation_config.json", NULL))
        return read_search(p, j, e);
    read_beam(&p->cfg, j);
    st = json_config_open(&g, s, "generation_config.json", e);
    if (!st) st = read_search(p, g, e);
    json_config_close(g);
    return st;
}

/* ---- tokenizer_config.json ---- */

static bool find_content(void *user, const char *name, const char *value)
{
    const char **content = user;

    if (!strcmp(name, "content")) *content = value;
    return true;
}

const char *hf_config_token(struct json_config *j, const char *key,
                            const char *def)
{
    const char *content = NULL;

    if (!j || !json_config_has(j, key)) return def;
    if (!json_config_is_object(j, key)) return json_config_string(j, key, def);
    json_config_each(j, key, find_content, &content);
    return content ? content : def;
}

enum status hf_config_open_tokenizer(struct json_config **out,
                                     struct file_set *s, struct err *e)
{
    *out = NULL;
    if (!file_set_has(s, "tokenizer_config.json", NULL)) return ST_OK;
    return json_config_open(out, s, "tokenizer_config.json", e);
}
