/* model_store_change.c - adds models to a store, removes them and sets the
 * defaults. It reads no model, except to copy one.
 *
 * In the folder of the store there are, besides the models:
 *     defaults        the default models
 *     .lock           locked for a moment by each change
 *     .new-XXXXXX     a folder in which a model is written. Its file "lock" is
 *                     locked as long as its process lives; a folder that is not
 *                     locked was left behind.
 *
 * Folders are made, locked and removed only while .lock is held. So whoever
 * holds .lock and finds a folder that is not locked may remove it. */
#include "model/model_store_change.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/invariant.h"
#include "model/mfile.h"

#define NEW_FOLDER ".new-"
enum { COPY_BLOCK = 4 << 20 };

static enum status change_failed(const char *path, struct err *e)
{
    return err_set(e, ST_IO, "%s: %s", path, strerror(errno));
}

/* "folder/name", in malloc memory; NULL: out of memory. */
static char *path_in(const char *folder, const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* ---- names --------------------------------------------------------------- */

/* Write the name without ".skmt" to out [MODEL_STORE_NAME_MAX + 1]. */
static enum status check_name(char *out, const char *name, struct err *e)
{
    size_t n = strlen(name);

    if (n > 5 && !strcmp(name + n - 5, ".skmt")) n -= 5;
    if (n > MODEL_STORE_NAME_MAX)
        return err_set(e, ST_ARGUMENT, "the name of a model may have at most "
                       "%d bytes, not %zu", MODEL_STORE_NAME_MAX, n);
    snprintf(out, MODEL_STORE_NAME_MAX + 1, "%.*s", (int)n, name);
    if (!n || *out == '.' || *out == '-' || *out == '#')
        return err_set(e, ST_ARGUMENT, "the name of a model may not be empty "
                       "or begin with '.', '-' or '#': \"%s\"", out);
    for (const char *p = out; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == '/' || *p == 127)
            return err_set(e, ST_ARGUMENT, "the name of a model may not "
                           "contain '/', spaces or control characters: \"%s\"",
                           out);
    return ST_OK;
}

/* ---- locks --------------------------------------------------------------- */

/* Returns a descriptor, or -1 with errno set. EWOULDBLOCK: it is locked, and
 * `wait` is not set. */
static int lock_file(const char *path, bool wait)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), why;

    if (fd < 0) return -1;
    while (flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB))) {
        if (errno == EINTR) continue;
        why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

static enum status make_folders(const char *folder, struct err *e)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s", folder) >= PATH_MAX)
        return err_set(e, ST_IO, "%s: %s", folder, strerror(ENAMETOOLONG));
    for (char *p = path + 1;; p++) {
        char c = *p;

        if (c && c != '/') continue;
        *p = 0;
        if (mkdir(path, 0777) && errno != EEXIST)
            return change_failed(path, e);
        *p = c;
        if (!c) return ST_OK;
    }
}

/* Remove a folder that has only files. */
static void remove_folder(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *entry;

    while (d && (entry = readdir(d)))
        unlinkat(dirfd(d), entry->d_name, 0);
    if (d) closedir(d);
    rmdir(folder);
}

static void remove_if_dead(const char *folder)
{
    char *lock = path_in(folder, "lock");
    int fd = lock ? lock_file(lock, false) : -1;

    free(lock);
    if (fd < 0) return;
    remove_folder(folder);
    close(fd);
}

/* Whether a file is left of replacing the defaults, which is done only by those
 * who hold the lock. */
static bool is_old_defaults(const char *name)
{
    size_t n = strlen(name);

    return !strncmp(name, "defaults.", 9) && n > 13 &&
           !strcmp(name + n - 4, ".tmp");
}

/* Remove what killed processes have left behind. The lock is held. */
static void clean_store(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        char *path;

        if (is_old_defaults(entry->d_name))
            unlinkat(dirfd(d), entry->d_name, 0);
        if (strncmp(entry->d_name, NEW_FOLDER, sizeof NEW_FOLDER - 1))
            continue;
        path = path_in(folder, entry->d_name);
        if (path) remove_if_dead(path);
        free(path);
    }
    if (d) closedir(d);
}

/* Lock the store for a change; *fd is to be closed afterwards. */
static enum status begin_change(const struct model_store *s, int *fd,
                                struct err *e)
{
    const char *folder = model_store_folder(s);
    enum status st;
    char *lock;

    *fd = -1;
    if (!folder)
        return err_set(e, ST_IO, "there is no place for models: set SKMT_HOME "
                       "or HOME");
    st = make_folders(folder, e);
    if (st) return st;
    lock = path_in(folder, ".lock");
    if (!lock) return err_nomem(e, folder);
    *fd = lock_file(lock, true);
    if (*fd < 0) st = change_failed(lock, e);
    else clean_store(folder);
    free(lock);
    return st;
}

/* ---- adding -------------------------------------------------------------- */

struct new_model {
    const struct model_store *store;
    char name[MODEL_STORE_NAME_MAX + 1];
    bool replace;
    char *folder;               /* that was made for it; NULL: none */
    int lock;                   /* held; -1: none */
    char *path, *target;
};

const char *new_model_path(const struct new_model *m) { return m->path; }
const char *new_model_target(const struct new_model *m) { return m->target; }

static enum status check_new_target(const struct new_model *m, struct err *e)
{
    if (m->replace || access(m->target, F_OK)) return ST_OK;
    return err_set(e, ST_ARGUMENT, "there is a model '%s' already: %s; use "
                   "--force to replace it, or --name for another name",
                   m->name, m->target);
}

static enum status make_new_folder(struct new_model *m, struct err *e)
{
    char *lock;
    enum status st = ST_OK;

    m->folder = path_in(model_store_folder(m->store), NEW_FOLDER "XXXXXX");
    if (!m->folder) return err_nomem(e, "file name");
    if (!mkdtemp(m->folder)) {
        st = change_failed(model_store_folder(m->store), e);
        free(m->folder);
        m->folder = NULL;
        return st;
    }
    lock = path_in(m->folder, "lock");
    if (!lock || asprintf(&m->path, "%s/%s.skmt", m->folder, m->name) < 0) {
        m->path = NULL;
        st = err_nomem(e, "file name");
    } else if ((m->lock = lock_file(lock, false)) < 0) {
        st = change_failed(lock, e);
    }
    free(lock);
    return st;
}

static enum status start_new_model(struct new_model *m, struct err *e)
{
    int fd;
    enum status st = begin_change(m->store, &fd, e);

    if (st) return st;
    if (asprintf(&m->target, "%s/%s.skmt", model_store_folder(m->store),
                 m->name) < 0) {
        m->target = NULL;
        st = err_nomem(e, "file name");
    }
    if (!st) st = check_new_target(m, e);
    if (!st) st = make_new_folder(m, e);
    close(fd);
    return st;
}

enum status new_model_begin(struct new_model **out,
                            const struct model_store *s, const char *name,
                            bool replace, struct err *e)
{
    struct new_model *m = calloc(1, sizeof *m);
    enum status st;

    *out = NULL;
    if (!m) return err_nomem(e, "new model");
    m->store = s;
    m->replace = replace;
    m->lock = -1;
    st = check_name(m->name, name, e);
    if (!st) st = start_new_model(m, e);
    if (st) new_model_free(m);
    else *out = m;
    return st;
}

static enum status copy_bytes(struct replacement *r, const struct mapping *in,
                              new_model_progress *progress, void *user,
                              struct err *e)
{
    enum status st = ST_OK;

    for (size_t at = 0; !st && at < in->size; at += COPY_BLOCK) {
        size_t n = in->size - at < COPY_BLOCK ? in->size - at : COPY_BLOCK;

        st = replacement_write(r, in->data + at, n, e);
        if (!st && progress && progress(user, at + n, in->size))
            st = err_set(e, ST_CANCELED, "copying was stopped");
    }
    return st;
}

enum status new_model_copy(struct new_model *m, const char *file,
                           new_model_progress *progress, void *user,
                           struct err *e)
{
    struct mapping in = { NULL, 0 };
    struct replacement r;
    struct mfile *checked;
    enum status st = mfile_open(&checked, file, e);

    mfile_close(checked);
    if (!st) st = mapping_open(&in, file, e);
    if (!st) st = replacement_begin(&r, m->path, e);
    if (!st) {
        st = copy_bytes(&r, &in, progress, user, e);
        if (!st) st = replacement_commit(&r, e);
        else replacement_abort(&r);
    }
    mapping_close(&in);
    return st;
}

/* A renamed file survives a power failure only when its folder has been flushed
 * too. Errors are ignored: some file systems cannot flush a folder. */
static void sync_store(const struct model_store *s)
{
    int fd = open(model_store_folder(s), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

enum status new_model_commit(struct new_model *m, struct err *e)
{
    int fd;
    enum status st = begin_change(m->store, &fd, e);

    if (st) return st;
    st = check_new_target(m, e);
    if (!st && rename(m->path, m->target)) st = change_failed(m->path, e);
    if (!st) sync_store(m->store);
    close(fd);
    return st;
}

void new_model_free(struct new_model *m)
{
    if (!m) return;
    if (m->folder) remove_folder(m->folder);
    if (m->lock >= 0) close(m->lock);
    free(m->folder);
    free(m->path);
    free(m->target);
    free(m);
}

/* ---- removing, and the defaults ------------------------------------------ */

/* Change the defaults as they are on disk now. The lock is held. */
static enum status change_defaults(const struct model_store *s,
                                   const char *name, const char *from,
                                   const char *to, bool drop, struct err *e)
{
    struct model_defaults d;
    char *path = path_in(model_store_folder(s), "defaults");
    bool changed = true;
    enum status st;

    if (!path) return err_nomem(e, "file name");
    st = model_defaults_read(&d, path, e);
    if (!st && drop) changed = model_defaults_drop(&d, name) > 0;
    else if (!st) st = model_defaults_set(&d, from, to, name, e);
    if (!st && changed) st = model_defaults_write(&d, path, e);
    model_defaults_release(&d);
    free(path);
    return st;
}

static enum status remove_model(const struct model_store *s, const char *name,
                                struct err *e)
{
    char file[MODEL_STORE_NAME_MAX + 8], *path;
    enum status st = ST_OK;

    snprintf(file, sizeof file, "%s.skmt", name);
    path = path_in(model_store_folder(s), file);
    if (!path) return err_nomem(e, "file name");
    if (unlink(path))
        st = errno == ENOENT
                 ? err_set(e, ST_ARGUMENT, "there is no model '%s' in %s; "
                           "'skmt model list' lists the models", name,
                           model_store_folder(s))
                 : change_failed(path, e);
    free(path);
    if (!st) sync_store(s);
    return st;
}

enum status model_store_remove(const struct model_store *s, const char *name,
                               struct err *e)
{
    char bare[MODEL_STORE_NAME_MAX + 1];
    int fd;
    enum status st = check_name(bare, name, e);

    if (st) return st;
    st = begin_change(s, &fd, e);
    if (st) return st;
    st = remove_model(s, bare, e);
    if (!st) st = change_defaults(s, bare, NULL, NULL, true, e);
    close(fd);
    return st;
}

/* The defaults are a text with white space between words. */
static enum status check_default(const struct model_store *s, char *bare,
                                 const char *name, const char *from,
                                 const char *to, struct err *e)
{
    const char *const codes[] = { from, to };
    enum status st = name ? check_name(bare, name, e) : ST_OK;

    if (!from != !to)
        return err_set(e, ST_ARGUMENT, "a default is for everything, or for "
                       "both a source and a target language");
    for (int i = 0; i < 2; i++)
        if (codes[i] && (!*codes[i] || *codes[i] == '#' ||
                         strpbrk(codes[i], " \t\r\n")))
            return err_set(e, ST_ARGUMENT, "\"%.60s\" is not the code of a "
                           "language", codes[i]);
    if (!st && name && model_store_index(s, bare) < 0)
        st = err_set(e, ST_ARGUMENT, "there is no model '%s'; 'skmt model "
                     "list' lists the models", bare);
    return st;
}

enum status model_store_set_default(const struct model_store *s,
                                    const char *name, const char *from,
                                    const char *to, struct err *e)
{
    char bare[MODEL_STORE_NAME_MAX + 1];
    int fd;
    enum status st = check_default(s, bare, name, from, to, e);

    if (st) return st;
    st = begin_change(s, &fd, e);
    if (st) return st;
    st = change_defaults(s, name ? bare : NULL, from, to, false, e);
    close(fd);
    return st;
}
