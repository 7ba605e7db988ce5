/* fairseq_config.c - checks the settings of a checkpoint of fairseq.
 *
 * They contain everything that training was told, so most keys do not matter,
 * and unknown ones cannot be refused. Those that change what a Transformer
 * computes are in the lists below; that a model has other tensors than we know
 * is found by convert.c. Keys that a version of fairseq did not have yet have
 * the value that it computed with. */
#include "convert/fairseq_config.h"

#include <jansson.h>
#include <string.h>

#include "base/invariant.h"
#include "text/moses_bpe.h"

#define MAX_LAYERS 256
#define MAX_POSITIONS 1000000

/* Settings that must be off. */
static const char *const refused[] = {
    "layernorm_embedding", "no_token_positional_embeddings",
    "adaptive_softmax_cutoff", "adaptive_input", "no_cross_attention",
    "cross_self_attention", "encoder_layers_to_keep", "decoder_layers_to_keep",
    "char_inputs", "use_factorized_embedding", "base_layers", "scale_fc",
    "scale_attn", "scale_heads", "scale_resids", "encoder_recurrent_stacking",
    "decoder_recurrent_stacking", "encoder_add_adapters",
    "decoder_add_adapters", "encoder_xformers_att_config",
    "decoder_xformers_att_config", "encoder_langtok", "decoder_langtok",
    "prepend_bos", "character_embeddings", NULL
};

/* The attention heads of the architectures of fairseq that have a value of
 * their own, for checkpoints that do not say it. */
static const struct { const char *arch; int heads; } arch_heads[] = {
    { "transformer", 8 }, { "transformer_wmt_en_de", 8 },
    { "transformer_align", 8 }, { "transformer_tiny", 2 },
    { "transformer_iwslt_de_en", 4 }, { "transformer_wmt_en_de_big", 16 },
    { "transformer_wmt_en_de_big_t2t", 16 },
    { "transformer_wmt_en_de_big_align", 16 },
    { "transformer_vaswani_wmt_en_de_big", 16 },
    { "transformer_vaswani_wmt_en_fr_big", 16 },
};

/* The architectures whose norms come before the blocks by default. */
static bool arch_is_pre_norm(const char *arch)
{
    return !strcmp(arch, "transformer_wmt_en_de_big_t2t");
}

static int heads_of_arch(const char *arch)
{
    for (size_t i = 0; i < sizeof arch_heads / sizeof *arch_heads; i++)
        if (!strcmp(arch_heads[i].arch, arch)) return arch_heads[i].heads;
    return 0;
}

/* ---- the network ---- */

/* A setting that both sides must have alike. */
static enum status read_both(bool *out, struct json_config *j,
                             const char *encoder, const char *decoder,
                             bool def, struct err *e)
{
    *out = json_config_bool(j, encoder, def);
    if (json_config_bool(j, decoder, def) == *out) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: \"%s\" and \"%s\" differ; a model with "
                   "this cannot be converted", json_config_name(j), encoder,
                   decoder);
}

static enum status read_heads(struct fairseq_config *c, struct json_config *j,
                              const char *arch, struct err *e)
{
    int def = heads_of_arch(arch), decoder;

    c->heads = json_config_int(j, "encoder_attention_heads", def, 0, 1024);
    decoder = json_config_int(j, "decoder_attention_heads",
                              def ? def : c->heads, 0, 1024);
    if (decoder == c->heads) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: encoder and decoder have different "
                   "numbers of attention heads, %d and %d; such a model cannot "
                   "be converted", json_config_name(j), c->heads, decoder);
}

static enum status read_fairseq_network(struct fairseq_config *c,
                                        struct json_config *j,
                                        const char *arch, struct err *e)
{
    static const char *const acts[] = { "relu", "gelu", "swish", "linear",
                                        NULL };
    static const enum act kinds[] = { ACT_RELU, ACT_GELU, ACT_SILU, ACT_NONE };
    bool pre = arch_is_pre_norm(arch);
    enum status st = read_heads(c, j, arch, e);

    if (!st)
        st = read_both(&c->pre_norm, j, "encoder_normalize_before",
                       "decoder_normalize_before", pre, e);
    if (!st)
        st = read_both(&c->learned_positions, j, "encoder_learned_pos",
                       "decoder_learned_pos", false, e);
    c->encoder_layers = json_config_int(j, "encoder_layers", 0, 0, MAX_LAYERS);
    c->decoder_layers = json_config_int(j, "decoder_layers", 0, 0, MAX_LAYERS);
    c->activation = kinds[json_config_word(j, "activation_fn", acts, 0)];
    c->scale_embedding = !json_config_bool(j, "no_scale_embedding", false);
    c->share_all = json_config_bool(j, "share_all_embeddings", false);
    c->share_output = c->share_all ||
        json_config_bool(j, "share_decoder_input_output_embed", false);
    c->max_source = json_config_int(j, "max_source_positions", 1024, 1,
                                    MAX_POSITIONS);
    c->max_target = json_config_int(j, "max_target_positions", 1024, 1,
                                    MAX_POSITIONS);
    for (int i = 0; refused[i]; i++) json_config_refuse(j, refused[i]);
    return st;
}

/* ---- the text ---- */

static void read_text(struct fairseq_config *c, struct json_config *j)
{
    static const char *const bpes[] = { "fastbpe", "subword_nmt",
                                        "sentencepiece", NULL };
    static const char *const tokenizers[] = { "moses", "space", NULL };

    c->source_lang = json_config_string(j, "source_lang", NULL);
    c->target_lang = json_config_string(j, "target_lang", NULL);
    c->bpe = (enum fairseq_bpe)json_config_word(j, "bpe", bpes,
                                                FAIRSEQ_BPE_UNKNOWN);
    c->tokenizer = (enum fairseq_tokenizer)json_config_word(
        j, "tokenizer", tokenizers, FAIRSEQ_TOKENIZER_UNKNOWN);
    if (json_config_bool(j, "moses_no_dash_splits", false))
        c->moses_off |= MOSES_DASHES;
    if (json_config_bool(j, "moses_no_escape", false))
        c->moses_off |= MOSES_ESCAPE;
}

/* ---- search ---- */

static void set_search(struct fairseq_config *c, double beam, double penalty)
{
    if (beam >= 1 && beam <= 64) c->beam = (int)beam;
    if (penalty >= 0 && penalty <= 10) c->length_penalty = penalty;
}

/* What the model was validated with, as a text in JSON. Damaged text says
 * nothing. */
static void read_validation(struct fairseq_config *c, const char *text)
{
    json_t *v = text ? json_loads(text, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    json_t *beam = json_object_get(v, "beam");
    json_t *penalty = json_object_get(v, "lenpen");

    set_search(c, json_number_value(beam),
               json_is_number(penalty) ? json_number_value(penalty) : -1);
    json_decref(v);
}

/* How the checkpoint says it should be searched. Its validation says more than
 * "beam" and "lenpen", which newer versions of fairseq store with every model.
 * Values that skmt does not have are no reason to refuse a model. */
static void read_search(struct fairseq_config *c, struct json_config *j)
{
    c->length_penalty = -1;
    set_search(c, json_config_number(j, "beam", 0, -1e9, 1e9),
               json_config_number(j, "lenpen", -1, -1e9, 1e9));
    read_validation(c, json_config_string(j, "eval_bleu_args", NULL));
}

enum status fairseq_config_read(struct fairseq_config *c, struct json_config *j,
                                struct err *e)
{
    static const char *const tasks[] = { "translation", NULL };
    const char *arch = json_config_string(j, "arch", "transformer");
    enum status st;

    *c = (struct fairseq_config){ 0 };
    if (strncmp(arch, "transformer", 11))
        return err_set(e, ST_FORMAT, "%s: \"arch\" is \"%.60s\"; only "
                       "Transformers can be converted", json_config_name(j),
                       arch);
    json_config_word(j, "task", tasks, 0);
    st = read_fairseq_network(c, j, arch, e);
    read_text(c, j);
    read_search(c, j);
    return st ? st : json_config_check(j, e);
}
