/* test_json_config.c - typed values of JSON files: defaults, ranges, lists, and
 * messages that name the file and the key. */
#include "convert/json_config.h"
#include "scratch_dir.h"
#include "test.h"

static struct scratch dir;
static struct file_set *files;

static enum status open_text(struct json_config **c, const char *text,
                             struct err *e)
{
    *c = NULL;
    if (!scratch_make(&dir) || !scratch_write(&dir, "config.json", text) ||
        !CHECK_OK(file_set_open(&files, dir.dir, e), e))
        return ST_IO;
    return json_config_open(c, files, "config.json", e);
}

static void close_text(struct json_config *c)
{
    json_config_close(c);
    file_set_close(files);
    scratch_remove(&dir);
}

TEST(values_have_defaults_and_ranges)
{
    static const char *const words[] = { "relu", "gelu", NULL };
    struct json_config *c;
    struct err e;

    REQUIRE_OK(open_text(&c, "{\"n\":7,\"x\":0.5,\"yes\":true,\"s\":\"ab\","
                         "\"null\":null,\"act\":\"gelu\",\"e\":2e1}", &e), &e);
    CHECK_INT(json_config_int(c, "n", 1, 0, 10), 7);
    CHECK_INT(json_config_int(c, "e", 1, 0, 20), 20);
    CHECK_INT(json_config_int(c, "absent", 3, 0, 10), 3);
    CHECK_INT(json_config_int(c, "null", 4, 0, 10), 4);
    CHECK(json_config_number(c, "x", 1, 0, 1) == 0.5);
    CHECK(json_config_number(c, "absent", 0.25, 0, 1) == 0.25);
    CHECK(json_config_bool(c, "yes", false));
    CHECK(json_config_bool(c, "absent", true));
    CHECK_STR(json_config_string(c, "s", "z"), "ab");
    CHECK_STR(json_config_string(c, "null", "z"), "z");
    CHECK_INT(json_config_word(c, "act", words, 0), 1);
    CHECK_INT(json_config_word(c, "absent", words, -1), -1);
    CHECK(json_config_has(c, "n") && !json_config_has(c, "null"));
    CHECK_OK(json_config_check(c, &e), &e);
    close_text(c);
}

TEST(lists_have_elements)
{
    struct json_config *c;
    struct err e;

    REQUIRE_OK(open_text(&c, "{\"l\":[1,2],\"one\":5,\"s\":[\"a\"],"
                         "\"ll\":[[3],[4,5],6]}", &e), &e);
    CHECK_INT(json_config_length(c, "l"), 2);
    CHECK_INT(json_config_int_at(c, "l", 1, 0, 9), 2);
    CHECK_INT(json_config_length(c, "one"), 1);
    CHECK_INT(json_config_int_at(c, "one", 0, 0, 9), 5);
    CHECK_INT(json_config_length(c, "absent"), 0);
    CHECK_STR(json_config_string_at(c, "s", 0), "a");
    CHECK_INT(json_config_only_int_at(c, "ll", 0, 0, 9), 3);
    CHECK_INT(json_config_only_int_at(c, "ll", 1, 0, 9), -1);
    CHECK_INT(json_config_only_int_at(c, "ll", 2, 0, 9), 6);
    CHECK_OK(json_config_check(c, &e), &e);
    close_text(c);
}

/* ---- what is refused ---- */

enum asked { INT, NUMBER, BOOL, STRING, WORD, LIST, LISTS, REFUSE, MUST };

static void ask(struct json_config *c, enum asked what)
{
    static const char *const words[] = { "a", "b", NULL };

    switch (what) {
    case INT: CHECK_INT(json_config_int(c, "k", 2, 1, 5), 2); break;
    case NUMBER: CHECK(json_config_number(c, "k", 1, 0, 2) == 1); break;
    case BOOL: CHECK(json_config_bool(c, "k", true)); break;
    case STRING: CHECK_STR(json_config_string(c, "k", "z"), "z"); break;
    case WORD: CHECK_INT(json_config_word(c, "k", words, 1), 1); break;
    case LIST:
        if (json_config_length(c, "k")) json_config_int_at(c, "k", 0, 1, 5);
        break;
    case LISTS: json_config_only_int_at(c, "k", 0, 1, 5); break;
    case REFUSE: json_config_refuse(c, "k"); break;
    case MUST: json_config_must_be(c, "k", true); break;
    }
}

TEST(wrong_values_name_file_and_key)
{
    static const struct { const char *value; enum asked what;
                          const char *says; } bad[] = {
        { "6", INT, "should be a whole number from 1 to 5" },
        { "1.5", INT, "should be a whole number" },
        { "\"1\"", INT, "should be a whole number" },
        { "1e400", INT, NULL },
        { "-1", NUMBER, "should be a number from 0 to 2" },
        { "1", BOOL, "should be true or false" },
        { "\"a\\u0000b\"", STRING, NULL },
        { "\"a\\nb\"", STRING, "without control characters" },
        { "3", STRING, "should be a string" },
        { "\"c\"", WORD, "is \"c\"; only \"a\" or \"b\" can be converted" },
        { "{}", LIST, "should be a list" },
        { "[9]", LIST, "element 0 is not" },
        { "[[9]]", LISTS, "element 0 is not" },
        { "[[]]", LISTS, "element 0 is not" },
        { "true", REFUSE, "is set" },
        { "\"x\"", REFUSE, "is set" },
        { "{\"a\":1}", REFUSE, "is set" },
        { "false", MUST, "should be true" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct json_config *c;
        char text[100];
        struct err e;

        snprintf(text, sizeof text, "{\"k\":%s}", bad[i].value);
        if (open_text(&c, text, &e)) {
            CHECK(!bad[i].says && strstr(e.msg, "config.json"));
        } else {
            ask(c, bad[i].what);
            CHECK_INT(json_config_check(c, &e), ST_FORMAT);
            if (!strstr(e.msg, "config.json: \"k\" ") ||
                (bad[i].says && !strstr(e.msg, bad[i].says)))
                test_fail(__FILE__, __LINE__, "%s: %s", bad[i].value, e.msg);
        }
        close_text(c);
    }
}

TEST(keys_that_are_off_are_not_refused)
{
    static const char *const off[] = { "false", "0", "\"\"", "[]", "{}",
                                       "null" };
    struct json_config *c;
    struct err e;

    for (size_t i = 0; i < COUNT(off); i++) {
        char text[40];

        snprintf(text, sizeof text, "{\"k\":%s}", off[i]);
        REQUIRE_OK(open_text(&c, text, &e), &e);
        json_config_refuse(c, "k");
        CHECK_OK(json_config_check(c, &e), &e);
        close_text(c);
    }
}

TEST(only_the_first_failure_is_kept)
{
    struct json_config *c;
    struct err e;

    REQUIRE_OK(open_text(&c, "{\"a\":true}", &e), &e);
    json_config_int(c, "b", JSON_REQUIRED, 1, 5);
    json_config_int(c, "a", 1, 1, 5);
    CHECK_INT(json_config_check(c, &e), ST_FORMAT);
    CHECK(strstr(e.msg, "\"b\" is missing"));
    close_text(c);
}

TEST(files_must_be_objects)
{
    static const char *const bad[] = { "", "[1]", "{\"a\":1,\"a\":2}", "{",
                                       "3", "{} x" };
    struct json_config *c;
    struct err e;

    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT(open_text(&c, bad[i], &e), ST_FORMAT);
        CHECK(!c && strstr(e.msg, "config.json"));
        close_text(c);
    }
}
