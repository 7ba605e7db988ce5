/* test_key_file.c - key files: storing and finding keys, eviction, refused
 * files, and damaged files. */
#include <sys/stat.h>

#include "key_file_fix.h"

/* ---- storing and finding ------------------------------------------------- */

static void check_round_trip(enum key_type type)
{
    enum { N = 30 };
    struct pair_keys *in[N], *out;
    struct key_id ids[N];
    struct key_file_kind kind = kind_of(type);
    struct fix x;
    struct err e;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    unlink(x.path);
    REQUIRE_OK(key_file_open(&x.f, x.path, &kind, ROOM, &e), &e);
    for (int i = 0; i < N; i++) {
        in[i] = key_block(type, i, i * i);      /* 0 keys .. many pages */
        ids[i] = key_of(i);
    }
    CHECK_OK(key_file_put(x.f, ids, in, N, &e), &e);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < N; i++) {
            out = NULL;
            CHECK_OK(key_file_get(x.f, ids[i], &out, &e), &e);
            REQUIRE(out);
            CHECK(key_same(in[i], out));
            pair_keys_drop(out);
        }
        out = in[0];
        CHECK_OK(key_file_get(x.f, key_of(N), &out, &e), &e);
        CHECK(!out && has(&x, 0) && !has(&x, N));
        key_file_close(x.f);
        x.f = NULL;
        REQUIRE_OK(key_file_open(&x.f, x.path, &kind, ROOM, &e), &e);
    }
    for (int i = 0; i < N; i++) pair_keys_drop(in[i]);
    CHECK_INT(stats(&x).pairs, N);
    CHECK_INT(stats(&x).limit, ROOM);
    CHECK(!stats(&x).read_only);
    check_sound(x.path);
    teardown(&x);
}

TEST(blocks_come_back_as_they_were)
{
    check_round_trip(KEY_INT8);
    check_round_trip(KEY_F32);
    key_file_close(NULL);
}

TEST(the_second_of_two_replaces_the_first)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    CHECK_OK(put_sized(x.f, 1, 5, &x.e), &x.e);
    CHECK_OK(put_sized(x.f, 1, 3, &x.e), &x.e);
    CHECK_INT(stats(&x).pairs, 1);
    CHECK_INT(stats(&x).bytes, EACH);
    CHECK(reads(&x, 1));
    check_sound(x.path);
    teardown(&x);
}

TEST(the_log_is_used)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    put(&x, 1);
    CHECK_INT(sql(x.path, "SELECT journal_mode = 'wal' FROM"
                  " pragma_journal_mode"), 1);
    CHECK(!access(beside(&x, "-wal"), F_OK));
    key_file_close(x.f);
    CHECK(access(beside(&x, "-wal"), F_OK));
    again(&x, ROOM);
    CHECK(reads(&x, 1));
    teardown(&x);
}

/* Some of these names have a meaning for SQLite, others in a URI. All of them
 * must be used as names of files. */
TEST(any_name_is_a_file)
{
    static const char *const names[] = { ":memory:", "file:x?mode=memory",
                                         "a%20b?c#d", "plain" };
    char old[300];
    struct fix x;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    x.f = NULL;
    REQUIRE(getcwd(old, sizeof old) && !chdir(x.dir.dir));
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(x.path, sizeof x.path, "%s", names[i]);
        if (!again(&x, ROOM)) break;
        put(&x, 5);
        key_file_close(x.f);
        CHECK(!access(names[i], F_OK));
        again(&x, ROOM);
        CHECK(reads(&x, 5));
        key_file_close(x.f);
        x.f = NULL;
    }
    CHECK(!chdir(old));
    teardown(&x);
}

/* ---- eviction and removal ------------------------------------------------ */

TEST(the_least_recently_used_goes)
{
    struct fix x;

    if (!setup(&x, 10 * EACH)) return;
    for (int i = 0; i < 10; i++) put(&x, i);
    CHECK_INT(stats(&x).bytes, 10 * EACH);
    CHECK(reads(&x, 0));
    put(&x, 2);                 /* exists: counts as a use */
    CHECK_INT(stats(&x).pairs, 10);
    put(&x, 10);                /* a tenth of the limit is evicted */
    CHECK_INT(stats(&x).bytes, 9 * EACH);
    CHECK(has(&x, 0) && !has(&x, 1) && has(&x, 2) && !has(&x, 3));
    for (int i = 4; i < 11; i++) CHECK(has(&x, i));
    check_sound(x.path);
    teardown(&x);
}

TEST(uses_are_remembered)
{
    struct fix x;
    uint32_t told = 0, turn;

    if (!setup(&x, 10 * EACH)) return;
    for (int i = 0; i < 10; i++) put(&x, i);
    CHECK(reads(&x, 0));
    key_file_touch(x.f, key_of(1), &told);
    CHECK(told != 0);
    turn = told;
    key_file_touch(x.f, key_of(1), &told);
    CHECK_INT(told, turn);
    /* Uses are written when the file is closed, in the order of use. */
    CHECK_INT(sql(x.path, "SELECT max(used) FROM block"), 10);
    key_file_close(x.f);
    CHECK_INT(sql(x.path, "SELECT max(used) FROM block"), 12);
    again(&x, 10 * EACH);
    put(&x, 10);
    CHECK(has(&x, 0) && has(&x, 1) && !has(&x, 2) && !has(&x, 3));
    CHECK(has(&x, 4));
    teardown(&x);
}

/* The file notes at most 65536 uses. If there are more, the newest count. */
TEST(too_many_uses_are_cut)
{
    enum { MOST = 65536 };
    struct fix x;

    if (!setup(&x, 10 * EACH)) return;
    for (int i = 0; i < 10; i++) put(&x, i);
    for (int i = 0; i < MOST + 5; i++) {
        uint32_t told = 0;

        key_file_touch(x.f, key_of(i < 5 ? 0 : i < MOST + 4 ? 3 : 1), &told);
    }
    put(&x, 10);
    put(&x, 11);
    keep_only(&x, (int[]){ 1, 3, 4, 5, 6, 7, 8, 10, 11 }, 9);
    CHECK(!has(&x, 0) && has(&x, 1) && has(&x, 3) && !has(&x, 2));
    for (int i = 12; i < 18; i++) put(&x, i);
    CHECK(!has(&x, 8) && has(&x, 1) && !has(&x, 3) && has(&x, 10));
    check_sound(x.path);
    teardown(&x);
}

TEST(large_blocks_make_room_or_stay_out)
{
    struct fix x;

    if (!setup(&x, 10 * EACH)) return;
    for (int i = 0; i < 10; i++) put(&x, i);
    CHECK_OK(put_sized(x.f, 20, 50, &x.e), &x.e);
    CHECK(!has(&x, 20));
    CHECK_INT(stats(&x).pairs, 10);
    /* These keys need nearly all of the room. All others are evicted for
     * them. */
    CHECK_OK(put_sized(x.f, 21, 49, &x.e), &x.e);
    CHECK_INT(stats(&x).pairs, 1);
    CHECK(reads(&x, 21));
    put(&x, 22);
    CHECK(reads(&x, 22) && !has(&x, 21));
    check_sound(x.path);
    teardown(&x);
}

TEST(nothing_is_kept_without_room)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    put(&x, 1);
    key_file_close(x.f);
    again(&x, 0);
    CHECK(reads(&x, 1));
    put(&x, 2);
    CHECK(!has(&x, 1) && !has(&x, 2));
    CHECK_INT(stats(&x).bytes, 0);
    check_sound(x.path);
    teardown(&x);
}

/* A call evicts a limited number of pairs, so that it does not take too long. A
 * file that is far above a lowered limit needs several calls. */
TEST(a_lower_limit_is_reached_in_steps)
{
    enum { N = 5000, STEP = 4096 + 2 };
    struct pair_keys *b = key_block(KEY_INT8, 1, 0);
    struct pair_keys **blocks = malloc(N * sizeof *blocks);
    struct key_id *ids = malloc(N * sizeof *ids);
    struct fix x;

    if (!blocks || !ids || !setup(&x, ROOM)) return;
    for (int i = 0; i < N; i++) {
        blocks[i] = b;
        ids[i] = key_of(i);
    }
    CHECK_OK(key_file_put(x.f, ids, blocks, N, &x.e), &x.e);
    CHECK_INT(stats(&x).bytes, N * 64);
    key_file_close(x.f);
    again(&x, 100 * 64);
    CHECK_OK(key_file_put(x.f, ids + N - 1, blocks, 1, &x.e), &x.e);
    CHECK_INT(stats(&x).pairs, N - STEP);
    CHECK_OK(key_file_put(x.f, ids + N - 1, blocks, 1, &x.e), &x.e);
    CHECK_INT(stats(&x).pairs, 90);
    CHECK(has(&x, N - 1) && has(&x, N - 90) && !has(&x, N - 91));
    check_sound(x.path);
    pair_keys_drop(b);
    free(blocks);
    free(ids);
    teardown(&x);
}

TEST(a_put_larger_than_the_limit)
{
    enum { N = 9000 };
    struct pair_keys *b = key_block(KEY_INT8, 1, 0);
    struct pair_keys **blocks = malloc(N * sizeof *blocks);
    struct key_id *ids = malloc(N * sizeof *ids);
    struct fix x;

    if (!blocks || !ids || !setup(&x, 100 * 64)) return;
    for (int i = 0; i < N; i++) {
        blocks[i] = b;
        ids[i] = key_of(i);
    }
    CHECK_OK(key_file_put(x.f, ids, blocks, N, &x.e), &x.e);
    CHECK_INT(stats(&x).pairs, 100);
    CHECK(has(&x, N - 1) && has(&x, N - 100) && !has(&x, N - 101));
    check_sound(x.path);
    pair_keys_drop(b);
    free(blocks);
    free(ids);
    teardown(&x);
}

/* Whether the bytes of these keys occur anywhere in the file. */
static bool file_has(const struct fix *x, int number)
{
    struct pair_keys *b = key_block(KEY_INT8, number, 3);
    size_t size;
    char *bytes = slurp(x->path, &size);
    bool there = memmem(bytes, size, b->token, 3 * sizeof *b->token) != NULL;

    free(bytes);
    pair_keys_drop(b);
    return there;
}

TEST(what_is_not_kept_is_removed_and_wiped)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    for (int i = 0; i < 5; i++) put(&x, i);
    CHECK_INT(keep_only(&x, (int[]){ 0, 99, 3, 4 }, 4), 2);
    CHECK(has(&x, 0) && !has(&x, 1) && !has(&x, 2) && has(&x, 3));
    CHECK(!reads(&x, 1) && reads(&x, 3));
    CHECK_INT(stats(&x).bytes, 3 * EACH);
    CHECK_INT(keep_only(&x, (int[]){ 4, 3, 0 }, 3), 0);
    check_sound(x.path);
    key_file_close(x.f);
    CHECK(file_has(&x, 0) && !file_has(&x, 1) && !file_has(&x, 2));
    again(&x, ROOM);
    CHECK(!reads(&x, 1));
    put(&x, 1);
    CHECK(reads(&x, 1));
    CHECK_INT(keep_only(&x, NULL, 0), 4);
    CHECK_INT(stats(&x).pairs, 0);
    check_sound(x.path);
    teardown(&x);
}

static int64_t bytes_of(const char *path)
{
    struct stat sb;

    return stat(path, &sb) ? -1 : (int64_t)sb.st_size;
}

/* So many pairs are removed that it takes several steps. Every third pair is
 * kept. */
TEST(a_file_becomes_smaller)
{
    enum { N = 10000 };
    struct pair_keys *b = key_block(KEY_INT8, 1, 3);
    struct pair_keys **blocks = malloc(N * sizeof *blocks);
    struct key_id *ids = malloc(N * sizeof *ids);
    int64_t full, small;
    uint64_t removed;
    size_t n = 0;
    struct fix x;

    if (!blocks || !ids || !setup(&x, 10 * ROOM)) return;
    for (int i = 0; i < N; i++) {
        blocks[i] = b;
        ids[i] = key_of(i);
    }
    CHECK_OK(key_file_put(x.f, ids, blocks, N, &x.e), &x.e);
    compact(&x);
    full = bytes_of(x.path);
    for (int i = 0; i < N; i += 3) ids[n++] = ids[i];
    qsort(ids, n, sizeof *ids, key_id_compare);
    CHECK_OK(key_file_keep_only(x.f, ids, n, &removed, &x.e), &x.e);
    CHECK_INT(removed, N - n);
    compact(&x);
    small = bytes_of(x.path);
    CHECK(full > N * EACH && small < full * 2 / 3);
    for (int i = 0; i < N; i++) CHECK(has(&x, i) == (i % 3 == 0));
    compact(&x);                /* there is nothing to remove */
    CHECK_INT(bytes_of(x.path), small);
    check_sound(x.path);
    pair_keys_drop(b);
    free(blocks);
    free(ids);
    teardown(&x);
}

/* Another connection reads while the file is compacted. The file can become
 * smaller only after the last connection has closed it. */
TEST(a_file_becomes_smaller_under_a_reader)
{
    sqlite3 *other;
    struct fix x;
    int64_t full;

    if (!setup(&x, ROOM)) return;
    for (int i = 0; i < 60; i++) put_sized(x.f, i, 100, &x.e);
    compact(&x);
    full = bytes_of(x.path);
    REQUIRE(!sqlite3_open(x.path, &other));
    CHECK(!sqlite3_exec(other, "BEGIN; SELECT count(*) FROM block", NULL, NULL,
                        NULL));
    CHECK_INT(keep_only(&x, (int[]){ 7 }, 1), 59);
    compact(&x);
    CHECK_INT(stats(&x).pairs, 1);
    CHECK(!sqlite3_exec(other, "COMMIT", NULL, NULL, NULL));
    sqlite3_close(other);
    key_file_close(x.f);
    CHECK(bytes_of(x.path) < full / 2);
    again(&x, ROOM);
    CHECK(reads(&x, 7));
    check_sound(x.path);
    teardown(&x);
}

/* Compacting evicts pairs above the limit even if nothing is stored, in as many
 * steps as it takes. */
TEST(a_lower_limit_is_reached_by_compacting)
{
    enum { N = 5000 };
    struct pair_keys *b = key_block(KEY_INT8, 1, 0);
    struct pair_keys **blocks = malloc(N * sizeof *blocks);
    struct key_id *ids = malloc(N * sizeof *ids);
    int64_t full;
    struct fix x;

    if (!blocks || !ids || !setup(&x, ROOM)) return;
    for (int i = 0; i < N; i++) {
        blocks[i] = b;
        ids[i] = key_of(i);
    }
    CHECK_OK(key_file_put(x.f, ids, blocks, N, &x.e), &x.e);
    key_file_close(x.f);
    full = bytes_of(x.path);
    again(&x, 100 * 64);
    {
        struct pair_keys *used = NULL;

        CHECK_OK(key_file_get(x.f, ids[5], &used, &x.e), &x.e);
        CHECK(used != NULL);
        pair_keys_drop(used);
    }
    compact(&x);
    CHECK_INT(stats(&x).pairs, 90);
    CHECK(has(&x, N - 1) && has(&x, 5) && !has(&x, 6));
    CHECK(bytes_of(x.path) < full / 5);
    check_sound(x.path);
    pair_keys_drop(b);
    free(blocks);
    free(ids);
    teardown(&x);
}

/* ---- refused files ------------------------------------------------------- */

/* Check that the file is refused, that it does not change, and that no file is
 * created next to it. */
static void check_left_alone(struct fix *x, enum status want, const char *word)
{
    size_t before, after;
    char *was = slurp(x->path, &before), *is;

    check_refused(x, want, word);
    is = slurp(x->path, &after);
    CHECK_INT(after, before);
    CHECK(!memcmp(was, is, before));
    CHECK(access(beside(x, "-wal"), F_OK) && access(beside(x, "-shm"), F_OK));
    CHECK(access(beside(x, "-journal"), F_OK));
    free(was);
    free(is);
}

TEST(another_model_is_refused)
{
    struct key_file_kind kind = kind_of(KEY_INT8);
    struct key_file *f;
    struct fix x;

    if (!setup(&x, ROOM)) return;
    put(&x, 1);
    kind.maker++;
    CHECK_INT(key_file_open(&f, x.path, &kind, ROOM, &x.e), ST_ARGUMENT);
    CHECK(strstr(x.e.msg, "another model") && !f);
    kind = kind_of(KEY_F32);
    CHECK_INT(key_file_open(&f, x.path, &kind, ROOM, &x.e), ST_ARGUMENT);
    CHECK(strstr(x.e.msg, "has 8-bit keys of 20 numbers, not 32-bit keys of "
                 "20") && !f);
    kind = kind_of(KEY_INT8);
    kind.d++;
    CHECK_INT(key_file_open(&f, x.path, &kind, ROOM, &x.e), ST_ARGUMENT);
    CHECK(strstr(x.e.msg, "not 8-bit keys of 21") && !f);
    kind = kind_of(KEY_INT8);
    kind.maker = UINT64_MAX;
    CHECK_INT(key_file_open(&f, x.path, &kind, ROOM, NULL), ST_ARGUMENT);
    CHECK(reads(&x, 1));
    teardown(&x);
}

TEST(any_maker_is_a_maker)
{
    static const uint64_t makers[] = { 0, 1, INT64_MAX, 1ull << 63,
                                       UINT64_MAX };
    struct fix x;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    for (size_t i = 0; i < COUNT(makers); i++)
        for (int turn = 0; turn < 2; turn++) {
            struct key_file_kind kind = { makers[i], KEY_INT8, KEY_D,
                                         KEY_VOCAB };

            if (!turn) unlink(x.path);
            CHECK_OK(key_file_open(&x.f, x.path, &kind, ROOM, &x.e), &x.e);
            key_file_close(x.f);
        }
    x.f = NULL;
    teardown(&x);
}

TEST(files_of_others_are_left_alone)
{
    static const char *const theirs[] = {
        "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = WAL" };
    struct fix x;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    x.f = NULL;
    for (size_t i = 0; i < COUNT(theirs); i++) {
        unlink(x.path);
        sql(x.path, theirs[i]);
        sql(x.path, "CREATE TABLE head(maker, type, d)");
        check_left_alone(&x, ST_FORMAT, "not a key file");
    }
    sql(x.path, "PRAGMA application_id = 1936420212");  /* a memory file */
    check_left_alone(&x, ST_FORMAT, "not a key file");
    unlink(x.path);
    scratch_write(&x.dir, "k.keys", "x");
    check_left_alone(&x, ST_FORMAT, "not a key file");
    {
        char text[10000];

        memset(text, 'x', sizeof text - 1);
        text[sizeof text - 1] = '\0';
        scratch_write(&x.dir, "k.keys", text);
        check_left_alone(&x, ST_FORMAT, "not a key file");
    }
    unlink(x.path);
    mkdir(x.path, 0700);
    check_refused(&x, ST_IO, "not a regular file");
    rmdir(x.path);
    mkfifo(x.path, 0600);
    check_refused(&x, ST_IO, "not a regular file");
    teardown(&x);
}

TEST(no_folder_no_name)
{
    struct key_file_kind kind = kind_of(KEY_INT8);
    struct key_file *f;
    struct fix x;

    if (!setup(&x, ROOM)) return;
    snprintf(x.path, sizeof x.path, "%s/missing/k.keys", x.dir.dir);
    check_refused(&x, ST_IO,
                  "cannot create the key file: No such file or directory");
    snprintf(x.path, sizeof x.path, "%s/k.keys/k.keys", x.dir.dir);
    check_refused(&x, ST_IO, "Not a directory");
    CHECK_INT(key_file_open(&f, "", &kind, ROOM, &x.e), ST_ARGUMENT);
    teardown(&x);
}

TEST(newer_versions_are_left_alone)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    x.f = NULL;
    sql(x.path, "PRAGMA user_version = 4");
    check_left_alone(&x, ST_VERSION, "newer version");
    sql(x.path, "PRAGMA user_version = 0");
    check_left_alone(&x, ST_FORMAT, "damaged");
    sql(x.path, "PRAGMA user_version = 3");
    again(&x, ROOM);
    teardown(&x);
}

/* ---- older versions ------------------------------------------------------ */

/* Make a file of version 1. It has other ids, and the checksum follows the
 * keys. */
static void make_version_1(struct fix *x)
{
    key_file_close(x->f);
    x->f = NULL;
    sql(x->path, "UPDATE keys SET bytes = CAST(bytes || x'0102030405060708' AS"
        " BLOB)");
    sql(x->path, "PRAGMA user_version = 1");
    sql(x->path, "PRAGMA auto_vacuum = NONE");
    sql(x->path, "VACUUM");
}

static void check_remade(struct fix *x)
{
    if (!again(x, ROOM)) return;
    CHECK(stats(x).remade);
    CHECK_INT(stats(x).pairs, 0);
    CHECK(!reads(x, 1));
    CHECK_INT(sql(x->path, "PRAGMA user_version"), 3);
    CHECK_INT(sql(x->path, "PRAGMA auto_vacuum"), 2);
    put(x, 1);
    CHECK(reads(x, 1));
    check_sound(x->path);
    key_file_close(x->f);
    again(x, ROOM);
    CHECK(!stats(x).remade && reads(x, 1));
}

TEST(an_older_version_is_remade)
{
    struct fix x;
    int64_t size;

    if (!setup(&x, ROOM)) return;
    for (int i = 0; i < 60; i++) put_sized(x.f, i, 100, &x.e);
    make_version_1(&x);
    size = bytes_of(x.path);
    check_remade(&x);
    key_file_close(x.f);
    x.f = NULL;
    CHECK(bytes_of(x.path) < size / 2);
    teardown(&x);
}

/* Make a file of version 2: its keys have no source positions, so their bytes
 * are 2 fewer for each key. */
static void make_version_2(struct fix *x)
{
    key_file_close(x->f);
    x->f = NULL;
    sql(x->path, "UPDATE keys SET bytes = substr(bytes, 1, length(bytes) - 2 *"
        " (SELECT n FROM block b WHERE b.place = keys.place))");
    sql(x->path, "PRAGMA user_version = 2");
}

TEST(version_2_without_source_positions_is_emptied)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    for (int i = 0; i < 5; i++) put(&x, i);
    CHECK_INT(sql(x.path, "SELECT length(bytes) FROM keys LIMIT 1"),
              3 * (10 + KEY_D));
    make_version_2(&x);
    CHECK_INT(sql(x.path, "SELECT length(bytes) FROM keys LIMIT 1"),
              3 * (8 + KEY_D));
    check_remade(&x);
    teardown(&x);
}

/* The process that converted the file before was killed after one of these
 * steps. */
TEST(an_interrupted_remake_is_done_again)
{
    static const char *const steps[] = { "DROP TABLE block", "DROP TABLE keys",
                                         "PRAGMA auto_vacuum = 2", "VACUUM" };
    struct fix x;

    for (size_t n = 0; n <= COUNT(steps); n++) {
        if (!setup(&x, ROOM)) return;
        put(&x, 1);
        make_version_1(&x);
        for (size_t i = 0; i < n; i++) sql(x.path, steps[i]);
        check_remade(&x);
        teardown(&x);
    }
}

/* A file of another model is refused before its keys are deleted. */
TEST(an_older_version_of_another_model_is_left_alone)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    put(&x, 1);
    make_version_1(&x);
    sql(x.path, "UPDATE head SET maker = 5");
    check_left_alone(&x, ST_ARGUMENT, "another model");
    teardown(&x);
}

/* ---- damage -------------------------------------------------------------- */

TEST(damaged_tables_are_told)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    put(&x, 1);
    key_file_close(x.f);
    x.f = NULL;
    sql(x.path, "DELETE FROM head");
    check_refused(&x, ST_FORMAT, "delete it");
    sql(x.path, "DROP TABLE head");
    check_refused(&x, ST_FORMAT, "no such table: head");
    unlink(x.path);
    again(&x, ROOM);
    put(&x, 1);
    sql(x.path, "DROP TABLE keys");
    {
        struct pair_keys *b;

        CHECK_INT(key_file_get(x.f, key_of(1), &b, &x.e), ST_FORMAT);
        CHECK(!b && strstr(x.e.msg, "delete it"));
        CHECK_INT(put_sized(x.f, 2, 1, &x.e), ST_FORMAT);
    }
    teardown(&x);
}

/* A damaged row counts as missing, and storing the keys again replaces it. */
TEST(damaged_rows_are_absent)
{
    static const char *const damage[] = {
        "UPDATE keys SET sum = sum + 1 WHERE place = 3",
        "UPDATE keys SET bytes = zeroblob(84) WHERE place = 3",
        "UPDATE keys SET bytes = substr(bytes, 2) WHERE place = 3",
        "UPDATE keys SET bytes = '' WHERE place = 3",
        "UPDATE keys SET sum = 'x', bytes = 17 WHERE place = 3",
        "UPDATE block SET n = 2 WHERE place = 3",
        "UPDATE block SET n = -1 WHERE place = 3",
        "UPDATE block SET n = 9223372036854775807 WHERE place = 3",
        "UPDATE block SET n = 658812288346769701 WHERE place = 3",
        "UPDATE block SET place = 2 WHERE place = 3",   /* keys of pair 2 */
        "UPDATE block SET place = 99 WHERE place = 3",  /* no such row */
        "DELETE FROM keys WHERE place = 3" };

    for (size_t i = 0; i < COUNT(damage); i++) {
        struct fix x;

        if (!setup(&x, ROOM)) return;
        for (int j = 1; j < 6; j++) put(&x, j);
        sql(x.path, damage[i]);
        CHECK(has(&x, 3));
        if (reads(&x, 3))
            test_fail(__FILE__, __LINE__, "keys are found after \"%s\"",
                      damage[i]);
        CHECK(reads(&x, 1) && reads(&x, 5));
        put(&x, 8);
        CHECK_INT(sql(x.path, "SELECT count(*) FROM block"), 6);
        put(&x, 3);
        CHECK_INT(sql(x.path, "SELECT count(*) FROM block"), 6);
        CHECK(reads(&x, 3) && reads(&x, 8));
        key_file_close(x.f);
        again(&x, ROOM);
        CHECK(reads(&x, 3));
        teardown(&x);
    }
}

/* All checksums are right, but a token is not in the vocabulary of the
 * model. */
TEST(tokens_of_no_vocabulary_are_absent)
{
    struct key_file_kind kind = { MAKER, KEY_INT8, KEY_D, 1002 };
    struct fix x;

    if (!setup(&x, ROOM)) return;
    put(&x, 0);                 /* tokens 0 to 2 */
    put(&x, 1);                 /* 1000 to 1002 */
    key_file_close(x.f);
    REQUIRE_OK(key_file_open(&x.f, x.path, &kind, ROOM, &x.e), &x.e);
    CHECK(reads(&x, 0) && !reads(&x, 1));
    kind.vocab++;
    key_file_close(x.f);
    REQUIRE_OK(key_file_open(&x.f, x.path, &kind, ROOM, &x.e), &x.e);
    CHECK(reads(&x, 0) && reads(&x, 1));
    teardown(&x);
}

/* Wrong totals in the file are harmless. In the worst case all keys are evicted
 * once. */
TEST(damaged_totals_do_no_harm)
{
    static const char *const damage[] = {
        "UPDATE head SET keys = 9223372036854775807",
        "UPDATE head SET blocks = -5, keys = -5",
        "UPDATE head SET blocks = 'many', keys = x'00'",
        "UPDATE block SET n = 9223372036854775807",
        "UPDATE block SET n = -9223372036854775807 WHERE place > 2",
        "UPDATE block SET used = 9223372036854775807 WHERE place = 2",
        "UPDATE block SET used = 'never' WHERE place = 2",
        "UPDATE block SET id = x'01' WHERE place = 2" };

    for (size_t i = 0; i < COUNT(damage); i++) {
        struct fix x;

        if (!setup(&x, 10 * EACH)) return;
        for (int j = 1; j < 6; j++) put(&x, j);
        sql(x.path, damage[i]);
        key_file_close(x.f);
        again(&x, 10 * EACH);
        for (int j = 10; j < 60; j++) {
            put(&x, j);
            CHECK(stats(&x).bytes <= 10 * EACH);
        }
        if (sql(x.path, "SELECT count(*) FROM block") > 10)
            test_fail(__FILE__, __LINE__, "more than 10 pairs after \"%s\"",
                      damage[i]);
        teardown(&x);
    }
}

/* Another program damages the totals after this one has counted them, so this
 * one uses wrong totals. It may evict all keys. The totals are right again
 * after the file is opened the next time. */
TEST(totals_damaged_while_in_use_do_no_harm)
{
    static const char *const damage[] = {
        "UPDATE head SET keys = 9223372036854775807",
        "UPDATE head SET keys = -9223372036854775807 - 1",
        "UPDATE head SET blocks = 9223372036854775807",
        "UPDATE head SET blocks = -9223372036854775807 - 1" };

    for (size_t i = 0; i < COUNT(damage); i++) {
        struct fix x;

        if (!setup(&x, 10 * EACH)) return;
        put(&x, 1);
        put(&x, 2);
        sql(x.path, damage[i]);
        CHECK((stats(&x).bytes > 10 * EACH) == (i % 2 == 0));
        keep_only(&x, (int[]){ 2 }, 1);
        for (int j = 3; j < 40; j++) put(&x, j);
        key_file_close(x.f);
        again(&x, 10 * EACH);
        put(&x, 50);
        put(&x, 51);
        CHECK(has(&x, 50) && has(&x, 51) && !has(&x, 3));
        CHECK(stats(&x).bytes <= 10 * EACH);
        check_sound(x.path);
        teardown(&x);
    }
}

/* Use a damaged file. Opening may fail. Keys must be found as they were stored,
 * not found, or reported as an error. */
static void check_whatever(const char *path, int n, int *opened, int *found)
{
    struct key_file_kind kind = kind_of(KEY_INT8);
    struct key_file *f = NULL;
    uint64_t removed;
    struct err e;
    enum status st = key_file_open(&f, path, &kind, 12 * EACH, &e);

    if (st) {
        CHECK(!f && st != ST_NOMEM && strstr(e.msg, path));
        return;
    }
    ++*opened;
    for (int i = 0; i < n; i++) {
        struct pair_keys *b = NULL;

        st = key_file_get(f, key_of(i), &b, &e);
        CHECK(!st || (!b && st == ST_FORMAT));
        *found += b != NULL;
        if (b) CHECK(key_is(b, i));
    }
    for (int i = n; i < n + 3; i++) put_sized(f, i, 3, &e);
    key_file_keep_only(f, &(struct key_id){ 0, 0 }, 1, &removed, &e);
    key_file_compact(f, &e);
    key_file_close(f);
}

TEST(a_flipped_byte_anywhere)
{
    int opened = 0, found = 0, tried = 0;
    size_t size, step = getenv("SKMT_ALL_BYTES") ? 1 : 61;
    struct fix x;
    char *bytes;

    if (!setup(&x, 20 * EACH)) return;
    for (int i = 0; i < 10; i++) put(&x, i);
    key_file_close(x.f);
    x.f = NULL;
    bytes = slurp(x.path, &size);
    CHECK(size > 40000);
    for (size_t at = 0; at < size; at += at < 120 ? 1 : step) {
        bytes[at] ^= (char)(1 + at * 7 % 255);
        remove_all(&x);
        spill(x.path, bytes, size);
        check_whatever(x.path, 10, &opened, &found);
        bytes[at] ^= (char)(1 + at * 7 % 255);
        tried++;
    }
    CHECK(opened > tried / 2 && found > opened * 8 && found < opened * 10);
    free(bytes);
    teardown(&x);
}

TEST(a_flipped_byte_of_a_block)
{
    struct pair_keys *b = key_block(KEY_INT8, 1, 3);
    struct fix x;
    size_t size;
    char *bytes, *at;

    if (!setup(&x, ROOM)) return;
    put(&x, 0);
    put(&x, 1);
    put(&x, 2);
    key_file_close(x.f);
    bytes = slurp(x.path, &size);
    at = memmem(bytes, size, b->token, 3 * sizeof *b->token);
    REQUIRE(at);
    at[40] ^= 4;
    spill(x.path, bytes, size);
    again(&x, ROOM);
    CHECK(reads(&x, 0) && !reads(&x, 1) && reads(&x, 2));
    put(&x, 1);
    CHECK(reads(&x, 1));
    check_sound(x.path);
    free(bytes);
    pair_keys_drop(b);
    teardown(&x);
}

TEST(a_file_cut_anywhere)
{
    int opened = 0, found = 0, tried = 0;
    struct fix x;
    size_t size;
    char *bytes;

    if (!setup(&x, ROOM)) return;
    for (int i = 0; i < 60; i++) put_sized(x.f, i, 20, &x.e);
    key_file_close(x.f);
    x.f = NULL;
    bytes = slurp(x.path, &size);
    for (size_t at = 1; at < size; at += at < 8192 ? 97 : 511) {
        remove_all(&x);
        spill(x.path, bytes, at);
        check_whatever(x.path, 60, &opened, &found);
        tried++;
    }
    CHECK(opened < tried / 2);
    remove_all(&x);
    spill(x.path, bytes, size / 2);
    check_refused(&x, ST_FORMAT, "delete it");
    remove_all(&x);
    spill(x.path, bytes, 0);            /* an empty file is usable */
    again(&x, ROOM);
    put(&x, 1);
    CHECK(reads(&x, 1));
    free(bytes);
    teardown(&x);
}
