/* test_sqlfile.c - tests sqlfile.c: files of skmt and of other programs, error
 * messages, and the names of files that can only be read. */
#include <stdlib.h>
#include <string.h>

#include "base/sqlfile.h"
#include "scratch_dir.h"
#include "test.h"

static const struct sqlfile_kind kind = { "not a thing of ours", "buy another",
                                          0x12345678, 3, 2000, 0 };

struct fix { struct scratch s; const char *path; sqlite3 *db; };

static bool setup(struct fix *x)
{
    if (!scratch_make(&x->s)) return false;
    x->path = scratch_path(&x->s, "a %b?c#d");
    x->db = NULL;
    return CHECK(!sqlite3_open(x->path, &x->db));
}

static void teardown(struct fix *x)
{
    sqlite3_close(x->db);
    scratch_remove(&x->s);
}

/* Create a database with this application id and version. */
static void make(struct fix *x, int id, int version)
{
    CHECK(!sqlfile_exec(x->db, "PRAGMA application_id = %d;"
                        "PRAGMA user_version = %d; CREATE TABLE t(n)", id,
                        version));
}

TEST(kind_and_version_are_looked_at_first)
{
    static const struct { int id, version; enum status st; const char *says; }
    of[] = {
        { 0x12345678, 3, ST_OK, "" }, { 0x12345678, 1, ST_OK, "" },
        { 0x12345678, 4, ST_VERSION, "made by a newer version of skmt (the "
          "file has schema 4, this program supports up to 3)" },
        { 0x12345678, 0, ST_FORMAT, "the file is damaged (no version); buy "
          "another" },
        { 0x12345679, 3, ST_FORMAT, "not a thing of ours" } };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct fix x;
        struct err e = { 0 };

        if (!setup(&x)) return;
        CHECK_OK(sqlfile_check(&kind, x.db, x.path, true, &e), &e);
        CHECK_INT(sqlfile_check(&kind, x.db, x.path, false, &e), ST_FORMAT);
        make(&x, of[i].id, of[i].version);
        CHECK_INT(sqlfile_check(&kind, x.db, x.path, i % 2, &e), of[i].st);
        CHECK(!of[i].st || strstr(e.msg, of[i].says));
        CHECK(!of[i].st || !strncmp(e.msg, x.path, strlen(x.path)));
        teardown(&x);
    }
}

TEST(every_error_is_a_sentence_of_the_file)
{
    static const struct { int rc; enum status st; const char *says; } of[] = {
        { SQLITE_FULL, ST_IO, "f: no space left on the disk; nothing was "
          "changed" },
        { SQLITE_IOERR_WRITE, ST_IO, "f: the file could not be written (full "
          "disk, quota or file size limit); nothing was changed" },
        { SQLITE_BUSY_SNAPSHOT, ST_IO, "f: another program kept the file "
          "locked for 2 seconds; try again later" },
        { SQLITE_CORRUPT_VTAB, ST_FORMAT, "f: the file is damaged (database "
          "disk image is malformed); buy another" },
        { SQLITE_NOTADB, ST_FORMAT, "f: the file is damaged (file is not a "
          "database); buy another" },
        { SQLITE_READONLY, ST_IO, "f: cannot be written: it is read-only" },
        { SQLITE_TOOBIG, ST_LIMIT, "f: a text is too long to be stored" },
        { SQLITE_IOERR_READ, ST_IO, "f: cannot be read or written: disk I/O "
          "error" } };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct err e = { 0 };

        CHECK_INT(sqlfile_error(&kind, NULL, "f", of[i].rc, &e), of[i].st);
        CHECK_STR(e.msg, of[i].says);
    }
}

TEST(nothing_in_the_file_is_run)
{
    struct fix x;

    if (!setup(&x)) return;
    make(&x, 0x12345678, 3);
    CHECK(!sqlfile_exec(x.db, "CREATE TRIGGER g AFTER INSERT ON t BEGIN"
                        " INSERT INTO t SELECT 1 FROM t; END"));
    CHECK(!sqlfile_configure(&kind, x.db));
    CHECK(!sqlfile_exec(x.db, "INSERT INTO t VALUES(%d)", 7));
    CHECK_INT(sqlite3_total_changes(x.db), 1);
    CHECK(sqlfile_exec(x.db, "PRAGMA writable_schema = ON;"
                       "DELETE FROM sqlite_schema"));
    teardown(&x);
}

TEST(names_are_files_whatever_they_are)
{
    static const char *const names[] = { ":memory:", "file:x?mode=memory", "",
                                         "a/b", "/a" };
    static const char *const want[] = { "./:memory:", "./file:x?mode=memory",
                                        "./", "./a/b", "/a" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *name = sqlfile_name(names[i]);

        REQUIRE(name);
        CHECK_STR(name, want[i]);
        free(name);
    }
}

/* The name contains every character that has a meaning in a URI. */
TEST(a_file_without_a_log_is_read_without_locks)
{
    struct fix x;
    struct err e = { 0 };
    char *name = NULL;
    sqlite3 *reader = NULL;
    int64_t before;

    if (!setup(&x)) return;
    make(&x, 0x12345678, 3);
    before = sqlfile_bytes(x.path, "");
    CHECK(before > 0 && !sqlfile_bytes(x.path, "-wal"));
    if (CHECK_OK(sqlfile_immutable(x.path, &name, &e), &e)) {
        CHECK(!sqlite3_open_v2(name, &reader, SQLITE_OPEN_READONLY |
                               SQLITE_OPEN_URI, NULL));
        CHECK_OK(sqlfile_check(&kind, reader, x.path, false, &e), &e);
        CHECK(!sqlfile_exec(reader, "SELECT * FROM t"));
        sqlite3_close(reader);
    }
    free(name);
    CHECK(!sqlfile_use_log(&kind, x.db, 100, 4096));
    CHECK(!sqlfile_exec(x.db, "INSERT INTO t VALUES(1)"));
    CHECK(sqlfile_bytes(x.path, "-wal") > 0);
    CHECK_INT(sqlfile_immutable(x.path, &name, &e), ST_IO);
    CHECK(!name && strstr(e.msg, "its newest changes are in"));
    teardown(&x);
}
