/* marian_config.c - checks the settings of a Marian model.
 *
 * Every key that Marian stores with a model is in one of three lists: read
 * here, refused when it is on, or without effect on a Transformer. */
#include "convert/marian_config.h"

#include <string.h>

#include "base/invariant.h"

/* Keys that are read in this file, and the settings of the other networks that
 * Marian can train (recurrent ones, average attention) or of training only. */
static const char *const known[] = {
    "type", "dim-emb", "dim-vocabs", "enc-depth", "dec-depth",
    "transformer-heads", "transformer-dim-ffn", "transformer-decoder-dim-ffn",
    "transformer-ffn-depth", "transformer-decoder-ffn-depth",
    "transformer-ffn-activation", "transformer-preprocess",
    "transformer-postprocess", "transformer-postprocess-emb",
    "transformer-postprocess-top", "tied-embeddings", "tied-embeddings-src",
    "tied-embeddings-all", "output-omit-bias", "transformer-decoder-autoreg",
    "transformer-attention-mask", "transformer-tied-layers", "original-type",

    "version", "dim-rnn", "enc-type", "enc-cell",
    "enc-cell-depth", "dec-cell", "dec-cell-base-depth", "dec-cell-high-depth",
    "skip", "layer-normalization", "transformer-dim-aan",
    "transformer-aan-depth", "transformer-aan-activation",
    "transformer-aan-nogate", "transformer-guided-alignment-layer",
    "transformer-depth-scaling", "bert-train-type-embeddings",
    "bert-type-vocab-size", "ulr-dim-emb", "ulr-trainable-transformation",
    "lemma-dependency", "factors-combine", "max-length", NULL
};

static bool is_known(const char *key)
{
    for (int i = 0; known[i]; i++)
        if (!strcmp(known[i], key)) return true;
    return false;
}

/* Everything that is not known, such as right-left, ulr, input-types,
 * transformer-no-projection or transformer-train-position-embeddings, must be
 * off. */
static bool refuse_unknown(void *user, const char *key, const char *value)
{
    struct json_config *j = user;

    (void)value;
    if (!is_known(key)) json_config_refuse(j, key);
    return true;
}

/* Copy the operations of a list such as "dan", without dropout. */
static void read_operations(struct json_config *j, const char *key,
                            const char *def, char *out, size_t size)
{
    const char *s = json_config_string(j, key, def);
    size_t n = 0;

    for (; *s && n + 1 < size; s++)
        if (*s != 'd') out[n++] = *s;
    out[n] = 0;
}

/* Where the norms are. The usual combinations are the only ones whose
 * arithmetic is the same in all versions of Marian. */
static enum status read_norms(struct marian_config *c, struct json_config *j,
                              struct err *e)
{
    char pre[8], post[8], top[8], emb[8];

    read_operations(j, "transformer-preprocess", "", pre, sizeof pre);
    read_operations(j, "transformer-postprocess", "dan", post, sizeof post);
    read_operations(j, "transformer-postprocess-top", "", top, sizeof top);
    read_operations(j, "transformer-postprocess-emb", "d", emb, sizeof emb);
    c->pre_norm = !strcmp(pre, "n");
    if (emb[0])
        return err_set(e, ST_FORMAT, "%s: \"transformer-postprocess-emb\" is "
                       "\"%s\"; a model with norms after the embeddings cannot "
                       "be converted", json_config_name(j), emb);
    if (!strcmp(pre, "") && !strcmp(post, "an") && !strcmp(top, ""))
        return ST_OK;
    if (c->pre_norm && !strcmp(post, "a") && !strcmp(top, "n")) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: transformer-preprocess \"%s\", "
                   "-postprocess \"%s\" and -postprocess-top \"%s\" (without "
                   "\"d\"); only \"\", \"an\", \"\" and \"n\", \"a\", "
                   "\"n\" can be converted", json_config_name(j), pre, post,
                   top);
}

static void read_tables(struct marian_config *c, struct json_config *j)
{
    bool output = json_config_bool(j, "tied-embeddings", false);
    bool sides = json_config_bool(j, "tied-embeddings-src", false);

    if (json_config_bool(j, "tied-embeddings-all", false))
        output = sides = true;
    c->tables = output ? sides ? MARIAN_TIED_ALL : MARIAN_TIED_TARGET
                       : sides ? MARIAN_TIED_SIDES : MARIAN_SEPARATE;
    c->output_bias = !json_config_bool(j, "output-omit-bias", false);
}

static void read_sizes(struct marian_config *c, struct json_config *j)
{
    int ffn;

    c->d_model = json_config_int(j, "dim-emb", 512, 4, 65536);
    c->heads = json_config_int(j, "transformer-heads", 8, 1, 1024);
    c->ffn = json_config_int(j, "transformer-dim-ffn", 2048, 4, 1048576);
    ffn = json_config_int(j, "transformer-decoder-dim-ffn", 0, 0, 1048576);
    c->decoder_ffn = ffn ? ffn : c->ffn;
    c->encoder_layers = json_config_int(j, "enc-depth", 1, 1,
                                        MARIAN_LAYERS_MAX);
    c->decoder_layers = json_config_int(j, "dec-depth", 1, 1,
                                        MARIAN_LAYERS_MAX);
    json_config_int(j, "transformer-ffn-depth", 2, 2, 2);
    if (json_config_int(j, "transformer-decoder-ffn-depth", 0, 0, 2))
        json_config_int(j, "transformer-decoder-ffn-depth", 2, 2, 2);
}

/* "transformer-tied-layers: [1, 1, 3]": layer 2 has the tensors of layer 1. */
static enum status read_tied_layers(struct marian_config *c,
                                    struct json_config *j, struct err *e)
{
    static const char key[] = "transformer-tied-layers";
    int n = json_config_length(j, key);

    if (n && n != c->decoder_layers)
        return err_set(e, ST_FORMAT, "%s: \"%s\" has %d numbers, but there "
                       "are %d decoder layers", json_config_name(j), key, n,
                       c->decoder_layers);
    for (int i = 0; i < c->decoder_layers; i++)
        c->decoder_layer[i] = n ? json_config_int_at(j, key, i, 1, n) : i + 1;
    return ST_OK;
}

static enum status check_decoder(struct json_config *j, struct err *e)
{
    static const char *const kinds[] = { "self-attention", NULL };
    static const char *const masks[] = { "default", NULL };
    const char *kind = json_config_string(j, "transformer-decoder-autoreg",
                                          kinds[0]);

    if (!strcmp(kind, "rnn"))
        return err_set(e, ST_FORMAT, "%s: the decoder is a recurrent network "
                       "(\"transformer-decoder-autoreg\" is \"rnn\"), as in "
                       "the small models of Firefox and Bergamot; these cannot "
                       "be converted", json_config_name(j));
    json_config_word(j, "transformer-decoder-autoreg", kinds, 0);
    json_config_word(j, "transformer-attention-mask", masks, 0);
    return ST_OK;
}

enum status marian_config_read(struct marian_config *c, struct json_config *j,
                               struct err *e)
{
    static const char *const types[] = { "transformer", NULL };
    static const char *const activations[] = { "relu", "swish", NULL };
    enum status st;

    memset(c, 0, sizeof *c);
    json_config_word(j, "type", types, JSON_REQUIRED);
    json_config_word(j, "original-type", types, 0);
    read_sizes(c, j);
    read_tables(c, j);
    /* GELU is another function in Marian 1.12 than before. */
    c->activation = json_config_word(j, "transformer-ffn-activation",
                                     activations, 1) ? ACT_SILU : ACT_RELU;
    st = json_config_check(j, e);
    if (!st) st = read_tied_layers(c, j, e);
    if (!st) st = check_decoder(j, e);
    if (!st) st = read_norms(c, j, e);
    json_config_each(j, NULL, refuse_unknown, j);
    return st ? st : json_config_check(j, e);
}

/* ---- decoder.yml ---- */

static enum status check_files(struct marian_decoder *d, struct json_config *j,
                               struct err *e)
{
    int models = json_config_length(j, "models");
    int vocabs = json_config_length(j, "vocabs");

    if (models > 1)
        return err_set(e, ST_FORMAT, "%s: \"models\" names %d files, which "
                       "translate together; leave one of them to convert it",
                       json_config_name(j), models);
    if (!models)
        return err_set(e, ST_FORMAT, "%s: \"models\" should name the file of "
                       "the model", json_config_name(j));
    if (vocabs != 2)
        return err_set(e, ST_FORMAT, "%s: \"vocabs\" should name the "
                       "vocabularies of source and target, not %d files",
                       json_config_name(j), vocabs);
    d->model = json_config_string_at(j, "models", 0);
    d->source_vocab = json_config_string_at(j, "vocabs", 0);
    d->target_vocab = json_config_string_at(j, "vocabs", 1);
    return ST_OK;
}

enum status marian_decoder_read(struct marian_decoder *d, struct json_config *j,
                                struct err *e)
{
    enum status st;

    memset(d, 0, sizeof *d);
    st = json_config_check(j, e);
    if (!st) st = check_files(d, j, e);
    if (st) return st;
    d->beam = json_config_int(j, "beam-size", 0, 1, 1000000);
    d->normalize = json_config_number(j, "normalize", 0, 0, 10);
    d->word_penalty = json_config_number(j, "word-penalty", 0, -1e6, 1e6);
    d->allow_unk = json_config_bool(j, "allow-unk", false);
    d->allow_special = json_config_bool(j, "allow-special", false);
    return json_config_check(j, e);
}
