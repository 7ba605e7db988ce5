/* test_offsets.c - offsets in UTF-16 code units, bytes and characters. */
#include <string.h>

#include "server/offsets.h"
#include "test.h"

/* a, a-umlaut, euro sign, an emoji of four bytes, z */
static const char text[] = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z";

static size_t of_byte(enum offset_unit unit, size_t byte)
{
    struct offsets o;

    offsets_init(&o, text, unit);
    return offsets_of_byte(&o, byte);
}

TEST(names_of_units)
{
    enum offset_unit u;

    CHECK(offset_unit_of(NULL, &u) && u == OFFSETS_UTF16);
    CHECK(offset_unit_of("utf8", &u) && u == OFFSETS_UTF8);
    CHECK(offset_unit_of("codepoints", &u) && u == OFFSETS_CODEPOINTS);
    CHECK(!offset_unit_of("UTF-8", &u));
    CHECK(!offset_unit_of("", &u));
}

TEST(an_emoji_is_two_units_of_utf16)
{
    const size_t bytes[] = { 0, 1, 3, 6, 10, 11 };

    for (size_t i = 0; i < 6; i++) {
        CHECK_INT(of_byte(OFFSETS_UTF16, bytes[i]), i < 4 ? i : i + 1);
        CHECK_INT(of_byte(OFFSETS_CODEPOINTS, bytes[i]), i);
        CHECK_INT(of_byte(OFFSETS_UTF8, bytes[i]), bytes[i]);
    }
    CHECK_INT(of_byte(OFFSETS_UTF16, 100), 6);
    CHECK_INT(of_byte(OFFSETS_UTF16, 8), 3);     /* inside the emoji */
}

TEST(questions_in_any_order_have_the_same_answers)
{
    struct offsets o;

    offsets_init(&o, text, OFFSETS_UTF16);
    for (int i = 0; i < 200; i++) {
        size_t byte = (size_t)(i * 7) % sizeof text;

        CHECK_INT(offsets_of_byte(&o, byte), of_byte(OFFSETS_UTF16, byte));
    }
}

TEST(back_to_bytes)
{
    for (int unit = 0; unit < 3; unit++) {
        struct offsets o;
        size_t byte;

        offsets_init(&o, text, (enum offset_unit)unit);
        for (size_t at = 0; at < sizeof text; at++) {
            size_t n = offsets_of_byte(&o, at);

            if (at < sizeof text - 1 && ((unsigned char)text[at] >> 6) == 2)
                continue;
            CHECK(offsets_to_byte(&o, n, &byte));
            CHECK_INT(byte, at);
        }
    }
}

TEST(no_offset_inside_a_character_or_behind_the_end)
{
    struct offsets o;
    size_t byte;

    offsets_init(&o, text, OFFSETS_UTF16);
    CHECK(!offsets_to_byte(&o, 4, &byte));
    CHECK(!offsets_to_byte(&o, 7, &byte));
    offsets_init(&o, text, OFFSETS_UTF8);
    CHECK(!offsets_to_byte(&o, 2, &byte));
    CHECK(!offsets_to_byte(&o, 12, &byte));
    offsets_init(&o, text, OFFSETS_CODEPOINTS);
    CHECK(!offsets_to_byte(&o, 6, &byte));
}
