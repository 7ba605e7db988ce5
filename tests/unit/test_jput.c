/* test_jput.c - tests the JSON writer of apps/common: escapes, invalid UTF-8,
 * numbers, and commas in nested values. */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/jput.h"
#include "common/utf8_scan.h"
#include "test.h"

/* Check the text of the buffer, and empty it. */
static void check_text(struct textbuf *t, const char *want)
{
    textbuf_add(t, "", 1);
    REQUIRE(!t->failed);
    CHECK_STR(t->data, want);
    textbuf_reset(t);
}

TEST(jput_escapes_strings)
{
    static const struct { const char *text, *want; } of[] = {
        { "", "\"\"" },
        { "plain", "\"plain\"" },
        { "a \"b\" \\ c/d", "\"a \\\"b\\\" \\\\ c/d\"" },
        { "\n\r\t", "\"\\n\\r\\t\"" },
        { "\x01\x1f\x7f\b\f", "\"\\u0001\\u001f\\u007f\\u0008\\u000c\"" },
        { "Gr\xC3\xB6\xC3\x9F" "e \xE2\x82\xAC \xF0\x9F\x99\x82",
          "\"Gr\xC3\xB6\xC3\x9F" "e \xE2\x82\xAC \xF0\x9F\x99\x82\"" } };
    struct textbuf t = { 0 };

    for (size_t i = 0; i < COUNT(of); i++) {
        jput_text(&t, of[i].text);
        check_text(&t, of[i].want);
    }
    jput_string(&t, "a\0b", 3);
    check_text(&t, "\"a\\u0000b\"");
    textbuf_release(&t);
}

#define BAD "\xEF\xBF\xBD"      /* U+FFFD */

TEST(jput_replaces_invalid_bytes)
{
    static const struct { const char *text, *want; } of[] = {
        { "a\xFF" "b", "\"a" BAD "b\"" },
        { "\xC3", "\"" BAD "\"" },                      /* cut off */
        { "\xE2\x82", "\"" BAD BAD "\"" },
        { "\xC0\xAF", "\"" BAD BAD "\"" },              /* overlong */
        { "\xED\xA0\x80", "\"" BAD BAD BAD "\"" },      /* a surrogate */
        { "\xF4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"" },  /* > U+10FFFF */
        { "\xC3\"", "\"" BAD "\\\"\"" } };
    struct textbuf t = { 0 };

    for (size_t i = 0; i < COUNT(of); i++) {
        jput_text(&t, of[i].text);
        check_text(&t, of[i].want);
        CHECK(utf8_first_bad(of[i].text, strlen(of[i].text))
              < strlen(of[i].text));
    }
    CHECK_INT(utf8_first_bad("a\xC3\xA4\xFF", 4), 3);
    CHECK_INT(utf8_first_bad("a\xC3\xA4", 3), 3);
    CHECK_INT(utf8_first_bad("", 0), 0);
    textbuf_release(&t);
}

TEST(jput_writes_numbers)
{
    static const struct { double v; const char *number, *exact; } of[] = {
        { 0, "0", "0" }, { -0.0, "0", "-0" }, { 1, "1", "1" },
        { -1.5, "-1.5", "-1.5" }, { 0.1, "0.1", "0.1" },
        { 123456789, "1.234568e+08", "123456789" },
        { 1e-9, "1e-09", "1e-09" }, { 2.0 / 3, "0.6666667", "0.666666666667" },
        { NAN, "null", "null" }, { INFINITY, "null", "null" },
        { -INFINITY, "null", "null" } };
    struct textbuf t = { 0 };

    for (size_t i = 0; i < COUNT(of); i++) {
        jput_number(&t, of[i].v);
        check_text(&t, of[i].number);
        jput_exact(&t, of[i].v);
        check_text(&t, of[i].exact);
    }
    jput_array(&t);
    jput_int(&t, INT64_MIN);
    jput_int(&t, INT64_MAX);
    jput_fixed(&t, 1.25, 1);
    jput_fixed(&t, 2, 3);
    jput_fixed(&t, NAN, 3);
    jput_hex(&t, 0xAB);
    jput_array_end(&t);
    check_text(&t, "[-9223372036854775808,9223372036854775807,1.2,2.000,null,"
               "\"00000000000000ab\"]");
    textbuf_release(&t);
}

TEST(jput_writes_times)
{
    struct textbuf t = { 0 };

    jput_time(&t, 0);
    check_text(&t, "\"1970-01-01T00:00:00Z\"");
    jput_time(&t, 1717156800);
    check_text(&t, "\"2024-05-31T12:00:00Z\"");
    textbuf_release(&t);
}

/* Every kind of value after every other, in an array and in an object. */
static void put_any(struct textbuf *t, int kind)
{
    switch (kind) {
    case 0: jput_text(t, "a,"); break;
    case 1: jput_int(t, 7); break;
    case 2: jput_number(t, 1e30); break;
    case 3: jput_bool(t, true); break;
    case 4: jput_bool(t, false); break;
    case 5: jput_null(t); break;
    case 6: jput_raw(t, "{\"x\":[]}", 8); break;
    case 7: jput_object(t); jput_object_end(t); break;
    case 8: jput_array(t); jput_array_end(t); break;
    case 9: jput_array(t); jput_text(t, ""); jput_array_end(t); break;
    }
}
enum { KINDS = 10 };

static void check_parses(struct textbuf *t, size_t members)
{
    json_t *all;

    REQUIRE(!t->failed);
    all = json_loadb(t->data, t->len, JSON_REJECT_DUPLICATES, NULL);
    CHECK(all);
    CHECK_INT(json_is_array(all) ? json_array_size(all)
                                 : json_object_size(all), members);
    json_decref(all);
    textbuf_reset(t);
}

TEST(jput_separates_values)
{
    struct textbuf t = { 0 };

    for (int a = 0; a < KINDS; a++)
        for (int b = 0; b < KINDS; b++) {
            jput_array(&t);
            put_any(&t, a);
            put_any(&t, b);
            put_any(&t, a);
            jput_array_end(&t);
            check_parses(&t, 3);
            jput_object(&t);
            jput_key(&t, "a");
            put_any(&t, a);
            jput_key(&t, "b\"[");
            put_any(&t, b);
            jput_object_end(&t);
            check_parses(&t, 2);
        }
    textbuf_release(&t);
}

TEST(jput_nests)
{
    struct textbuf t = { 0 };

    jput_object(&t);
    jput_text_field(&t, "name", "x");
    jput_int_field(&t, "n", -3);
    jput_number_field(&t, "score", 0.5);
    jput_bool_field(&t, "ok", true);
    jput_key(&t, "rows");
    jput_array(&t);
    for (int i = 0; i < 2; i++) {
        jput_object(&t);
        jput_key(&t, "at");
        jput_array(&t);
        jput_int(&t, i);
        jput_int(&t, i + 1);
        jput_array_end(&t);
        jput_object_end(&t);
    }
    jput_array_end(&t);
    jput_line_end(&t);
    jput_object(&t);            /* the next line begins without a comma */
    jput_line_end(&t);
    check_text(&t, "{\"name\":\"x\",\"n\":-3,\"score\":0.5,\"ok\":true,"
               "\"rows\":[{\"at\":[0,1]},{\"at\":[1,2]}]}\n{}\n");

    for (int i = 0; i < 500; i++) jput_array(&t);
    for (int i = 0; i < 500; i++) jput_array_end(&t);
    check_parses(&t, 1);
    textbuf_release(&t);
}
