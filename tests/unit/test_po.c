/* test_po.c - reading and writing gettext PO files. po_oracle.sh compares the
 * results with gettext itself. */
#include <iconv.h>

#include "formats/po.h"
#include "rows.h"

static struct rows read_po(const char *text, struct reader_options o)
{
    struct rows r;

    o.format = FORMAT_PO;
    rows_read(&r, "t", str_of(text), (struct str){ NULL, 0 }, o);
    return r;
}

#define PO(text, ...) read_po(text, (struct reader_options){ __VA_ARGS__ })
#define AS_PO (struct writer_options){ .format = FORMAT_PO }
#define GERMAN "msgid \"\"\nmsgstr \"Language: de\\n" \
               "Content-Type: text/plain; charset=UTF-8\\n\"\n\n"

static void check_pair(const struct rows *r, int i, const char *source,
                       const char *target)
{
    REQUIRE(r->n > i);
    CHECK_STR(r->u[i].source.p, source);
    CHECK_STR(r->u[i].target.p, target);
}

TEST(po_reads_entries)
{
    struct rows r = PO(GERMAN
        "# note\nmsgid \"Yes\"\nmsgstr \"Ja\"\n"
        "msgid \"\"\n\"two \"\n  \"lines\\n\"\nmsgstr\"zwei \" \"Zeilen\\n\"\n"
        "msgid \"later\"\nmsgstr \"\"\n", 0);

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 2);
    check_pair(&r, 0, "Yes", "Ja");
    check_pair(&r, 1, "two lines\n", "zwei Zeilen\n");
    CHECK_INT(r.u[0].line, 5);
    CHECK_INT(r.u[1].line, 7);
    CHECK_STR(r.u[0].source_lang.p, "en");
    CHECK_STR(r.u[0].target_lang.p, "de");
    CHECK_STR(r.u[0].extra.p, "{\"po\":{\"comments\":\"# note\\n\"}}");
    CHECK_STR(r.u[1].extra.p, "");
    CHECK_INT(r.counts.empty, 1);
    rows_free(&r);
}

TEST(po_resolves_escapes)
{
    struct rows r = PO("msgid \"\\n\\t\\\"\\\\\\a\\b\\f\\r\\v\"\n"
                       "msgstr \"\\101\\7\\x41\\x000042 \\303\\244\"\n", 0);
    char *text;

    CHECK_OK(r.st, &r.e);
    check_pair(&r, 0, "\n\t\"\\\a\b\f\r\v", "A\aAB ä");
    text = rows_write(&r, AS_PO);
    CHECK(strstr(text, "msgid \"\"\n\"\\n\"\n\"\\t\\\"\\\\\\a\\b\\f\\r\\v\"\n"
                 "msgstr \"A\\aAB ä\"\n") != NULL);
    free(text);
    rows_free(&r);
}

TEST(po_says_where_it_is_wrong)
{
    static const struct { const char *text, *message; } bad[] = {
        { "msgid \"a", "t:1:7: expected a closing quote on the same line" },
        { "msgid \"a\\q\"", "t:1:10: expected one of n t b r f v a x \\ \" or "
          "a digit after the backslash" },
        { "msgid \"\\xZ\"", "t:1:10: expected hexadecimal digits after \\x" },
        { "msgid \"\\400\"", "t:1:11: expected a byte, found a larger number "
          "after the backslash" },
        { "msgid \"\\0\"", "t:1:10: expected text, found a NUL byte" },
        { "\"a\"", "t:1:1: expected msgid before a string" },
        { "msgid \"a\"\nmsgid \"b\"", "t:2:1: expected msgstr before the next "
          "msgid" },
        { "msgid \"a\"\n# b\n", "t:2:1: expected msgstr before the next "
          "comment" },
        { "msgstr \"a\"", "t:1:1: expected msgid before msgstr" },
        { "msgid \"a\"\n", "t:2:1: expected msgstr before the next entry, "
          "found the end of the file" },
        { "msgid \"a\"\nmsgstr\n", "t:3:1: expected a quoted string after the "
          "keyword, found the end of the file" },
        { "msgid\nmsgstr \"\"\n", "t:2:1: expected a quoted string after the "
          "keyword" },
        { "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr \"c\"", "t:3:8: expected "
          "msgstr[n] after msgid_plural" },
        { "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[1] \"c\"", "t:3:10: "
          "expected the plural forms in order, starting with msgstr[0]" },
        { "msgid \"a\"\nmsgstr[0] \"c\"", "t:2:7: expected msgid_plural "
          "before msgstr[n]" },
        { "#~ msgid \"a\"\nmsgstr \"b\"", "t:2:1: expected all lines of an "
          "entry to begin with #~, or none" },
        { "msgfoo \"a\"", "t:1:1: expected a quoted string, msgid, "
          "msgstr, msgctxt or a comment" },
        { "msgid \"a\"\nmsgstr \"\xFF\"", "t:2:9: expected UTF-8, found an "
          "invalid byte (is the file in another encoding?)" },
        { "msgid \"a\"\nmsgstr \"\\xFF\"\n\nmsgid \"b\"\n", "t:1: expected "
          "escapes that form valid UTF-8" },
        { "msgid \"12345678\" \"901\"", "t:1:22: expected a shorter text; "
          "this one exceeds the limit" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct rows r = PO(bad[i].text, .max_text = 10);

        CHECK_INT(r.st, ST_FORMAT);
        CHECK_STR(r.e.msg, bad[i].message);
        CHECK_INT(r.n, 0);
        rows_free(&r);
    }
}

/* An error loses its own entry and no other. */
TEST(po_goes_on_behind_errors)
{
    struct rows r = PO("msgid \"a\"\nmsgstr \"A\"\n\n"
                       "msgctxt \"x\nmsgid \"b\"\nmsgstr \"B\"\n\n"
                       "msgid \"c\"\nmsgstr \"C\xFF\"\n"
                       "msgid \"d\"\nmsgstr \"D\"\n"
                       "msgid \"e\"\nmsgstr \"\\377\"\n"
                       "# note\nmsgid \"f\"\nmsgstr \"F\"\n"
                       "msgid \"\xFF\"\nmsgstr \"x\"\n"
                       "msgid \"g\"\nmsgstr \"G\"\n"
                       "junk\n\nmsgid \"h\"\nmsgstr \"H\"\n"
                       "\"\xFF\"\n\nmsgid \"i\"\n",
                       .skip_bad = true);

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 4);
    CHECK_INT(r.counts.bad, 7);
    check_pair(&r, 0, "a", "A");
    check_pair(&r, 1, "d", "D");
    check_pair(&r, 2, "f", "F");
    check_pair(&r, 3, "g", "G");
    CHECK(!strncmp(r.bad.data, "4:9 expected a closing quote", 28));
    rows_free(&r);
}

TEST(po_leaves_out_the_unfinished)
{
    static const char text[] = GERMAN
        "#, c-format, fuzzy\nmsgid \"a\"\nmsgstr \"A\"\n\n"
        "#, no-fuzzy\nmsgid \"b\"\nmsgstr \"B\"\n\n"
        "#~ msgid \"c\"\n#~ msgstr \"C\"\n";
    struct rows r = PO(text, 0);
    char *out;

    CHECK_INT(r.n, 1);
    check_pair(&r, 0, "b", "B");
    CHECK_INT(r.counts.unfinished, 2);
    rows_free(&r);
    r = PO(text, .fuzzy = true);
    CHECK_INT(r.n, 3);
    CHECK_INT(r.counts.unfinished, 0);
    out = rows_write(&r, AS_PO);
    CHECK(strstr(out, "\n#, c-format, fuzzy\nmsgid \"a\"\nmsgstr \"A\"\n"));
    CHECK(strstr(out, "\n#~ msgid \"c\"\n#~ msgstr \"C\"\n"));
    free(out);
    rows_free(&r);
}

TEST(po_plurals_become_pairs_and_come_back)
{
    static const char text[] =
        "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
        "msgctxt \"\"\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\n"
        "msgstr[0] \"plik\"\nmsgstr[1] \"pliki\"\nmsgstr[2] \"\"\n\n"
        "msgid \"%d file\"\nmsgid_plural \"%d files\"\n"
        "msgstr[0] \"ein\"\n";
    struct rows r = PO(text, 0);
    char *out;

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 3);
    CHECK_INT(r.counts.empty, 1);
    check_pair(&r, 0, "%d file", "plik");
    check_pair(&r, 1, "%d files", "pliki");
    check_pair(&r, 2, "%d files", "ein");
    out = rows_write(&r, AS_PO);
    CHECK_STR(out, text);
    free(out);
    rows_free(&r);
}

/* The direction depends on the file and on the requested languages. */
TEST(po_is_read_in_the_direction_asked_for)
{
    static const struct {
        const char *header, *source, *target;
        int n;                  /* 0: other languages; 2: swapped */
        const char *langs;
    } c[] = {
        { "Language: de\\n", NULL, NULL, 1, "en de" },
        { "Language: de\\n", "en", "de", 1, "en de" },
        { "Language: de_AT\\n", "de", "en", 2, "de_AT en" },
        { "Language: de\\n", "de", NULL, 2, "de en" },
        { "Language: de\\n", NULL, "en", 2, "de en" },
        { "Language: de\\n", "fr", "de", 1, "fr de" },
        { "Language: de\\n", "de", "fr", 2, "de fr" },
        { "Language: fr\\n", "de", "en", 0, "" },
        { "Language: en_GB\\n", "de", "en", 0, "" },
        { "Language: en\\n", "de", "en", 1, "de en" },
        { "", "en", "de", 1, "en de" },
        { "", "de", "en", 2, "de en" },
        { "", "fr", "de", 1, "fr de" },
        { "Language: de\\nX-Source-Language: fr\\n", "fr", "de", 1, "fr de" },
        { "Language: de\\nX-Source-Language: fr\\n", "en", "de", 0, "" },
    };

    for (size_t i = 0; i < COUNT(c); i++) {
        char text[200], langs[40];
        struct rows r;

        snprintf(text, sizeof text, "msgid \"\"\nmsgstr \"%s\"\n\n"
                 "msgid \"id\"\nmsgstr \"str\"\n", c[i].header);
        r = PO(text, .source_lang = c[i].source, .target_lang = c[i].target);
        CHECK_OK(r.st, &r.e);
        CHECK_INT(r.n, c[i].n > 0);
        CHECK_INT(r.counts.other_language, !c[i].n);
        if (r.n) {
            check_pair(&r, 0, c[i].n == 2 ? "str" : "id",
                       c[i].n == 2 ? "id" : "str");
            snprintf(langs, sizeof langs, "%s %s", r.u[0].source_lang.p,
                     r.u[0].target_lang.p);
            CHECK_STR(langs, c[i].langs);
        }
        rows_free(&r);
    }
}

TEST(po_swapped_comes_back_as_it_was)
{
    static const char text[] = GERMAN
        "msgid \"%d file\"\nmsgid_plural \"%d files\"\n"
        "msgstr[0] \"%d Datei\"\nmsgstr[1] \"%d Dateien\"\n\n"
        "msgctxt \"menu\"\nmsgid \"Open\"\nmsgstr \"Öffnen\"\n";
    struct rows r = PO(text, .source_lang = "de", .target_lang = "en");
    struct rows again;
    char *out;

    check_pair(&r, 0, "%d Datei", "%d file");
    check_pair(&r, 1, "%d Dateien", "%d files");
    check_pair(&r, 2, "Öffnen", "Open");
    out = rows_write(&r, AS_PO);
    again = PO(out, .source_lang = "de", .target_lang = "en");
    rows_same(&r, &again);
    CHECK(strstr(out, strstr(text, "msgid \"%d file\"")) != NULL);
    free(out);
    rows_free(&again);
    rows_free(&r);
}

/* The same without a header. */
TEST(po_swapped_without_header_comes_back)
{
    static const char text[] = "msgid \"Yes\"\nmsgstr \"Ja\"\n";
    struct rows r = PO(text, .source_lang = "de", .target_lang = "en");
    char *out = rows_write(&r, (struct writer_options){ .format = FORMAT_PO,
                           .source_lang = "de", .target_lang = "en" });

    check_pair(&r, 0, "Ja", "Yes");
    CHECK(strstr(out, text) != NULL);
    CHECK(strstr(out, "\"Language: de\\n\"\n\"X-Source-Language: en\\n"));
    free(out);
    rows_free(&r);
}

/* A program that is statically linked for an emulator finds no converters. */
static bool can_convert(void)
{
    iconv_t cd = iconv_open("UTF-8", "EUC-JP");

    if (cd == (iconv_t)-1) return false;
    iconv_close(cd);
    return true;
}

TEST(po_converts_other_charsets)
{
    struct rows r = PO("# \xC4rger\nmsgid \"\"\nmsgstr \"\"\n"
                       "\"Content-Type: text/plain; charset=ISO-8859-1\\n\"\n"
                       "\nmsgid \"annoyance\"\nmsgstr \"\xC4rger\"\n", 0);
    char *out;

    if (!can_convert()) {
        rows_free(&r);
        SKIP("no converters for other charsets here");
    }
    CHECK_OK(r.st, &r.e);
    check_pair(&r, 0, "annoyance", "Ärger");
    out = rows_write(&r, AS_PO);
    CHECK(strstr(out, "# Ärger\n") && strstr(out, "charset=UTF-8\\n"));
    free(out);
    rows_free(&r);
    r = PO("msgid \"\"\nmsgstr \"Content-Type: x; charset=EUC-JP\\n\"\n\n"
           "msgid \"a\"\nmsgstr \"x\xFF\"\n", 0);
    CHECK_STR(r.e.msg, "t:5:10: expected text in EUC-JP, as the header says");
    rows_free(&r);
    r = PO("msgid \"\"\nmsgstr \"Content-Type: x; charset=KLINGON\\n\"\n", 0);
    CHECK_INT(r.st, ST_FORMAT);
    CHECK(strstr(r.e.msg, "charset=KLINGON") != NULL);
    rows_free(&r);
    r = PO("msgid \"\"\nmsgstr \"Content-Type: x; charset=UTF-16\\n\"\n\n"
           "msgid \"abcd\"\nmsgstr \"efgh\"\n", 0);
    CHECK_STR(r.e.msg, "t: the header says charset=UTF-16, but the file is "
              "not in this encoding; correct the header");
    rows_free(&r);
    /* UTF-7 has no backslash, which PO needs. */
    r = PO("msgid \"\"\nmsgstr \"Content-Type: x; charset=UTF-7\\n\"\n\n"
           "msgid \"a\"\nmsgstr \"M+APw-ller\"\n", 0);
    CHECK_STR(r.e.msg, "t:2:39: expected text in UTF-7, as the header says");
    rows_free(&r);
    /* A byte order mark overrides the header. */
    r = PO("\xEF\xBB\xBFmsgid \"\"\nmsgstr \"Content-Type: x; "
           "charset=ISO-8859-1\\n\"\n\nmsgid \"a\"\nmsgstr \"ä\"\n", 0);
    CHECK_OK(r.st, &r.e);
    check_pair(&r, 0, "a", "ä");
    rows_free(&r);
}

/* A charset name that is too long is neither truncated nor ignored. */
TEST(po_names_a_charset_with_a_long_name)
{
    struct rows r = PO("msgid \"\"\nmsgstr \"Content-Type: x; charset="
                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\n\"\n\n"
                       "msgid \"a\"\nmsgstr \"b\"\n", 0);

    CHECK_INT(r.st, ST_FORMAT);
    CHECK(strstr(r.e.msg, "the header says charset=aaaaaaaaaa") != NULL);
    rows_free(&r);
}

/* gettext refuses a file in which two entries have the same msgid. */
/* Text that only resembles the field is not the field. */
TEST(po_takes_the_charset_from_a_field)
{
    struct rows r = PO("msgid \"\"\nmsgstr \"MyContent-Type: text/plain; "
                       "charset=ISO-8859-1\\n\"\n\nmsgid \"a\"\n"
                       "msgstr \"\xc3\xa4\"\n", 0);

    CHECK_OK(r.st, &r.e);
    check_pair(&r, 0, "a", "ä");
    rows_free(&r);
    if (!can_convert()) SKIP("no converters for other charsets here");
    r = PO("msgid \"\"\nmsgstr \"A: b\\nContent-Type: text/plain; "
           "charset=ISO-8859-1\\n\"\n\nmsgid \"a\"\n"
           "msgstr \"\xe4\"\n", 0);
    CHECK_OK(r.st, &r.e);
    check_pair(&r, 0, "a", "ä");
    rows_free(&r);
}

TEST(po_keeps_translations_of_one_text_apart)
{
    static const char *const target[] = { "Tor", "Gatter", "Tor" };
    struct rows r = { 0 };
    char *out;

    strbuf_init(&r.bad, 0);
    for (int i = 0; i < 3; i++)
        rows_add(&r, &(struct unit){ .source = str_of("gate"),
                                     .target = str_of(target[i]) });
    out = rows_write(&r, (struct writer_options){ .format = FORMAT_PO,
                     .source_lang = "en", .target_lang = "de" });
    CHECK(strstr(out, "\\n\"\n\nmsgid \"gate\"\nmsgstr \"Tor\"\n\n"
                 "msgctxt \"variant 2\"\nmsgid \"gate\"\nmsgstr \"Gatter\"\n\n"
                 "msgctxt \"variant 3\"\nmsgid \"gate\"\nmsgstr \"Tor\"\n"));
    CHECK(strstr(out, "\"Language: de\\n\"\n\"X-Source-Language: en\\n\""));
    free(out);
    rows_free(&r);
}

TEST(po_keeps_domains)
{
    static const char text[] = GERMAN
        "domain \"two\"\n\nmsgid \"a\"\nmsgstr \"A\"\n\n"
        "msgid \"b\"\nmsgstr \"B\"\n\ndomain \"three\"\n\n"
        "msgid \"a\"\nmsgstr \"A\"\n";
    struct rows r = PO(text, 0);
    char *out = rows_write(&r, AS_PO);

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 3);
    CHECK(strstr(out, strstr(text, "domain \"two\"")) != NULL);
    free(out);
    rows_free(&r);
}

/* The extra data of a memory may be anything. A comment in it must never become
 * an entry. */
TEST(po_writes_comments_as_comments)
{
    struct rows r = { 0 };
    char *out;

    strbuf_init(&r.bad, 0);
    rows_add(&r, &(struct unit){ .source = str_of("a"), .target = str_of("A"),
             .extra = str_of("{\"po\":{\"comments\":"
                             "\"msgid \\\"x\\\"\\n#~ y\\n\\n#. z\"}}") });
    rows_add(&r, &(struct unit){ .source = str_of("b"), .target = str_of("B"),
             .extra = str_of("no JSON") });
    out = rows_write(&r, AS_PO);
    CHECK(strstr(out, "\n\n# msgid \"x\"\n# #~ y\n#. z\nmsgid \"a\"\n"
                 "msgstr \"A\"\n\nmsgid \"b\"\n") != NULL);
    free(out);
    rows_free(&r);
}

TEST(po_of_a_program_comes_back)
{
    const char *path = test_data("../data/formats/plurals.po");
    struct reader_options o = { .fuzzy = true };
    struct rows r, again;
    char *out, *twice;

    rows_read_file(&r, path, o);
    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 14);
    CHECK_INT(r.counts.empty, 3);
    out = rows_write(&r, AS_PO);
    again = PO(out, .fuzzy = true);
    rows_same(&r, &again);
    for (int i = 0; i < r.n && i < again.n; i++)
        CHECK_STR(again.u[i].extra.p, r.u[i].extra.p);
    CHECK_STR(again.extra, r.extra);
    twice = rows_write(&again, AS_PO);
    CHECK_STR(twice, out);
    free(out);
    free(twice);
    rows_free(&again);
    rows_free(&r);
}

TEST(po_header_fields)
{
    struct str h = str_of("Language-Team: x\nlanguage:  de \nLast:\n"
                          "Content-Type: text/plain; Charset=utf-8; x\n");

    CHECK_INT(po_header_field(h, "Language").n, 2);
    CHECK_INT(po_header_field(h, "Last").n, 0);
    CHECK_INT(po_header_field(h, "Team").n, 0);
    CHECK_INT(po_header_charset(h).n, 5);
    CHECK_INT(po_header_charset(str_of("Content-Type: text/plain")).n, 0);
}
