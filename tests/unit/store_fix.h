/* store_fix.h - test fixture: a store in a temporary folder, and helpers that
 * add, read and check its contents. */
#ifndef STORE_FIX_H
#define STORE_FIX_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/sqlpage.h"
#include "scratch_dir.h"
#include "tm/store_internal.h"

struct fix {
    struct scratch dir;
    char path[300];
    struct store *s;
    int64_t m;                  /* a memory from de to en */
    struct err e;
};

static inline int64_t memory_named(struct store *s, const char *name, bool keep)
{
    struct memory_info m = { .source_lang = "de", .target_lang = "en",
                             .keep_duplicates = keep };
    struct err e = { 0 };
    int64_t id = 0;

    snprintf(m.name, sizeof m.name, "%s", name);
    CHECK_OK(store_memory_create(s, &m, &id, &e), &e);
    return id;
}

static inline bool setup(struct fix *f)
{
    memset(f, 0, sizeof *f);
    if (!scratch_make(&f->dir)) return false;
    snprintf(f->path, sizeof f->path, "%s/m.tm", f->dir.dir);
    if (!CHECK_OK(store_open(&f->s, f->path, STORE_CREATE, &f->e), &f->e))
        return false;
    store_relaxed(f->s, true);  /* faster; the disk is not tested */
    f->m = memory_named(f->s, "main", false);
    return f->m != 0;
}

static inline void teardown(struct fix *f)
{
    store_close(f->s);
    scratch_remove(&f->dir);
}

static inline struct store *open_again(struct fix *f, enum store_mode mode)
{
    struct store *s = NULL;

    CHECK_OK(store_open(&s, f->path, mode, &f->e), &f->e);
    if (s) store_relaxed(s, true);
    return s;
}

static inline struct unit unit_of(const char *source, const char *target)
{
    return (struct unit){ .source = str_of(source),
                          .target = str_of(target) };
}

static inline int64_t add(struct store *s, int64_t m, const char *source,
                   const char *target)
{
    struct unit u = unit_of(source, target);
    struct err e = { 0 };
    int64_t id = 0;

    CHECK_OK(store_add(s, m, &u, &id, &e), &e);
    return id;
}

static inline bool is(struct str v, const char *want)
{
    return str_eq(v, str_of(want));
}

static inline int64_t text_of(struct store *s, int64_t pair)
{
    struct pair p;

    return store_get(s, pair, &p, NULL) ? 0 : p.text;
}

static inline struct memory_counts counts(struct store *s, int64_t m)
{
    struct memory_counts c;
    struct err e = { 0 };

    CHECK_OK(store_memory_counts(s, m, &c, &e), &e);
    return c;
}

static inline void show(void *user, const char *sentence)
{
    (void)user;
    printf("  %s\n", sentence);
}

static inline bool sound(struct store *s)
{
    struct err e = { 0 };
    int n = -1;

    if (!CHECK_OK(store_check(s, show, NULL, &n, &e), &e)) return false;
    CHECK_INT(n, 0);
    return n == 0;
}

static inline int64_t file_size(const char *path, const char *ending)
{
    char name[400];
    struct stat sb;

    snprintf(name, sizeof name, "%s%s", path, ending);
    return stat(name, &sb) ? -1 : (int64_t)sb.st_size;
}

/* Runs any SQL. The pages keep their checksums. */
static inline bool sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    bool ok = !sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE |
                               SQLITE_OPEN_CREATE, sqlpage_vfs()) &&
              !sqlite3_exec(db, text, NULL, NULL, NULL);

    if (!ok) printf("  %s\n", sqlite3_errmsg(db));
    sqlite3_close(db);
    return ok;
}

static inline int64_t rows_left(const char *path, const char *from)
{
    char text[200];
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int64_t n = -1;

    snprintf(text, sizeof text, "SELECT count(*) FROM %s", from);
    if (!sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) &&
        !sqlite3_prepare_v2(db, text, -1, &st, NULL) &&
        sqlite3_step(st) == SQLITE_ROW)
        n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

static inline void fill(struct store *s, int64_t m, int from, int n)
{
    char a[40], b[40];

    store_begin(s, NULL);
    for (int i = from; i < from + n; i++) {
        snprintf(a, sizeof a, "Satz %d", i);
        snprintf(b, sizeof b, "sentence %d", i);
        add(s, m, a, b);
    }
    CHECK(!store_commit(s, NULL));
}

static inline enum status put(struct store_import *im, const char *source,
                       const char *target, int64_t *text, bool *is_new,
                       struct err *e)
{
    struct unit u = unit_of(source, target);

    return store_import_put(im, &u, text, is_new, e);
}

struct heard { int64_t adds[64], removes[64], seq; int n_adds, n_removes; };

static inline int note(void *user, const struct change *c)
{
    struct heard *v = user;

    CHECK(c->seq >= v->seq && c->source.n);
    v->seq = c->seq;
    if (c->kind == CHANGE_ADD && v->n_adds < 64)
        v->adds[v->n_adds++] = c->text;
    if (c->kind == CHANGE_REMOVE && v->n_removes < 64)
        v->removes[v->n_removes++] = c->text;
    return 0;
}

static inline struct heard changes(struct store *s, int64_t m, int64_t adds,
                           int64_t removes)
{
    struct heard v = { 0 };
    struct err e = { 0 };

    CHECK_OK(store_changes(s, m, adds, removes, note, &v, &e), &e);
    return v;
}

#endif
