/* test_marian_config.c - which settings of Marian are read, and which are
 * refused. */
#include "test.h"

#include "convert/marian_config.h"
#include "convert/yaml_config.h"

/* As Marian 1.9 stores them with the models of OPUS-MT. */
static const char usual[] =
    "bert-train-type-embeddings: true\nbert-type-vocab-size: 2\n"
    "dec-cell: gru\ndec-cell-base-depth: 2\ndec-cell-high-depth: 1\n"
    "dec-depth: 6\ndim-emb: 512\ndim-rnn: 1024\ndim-vocabs:\n  - 58101\n"
    "  - 58101\nenc-cell: gru\nenc-cell-depth: 1\nenc-depth: 6\n"
    "enc-type: bidirectional\ninput-types:\n  []\nlayer-normalization: false\n"
    "right-left: false\nskip: false\nspecial-vocab:\n  []\n"
    "tied-embeddings: false\ntied-embeddings-all: true\n"
    "tied-embeddings-src: false\ntransformer-aan-activation: swish\n"
    "transformer-aan-depth: 2\ntransformer-aan-nogate: false\n"
    "transformer-decoder-autoreg: self-attention\ntransformer-dim-aan: 2048\n"
    "transformer-dim-ffn: 2048\ntransformer-ffn-activation: swish\n"
    "transformer-ffn-depth: 2\ntransformer-guided-alignment-layer: last\n"
    "transformer-heads: 8\ntransformer-no-projection: false\n"
    "transformer-postprocess: dan\ntransformer-postprocess-emb: d\n"
    "transformer-preprocess: \"\"\ntransformer-tied-layers:\n  []\n"
    "transformer-train-position-embeddings: false\ntype: transformer\n"
    "ulr: false\nulr-dim-emb: 0\nulr-trainable-transformation: false\n"
    "version: v1.9.2 6e1b6a1 2020-01-28 10:36:11 -0800\n";

/* Read settings. If `want` is not NULL, they must be refused with a message
 * that contains it. */
static struct marian_config read_settings(const char *text, const char *want)
{
    struct marian_config c = { 0 };
    struct json_config *j;
    struct err e = { 0 };
    enum status st = yaml_config_parse(&j, text, strlen(text), "m", &e);

    if (!CHECK_OK(st, &e)) return c;
    st = marian_config_read(&c, j, &e);
    json_config_close(j);
    if (!want) {
        CHECK_OK(st, &e);
        return c;
    }
    CHECK_INT(st, ST_FORMAT);
    if (!strstr(e.msg, want) || strncmp(e.msg, "m: ", 3))
        test_fail(__FILE__, __LINE__, "%s\n\"%s\", want \"%s\"", text, e.msg,
                  want);
    return c;
}

TEST(settings_of_opus_mt)
{
    struct marian_config c = read_settings(usual, NULL);

    CHECK_INT(c.d_model, 512);
    CHECK_INT(c.heads, 8);
    CHECK_INT(c.ffn, 2048);
    CHECK_INT(c.decoder_ffn, 2048);
    CHECK_INT(c.encoder_layers, 6);
    CHECK_INT(c.decoder_layers, 6);
    CHECK_INT(c.activation, ACT_SILU);
    CHECK_INT(c.tables, MARIAN_TIED_ALL);
    CHECK(!c.pre_norm && c.output_bias);
    for (int i = 0; i < 6; i++) CHECK_INT(c.decoder_layer[i], i + 1);
}

TEST(defaults_of_marian)
{
    struct marian_config c = read_settings("type: transformer\n", NULL);

    CHECK_INT(c.d_model, 512);
    CHECK_INT(c.heads, 8);
    CHECK_INT(c.ffn, 2048);
    CHECK_INT(c.encoder_layers, 1);
    CHECK_INT(c.decoder_layers, 1);
    CHECK_INT(c.activation, ACT_SILU);
    CHECK_INT(c.tables, MARIAN_SEPARATE);
    CHECK(!c.pre_norm && c.output_bias);
}

TEST(other_settings)
{
    struct marian_config c = read_settings(
        "type: transformer\nenc-depth: 2\ndec-depth: 4\ntied-embeddings: true\n"
        "transformer-tied-layers: [1, 1, 3, 3]\noutput-omit-bias: true\n"
        "transformer-preprocess: dn\ntransformer-postprocess: da\n"
        "transformer-postprocess-top: n\ntransformer-ffn-activation: relu\n"
        "transformer-dim-ffn: 64\ntransformer-decoder-dim-ffn: 32\n"
        "transformer-ffn-depth: 2\ntransformer-decoder-ffn-depth: 2\n"
        "new-feature: false\nother-feature: []\n", NULL);

    CHECK_INT(c.tables, MARIAN_TIED_TARGET);
    CHECK(c.pre_norm && !c.output_bias);
    CHECK_INT(c.activation, ACT_RELU);
    CHECK_INT(c.ffn, 64);
    CHECK_INT(c.decoder_ffn, 32);
    for (int i = 0; i < 4; i++) CHECK_INT(c.decoder_layer[i], 1 + i / 2 * 2);
    c = read_settings("type: transformer\ntied-embeddings-src: true\n", NULL);
    CHECK_INT(c.tables, MARIAN_TIED_SIDES);
    c = read_settings("type: transformer\ntied-embeddings-src: true\n"
                      "tied-embeddings: true\n", NULL);
    CHECK_INT(c.tables, MARIAN_TIED_ALL);
}

TEST(settings_that_are_refused)
{
    static const char *const bad[][2] = {
        { "", "\"type\" is missing" },
        { "type: s2s", "\"type\" is \"s2s\"" },
        { "type: amun", "\"type\" is \"amun\"" },
        { "original-type: s2s", "\"original-type\" is \"s2s\"" },
        { "dim-emb: -1", "\"dim-emb\" should be" },
        { "dim-emb: big", "\"dim-emb\" should be" },
        { "dim-emb: 512.5", "\"dim-emb\" should be" },
        { "transformer-heads: 0", "\"transformer-heads\" should be" },
        { "enc-depth: 257", "\"enc-depth\" should be" },
        { "transformer-ffn-depth: 3", "\"transformer-ffn-depth\"" },
        { "transformer-decoder-ffn-depth: 1",
          "\"transformer-decoder-ffn-depth\"" },
        { "transformer-ffn-activation: gelu", "only \"relu\" or \"swish\"" },
        { "transformer-preprocess: n", "transformer-preprocess \"n\"" },
        { "transformer-postprocess: dar", "-postprocess \"ar\"" },
        { "transformer-postprocess: dhn", "-postprocess \"hn\"" },
        { "transformer-postprocess-top: n", "-postprocess-top \"n\"" },
        { "transformer-postprocess-emb: nd", "norms after the embeddings" },
        { "transformer-decoder-autoreg: rnn", "Firefox and Bergamot" },
        { "transformer-decoder-autoreg: average-attention",
          "\"transformer-decoder-autoreg\" is \"average-attention\"" },
        { "transformer-attention-mask: alibi", "\"transformer-attention-mask" },
        { "transformer-tied-layers: [1, 1]", "has 2 numbers" },
        { "transformer-tied-layers: [2]", "\"transformer-tied-layers\"" },
        { "transformer-no-projection: true", "\"transformer-no-projection\"" },
        { "right-left: true", "\"right-left\" is set" },
        { "ulr: true", "\"ulr\" is set" },
        { "special-vocab: [3]", "\"special-vocab\" is set" },
        { "transformer-train-position-embeddings: true",
          "\"transformer-train-position-embeddings\" is set" },
        { "transformer-pool: true", "\"transformer-pool\" is set" },
        { "transformer-no-affine: true", "\"transformer-no-affine\" is set" },
        { "transformer-no-bias: true", "\"transformer-no-bias\" is set" },
        { "transformer-disable-position-embeddings: true",
          "\"transformer-disable-position-embeddings\" is set" },
        { "lemma-dim-emb: 64", "\"lemma-dim-emb\" is set" },
        { "factors-dim-emb: 8", "\"factors-dim-emb\" is set" },
        { "input-types: [sequence, class]", "\"input-types\" is set" },
        { "new-feature: 1", "\"new-feature\" is set" },
        { "new-feature: {a: 1}", "\"new-feature\" is set" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        char text[200];

        snprintf(text, sizeof text, "%s%s\n",
                 i < 3 ? "" : "type: transformer\n", bad[i][0]);
        if (i) read_settings(text, bad[i][1]);
        else read_settings("dim-emb: 512\n", bad[i][1]);
    }
}

static struct marian_decoder read_decoder(const char *text, const char *want)
{
    struct marian_decoder d = { 0 };
    struct json_config *j;
    struct err e = { 0 };
    enum status st = yaml_config_parse(&j, text, strlen(text), "d", &e);

    if (!CHECK_OK(st, &e)) return d;
    st = marian_decoder_read(&d, j, &e);
    if (!want) {
        CHECK_OK(st, &e);
        CHECK_STR(d.model, "m.npz");
        CHECK_STR(d.source_vocab, "a.yml");
        CHECK_STR(d.target_vocab, "b.yml");
    } else {
        CHECK_INT(st, ST_FORMAT);
        if (!strstr(e.msg, want))
            test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", e.msg, want);
    }
    json_config_close(j);
    return d;
}

#define FILES "models: [m.npz]\nvocabs: [a.yml, b.yml]\n"

TEST(settings_of_the_decoder)
{
    struct marian_decoder d = read_decoder(
        "relative-paths: true\n" FILES "beam-size: 6\nnormalize: 1\n"
        "word-penalty: 0\nmini-batch: 64\nmaxi-batch-sort: src\n", NULL);

    CHECK_INT(d.beam, 6);
    CHECK_NEAR(d.normalize, 1, 0);
    CHECK_NEAR(d.word_penalty, 0, 0);
    CHECK(!d.allow_unk && !d.allow_special);
    d = read_decoder(FILES "allow-unk: true\nallow-special: true\n"
                     "word-penalty: 0.2\n", NULL);
    CHECK(d.allow_unk && d.allow_special);
    CHECK_INT(d.beam, 0);
    CHECK_NEAR(d.normalize, 0, 0);
    CHECK_NEAR(d.word_penalty, 0.2, 1e-12);
}

/* YAML has more ways to write them than JSON. */
TEST(settings_of_the_decoder_in_other_words)
{
    static const char *const yes[] = { "yes", "True", "ON", "y", "'true'" };
    static const char *const no[] = { "no", "FALSE", "off", "N", "\"no\"" };
    static const struct { const char *text; double value; } numbers[] = {
        { ".6", 0.6 }, { "+1", 1 }, { "1.", 1 }, { "1e0", 1 }, { "0.60", 0.6 },
    };
    char text[200];

    for (size_t i = 0; i < COUNT(yes); i++) {
        snprintf(text, sizeof text, FILES "allow-unk: %s\nallow-special: %s\n",
                 yes[i], no[i]);
        CHECK(read_decoder(text, NULL).allow_unk);
        CHECK(!read_decoder(text, NULL).allow_special);
    }
    for (size_t i = 0; i < COUNT(numbers); i++) {
        snprintf(text, sizeof text, FILES "normalize: %s\n", numbers[i].text);
        CHECK_NEAR(read_decoder(text, NULL).normalize, numbers[i].value, 0);
    }
    read_decoder(FILES "normalize: .\n", "\"normalize\"");
    read_decoder(FILES "normalize: +-1\n", "\"normalize\"");
    read_decoder(FILES "normalize: 1.2.3\n", "\"normalize\"");
}

TEST(other_settings_of_the_decoder)
{
    read_decoder("vocabs: [a, b]\n", "\"models\" should name");
    read_decoder("models: [a, b]\nvocabs: [a, b]\n", "\"models\" names 2");
    read_decoder("models: [a]\n", "\"vocabs\" should name");
    read_decoder("models: [a]\nvocabs: [a, b, c]\n", "not 3 files");
    read_decoder("models: [[a]]\nvocabs: [a, b]\n", "\"models\"");
    read_decoder(FILES "beam-size: 0\n", "\"beam-size\"");
    read_decoder(FILES "normalize: often\n", "\"normalize\"");
    read_decoder(FILES "allow-unk: 1\n", "\"allow-unk\"");
}
