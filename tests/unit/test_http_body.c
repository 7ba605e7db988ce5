/* test_http_body.c - JSON, forms and multipart bodies become arguments. */
#include "server/body.h"
#include "test.h"

static char why[BODY_WHY];

/* ---- media types -------------------------------------------------------- */

TEST(http_body_kinds)
{
    static const struct { const char *type; enum body_kind kind; } types[] = {
        { "application/json", BODY_JSON },
        { " APPLICATION/JSON ; charset=UTF-8", BODY_JSON },
        { "application/json;charset=\"utf-8\"", BODY_JSON },
        { "application/ld+json", BODY_JSON },
        { "application/json; charset=latin1", BODY_OTHER },
        { "application/x-www-form-urlencoded;charset=utf-8", BODY_FORM },
        { "multipart/form-data; boundary=x", BODY_MULTIPART },
        { "multipart/mixed; boundary=x", BODY_OTHER },
        { "text/plain", BODY_OTHER }, { "application/jsonx", BODY_OTHER },
    };

    for (size_t i = 0; i < COUNT(types); i++)
        CHECK_INT(body_kind(types[i].type, "x", 1), types[i].kind);
    CHECK_INT(body_kind("application/json", "", 0), BODY_EMPTY);
    CHECK_INT(body_kind(NULL, " \n{}", 4), BODY_JSON);
    CHECK_INT(body_kind(NULL, "q=[a]", 5), BODY_FORM);
}

TEST(http_body_parameters)
{
    char out[16];

    CHECK(body_parameter("form-data; name=a; x=b", "x", out, sizeof out));
    CHECK_STR(out, "b");
    CHECK(body_parameter("a; NAME = \"x; y=\\\"z\" ;b=c", "name", out, 16));
    CHECK_STR(out, "x; y=\"z");
    CHECK(body_parameter("a; n=\"C:\\dir\"", "n", out, sizeof out));
    CHECK_STR(out, "C:\\dir");
    CHECK(body_parameter("a;n=\"\"", "n", out, sizeof out));
    CHECK_STR(out, "");
    CHECK(!body_parameter("a; xn=1", "n", out, sizeof out));
    CHECK(!body_parameter("a; n", "n", out, sizeof out));
    CHECK(!body_parameter("a; n=\"open", "n", out, sizeof out));
    CHECK(!body_parameter("a; n=0123456789abcdef", "n", out, sizeof out));
    CHECK_STR(out, "");
    /* The name in the text of another parameter does not count. */
    CHECK(!body_parameter("a; b=\"; n=1\"", "n", out, sizeof out));
}

/* ---- JSON --------------------------------------------------------------- */

static bool json_ok(const char *text)
{
    json_t *json = body_json(text, strlen(text), why);
    bool ok = json != NULL;

    json_decref(json);
    return ok;
}

TEST(http_body_json)
{
    char deep[2 * (BODY_DEPTH + 1) + 1];

    CHECK(json_ok("{\"q\":[\"a\",1,true,null]}"));
    CHECK(json_ok("[]") && json_ok("1") && json_ok("\"a\""));
    CHECK(json_ok("\xef\xbb\xbf{}"));
    CHECK(json_ok("\"\\ud83d\\ude00 [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\""));
    CHECK(!json_ok("") && !json_ok("{") && !json_ok("{}x"));
    CHECK(!json_ok("\"\\ud800\"") && !json_ok("\"\\udc00a\""));
    CHECK(!json_ok("\"\\u0000\""));
    CHECK(!json_ok("\"\xff\"") && !json_ok("\"\xed\xa0\x80\""));
    CHECK(!json_ok("1e999"));
    /* The message does not quote the text. */
    CHECK(!json_ok("{\"secret\" secret}") && !strstr(why, "secret"));

    memset(deep, '[', BODY_DEPTH + 1);
    memset(deep + BODY_DEPTH + 1, ']', BODY_DEPTH + 1);
    deep[2 * (BODY_DEPTH + 1)] = 0;
    CHECK(!json_ok(deep));
    deep[2 * BODY_DEPTH + 1] = 0;
    CHECK(json_ok(deep + 1));
}

/* Whether JSON of n times one value in an array is accepted. */
static bool many_ok(const char *value, int n)
{
    size_t length = strlen(value);
    char *text = malloc((size_t)n * (length + 1) + 2), *at = text;
    bool ok;

    *at++ = '[';
    for (int i = 0; i < n; i++) {
        if (i) *at++ = ',';
        memcpy(at, value, length);
        at += length;
    }
    *at++ = ']';
    *at = 0;
    ok = json_ok(text);
    free(text);
    return ok;
}

TEST(http_body_json_that_needs_much_memory)
{
    CHECK(many_ok("{}", 1000) && many_ok("1", 10000));
    CHECK(!many_ok("{}", 100000) && !many_ok("[]", 100000));
    CHECK(!many_ok("1", 100000) && !many_ok("\"\"", 100000));
    CHECK(many_ok("\",,,{{{[[[\"", 100000));
    CHECK(many_ok("{\"source\":\"Haus\",\"target\":\"house\"}", 100000));
}

TEST(http_body_json_with_nul_byte)
{
    json_t *json = body_json("\"a\0b\"", 5, why);

    CHECK(!json);
    json_decref(json);
}

/* ---- forms -------------------------------------------------------------- */

/* A form as JSON, or "bad". */
static const char *form(const char *text)
{
    static char *last;
    json_t *o = json_object();

    free(last);
    last = NULL;
    if (body_form(o, text, strlen(text), why))
        last = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(o);
    return last ? last : "bad";
}

TEST(http_body_forms)
{
    CHECK_STR(form(""), "{}");
    CHECK_STR(form("a=1&b=x+y%20z&c&d="),
              "{\"a\":\"1\",\"b\":\"x y z\",\"c\":\"\",\"d\":\"\"}");
    CHECK_STR(form("t=a&t=b&t=c"), "{\"t\":[\"a\",\"b\",\"c\"]}");
    CHECK_STR(form("t[]=a"), "{\"t\":[\"a\"]}");
    CHECK_STR(form("t[]=a&t[]=b&t=c"), "{\"t\":[\"a\",\"b\",\"c\"]}");
    CHECK_STR(form("d%5B0%5D.entries=a%09b"), "{\"d[0].entries\":\"a\\tb\"}");
    CHECK_STR(form("&&a=1&&"), "{\"a\":\"1\"}");
    CHECK_STR(form("a=b=c"), "{\"a\":\"b=c\"}");
    CHECK_STR(form("q=%C3%A4\xc3\xa4"), "{\"q\":\"\xc3\xa4\xc3\xa4\"}");
    CHECK_STR(form("=a"), "{\"\":\"a\"}");
    CHECK_STR(form("a=%"), "bad");
    CHECK_STR(form("a=%4"), "bad");
    CHECK_STR(form("a=%4x"), "bad");
    CHECK_STR(form("a=%00"), "bad");
    CHECK_STR(form("a=%ff"), "bad");
    CHECK_STR(form("%ff=a"), "bad");
    CHECK_STR(form("a=\xed\xa0\x80"), "bad");
}

TEST(http_body_too_many_fields)
{
    char *text = malloc(2 * (BODY_FIELDS + 1) + 1);

    REQUIRE(text != NULL);
    for (int i = 0; i <= BODY_FIELDS; i++) memcpy(text + 2 * i, "a&", 2);
    text[2 * (BODY_FIELDS + 1)] = 0;
    CHECK_STR(form(text), "bad");
    text[2 * BODY_FIELDS] = 0;
    CHECK(strcmp(form(text), "bad") != 0);
    free(text);
}

/* ---- multipart ---------------------------------------------------------- */

static struct body_part parts[BODY_PARTS];

static int multipart(const char *text)
{
    return body_multipart(text, strlen(text), "B", parts, why);
}

#define NAMED(name) "Content-Disposition: form-data; name=\"" name "\"\r\n"

TEST(http_body_multipart)
{
    CHECK_INT(multipart("preamble\r\n--B\r\n" NAMED("a") "\r\none\r\ntwo\r\n"
                        "--B \r\ncontent-disposition:form-data;name=b\r\n"
                        "\r\n\r\n--B--\r\nepilogue"), 2);
    CHECK_STR(parts[0].name, "a");
    CHECK_INT(parts[0].n, 8);
    CHECK_MEM(parts[0].at, "one\r\ntwo", 8);
    CHECK(!parts[0].is_file);
    CHECK_STR(parts[1].name, "b");
    CHECK_INT(parts[1].n, 0);
    CHECK_INT(multipart("--B--"), 0);
    /* The marker of a longer boundary is text. */
    CHECK_INT(multipart("--B\r\n" NAMED("a") "\r\n\r\n-B--x\r\n--B--"), 1);
    CHECK_INT(parts[0].n, 7);
    /* Nothing between the headers and the next boundary. */
    CHECK_INT(multipart("--B\r\n" NAMED("a") "\r\n--B--"), 1);
    CHECK_INT(parts[0].n, 0);
}

TEST(http_body_multipart_files)
{
    CHECK_INT(multipart("--B\r\nContent-Type: Text/XML; x=y\r\n"
                        "Content-Disposition: form-data; name=f; "
                        "filename=\"C:\\tmp\\a.tmx\"\r\n\r\n<x>\r\n--B--"), 1);
    CHECK(parts[0].is_file);
    CHECK_STR(parts[0].file, "a.tmx");
    CHECK_STR(parts[0].type, "text/xml");
    CHECK_INT(multipart("--B\r\nContent-Disposition: form-data; name=f; "
                        "filename=\"x\"; filename*=UTF-8''../%C3%A4.po\r\n\r\n"
                        "\r\n--B--"), 1);
    CHECK_STR(parts[0].file, "\xc3\xa4.po");
    CHECK_INT(multipart("--B\r\nContent-Disposition: form-data; name=f; "
                        "filename=\"\"\r\n\r\n\r\n--B--"), 1);
    CHECK(parts[0].is_file);
    CHECK_STR(parts[0].file, "");
    CHECK_INT(multipart("--B\r\nContent-Disposition: form-data; name=f; "
                        "filename=\"..\"\r\n\r\n\r\n--B--"), 1);
    CHECK_STR(parts[0].file, "");
}

TEST(http_body_multipart_damaged)
{
    static const char *const texts[] = {
        "", "a", "--B", "--B\r\n", "--B-", "--C--",
        "--B\r\n" NAMED("a") "\r\ntext", "--B\r\n" NAMED("a"),
        "--B\r\n\r\ntext\r\n--B--", "--B\r\nno colon\r\n\r\n\r\n--B--",
        "--B\r\nContent-Disposition: form-data\r\n\r\n\r\n--B--",
        "--B\r\nContent-Disposition: attachment; name=a\r\n\r\n\r\n--B--",
        "--B\r\n" NAMED("\xff") "\r\n\r\n--B--",
        "--B\r\n" NAMED("a") "Content-Transfer-Encoding: base64\r\n\r\n\r\n"
        "--B--",
        "--B\r\n" NAMED("a") "\r\nx\r\n--Bx\r\n",
    };
    char many[8192] = "";

    for (size_t i = 0; i < COUNT(texts); i++) {
        why[0] = 0;
        CHECK_INT(multipart(texts[i]), -1);
        CHECK(why[0]);
    }
    for (int i = 0; i <= BODY_PARTS; i++)
        strcat(many, "--B\r\n" NAMED("a") "\r\nx\r\n");
    strcat(many, "--B--");
    CHECK_INT(multipart(many), -1);
    CHECK_INT(body_multipart("--", 2, "", parts, why), -1);
}

TEST(http_body_quoted_boundary)
{
    const char *type = "multipart/form-data; boundary=\"x y\"";
    const char *text = "--x y\r\n" NAMED("a") "\r\nb\r\n--x y--";
    char boundary[80];

    REQUIRE(body_parameter(type, "boundary", boundary, sizeof boundary));
    CHECK_INT(body_multipart(text, strlen(text), boundary, parts, why), 1);
    CHECK_INT(parts[0].n, 1);
}
