/* test_damage.c - tests that reading a damaged memory file returns correct data
 * or an error, and what recovery saves. */
#include "store_fix.h"

#include <glob.h>

#include "tm/recover.h"
#include "tm/tmfile.h"

/* ---- files --------------------------------------------------------------- */

struct bytes { char *at; size_t n; };

static struct bytes slurp(const char *path)
{
    struct bytes b = { NULL, (size_t)file_size(path, "") };
    FILE *f = fopen(path, "rb");

    b.at = malloc(b.n + 1);
    CHECK(f && b.at && fread(b.at, 1, b.n, f) == b.n);
    if (f) fclose(f);
    return b;
}

static bool spill(const char *path, const char *at, size_t n)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(at, 1, n, f) == n;

    return (!f || !fclose(f)) && ok;
}

/* Creates and closes a store with rows of every kind. Some texts need several
 * pages. */
static bool setup_closed(struct fix *f)
{
    static char long_text[20000];
    struct unit u = unit_of("Mit allem", "with everything");
    struct err e = { 0 };
    int64_t id;

    if (!setup(f)) return false;
    fill(f->s, f->m, 0, 400);
    memset(long_text, 'x', sizeof long_text - 1);
    add(f->s, f->m, "lang", long_text);
    u.document = str_of("document");
    u.author = str_of("somebody");
    u.extra = str_of("{\"note\":\"extra\"}");
    CHECK_OK(store_add(f->s, f->m, &u, &id, &e), &e);
    CHECK_OK(store_delete(f->s, 17, &e), &e);
    store_close(f->s);
    f->s = NULL;
    return true;
}

/* The same rows in a file of version 1: no page checksums. */
static bool to_version_1(const char *path)
{
    char name[400], text[500];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    bool ok;

    snprintf(name, sizeof name, "%s.v1", path);
    ok = !sqlite3_open(name, &db);
    snprintf(text, sizeof text, "PRAGMA page_size = 8192; ATTACH '%s' AS o;"
             "PRAGMA application_id = 0x736b6d74; PRAGMA user_version = 1",
             path);
    ok = ok && !sqlite3_exec(db, text, NULL, NULL, NULL);
    for (int turn = 0; ok && turn < 2; turn++) {
        ok = !sqlite3_prepare_v2(db, turn ? "SELECT 'INSERT INTO ' || name ||"
                 " ' SELECT * FROM o.' || name FROM o.sqlite_schema"
                 " WHERE type = 'table'" : "SELECT sql FROM o.sqlite_schema"
                 " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'", -1,
                 &row, NULL);
        while (ok && sqlite3_step(row) == SQLITE_ROW)
            ok = !sqlite3_exec(db, (const char *)sqlite3_column_text(row, 0),
                               NULL, NULL, NULL);
        sqlite3_finalize(row);
    }
    ok = ok && !sqlite3_exec(db, "DETACH o; PRAGMA journal_mode = WAL", NULL,
                             NULL, NULL);
    if (!ok) printf("  %s\n", sqlite3_errmsg(db));
    sqlite3_close(db);
    return CHECK(ok) && CHECK(!rename(name, path));
}

/* The first column of the first row of a query; -1 when there is none. */
static int64_t number_in(const char *path, const char *query)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int64_t n = -1;

    if (!sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) &&
        !sqlite3_prepare_v2(db, query, -1, &row, NULL) &&
        sqlite3_step(row) == SQLITE_ROW)
        n = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return n;
}

/* ---- reading ------------------------------------------------------------- */

static uint64_t mix_in(uint64_t h, struct str v)
{
    for (size_t i = 0; i < v.n; i++)
        h = (h ^ (unsigned char)v.p[i]) * 0x100000001b3u;
    return (h ^ v.n) * 0x100000001b3u;
}

/* A hash of everything that an export shows. */
static enum status read_all(const char *path, uint64_t *sum, int64_t *n,
                            struct err *e)
{
    struct pair_filter f = { .memory = 1 };
    struct pair_cursor *c = NULL;
    struct store *s = NULL;
    struct pair p;
    bool found = true;
    enum status st = store_open(&s, path, STORE_READ, e);

    *sum = *n = 0;
    if (!st) st = pair_cursor_open(&c, s, &f, e);
    while (!st && found) {
        st = pair_cursor_next(c, &p, &found, e);
        if (st || !found) break;
        ++*n;
        *sum = mix_in(mix_in(*sum, p.unit.source), p.unit.target);
        *sum = mix_in(mix_in(*sum, p.unit.document), p.unit.author);
        *sum = mix_in(mix_in(*sum, p.unit.extra), p.unit.source_lang);
        *sum += (uint64_t)(p.id * 31 + p.unit.created + p.position * 7);
    }
    pair_cursor_close(c);
    store_close(s);
    return st;
}

struct mutation { size_t at, n; char with; bool cut; };

static struct mutation draw(size_t bytes, uint32_t *state)
{
    uint32_t a = *state = *state * 1664525 + 1013904223;
    uint32_t b = *state = *state * 1664525 + 1013904223;
    struct mutation m = { .at = (a >> 2) % bytes, .n = 1,
                          .with = (char)(b >> 24), .cut = b >> 8 & 1 &&
                                                          b >> 9 & 1 };

    if (b >> 10 & 1) m.n = 1 + (b >> 12) % 600;
    if (m.n > bytes - m.at) m.n = bytes - m.at;
    return m;
}

/* Copies are changed at random. Each one reads as before, or fails with a
 * message. */
TEST(no_changed_byte_is_believed)
{
    struct fix f;
    struct bytes good;
    uint32_t state = 1;
    uint64_t want, got;
    int64_t n_want, n;
    int silent = 0, errors = 0;
    char copy[320];

    if (!setup_closed(&f)) return;
    snprintf(copy, sizeof copy, "%s/copy.tm", f.dir.dir);
    CHECK_OK(read_all(f.path, &want, &n_want, &f.e), &f.e);
    CHECK_INT(n_want, 401);
    good = slurp(f.path);
    for (int i = 0; i < 400; i++) {
        struct mutation m = draw(good.n, &state);
        char *bad = malloc(good.n);
        struct err e = { 0 };

        memcpy(bad, good.at, good.n);
        memset(bad + m.at, m.with, m.n);
        REQUIRE(spill(copy, bad, m.cut ? m.at : good.n));
        free(bad);
        if (read_all(copy, &got, &n, &e)) {
            errors++;
            CHECK(strlen(e.msg) > 20);
        } else if (got != want || n != n_want) {
            silent++;
            printf("  %zu bytes at %zu, cut %d: %lld pairs\n", m.n, m.at,
                   m.cut, (long long)n);
        }
    }
    CHECK_INT(silent, 0);
    CHECK(errors > 200);
    free(good.at);
    teardown(&f);
}

/* A page whose checksum was overwritten with zeros is not mistaken for a page
 * that another program has written. */
TEST(a_page_without_its_checksum_is_damaged)
{
    struct fix f;
    struct bytes good;
    uint64_t sum;
    int64_t n;
    int refused = 0;

    if (!setup_closed(&f)) return;
    good = slurp(f.path);
    for (size_t page = 1; page < good.n / 8192; page++) {
        char *bad = malloc(good.n);

        memcpy(bad, good.at, good.n);
        memset(bad + (page + 1) * 8192 - 512, 0, 512);
        REQUIRE(spill(f.path, bad, good.n));
        free(bad);
        refused += store_open(&f.s, f.path, STORE_READ, &f.e) == ST_FORMAT ||
                   store_require_sound(f.s, "x", &f.e) == ST_FORMAT;
        store_close(f.s);
        f.s = NULL;
    }
    CHECK(refused > 0 && (size_t)refused == good.n / 8192 - 1);
    REQUIRE(spill(f.path, good.at, good.n));
    CHECK_OK(read_all(f.path, &sum, &n, &f.e), &f.e);
    free(good.at);
    teardown(&f);
}

/* ---- the length ---------------------------------------------------------- */

static void check_cut(struct fix *f)
{
    struct store *s = NULL;
    int64_t size = file_size(f->path, "");

    REQUIRE(!truncate(f->path, size - 4000));
    for (int mode = STORE_READ; mode <= STORE_CREATE; mode++) {
        CHECK_INT(store_open(&s, f->path, (enum store_mode)mode, &f->e),
                  ST_FORMAT);
        CHECK(strstr(f->e.msg, "should have") &&
              strstr(f->e.msg, "skmt tm recover"));
    }
}

TEST(a_file_shorter_than_its_header_says_is_refused)
{
    struct fix f;

    if (!setup_closed(&f)) return;
    check_cut(&f);
    teardown(&f);
    if (!setup_closed(&f) || !to_version_1(f.path)) return;
    check_cut(&f);
    teardown(&f);
}

/* The file may be too short while its log has the missing pages. */
TEST(pages_that_are_in_the_log_are_not_missing)
{
    struct fix f;
    struct store *other = NULL;
    uint64_t sum;
    int64_t n;

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 3000);
    CHECK(file_size(f.path, "-wal") > 100000);
    CHECK_OK(store_open(&other, f.path, STORE_WRITE, &f.e), &f.e);
    store_close(other);
    CHECK_OK(read_all(f.path, &sum, &n, &f.e), &f.e);
    CHECK_INT(n, 3000);
    teardown(&f);
}

/* ---- files without page checksums ---------------------------------------- */

TEST(a_text_that_does_not_match_its_hash_is_an_error)
{
    struct fix f;
    struct pair p;
    uint64_t sum;
    int64_t n;

    if (!setup_closed(&f) || !to_version_1(f.path)) return;
    CHECK_OK(read_all(f.path, &sum, &n, &f.e), &f.e);
    CHECK_INT(n, 401);
    REQUIRE(sql(f.path, "UPDATE text SET target = 'xentence 5'"
                " WHERE target = 'sentence 5'"));
    CHECK_INT(read_all(f.path, &sum, &n, &f.e), ST_FORMAT);
    CHECK(strstr(f.e.msg, "pair 6 does not match its hash") &&
          strstr(f.e.msg, "skmt tm recover"));
    f.s = open_again(&f, STORE_WRITE);
    CHECK_INT(store_get(f.s, 6, &p, &f.e), ST_FORMAT);
    CHECK_OK(store_get(f.s, 7, &p, &f.e), &f.e);
    CHECK_INT(store_require_sound(f.s, "compacting", &f.e), ST_FORMAT);
    CHECK(strstr(f.e.msg, "compacting is refused"));
    teardown(&f);
}

TEST(an_export_counts_the_pairs_by_another_tree)
{
    struct fix f;
    uint64_t sum;
    int64_t n;

    if (!setup_closed(&f) || !to_version_1(f.path)) return;
    REQUIRE(sql(f.path, "UPDATE text SET id = id + 100000"
                " WHERE target = 'sentence 5'"));
    CHECK_INT(read_all(f.path, &sum, &n, &f.e), ST_FORMAT);
    CHECK(strstr(f.e.msg, "400 pairs were read from the table, but its index "
                          "lists 401"));
    teardown(&f);
}

/* Overwrites the first byte of a table or index, which says what kind of page
 * it is. */
static bool damage_root(const char *path, const char *name)
{
    char from[100];
    struct bytes b;
    int64_t page;
    bool ok;

    snprintf(from, sizeof from, "SELECT rootpage FROM sqlite_schema"
             " WHERE name = '%s'", name);
    page = number_in(path, from);
    if (!CHECK(page > 1)) return false;
    b = slurp(path);
    b.at[(page - 1) * 8192] = 0x55;
    ok = spill(path, b.at, b.n);
    free(b.at);
    return CHECK(ok);
}

TEST(an_export_whose_pairs_cannot_be_counted_fails)
{
    struct fix f;
    uint64_t sum;
    int64_t n;

    if (!setup_closed(&f) || !to_version_1(f.path)) return;
    if (!damage_root(f.path, "pair_text")) return;
    CHECK_INT(read_all(f.path, &sum, &n, &f.e), ST_FORMAT);
    CHECK_INT(n, 401);
    CHECK(strstr(f.e.msg, "damaged"));
    teardown(&f);
}

/* ---- other programs ------------------------------------------------------ */

/* SQLite without our VFS copies pages from the log without checksums. */
TEST(a_checkpoint_by_another_program_is_no_damage)
{
    struct fix f;
    sqlite3 *db = NULL;

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 500);
    REQUIRE(!sqlite3_open(f.path, &db));
    CHECK(!sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL,
                        NULL));
    sqlite3_close(db);
    CHECK_INT(file_size(f.path, "-wal"), 0);
    store_close(f.s);
    f.s = open_again(&f, STORE_WRITE);
    CHECK(sound(f.s));
    fill(f.s, f.m, 500, 500);
    store_close(f.s);
    f.s = open_again(&f, STORE_READ);
    CHECK(sound(f.s));
    CHECK_INT(counts(f.s, f.m).pairs, 1000);
    teardown(&f);
}

TEST(a_copy_has_page_checksums_too)
{
    struct fix f;
    struct bytes b;
    struct store *s;
    char copy[320];

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 500);
    snprintf(copy, sizeof copy, "%s/copy.tm", f.dir.dir);
    CHECK_OK(store_backup(f.s, copy, &f.e), &f.e);
    CHECK_OK(store_open(&s, copy, STORE_READ, &f.e), &f.e);
    CHECK(s->has_sums && sound(s));
    store_close(s);
    b = slurp(copy);
    b.at[b.n - 5000] ^= 1;
    REQUIRE(spill(copy, b.at, b.n));
    free(b.at);
    CHECK_OK(store_open(&s, copy, STORE_READ, &f.e), &f.e);
    CHECK_INT(store_require_sound(s, "x", &f.e), ST_FORMAT);
    store_close(s);
    teardown(&f);
}

/* ---- recovery ------------------------------------------------------------ */

static enum status recover(struct fix *f, const char *to,
                           struct recovery *out)
{
    char path[320];

    snprintf(path, sizeof path, "%s/%s", f->dir.dir, to);
    return tm_recover(f->path, path, NULL, NULL, out, &f->e);
}

static struct store *open_recovered(struct fix *f, const char *name)
{
    char path[320];
    struct store *s = NULL;

    snprintf(path, sizeof path, "%s/%s", f->dir.dir, name);
    CHECK_OK(store_open(&s, path, STORE_WRITE, &f->e), &f->e);
    if (s) CHECK(sound(s));
    return s;
}

TEST(a_sound_file_is_recovered_whole)
{
    struct fix f;
    struct recovery r;
    struct pair p;
    struct store *s;

    for (int version = 1; version <= 2; version++) {
        if (!setup_closed(&f)) return;
        if (version == 1 && !to_version_1(f.path)) return;
        CHECK_OK(recover(&f, "new.tm", &r), &f.e);
        CHECK_INT(r.pairs, 401);
        /* Nothing verifies the metadata in a file of version 1. */
        CHECK_INT(r.doubtful, version == 1 ? 401 : 0);
        CHECK_INT(r.lost, 0);
        s = open_recovered(&f, "new.tm");
        REQUIRE(s);
        CHECK(s->has_sums);
        CHECK_OK(store_get(s, 402, &p, &f.e), &f.e);
        CHECK(is(p.unit.source, "Mit allem") &&
              is(p.unit.document, "document") &&
              is(p.unit.author, "somebody") && p.unit.created > 1600000000);
        CHECK_INT(store_get(s, 17, &p, &f.e), ST_ARGUMENT);
        CHECK(add(s, p.memory ? p.memory : 1, "neu", "new") == 403);
        CHECK(sound(s));
        store_close(s);
        CHECK_INT(recover(&f, "new.tm", &r), ST_ARGUMENT);
        CHECK(strstr(f.e.msg, "exists already"));
        teardown(&f);
    }
}

/* The number of rows of `table` that one of the two files has and the other
 * does not have; -1 after an error. */
static int64_t rows_that_differ(struct fix *f, const char *name,
                                const char *table)
{
    char text[900];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int64_t n = -1;

    CHECK(!sqlite3_open(f->path, &db));
    snprintf(text, sizeof text, "ATTACH '%s/%s' AS n", f->dir.dir, name);
    CHECK(!sqlite3_exec(db, text, NULL, NULL, NULL));
    snprintf(text, sizeof text, "SELECT (SELECT count(*) FROM (SELECT * FROM"
             " main.%s EXCEPT SELECT * FROM n.%s)) + (SELECT count(*) FROM"
             " (SELECT * FROM n.%s EXCEPT SELECT * FROM main.%s))", table,
             table, table, table);
    if (CHECK(!sqlite3_prepare_v2(db, text, -1, &row, NULL)) &&
        CHECK(sqlite3_step(row) == SQLITE_ROW))
        n = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return n;
}

/* Times have a fraction of a second, which decides between two translations of
 * the same second. */
TEST(recovering_a_sound_file_changes_no_row)
{
    static const char *const tables[] = { "pair", "text", "batch", "memory",
                                          "by_hash" };
    struct fix f;
    struct recovery r;

    for (int version = 1; version <= 2; version++) {
        if (!setup_closed(&f)) return;
        if (version == 1 && !to_version_1(f.path)) return;
        REQUIRE(recover(&f, "new.tm", &r) == ST_OK);
        for (int i = 0; i < 5; i++)
            CHECK_INT(rows_that_differ(&f, "new.tm", tables[i]), 0);
        teardown(&f);
    }
}

/* Overwrites each page in turn. What is saved is sound, and everything is saved
 * except the texts on that page. */
TEST(one_bad_page_costs_no_more_than_its_texts)
{
    struct fix f;
    struct bytes good;
    struct recovery r;
    int64_t least = 1000;

    if (!setup_closed(&f)) return;
    good = slurp(f.path);
    for (size_t page = 0; page < good.n / 8192; page++) {
        char name[40];
        struct store *s;
        struct bytes after;
        char *bad = malloc(good.n);

        memcpy(bad, good.at, good.n);
        memset(bad + page * 8192, 0x55, 8192);
        REQUIRE(spill(f.path, bad, good.n));
        snprintf(name, sizeof name, "new%zu.tm", page);
        if (CHECK_OK(recover(&f, name, &r), &f.e)) {
            s = open_recovered(&f, name);
            if (s) CHECK_INT(counts(s, 1).pairs, r.pairs);
            store_close(s);
            CHECK(r.lost >= 0 || page == 0);
            if (r.pairs < least) least = r.pairs;
        }
        after = slurp(f.path);
        CHECK(after.n == good.n && !memcmp(after.at, bad, good.n));
        free(after.at);
        free(bad);
    }
    CHECK(least > 200 && least < 401);
    free(good.at);
    teardown(&f);
}

/* Lets every column of a table be NULL. */
static bool drop_constraints(const char *path)
{
    return sql(path, "PRAGMA writable_schema = ON; UPDATE sqlite_schema"
               " SET sql = replace(sql, ' NOT NULL', '')"
               " WHERE type = 'table' AND name IN ('batch', 'memory')");
}

/* No number in a file without checksums makes recovery ask for more pairs or
 * memories than the file has bytes. */
TEST(a_damaged_number_does_not_make_recovery_endless)
{
    struct fix f;
    struct recovery r;
    struct store *s;

    if (!setup_closed(&f) || !to_version_1(f.path)) return;
    REQUIRE(sql(f.path, "UPDATE head SET pairs = 1 << 60;"
                "UPDATE pair SET id = 1 << 60 WHERE id = 402;"
                "INSERT INTO memory SELECT 1 << 60, 'far', NULL, NULL, 0, 0,"
                " created, 0 FROM memory WHERE id = 1"));
    CHECK_OK(recover(&f, "new.tm", &r), &f.e);
    CHECK_INT(r.pairs, 401);
    CHECK_INT(r.doubtful, 401);
    s = open_recovered(&f, "new.tm");
    if (s) CHECK_INT(counts(s, 1).pairs, 401);
    store_close(s);
    teardown(&f);
}

/* Values of the wrong type are replaced by defaults. */
TEST(a_bad_row_of_a_batch_or_memory_costs_no_pair)
{
    static const char *const damage[] = {
        "UPDATE batch SET created = NULL",
        "UPDATE batch SET texts = NULL, import = NULL, first_pair = NULL",
        "UPDATE batch SET texts = 1 << 60, origin = x'ff00', extra = x'ff'",
        "UPDATE batch SET state = 77, finished = x'00'",
        "UPDATE memory SET created = NULL, priority = NULL",
        "UPDATE memory SET keep_duplicates = NULL, source_lang = x'ff'",
        "UPDATE pair SET batch = 1 << 60"
    };
    struct fix f;
    struct recovery r;
    struct store *s;

    for (int i = 0; i < 7; i++) {
        if (!setup_closed(&f)) return;
        if (!to_version_1(f.path)) return;
        REQUIRE(drop_constraints(f.path) && sql(f.path, damage[i]));
        CHECK_OK(recover(&f, "new.tm", &r), &f.e);
        CHECK_INT(r.pairs, 401);
        s = open_recovered(&f, "new.tm");
        if (s) CHECK_INT(counts(s, 1).pairs, 401);
        if (s) CHECK(add(s, 1, "neu", "new") > 402);
        store_close(s);
        teardown(&f);
    }
}

/* Copies the name of the temporary file, or of one that begins like it, to
 * `path`. Returns whether there is one. */
static bool find_temp(struct fix *f, char *path, size_t size)
{
    char pattern[320];
    glob_t found;
    bool any;

    snprintf(pattern, sizeof pattern, "%s/*.tmp*", f->dir.dir);
    any = !glob(pattern, 0, NULL, &found);
    if (any) snprintf(path, size, "%s", found.gl_pathv[0]);
    globfree(&found);
    return any;
}

struct reader { struct fix *f; sqlite3 *db; };

/* A program that reads the temporary file keeps its log from being emptied. */
static int read_temp(void *user, const char *what, uint64_t done,
                     uint64_t total, uint64_t pairs)
{
    struct reader *r = user;
    char path[400];

    (void)what, (void)done, (void)total, (void)pairs;
    if (r->db || !CHECK(find_temp(r->f, path, sizeof path))) return 0;
    CHECK(!sqlite3_open(path, &r->db));
    CHECK(!sqlite3_exec(r->db, "BEGIN; SELECT * FROM head", NULL, NULL, NULL));
    return 0;
}

TEST(recovery_fails_when_the_log_cannot_be_emptied)
{
    struct fix f;
    struct reader r = { .f = &f };
    struct recovery out;
    char new_path[320], temp[400];

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 1100);
    store_close(f.s);
    f.s = NULL;
    snprintf(new_path, sizeof new_path, "%s/new.tm", f.dir.dir);
    CHECK_INT(tm_recover(f.path, new_path, read_temp, &r, &out, &f.e), ST_IO);
    CHECK(strstr(f.e.msg, "could not be completed"));
    CHECK(r.db && file_size(new_path, "") == -1);
    sqlite3_close(r.db);
    CHECK(!find_temp(&f, temp, sizeof temp));
    teardown(&f);
}

TEST(where_nothing_is_readable_recovery_fails)
{
    struct fix f;
    struct recovery r;
    char zeros[20000] = "";

    if (!setup_closed(&f)) return;
    REQUIRE(spill(f.path, zeros, sizeof zeros));
    CHECK_INT(recover(&f, "new.tm", &r), ST_FORMAT);
    CHECK(strstr(f.e.msg, "no pair of this file could be read"));
    CHECK_INT(file_size(scratch_path(&f.dir, "new.tm"), ""), -1);
    CHECK_INT(r.pairs, 0);
    teardown(&f);
}
