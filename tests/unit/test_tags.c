/* test_tags.c - tagged texts: stripping the tags, and converting them to other
 * formats. */
#include "formats/tags_convert.h"
#include "pair/tags.h"
#include "test.h"

static const char *strip(const char *s)
{
    static struct strbuf out;

    if (!out.data) strbuf_init(&out, 0);
    strbuf_reset(&out);
    CHECK(tags_strip(str_of(s), &out));
    return out.data;
}

static const char *convert(const char *s, enum tags_dialect to)
{
    static struct strbuf out;

    if (!out.data) strbuf_init(&out, 0);
    strbuf_reset(&out);
    CHECK(tags_convert(str_of(s), to, &out));
    return out.data;
}

TEST(the_language_of_a_tagged_text)
{
    CHECK_STR(strip("plain"), "plain");
    CHECK_STR(strip("a &amp; b &lt; c &#228; &#xE4; &quot;&apos;"),
              "a & b < c ä ä \"'");
    CHECK_STR(strip("<g id=\"1\">bold</g> and <x id=\"2\"/>more"),
              "bold and more");
    CHECK_STR(strip("<bpt i=\"1\">&lt;b&gt;</bpt>x<ept i=\"1\">y</ept>"),
              "x");
    CHECK_STR(strip("a<ph>code <sub>not seen</sub> code</ph>b"), "ab");
    CHECK_STR(strip("<hi>seen <ph>gone</ph></hi><mrk>too</mrk>"),
              "seen too");
    CHECK_STR(strip("<it pos=\"begin\">x</it><ut>y</ut>z"), "z");
    CHECK_STR(strip("<ph x=\"a>b\">c</ph>d"), "d");
    CHECK_STR(strip("<ph x='\"'/>d"), "d");
}

TEST(odd_input_is_text)
{
    CHECK_STR(strip("a < b"), "a < b");
    CHECK_STR(strip("a <3 &unknown; & &#; &#xZ; &#1; &#x110000;"),
              "a <3 &unknown; & &#; &#xZ; &#1; &#x110000;");
    CHECK_STR(strip("<g id=>x"), "<g id=>x");
    CHECK_STR(strip("<g"), "<g");
    CHECK_STR(strip("</"), "</");
    CHECK_STR(strip("</ph>x"), "x");
    CHECK_STR(strip("<ph>never closed"), "");
    CHECK_STR(strip(""), "");
}

TEST(escaping_is_undone_by_stripping)
{
    static const char *const texts[] = { "a<b>&c", "&amp;", "\r\n\t", "<g>" };
    struct strbuf out;

    strbuf_init(&out, 0);
    for (size_t i = 0; i < COUNT(texts); i++) {
        strbuf_reset(&out);
        CHECK(tags_escape(str_of(texts[i]), &out));
        CHECK_STR(strip(out.data), texts[i]);
    }
    strbuf_release(&out);
}

TEST(a_format_keeps_its_own_elements)
{
    static const struct { enum tags_dialect d; const char *text; } own[] = {
        { TAGS_TMX, "<bpt i=\"1\" x=\"1\">&lt;b&gt;</bpt>a<ept i=\"1\"/>"
                    "<ph x=\"2\">c<sub>d</sub></ph><it pos=\"begin\">e</it>"
                    "<hi type=\"x\">f</hi><ut>g</ut>" },
        { TAGS_XLIFF1, "<g id=\"1\">a<x id=\"2\" equiv-text=\"&quot;\"/></g>"
                       "<bpt id=\"3\">&lt;</bpt>b<ept id=\"3\"/>"
                       "<bx id=\"4\" rid=\"1\"/><ex id=\"5\" rid=\"1\"/>"
                       "<mrk mtype=\"term\">c</mrk><it id=\"6\" pos=\"open\">"
                       "q</it>" },
        { TAGS_XLIFF2, "<pc id=\"1\">a</pc><ph id=\"2\" dataRef=\"d1\"/>"
                       "<sc id=\"3\"/>b<ec startRef=\"3\"/>"
                       "<mrk id=\"m1\" type=\"term\">c</mrk>"
                       "<sm id=\"m2\"/><em startRef=\"m2\"/>"
                       "<cp hex=\"001A\"/>" },
    };

    for (size_t i = 0; i < COUNT(own); i++)
        CHECK_STR(convert(own[i].text, own[i].d), own[i].text);
}

TEST(elements_of_other_formats)
{
    CHECK_STR(convert("<g id=\"5\">a</g><x id=\"6\"/>", TAGS_TMX),
              "<bpt i=\"5\"/>a<ept i=\"5\"/><ph x=\"6\"/>");
    CHECK_STR(convert("<sc id=\"1\"/>a<ec startRef=\"1\"/>", TAGS_TMX),
              "<bpt i=\"1\"/>a<ept i=\"1\"/>");
    CHECK_STR(convert("a<ex id=\"1\"/>", TAGS_TMX),
              "a<it x=\"1\" pos=\"end\"/>");
    CHECK_STR(convert("<mrk mtype=\"term\">a</mrk>", TAGS_TMX),
              "<hi x=\"1\">a</hi>");
    CHECK_STR(convert("<bpt i=\"1\">&lt;b&gt;</bpt>a<ept i=\"1\">&lt;/b&gt;"
                      "</ept><ph>&lt;br&gt;</ph>", TAGS_XLIFF1),
              "<bpt id=\"1\">&lt;b&gt;</bpt>a<ept id=\"1\">&lt;/b&gt;</ept>"
              "<ph id=\"2\">&lt;br&gt;</ph>");
    CHECK_STR(convert("<pc id=\"1\">a</pc><ph id=\"2\"/>", TAGS_XLIFF1),
              "<g id=\"1\">a</g><ph id=\"2\"/>");
    CHECK_STR(convert("<bpt i=\"1\">&lt;b&gt;</bpt>a<ept i=\"1\">x</ept>"
                      "<ph x=\"1\">y<sub>z</sub></ph>b", TAGS_XLIFF2),
              "<sc id=\"1\"/>a<ec startRef=\"1\"/><ph id=\"2\"/>b");
    CHECK_STR(convert("<g id=\"1\">a<x id=\"2\"/></g>", TAGS_XLIFF2),
              "<pc id=\"1\">a<ph id=\"2\"/></pc>");
    CHECK_STR(convert("<it pos=\"begin\">x</it>", TAGS_XLIFF1),
              "<it id=\"1\" pos=\"open\">x</it>");
}

/* For any input, the result is well-formed. */
TEST(converted_text_is_well_formed)
{
    CHECK_STR(convert("<hi>a", TAGS_TMX), "<hi>a</hi>");
    CHECK_STR(convert("a</hi>b", TAGS_TMX), "ab");
    CHECK_STR(convert("<hi><ph>a</hi>b", TAGS_TMX),
              "<hi><ph>a</ph></hi>b");
    CHECK_STR(convert("a < b & c &amp; d", TAGS_TMX),
              "a &lt; b &amp; c &amp; d");
    CHECK_STR(convert("<ph x=\"1\" x=\"2\"/>", TAGS_TMX), "<ph x=\"1\"/>");
    CHECK_STR(convert("<ph x='\"&'/>", TAGS_TMX),
              "<ph x=\"&quot;&amp;\"/>");
}
