/* test_text_list.c - tests the XML of texts that clients of ModernMT's and
 * DeepL's APIs send: entities, elements without content, tags. */
#include "server/text_list.h"

#include "test.h"

/* What is translated of a text; "tag" if it has a tag, "-" if it fails. */
static const char *plain_of(const char *text, enum text_form form)
{
    static char out[256];
    json_t *v = json_string(text);
    struct text_list t;
    int tag;

    snprintf(out, sizeof out, "-");
    if (CHECK(text_list_take(&t, v) == 1) &&
        CHECK(text_list_decode(&t, form, &tag)))
        snprintf(out, sizeof out, "%s", tag >= 0 ? "tag" : t.texts[0]);
    text_list_release(&t);
    json_decref(v);
    return out;
}

/* What the client gets if this is the translation. */
static const char *answer_of(const char *text, enum text_form form,
                             const char *translation)
{
    static char out[256];
    json_t *v = json_string(text), *s = NULL;
    struct text_list t;
    int tag;

    if (CHECK(text_list_take(&t, v) == 1) &&
        CHECK(text_list_decode(&t, form, &tag)) && CHECK(tag < 0))
        s = text_list_answer(&t, 0, translation);
    snprintf(out, sizeof out, "%s", s ? json_string_value(s) : "-");
    json_decref(s);
    text_list_release(&t);
    json_decref(v);
    return out;
}

TEST(entities_are_decoded)
{
    CHECK_STR(plain_of("a &amp; b &lt;c&gt; &#228;&#xE4;", TEXT_XML),
              "a & b <c> \u00e4\u00e4");
    CHECK_STR(plain_of("a &amp; b", TEXT_PLAIN), "a &amp; b");
    CHECK_STR(plain_of("a &amp; b", TEXT_GUESS), "a & b");
    CHECK_STR(plain_of("a & b < c", TEXT_GUESS), "a & b < c");
    CHECK_STR(plain_of("AT&T &unknown; &", TEXT_XML), "AT&T &unknown; &");
}

TEST(tags_are_found)
{
    CHECK_STR(plain_of("ein <b>Haus</b>", TEXT_XML), "tag");
    CHECK_STR(plain_of("ein <b>Haus</b>", TEXT_GUESS), "tag");
    CHECK_STR(plain_of("ein <b>Haus</b>", TEXT_PLAIN), "ein <b>Haus</b>");
    CHECK_STR(plain_of("ein <!-- x --> Haus", TEXT_XML), "tag");
    CHECK_STR(plain_of("<b></i>", TEXT_XML), "tag");
    CHECK_STR(plain_of("<b></bb>", TEXT_XML), "tag");
    CHECK_STR(plain_of("<a b='<c/>", TEXT_XML), "<a b='[X1X]");
    CHECK_STR(plain_of("1 < 2 > 0", TEXT_XML), "1 < 2 > 0");
}

TEST(empty_elements_become_marks)
{
    CHECK_STR(plain_of("A <x id=\"1\"></x> B <y/>.", TEXT_XML),
              "A [X1X] B [X2X].");
    CHECK_STR(plain_of("<x a='b>c' d=\"/>\"/>", TEXT_XML), "[X1X]");
    CHECK_STR(plain_of("[X4X] <x/> [X2X]", TEXT_XML), "[X4X] [X5X] [X2X]");
    CHECK_STR(plain_of("[X1234567X]<x/>", TEXT_XML), "[X1234567X][X1X]");
    CHECK_STR(plain_of("<x/>", TEXT_GUESS), "[X1X]");
    CHECK_STR(plain_of("<x/>", TEXT_PLAIN), "<x/>");
}

TEST(answers_are_encoded)
{
    CHECK_STR(answer_of("a &amp; b", TEXT_XML, "c & <d>"),
              "c &amp; &lt;d&gt;");
    CHECK_STR(answer_of("a", TEXT_XML, "c & d"), "c &amp; d");
    CHECK_STR(answer_of("a", TEXT_GUESS, "c & d"), "c & d");
    CHECK_STR(answer_of("a &amp; b", TEXT_PLAIN, "c & d"), "c & d");
}

TEST(elements_come_back)
{
    CHECK_STR(answer_of("A <x id=\"1\"></x> B <y/>.", TEXT_XML,
                        "[X2X] & [X1X]"), "<y/> &amp; <x id=\"1\"></x>");
    /* Lost, doubled and foreign marks. */
    CHECK_STR(answer_of("A <x/> B", TEXT_XML, "C"), "C<x/>");
    CHECK_STR(answer_of("A <x/> B", TEXT_XML, "[X1X][X1X]"), "<x/>");
    CHECK_STR(answer_of("[X1X] <x/>", TEXT_XML, "[X1X] [X2X] [X3X] [X2"),
              "[X1X] <x/> [X3X] [X2");
    CHECK_STR(answer_of("<x/>", TEXT_XML, "[X-1X] [X+1X] [X 1X] [X01X]"),
              "[X-1X] [X+1X] [X 1X] [X01X]<x/>");
}

TEST(lists_and_characters)
{
    json_t *v = json_pack("[s,s]", "Gr\u00f6\u00dfe", "");
    struct text_list t;

    CHECK_INT(text_list_take(&t, v), 1);
    CHECK(!t.single);
    CHECK_INT(t.n, 2);
    CHECK_INT(text_list_characters(&t, 0), 5);
    CHECK_INT(text_list_characters(&t, 1), 0);
    text_list_release(&t);
    json_array_append_new(v, json_integer(1));
    CHECK_INT(text_list_take(&t, v), -4);
    text_list_release(&t);
    json_decref(v);
    v = json_object();
    CHECK_INT(text_list_take(&t, v), -1);
    text_list_release(&t);
    json_decref(v);
}
