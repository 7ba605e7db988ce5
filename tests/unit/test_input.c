/* test_input.c - compressed and encoded files are read as UTF-8, completely or
 * with an error message; formats are recognized by content. */
#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/strbuf.h"
#include "formats/input.h"
#include "formats/output.h"
#include "formats/reader.h"
#include "scratch_dir.h"

/* ---- reading ------------------------------------------------------------- */

static enum status drain(struct input *in, struct strbuf *out, struct err *e)
{
    const char *p;
    enum status st;
    size_t n;

    while (!(st = input_peek(in, &p, &n, e)) && n) {
        strbuf_add(out, p, n);
        input_take(in, n);
    }
    return st;
}

static enum status read_bytes(const void *bytes, size_t n, struct strbuf *out,
                              struct err *e)
{
    struct input *in;
    enum status st = input_open_memory(&in, "mem", bytes, n, e);

    strbuf_reset(out);
    if (!st) st = drain(in, out, e);
    input_close(in);
    return st;
}

/* Lines that compress, but not to almost nothing. */
static void make_text(struct strbuf *out, size_t lines)
{
    for (size_t i = 0; i < lines; i++)
        strbuf_addf(out, "line %zu of a text, %zu\n", i, i * 2654435761u);
}

static bool write_file(const char *path, const struct strbuf *text)
{
    struct err e = { 0 };
    struct output *o;
    enum status st = output_open(&o, path, &e);

    /* Reads in pieces of different sizes. */
    for (size_t at = 0, n = 1; !st && at < text->len; at += n, n = n * 3 + 1) {
        if (n > text->len - at) n = text->len - at;
        st = output_write(o, text->data + at, n, &e);
    }
    if (!st) st = output_commit(o, &e);
    output_close(o);
    return CHECK_OK(st, &e);
}

static bool slurp(const char *path, struct strbuf *out)
{
    FILE *f = fopen(path, "rb");
    char buf[4096];
    size_t n;

    if (!CHECK(f != NULL)) return false;
    strbuf_reset(out);
    while ((n = fread(buf, 1, sizeof buf, f)) > 0) strbuf_add(out, buf, n);
    fclose(f);
    return true;
}

static const char *const endings[] = { "", ".gz", ".xz", ".zst" };

TEST(packed_files_come_back)
{
    struct strbuf text, got;
    struct scratch dir;

    strbuf_init(&text, 0);
    strbuf_init(&got, 0);
    make_text(&text, 40000);
    REQUIRE(scratch_make(&dir));
    for (size_t i = 0; i < COUNT(endings); i++) {
        struct err e = { 0 };
        struct input *in;
        char name[32];

        snprintf(name, sizeof name, "text%s", endings[i]);
        if (!write_file(scratch_path(&dir, name), &text)) continue;
        if (!CHECK_OK(input_open(&in, scratch_path(&dir, name), &e), &e))
            continue;
        strbuf_reset(&got);
        CHECK_OK(drain(in, &got, &e), &e);
        CHECK_INT(got.len, text.len);
        CHECK(!strcmp(got.data, text.data));
        CHECK_INT(input_done(in), input_total(in));
        CHECK(i == 0 || input_total(in) < text.len / 2);
        input_close(in);
    }
    scratch_remove(&dir);
    strbuf_release(&text);
    strbuf_release(&got);
}

/* A skippable frame has no content. A text that begins like one is a text. */
TEST(zstd_frames_to_skip)
{
    static const char text[] = "Y*M\x18,longer than a frame's head\n";
    char packed[128] = "Y*M\x18\3\0\0\0abc";
    struct strbuf got;
    struct err e;
    size_t n;

    strbuf_init(&got, 0);
    n = ZSTD_compress(packed + 11, sizeof packed - 11, "said", 4, 1);
    REQUIRE(!ZSTD_isError(n));
    CHECK_INT(read_bytes(packed, 11 + n, &got, &e), ST_OK);
    CHECK(got.len == 4 && !memcmp(got.data, "said", 4));
    for (size_t len = 4; len < sizeof text; len++) {
        CHECK_INT(read_bytes(text, len, &got, &e), ST_OK);
        CHECK(got.len == len && !memcmp(got.data, text, len));
    }
    strbuf_release(&got);
}

TEST(truncated_and_damaged_data_is_an_error)
{
    struct strbuf text, packed, got;
    struct scratch dir;

    strbuf_init(&text, 0);
    strbuf_init(&packed, 0);
    strbuf_init(&got, 0);
    make_text(&text, 20000);
    REQUIRE(scratch_make(&dir));
    for (size_t i = 1; i < COUNT(endings); i++) {
        struct err e = { 0 };
        char name[32];

        snprintf(name, sizeof name, "text%s", endings[i]);
        if (!write_file(scratch_path(&dir, name), &text) ||
            !slurp(scratch_path(&dir, name), &packed)) continue;
        for (size_t cut = 7; cut < packed.len; cut += packed.len / 5)
            CHECK_INT(read_bytes(packed.data, cut, &got, &e), ST_FORMAT);
        CHECK_INT(read_bytes(packed.data, packed.len - 1, &got, &e),
                  ST_FORMAT);
        CHECK(strstr(e.msg, "ends too early") != NULL);
        packed.data[packed.len / 2] ^= 0x40;
        CHECK_INT(read_bytes(packed.data, packed.len, &got, &e), ST_FORMAT);
    }
    scratch_remove(&dir);
    strbuf_release(&text);
    strbuf_release(&packed);
    strbuf_release(&got);
}

TEST(concatenated_members_are_read)
{
    struct strbuf text, packed, twice, got;
    struct scratch dir;
    struct err e = { 0 };

    strbuf_init(&text, 0);
    strbuf_init(&packed, 0);
    strbuf_init(&twice, 0);
    strbuf_init(&got, 0);
    make_text(&text, 3000);
    REQUIRE(scratch_make(&dir));
    for (size_t i = 1; i < COUNT(endings); i++) {
        char name[32];

        snprintf(name, sizeof name, "text%s", endings[i]);
        if (!write_file(scratch_path(&dir, name), &text) ||
            !slurp(scratch_path(&dir, name), &packed)) continue;
        strbuf_reset(&twice);
        strbuf_add(&twice, packed.data, packed.len);
        strbuf_add(&twice, packed.data, packed.len);
        CHECK_OK(read_bytes(twice.data, twice.len, &got, &e), &e);
        CHECK_INT(got.len, 2 * text.len);
    }
    /* gzip members may be padded with zeros, but not with other bytes. */
    REQUIRE(slurp(scratch_path(&dir, "text.gz"), &packed));
    strbuf_add(&packed, "\0\0\0", 3);
    CHECK_OK(read_bytes(packed.data, packed.len, &got, &e), &e);
    CHECK_INT(got.len, text.len);
    strbuf_add(&packed, "abc", 3);
    CHECK_INT(read_bytes(packed.data, packed.len, &got, &e), ST_FORMAT);
    scratch_remove(&dir);
    strbuf_release(&text);
    strbuf_release(&packed);
    strbuf_release(&twice);
    strbuf_release(&got);
}

TEST(large_windows_are_refused)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    char plain[] = "text", packed[200];
    ZSTD_outBuffer to = { packed, sizeof packed, 0 };
    ZSTD_inBuffer from = { plain, 4, 0 };
    struct strbuf got;
    struct err e = { 0 };

    REQUIRE(z != NULL);
    strbuf_init(&got, 0);
    ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, 28);
    ZSTD_compressStream2(z, &to, &from, ZSTD_e_flush);
    ZSTD_compressStream2(z, &to, &from, ZSTD_e_end);
    CHECK_INT(read_bytes(packed, to.pos, &got, &e), ST_LIMIT);
    CHECK(strstr(e.msg, "128 MiB") != NULL);
    ZSTD_freeCCtx(z);
    strbuf_release(&got);
}

TEST(byte_order_marks_and_utf16)
{
    static const struct { const char *bytes; size_t n; const char *want; }
    good[] = {
        { "\xEF\xBB\xBF" "abc", 6, "abc" },
        { "abc", 3, "abc" },
        { "", 0, "" },
        { "\xFF\xFE" "a\0\xE4\0", 6, "a\xC3\xA4" },
        { "\xFE\xFF" "\0a\0\xE4", 6, "a\xC3\xA4" },
        { "\xFF\xFE" "\x3D\xD8\0\xDE!\0", 8, "\xF0\x9F\x98\x80!" },
        { "<\0?\0x\0", 6, "<?x" },
        { "\0<\0?\0x", 6, "<?x" },
    };
    static const struct { const char *bytes; size_t n; const char *why; }
    bad[] = {
        { "\xFF\xFE" "a\0\0\xDE", 6, "byte 5: a lone low surrogate" },
        { "\xFF\xFE" "\x3D\xD8" "a\0", 6, "byte 3: a lone high surrogate" },
        { "\xFF\xFE" "\x3D\xD8", 4, "half a character" },
        { "\xFF\xFE" "a\0b", 5, "byte 5: half a character" },
        { "\xFF\xFE\0\0a\0\0\0", 8, "the encoding UTF-32 is not supported" },
        { "\0\0\xFE\xFF\0\0\0a", 8, "the encoding UTF-32 is not supported" },
    };
    struct strbuf got;
    struct err e = { 0 };

    strbuf_init(&got, 0);
    for (size_t i = 0; i < COUNT(good); i++) {
        CHECK_OK(read_bytes(good[i].bytes, good[i].n, &got, &e), &e);
        CHECK_STR(got.data, good[i].want);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT(read_bytes(bad[i].bytes, bad[i].n, &got, &e), ST_FORMAT);
        if (!strstr(e.msg, bad[i].why)) CHECK_STR(e.msg, bad[i].why);
    }
    strbuf_release(&got);
}

/* Long enough that surrogate pairs straddle the end of every buffer. */
TEST(long_utf16)
{
    struct strbuf text, got, want;
    struct err e = { 0 };

    strbuf_init(&text, 0);
    strbuf_init(&got, 0);
    strbuf_init(&want, 0);
    strbuf_add(&text, "\xFF\xFE" "x\0", 4);
    strbuf_adds(&want, "x");
    for (int i = 0; i < 200000; i++) {
        strbuf_add(&text, "\x3D\xD8\0\xDE", 4);
        strbuf_adds(&want, "\xF0\x9F\x98\x80");
    }
    CHECK_OK(read_bytes(text.data, text.len, &got, &e), &e);
    CHECK_INT(got.len, want.len);
    CHECK(!strcmp(got.data, want.data));
    strbuf_release(&text);
    strbuf_release(&got);
    strbuf_release(&want);
}

TEST(peek_more_gives_as_much_as_there_is)
{
    struct strbuf text;
    struct input *in;
    struct err e = { 0 };
    const char *p;
    size_t n, left;

    strbuf_init(&text, 0);
    make_text(&text, 30000);
    left = text.len;
    REQUIRE_OK(input_open_memory(&in, "mem", text.data, text.len, &e), &e);
    while (left) {
        size_t want = 65536 < left ? 65536 : left;

        REQUIRE_OK(input_peek_more(in, 65536, &p, &n, &e), &e);
        REQUIRE(n >= want);
        CHECK(!memcmp(p, text.data + text.len - left, want));
        input_take(in, want < 30001 ? want : 30001);
        left -= want < 30001 ? want : 30001;
    }
    CHECK_OK(input_peek(in, &p, &n, &e), &e);
    CHECK_INT(n, 0);
    input_close(in);
    strbuf_release(&text);
}

TEST(a_missing_file_is_named)
{
    struct input *in;
    struct err e = { 0 };

    CHECK_INT(input_open(&in, "/nonexistent/x.tmx", &e), ST_IO);
    CHECK_STR(e.msg, "/nonexistent/x.tmx: No such file or directory");
    CHECK(in == NULL);
    CHECK_INT(input_open(&in, "/tmp", &e), ST_IO);
}

/* ---- writing ------------------------------------------------------------- */

TEST(an_output_that_is_not_committed_leaves_no_trace)
{
    struct scratch dir;
    struct output *o;
    struct strbuf got;
    struct err e = { 0 };
    char left[300];

    strbuf_init(&got, 0);
    REQUIRE(scratch_make(&dir));
    REQUIRE(scratch_write(&dir, "a.txt", "old"));
    REQUIRE_OK(output_open(&o, scratch_path(&dir, "a.txt"), &e), &e);
    CHECK_OK(output_puts(o, "new", &e), &e);
    output_close(o);
    CHECK(slurp(scratch_path(&dir, "a.txt"), &got));
    CHECK_STR(got.data, "old");
    snprintf(left, sizeof left, "test $(ls %s | wc -l) = 1", dir.dir);
    CHECK_INT(system(left), 0);
    strbuf_release(&got);
    scratch_remove(&dir);
}

/* ---- recognizing formats ------------------------------------------------- */

static enum format recognized(const char *name, const char *text)
{
    struct reader_options o = { 0 };
    struct err e = { 0 };
    struct reader *r;
    enum format f = FORMAT_AUTO;

    if (!reader_open_memory(&r, name, str_of(text), (struct str){ 0 }, &o,
                            &e)) {
        f = reader_format(r);
        reader_close(r);
    } else if (!e.msg[0]) {
        test_fail(__FILE__, __LINE__, "no sentence for %s", name);
    }
    return f;
}

TEST(formats_are_recognized_by_content)
{
    static const struct { const char *name, *text; enum format want; } c[] = {
        { "x", "<?xml version='1.0'?>\n<tmx version='1.4'>", FORMAT_TMX },
        { "x.po", "\n <!-- <xliff> --><!DOCTYPE tmx SYSTEM \"a\"><tmx/>",
          FORMAT_TMX },
        { "x", "<!DOCTYPE tmx [<!ELEMENT a (b)>]><tmx>", FORMAT_TMX },
        { "x", "<xliff version='1.2'>", FORMAT_XLIFF },
        { "x", "<a:xliff xmlns:a='x'>", FORMAT_XLIFF },
        { "x.tmx", "<html><body>", FORMAT_AUTO },
        { "x", "# comment\n\nmsgid \"\"\nmsgstr \"\"\n", FORMAT_PO },
        { "x.txt", "#~ msgid \"a\"\n", FORMAT_PO },
        { "x", "eins\tone\n", FORMAT_TSV },
        { "x", "\n\n# eins\tone\nzwei\ttwo\n", FORMAT_TSV },
        { "x.csv", "eins,one\n", FORMAT_CSV },
        { "x.csv.gz", "\"a\tb\",one\n", FORMAT_CSV },
        { "x", "eins,one\n", FORMAT_CSV },
        { "x", "eins;one\nzwei;two", FORMAT_CSV },
        { "x", "\"eins, zwei\",\"one\ntwo\"\ndrei,three\n", FORMAT_CSV },
        { "x", "\"a\tb\",one\n", FORMAT_CSV },
        { "x", "msgid,msgstr,note\neins,one,x\n", FORMAT_CSV },
        { "x.txt", "source,target,note\r\neins,one,x\r\n", FORMAT_CSV },
        /* TSV that contains commas, semicolons and quotes. */
        { "x", "Ja, klar\tYes, sure\nnein,nein\tno,no\n", FORMAT_TSV },
        { "x", "a,b\tc,d\ne,f\tg,h\n", FORMAT_TSV },
        { "x", "a;b\tc\n", FORMAT_TSV },
        { "x", "\"a\"\t\"b, c\"\n", FORMAT_TSV },
        { "x", "\"Ja, klar\tYes, sure\"\n", FORMAT_TSV },
        { "x.tsv", "eins,one\n", FORMAT_TSV },
        { "x.po", "eins,one\n", FORMAT_PO },
        { "x", "# a, b\nmsgid \"a,b\"\nmsgstr \"\"\n", FORMAT_PO },
        /* Text with commas. */
        { "x", "Hello, world.\nNice, to meet you.\n", FORMAT_AUTO },
        { "x", "\"Ja\", sagte er.\n\"Nein\", sagte sie.\n", FORMAT_AUTO },
        { "x", "one,two\nthree\n", FORMAT_AUTO },
        { "x", "one,two,three\nfour,five,six\n", FORMAT_AUTO },
        { "x", "\"one,two\n", FORMAT_AUTO },
        { "x", "<p>one,two</p>\n", FORMAT_AUTO },
        { "x.txt", "Nur Text.\n", FORMAT_AUTO },
        { "x", "", FORMAT_AUTO },
        { "x.tsv", "", FORMAT_TSV },
        { "x.po", "", FORMAT_PO },
        { "x.xlf.zst", "", FORMAT_XLIFF },
        { "x.tsv", "no tab\n", FORMAT_TSV },
    };

    for (size_t i = 0; i < COUNT(c); i++) {
        enum format got = recognized(c[i].name, c[i].text);
        if (got != c[i].want)
            test_fail(__FILE__, __LINE__, "%s with %s: %s, want %s",
                      c[i].name, c[i].text, format_name(got),
                      format_name(c[i].want));
    }
}

TEST(what_is_not_recognized_says_what_was_expected)
{
    struct reader_options o = { 0 };
    struct err e = { 0 };
    struct reader *r;

    CHECK_INT(reader_open_memory(&r, "a", str_of("no tab"),
                                 (struct str){ 0 }, &o, &e), ST_FORMAT);
    CHECK_STR(e.msg, "a: the format was not recognized (TMX, XLIFF, PO, TSV "
              "or CSV); name it with --format");
    CHECK_INT(reader_open_memory(&r, "a", str_of("<html/>"),
                                 (struct str){ 0 }, &o, &e), ST_FORMAT);
    CHECK_STR(e.msg, "a: expected an XML file with <tmx> or <xliff>, found "
              "<html>");
}

TEST(formats_by_name)
{
    enum format f;

    CHECK(format_parse("TMX", &f) && f == FORMAT_TMX);
    CHECK(format_parse("text", &f) && f == FORMAT_PARALLEL);
    CHECK(!format_parse("doc", &f));
    CHECK_INT(format_of_path("a/b.TMX.gz"), FORMAT_TMX);
    CHECK_INT(format_of_path("a.sdlxliff"), FORMAT_XLIFF);
    CHECK_INT(format_of_path("a.pot.zst"), FORMAT_PO);
    CHECK_INT(format_of_path(".tmx"), FORMAT_AUTO);
    CHECK_INT(format_of_path("tmx"), FORMAT_AUTO);
}

/* A pipe is written directly: renaming a file over it would remove it. */
TEST(a_pipe_is_written_and_not_replaced)
{
    struct scratch dir;
    struct output *o;
    struct stat sb;
    char got[8] = "";
    struct err e;
    int fd;

    REQUIRE(scratch_make(&dir));
    REQUIRE(!mkfifo(scratch_path(&dir, "pipe.gz"), 0600));
    fd = open(scratch_path(&dir, "pipe.gz"), O_RDONLY | O_NONBLOCK);
    REQUIRE(fd >= 0);
    REQUIRE_OK(output_open(&o, scratch_path(&dir, "pipe.gz"), &e), &e);
    CHECK_OK(output_puts(o, "plain", &e), &e);
    CHECK_OK(output_commit(o, &e), &e);
    output_close(o);
    CHECK_INT(read(fd, got, sizeof got), 5);
    CHECK_STR(got, "plain");
    close(fd);
    CHECK(!stat(scratch_path(&dir, "pipe.gz"), &sb) && S_ISFIFO(sb.st_mode));
    scratch_remove(&dir);
}

TEST(a_full_device_is_an_error)
{
    struct output *o;
    struct err e;

    if (access("/dev/full", W_OK)) SKIP("there is no /dev/full");
    REQUIRE_OK(output_open(&o, "/dev/full", &e), &e);
    CHECK_OK(output_puts(o, "text", &e), &e);
    CHECK_INT(output_commit(o, &e), ST_IO);
    CHECK(strstr(e.msg, "/dev/full: "));
    output_close(o);
}
