/* test_config.c - tests of hyperparameters: ranges, defaults, and writing and
 * reading them back. */
#include <locale.h>

#include "model/config.h"
#include "test.h"

#define BASE "vocab_size=100\nd_model=32\nheads=4\nffn=64\n" \
             "encoder_layers=2\ndecoder_layers=2\neos_id=3\nstart_id=2\n"

static enum status parse(struct config *c, const char *text, struct err *e)
{
    return config_parse(c, text, strlen(text), e);
}

TEST(config_fills_in_defaults)
{
    struct config c;
    struct err e;

    REQUIRE_OK(parse(&c, BASE, &e), &e);
    CHECK_INT(c.d_model, 32);
    CHECK_INT(c.ffn_decoder, 64);
    CHECK_INT(c.max_source, 250);
    CHECK_INT(c.activation, ACT_RELU);
    CHECK_INT(c.final_norm, 1);
    CHECK_INT(c.pad_id, -1);
    CHECK_NEAR(c.layer_norm_eps, 1e-5, 0);
    CHECK_STR(c.name, "");
    CHECK_INT(c.attention_layer, 0);    /* the lower one of two */
    REQUIRE_OK(parse(&c, BASE "max_positions=40\nposition_offset=2\n", &e),
               &e);
    CHECK_INT(c.max_source, 19);
}

/* BASE with so many layers of the decoder, and another line. */
static int attention_layer(int layers, const char *line)
{
    char text[300];
    struct config c = { .attention_layer = -2 };
    struct err e;

    snprintf(text, sizeof text, "vocab_size=100\nd_model=32\nheads=4\nffn=64\n"
             "encoder_layers=2\ndecoder_layers=%d\neos_id=3\nstart_id=2\n%s",
             layers, line);
    CHECK_OK(parse(&c, text, &e), &e);
    return c.attention_layer;
}

TEST(config_knows_the_attention_layer)
{
    static const int middle[] = { 0, 0, 1, 1, 2, 2 };

    for (int n = 1; n <= 6; n++) {
        CHECK_INT(attention_layer(n, ""), middle[n - 1]);
        CHECK_INT(attention_layer(n, "attention_layer=-1\n"), middle[n - 1]);
        CHECK_INT(attention_layer(n, "attention_layer=0\n"), 0);
    }
    CHECK_INT(attention_layer(6, "attention_layer=5\n"), 5);
    CHECK_INT(attention_layer(256, "attention_layer=255\n"), 255);
}

TEST(config_comes_back_as_written)
{
    struct config c, d;
    struct strbuf sb;
    struct err e;

    REQUIRE_OK(parse(&c, BASE "norm=1\npositions=2\nknn_tau=12.25\n"
                     "embedding_scale=22.627416997969522\nsuffix_id=3\n"
                     "attention_layer=1\nsource_lang=de\ntarget_lang=en\n"
                     "name=a b = c\n", &e),
               &e);
    strbuf_init(&sb, 0);
    REQUIRE(config_format(&c, &sb));
    REQUIRE_OK(config_parse(&d, sb.data, sb.len, &e), &e);
    CHECK_MEM(&c, &d, sizeof c);
    CHECK_STR(d.name, "a b = c");
    CHECK_INT(d.attention_layer, 1);
    CHECK(d.embedding_scale == 22.627416997969522);
    strbuf_release(&sb);
}

/* In a German locale, printf writes 0,5; the file must have 0.5. */
TEST(config_does_not_mind_the_locale)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8",
                                         "fr_FR.UTF-8", "de_DE" };
    struct config c;
    struct strbuf sb;
    struct err e;
    bool set = false;

    for (size_t i = 0; i < COUNT(names) && !set; i++)
        set = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!set) SKIP("no locale with a decimal comma here");
    strbuf_init(&sb, 0);
    CHECK_OK(parse(&c, BASE "knn_tau=0.5\n", &e), &e);
    CHECK(c.knn_tau == 0.5);
    CHECK(config_format(&c, &sb) && strstr(sb.data, "knn_tau=0.5\n"));
    strbuf_release(&sb);
    setlocale(LC_NUMERIC, "C");
}

TEST(config_refuses_what_is_out_of_range)
{
    static const struct { const char *text, *says; } bad[] = {
        { "", "vocab_size is missing" },
        { "vocab_size=100\n", "d_model is missing" },
        { BASE "norm=2\n", "norm=2 is not between 0 and 1" },
        { BASE "norm=-1\n", "not between" },
        { BASE "norm=0.5\n", "not a whole number" },
        { BASE "norm=\n", "not a number" },
        { BASE "norm=1x\n", "not a number" },
        { BASE "norm=0x1\n", "not a number" },
        { BASE "norm= 1\n", "not a number" },
        { BASE "max_positions=1e99\n", "not between" },
        { BASE "knn_tau=nan\n", "not a number" },
        { BASE "knn_tau=1e999\n", "not between" },
        { BASE "pad_id=100\n", "pad_id=100 is not less than vocab_size=100" },
        { BASE "suffix_id=4000\n", "suffix_id=4000 is not less" },
        { BASE "d_model=32\n", "d_model is given twice" },
        { BASE "nonsense\n", "not key=value" },
        { BASE "max_source=2000\n", "greater than max_positions" },
        { BASE "position_offset=1024\n", "greater than max_positions" },
        { BASE "attention_layer=2\n",
          "attention_layer=2 is not less than decoder_layers=2" },
        { BASE "attention_layer=-2\n", "not between -1 and 255" },
        { BASE "attention_layer=256\n", "not between -1 and 255" },
        { BASE "source_lang=abcdefghijklmnop\n", "longer than 15" },
        { BASE "name=a\tb\n", "control" },
        { "vocab_size=100\nd_model=30\nheads=4\nffn=64\nencoder_layers=2\n"
          "decoder_layers=2\neos_id=3\nstart_id=2\n", "multiple of heads" },
        { "vocab_size=100\nd_model=33\nheads=1\nffn=64\nencoder_layers=2\n"
          "decoder_layers=2\neos_id=3\nstart_id=2\n", "even d_model" },
        { "vocab_size=100\nd_model=32\nheads=0\nffn=64\nencoder_layers=2\n"
          "decoder_layers=2\neos_id=3\nstart_id=2\n", "heads=0 is not" },
        { "vocab_size=100\nd_model=32\nheads=4\nffn=64\nencoder_layers="
          "1000000\n", "encoder_layers=1000000 is not between 1 and 256" },
    };
    struct config c;
    struct err e;

    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT(parse(&c, bad[i].text, &e), ST_FORMAT);
        if (!strstr(e.msg, bad[i].says))
            test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", e.msg,
                      bad[i].says);
    }
}

TEST(config_passes_over_unknown_keys_and_empty_lines)
{
    struct config c;
    struct err e;

    CHECK_OK(parse(&c, "\n\nfuture=thing\n" BASE "other=\n", &e), &e);
    CHECK_OK(parse(&c, BASE "heads_of_state=4", &e), &e);
}

TEST(config_refuses_nul_and_endless_lines)
{
    static const char nul[] = BASE "name=a\0b\n";
    struct config c;
    struct err e;
    char line[400];

    CHECK_INT(config_parse(&c, nul, sizeof nul - 1, &e), ST_FORMAT);
    memset(line, 'a', sizeof line);
    CHECK_INT(config_parse(&c, line, sizeof line, &e), ST_FORMAT);
    CHECK_INT(config_parse(&c, NULL, 0, &e), ST_FORMAT);
}
