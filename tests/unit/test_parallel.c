/* test_parallel.c - reading and writing parallel text, two files line by
 * line. */
#include "rows.h"

static struct rows read_two(const char *source, const char *target,
                            struct reader_options o)
{
    struct rows r;

    o.format = FORMAT_PARALLEL;
    rows_read(&r, "t", str_of(source), str_of(target), o);
    return r;
}

#define READ(source, target, ...) \
    read_two(source, target, (struct reader_options){ __VA_ARGS__ })

TEST(parallel_pairs_lines)
{
    struct rows r = READ("a\tb\nC:\\neu\n\nd", "A\r\nC:\\new\r\n\r\nD\r\n", 0);

    CHECK_OK(r.st, &r.e);
    REQUIRE(r.n == 3);
    CHECK_INT(r.counts.empty, 1);
    CHECK_STR(r.u[0].source.p, "a\tb");
    CHECK_STR(r.u[0].target.p, "A");
    CHECK_STR(r.u[1].source.p, "C:\\neu");
    CHECK_STR(r.u[2].target.p, "D");
    CHECK_INT(r.u[2].line, 4);
    rows_free(&r);
}

TEST(parallel_needs_as_many_lines_in_both)
{
    struct rows r = READ("a\nb\nc\n", "A\n", .skip_bad = true);

    CHECK_INT(r.st, ST_FORMAT);
    CHECK_STR(r.e.msg, "expected the same number of lines in both files: t "
              "has 3, t has 1");
    CHECK_INT(r.n, 1);
    rows_free(&r);
    r = READ("a", "A\nB\nC\nD", 0);
    CHECK_STR(r.e.msg, "expected the same number of lines in both files: t "
              "has 1, t has 4");
    rows_free(&r);
}

TEST(parallel_says_which_line_is_wrong)
{
    struct rows r = READ("a\nb\n", "A\nB\xFF\n", 0);

    CHECK_INT(r.st, ST_FORMAT);
    CHECK_STR(r.e.msg, "t:2:2: expected UTF-8, found an invalid byte (is "
              "the file in another encoding?)");
    rows_free(&r);
    r = READ("a\n\xC3\nccccccccccc\nd\n", "A\nB\nC\nD\n", .skip_bad = true,
             .max_text = 10);
    CHECK_OK(r.st, &r.e);
    REQUIRE(r.n == 2);
    CHECK_STR(r.u[1].target.p, "D");
    CHECK_INT(r.counts.bad, 2);
    CHECK_STR(r.bad.data, "2:1 expected UTF-8, found an invalid byte (is "
              "the file in another encoding?)\n"
              "3:0 expected a line of at most 10 bytes\n");
    rows_free(&r);
}

/* The message names the file that contains the line. */
TEST(parallel_names_the_file)
{
    struct reader_options o = { .format = FORMAT_PARALLEL };
    const struct unit *u;
    struct scratch dir;
    struct reader *r;
    struct err e;

    REQUIRE(scratch_make(&dir));
    scratch_write(&dir, "x.de", "a\n");
    scratch_write(&dir, "x.en", "\xFF\n");
    o.target_path = scratch_path(&dir, "x.en");
    if (CHECK_OK(reader_open(&r, scratch_path(&dir, "x.de"), &o, &e), &e)) {
        CHECK_INT(reader_next(r, &u, &e), ST_FORMAT);
        CHECK(strstr(e.msg, "x.en:1:1: ") != NULL);
        reader_close(r);
    }
    scratch_remove(&dir);
}

TEST(parallel_gives_back_any_text)
{
    struct rows r = READ("␛a\\nb\n␛x\n\\n\n", "A\nX\n\t\n", 0);
    struct writer_options o = { .format = FORMAT_PARALLEL };
    char *text;

    REQUIRE(r.n == 3);
    CHECK_STR(r.u[0].source.p, "a\nb");
    text = rows_write(&r, o);
    CHECK_STR(text, "␛a\\nb\n␛x\n\\n\nA\nX\n\t\n");
    free(text);
    rows_free(&r);
}
