/* test_file_set.c - tests of reading the files of a folder and of zip archives:
 * what is listed, reading at any place, and what is refused. */
#include <sys/stat.h>

#include "../memory_stream.h"
#include "convert/file_set.h"
#include "scratch_dir.h"
#include "zip_builder.h"

static enum status open_zip(struct file_set **s, const struct zip_builder *z,
                            struct err *e)
{
    return file_set_open_stream(s, memory_stream_new(z->out.data, z->out.len),
                                e);
}

/* The archive must be refused with a message that contains `what`. */
static void refuse(struct zip_builder *z, const char *what)
{
    struct file_set *s;
    struct err e = { 0 };

    CHECK(open_zip(&s, z, &e) != ST_OK);
    CHECK(!s);
    if (!strstr(e.msg, what)) CHECK_STR(e.msg, what);
    if (!strstr(e.msg, "memory")) CHECK_STR(e.msg, "the name of the file");
    zip_release(z);
}

static void refuse_part(const struct zip_part *p, const char *what)
{
    struct zip_builder z;

    zip_begin(&z);
    zip_put(&z, p);
    zip_end(&z);
    refuse(&z, what);
}

static void check_file(struct file_set *s, const char *name, const char *want)
{
    struct err e = { 0 };
    char *text;
    size_t size;

    REQUIRE_OK(file_set_read(s, name, 1 << 20, &text, &size, &e), &e);
    CHECK_INT(size, strlen(want));
    CHECK_STR(text, want);
    free(text);
}

TEST(file_set_reads_a_folder)
{
    struct scratch d;
    struct file_set *s;
    struct err e = { 0 };
    uint64_t size;

    REQUIRE(scratch_make(&d));
    scratch_write(&d, "b.txt", "second");
    scratch_write(&d, "a.txt", "first");
    scratch_write(&d, ".hidden", "no");
    CHECK(!mkdir(scratch_path(&d, "sub"), 0777));
    scratch_write(&d, "sub/c.txt", "third");
    CHECK(!symlink("a.txt", scratch_path(&d, "link")));
    CHECK(!symlink(".", scratch_path(&d, "loop")));
    CHECK_OK(file_set_open(&s, d.dir, &e), &e);
    CHECK_INT(file_set_count(s), 4);
    CHECK_STR(file_set_name(s, 0), "a.txt");
    CHECK_STR(file_set_name(s, 2), "link");
    CHECK_STR(file_set_name(s, 3), "sub/c.txt");
    CHECK(file_set_has(s, "b.txt", &size) && size == 6);
    CHECK(!file_set_has(s, "c.txt", NULL));
    check_file(s, "sub/c.txt", "third");
    check_file(s, "link", "first");
    file_set_close(s);
    CHECK_INT(file_set_open(&s, scratch_path(&d, "a.txt"), &e), ST_FORMAT);
    CHECK_INT(file_set_open(&s, scratch_path(&d, "none"), &e), ST_IO);
    scratch_remove(&d);
}

TEST(file_set_reads_an_archive)
{
    struct zip_builder z;
    struct file_set *s;
    struct err e = { 0 };

    zip_begin(&z);
    zip_put(&z, &(struct zip_part){ .name = "m/sub/" });
    zip_put(&z, &(struct zip_part){ .name = "m/b", .text = "stored" });
    zip_put(&z, &(struct zip_part){ .name = "m/a", .text = "deflated",
                                    .deflate = true, .bare = true });
    zip_put(&z, &(struct zip_part){ .name = "m/sub/c", .text = "wide",
                                    .wide = true, .local_extra = 40 });
    zip_put(&z, &(struct zip_part){ .name = "m/link", .text = "/etc/passwd",
                                    .unix_mode = S_IFLNK | 0777 });
    zip_put(&z, &(struct zip_part){ .name = "m/empty" });
    zip_put(&z, &(struct zip_part){ .name = "m/none", .deflate = true });
    zip_end(&z);
    REQUIRE_OK(open_zip(&s, &z, &e), &e);
    CHECK_INT(file_set_count(s), 5);
    CHECK(!file_set_has(s, "m/link", NULL));
    check_file(s, "m/a", "deflated");
    check_file(s, "m/b", "stored");
    check_file(s, "m/sub/c", "wide");
    check_file(s, "m/empty", "");
    check_file(s, "m/none", "");
    file_set_close(s);
    zip_release(&z);
}

/* The one folder around all files is left out of the names. */
TEST(file_set_leaves_out_the_folder_of_an_archive)
{
    struct zip_builder z;
    struct scratch d;
    struct file_set *s;
    struct err e = { 0 };
    FILE *f;

    REQUIRE(scratch_make(&d));
    zip_begin(&z);
    z.wide = true;
    zip_put(&z, &(struct zip_part){ .name = "x/y/a", .text = "1" });
    zip_put(&z, &(struct zip_part){ .name = "x/y/b", .text = "2" });
    zip_end(&z);
    f = fopen(scratch_path(&d, "m.zip"), "wb");
    REQUIRE(f);
    CHECK_INT(fwrite(z.out.data, 1, z.out.len, f), z.out.len);
    fclose(f);
    REQUIRE_OK(file_set_open(&s, scratch_path(&d, "m.zip"), &e), &e);
    CHECK_STR(file_set_name(s, 0), "a");
    check_file(s, "b", "2");
    file_set_close(s);
    zip_release(&z);
    scratch_remove(&d);
}

/* What macOS adds to an archive is not part of the model. */
TEST(file_set_leaves_out_hidden_files_of_an_archive)
{
    struct zip_builder z;
    struct file_set *s;
    struct err e = { 0 };

    zip_begin(&z);
    zip_put(&z, &(struct zip_part){ .name = "__MACOSX/m/._a", .text = "x" });
    zip_put(&z, &(struct zip_part){ .name = "m/.DS_Store", .text = "x" });
    zip_put(&z, &(struct zip_part){ .name = ".git/m", .text = "x" });
    zip_put(&z, &(struct zip_part){ .name = "m/a.b", .text = "kept" });
    zip_end(&z);
    REQUIRE_OK(open_zip(&s, &z, &e), &e);
    CHECK_INT(file_set_count(s), 1);
    check_file(s, "m/a.b", "kept");
    file_set_close(s);
    zip_release(&z);
}

/* The cache of Hugging Face has the bytes in one folder, and links to them with
 * the names in another. */
TEST(file_set_reads_a_cache)
{
    static const char *const folders[] = { "blobs", "refs", "snapshots",
                                           "snapshots/12ab" };
    struct scratch d;
    struct file_set *s;
    struct err e = { 0 };

    REQUIRE(scratch_make(&d));
    for (size_t i = 0; i < COUNT(folders); i++)
        CHECK(!mkdir(scratch_path(&d, folders[i]), 0777));
    scratch_write(&d, "blobs/77", "settings");
    scratch_write(&d, "refs/main", "12ab");
    CHECK(!symlink("../../blobs/77",
                   scratch_path(&d, "snapshots/12ab/config.json")));
    REQUIRE_OK(file_set_open(&s, d.dir, &e), &e);
    CHECK_INT(file_set_count(s), 1);
    check_file(s, "config.json", "settings");
    file_set_close(s);
    scratch_write(&d, "other", "x");
    REQUIRE_OK(file_set_open(&s, d.dir, &e), &e);
    CHECK_INT(file_set_count(s), 4);
    file_set_close(s);
    scratch_remove(&d);
}

#define LARGE (3u << 20)

/* Bytes that can be packed, but not too well. */
static char *large_text(void)
{
    char *text = malloc(LARGE);
    uint64_t x = 1;

    if (!text) abort();
    for (size_t i = 0; i < LARGE; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        text[i] = (char)(x >> 60);
    }
    return text;
}

TEST(file_set_reads_deflated_bytes_in_any_order)
{
    char *text = large_text(), part[5000];
    struct zip_builder z;
    struct file_set *s;
    struct file_stream *f;
    struct err e = { 0 };
    uint64_t x = 7;

    zip_begin(&z);
    zip_put(&z, &(struct zip_part){ .name = "a", .text = text, .size = LARGE,
                                    .deflate = true });
    zip_end(&z);
    CHECK(z.out.len < LARGE * 3 / 4);
    REQUIRE_OK(open_zip(&s, &z, &e), &e);
    REQUIRE_OK(file_stream_open(&f, s, "a", &e), &e);
    CHECK_STR(file_stream_name(f), "memory: a");
    for (int i = 0; i < 300; i++) {
        size_t at, n;

        x = x * 6364136223846793005u + 1442695040888963407u;
        n = (size_t)(x >> 33) % sizeof part;
        at = (size_t)(x >> 13) % (LARGE - n + 1);
        REQUIRE_OK(file_stream_read(f, at, part, n, &e), &e);
        CHECK_MEM(part, text + at, n);
    }
    file_stream_close(f);
    file_set_close(s);
    zip_release(&z);
    free(text);
}

/* Reading anything behind a wrong byte fails, and keeps failing. */
static void refuse_damaged_bytes(bool deflated)
{
    char *text = large_text(), byte;
    struct zip_builder z;
    struct file_set *s;
    struct file_stream *f;
    struct err e = { 0 };

    zip_begin(&z);
    zip_put(&z, &(struct zip_part){ .name = "a", .text = text, .size = LARGE,
                                    .deflate = deflated });
    z.out.data[z.out.len / 2] ^= 8;
    zip_end(&z);
    REQUIRE_OK(open_zip(&s, &z, &e), &e);
    REQUIRE_OK(file_stream_open(&f, s, "a", &e), &e);
    CHECK_OK(file_stream_read(f, 0, &byte, 1, &e), &e);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(file_stream_read(f, LARGE - 1, &byte, 1, &e), ST_FORMAT);
        CHECK(strstr(e.msg, "memory: a: damaged"));
    }
    file_stream_close(f);
    file_set_close(s);
    zip_release(&z);
    free(text);
}

/* The files that belong to a checkpoint are beside it, even if it is a zip
 * archive itself. */
TEST(file_set_opens_the_folder_of_a_checkpoint)
{
    struct scratch s;
    struct file_set *set;
    struct err e = { 0 };
    char here[200];

    REQUIRE(scratch_make(&s));
    scratch_write(&s, "model1.pt", "PK");
    scratch_write(&s, "dict.de.txt", "a 1\n");
    CHECK(!mkdir(scratch_path(&s, "other"), 0777));
    scratch_write(&s, "other/model.pt", "PK");
    REQUIRE_OK(file_set_open(&set, scratch_path(&s, "model1.pt"), &e), &e);
    CHECK_STR(file_set_path(set), s.dir);
    CHECK_INT(file_set_count(set), 2);
    CHECK_STR(file_set_chosen(set), "model1.pt");
    CHECK(file_set_has(set, "dict.de.txt", NULL));
    file_set_close(set);
    REQUIRE_OK(file_set_open(&set, s.dir, &e), &e);
    CHECK(!file_set_chosen(set));
    file_set_close(set);
    CHECK(getcwd(here, sizeof here) && !chdir(s.dir));
    REQUIRE_OK(file_set_open(&set, "model1.pt", &e), &e);
    CHECK_STR(file_set_path(set), ".");
    CHECK(file_set_has(set, "dict.de.txt", NULL));
    file_set_close(set);
    CHECK(!chdir(here));
    CHECK_INT(file_set_open(&set, scratch_path(&s, "none.pt"), &e), ST_IO);
    CHECK(!set);
    scratch_remove(&s);
}

TEST(file_set_refuses_damaged_bytes)
{
    refuse_damaged_bytes(false);
    refuse_damaged_bytes(true);
}

TEST(file_set_refuses_names)
{
    refuse_part(&(struct zip_part){ .name = "../a" }, "\"..\" in its path");
    refuse_part(&(struct zip_part){ .name = "a/..\\b" }, "\"..\" in its path");
    refuse_part(&(struct zip_part){ .name = "a/.." }, "\"..\" in its path");
    refuse_part(&(struct zip_part){ .name = "/a" }, "absolute path");
    refuse_part(&(struct zip_part){ .name = "" }, "no name");
    refuse_part(&(struct zip_part){ .name = "a\nb" }, "control character");
    refuse_part(&(struct zip_part){ .name = "a\0/../b", .name_size = 7 },
                "control character");
}

TEST(file_set_refuses_entries)
{
    refuse_part(&(struct zip_part){ .name = "a", .text = "x", .flags = 1 },
                "encrypted");
    refuse_part(&(struct zip_part){ .name = "a", .text = "x", .say_size = 2 },
                "two sizes");
    refuse_part(&(struct zip_part){ .name = "a", .text = "x", .deflate = true,
                                    .say_size = 40000000 },
                "cannot have the size");
    refuse_part(&(struct zip_part){ .name = "a", .text = "x",
                                    .say_header = 5000 },
                "outside of the archive");
    refuse_part(&(struct zip_part){ .name = "a", .text = "x", .wide = true,
                                    .say_header = UINT64_MAX },
                "outside of the archive");
    refuse_part(&(struct zip_part){ .name = "a", .text = "x", .wide = true,
                                    .say_size = UINT64_MAX,
                                    .say_packed = UINT64_MAX },
                "outside of the archive");
}

/* The entry "a" cannot be read. `damage` is put into the first byte. */
static void refuse_reading(const struct zip_part *p, char damage,
                           const char *what)
{
    struct zip_builder z;
    struct file_set *s;
    struct err e = { 0 };
    char *text;
    size_t size;

    zip_begin(&z);
    zip_put(&z, p);
    zip_put(&z, &(struct zip_part){ .name = "z", .text = "the next entry" });
    zip_end(&z);
    z.out.data[0] = damage;
    REQUIRE_OK(open_zip(&s, &z, &e), &e);
    CHECK_INT(file_set_read(s, p->name, 1 << 20, &text, &size, &e), ST_FORMAT);
    if (!strstr(e.msg, what)) CHECK_STR(e.msg, what);
    if (!strstr(e.msg, "memory: a")) CHECK_STR(e.msg, "the name of the entry");
    file_set_close(s);
    zip_release(&z);
}

TEST(file_set_refuses_to_read_entries)
{
    refuse_reading(&(struct zip_part){ .name = "a", .text = "x", .crc = 5 },
                   'P', "checksum");
    refuse_reading(&(struct zip_part){ .name = "a", .text = "x", .method = 12 },
                   'P', "method 12");
    refuse_reading(&(struct zip_part){ .name = "a", .text = "xxxxx",
                                       .deflate = true, .say_size = 3 }, 'P',
                   "larger than the archive says");
    refuse_reading(&(struct zip_part){ .name = "a", .text = "xxxxx",
                                       .deflate = true, .say_size = 9 }, 'P',
                   "ends too early");
    refuse_reading(&(struct zip_part){ .name = "a", .text = "x" }, 'X',
                   "local header is missing");
}

TEST(file_set_refuses_overlapping_entries)
{
    struct zip_builder z;

    zip_begin(&z);
    zip_put(&z, &(struct zip_part){ .name = "a", .text = "some bytes" });
    zip_put(&z, &(struct zip_part){ .name = "b", .text = "x",
                                    .say_header = 20 });
    zip_end(&z);
    refuse(&z, "entry \"a\" overlaps");

    zip_begin(&z);
    zip_put(&z, &(struct zip_part){ .name = "a", .text = "x" });
    zip_put(&z, &(struct zip_part){ .name = "a", .text = "y" });
    zip_end(&z);
    refuse(&z, "entry \"a\" occurs twice");
}

static void refuse_end(int more_entries, int more_at, int more_size, bool wide,
                       const char *what)
{
    struct zip_builder z;

    zip_begin(&z);
    zip_put(&z, &(struct zip_part){ .name = "a", .text = "x" });
    z.more_entries = more_entries;
    z.more_at = more_at;
    z.more_size = more_size;
    z.wide = wide;
    zip_end(&z);
    refuse(&z, what);
}

TEST(file_set_refuses_end_records)
{
    refuse_end(1, 0, 0, false, "too short");
    refuse_end(0, 1, -1, false, "not valid");
    refuse_end(0, 100000, 0, false, "directory lies outside");
    refuse_end(0, 0, 100000, false, "directory lies outside");
    refuse_end(1, 0, 0, true, "end records differ");
    refuse_end(0, 1, 0, true, "end records differ");
    refuse_end(0, 0, 1, true, "end records differ");
}

/* An archive that is cut anywhere is refused, when it is opened or read. */
TEST(file_set_refuses_truncated_archives)
{
    struct zip_builder z;

    zip_begin(&z);
    zip_put(&z, &(struct zip_part){ .name = "a", .text = "some bytes" });
    zip_put(&z, &(struct zip_part){ .name = "b", .text = "more bytes",
                                    .deflate = true });
    zip_end(&z);
    for (size_t n = 0; n < z.out.len; n++) {
        char *copy = malloc(n + 1);     /* so that sanitizers see its end */
        struct file_set *s;
        struct err e = { 0 };

        REQUIRE(copy);
        memcpy(copy, z.out.data, n);
        CHECK(file_set_open_stream(&s, memory_stream_new(copy, n), &e));
        CHECK(e.msg[0]);
        free(copy);
    }
    zip_release(&z);
}
