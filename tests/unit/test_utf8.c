/* test_utf8.c - tests that decode, validate and repair UTF-8. */
#include "test.h"

#include "text/utf8.h"

TEST(utf8_round_trips_every_character)
{
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        char s[4];
        int len, n;

        if (cp >= 0xD800 && cp <= 0xDFFF) continue;
        n = utf8_put(s, cp);
        REQUIRE(utf8_next(s, (size_t)n, &len) == cp && len == n);
        REQUIRE(utf8_check(s, (size_t)n) == (size_t)n);
        /* A truncated sequence is invalid, and one byte is consumed. */
        if (n > 1) {
            REQUIRE(utf8_next(s, (size_t)n - 1, &len) == 0xFFFD && len == 1);
            REQUIRE(utf8_check(s, (size_t)n - 1) == 0);
        }
    }
}

TEST(utf8_refuses_bad_forms)
{
    static const char *const bad[] = {
        "\x80", "\xBF", "\xC0\x80", "\xC1\xBF", /* continuation, overlong */
        "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",
        "\xED\xA0\x80", "\xED\xBF\xBF",                 /* surrogates */
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",         /* over 0x10FFFF */
        "\xF8\x88\x80\x80\x80", "\xFE", "\xFF", "\xC3(", "\xE2\x82(",
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        int len;

        CHECK_INT(utf8_next(bad[i], strlen(bad[i]), &len), 0xFFFD);
        CHECK_INT(len, 1);
        CHECK_INT(utf8_check(bad[i], strlen(bad[i])), 0);
    }
}

TEST(utf8_check_says_where)
{
    CHECK_INT(utf8_check("", 0), 0);
    CHECK_INT(utf8_check("a\xC3\xA4z", 4), 4);
    CHECK_INT(utf8_check("a\xC3\xA4\xFFz", 5), 3);
    CHECK_INT(utf8_check("\xEF\xBF\xBD", 3), 3);
}

/* ASCII is skipped in blocks; an invalid byte may be anywhere in a block. */
TEST(utf8_check_sees_every_byte_of_a_block)
{
    char s[70];

    for (size_t n = 0; n < sizeof s; n++)
        for (size_t at = 0; at < n; at++) {
            memset(s, 'a', sizeof s);
            s[at] = '\x80';
            REQUIRE(utf8_check(s, n) == at);
            REQUIRE(utf8_check(s, at) == at);
            s[at] = '\xC3';
            REQUIRE(utf8_check(s, n) == at);
            if (at + 1 == n) continue;
            s[at + 1] = '\xA4';
            REQUIRE(utf8_check(s, n) == n);
        }
}

TEST(utf8_repair_replaces_each_byte)
{
    struct strbuf sb;

    strbuf_init(&sb, 0);
    CHECK(utf8_repair(&sb, "a\xFF\xE2\x82z\xC3\xA4", 7));
    CHECK_STR(sb.data, "a\uFFFD\uFFFD\uFFFDzä");
    strbuf_release(&sb);
    strbuf_init(&sb, 5);
    CHECK(strbuf_adds(&sb, "ab"));
    CHECK(!utf8_repair(&sb, "x\xFF", 2));
    CHECK_STR(sb.data, "ab");
    strbuf_release(&sb);
}
