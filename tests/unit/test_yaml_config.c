/* test_yaml_config.c - reads settings in YAML, and refuses what is not one
 * mapping of keys to values and lists. */
#include "test.h"

#include "convert/yaml_config.h"
#include "scratch_dir.h"

static struct json_config *read_yaml(const char *text)
{
    struct json_config *c;
    struct err e;

    CHECK_OK(yaml_config_parse(&c, text, strlen(text), "y", &e), &e);
    return c;
}

static void expect_yaml_error(const char *text, const char *want)
{
    struct json_config *c;
    struct err e;

    CHECK_INT(yaml_config_parse(&c, text, strlen(text), "y", &e), ST_FORMAT);
    CHECK(c == NULL);
    if (!strstr(e.msg, want))
        test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", e.msg, want);
}

TEST(values_of_all_types)
{
    struct json_config *c = read_yaml(
        "# settings\n---\ntype: transformer\ndim-emb: 512\nratio: 1e-09\n"
        "minus: -3\nyes-key: true\nno-key: False\npre: n\nquoted: \"4\"\n"
        "single: 'it''s'\nempty: \"\"\nnothing:\ntilde: ~\nnull-key: null\n"
        "tagged: !!str 4\nalso-tagged: ! \"4\"\n"
        "huge: 1e999\nversion: v1.9.0 2020-01-01\nhex: 0x10\n...\n");
    struct err e;

    REQUIRE(c);
    CHECK_STR(json_config_string(c, "type", ""), "transformer");
    CHECK_INT(json_config_int(c, "dim-emb", 0, 0, 1000), 512);
    CHECK_NEAR(json_config_number(c, "ratio", 0, 0, 1), 1e-9, 1e-20);
    CHECK_INT(json_config_int(c, "minus", 0, -5, 5), -3);
    CHECK(json_config_bool(c, "yes-key", false));
    CHECK(!json_config_bool(c, "no-key", true));
    CHECK_STR(json_config_string(c, "pre", ""), "n");
    CHECK_STR(json_config_string(c, "quoted", ""), "4");
    CHECK_STR(json_config_string(c, "single", ""), "it's");
    CHECK_STR(json_config_string(c, "tagged", ""), "4");
    CHECK_STR(json_config_string(c, "also-tagged", ""), "4");
    CHECK_STR(json_config_string(c, "empty", "x"), "");
    CHECK(!json_config_has(c, "nothing") && !json_config_has(c, "tilde") &&
          !json_config_has(c, "null-key"));
    CHECK_STR(json_config_string(c, "huge", ""), "1e999");
    CHECK_STR(json_config_string(c, "version", ""), "v1.9.0 2020-01-01");
    CHECK_STR(json_config_string(c, "hex", ""), "0x10");
    CHECK_OK(json_config_check(c, &e), &e);
    json_config_close(c);
}

TEST(lists_of_values)
{
    struct json_config *c = read_yaml(
        "models:\n  - a.npz\nvocabs: [\"a.yml\", b.yml]\nsizes:\n- 3\n- 4\n"
        "none:\n  []\n");
    struct err e;

    REQUIRE(c);
    CHECK_INT(json_config_length(c, "models"), 1);
    CHECK_STR(json_config_string_at(c, "models", 0), "a.npz");
    CHECK_INT(json_config_length(c, "vocabs"), 2);
    CHECK_STR(json_config_string_at(c, "vocabs", 1), "b.yml");
    CHECK_INT(json_config_int_at(c, "sizes", 1, 0, 9), 4);
    CHECK_INT(json_config_length(c, "none"), 0);
    CHECK(json_config_has(c, "none"));
    json_config_refuse(c, "none");
    CHECK_OK(json_config_check(c, &e), &e);
    json_config_close(c);
}

/* Deeper values are kept, but are good for nothing. */
TEST(nested_values)
{
    static const char *const keys[] = { "map", "list" };
    const char *text = "map: {a: {b: [c, {d: e}]}}\nlist: [[1, 2], 3]\n"
                       "after: 5\n";

    for (size_t i = 0; i < COUNT(keys); i++) {
        struct json_config *c = read_yaml(text);
        struct err e;

        REQUIRE(c);
        CHECK_INT(json_config_int(c, "after", 0, 0, 9), 5);
        CHECK_OK(json_config_check(c, &e), &e);
        if (i) json_config_int_at(c, "list", 0, 0, 9);
        else json_config_refuse(c, "map");
        CHECK_INT(json_config_check(c, &e), ST_FORMAT);
        CHECK(strstr(e.msg, keys[i]) != NULL);
        json_config_close(c);
    }
}

TEST(other_yaml)
{
    expect_yaml_error("", "y:1: a mapping of settings is expected");
    expect_yaml_error("- a\n", "y:1: a mapping of settings is expected");
    expect_yaml_error("a: 1\n---\nb: 2\n", "a second document");
    expect_yaml_error("a: 1\nb: 2\na: 3\n", "y:3: a key occurs twice");
    expect_yaml_error("a: &x 1\nb: *x\n", "y:1: an anchor");
    expect_yaml_error("a: [1, &x [2]]\n", "y:1: an anchor");
    expect_yaml_error("a: {b: &x {}}\n", "y:1: an anchor");
    expect_yaml_error("a: *x\n", "y:1: an alias");
    expect_yaml_error("a: !!python/object x\n", "y:1: a tag");
    expect_yaml_error("a: !!int 3\n", "y:1: a tag");
    expect_yaml_error("a: !!str [3]\n", "y:1: a tag");
    expect_yaml_error("? [a]\n: 1\n", "y:1: a key is expected");
    expect_yaml_error("a: 1\n}", "not valid YAML");
    expect_yaml_error("a: \x01\n", "not valid YAML");
    expect_yaml_error("a: \xff\n", "not valid YAML");
    expect_yaml_error("\"a\\0b\": 1\n", "a key contains NUL");
    expect_yaml_error("a: [1,\n", "not valid YAML");
}

TEST(deep_nesting_fails)
{
    enum { DEPTH = 5000 };
    static char text[DEPTH + 4] = "a: ";

    memset(text + 3, '[', DEPTH);
    expect_yaml_error(text, "not valid YAML");
}

TEST(files_of_a_set)
{
    struct scratch s;
    struct file_set *set = NULL;
    struct json_config *c;
    struct err e;

    REQUIRE(scratch_make(&s));
    scratch_write(&s, "decoder.yml", "beam-size: 6\n");
    scratch_write(&s, "bad.yml", "beam-size: [6\n");
    CHECK_OK(file_set_open(&set, s.dir, &e), &e);
    if (set) {
        CHECK_OK(yaml_config_open(&c, set, "decoder.yml", &e), &e);
        CHECK_INT(json_config_int(c, "beam-size", 0, 1, 9), 6);
        json_config_close(c);
        CHECK_INT(yaml_config_open(&c, set, "bad.yml", &e), ST_FORMAT);
        CHECK(strstr(e.msg, "/bad.yml:2: ") != NULL);
        CHECK_INT(yaml_config_open(&c, set, "none.yml", &e), ST_FORMAT);
        CHECK(c == NULL);
    }
    file_set_close(set);
    scratch_remove(&s);
}
