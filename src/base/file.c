/* file.c - maps files, replaces files atomically, and reads small files whole.
 *
 * A replacement is open from replacement_begin() until replacement_commit() or
 * replacement_abort(). While it is open, fd >= 0 and the file position is at
 * `size`, the end of what has been written. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invariant.h"

static enum status io_error(struct err *e, const char *path)
{
    return err_set(e, ST_IO, "%s: %s", path, strerror(errno));
}

enum status mapping_open(struct mapping *m, const char *path, struct err *e)
{
    enum status st = ST_OK;
    struct stat sb;
    void *p;
    /* O_NONBLOCK: opening a named pipe must not wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    memset(m, 0, sizeof *m);
    if (fd < 0) return io_error(e, path);
    if (fstat(fd, &sb)) {
        st = io_error(e, path);
    } else if (!S_ISREG(sb.st_mode)) {
        st = err_set(e, ST_IO, "%s: not a regular file", path);
    } else if (sb.st_size > 0) {
        p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) {
            st = io_error(e, path);
        } else {
            m->data = p;
            m->size = (size_t)sb.st_size;
        }
    }
    close(fd);
    return st;
}

void mapping_close(struct mapping *m)
{
    if (m->data) munmap((void *)(uintptr_t)m->data, m->size);
    memset(m, 0, sizeof *m);
}

/* Create a temporary file in the folder of the target and store its name in
 * `temp`. It gets the user's usual permissions; mkstemp() would make it
 * readable by its owner only. Returns a descriptor, or -1 with errno set. */
static int open_beside(char *temp, size_t size, const char *path)
{
    static atomic_uint serial;
    int fd = -1;

    for (int tries = 0; fd < 0 && tries < 100; tries++) {
        snprintf(temp, size, "%s.%ld-%u.tmp", path, (long)getpid(),
                 atomic_fetch_add(&serial, 1));
        fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    return fd;
}

enum status replacement_begin(struct replacement *r, const char *path,
                              struct err *e)
{
    size_t size = strlen(path) + 40;
    struct stat sb;

    memset(r, 0, sizeof *r);
    r->fd = -1;
    /* Renaming a file over a device or a pipe would remove it. */
    if (!stat(path, &sb) && !S_ISREG(sb.st_mode))
        return err_set(e, ST_IO, "%s: not a regular file", path);
    r->path = strdup(path);
    r->temp = malloc(size);
    r->fd = r->path && r->temp ? open_beside(r->temp, size, path) : -1;
    if (r->fd < 0) {
        enum status st = r->path && r->temp ? io_error(e, path)
                                            : err_nomem(e, "file name");
        free(r->temp);
        r->temp = NULL;         /* no file was created, so remove none */
        replacement_abort(r);
        return st;
    }
    return ST_OK;
}

static enum status replacement_write_all(struct replacement *r, const char *p,
                                         size_t n, struct err *e)
{
    while (n) {
        ssize_t k = write(r->fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return io_error(e, r->path);
        p += k;
        n -= (size_t)k;
    }
    return ST_OK;
}

enum status replacement_write(struct replacement *r, const void *bytes,
                              size_t n, struct err *e)
{
    enum status st;

    assert(r->fd >= 0);
    st = replacement_write_all(r, bytes, n, e);
    if (!st) r->size += n;
    return st;
}

enum status replacement_patch(struct replacement *r, uint64_t at,
                              const void *bytes, size_t n, struct err *e)
{
    enum status st;

    assert(r->fd >= 0);
    assert(at <= r->size && n <= r->size - at);
    if (lseek(r->fd, (off_t)at, SEEK_SET) < 0) return io_error(e, r->path);
    st = replacement_write_all(r, bytes, n, e);
    if (!st && lseek(r->fd, (off_t)r->size, SEEK_SET) < 0)
        st = io_error(e, r->path);
    return st;
}

/* A renamed file survives a power loss only when its directory has been
 * flushed too. Errors are ignored: some file systems cannot flush a
 * directory. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
    int fd = open(dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(dir);
}

enum status replacement_commit(struct replacement *r, struct err *e)
{
    enum status st = ST_OK;

    assert(r->fd >= 0 && r->temp && r->path);
    if (fsync(r->fd)) st = io_error(e, r->path);
    if (close(r->fd) && !st) st = io_error(e, r->path);
    r->fd = -1;
    if (!st && rename(r->temp, r->path)) st = io_error(e, r->path);
    if (!st) {
        sync_directory(r->path);
        free(r->temp);
        r->temp = NULL;
    }
    replacement_abort(r);
    return st;
}

void replacement_abort(struct replacement *r)
{
    if (r->fd >= 0) close(r->fd);
    if (r->temp) unlink(r->temp);
    free(r->temp);
    free(r->path);
    memset(r, 0, sizeof *r);
    r->fd = -1;
}

/* Read up to the end of the stream; the size of a pipe is not known before. */
static enum status read_stream(char **out, size_t *size, FILE *f,
                               const char *path, size_t limit, struct err *e)
{
    size_t cap = 4096, n = 0;
    char *buf = malloc(cap), *bigger;

    while (buf) {
        n += fread(buf + n, 1, cap - n - 1, f);
        if (ferror(f)) {
            free(buf);
            return io_error(e, path);
        }
        if (n > limit) {
            free(buf);
            return err_set(e, ST_LIMIT, "%s: larger than %zu bytes", path,
                           limit);
        }
        if (n < cap - 1) {
            buf[n] = '\0';
            *out = buf;
            *size = n;
            return ST_OK;
        }
        bigger = realloc(buf, cap *= 2);
        if (!bigger) free(buf);
        buf = bigger;
    }
    return err_nomem(e, path);
}

enum status file_read(char **out, size_t *size, const char *path,
                      size_t limit, struct err *e)
{
    enum status st;
    FILE *f = fopen(path, "rbe");

    *out = NULL;
    *size = 0;
    if (!f) return io_error(e, path);
    st = read_stream(out, size, f, path, limit, e);
    fclose(f);
    return st;
}
