/* file_stream.c - streams of files on the disk, and the bounds check that all
 * streams share. */
#include "convert/file_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invariant.h"

struct disk_stream {
    struct file_stream base;
    int fd;
};

static enum status disk_stream_read(struct file_stream *f, uint64_t at,
                                    void *out, size_t n, struct err *e)
{
    struct disk_stream *d = (struct disk_stream *)f;
    uint8_t *p = out;

    while (n) {
        ssize_t k = pread(d->fd, p, n < 1 << 30 ? n : 1 << 30, (off_t)at);

        if (k < 0 && errno == EINTR) continue;
        if (k < 0) return err_set(e, ST_IO, "%s: %s", f->name, strerror(errno));
        if (!k)
            return err_set(e, ST_FORMAT, "%s: the file became shorter while "
                           "it was read", f->name);
        p += k;
        at += (uint64_t)k;
        n -= (size_t)k;
    }
    return ST_OK;
}

static void disk_stream_close(struct file_stream *f)
{
    struct disk_stream *d = (struct disk_stream *)f;

    if (d->fd >= 0) close(d->fd);
    free(f->name);
    free(d);
}

static const struct file_stream_ops disk_stream_ops = {
    .read = disk_stream_read,
    .close = disk_stream_close,
};

enum status file_stream_open_path(struct file_stream **out, const char *path,
                                  struct err *e)
{
    struct disk_stream *d = calloc(1, sizeof *d);
    enum status st = ST_OK;
    struct stat sb;

    *out = NULL;
    if (!d) return err_nomem(e, path);
    d->base.ops = &disk_stream_ops;
    d->base.name = strdup(path);
    /* O_NONBLOCK: opening a named pipe must not wait for a writer. */
    d->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (!d->base.name)
        st = err_nomem(e, path);
    else if (d->fd < 0 || fstat(d->fd, &sb))
        st = err_set(e, ST_IO, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(sb.st_mode))
        st = err_set(e, ST_IO, "%s: not a regular file", path);
    else
        d->base.size = (uint64_t)sb.st_size;
    if (st) disk_stream_close(&d->base);
    else *out = &d->base;
    return st;
}

void file_stream_close(struct file_stream *f)
{
    if (f) f->ops->close(f);
}

const char *file_stream_name(const struct file_stream *f) { return f->name; }
uint64_t file_stream_size(const struct file_stream *f) { return f->size; }

enum status file_stream_read(struct file_stream *f, uint64_t at, void *out,
                             size_t n, struct err *e)
{
    if (at > f->size || n > f->size - at)
        return err_set(e, ST_FORMAT, "%s: truncated: it has %" PRIu64
                       " bytes, and %zu are needed at %" PRIu64, f->name,
                       f->size, n, at);
    return n ? f->ops->read(f, at, out, n, e) : ST_OK;
}
