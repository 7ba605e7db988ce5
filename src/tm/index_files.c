/* index_files.c - names of the files of an index, its locks, and writing and
 * removing segment files. This file does not look into segments. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "tm/index_internal.h"

#define NAME_MAX_BYTES 80

static char *index_files_join(const char *dir, const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

/* If the path is a symbolic link, the index lies beside the file that it points
 * to, like SQLite's write-ahead log. */
char *index_dir(const char *store_path)
{
    char *path, *real = realpath(store_path, NULL);
    int n = asprintf(&path, "%s.index", real ? real : store_path);

    free(real);
    return n < 0 ? NULL : path;
}

char *segment_path(const char *dir, int64_t number)
{
    char name[NAME_MAX_BYTES];

    snprintf(name, sizeof name, "%016" PRIx64 ".seg", (uint64_t)number);
    return index_files_join(dir, name);
}

char *symbol_path(const char *dir, int64_t number, uint64_t tokenizer)
{
    char name[NAME_MAX_BYTES];

    snprintf(name, sizeof name, "%016" PRIx64 ".%016" PRIx64 ".ids",
             (uint64_t)number, tokenizer);
    return index_files_join(dir, name);
}

enum status lock_take(struct lock *l, const char *dir, const char *name,
                      enum lock_kind kind, bool *got, struct err *e)
{
    char *path;
    int how = kind == LOCK_SHARED ? LOCK_SH : LOCK_EX;

    l->fd = -1;
    *got = false;
    if (mkdir(dir, 0777) && errno != EEXIST)
        return err_set(e, ST_IO, "%s: %s", dir, strerror(errno));
    path = index_files_join(dir, name);
    if (!path) return err_nomem(e, "index");
    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (l->fd < 0) {
        enum status st = err_set(e, ST_IO, "%s: %s", path, strerror(errno));

        free(path);
        return st;
    }
    free(path);
    if (kind == LOCK_TRY) how |= LOCK_NB;
    while (flock(l->fd, how)) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) {
            err_set(e, ST_IO, "%s: cannot lock the index: %s", dir,
                    strerror(errno));
            lock_drop(l);
            return ST_IO;
        }
        lock_drop(l);
        return ST_OK;
    }
    *got = true;
    return ST_OK;
}

void lock_drop(struct lock *l)
{
    if (l->fd >= 0) close(l->fd);
    l->fd = -1;
}

bool index_may_write(const struct index *ix)
{
    return store_writable(ix->s) && !store_inside(ix->s);
}

enum status locks_take(struct locks *l, struct index *ix, enum lock_kind kind,
                       bool *got, struct err *e)
{
    bool shared;
    enum status st;

    assert(kind != LOCK_SHARED);
    *l = (struct locks){ { -1 }, { -1 }, false };
    *got = ix->has_locks;
    if (ix->has_locks) return ST_OK;
    st = lock_take(&l->merge, ix->dir, "merge", kind, got, e);
    if (!st && *got)
        st = lock_take(&l->files, ix->dir, "files", LOCK_SHARED, &shared, e);
    if (st) locks_drop(l, ix);
    ix->has_locks = l->owned = !st && *got;
    assert(!l->owned || (l->merge.fd >= 0 && l->files.fd >= 0));
    return st;
}

void locks_drop(struct locks *l, struct index *ix)
{
    assert(!l->owned || ix->has_locks);
    lock_drop(&l->files);
    lock_drop(&l->merge);
    if (l->owned) ix->has_locks = false;
    l->owned = false;
}

/* Random, not counted: 62 random bits do not repeat in practice, and a store
 * that was restored from a copy cannot reuse the number of an existing file. */
int64_t new_segment_number(void)
{
    uint64_t v = 0;

    while (!(v >> 2))
        if (getrandom(&v, sizeof v, 0) != sizeof v) v = 0;
    return (int64_t)(v >> 2);
}

enum status segment_emit(const char *dir, struct image *im,
                         struct segment_row *row, struct err *e)
{
    int64_t number = (int64_t)im->head.user[SEG_NUMBER];
    char *path = segment_path(dir, number);
    enum status st;

    assert(number > 0);
    if (!path) return err_nomem(e, "index");
    st = pagefile_write(path, &im->head, im->data, im->n, e);
    *row = (struct segment_row){ number, im->head.user32[SEG32_DOCS],
                                 im->head.sum };
    free(path);
    return st;
}

/* Accepts "0123456789abcdef.seg", "0123456789abcdef.fedcba9876543210.ids" and
 * the temporary files that an interrupted write of either left behind. */
static bool parse_file_name(const char *name, int64_t *number)
{
    char *end;
    uint64_t v;

    if (strlen(name) < 17 || name[16] != '.') return false;
    errno = 0;
    v = strtoull(name, &end, 16);
    if (errno || end != name + 16 || v > INT64_MAX) return false;
    if (!strstr(name, ".seg") && !strstr(name, ".ids")) return false;
    *number = (int64_t)v;
    return true;
}

static void remove_file_in(const char *dir, const char *name)
{
    char *path = index_files_join(dir, name);

    if (path) unlink(path);
    free(path);
}

void segment_remove(const char *dir, int64_t number)
{
    DIR *d = opendir(dir);
    struct dirent *en;
    int64_t v;

    if (!d) return;
    while ((en = readdir(d)))
        if (parse_file_name(en->d_name, &v) && v == number)
            remove_file_in(dir, en->d_name);
    closedir(d);
}

size_t segment_tokenizers(const char *dir, int64_t number,
                          uint64_t out[TOKENIZERS_MAX])
{
    DIR *d = opendir(dir);
    struct dirent *en;
    size_t n = 0;
    int64_t v;
    char *end;

    while (d && n < TOKENIZERS_MAX && (en = readdir(d))) {
        if (!parse_file_name(en->d_name, &v) || v != number) continue;
        out[n] = strtoull(en->d_name + 17, &end, 16);
        n += end == en->d_name + 33 && !strcmp(end, ".ids");
    }
    if (d) closedir(d);
    return n;
}

bool emitted_add(struct emit_result *em, const struct segment_row *row)
{
    if (!mem_grow(&em->rows, &em->cap, em->n + 1, sizeof *em->rows))
        return false;
    assert(row->number > 0 && row->docs >= 0);
    em->rows[em->n++] = *row;
    return true;
}

void emitted_discard(struct emit_result *em, const char *dir)
{
    for (size_t i = 0; i < em->n; i++) segment_remove(dir, em->rows[i].number);
    em->n = 0;
}

void emitted_release(struct emit_result *em)
{
    free(em->rows);
    memset(em, 0, sizeof *em);
}

void emitted_drop_empty(struct emit_result *em, const char *dir)
{
    size_t n = 0;

    for (size_t i = 0; i < em->n; i++)
        if (em->rows[i].docs) em->rows[n++] = em->rows[i];
        else segment_remove(dir, em->rows[i].number);
    em->n = n;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Remove the files of all segments but those in live [n, ascending]. */
static void remove_unlisted_files(const char *dir, const int64_t *live,
                                  size_t n)
{
    DIR *d = opendir(dir);
    struct dirent *en;
    int64_t v;

    if (!d) return;
    while ((en = readdir(d)))
        if (parse_file_name(en->d_name, &v)
            && !bsearch(&v, live, n, sizeof *live, by_number))
            remove_file_in(dir, en->d_name);
    closedir(d);
}

enum status index_sweep(struct store *s, struct err *e)
{
    char *dir = index_dir(store_path(s));
    int64_t *live = NULL;
    size_t n = 0;
    struct lock l = { -1 };
    bool got = false;
    enum status st;

    if (!dir) return err_nomem(e, "index");
    if (access(dir, F_OK)) {            /* there is no index */
        free(dir);
        return ST_OK;
    }
    st = lock_take(&l, dir, "files", LOCK_TRY, &got, e);
    if (!st && got) st = store_live_segments(s, &live, &n, e);
    if (!st && got) {
        if (n) qsort(live, n, sizeof *live, by_number);
        remove_unlisted_files(dir, live, n);
    }
    lock_drop(&l);
    free(live);
    free(dir);
    return st;
}
