/* test_options.c - tests the options: their defaults, their values as text, and
 * their limits. */
#include <locale.h>

#include "engine/options.h"
#include "skmt.h"
#include "test.h"

/* Returns the value of an option as text, valid until the next call. */
static const char *text_of(const struct options *o, const char *name)
{
    static char text[64];

    return options_get(o, name, text, sizeof text) ? text : "(none)";
}

/* Writes all options as text. The structs cannot be compared with memcmp()
 * because they have padding. */
static void list_all(const struct options *o, char *out)
{
    struct option_info info;

    for (int i = 0; option_describe(OPTIONS_TRANSLATE, i, &info); i++)
        out += sprintf(out, "%s=%s\n", info.name, text_of(o, info.name));
}

TEST(defaults_read_back_as_listed)
{
    struct options o;
    struct option_info info;
    int n = 0;

    options_defaults(&o);
    for (; option_describe(OPTIONS_TRANSLATE, n, &info); n++) {
        CHECK_STR(text_of(&o, info.name), info.fallback);
        CHECK(strlen(info.help) > 3 &&
              info.help[strlen(info.help) - 1] != '.');
    }
    CHECK(n >= 10);
    CHECK(!option_describe(OPTIONS_TRANSLATE, -1, &info));
    CHECK(!option_describe(OPTIONS_TRANSLATE, n, &info));
}

/* Set an option to each of its values "a|b|c". */
static void check_values(struct options *o, const struct option_info *info)
{
    const char *at = info->kind;
    struct err e = { 0 };
    char value[40];

    while (*at) {
        int n = (int)strcspn(at, "|");

        snprintf(value, sizeof value, "%.*s", n, at);
        CHECK_OK(options_set(o, info->name, value, &e), &e);
        CHECK_STR(text_of(o, info->name), value);
        at += n + (at[n] == '|');
    }
    CHECK_INT(options_set(o, info->name, info->kind, &e), ST_ARGUMENT);
    CHECK_INT(options_set(o, info->name, "", &e), ST_ARGUMENT);
}

TEST(each_value_of_an_enum_reads_back)
{
    static const enum option_group groups[] = {
        OPTIONS_TRANSLATE, OPTIONS_STEER, OPTIONS_SEARCH, OPTIONS_MODEL };
    struct options o;
    struct option_info info;
    int n = 0;

    options_defaults(&o);
    for (size_t g = 0; g < COUNT(groups); g++)
        for (int i = 0; option_describe(groups[g], i, &info); i++)
            if (strchr(info.kind, '|')) {
                check_values(&o, &info);
                n++;
            }
    CHECK_INT(n, 11);
    CHECK_INT(o.lenpen_type, LENPEN_CHOICE_FAIRSEQ);
    CHECK_INT(o.split, SPLIT_NONE);
    CHECK_INT(o.invalid, INVALID_REPLACE);
    CHECK_INT(o.preset, PRESET_PAPER_SK2);
    CHECK_INT(o.adapter, ADAPTER_NONE);
    CHECK_INT(o.eos_votes, EOS_COUNTS);
    CHECK_INT(o.exact, EXACT_STEER);
    CHECK_INT(o.key_type, KEY_F32);
    CHECK_INT(o.rerank, RERANK_AUTHORS);
    CHECK_INT(o.analyzer, ANALYZER_SUBWORD);
}

/* The defaults must be those of docs/method.md. */
TEST(defaults_are_those_of_the_method)
{
    struct options o;

    options_defaults(&o);
    CHECK_INT(options_beam(&o, 0), 4);
    CHECK_INT(o.nbest, 1);
    CHECK_INT(options_lenpen_type(&o, -1), LENPEN_GNMT);
    CHECK_NEAR(options_lenpen(&o, -1), 0.6, 0);
    CHECK_NEAR(o.max_len_a, 1.2, 0);
    CHECK_INT(o.max_len_b, 64);
    CHECK(o.early_stop && o.prune == -1 && !o.attention);
    CHECK_INT(o.split, SPLIT_AUTO);
    CHECK_INT(o.invalid, INVALID_ERROR);
}

/* A model file may recommend a beam size, and an exponent for fairseq's length
 * penalty. What is set counts more. */
TEST(models_recommend_defaults)
{
    struct options o;
    struct err e;

    options_defaults(&o);
    CHECK_INT(options_beam(&o, 6), 6);
    CHECK_INT(options_lenpen_type(&o, 1), LENPEN_FAIRSEQ);
    CHECK_NEAR(options_lenpen(&o, 1.1), 1.1, 0);
    CHECK_OK(options_set(&o, "lenpen", "0.5", &e), &e);
    CHECK_INT(options_lenpen_type(&o, 1), LENPEN_FAIRSEQ);
    CHECK_NEAR(options_lenpen(&o, 1.1), 0.5, 0);
    options_defaults(&o);
    CHECK_OK(options_set(&o, "lenpen-type", "gnmt", &e), &e);
    CHECK_OK(options_set(&o, "beam", "2", &e), &e);
    CHECK_INT(options_beam(&o, 6), 2);
    CHECK_INT(options_lenpen_type(&o, 1), LENPEN_GNMT);
    CHECK_NEAR(options_lenpen(&o, 1.1), 0.6, 0);
    CHECK_OK(options_set(&o, "lenpen-type", "fairseq", &e), &e);
    CHECK_NEAR(options_lenpen(&o, -1), 0.6, 0);
}

/* A value that was set can be read back as text, and setting that text changes
 * nothing. */
TEST(values_survive_the_round_trip)
{
    static const struct { const char *name, *value; } set[] = {
        { "beam", "1" }, { "beam", "64" }, { "batch", "1024" },
        { "lenpen", "0" }, { "lenpen", "10" }, { "lenpen", "0.123456789" },
        { "max-len-a", "0.1" }, { "prune", "2.5" },
        { "lenpen-type", "fairseq" }, { "lenpen-type", "gnmt" },
        { "split", "none" }, { "invalid", "replace" },
        { "early-stop", "0" }, { "attention", "1" }, { "max-source", "0" },
    };
    char before[2000], after[2000];
    struct options o;
    struct err e;

    options_defaults(&o);
    for (size_t i = 0; i < COUNT(set); i++) {
        REQUIRE_OK(options_set(&o, set[i].name, set[i].value, &e), &e);
        CHECK_STR(text_of(&o, set[i].name), set[i].value);
        list_all(&o, before);
        CHECK_OK(options_set(&o, set[i].name, text_of(&o, set[i].name), &e),
                 &e);
        list_all(&o, after);
        CHECK_STR(after, before);
    }
    for (size_t i = 0; i < 4; i++) {
        static const char *const yes[] = { "1", "true", "yes", "on" };
        static const char *const no[] = { "0", "false", "no", "off" };

        CHECK_OK(options_set(&o, "attention", yes[i], &e), &e);
        CHECK(o.attention);
        CHECK_OK(options_set(&o, "attention", no[i], &e), &e);
        CHECK(!o.attention);
    }
}

/* For a bad value the error names the option, and the options do not change. */
TEST(bad_values_are_refused_with_a_message)
{
    static const struct { const char *name, *value, *msg; } bad[] = {
        { "beam", "-1", "beam: \"-1\" is not a whole number from 0 to 64" },
        { "beam", "65", "beam: \"65\" is not a whole number from 0 to 64" },
        { "beam", "two", "beam: \"two\" is not a whole number from 0 to 64" },
        { "beam", "", "beam: \"\" is not a whole number from 0 to 64" },
        { "beam", "4x", "beam: \"4x\" is not a whole number from 0 to 64" },
        { "beam", "1.5", "beam: \"1.5\" is not a whole number from 0 to 64" },
        { "beam", "nan", "beam: \"nan\" is not a whole number from 0 to 64" },
        { "beam", "1e999",
          "beam: \"1e999\" is not a whole number from 0 to 64" },
        { "lenpen", "-2", "lenpen: \"-2\" is not a number from -1 to 10" },
        { "lenpen", "inf", "lenpen: \"inf\" is not a number from -1 to 10" },
        { "lenpen", "0,6", "lenpen: \"0,6\" is not a number from -1 to 10" },
        { "lenpen-type", "gn",
          "lenpen-type: \"gn\" is not one of auto|gnmt|fairseq" },
        { "lenpen-type", "gnmt|fairseq",
          "lenpen-type: \"gnmt|fairseq\" is not one of auto|gnmt|fairseq" },
        { "lenpen-type", "",
          "lenpen-type: \"\" is not one of auto|gnmt|fairseq" },
        { "early-stop", "maybe", "early-stop: \"maybe\" is not 1 or 0" },
        { "attention", "", "attention: \"\" is not 1 or 0" },
        { "to", "de en", "to: \"de en\" is not a code" },
        { "from", "a_very_long_code", "from: \"a_very_long_code\" is longer "
          "than 15 letters" },
        { "no-such", "1", "there is no option \"no-such\"" },
        { "", "1", "there is no option \"\"" },
    };
    char before[2000], after[2000];
    struct options o;
    struct err e;

    options_defaults(&o);
    o.attention = true;
    list_all(&o, before);
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT(options_set(&o, bad[i].name, bad[i].value, &e),
                  ST_ARGUMENT);
        CHECK_STR(e.msg, bad[i].msg);
        CHECK_INT(options_set(&o, bad[i].name, bad[i].value, NULL),
                  ST_ARGUMENT);
        list_all(&o, after);
        CHECK_STR(after, before);
    }
    CHECK_STR(text_of(&o, "no-such"), "(none)");
}

/* The calling program may have set a locale that writes 0,6. */
TEST(numbers_are_the_same_in_every_locale)
{
    static const char *const comma[] = { "de_DE.UTF-8", "de_DE.utf8",
        "de_DE", "fr_FR.UTF-8", "fr_FR" };
    struct options o;
    struct err e;
    const char *set = NULL;

    for (size_t i = 0; i < COUNT(comma) && !set; i++)
        set = setlocale(LC_NUMERIC, comma[i]);
    if (!set) SKIP("no locale with a decimal comma is installed");
    options_defaults(&o);
    CHECK_STR(text_of(&o, "max-len-a"), "1.2");
    CHECK_OK(options_set(&o, "lenpen", "1.25", &e), &e);
    CHECK_NEAR(o.lenpen, 1.25, 0);
    setlocale(LC_NUMERIC, "C");
}

/* The public statuses are the internal ones, in the same order and with the
 * same texts. */
TEST(public_and_internal_statuses_agree)
{
    static const skmt_status list[] = { SKMT_OK, SKMT_ERR_NOMEM, SKMT_ERR_IO,
        SKMT_ERR_FORMAT, SKMT_ERR_VERSION, SKMT_ERR_ARGUMENT, SKMT_ERR_TEXT,
        SKMT_ERR_LIMIT, SKMT_ERR_CANCELED, SKMT_ERR_DEADLINE,
        SKMT_ERR_DEVICE };
    static const char *const names[] = {
#define S(name, text) #name,
        STATUS_LIST(S)
#undef S
    };
    static const char *const wanted[] = { "OK", "NOMEM", "IO", "FORMAT",
        "VERSION", "ARGUMENT", "TEXT", "LIMIT", "CANCELED", "DEADLINE",
        "DEVICE" };

    CHECK_INT(COUNT(list), ST_COUNT);
    for (int i = 0; i < ST_COUNT; i++) {
        CHECK_INT(list[i], i);
        CHECK_STR(names[i], wanted[i]);
        CHECK_STR(skmt_status_text(list[i]), status_text((enum status)i));
    }
    CHECK_STR(skmt_status_text((skmt_status)99), "unknown status");
    CHECK_STR(skmt_status_text((skmt_status)-1), "unknown status");
}

TEST(steering_options_have_a_list_of_their_own)
{
    static const struct { const char *name, *fallback, *other, *bad; } want[] =
    {
        { "preset", "auto", "sk1", "sk3" },
        { "system", "auto", "learned", "sk2" },
        { "trust", "default", NULL, "1 2 3" },
        { "metak", "none", NULL, "1 2 3" },
        { "k", "0", "64", "65" },
        { "tau", "0", "12.5", "-1" },
        { "adapter", "distance", "fixed", "both" },
        { "lambda", "-1", "1", "1.1" },
        { "knn-eos", "auto", "1", "2" },
        { "eos-votes", "auto", "count", "vote" },
        { "repeat-votes", "-1", "3", "9" },
        { "any-language", "0", "1", "x" },
        { "cache", "-1", "6", "-2" },
        { "chunk", "16", "64", "65" },
        { "chunk-first", "2", "1", "0" },
        { "chunk-longest", "8", "1000", "1001" },
        { "chunk-dims", "64", "1", "0" },
        { "chunk-tau", "0", "12.5", "-1" },
        { "chunk-lambda", "-1", "1", "1.1" },
        { "occurrences", "512", "1", "0" },
        { "pieces-weight", "-1", "0.5", "21" },
        { "pieces-normalize", "0", "1", "x" },
        { "exact", "auto", "steer", "" },
        { "draft", "8", "0", "65" },
        { "key-cache", "256M", "1G", "1X" },
        { "key-file-limit", "64G", "1M", "1X" },
        { "key-type", "int8", "f32", "f16" },
        { "explain", "0", "1", "x" },
    };
    skmt_options *o;
    skmt_option_info info = SKMT_INIT(skmt_option_info);
    skmt_error e;

    REQUIRE(!skmt_options_new(&o, &e));
    for (int i = 0; i < (int)COUNT(want); i++) {
        REQUIRE(skmt_option_describe(SKMT_OPTIONS_STEER, i, &info));
        CHECK_STR(info.name, want[i].name);
        CHECK_STR(info.fallback, want[i].fallback);
        CHECK_STR(skmt_options_get(o, info.name), want[i].fallback);
        CHECK_INT(skmt_options_set(o, info.name, want[i].bad, &e),
                  want[i].other ? SKMT_ERR_ARGUMENT : SKMT_ERR_FORMAT);
        if (!want[i].other) continue;   /* test_trust.c, test_metak.c */
        CHECK_INT(skmt_options_set(o, info.name, want[i].other, &e), SKMT_OK);
        CHECK_STR(skmt_options_get(o, info.name), want[i].other);
    }
    CHECK(!skmt_option_describe(SKMT_OPTIONS_STEER, (int)COUNT(want), &info));
    skmt_options_free(o);
}

TEST(sizes_are_powers_of_1024)
{
    static const struct { const char *text; int64_t bytes; const char *back; }
        want[] = {
        { "0", 0, "0" }, { "1000", 1000, "1000" }, { "64k", 65536, "64k" },
        { "1.5M", 1572864, "1536k" }, { "2048M", 2147483648, "2G" },
        { "1T", 1099511627776, "1T" },
    };
    static const char *const bad[] = { "", "M", "-1", "1MB", "1 M", "9e30" };
    struct options o;
    char text[64];
    struct err e;

    options_defaults(&o);
    for (size_t i = 0; i < COUNT(want); i++) {
        REQUIRE_OK(options_set(&o, "key-cache", want[i].text, &e), &e);
        CHECK_INT(o.key_cache, want[i].bytes);
        CHECK(options_get(&o, "key-cache", text, sizeof text));
        CHECK_STR(text, want[i].back);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(options_set(&o, "key-cache", bad[i], &e) == ST_ARGUMENT);
}

TEST(presets_do_not_override_options_that_are_set)
{
    struct options o;
    struct err e;

    options_defaults(&o);
    CHECK(options_pairs(&o) == 16 && options_k(&o) == 2);
    CHECK_INT(options_matches(&o), 16);
    REQUIRE_OK(options_set(&o, "preset", "sk1", &e), &e);
    CHECK(options_pairs(&o) == 2 && options_k(&o) == 1);
    CHECK_INT(options_matches(&o), 16);
    o.matches = 5;
    o.k = 3;
    CHECK(options_pairs(&o) == 5 && options_k(&o) == 3);
    CHECK_INT(options_matches(&o), 5);
}

/* The presets of the paper have its settings; sk1 and sk2 were tuned. */
TEST(presets_set_options_that_are_not_set)
{
    static const struct {
        const char *preset;
        int pairs, k, eos, repeats;
        enum exact_mode exact;
        double tau, prune;
    } want[] = {
        { "sk1", 2, 1, 1, 1, EXACT_USE, 70, 2.5 },
        { "sk2", 16, 2, 1, 1, EXACT_USE, 70, 2.5 },
        { "paper-sk1", 2, 1, 0, 0, EXACT_STEER, 100, 0 },
        { "paper-sk2", 16, 2, 0, 0, EXACT_STEER, 100, 0 },
    };

    for (size_t i = 0; i < COUNT(want); i++) {
        struct options o;
        struct err e;

        options_defaults(&o);
        REQUIRE_OK(options_set(&o, "preset", want[i].preset, &e), &e);
        CHECK_INT(options_pairs(&o), want[i].pairs);
        CHECK_INT(options_k(&o), want[i].k);
        CHECK_INT(options_knn_eos(&o), want[i].eos);
        CHECK_INT(options_repeat_votes(&o), want[i].repeats);
        CHECK_INT(options_exact(&o), want[i].exact);
        CHECK_NEAR(options_tau(&o, 70), want[i].tau, 0);
        CHECK_NEAR(options_tau(&o, 0), 100, 0);
        CHECK_NEAR(options_prune_steered(&o), want[i].prune, 0);
    }
}

TEST(options_that_are_set_override_every_preset)
{
    static const char *const presets[] = { "sk1", "sk2", "paper-sk1",
                                           "paper-sk2" };
    static const char *const set[][2] = { { "repeat-votes", "4" },
        { "exact", "use" }, { "tau", "30" }, { "prune", "7" } };

    for (size_t i = 0; i < COUNT(presets); i++) {
        struct options o;
        struct err e;

        options_defaults(&o);
        for (size_t k = 0; k < COUNT(set); k++)
            REQUIRE_OK(options_set(&o, set[k][0], set[k][1], &e), &e);
        REQUIRE_OK(options_set(&o, "preset", presets[i], &e), &e);
        CHECK_INT(options_repeat_votes(&o), 4);
        CHECK_INT(options_exact(&o), EXACT_USE);
        CHECK_NEAR(options_tau(&o, 70), 30, 0);
        CHECK_NEAR(options_prune_steered(&o), 7, 0);
        for (int on = 0; on < 2; on++) {
            REQUIRE_OK(options_set(&o, "knn-eos", on ? "1" : "0", &e), &e);
            CHECK_INT(options_knn_eos(&o), on);
        }
        REQUIRE_OK(options_set(&o, "knn-eos", "auto", &e), &e);
        CHECK_INT(options_knn_eos(&o), i < 2);
    }
}

/* The options of retrieval are set like all others, but have a list of their
 * own. */
TEST(retrieval_options_have_a_list_of_their_own)
{
    static const struct { const char *name, *fallback, *other, *bad; } want[] =
    {
        { "matches", "0", "1000", "1001" },
        { "candidates", "64", "10000", "10001" },
        { "rerank", "token", "authors", "tokens" },
        { "length-filter", "0", "1", "2" },
        { "min-similarity", "0", "0.7", "1.1" },
        { "analyzer", "standard", "subword", "" },
    };
    skmt_options *o;
    skmt_option_info info = SKMT_INIT(skmt_option_info), other = info;
    skmt_error e;

    REQUIRE(!skmt_options_new(&o, &e));
    for (int i = 0; i < (int)COUNT(want); i++) {
        REQUIRE(skmt_option_describe(SKMT_OPTIONS_SEARCH, i, &info));
        CHECK_STR(info.name, want[i].name);
        CHECK_STR(info.fallback, want[i].fallback);
        CHECK_STR(skmt_options_get(o, info.name), want[i].fallback);
        CHECK_INT(skmt_options_set(o, info.name, want[i].bad, &e),
                  SKMT_ERR_ARGUMENT);
        CHECK_INT(skmt_options_set(o, info.name, want[i].other, &e), SKMT_OK);
        CHECK_STR(skmt_options_get(o, info.name), want[i].other);
        for (int k = 0;
             skmt_option_describe(SKMT_OPTIONS_TRANSLATE, k, &other); k++)
            CHECK(strcmp(other.name, info.name) != 0);
    }
    CHECK(!skmt_option_describe(SKMT_OPTIONS_SEARCH, (int)COUNT(want), &info));
    CHECK(!skmt_option_describe(SKMT_OPTIONS_SEARCH, -1, &info));
    CHECK(!skmt_option_describe((skmt_option_group)99, 0, &info));
    CHECK(!skmt_option_describe((skmt_option_group)-1, 0, &info));
    skmt_options_free(o);
}

/* The public list of options is the internal one. */
TEST(public_and_internal_options_agree)
{
    skmt_options *o;
    skmt_option_info pub = SKMT_INIT(skmt_option_info);
    struct option_info in;
    skmt_error e;

    REQUIRE(!skmt_options_new(&o, &e));
    for (int group = 0; group <= SKMT_OPTIONS_MODEL; group++) {
        int i = 0;

        for (; option_describe((enum option_group)group, i, &in); i++) {
            CHECK(skmt_option_describe((skmt_option_group)group, i, &pub));
            CHECK_STR(pub.name, in.name);
            CHECK_STR(pub.kind, in.kind);
            CHECK_STR(pub.help, in.help);
            CHECK_STR(pub.fallback, skmt_options_get(o, pub.name));
        }
        CHECK(i > 0);
        CHECK(!skmt_option_describe((skmt_option_group)group, i, &pub));
    }
    CHECK(skmt_option_describe(SKMT_OPTIONS_MODEL, 0, &pub));
    CHECK_STR(pub.name, "device");
    CHECK_INT(skmt_options_set(o, "device", "cpu", &e), SKMT_OK);
    CHECK_INT(skmt_options_set(o, "device", "gpu", &e), SKMT_ERR_ARGUMENT);
    CHECK_STR(e.message, "device: \"gpu\" is not one of cpu");
    CHECK_INT(skmt_options_set(o, "beam", "9", &e), SKMT_OK);
    CHECK_STR(skmt_options_get(o, "beam"), "9");
    CHECK_INT(skmt_options_set(o, "beam", "no", &e), SKMT_ERR_ARGUMENT);
    CHECK_INT(e.status, SKMT_ERR_ARGUMENT);
    CHECK_STR(skmt_options_get(o, "beam"), "9");
    CHECK(skmt_options_get(o, "no-such") == NULL);
    skmt_options_free(o);
    skmt_options_free(NULL);
}

/* Options that learned trust would ignore ask for SK-MT. */
TEST(preset_auto_is_chosen_by_the_other_options)
{
    static const struct { const char *name, *value; bool sk; } cases[] = {
        { "k", "4", false }, { "repeat-votes", "0", false },
        { "tau", "50", true }, { "adapter", "fixed", true },
        { "adapter", "none", true }, { "system", "sk", true },
    };
    struct options o;
    struct err e;

    options_defaults(&o);
    options_choose_preset(&o, false);
    CHECK_INT(o.preset, PRESET_SK2);
    for (size_t i = 0; i < COUNT(cases); i++) {
        options_defaults(&o);
        CHECK_OK(options_set(&o, cases[i].name, cases[i].value, &e), &e);
        options_choose_preset(&o, true);
        CHECK_INT(o.preset, cases[i].sk ? PRESET_SK2 : PRESET_LEARNED);
        CHECK_STR(options_system(&o), cases[i].sk ? "sk" : "learned");
    }
}
