/* output.c - buffers, compresses and writes a file or standard output.
 *
 * All bytes pass through `plain`; a full buffer is compressed if needed and
 * written. A file is written under a temporary name and renamed when it is
 * committed (base/file.h). What cannot be renamed over, such as a pipe, is
 * written directly.
 *
 * Invariant: plain_n < PLAIN_BYTES between calls. */
#include "formats/output.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/invariant.h"
#include "formats/compression.h"

#define PLAIN_BYTES ((size_t)128 << 10)
#define COMPRESSED_BYTES ((size_t)128 << 10)

struct output {
    char *name;
    int fd;                             /* written directly; -1: `file` is */
    struct replacement file;
    struct err first_error;
    char *plain;                        /* [PLAIN_BYTES] */
    char *compressed;                   /* [COMPRESSED_BYTES] */
    size_t plain_n;                     /* bytes in plain */
    enum compression compression;
    z_stream gz;
    lzma_stream xz;
    ZSTD_CStream *zstd;
};

/* ---- raw bytes ---------------------------------------------------------- */

static enum status write_directly(struct output *o, const char *p, size_t n,
                                  struct err *e)
{
    while (n) {
        ssize_t k = write(o->fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k < 0)
            return err_set(e, ST_IO, "%s: %s", o->name, strerror(errno));
        p += k;
        n -= (size_t)k;
    }
    return ST_OK;
}

static enum status output_write_raw(struct output *o, const char *p, size_t n,
                                    struct err *e)
{
    if (!n) return ST_OK;
    if (o->fd >= 0) return write_directly(o, p, n, e);
    return replacement_write(&o->file, p, n, e);
}

/* ---- compression -------------------------------------------------------- */

/* Each of these functions compresses and writes all of `plain`. With `end` it
 * also ends the compressed stream. */

static enum status compress_gzip(struct output *o, bool end, struct err *e)
{
    enum status st;
    int rc;

    o->gz.next_in = (Bytef *)o->plain;
    o->gz.avail_in = (uInt)o->plain_n;
    do {
        o->gz.next_out = (Bytef *)o->compressed;
        o->gz.avail_out = COMPRESSED_BYTES;
        rc = deflate(&o->gz, end ? Z_FINISH : Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return err_set(e, ST_IO, "%s: gzip compression failed", o->name);
        st = output_write_raw(o, o->compressed,
                              COMPRESSED_BYTES - o->gz.avail_out, e);
    } while (!st && (end ? rc != Z_STREAM_END : !o->gz.avail_out));
    return st;
}

static enum status compress_xz(struct output *o, bool end, struct err *e)
{
    enum status st;
    lzma_ret rc;

    o->xz.next_in = (uint8_t *)o->plain;
    o->xz.avail_in = o->plain_n;
    do {
        o->xz.next_out = (uint8_t *)o->compressed;
        o->xz.avail_out = COMPRESSED_BYTES;
        rc = lzma_code(&o->xz, end ? LZMA_FINISH : LZMA_RUN);
        if (rc != LZMA_OK && rc != LZMA_STREAM_END && rc != LZMA_BUF_ERROR)
            return err_set(e, ST_IO, "%s: xz compression failed", o->name);
        st = output_write_raw(o, o->compressed,
                              COMPRESSED_BYTES - o->xz.avail_out, e);
    } while (!st && (end ? rc != LZMA_STREAM_END : !o->xz.avail_out));
    return st;
}

static enum status compress_zstd(struct output *o, bool end, struct err *e)
{
    ZSTD_inBuffer from = { o->plain, o->plain_n, 0 };
    enum status st;
    size_t rc;

    do {
        ZSTD_outBuffer to = { o->compressed, COMPRESSED_BYTES, 0 };
        rc = ZSTD_compressStream2(o->zstd, &to, &from,
                                  end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(rc))
            return err_set(e, ST_IO, "%s: zstd: %s", o->name,
                           ZSTD_getErrorName(rc));
        st = output_write_raw(o, o->compressed, to.pos, e);
    } while (!st && (end ? rc != 0 : from.pos < from.size));
    return st;
}

static enum status output_flush(struct output *o, bool end, struct err *e)
{
    enum status st;

    assert(o->plain_n <= PLAIN_BYTES);
    switch (o->compression) {
    case COMPRESSION_GZIP: st = compress_gzip(o, end, e); break;
    case COMPRESSION_XZ: st = compress_xz(o, end, e); break;
    case COMPRESSION_ZSTD: st = compress_zstd(o, end, e); break;
    default: st = output_write_raw(o, o->plain, o->plain_n, e);
    }
    o->plain_n = 0;
    return st;
}

/* ---- interface ---------------------------------------------------------- */

static enum compression compression_by_name(const char *path)
{
    const char *dot = strrchr(path, '.');

    if (dot && !strcasecmp(dot, ".gz")) return COMPRESSION_GZIP;
    if (dot && !strcasecmp(dot, ".xz")) return COMPRESSION_XZ;
    if (dot && !strcasecmp(dot, ".zst")) return COMPRESSION_ZSTD;
    return COMPRESSION_NONE;
}

static bool output_open_compressor(struct output *o)
{
    switch (o->compression) {
    case COMPRESSION_GZIP:
        return deflateInit2(&o->gz, 6, Z_DEFLATED, 15 + 16, 8,
                            Z_DEFAULT_STRATEGY) == Z_OK;
    case COMPRESSION_XZ:
        return lzma_easy_encoder(&o->xz, 6, LZMA_CHECK_CRC64) == LZMA_OK;
    case COMPRESSION_ZSTD:
        o->zstd = ZSTD_createCStream();
        return o->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(
                              o->zstd, ZSTD_c_checksumFlag, 1));
    default:
        return true;
    }
}

/* Returns whether a path names an open stream of the process. */
static bool output_is_stream(const char *path)
{
    return !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr") ||
           !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/proc/", 6);
}

/* Returns whether a path is a pipe or a device. /dev/stdout may be a link to a
 * regular file, which must not be replaced. Other regular files below /dev,
 * such as those of /dev/shm, are files like any other. */
static bool output_is_special(const char *path)
{
    struct stat sb;

    if (stat(path, &sb) || S_ISDIR(sb.st_mode)) return false;
    return !S_ISREG(sb.st_mode) || output_is_stream(path);
}

static enum status output_open_file(struct output *o, const char *path,
                                    struct err *e)
{
    enum status st;

    if (!strcmp(path, "-")) {
        o->fd = STDOUT_FILENO;
        return ST_OK;
    }
    if (output_is_special(path)) {
        o->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        if (o->fd >= 0) return ST_OK;
        return err_set(e, ST_IO, "%s: %s", path, strerror(errno));
    }
    st = replacement_begin(&o->file, path, e);
    if (!st) o->compression = compression_by_name(path);
    return st;
}

enum status output_open(struct output **out, const char *path, struct err *e)
{
    struct output *o = calloc(1, sizeof *o);
    enum status st = ST_OK;

    *out = NULL;
    if (!o) return err_nomem(e, path);
    o->fd = o->file.fd = -1;
    o->xz = (lzma_stream)LZMA_STREAM_INIT;
    o->name = strdup(strcmp(path, "-") ? path : "standard output");
    o->plain = malloc(PLAIN_BYTES);
    o->compressed = malloc(COMPRESSED_BYTES);
    if (!o->name || !o->plain || !o->compressed) st = err_nomem(e, path);
    if (!st) st = output_open_file(o, path, e);
    if (!st && !output_open_compressor(o)) st = err_nomem(e, path);
    if (st) output_close(o);
    else *out = o;
    return st;
}

enum status output_write(struct output *o, const void *bytes, size_t n,
                         struct err *e)
{
    const char *p = bytes;

    assert(o->plain_n < PLAIN_BYTES);
    while (n && !o->first_error.status) {
        size_t k = PLAIN_BYTES - o->plain_n;

        if (k > n) k = n;
        memcpy(o->plain + o->plain_n, p, k);
        o->plain_n += k;
        p += k;
        n -= k;
        if (o->plain_n == PLAIN_BYTES) output_flush(o, false, &o->first_error);
    }
    if (o->first_error.status && e) *e = o->first_error;
    return o->first_error.status;
}

enum status output_puts(struct output *o, const char *s, struct err *e)
{
    return output_write(o, s, strlen(s), e);
}

enum status output_put(struct output *o, struct str s, struct err *e)
{
    return output_write(o, s.p, s.n, e);
}

enum status output_commit(struct output *o, struct err *e)
{
    if (!o->first_error.status) output_flush(o, true, &o->first_error);
    if (!o->first_error.status && o->fd < 0)
        replacement_commit(&o->file, &o->first_error);
    if (o->first_error.status && e) *e = o->first_error;
    return o->first_error.status;
}

void output_close(struct output *o)
{
    if (!o) return;
    if (o->fd > STDERR_FILENO) close(o->fd);
    replacement_abort(&o->file);
    if (o->compression == COMPRESSION_GZIP) deflateEnd(&o->gz);
    lzma_end(&o->xz);
    ZSTD_freeCStream(o->zstd);
    free(o->compressed);
    free(o->plain);
    free(o->name);
    free(o);
}
