/* tm_pool.c - lends open memory files. One lock guards the lists of all pools;
 * files are opened, searched and closed without it. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/tm_pool.h"

enum { EDIT_WAIT_MS = 20000 };

struct tm_handle_slot {         /* an open handle: idle, or lent */
    struct tm_handle_slot *newer, *older;   /* of the idle ones of all pools */
    struct tm_handle_slot *next_lent;       /* of its pool */
    struct tm_pool *pool;
    skmt_tm *tm;
    char *names;                /* the memories it is restricted to, one a
                                   line; "" for all */
    bool edit;                  /* the handle for changes */
    bool read_only;             /* it was opened so although the file can be
                                   written: an import was running */
    unsigned generation;        /* of the file */
};

struct tm_pools {
    pthread_mutex_t lock;
    pthread_cond_t edit_ended;
    struct tm_handle_slot *newest, *oldest; /* idle */
    int n_idle, max_idle, n_open;
    int edit_wait_ms;
};

struct tm_pool {
    struct tm_pools *all;
    char *path;
    struct tm_handle_slot *lent;
    bool editing;               /* somebody has the handle for changes */
    unsigned generation;        /* counts how often the file was replaced */
    dev_t device;
    ino_t inode;                /* 0: not known yet */
};

struct tm_pools *tm_pools_new(int max_idle)
{
    struct tm_pools *all = calloc(1, sizeof *all);

    if (!all) return NULL;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->edit_ended, NULL);
    all->max_idle = max_idle;
    all->edit_wait_ms = EDIT_WAIT_MS;
    return all;
}

void tm_pools_set_edit_wait(struct tm_pools *all, int ms)
{
    all->edit_wait_ms = ms;
}

void tm_pools_free(struct tm_pools *all)
{
    if (!all) return;
    pthread_cond_destroy(&all->edit_ended);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

int tm_pools_open(struct tm_pools *all)
{
    int n;

    pthread_mutex_lock(&all->lock);
    n = all->n_open;
    pthread_mutex_unlock(&all->lock);
    return n;
}

struct tm_pool *tm_pool_new(struct tm_pools *all, const char *path)
{
    struct tm_pool *p = calloc(1, sizeof *p);

    if (!p) return NULL;
    p->all = all;
    p->path = strdup(path);
    if (p->path) return p;
    free(p);
    return NULL;
}

/* ---- the list of idle handles: call these with the lock ------------------ */

static void idle_unlink(struct tm_handle_slot *f)
{
    struct tm_pools *all = f->pool->all;

    if (f->newer) f->newer->older = f->older;
    else all->newest = f->older;
    if (f->older) f->older->newer = f->newer;
    else all->oldest = f->newer;
    f->newer = f->older = NULL;
    all->n_idle--;
}

static void idle_add(struct tm_handle_slot *f)
{
    struct tm_pools *all = f->pool->all;

    f->newer = NULL;
    f->older = all->newest;
    if (f->older) f->older->newer = f;
    else all->oldest = f;
    all->newest = f;
    all->n_idle++;
}

/* Moves an idle handle to the list of those to be closed. */
static void idle_condemn(struct tm_handle_slot *f,
                         struct tm_handle_slot **condemned)
{
    idle_unlink(f);
    f->pool->all->n_open--;
    f->next_lent = *condemned;
    *condemned = f;
}

/* Condemns the idle handles of a pool, or only those of an older file. */
static void idle_condemn_pool(struct tm_pool *p, bool all,
                              struct tm_handle_slot **condemned)
{
    struct tm_handle_slot *f, *older;

    for (f = p->all->newest; f; f = older) {
        older = f->older;
        if (f->pool == p && (all || f->generation != p->generation))
            idle_condemn(f, condemned);
    }
}

/* ---- closing: call these without the lock -------------------------------- */

static void slot_close(struct tm_handle_slot *f)
{
    skmt_tm_close(f->tm);
    free(f->names);
    free(f);
}

static void close_condemned(struct tm_handle_slot *list)
{
    while (list) {
        struct tm_handle_slot *next = list->next_lent;

        slot_close(list);
        list = next;
    }
}

void tm_pool_free(struct tm_pool *p)
{
    struct tm_handle_slot *condemned = NULL;

    if (!p) return;
    pthread_mutex_lock(&p->all->lock);
    idle_condemn_pool(p, true, &condemned);
    pthread_mutex_unlock(&p->all->lock);
    close_condemned(condemned);
    free(p->path);
    free(p);
}

/* ---- opening ------------------------------------------------------------- */

/* Whether an import is running. A handle for writing would wait for it. */
static bool is_locked(const struct tm_pool *p)
{
    char lock[PATH_MAX];
    int n = snprintf(lock, sizeof lock, "%s-lock", p->path);

    return n < (int)sizeof lock && !access(lock, F_OK);
}

/* A handle for reading is opened for writing if possible, so that it can keep
 * the index on disk up to date. */
static skmt_status slot_open(struct tm_handle_slot *f, skmt_error *err)
{
    const char *path = f->pool->path;

    if (f->edit || (access(path, F_OK) && errno == ENOENT))
        return skmt_tm_open(&f->tm, path, SKMT_TM_CREATE, err);
    f->read_only = is_locked(f->pool);
    if (!f->read_only && !access(path, W_OK)
        && !skmt_tm_open(&f->tm, path, SKMT_TM_WRITE, NULL)) return SKMT_OK;
    return skmt_tm_open(&f->tm, path, SKMT_TM_READ, err);
}

/* Notices that the file was removed or replaced. A handle of the old file would
 * store corrections where nobody finds them. Call this with the lock. */
static void notice_file(struct tm_pool *p)
{
    struct stat sb = { 0 };
    bool there = !stat(p->path, &sb);

    if (there && p->inode == sb.st_ino && p->device == sb.st_dev) return;
    if (p->inode) p->generation++;
    p->inode = there ? sb.st_ino : 0;
    p->device = there ? sb.st_dev : 0;
}

static skmt_status pool_nomem(skmt_error *err)
{
    if (err) {
        *err = (skmt_error){ .status = SKMT_ERR_NOMEM };
        snprintf(err->message, sizeof err->message, "out of memory");
    }
    return SKMT_ERR_NOMEM;
}

/* ---- lending ------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in one string, sorted, so that equal sets give equal strings. NULL
 * if out of memory. */
static char *join_names(const char *const *names, int n)
{
    const char **sorted = calloc((size_t)n + 1, sizeof *sorted);
    size_t size = 1;
    char *out, *at;

    if (!sorted) return NULL;
    for (int i = 0; i < n; i++) {
        sorted[i] = names[i];
        size += strlen(names[i]) + 1;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, compare_names);
    out = at = malloc(size);
    for (int i = 0; out && i < n; i++) at += sprintf(at, "%s\n", sorted[i]);
    if (out) *at = '\0';
    free(sorted);
    return out;
}

/* An idle handle that fits. Call this with the lock. */
static struct tm_handle_slot *take_idle(struct tm_pool *p, const char *names,
                                        bool edit)
{
    struct tm_handle_slot *f;

    for (f = p->all->newest; f; f = f->older)
        if (f->pool == p && f->edit == edit
            && f->generation == p->generation && !strcmp(f->names, names))
            break;
    if (f) idle_unlink(f);
    return f;
}

/* Puts a handle among the lent ones. Call this with the lock. */
static void lend(struct tm_handle_slot *f)
{
    f->next_lent = f->pool->lent;
    f->pool->lent = f;
}

static struct tm_handle_slot *slot_new(struct tm_pool *p, char *names,
                                       bool edit)
{
    struct tm_handle_slot *f = calloc(1, sizeof *f);

    if (f) *f = (struct tm_handle_slot){ .pool = p, .names = names,
                                         .edit = edit };
    else free(names);
    return f;
}

/* Opens one more handle and lends it. Takes ownership of names. */
static skmt_status lend_new(struct tm_pool *p, char *names, bool edit,
                            struct tm_handle_slot **out, skmt_error *err)
{
    struct tm_handle_slot *f = slot_new(p, names, edit);
    skmt_status st;

    if (!f) return pool_nomem(err);
    pthread_mutex_lock(&p->all->lock);
    f->generation = p->generation;
    pthread_mutex_unlock(&p->all->lock);
    st = slot_open(f, err);
    if (st) {
        slot_close(f);
        return st;
    }
    pthread_mutex_lock(&p->all->lock);
    if (!p->inode) notice_file(p);      /* it was just created */
    p->all->n_open++;
    lend(f);
    pthread_mutex_unlock(&p->all->lock);
    *out = f;
    return SKMT_OK;
}

/* Lends an idle handle or a new one. Takes ownership of names. */
static skmt_status lend_any(struct tm_pool *p, char *names, bool edit,
                            struct tm_handle_slot **out, skmt_error *err)
{
    struct tm_handle_slot *f, *condemned = NULL;

    if (!names) return pool_nomem(err);
    pthread_mutex_lock(&p->all->lock);
    notice_file(p);
    idle_condemn_pool(p, false, &condemned);
    f = take_idle(p, names, edit);
    if (f && f->read_only && !is_locked(p)) {
        idle_add(f);            /* the import has ended: open it again */
        idle_condemn(f, &condemned);
        f = NULL;
    }
    if (f) lend(f);
    pthread_mutex_unlock(&p->all->lock);
    close_condemned(condemned);
    if (!f) return lend_new(p, names, edit, out, err);
    free(names);
    *out = f;
    return SKMT_OK;
}

/* Takes a lent handle back. With `keep` it becomes idle. */
static void take_back(struct tm_pool *p, skmt_tm *tm, bool edit, bool keep)
{
    struct tm_handle_slot **at, *f, *condemned = NULL;

    pthread_mutex_lock(&p->all->lock);
    for (at = &p->lent; (f = *at); at = &f->next_lent)
        if (edit ? f->edit : f->tm == tm) break;
    if (f) {
        *at = f->next_lent;
        idle_add(f);
        if (!keep || f->generation != p->generation)
            idle_condemn(f, &condemned);
        else if (p->all->n_idle > p->all->max_idle)
            idle_condemn(p->all->oldest, &condemned);
    }
    if (edit) p->editing = false;
    if (edit) pthread_cond_broadcast(&p->all->edit_ended);
    pthread_mutex_unlock(&p->all->lock);
    close_condemned(condemned);
}

skmt_status tm_pool_borrow(struct tm_pool *p, const char *const *names, int n,
                           skmt_tm **out, skmt_error *err)
{
    struct tm_handle_slot *f = NULL;
    skmt_status st = lend_any(p, join_names(names, n), false, &f, err);

    *out = NULL;
    if (st) return tm_pool_hide_path(p, err, st);
    /* Also for a handle that was lent with these names before: a memory may
     * have been dropped and made again. */
    if (n > 0) st = skmt_tm_use(f->tm, names, n, err);
    if (st) {
        take_back(p, f->tm, false, false);
        return tm_pool_hide_path(p, err, st);
    }
    *out = f->tm;
    return SKMT_OK;
}

void tm_pool_return(struct tm_pool *p, skmt_tm *tm)
{
    if (tm) take_back(p, tm, false, true);
}

/* Waits until no thread has the handle for changes, but not forever: each
 * change may have to wait for another process, and all handlers of the server
 * could end up in this queue. Called with the lock. */
static skmt_status wait_to_edit(struct tm_pool *p, skmt_error *err)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += p->all->edit_wait_ms / 1000;
    until.tv_nsec += p->all->edit_wait_ms % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (p->editing) {
        if (pthread_cond_timedwait(&p->all->edit_ended, &p->all->lock, &until)
            != ETIMEDOUT || !p->editing) continue;
        if (err) {
            err->status = SKMT_ERR_DEADLINE;
            snprintf(err->message, sizeof err->message,
                     "other changes of this memory take long; try again");
        }
        return SKMT_ERR_DEADLINE;
    }
    return SKMT_OK;
}

skmt_status tm_pool_edit(struct tm_pool *p, skmt_tm **out, skmt_error *err)
{
    struct tm_handle_slot *f = NULL;
    skmt_status st;

    *out = NULL;
    pthread_mutex_lock(&p->all->lock);
    st = wait_to_edit(p, err);
    if (!st) p->editing = true;
    pthread_mutex_unlock(&p->all->lock);
    if (st) return st;
    st = lend_any(p, strdup(""), true, &f, err);
    if (!st) *out = f->tm;
    else take_back(p, NULL, true, false);
    return tm_pool_hide_path(p, err, st);
}

/* A transaction that was forgotten must not be found by the next editor. */
void tm_pool_edit_end(struct tm_pool *p)
{
    const struct tm_handle_slot *f;

    pthread_mutex_lock(&p->all->lock);
    for (f = p->lent; f && !f->edit; f = f->next_lent) continue;
    pthread_mutex_unlock(&p->all->lock);
    if (f) skmt_tm_rollback(f->tm);
    take_back(p, NULL, true, true);
}

void tm_pool_forget(struct tm_pool *p)
{
    struct tm_handle_slot *condemned = NULL;

    pthread_mutex_lock(&p->all->lock);
    p->generation++;
    idle_condemn_pool(p, false, &condemned);
    pthread_mutex_unlock(&p->all->lock);
    close_condemned(condemned);
}

/* ---- messages ------------------------------------------------------------ */

void hide_path(skmt_error *err, const char *path, const char *what)
{
    char out[sizeof err->message];
    const char *from = err->message, *at;
    size_t len = strlen(path), n = 0;

    if (!len || !strstr(from, path)) return;
    while ((at = strstr(from, path)) && n < sizeof out) {
        n += (size_t)snprintf(out + n, sizeof out - n, "%.*s%s",
                              (int)(at - from), from, what);
        from = at + len;
    }
    if (n < sizeof out) snprintf(out + n, sizeof out - n, "%s", from);
    memcpy(err->message, out, sizeof out);
}

skmt_status tm_pool_hide_path(const struct tm_pool *p, skmt_error *err,
                              skmt_status st)
{
    if (st && err) hide_path(err, p->path, "the memory file");
    return st;
}
