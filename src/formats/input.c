/* input.c - reads a file or memory, decompresses it and converts UTF-16.
 *
 *     file or memory --raw--> decompress --> (UTF-16 to UTF-8) --> out
 *
 * Uncompressed UTF-8 is read directly into `out`. Only compressed bytes pass
 * through `raw`, and only UTF-16 passes through `utf16`.
 *
 * Invariants: raw_at <= raw_n <= RAW_BYTES, utf16_n <= UTF16_BYTES and
 * out_at <= out_n <= OUT_BYTES. In `raw` and `out`, the bytes between the two
 * positions were read but not used yet. */
#include "formats/input.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/invariant.h"
#include "formats/compression.h"
#include "text/utf8.h"

#define RAW_BYTES ((size_t)256 << 10)
#define OUT_BYTES ((size_t)256 << 10)
#define UTF16_BYTES ((size_t)32 << 10)
#define WINDOW_LOG 27                   /* 128 MiB */

enum input_encoding { ENC_UTF8, ENC_UTF16LE, ENC_UTF16BE };

struct input {
    char *name;
    int fd;                             /* -1 when reading from memory */
    const char *mem;                    /* the unread part of the memory */
    size_t mem_n;
    uint64_t done, total;
    struct err first_error;

    char *raw;                          /* [RAW_BYTES] bytes as on disk */
    size_t raw_at, raw_n;
    bool raw_end;                       /* the end of the file was read */
    enum compression compression;
    bool in_member;                     /* inside a compressed member */
    z_stream gz;
    lzma_stream xz;
    ZSTD_DStream *zstd;

    enum input_encoding encoding;
    bool marked;
    uint8_t *utf16;                     /* [UTF16_BYTES], only for UTF-16 */
    size_t utf16_n;                     /* bytes not converted yet */
    uint64_t utf16_at;                  /* file offset of the first of them */

    char *out;                          /* [OUT_BYTES] */
    size_t out_at, out_n;
    bool out_end;                       /* no more bytes will come */
};

/* ---- raw bytes ---------------------------------------------------------- */

static enum status read_raw(struct input *in, char *to, size_t cap, size_t *n,
                            struct err *e)
{
    ssize_t k;

    if (in->fd < 0) {
        *n = in->mem_n < cap ? in->mem_n : cap;
        if (*n) memcpy(to, in->mem, *n);
        in->mem += *n;
        in->mem_n -= *n;
    } else {
        do k = read(in->fd, to, cap); while (k < 0 && errno == EINTR);
        if (k < 0)
            return err_set(e, ST_IO, "%s: %s", in->name, strerror(errno));
        *n = (size_t)k;
    }
    in->done += *n;
    return ST_OK;
}

/* Reads more raw bytes after those that were not used yet. */
static enum status fill_raw(struct input *in, struct err *e)
{
    enum status st;
    size_t n;

    assert(in->raw_at <= in->raw_n && in->raw_n <= RAW_BYTES);
    if (in->raw_at) {
        memmove(in->raw, in->raw + in->raw_at, in->raw_n - in->raw_at);
        in->raw_n -= in->raw_at;
        in->raw_at = 0;
    }
    if (in->raw_end || in->raw_n == RAW_BYTES) return ST_OK;
    st = read_raw(in, in->raw + in->raw_n, RAW_BYTES - in->raw_n, &n, e);
    if (st) return st;
    in->raw_n += n;
    in->raw_end = n == 0;
    return ST_OK;
}

/* ---- decompression ------------------------------------------------------ */

static enum status input_damaged(struct input *in, const char *kind,
                                 struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: the %s data is damaged", in->name, kind);
}

static enum status input_truncated(struct input *in, const char *kind,
                                   struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: the %s data ends too early; the file "
                   "is not complete", in->name, kind);
}

static enum status input_window_too_large(struct input *in, const char *kind,
                                          struct err *e)
{
    return err_set(e, ST_LIMIT, "%s: decompressing this %s data needs more "
                   "than 128 MiB of memory; compress it with a smaller window",
                   in->name, kind);
}

/* Each of these functions uses as many raw bytes as it can and writes at most
 * cap bytes. If *n = 0 and all raw bytes are used, it needs more of them. */

static enum status inflate_gzip(struct input *in, char *to, size_t cap,
                                size_t *n, struct err *e)
{
    z_stream *z = &in->gz;
    int rc;

    *n = 0;
    if (!in->in_member) {
        /* Tapes and some tools pad the file with zeros. */
        while (in->raw_at < in->raw_n && !in->raw[in->raw_at]) in->raw_at++;
        if (in->raw_at == in->raw_n) return ST_OK;
        if (inflateReset(z) != Z_OK) return input_damaged(in, "gzip", e);
        in->in_member = true;
    }
    z->next_in = (Bytef *)in->raw + in->raw_at;
    z->avail_in = (uInt)(in->raw_n - in->raw_at);
    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)cap;
    rc = inflate(z, Z_NO_FLUSH);
    in->raw_at = in->raw_n - z->avail_in;
    *n = cap - z->avail_out;
    if (rc == Z_STREAM_END) in->in_member = false;
    else if (rc == Z_MEM_ERROR) return err_nomem(e, "gzip");
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return input_damaged(in, "gzip", e);
    return ST_OK;
}

static enum status decode_xz(struct input *in, char *to, size_t cap,
                             size_t *n, struct err *e)
{
    lzma_stream *x = &in->xz;
    lzma_ret rc;

    x->next_in = (const uint8_t *)in->raw + in->raw_at;
    x->avail_in = in->raw_n - in->raw_at;
    x->next_out = (uint8_t *)to;
    x->avail_out = cap;
    rc = lzma_code(x, in->raw_end ? LZMA_FINISH : LZMA_RUN);
    in->raw_at = in->raw_n - x->avail_in;
    *n = cap - x->avail_out;
    if (rc == LZMA_STREAM_END) in->in_member = false;
    else if (rc == LZMA_MEM_ERROR) return err_nomem(e, "xz");
    else if (rc == LZMA_MEMLIMIT_ERROR)
        return input_window_too_large(in, "xz", e);
    else if (rc == LZMA_BUF_ERROR && in->raw_end)
        return input_truncated(in, "xz", e);
    else if (rc != LZMA_OK && rc != LZMA_BUF_ERROR)
        return input_damaged(in, "xz", e);
    return ST_OK;
}

static enum status decode_zstd(struct input *in, char *to, size_t cap,
                               size_t *n, struct err *e)
{
    ZSTD_inBuffer from = { in->raw, in->raw_n, in->raw_at };
    ZSTD_outBuffer out = { to, cap, 0 };
    size_t rc = ZSTD_decompressStream(in->zstd, &out, &from);

    in->raw_at = from.pos;
    *n = out.pos;
    if (!ZSTD_isError(rc)) {
        in->in_member = rc != 0;
        return ST_OK;
    }
    switch (ZSTD_getErrorCode(rc)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        return input_window_too_large(in, "zstd", e);
    case ZSTD_error_memory_allocation:
        return err_nomem(e, "zstd");
    default:
        return input_damaged(in, "zstd", e);
    }
}

static enum status decompress_some(struct input *in, char *to, size_t cap,
                                   size_t *n, struct err *e)
{
    switch (in->compression) {
    case COMPRESSION_GZIP: return inflate_gzip(in, to, cap, n, e);
    case COMPRESSION_XZ: return decode_xz(in, to, cap, n, e);
    default: return decode_zstd(in, to, cap, n, e);
    }
}

/* Returns decompressed bytes, at least one; *n = 0 means the end. */
static enum status decompress(struct input *in, char *to, size_t cap, size_t *n,
                              struct err *e)
{
    static const char *const kind[] = { "", "gzip", "xz", "zstd" };
    enum status st = ST_OK;

    assert(cap > 0);
    if (in->compression == COMPRESSION_NONE && in->raw_at < in->raw_n) {
        *n = in->raw_n - in->raw_at;    /* read to recognize the format */
        if (*n > cap) *n = cap;
        memcpy(to, in->raw + in->raw_at, *n);
        in->raw_at += *n;
        return ST_OK;
    }
    if (in->compression == COMPRESSION_NONE) return read_raw(in, to, cap, n, e);
    *n = 0;
    for (;;) {
        /* The decompressor may still hold output when raw is empty. */
        if (in->raw_at < in->raw_n || in->in_member) {
            st = decompress_some(in, to, cap, n, e);
            if (st || *n) return st;
        }
        if (in->raw_at < in->raw_n) continue;
        if (in->raw_end)
            return in->in_member
                   ? input_truncated(in, kind[in->compression], e) : ST_OK;
        st = fill_raw(in, e);
        if (st) return st;
    }
}

/* No text begins with these bytes, because they are not valid UTF-8. The
 * exception is the magic number of a skippable zstd frame; its length follows,
 * and below 16 MB the length ends in a zero byte, which no text contains. */
static enum compression recognize_compression(const char *p, size_t n)
{
    if (n >= 2 && !memcmp(p, "\x1F\x8B", 2)) return COMPRESSION_GZIP;
    if (n >= 6 && !memcmp(p, "\xFD" "7zXZ\0", 6)) return COMPRESSION_XZ;
    if (n >= 4 && !memcmp(p, "\x28\xB5\x2F\xFD", 4)) return COMPRESSION_ZSTD;
    if (n >= 8 && (p[0] & 0xF0) == 0x50 &&
        !memcmp(p + 1, "\x2A\x4D\x18", 3) && !p[7])
        return COMPRESSION_ZSTD;        /* begins with a skippable frame */
    return COMPRESSION_NONE;
}

static enum status input_open_decompressor(struct input *in, struct err *e)
{
    enum status st = ST_OK;
    bool ok = true;

    while (!st && in->raw_n < 8 && !in->raw_end) st = fill_raw(in, e);
    if (st) return st;
    in->compression = recognize_compression(in->raw, in->raw_n);
    switch (in->compression) {
    case COMPRESSION_NONE: break;
    case COMPRESSION_GZIP:
        ok = inflateInit2(&in->gz, 15 + 16) == Z_OK;
        break;
    case COMPRESSION_XZ:
        ok = lzma_stream_decoder(&in->xz, (uint64_t)1 << WINDOW_LOG,
                                 LZMA_CONCATENATED) == LZMA_OK;
        break;
    case COMPRESSION_ZSTD:
        in->zstd = ZSTD_createDStream();
        ok = in->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(
                 in->zstd, ZSTD_d_windowLogMax, WINDOW_LOG));
        break;
    }
    in->in_member = in->compression == COMPRESSION_XZ ||
                    in->compression == COMPRESSION_ZSTD;
    return ok ? ST_OK : err_nomem(e, in->name);
}

/* ---- UTF-16 ------------------------------------------------------------- */

static unsigned utf16_unit(const struct input *in, const uint8_t *p)
{
    return in->encoding == ENC_UTF16LE ? p[0] | (unsigned)p[1] << 8
                                       : p[1] | (unsigned)p[0] << 8;
}

static enum status utf16_error(struct input *in, size_t at, const char *what,
                               struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: byte %llu: %s in UTF-16 text", in->name,
                   (unsigned long long)(in->utf16_at + at + 1), what);
}

/* Decodes the character at utf16[at]. *used = 0 if the second half of a
 * surrogate pair has not been read yet. */
static enum status utf16_next(struct input *in, size_t at, uint32_t *cp,
                              size_t *used, struct err *e)
{
    unsigned hi = utf16_unit(in, in->utf16 + at), lo;

    *used = 2;
    *cp = hi;
    if ((hi & 0xF800) != 0xD800) return ST_OK;
    if (hi & 0x0400) return utf16_error(in, at, "a lone low surrogate", e);
    *used = 0;
    if (in->utf16_n - at < 4) return ST_OK;
    lo = utf16_unit(in, in->utf16 + at + 2);
    if ((lo & 0xFC00) != 0xDC00)
        return utf16_error(in, at, "a lone high surrogate", e);
    *cp = 0x10000 + ((hi & 0x3FF) << 10) + (lo & 0x3FF);
    *used = 4;
    return ST_OK;
}

static enum status utf16_convert(struct input *in, char *to, size_t cap,
                                 size_t *n, struct err *e)
{
    enum status st = ST_OK;
    size_t at = 0, used = 1;
    uint32_t cp;

    *n = 0;
    assert(in->utf16_n <= UTF16_BYTES && cap >= 4);
    while (in->utf16_n - at >= 2 && cap - *n >= 4) {
        st = utf16_next(in, at, &cp, &used, e);
        if (st) return st;
        if (!used) break;
        *n += (size_t)utf8_put(to + *n, cp);
        at += used;
    }
    memmove(in->utf16, in->utf16 + at, in->utf16_n - at);
    in->utf16_n -= at;
    in->utf16_at += at;
    return ST_OK;
}

static enum status utf16_read(struct input *in, char *to, size_t cap, size_t *n,
                              struct err *e)
{
    enum status st;
    size_t k;

    for (;;) {
        st = utf16_convert(in, to, cap, n, e);
        if (st || *n) return st;
        assert(in->utf16_n < 4);        /* all but a partial character */
        st = decompress(in, (char *)in->utf16 + in->utf16_n,
                        UTF16_BYTES - in->utf16_n, &k, e);
        if (st) return st;
        if (!k && in->utf16_n) return utf16_error(in, 0, "half a character", e);
        if (!k) return ST_OK;
        in->utf16_n += k;
    }
}

/* Recognizes the encoding by the byte order mark or, in an XML file without
 * one, by its first two characters. */
static enum status open_encoding(struct input *in, struct err *e)
{
    const uint8_t *p = (uint8_t *)in->out;
    enum status st = ST_OK;
    size_t k = 1, n = 0, mark = 0;

    for (; n < 4 && k; n += k) {
        st = decompress(in, in->out + n, UTF16_BYTES - n, &k, e);
        if (st) return st;
    }
    if (n >= 4 && (!memcmp(p, "\xFF\xFE\0\0", 4) ||
                   !memcmp(p, "\0\0\xFE\xFF", 4)))
        return err_set(e, ST_FORMAT, "%s: the encoding UTF-32 is not "
                       "supported; convert the file to UTF-8", in->name);
    if (n >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3)) mark = 3;
    else if (n >= 2 && (!memcmp(p, "\xFF\xFE", 2) ||
                        !memcmp(p, "\xFE\xFF", 2))) mark = 2;
    if (mark == 2) in->encoding = p[0] == 0xFF ? ENC_UTF16LE : ENC_UTF16BE;
    else if (n >= 4 && !memcmp(p, "<\0?", 4)) in->encoding = ENC_UTF16LE;
    else if (n >= 4 && !memcmp(p, "\0<\0?", 4)) in->encoding = ENC_UTF16BE;
    in->marked = mark || in->encoding != ENC_UTF8;
    if (in->encoding == ENC_UTF8) {
        in->out_at = mark;
        in->out_n = n;
        return ST_OK;
    }
    in->utf16 = malloc(UTF16_BYTES);
    if (!in->utf16) return err_nomem(e, in->name);
    in->utf16_n = n - mark;
    in->utf16_at = mark;
    memcpy(in->utf16, p + mark, in->utf16_n);
    return ST_OK;
}

/* ---- output ------------------------------------------------------------- */

static enum status fill_out(struct input *in, struct err *e)
{
    enum status st;
    size_t n, room;

    assert(in->out_at <= in->out_n && in->out_n <= OUT_BYTES);
    if (in->out_at) {
        memmove(in->out, in->out + in->out_at, in->out_n - in->out_at);
        in->out_n -= in->out_at;
        in->out_at = 0;
    }
    room = OUT_BYTES - in->out_n;
    assert(room >= OUT_BYTES - INPUT_PEEK_MAX);
    st = (in->encoding == ENC_UTF8 ? decompress : utf16_read)(
        in, in->out + in->out_n, room, &n, e);
    if (st) return st;
    in->out_n += n;
    in->out_end = n == 0;
    return ST_OK;
}

enum status input_peek_more(struct input *in, size_t want,
                            const char **bytes, size_t *n, struct err *e)
{
    assert(want <= INPUT_PEEK_MAX);
    if (in->first_error.status) {
        if (e) *e = in->first_error;
        return in->first_error.status;
    }
    while (in->out_n - in->out_at < want && !in->out_end)
        if (fill_out(in, &in->first_error)) {
            if (e) *e = in->first_error;
            return in->first_error.status;
        }
    *bytes = in->out + in->out_at;
    *n = in->out_n - in->out_at;
    return ST_OK;
}

enum status input_peek(struct input *in, const char **bytes, size_t *n,
                       struct err *e)
{
    return input_peek_more(in, 1, bytes, n, e);
}

void input_take(struct input *in, size_t n)
{
    assert(n <= in->out_n - in->out_at);
    in->out_at += n;
}

/* ---- open and close ----------------------------------------------------- */

static enum status input_new(struct input **out, const char *name,
                             struct err *e)
{
    struct input *in = calloc(1, sizeof *in);

    *out = in;
    if (!in) return err_nomem(e, name);
    in->fd = -1;
    in->xz = (lzma_stream)LZMA_STREAM_INIT;
    in->name = strdup(name);
    in->raw = malloc(RAW_BYTES);
    in->out = malloc(OUT_BYTES);
    return in->name && in->raw && in->out ? ST_OK : err_nomem(e, name);
}

static enum status input_open_file(struct input *in, const char *path,
                                   struct err *e)
{
    struct stat sb;

    if (!strcmp(path, "-")) in->fd = dup(STDIN_FILENO);
    else in->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0 || fstat(in->fd, &sb))
        return err_set(e, ST_IO, "%s: %s", in->name, strerror(errno));
    if (S_ISREG(sb.st_mode)) in->total = (uint64_t)sb.st_size;
    return ST_OK;
}

/* Recognizes compression and encoding, unless opening failed already. Closes
 * the input on failure. */
static enum status input_finish_open(struct input **out, struct input *in,
                                     enum status st, struct err *e)
{
    if (!st) st = input_open_decompressor(in, e);
    if (!st) st = open_encoding(in, e);
    *out = st ? NULL : in;
    if (st) input_close(in);
    return st;
}

enum status input_open(struct input **out, const char *path, struct err *e)
{
    const char *name = strcmp(path, "-") ? path : "standard input";
    struct input *in;
    enum status st = input_new(&in, name, e);

    if (!st) st = input_open_file(in, path, e);
    return input_finish_open(out, in, st, e);
}

enum status input_open_memory(struct input **out, const char *name,
                              const void *bytes, size_t n, struct err *e)
{
    struct input *in;
    enum status st = input_new(&in, name, e);

    if (!st) {
        in->mem = bytes;
        in->mem_n = n;
        in->total = n;
    }
    return input_finish_open(out, in, st, e);
}

void input_close(struct input *in)
{
    if (!in) return;
    if (in->fd >= 0) close(in->fd);
    if (in->compression == COMPRESSION_GZIP) inflateEnd(&in->gz);
    lzma_end(&in->xz);
    ZSTD_freeDStream(in->zstd);
    free(in->utf16);
    free(in->out);
    free(in->raw);
    free(in->name);
    free(in);
}

bool input_waits(const struct input *in)
{
    struct pollfd p = { .fd = in->fd, .events = POLLIN };

    return in->fd >= 0 && !in->total && !in->out_end && !poll(&p, 1, 0);
}

const char *input_name(const struct input *in)
{
    return in->name;
}

bool input_marked(const struct input *in)
{
    return in->marked;
}

uint64_t input_done(const struct input *in)
{
    return in->done;
}

uint64_t input_total(const struct input *in)
{
    return in->total;
}
