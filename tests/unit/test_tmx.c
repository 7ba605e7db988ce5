/* test_tmx.c - reading and writing TMX, with valid and broken files. */
#include <iconv.h>

#include "base/strbuf.h"
#include "format_units.h"
#include "formats/tmx.h"

#define HEAD "<tmx version=\"1.4\"><header srclang=\"de\"/><body>\n"
#define TAIL "</body></tmx>\n"
#define TU(de, en) "<tu><tuv xml:lang=\"de\"><seg>" de "</seg></tuv>" \
                   "<tuv xml:lang=\"en\"><seg>" en "</seg></tuv></tu>\n"

static const char office[] = "tests/data/formats/office.tmx";

TEST(a_memory_as_a_tool_exports_it)
{
    struct units u;
    const struct unit *p;

    REQUIRE_OK(units_read_file(&u, office, NULL), &u.e);
    REQUIRE(u.n == 4);
    CHECK_INT(u.counts.units, 4);
    CHECK_INT(u.counts.empty, 1);
    CHECK_INT(u.counts.other_language, 1);
    p = &u.at[0];
    CHECK_STR(p->source.p, "Der Drucker ist nicht bereit.");
    CHECK_STR(p->target.p, "The printer is not ready.");
    CHECK_STR(p->source_lang.p, "de-DE");
    CHECK_STR(p->target_lang.p, "en-GB");
    CHECK_STR(p->id.p, "0001");
    CHECK_STR(p->author.p, "ANNA");
    CHECK_INT(p->created, 1709288100);
    CHECK_INT(p->changed, 1709378100);
    CHECK_INT(p->line, 11);
    CHECK(!p->tagged);
    CHECK_STR(p->extra.p, "{\"tmx\":{\"tu\":{\"changeid\":\"BERT\","
        "\"usagecount\":\"3\"},\"head\":\"<prop type=\\\"client\\\">Amt</prop>"
        "<note xml:lang=\\\"de\\\">Bitte prüfen &lt;bald&gt;</note>\","
        "\"target\":{\"changeid\":\"BERT\",\"changedate\":"
        "\"20240302T111500Z\"},\"target_head\":\"<prop type=\\\"origin\\\">"
        "alignment</prop>\"}}");
    p = &u.at[1];
    CHECK(p->tagged);
    CHECK_STR(p->extra.p, "");
    CHECK_STR(p->target.p, "Press <bpt i=\"1\" x=\"1\" type=\"bold\">&lt;b&gt;"
        "</bpt>Start<ept i=\"1\">&lt;/b&gt;</ept> &amp; wait<ph x=\"2\">"
        "&lt;br/&gt;</ph>briefly.");
    p = &u.at[2];
    CHECK_STR(p->source.p, "  Zwei\nZeilen\tmit Tab  ");
    CHECK_STR(p->document.p, "handbuch.docx");
    CHECK_STR(p->target_lang.p, "en-GB");
    CHECK_STR(u.at[3].source.p, "if (a < b && c > d)");
    CHECK_STR(u.at[3].id.p, "cdata \"quoted\"");
    units_free(&u);
}

TEST(what_was_read_is_written_back)
{
    units_round_trip(office, FORMAT_TMX, "a.tmx");
    units_round_trip(office, FORMAT_TMX, "a.tmx.gz");
}

TEST(languages_are_chosen)
{
    static const struct { const char *source, *target, *want; } c[] = {
        { "de", "fr", "Deux lignes" },
        { "de", "en", "  Two\nlines\twith a tab  " },
        { "de-DE", "en-us", "Two <hi>lines</hi>" },
        { "fr", "de", "  Zwei\nZeilen\tmit Tab  " },
        { NULL, "fr", "Deux lignes" },
        { "en", NULL, "  Zwei\nZeilen\tmit Tab  " },
        { "deu_Latn", "fra", "Deux lignes" },
        { "ger", "eng", "  Two\nlines\twith a tab  " },
        { "de", "it", NULL },
        { "d", "en", NULL },
    };

    for (size_t i = 0; i < COUNT(c); i++) {
        struct reader_options o = { .source_lang = c[i].source,
                                    .target_lang = c[i].target };
        struct units u;
        const char *got = NULL;

        if (!CHECK_OK(units_read_file(&u, office, &o), &u.e)) continue;
        for (size_t k = 0; k < u.n; k++)
            if (!strcmp(u.at[k].document.p, "handbuch.docx"))
                got = u.at[k].target.p;
        CHECK_STR(got ? got : "none", c[i].want ? c[i].want : "none");
        units_free(&u);
    }
}

/* For "de", "de" is preferred to "de-AT" in either order. */
TEST(the_exact_language_comes_first)
{
    struct reader_options o = { .source_lang = "en", .target_lang = "de" };
    struct units u;

    REQUIRE_OK(units_read(&u, "<tmx version='1.4'><body><tu>"
        "<tuv xml:lang='DE-at'><seg>Jänner</seg></tuv>"
        "<tuv xml:lang='en_US'><seg>January</seg></tuv>"
        "<tuv xml:lang='DE'><seg>Januar</seg></tuv></tu>"
        "<tu><tuv lang='den'><seg>x</seg></tuv><tuv lang='en'><seg>y</seg>"
        "</tuv></tu></body></tmx>", &o), &u.e);
    REQUIRE(u.n == 1);
    CHECK_STR(u.at[0].target.p, "Januar");
    CHECK_STR(u.at[0].source_lang.p, "en_US");
    CHECK_INT(u.counts.other_language, 1);
    units_free(&u);
}

/* Codes of the same language in other forms, and scripts that regions tell. */
TEST(languages_have_several_codes)
{
    struct reader_options o = { .source_lang = "zho_Hant",
                                .target_lang = "por_Latn" };
    struct units u;

    REQUIRE_OK(units_read(&u, "<tmx version='1.4'><body><tu>"
        "<tuv xml:lang='zh-CN'><seg>简体</seg></tuv>"
        "<tuv xml:lang='zh-TW'><seg>繁體</seg></tuv>"
        "<tuv xml:lang='pt-BR'><seg>ônibus</seg></tuv>"
        "<tuv xml:lang='por'><seg>autocarro</seg></tuv></tu>"
        "</body></tmx>", &o), &u.e);
    REQUIRE(u.n == 1);
    CHECK_STR(u.at[0].source.p, "繁體");
    CHECK_STR(u.at[0].target.p, "autocarro");
    units_free(&u);
}

TEST(languages_that_nobody_named)
{
    struct units u;

    /* *all*: the source is the first language of the first unit. */
    REQUIRE_OK(units_read(&u, "<tmx version='1.1'><header srclang='*all*'/>"
        "<body><tu><tuv lang='sv'><seg>ett</seg></tuv><tuv lang='fi'>"
        "<seg>yksi</seg></tuv></tu><tu><tuv lang='fi'><seg>kaksi</seg></tuv>"
        "<tuv lang='sv'><seg>två</seg></tuv></tu>"
        "<tu srclang='fi'><tuv lang='sv'><seg>tre</seg></tuv><tuv lang='fi'>"
        "<seg>kolme</seg></tuv></tu></body></tmx>", NULL), &u.e);
    REQUIRE(u.n == 2);
    CHECK_STR(u.at[1].source.p, "två");
    CHECK_STR(u.at[1].target.p, "kaksi");
    CHECK_INT(u.counts.other_language, 1);      /* fi is the target here */
    units_free(&u);
    /* The language in the header is more specific than in the units. */
    REQUIRE_OK(units_read(&u, "<tmx version='1.4'><header srclang='de-DE'/>"
        "<body>" TU("eins", "one") TAIL, NULL), &u.e);
    CHECK_INT(u.n, 1);
    units_free(&u);
}

/* A <tuv> inside the <prop> of the document is not a language of the unit. The
 * reader once took it for one and wrote outside its array in the next unit. */
TEST(a_tuv_inside_the_document_is_not_a_language)
{
    struct units u;

    REQUIRE_OK(units_read(&u, "<tmx version='1.4'><header srclang='de'/><body>"
        "<tu><prop type='x-document'>d<tuv xml:lang='fr'><seg/></tuv></prop>"
        "<tuv xml:lang='de'><seg>eins</seg></tuv>"
        "<tuv xml:lang='en'><seg>one</seg></tuv></tu>"
        TU("zwei", "two") TAIL, NULL), &u.e);
    REQUIRE(u.n == 2);
    CHECK_STR(u.at[0].document.p, "d");
    CHECK_STR(u.at[0].source.p, "eins");
    CHECK_STR(u.at[0].target.p, "one");
    CHECK_STR(u.at[0].extra.p, "");
    CHECK_STR(u.at[1].target.p, "two");
    units_free(&u);
}

static void fails(const char *text, const char *want)
{
    struct units u;

    if (CHECK(units_read(&u, text, NULL) == ST_FORMAT))
        CHECK_STR(u.e.msg, want);
    units_free(&u);
}

TEST(errors_say_where_and_what)
{
    fails(HEAD "<tu>\n <tuv xml:lang='de'>\n  <seg>x</tuv></tu>" TAIL,
          "f:4:3: <seg> is never closed");
    fails(HEAD "<tu><tuv xml:lang='de'><seg>x\n" TU("a", "b") TAIL,
          "f:2:24: <seg> is never closed");
    fails(HEAD TU("a", "b") "<tu><tuv",
          "f:3:5: the file is not complete: it ends inside <tu> of line 3");
    fails(HEAD TU("a", "b"),
          "f:3:1: the file is not complete: it ends inside <body> of line 1");
    fails(HEAD TU("a & b", "b") TAIL,
          "f:2:32: not well-formed: a character that is not allowed here (a "
          "bare & or <, or bytes that are not UTF-8)");
    fails(HEAD TU("a \xFF b", "b") TAIL,
          "f:2:31: not well-formed: a character that is not allowed here (a "
          "bare & or <, or bytes that are not UTF-8)");
    fails(HEAD TU("a &nbsp; b", "b") TAIL,
          "f:2:31: an unknown entity; only &amp; &lt; &gt; &quot; &apos; and "
          "character numbers are supported");
    fails(HEAD "<tu></foo></tu>" TAIL,
          "f:2:7: expected </tu>, found </foo>");
}

TEST(nothing_but_tmx_is_taken_for_it)
{
    struct reader_options o = { .format = FORMAT_TMX, .skip_bad = true };
    struct units u;

    CHECK_INT(units_read(&u, "<xliff version='1.2'/>", &o), ST_FORMAT);
    CHECK_STR(u.e.msg, "f:1:1: expected <tmx>, found <xliff>");
    units_free(&u);
    CHECK_INT(units_read(&u, "", &o), ST_OK);
    CHECK_INT(u.counts.bad, 1);
    units_free(&u);
}

TEST(entities_are_refused)
{
    struct units u;

    fails("<!DOCTYPE tmx [<!ENTITY a \"x\">]>\n" HEAD TU("&a;", "b") TAIL,
          "f:1:27: the DOCTYPE declares the entity a; entity declarations are "
          "not supported");
    fails("<!DOCTYPE tmx [<!ENTITY % a SYSTEM \"file:///etc/passwd\">%a;]>"
          HEAD TAIL, "f:1:56: the DOCTYPE declares the entity a; entity "
          "declarations are not supported");
    fails("<!DOCTYPE tmx [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
          HEAD TU("&x;", "b") TAIL, "f:1:54: the DOCTYPE declares the entity "
          "x; entity declarations are not supported");
    fails("<!DOCTYPE tmx [<!ATTLIST tu tuid CDATA \"x\">]>" HEAD TAIL,
          "f:1:40: the DOCTYPE declares a default value for tuid of <tu>; "
          "such declarations are not supported");
    fails("<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n" HEAD TU("&nbsp;", "b") TAIL,
          "f:3:29: &nbsp; is not declared in this file, and external "
          "declarations are not read");
    REQUIRE_OK(units_read(&u, "<!DOCTYPE tmx SYSTEM \"/no/such.dtd\">\n" HEAD
                          TU("a", "b") TAIL, NULL), &u.e);
    CHECK_INT(u.n, 1);
    units_free(&u);
}

TEST(a_billion_laughs_are_refused)
{
    struct strbuf s;

    strbuf_init(&s, 0);
    strbuf_adds(&s, "<!DOCTYPE tmx [<!ENTITY l0 \"ha\">");
    for (int i = 1; i < 30; i++)
        strbuf_addf(&s, "<!ENTITY l%d \"&l%d;&l%d;\">", i, i - 1, i - 1);
    strbuf_adds(&s, "]>" HEAD TU("&l29;", "b") TAIL);
    fails(s.data, "f:1:28: the DOCTYPE declares the entity l0; entity "
          "declarations are not supported");
    strbuf_release(&s);
}

TEST(limits)
{
    struct reader_options o = { .max_text = 1000 };
    struct strbuf s;
    struct units u;

    strbuf_init(&s, 0);
    strbuf_adds(&s, HEAD "<tu><tuv xml:lang='de'><seg>");
    for (int i = 0; i < 1001; i++) strbuf_addc(&s, 'x');
    strbuf_adds(&s, "</seg></tuv><tuv xml:lang='en'><seg>b</seg></tuv></tu>\n"
                TU("a", "b") TAIL);
    CHECK_INT(units_read(&u, s.data, &o), ST_FORMAT);
    CHECK_STR(u.e.msg, "f:2:29: a text of more than 1000 bytes");
    units_free(&u);
    o.skip_bad = true;
    CHECK_OK(units_read(&u, s.data, &o), &u.e);
    CHECK_INT(u.n, 1);
    CHECK_INT(u.counts.bad, 1);
    units_free(&u);
    strbuf_reset(&s);
    strbuf_adds(&s, HEAD "<tu><tuv xml:lang='de'><seg>");
    for (int i = 0; i < 100; i++) strbuf_adds(&s, "<hi>");
    fails(s.data, "f:2:265: elements are nested more than 64 deep");
    strbuf_release(&s);
}

TEST(bad_units_are_passed_over)
{
    struct reader_options o = { .skip_bad = true };
    struct units u;

    REQUIRE_OK(units_read(&u, HEAD TU("eins", "one")
        "<tu tuid='x'><tuv xml:lang='de'><seg>a & b</seg></tuv></tu>\n"
        TU("zwei", "two")
        "<tu><tuv xml:lang='de'><seg>nie zu\n"
        TU("drei", "three")
        "<tu tuid=\"y></tu>\n"
        "<tu <tuv></tu>\n"
        TU("vier", "four") TAIL, &o), &u.e);
    REQUIRE(u.n == 4);
    CHECK_STR(u.at[1].source.p, "zwei");
    CHECK_INT(u.at[1].line, 4);
    CHECK_STR(u.at[2].source.p, "drei");
    CHECK_INT(u.at[2].line, 6);
    CHECK_STR(u.at[3].source.p, "vier");
    CHECK_INT(u.at[3].line, 9);
    CHECK_INT(u.counts.bad, 4);
    REQUIRE(u.n_rejects == 4);
    CHECK_INT(u.reject[0].line, 3);
    CHECK_STR(u.reject[0].raw, "<tu tuid='x'><tuv xml:lang='de'><seg>a & b"
              "</seg></tuv></tu>\n");
    CHECK_INT(u.reject[1].line, 5);
    CHECK_INT(u.reject[1].column, 24);
    CHECK_STR(u.reject[1].why, "<seg> is never closed");
    CHECK_STR(u.reject[1].raw, "<tu><tuv xml:lang='de'><seg>nie zu\n");
    CHECK_INT(u.reject[2].line, 7);
    CHECK_INT(u.reject[3].line, 8);
    units_free(&u);
}

/* Many more units than fit into a buffer, each followed by a bad one. */
TEST(bad_units_in_a_long_file)
{
    struct reader_options o = { .skip_bad = true };
    struct strbuf s;
    struct err e = { 0 };
    struct reader *r;
    const struct unit *u = NULL;
    struct reader_counts n;
    uint64_t line = 0;
    int bad = 0;

    strbuf_init(&s, 0);
    strbuf_adds(&s, HEAD);
    for (int i = 0; i < 30000; i++) {
        strbuf_addf(&s, TU("a%d", "b%d"), i, i);
        if (i % 1000 == 999 && ++bad) strbuf_adds(&s, TU("<a&>", "b"));
    }
    strbuf_adds(&s, TAIL);
    REQUIRE_OK(reader_open_memory(&r, "f", (struct str){ s.data, s.len },
                                  (struct str){ NULL, 0 }, &o, &e), &e);
    while (CHECK_OK(reader_next(r, &u, &e), &e) && u) line = u->line;
    reader_counts(r, &n);
    CHECK_INT(n.units, 30000);
    CHECK_INT(n.bad, bad);
    CHECK_INT(line, 30000 + bad);       /* the last two: one good, one bad */
    reader_close(r);
    strbuf_release(&s);
}

TEST(encodings)
{
    struct units u;

    REQUIRE_OK(units_read(&u, "<?xml version='1.0' encoding='ISO-8859-1'?>"
                          HEAD TU("\xFC", "\xA4") TAIL, NULL), &u.e);
    REQUIRE(u.n == 1);
    CHECK_STR(u.at[0].source.p, "ü");
    CHECK_STR(u.at[0].target.p, "¤");
    units_free(&u);
    /* A byte order mark or UTF-16 overrides the declaration. */
    REQUIRE_OK(units_read(&u, "\xEF\xBB\xBF<?xml version='1.0' "
                          "encoding='iso-8859-1'?>" HEAD TU("ü", "b") TAIL,
                          NULL), &u.e);
    REQUIRE(u.n == 1);
    CHECK_STR(u.at[0].source.p, "ü");
    units_free(&u);
    fails("<?xml version='1.0' encoding='Shift_JIS'?>" HEAD TAIL,
          "f:1:1: the encoding Shift_JIS is not supported; convert the file "
          "to UTF-8");
}

/* Encodings whose bytes look like ASCII but mean something else, and names that
 * begin like the name of a supported encoding. */
TEST(encodings_that_are_not_read)
{
    static const char *const names[] = {
        "UTF-7", "utf-7", "UNICODE-1-1-UTF-7", "UTF-7-IMAP", "UTF-1",
        "UTF-EBCDIC", "ISO-2022-JP", "HZ", "KLINGON"
    };
    char text[600], want[120];

    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(text, sizeof text, "<?xml version='1.0' encoding='%s'?>"
                 HEAD TU("M+APw-ller", "Miller") TAIL, names[i]);
        snprintf(want, sizeof want, "f:1:1: the encoding %s is not supported; "
                 "convert the file to UTF-8", names[i]);
        fails(text, want);
    }
}

TEST(encodings_of_one_byte)
{
    iconv_t cd = iconv_open("UTF-8", "windows-1252");
    struct units u;

    /* A statically linked program in an emulator finds no converters. */
    if (cd == (iconv_t)-1) SKIP("no converters for other charsets here");
    iconv_close(cd);
    REQUIRE_OK(units_read(&u, "<?xml version='1.0' encoding='windows-1252'?>"
                          HEAD TU("\x80", "\x84") TAIL, NULL), &u.e);
    REQUIRE(u.n == 1);
    CHECK_STR(u.at[0].source.p, "€");
    CHECK_STR(u.at[0].target.p, "„");
    units_free(&u);
}

TEST(utf16_with_its_declaration)
{
    static const char text[] = "<?xml version='1.0' encoding='utf-16'?>" HEAD
                               TU("eins", "one") TAIL;
    char wide[2 * sizeof text];
    struct reader_options o = { 0 };
    struct err e = { 0 };
    struct reader *r;
    const struct unit *u = NULL;

    memcpy(wide, "\xFF\xFE", 2);
    for (size_t i = 0; text[i]; i++) {
        wide[2 + 2 * i] = text[i];
        wide[3 + 2 * i] = '\0';
    }
    REQUIRE_OK(reader_open_memory(&r, "f", (struct str){ wide, sizeof wide },
                                  (struct str){ NULL, 0 }, &o, &e), &e);
    CHECK_OK(reader_next(r, &u, &e), &e);
    if (CHECK(u != NULL)) CHECK(str_eq(u->source, str_of("eins")));
    reader_close(r);
}

TEST(dates)
{
    int64_t t = 7;
    char s[TMX_DATE_BYTES];

    CHECK(tmx_date_parse("20240301T101500Z", &t) && t == 1709288100);
    CHECK(tmx_date_format(t, s));
    CHECK_STR(s, "20240301T101500Z");
    CHECK(!tmx_date_parse("20240231T000000Z", &t));
    CHECK(!tmx_date_parse("2024-03-01T10:15:00Z", &t));
    CHECK(!tmx_date_parse("20240301T101500", &t));
    CHECK(!tmx_date_parse("", &t));
    CHECK_INT(t, 1709288100);
    CHECK(!tmx_date_format(INT64_MAX, s));
}

/* ---- writing ------------------------------------------------------------- */

TEST(units_of_other_formats_are_written)
{
    struct unit u = {
        .source = str_of("a < b"), .target = str_of("c\rd"),
        .id = str_of("\"1\""), .document = str_of("x & y"),
        .author = str_of("me"), .created = 1709288100,
        .extra = str_of("{\"po\":{\"x\":1}}"),
    };
    struct writer_options o = { .format = FORMAT_TMX, .source_lang = "de",
                                .target_lang = "en" };
    struct units in = { .at = &u, .n = 1 }, out;
    struct scratch dir;

    REQUIRE(scratch_make(&dir));
    CHECK_OK(units_write(&in, scratch_path(&dir, "x.tmx"), &o), &in.e);
    CHECK_OK(units_read_file(&out, scratch_path(&dir, "x.tmx"), NULL),
             &out.e);
    if (CHECK(out.n == 1)) {
        CHECK_STR(out.at[0].source.p, "a < b");
        CHECK_STR(out.at[0].target.p, "c\rd");
        CHECK_STR(out.at[0].id.p, "\"1\"");
        CHECK_STR(out.at[0].document.p, "x & y");
        CHECK_STR(out.at[0].author.p, "me");
        CHECK_INT(out.at[0].created, 1709288100);
        CHECK_STR(out.at[0].source_lang.p, "de");
        CHECK_STR(out.at[0].extra.p, "");
    }
    units_free(&out);
    scratch_remove(&dir);
}

TEST(what_xml_cannot_hold_is_refused)
{
    static const char *const bad[] = { "a\x01", "\xEF\xBF\xBE", "\xFF" };
    struct writer_options o = { .format = FORMAT_TMX };
    struct unit good = { .source = str_of("a"), .target = str_of("b") };
    struct scratch dir;
    struct units out;
    struct writer *w;
    struct err e = { 0 };

    REQUIRE(scratch_make(&dir));
    REQUIRE_OK(writer_open(&w, scratch_path(&dir, "x.tmx"), &o, &e), &e);
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct unit u = good;
        u.target = str_of(bad[i]);
        u.id = str_of("seven");
        CHECK_INT(writer_put(w, &u, &e), ST_TEXT);
        if (!i) CHECK_STR(e.msg, "unit 1 (id \"seven\"): the character "
                          "U+0001 cannot be written in XML");
    }
    CHECK_OK(writer_put(w, &good, &e), &e);
    CHECK_OK(writer_commit(w, &e), &e);
    writer_close(w);
    good.source_lang = str_of("und");
    CHECK_OK(units_read_file(&out, scratch_path(&dir, "x.tmx"), NULL),
             &out.e);
    units_free(&out);
    scratch_remove(&dir);
}

/* Invalid extra data must not make the file invalid. */
TEST(an_extra_that_is_no_xml_is_left_out)
{
    struct unit u = {
        .source = str_of("a"), .target = str_of("b"),
        .source_lang = str_of("de"), .target_lang = str_of("en"),
        .extra = str_of("{\"tmx\":{\"head\":\"</tu><evil\",\"tu\":{\"a b\":"
                        "\"x\",\"ok\":\"<\\\"&\"},\"others\":\"&x;\"}}"),
    };
    struct writer_options o = { .format = FORMAT_TMX };
    struct units in = { .at = &u, .n = 1 }, out;
    struct scratch dir;

    REQUIRE(scratch_make(&dir));
    CHECK_OK(units_write(&in, scratch_path(&dir, "x.tmx"), &o), &in.e);
    CHECK_OK(units_read_file(&out, scratch_path(&dir, "x.tmx"), NULL),
             &out.e);
    if (CHECK(out.n == 1))
        CHECK_STR(out.at[0].extra.p, "{\"tmx\":{\"tu\":{\"ok\":\"<\\\"&\"}}}");
    units_free(&out);
    scratch_remove(&dir);
}
