/* test_tsv.c - reading TSV and CSV, the error messages for wrong lines, and
 * reading back what was written. */
#include "rows.h"

static struct rows read_text(enum format f, const char *text,
                             struct reader_options o)
{
    struct rows r;

    o.format = f;
    rows_read(&r, "t", str_of(text), (struct str){ NULL, 0 }, o);
    return r;
}

#define TSV(text, ...) read_text(FORMAT_TSV, text, \
                                 (struct reader_options){ __VA_ARGS__ })
#define CSV(text, ...) read_text(FORMAT_CSV, text, \
                                 (struct reader_options){ __VA_ARGS__ })
#define TO(f) (struct writer_options){ .format = FORMAT_##f }

static void check_pair(const struct rows *r, int i, const char *source,
                       const char *target)
{
    REQUIRE(r->n > i);
    CHECK_STR(r->u[i].source.p, source);
    CHECK_STR(r->u[i].target.p, target);
}

TEST(tsv_is_literal)
{
    struct rows r = TSV("C:\\new\\temp\t\"quoted\"\n a \t b \nä\tü", 0);

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 3);
    check_pair(&r, 0, "C:\\new\\temp", "\"quoted\"");
    check_pair(&r, 1, " a ", " b ");
    check_pair(&r, 2, "ä", "ü");
    CHECK_INT(r.u[2].line, 3);
    rows_free(&r);
}

TEST(tsv_takes_windows_line_ends)
{
    struct rows r = TSV("a\tb\r\n\r\nc\td\r\n", 0);

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 2);
    CHECK_INT(r.counts.empty, 1);
    check_pair(&r, 0, "a", "b");
    check_pair(&r, 1, "c", "d");
    rows_free(&r);
}

TEST(tsv_columns_are_chosen)
{
    struct rows r = TSV("doc\tde\ten\tnote\nx.html\tJa\tYes\t!\n",
                        .header = true, .source_column = 3,
                        .target_column = 2, .document_column = 1);
    char *out = rows_write(&r, TO(TSV));

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 1);
    check_pair(&r, 0, "Yes", "Ja");
    CHECK_STR(r.u[0].document.p, "x.html");
    CHECK_STR(out, "en\tde\tdoc\nYes\tJa\tx.html\n");
    free(out);
    rows_free(&r);
    r = TSV("a\tb\n", .source_column = -1);
    CHECK_INT(r.st, ST_ARGUMENT);
    rows_free(&r);
}

TEST(tsv_counts_what_is_empty)
{
    struct rows r = TSV("\tx\ny\t\n\n\t\na\tb\n", 0);

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 1);
    CHECK_INT(r.counts.empty, 4);
    rows_free(&r);
    r = TSV("", 0);
    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 0);
    rows_free(&r);
}

TEST(tsv_says_where_it_is_wrong)
{
    static const struct { const char *text, *message; } bad[] = {
        { "a\tb\nno tab\n", "t:2:7: expected 2 columns separated by tabs, "
          "found a line with 1" },
        { "a\tb\nc\td\xFF", "t:2:4: expected UTF-8, found an invalid byte (is "
          "the file in another encoding?)" },
        { "\xE4hnlich\tb\n", "t:1:1: expected UTF-8, found an invalid byte "
          "(is the file in another encoding?)" },
        { "a\t12345678901\n", "t:1: expected a target of at most 10 bytes, "
          "found 11" },
        { "a\tbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n",
          "t:1: expected a line of at most 40 bytes" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct rows r = TSV(bad[i].text, .max_text = 10);

        CHECK_INT(r.st, ST_FORMAT);
        CHECK_STR(r.e.msg, bad[i].message);
        rows_free(&r);
    }
}

TEST(tsv_skips_bad_lines)
{
    static const char text[] = "a\tb\nbad\nc\t\xFF\nd\0\te\n"
        "x\tyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\nf\tg";
    struct rows r;

    rows_read(&r, "t", (struct str){ text, sizeof text - 1 },
              (struct str){ NULL, 0 }, (struct reader_options){
              .format = FORMAT_TSV, .skip_bad = true, .max_text = 10 });
    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 2);
    check_pair(&r, 0, "a", "b");
    check_pair(&r, 1, "f", "g");
    CHECK_INT(r.u[1].line, 6);
    CHECK_INT(r.counts.bad, 4);
    CHECK_STR(r.bad.data, "2:4 expected 2 columns separated by tabs, "
              "found a line with 1\n"
              "3:3 expected UTF-8, found an invalid byte (is the file in "
              "another encoding?)\n"
              "4:2 expected text, found a NUL byte\n"
              "5:0 expected a line of at most 40 bytes\n");
    rows_free(&r);
}

static const char *const awkward[] = {
    "plain", "a\nb", "a\tb", "\n", "\t", "ends in \r", "\r\n", "a\rb",
    "\\", "\\n", "back\\slash\nand break", "␛", "␛\\n", "␛␛a\\tb", "␛a\nb",
    "\uFEFFbom", "\uFEFF", "\"", "\"quoted\"", "a\"b", "a,b", "a;b", ";;;",
    " x ", "\"\n\"", "ä,ö;ü\t",
};

/* Rotated so that each is first once, where a byte order mark matters. */
static struct rows awkward_rows(size_t turn)
{
    struct rows r = { 0 };

    strbuf_init(&r.bad, 0);
    for (size_t i = 0; i < COUNT(awkward); i++)
        rows_add(&r, &(struct unit){
                 .source = str_of(awkward[(i + turn) % COUNT(awkward)]),
                 .target = str_of(awkward[COUNT(awkward) - 1 - i]) });
    return r;
}

static void check_round_trip(enum format f, size_t turn)
{
    struct rows r = awkward_rows(turn);
    char *text = rows_write(&r, (struct writer_options){ .format = f });
    struct rows back = read_text(f, text, (struct reader_options){ 0 });

    CHECK_OK(back.st, &back.e);
    rows_same(&r, &back);
    free(text);
    rows_free(&back);
    rows_free(&r);
}

TEST(tables_give_back_any_text)
{
    for (size_t turn = 0; turn < COUNT(awkward); turn++) {
        check_round_trip(FORMAT_TSV, turn);
        check_round_trip(FORMAT_CSV, turn);
    }
}

TEST(tsv_marks_what_has_no_literal_form)
{
    struct rows r = TSV("␛a\\nb\t␛ is the key\n␛a\\qb\t␛a\\\\b\n", 0);
    char *text;

    CHECK_INT(r.n, 2);
    check_pair(&r, 0, "a\nb", "␛ is the key");
    check_pair(&r, 1, "␛a\\qb", "␛a\\\\b");      /* not written by us */
    text = rows_write(&r, TO(TSV));
    CHECK_STR(text, "␛a\\nb\t␛ is the key\n␛a\\qb\t␛a\\\\b\n");
    free(text);
    rows_free(&r);
}

TEST(tsv_file_comes_back_byte_for_byte)
{
    const char *path = test_data("../data/formats/literal.tsv");
    char *want, *got;
    struct rows r;
    size_t size;
    struct err e;

    REQUIRE_OK(file_read(&want, &size, path, 1 << 20, &e), &e);
    rows_read_file(&r, path, (struct reader_options){ 0 });
    CHECK_INT(r.n, 6);
    got = rows_write(&r, TO(TSV));
    CHECK_STR(got, want);
    check_pair(&r, 4, "Zeile 1\nZeile 2", "line 1\nline 2");
    free(want);
    free(got);
    rows_free(&r);
}

TEST(tsv_reads_a_line_of_ten_megabytes)
{
    size_t n = (size_t)5 << 20;
    char *text = malloc(2 * n + 8);
    struct rows r;

    memset(text, 'x', 2 * n + 8);
    text[n] = '\t';
    memcpy(text + 2 * n, "\na\tb\nc", 6);
    rows_read(&r, "t", (struct str){ text, 2 * n + 5 },
              (struct str){ NULL, 0 },
              (struct reader_options){ .format = FORMAT_TSV });
    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 2);
    CHECK_INT(r.u[0].source.n, n);
    CHECK_INT(r.u[0].target.n, n - 1);
    check_pair(&r, 1, "a", "b");
    free(text);
    rows_free(&r);
}

TEST(csv_follows_rfc_4180)
{
    struct rows r = CSV("a,b\n\"x \"\"y\"\", z\",\"line 1\nline 2\"\n"
                        "it \"is\",\"\"\"\"\nlast,\"one\"", 0);

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 4);
    check_pair(&r, 0, "a", "b");
    check_pair(&r, 1, "x \"y\", z", "line 1\nline 2");
    check_pair(&r, 2, "it \"is\"", "\"");
    check_pair(&r, 3, "last", "one");
    CHECK_INT(r.u[1].line, 2);
    CHECK_INT(r.u[2].line, 4);
    rows_free(&r);
}

TEST(csv_finds_the_delimiter)
{
    struct rows r = CSV("Guten Tag, Welt;Hello, world\nJa, ja;Yes\n", 0);

    check_pair(&r, 0, "Guten Tag, Welt", "Hello, world");
    rows_free(&r);
    r = CSV("a, b\tc; d\n", 0);
    check_pair(&r, 0, "a, b", "c; d");
    rows_free(&r);
    r = CSV("\"a;b\",c\n\"d;e\",f\n", 0);
    check_pair(&r, 0, "a;b", "c");
    rows_free(&r);
    r = CSV("x;a,b\ny;c,d\n", 0);
    check_pair(&r, 0, "x", "a,b");               /* both delimiters fit */
    rows_free(&r);
    r = CSV("a,b\nc;d,e\nf,g\n", 0);
    check_pair(&r, 1, "c;d", "e");
    rows_free(&r);
}

TEST(csv_of_a_spreadsheet)
{
    struct rows r;
    char *out;

    rows_read_file(&r, test_data("../data/formats/semicolons.csv"),
                   (struct reader_options){ .header = true,
                                            .document_column = 3 });
    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 4);
    check_pair(&r, 0, "Guten Tag; guten Abend, gute Nacht",
               "Good day, good evening, good night");
    check_pair(&r, 1, "Er sagte: \"Nein.\"", "He said: \"No.\"");
    check_pair(&r, 2, "Zeile 1\nZeile 2", "Line 1\nLine 2");
    CHECK_STR(r.u[2].document.p, "liesmich.txt");
    CHECK_INT(r.u[3].line, 7);
    out = rows_write(&r, TO(CSV));
    CHECK(!strncmp(out, "de,en,Dokument\n\"Guten Tag; guten Abend, ", 40));
    CHECK(strstr(out, "\"Zeile 1\nZeile 2\",\"Line 1\nLine 2\","
                 "\"liesmich.txt\"\n")
          != NULL);
    free(out);
    rows_free(&r);
}

TEST(csv_says_where_it_is_wrong)
{
    static const struct { const char *text, *message; } bad[] = {
        { "a,b\nx\n", "t:2:2: expected 2 columns separated by commas, "
          "found a record with 1" },
        { "a,b\n\"c,d\ne,f\n", "t:2:1: expected a closing quote, found none" },
        { "a,b\n\"c\"d,e\n", "t:2:4: expected a delimiter or a line end after "
          "the closing quote" },
        { "a,b\n\"c\nd\xFF\",e\n", "t:3:2: expected UTF-8, found an invalid "
          "byte (is the file in another encoding?)" },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct rows r = CSV(bad[i].text, 0);

        CHECK_INT(r.st, ST_FORMAT);
        CHECK_STR(r.e.msg, bad[i].message);
        rows_free(&r);
    }
}

/* A missing quote does not lose the records after it. */
TEST(csv_goes_on_behind_a_missing_quote)
{
    struct rows r = CSV("a,b\n\"c,d\ne,f\n\"g\",h\n\"i\"j,k\nl,m\n",
                        .skip_bad = true);

    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.counts.bad, 2);
    CHECK_INT(r.n, 4);
    check_pair(&r, 1, "e", "f");
    CHECK_INT(r.u[1].line, 3);
    check_pair(&r, 2, "g", "h");
    check_pair(&r, 3, "l", "m");
    CHECK_INT(r.u[3].line, 6);
    rows_free(&r);
}

/* Records larger than the buffer, with quotes at its border. */
TEST(csv_reads_long_records)
{
    size_t n = (size_t)3 << 20, at = 0;
    char *text = malloc(2 * n + 64);
    struct rows r;

    text[at++] = '"';
    for (size_t i = 0; i < n; i++) {
        text[at++] = i % 3 ? '"' : '\n';
        if (i % 3) text[at++] = '"';
    }
    memcpy(text + at, "\",b\nc,d", 8);
    rows_read(&r, "t", str_of(text), (struct str){ NULL, 0 },
              (struct reader_options){ .format = FORMAT_CSV });
    CHECK_OK(r.st, &r.e);
    CHECK_INT(r.n, 2);
    CHECK_INT(r.u[0].source.n, n);
    check_pair(&r, 1, "c", "d");
    free(text);
    rows_free(&r);
}

/* ---- headers ------------------------------------------------------------ */

TEST(tables_with_a_header_are_recognized)
{
    static const struct { const char *first; bool header; } row[] = {
        { "source\ttarget", true }, { "Source\tTarget", true },
        { " SRC \tTGT", true }, { "Original\tTranslation", true },
        { "source (Deutsch)\ttarget (Englisch)", true },
        { "de\ten", true }, { "de-DE\ten_US", true }, { "msgid\tmsgstr", true },
        { "target\tsource", false }, { "de\tde-AT", false },
        { "Hund\tdog", false }, { "source\tQuelle", false },
        { "ja\tyes", false }, { "de facto\tin fact", false },
        { "deu_Latn\teng_Latn", true }, { "ger\teng", true },
        { "d\te", false }, { "xx\tyy", false }, { "(source)\t(target)", false },
    };

    for (size_t i = 0; i < COUNT(row); i++) {
        char text[200];
        struct rows r;

        snprintf(text, sizeof text, "\n%s\nde\ten\n", row[i].first);
        r = TSV(text, 0);
        CHECK_OK(r.st, &r.e);
        CHECK_INT(r.n, row[i].header ? 1 : 2);
        CHECK_INT(r.counts.headers, row[i].header);
        rows_free(&r);
        r = TSV(text, .no_header = true);
        CHECK_INT(r.n, 2);
        CHECK_INT(r.counts.headers, 0);
        rows_free(&r);
        r = TSV(text, .header = true);
        CHECK_INT(r.n, 1);
        CHECK_INT(r.counts.headers, 0);
        rows_free(&r);
    }
}

/* Codes of languages other than those of the pairs are words, such as "es" and
 * "it". */
TEST(codes_in_a_header_are_those_of_the_pairs)
{
    struct rows r = TSV("es\tit\nHund\tdog\n", .source_lang = "de",
                        .target_lang = "en");

    CHECK_INT(r.n, 2);
    rows_free(&r);
    r = TSV("de\ten\nHund\tdog\n", .source_lang = "de-AT",
            .target_lang = "en");
    CHECK_INT(r.n, 1);
    rows_free(&r);
}

/* A file that is written with a header, or whose first pair looks like one, is
 * read back correctly without options and without a file name. */
static void check_header_round_trip(enum format f, const char *names,
                                    const char *first)
{
    char text[400];
    struct rows r, back;
    char *out;

    snprintf(text, sizeof text, "%s%s\nZeile\tline, \"quoted\"\n"
             "␛a\\nb\t c;d\n", names, first);
    r = read_text(FORMAT_TSV, text, (struct reader_options){
                  .header = *names, .no_header = !*names });
    CHECK_INT(r.n, 3);
    out = rows_write(&r, (struct writer_options){ .format = f });
    rows_read(&back, "t", str_of(out), (struct str){ NULL, 0 },
              (struct reader_options){ 0 });
    CHECK_OK(back.st, &back.e);
    rows_same(&r, &back);
    free(out);
    rows_free(&back);
    rows_free(&r);
}

TEST(tables_with_a_header_come_back)
{
    static const char *const names[] = {
        "", "source\ttarget\n", "de\ten\n", "Deutsch\tEnglisch\n", "\t\n",
        "a,b\tc;d\n", "␛a\\nb\t(x)\n"
    };
    static const char *const first[] = {
        "eins\tone", "source\ttarget", "es\tit", "de\ten", "a,b\tc\"d"
    };

    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t k = 0; k < COUNT(first); k++) {
            check_header_round_trip(FORMAT_TSV, names[i], first[k]);
            check_header_round_trip(FORMAT_CSV, names[i], first[k]);
        }
}

TEST(names_that_are_not_known_are_written_so_that_they_are)
{
    struct rows r = TSV("Deutsch\tEnglisch\nHund\tdog\n", .header = true);
    char *out = rows_write(&r, TO(CSV));

    CHECK_STR(out, "source (Deutsch),target (Englisch)\nHund,dog\n");
    free(out);
    out = rows_write(&r, TO(TSV));
    CHECK_STR(out, "source (Deutsch)\ttarget (Englisch)\nHund\tdog\n");
    free(out);
    rows_free(&r);
}
