/* test_xliff.c - reading and writing XLIFF 1.2 and 2.x, with valid and broken
 * files. */
#include "base/strbuf.h"
#include "format_units.h"

static const char program[] = "tests/data/formats/program.xlf";
static const char article[] = "tests/data/formats/article.xlf";

#define HEAD "<xliff version='1.2'><file original='f' source-language='en' " \
             "target-language='de'><body>\n"
#define TAIL "</body></file></xliff>\n"
#define TU(id, en, de) "<trans-unit id='" id "'><source>" en "</source>" \
                       "<target>" de "</target></trans-unit>\n"

TEST(version_1)
{
    struct units u;

    REQUIRE_OK(units_read_file(&u, program, NULL), &u.e);
    CHECK_INT(u.counts.empty, 2);
    CHECK_INT(u.counts.unfinished, 2);
    REQUIRE(u.n == 5);
    CHECK_STR(u.at[0].source.p, "Open &file");
    CHECK_STR(u.at[0].target.p, "&Datei öffnen");
    CHECK_STR(u.at[0].id.p, "1");
    CHECK_STR(u.at[0].document.p, "main.ui");
    CHECK_STR(u.at[0].source_lang.p, "en");
    CHECK_STR(u.at[0].target_lang.p, "de");
    CHECK_INT(u.at[0].line, 9);
    CHECK_STR(u.at[0].extra.p, "{\"xliff1\":{\"unit\":{\"approved\":\"yes\","
        "\"resname\":\"menu.file\",\"my:key\":\"7\"},\"head\":\"<note from="
        "\\\"developer\\\" priority=\\\"1\\\">A menu entry</note>"
        "<context-group purpose=\\\"location\\\"><context context-type="
        "\\\"sourcefile\\\">main.c</context><context context-type="
        "\\\"linenumber\\\">12</context></context-group><alt-trans "
        "match-quality=\\\"80\\\"><source>Open file</source><target>Datei "
        "aufmachen</target></alt-trans>\",\"target\":{\"state\":\"final\"}}}");
    CHECK(u.at[1].tagged);
    CHECK_STR(u.at[1].source.p,
              "Save <g id=\"1\" ctype=\"bold\">all</g><x id=\"2\"/> now?");
    CHECK_STR(u.at[2].source.p, "First sentence.");
    CHECK_STR(u.at[2].target.p, "Erster Satz.");
    CHECK_STR(u.at[3].source.p, "Second one.");
    CHECK_STR(u.at[3].id.p, "3");
    CHECK_STR(u.at[3].extra.p, "{\"xliff1\":{\"seg\":{\"mid\":\"1\"},"
        "\"target_seg\":{\"mid\":\"1\"},\"pre\":\" \",\"target_pre\":\" \","
        "\"more\":true}}");
    CHECK_STR(u.at[4].document.p, "help.html");
    units_free(&u);
}

TEST(version_2)
{
    struct units u;

    REQUIRE_OK(units_read_file(&u, article, NULL), &u.e);
    CHECK_INT(u.counts.empty, 1);
    CHECK_INT(u.counts.unfinished, 1);
    REQUIRE(u.n == 4);
    CHECK_STR(u.at[0].source.p, "A short<ph id=\"1\" dataRef=\"d1\"/>title");
    CHECK_STR(u.at[0].id.p, "tu1");
    CHECK_STR(u.at[0].document.p, "article.html");
    CHECK_STR(u.at[0].source_lang.p, "en");
    CHECK_STR(u.at[1].target.p, "Der <pc id=\"1\">erste</pc>.");
    CHECK_STR(u.at[2].target.p,
              "Der <sc id=\"2\"/>zweite<ec startRef=\"2\"/>.");
    CHECK_STR(u.at[2].extra.p, "{\"xliff2\":{\"seg\":{\"id\":\"s2\"},\"pre\":"
        "\"<ignorable><source> </source></ignorable>\",\"source\":{"
        "\"xml:space\":\"preserve\"},\"target\":{\"xml:space\":\"preserve\"},"
        "\"more\":true}}");
    CHECK_STR(u.at[3].document.p, "f2");
    units_free(&u);
}

TEST(what_was_read_is_written_back)
{
    units_round_trip(program, FORMAT_XLIFF, "a.xlf");
    units_round_trip(article, FORMAT_XLIFF, "a.xlf.zst");
}

TEST(unfinished_units_are_taken_when_asked_for)
{
    struct reader_options o = { .fuzzy = true };
    struct units u;

    REQUIRE_OK(units_read_file(&u, program, &o), &u.e);
    CHECK_INT(u.n, 7);
    CHECK_INT(u.counts.unfinished, 0);
    units_free(&u);
    REQUIRE_OK(units_read_file(&u, article, &o), &u.e);
    CHECK_INT(u.n, 5);
    units_free(&u);
}

TEST(states_of_version_1)
{
    static const struct { const char *state; int taken; } c[] = {
        { "new", 0 }, { "needs-translation", 0 }, { "needs-l10n", 0 },
        { "needs-review-translation", 0 }, { "translated", 1 },
        { "final", 1 }, { "signed-off", 1 }, { "x-mine", 1 },
    };

    for (size_t i = 0; i < COUNT(c); i++) {
        struct units u;
        char text[600];

        snprintf(text, sizeof text, HEAD "<trans-unit id='1'><source>a"
                 "</source><target state='%s'>b</target></trans-unit>" TAIL,
                 c[i].state);
        CHECK_OK(units_read(&u, text, NULL), &u.e);
        CHECK_INT(u.n, c[i].taken);
        CHECK_INT(u.counts.unfinished, !c[i].taken);
        units_free(&u);
    }
}

TEST(languages)
{
    struct reader_options o = { .source_lang = "en", .target_lang = "fr" };
    struct units u;

    REQUIRE_OK(units_read_file(&u, program, &o), &u.e);
    CHECK_INT(u.n, 0);
    CHECK(u.counts.other_language > 5);
    units_free(&u);
    /* A file without languages is accepted. */
    REQUIRE_OK(units_read(&u, "<xliff version='1.2'><file><body>"
                          TU("1", "a", "b") TAIL, &o), &u.e);
    CHECK_INT(u.n, 1);
    units_free(&u);
    /* If no languages are requested, the first file determines them. */
    REQUIRE_OK(units_read(&u, HEAD TU("1", "a", "b") "</body></file>"
        "<file original='g' source-language='en' target-language='fr'><body>"
        TU("1", "a", "c") TAIL, NULL), &u.e);
    CHECK_INT(u.n, 1);
    CHECK_INT(u.counts.other_language, 1);
    units_free(&u);
}

TEST(a_prefix_on_every_element)
{
    struct units u;

    REQUIRE_OK(units_read(&u, "<x:xliff xmlns:x='urn' version='1.2'><x:file "
        "original='o'><x:body><x:trans-unit id='1'><x:source>a<x:g id='1'>b"
        "</x:g></x:source><x:target>c</x:target><x:note>n</x:note>"
        "</x:trans-unit></x:body></x:file></x:xliff>", NULL), &u.e);
    REQUIRE(u.n == 1);
    CHECK_STR(u.at[0].source.p, "a<g id=\"1\">b</g>");
    CHECK_STR(u.at[0].extra.p, "{\"xliff1\":{\"head\":\"<note>n</note>\"}}");
    units_free(&u);
}

/* If only one language has segments, the whole unit is one pair. */
TEST(segments_that_do_not_match)
{
    struct units u;

    REQUIRE_OK(units_read(&u, HEAD "<trans-unit id='1'><source>A. B.</source>"
        "<seg-source><mrk mtype='seg' mid='1'>A.</mrk> <mrk mtype='seg' "
        "mid='2'>B.</mrk></seg-source><target>C. D.</target></trans-unit>"
        "<trans-unit id='2'><source>A. B.</source><seg-source><mrk mtype='seg'"
        " mid='1'>A.</mrk></seg-source><target><mrk mtype='seg' mid='7'>C."
        "</mrk></target></trans-unit>" TAIL, NULL), &u.e);
    REQUIRE(u.n == 2);
    CHECK_STR(u.at[0].source.p, "A. B.");
    CHECK_STR(u.at[0].target.p, "C. D.");
    CHECK(strstr(u.at[0].extra.p, "\"seg_source\":\"<mrk ") != NULL);
    CHECK_STR(u.at[1].target.p, "<mrk mtype=\"seg\" mid=\"7\">C.</mrk>");
    units_free(&u);
}

/* ---- errors -------------------------------------------------------------- */

static void fails(const char *text, const char *want)
{
    struct reader_options o = { .format = FORMAT_XLIFF };
    struct units u;

    if (CHECK(units_read(&u, text, &o) == ST_FORMAT))
        CHECK_STR(u.e.msg, want);
    units_free(&u);
}

TEST(errors_say_where_and_what)
{
    fails(HEAD "<trans-unit id='1'><source>a</trans-unit>" TAIL,
          "f:2:20: <source> is never closed");
    fails(HEAD "<trans-unit id='1'>\n" TU("2", "a", "b") TAIL,
          "f:2:1: <trans-unit> is never closed");
    fails("<xliff version='3.0'/>",
          "f:1:1: XLIFF 3.0 is not supported, only 1.x and 2.x");
    fails("<xliff/>",
          "f:1:1: XLIFF without a version is not supported, only 1.x and 2.x");
    fails("<tmx/>", "f:1:1: expected <xliff>, found <tmx>");
}

TEST(bad_units_are_passed_over)
{
    struct reader_options o = { .skip_bad = true };
    struct units u;

    REQUIRE_OK(units_read(&u, HEAD TU("1", "a", "b")
        "<group id='g'>" TU("2", "a & b", "c") TU("3", "d", "e")
        "</group>" TU("4", "f", "g")
        "<trans-unit id='5'><source>x</target></trans-unit>"
        "</body></file><file original='second'><body>\n" TU("6", "h", "i")
        TAIL, &o), &u.e);
    REQUIRE(u.n == 4);
    CHECK_STR(u.at[1].id.p, "3");
    CHECK_INT(u.at[1].line, 4);
    CHECK(strstr(u.at[1].extra.p, "\"groups\"") != NULL);
    CHECK_STR(u.at[2].id.p, "4");
    CHECK_STR(u.at[2].extra.p, "");
    CHECK_STR(u.at[3].id.p, "6");
    CHECK_STR(u.at[3].document.p, "second");
    CHECK_INT(u.counts.bad, 2);
    CHECK_STR(u.reject[1].raw, "<trans-unit id='5'><source>x</target>"
              "</trans-unit></body></file>");
    units_free(&u);
}

/* ---- writing ------------------------------------------------------------- */

static void write_and_read(struct unit *u, size_t n, const char *version,
                           struct units *out)
{
    struct writer_options o = { .format = FORMAT_XLIFF, .source_lang = "de",
                                .target_lang = "en",
                                .xliff_version = version };
    struct units in = { .at = u, .n = n };
    struct scratch dir;

    memset(out, 0, sizeof *out);
    if (!scratch_make(&dir)) return;
    CHECK_OK(units_write(&in, scratch_path(&dir, "x.xlf"), &o), &in.e);
    CHECK_OK(units_read_file(out, scratch_path(&dir, "x.xlf"), NULL),
             &out->e);
    scratch_remove(&dir);
}

TEST(units_of_other_formats_are_written)
{
    struct unit u[] = {
        { .source = str_of("a < b"), .target = str_of("c"),
          .id = str_of("one") },
        { .source = str_of("<bpt i=\"1\">x</bpt>a<ept i=\"1\"/>"),
          .target = str_of("<bpt i=\"1\">x</bpt>b<ept i=\"1\"/>"),
          .tagged = true, .document = str_of("d & e"),
          .extra = str_of("{\"tmx\":{\"tu\":{\"usagecount\":\"1\"}}}") },
        { .source = str_of("a"), .target = str_of("b"),
          .id = str_of("with space"), .document = str_of("d & e") },
    };
    struct units out;

    write_and_read(u, COUNT(u), "1.2", &out);
    REQUIRE(out.n == 3);
    CHECK_STR(out.at[0].source.p, "a < b");
    CHECK_STR(out.at[0].id.p, "one");
    CHECK_STR(out.at[0].source_lang.p, "de");
    CHECK_STR(out.at[0].document.p, "");
    CHECK_STR(out.at[1].source.p, "<bpt id=\"1\">x</bpt>a<ept id=\"1\"/>");
    CHECK_STR(out.at[1].id.p, "2");
    CHECK_STR(out.at[1].document.p, "d & e");
    CHECK_STR(out.at[2].id.p, "with space");
    units_free(&out);
    write_and_read(u, COUNT(u), "2.0", &out);
    REQUIRE(out.n == 3);
    CHECK_STR(out.at[0].id.p, "one");
    CHECK_STR(out.at[1].source.p, "<sc id=\"1\"/>a<ec startRef=\"1\"/>");
    CHECK_STR(out.at[2].id.p, "u3");
    CHECK_STR(out.at[2].extra.p,
              "{\"xliff2\":{\"unit\":{\"name\":\"with space\"}}}");
    units_free(&out);
}

/* Converting from version 1.2 to 2.0 and back keeps texts, ids and
 * documents. */
TEST(versions_into_each_other)
{
    struct units first, second;

    REQUIRE_OK(units_read_file(&first, program, NULL), &first.e);
    write_and_read(first.at, first.n, "2.0", &second);
    CHECK_INT(second.n, first.n);
    for (size_t i = 0; i < second.n && i < first.n; i++) {
        if (!first.at[i].tagged)
            CHECK_STR(second.at[i].source.p, first.at[i].source.p);
        CHECK_STR(second.at[i].id.p, first.at[i].id.p);
        CHECK_STR(second.at[i].document.p, first.at[i].document.p);
    }
    CHECK_STR(second.at[1].source.p,
              "Save <pc id=\"1\">all</pc><ph id=\"2\"/> now?");
    units_free(&first);
    units_free(&second);
}

TEST(an_empty_file_is_a_file)
{
    struct units out;

    write_and_read(NULL, 0, "1.2", &out);
    CHECK_INT(out.n, 0);
    units_free(&out);
    write_and_read(NULL, 0, "2.0", &out);
    CHECK_INT(out.n, 0);
    units_free(&out);
}

TEST(what_xml_cannot_hold_is_refused)
{
    struct unit bad = { .source = str_of("a\x02"), .target = str_of("b"),
                        .id = str_of("seven") };
    struct unit good = { .source = str_of("a"), .target = str_of("b") };
    struct writer_options o = { .format = FORMAT_XLIFF };
    struct scratch dir;
    struct units out;
    struct writer *w;
    struct err e = { 0 };

    REQUIRE(scratch_make(&dir));
    REQUIRE_OK(writer_open(&w, scratch_path(&dir, "x.xlf"), &o, &e), &e);
    CHECK_INT(writer_put(w, &bad, &e), ST_TEXT);
    CHECK_STR(e.msg, "unit 1 (id \"seven\"): the character U+0002 cannot be "
              "written in XML");
    CHECK_OK(writer_put(w, &good, &e), &e);
    CHECK_OK(writer_commit(w, &e), &e);
    writer_close(w);
    CHECK_OK(units_read_file(&out, scratch_path(&dir, "x.xlf"), NULL),
             &out.e);
    CHECK_INT(out.n, 1);
    units_free(&out);
    scratch_remove(&dir);
}
