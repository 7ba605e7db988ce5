/* keyfile_fix.h - a file of keys in a folder of its own, and words to talk to
 * it. */
#ifndef KEYFILE_FIX_H
#define KEYFILE_FIX_H

#include <sqlite3.h>

#include "key_fix.h"
#include "knn/keyfile.h"

enum {
    MAKER = 77,
    ROOM = 1 << 20,
    EACH = 64 + 3 * (8 + KEY_D) /* what a block of put() counts */
};

struct fix {
    struct scratch dir;
    char path[300];
    struct keyfile *f;
    struct err e;
};

static inline bool again(struct fix *x, uint64_t limit)
{
    x->f = NULL;
    return CHECK_OK(keyfile_open(&x->f, x->path, MAKER, KEY_INT8, KEY_D, limit,
                                 &x->e), &x->e);
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
    keyfile_close(x->f);
    scratch_remove(&x->dir);
}

static inline enum status put_sized(struct keyfile *f, int number, int n,
                             struct err *e)
{
    struct keyblock *b = key_block(KEY_INT8, number, n);
    struct key_id id = key_of(number);
    enum status st = keyfile_put(f, &id, &b, 1, e);

    keyblock_drop(b);
    return st;
}

static inline void put(struct fix *x, int number)
{
    CHECK_OK(put_sized(x->f, number, 3, &x->e), &x->e);
}

static inline bool has(struct fix *x, int number)
{
    bool there = false;

    CHECK_OK(keyfile_has(x->f, key_of(number), &there, &x->e), &x->e);
    return there;
}

/* Read, and as it was written. */
static inline bool reads(struct fix *x, int number)
{
    struct keyblock *b = NULL;

    CHECK_OK(keyfile_get(x->f, key_of(number), &b, &x->e), &x->e);
    return b && CHECK(key_is(b, number));
}

static inline void forget(struct fix *x, int number)
{
    struct key_id id = key_of(number);

    CHECK_OK(keyfile_forget(x->f, &id, 1, &x->e), &x->e);
}

static inline struct keyfile_stats stats(struct fix *x)
{
    struct keyfile_stats s = { 0 };

    CHECK_OK(keyfile_stats(x->f, &s, &x->e), &x->e);
    return s;
}

static inline const char *beside(const struct fix *x, const char *ending)
{
    static char name[320];

    snprintf(name, sizeof name, "%s%s", x->path, ending);
    return name;
}

/* Any SQL, as somebody else would; the first number it gives. */
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

/* Our own book-keeping, and SQLite's. */
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
    struct keyfile *f = (struct keyfile *)x;
    enum status st = keyfile_open(&f, x->path, MAKER, KEY_INT8, KEY_D, ROOM,
                                  &x->e);

    CHECK_INT(st, want);
    CHECK(!f);
    if (!st) keyfile_close(f);
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
