/* key_file_fix.h - a key file in a temporary folder, and helpers to use it. */
#ifndef KEY_FILE_FIX_H
#define KEY_FILE_FIX_H

#include <sqlite3.h>

#include "key_fix.h"
#include "knn/key_file.h"

enum {
    MAKER = 77,
    ROOM = 1 << 20,
    EACH = 64 + 3 * (10 + KEY_D) /* bytes that put() adds */
};

static inline struct key_file_kind kind_of(enum key_type type)
{
    return (struct key_file_kind){ MAKER, type, KEY_D, KEY_VOCAB };
}

struct fix {
    struct scratch dir;
    char path[300];
    struct key_file *f;
    struct err e;
};

static inline bool again(struct fix *x, uint64_t limit)
{
    struct key_file_kind kind = kind_of(KEY_INT8);

    x->f = NULL;
    return CHECK_OK(key_file_open(&x->f, x->path, &kind, limit, &x->e), &x->e);
}

static inline bool setup(struct fix *x, uint64_t limit)
{
    memset(x, 0, sizeof *x);
    if (!scratch_make_small(&x->dir)) return false;
    snprintf(x->path, sizeof x->path, "%s/k.keys", x->dir.dir);
    return again(x, limit);
}

static inline void teardown(struct fix *x)
{
    key_file_close(x->f);
    scratch_remove(&x->dir);
}

static inline enum status put_sized(struct key_file *f, int number, int n,
                             struct err *e)
{
    struct pair_keys *b = key_block(KEY_INT8, number, n);
    struct key_id id = key_of(number);
    enum status st = key_file_put(f, &id, &b, 1, e);

    pair_keys_drop(b);
    return st;
}

static inline void put(struct fix *x, int number)
{
    CHECK_OK(put_sized(x->f, number, 3, &x->e), &x->e);
}

/* Whether the file has the keys of this number. If it has, they must be as they
 * were written. */
static inline bool reads(struct fix *x, int number)
{
    struct pair_keys *b = NULL;

    CHECK_OK(key_file_get(x->f, key_of(number), &b, &x->e), &x->e);
    return b && CHECK(key_is(b, number));
}

static inline struct key_file_stats stats(struct fix *x)
{
    struct key_file_stats s = { 0 };

    CHECK_OK(key_file_stats(x->f, &s, &x->e), &x->e);
    return s;
}

static inline const char *beside(const struct fix *x, const char *ending)
{
    static char name[320];

    snprintf(name, sizeof name, "%s%s", x->path, ending);
    return name;
}

/* Run any SQL on the file through a connection of its own. Returns the first
 * number of the result, or -1. */
static inline int64_t sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int64_t n = -1;
    int rc = sqlite3_open(path, &db);

    if (!rc) rc = sqlite3_prepare_v2(db, text, -1, &st, NULL);
    if (!rc) rc = sqlite3_step(st);
    if (rc == SQLITE_ROW) n = sqlite3_column_int64(st, 0);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        test_fail(__FILE__, __LINE__, "%s: %s", text, sqlite3_errmsg(db));
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

/* Whether the file has the keys of this number. Unlike reads(), this does not
 * count as a use and does not check the keys. */
static inline bool has(struct fix *x, int number)
{
    struct key_id id = key_of(number);
    char text[100];

    snprintf(text, sizeof text, "SELECT count(*) FROM block WHERE id ="
             " x'%016llx%016llx'", (unsigned long long)id.hi,
             (unsigned long long)id.lo);
    return sql(x->path, text) == 1;
}

/* Remove all pairs except those of these numbers. Returns how many were
 * removed. */
static inline uint64_t keep_only(struct fix *x, const int *numbers, size_t n)
{
    struct key_id ids[100];
    uint64_t removed = 0;

    for (size_t i = 0; i < n; i++) ids[i] = key_of(numbers[i]);
    qsort(ids, n, sizeof *ids, key_id_compare);
    CHECK_OK(key_file_keep_only(x->f, ids, n, &removed, &x->e), &x->e);
    return removed;
}

static inline void compact(struct fix *x)
{
    CHECK_OK(key_file_compact(x->f, &x->e), &x->e);
}

/* Check the file with SQLite's integrity check, and check that the totals in
 * the head table are right and that each pair has its keys. */
static inline void check_sound(const char *path)
{
    CHECK_INT(sql(path, "SELECT integrity_check = 'ok' FROM"
                  " pragma_integrity_check"), 1);
    CHECK_INT(sql(path, "SELECT blocks = (SELECT count(*) FROM block) AND"
                  " keys = (SELECT ifnull(sum(n), 0) FROM block) FROM head"),
              1);
    CHECK_INT(sql(path, "SELECT count(*) FROM block b LEFT JOIN keys k"
                  " ON k.place = b.place WHERE k.place IS NULL"), 0);
    CHECK_INT(sql(path, "SELECT (SELECT count(*) FROM keys) ="
                  " (SELECT count(*) FROM block)"), 1);
}

static inline char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *p = malloc(1 << 22);

    *size = f && p ? fread(p, 1, 1 << 22, f) : 0;
    if (f) fclose(f);
    return p;
}

static inline void spill(const char *path, const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");

    if (!CHECK(f != NULL)) return;
    CHECK_INT(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static inline void check_refused(struct fix *x, enum status want,
                                 const char *word)
{
    struct key_file *f = (struct key_file *)x;
    struct key_file_kind kind = kind_of(KEY_INT8);
    enum status st = key_file_open(&f, x->path, &kind, ROOM, &x->e);

    CHECK_INT(st, want);
    CHECK(!f);
    if (!st) key_file_close(f);
    else if (!strstr(x->e.msg, word) || !strstr(x->e.msg, "/"))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", x->e.msg, word);
}

static inline void remove_all(const struct fix *x)
{
    unlink(x->path);
    unlink(beside(x, "-wal"));
    unlink(beside(x, "-shm"));
    unlink(beside(x, "-journal"));
}

#endif
