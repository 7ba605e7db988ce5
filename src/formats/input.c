/* input.c - see input.h.
 *
 *     file or memory --raw--> unpack --> (UTF-16 to UTF-8) --> out
 *
 * Plain UTF-8 is read straight into `out`; only what is packed passes through
 * `raw`, and only UTF-16 through `half`. The first error stays: every later
 * call says the same. */
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

#include "text/utf8.h"

#define RAW_BYTES ((size_t)256 << 10)
#define OUT_BYTES ((size_t)256 << 10)
#define HALF_BYTES ((size_t)32 << 10)
#define WINDOW_LOG 27                   /* 128 MiB */

enum compression {
    COMPRESSION_NONE,
    COMPRESSION_GZIP,
    COMPRESSION_XZ,
    COMPRESSION_ZSTD
};
enum encoding { ENC_UTF8, ENC_UTF16LE, ENC_UTF16BE };

struct input {
    char *name;
    int fd;                             /* -1: from memory */
    const char *mem;                    /* what is left of it */
    size_t mem_n;
    uint64_t done, total;
    struct err bad;                     /* the first error */

    char *raw;                          /* [RAW_BYTES], when packed */
    size_t raw_at, raw_n;
    bool raw_end;
    enum compression compression;
    bool member;                        /* in the middle of one */
    z_stream gz;
    lzma_stream xz;
    ZSTD_DStream *zstd;

    enum encoding encoding;
    bool marked;
    uint8_t *half;                      /* [HALF_BYTES], when UTF-16 */
    size_t half_n;
    uint64_t units_at;                  /* bytes of UTF-16 converted */

    char *out;                          /* [OUT_BYTES] */
    size_t out_at, out_n;
    bool out_end;
};

/* ---- bytes as they lie on disk ----------------------------------------- */

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

/* More of the packed bytes, behind those not used yet. */
static enum status fill_raw(struct input *in, struct err *e)
{
    enum status st;
    size_t n;

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

/* ---- unpacking ---------------------------------------------------------- */

static enum status input_damaged(struct input *in, const char *kind,
                                 struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: the %s data is damaged", in->name, kind);
}

static enum status truncated(struct input *in, const char *kind,
                             struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: the %s data ends too early: the file "
                   "is not complete", in->name, kind);
}

static enum status window(struct input *in, const char *kind, struct err *e)
{
    return err_set(e, ST_LIMIT, "%s: unpacking this %s data takes more than "
                   "128 MiB of memory; pack it with a smaller window",
                   in->name, kind);
}

/* Each takes what it can of raw and writes at most cap bytes; *n = 0 with
 * packed bytes used up means that it wants more. */

static enum status unpack_gzip(struct input *in, char *to, size_t cap,
                               size_t *n, struct err *e)
{
    z_stream *z = &in->gz;
    int rc;

    *n = 0;
    if (!in->member) {
        /* Tapes and some tools leave zeros at the end. */
        while (in->raw_at < in->raw_n && !in->raw[in->raw_at]) in->raw_at++;
        if (in->raw_at == in->raw_n) return ST_OK;
        if (inflateReset(z) != Z_OK) return input_damaged(in, "gzip", e);
        in->member = true;
    }
    z->next_in = (Bytef *)in->raw + in->raw_at;
    z->avail_in = (uInt)(in->raw_n - in->raw_at);
    z->next_out = (Bytef *)to;
    z->avail_out = (uInt)cap;
    rc = inflate(z, Z_NO_FLUSH);
    in->raw_at = in->raw_n - z->avail_in;
    *n = cap - z->avail_out;
    if (rc == Z_STREAM_END) in->member = false;
    else if (rc == Z_MEM_ERROR) return err_nomem(e, "gzip");
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return input_damaged(in, "gzip", e);
    return ST_OK;
}

static enum status unpack_xz(struct input *in, char *to, size_t cap,
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
    if (rc == LZMA_STREAM_END) in->member = false;
    else if (rc == LZMA_MEM_ERROR) return err_nomem(e, "xz");
    else if (rc == LZMA_MEMLIMIT_ERROR) return window(in, "xz", e);
    else if (rc == LZMA_BUF_ERROR && in->raw_end)
        return truncated(in, "xz", e);
    else if (rc != LZMA_OK && rc != LZMA_BUF_ERROR)
        return input_damaged(in, "xz", e);
    return ST_OK;
}

static enum status unpack_zstd(struct input *in, char *to, size_t cap,
                               size_t *n, struct err *e)
{
    ZSTD_inBuffer from = { in->raw, in->raw_n, in->raw_at };
    ZSTD_outBuffer out = { to, cap, 0 };
    size_t rc = ZSTD_decompressStream(in->zstd, &out, &from);

    in->raw_at = from.pos;
    *n = out.pos;
    if (!ZSTD_isError(rc)) {
        in->member = rc != 0;
        return ST_OK;
    }
    switch (ZSTD_getErrorCode(rc)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        return window(in, "zstd", e);
    case ZSTD_error_memory_allocation:
        return err_nomem(e, "zstd");
    default:
        return input_damaged(in, "zstd", e);
    }
}

static enum status unpack_some(struct input *in, char *to, size_t cap,
                               size_t *n, struct err *e)
{
    switch (in->compression) {
    case COMPRESSION_GZIP: return unpack_gzip(in, to, cap, n, e);
    case COMPRESSION_XZ: return unpack_xz(in, to, cap, n, e);
    default: return unpack_zstd(in, to, cap, n, e);
    }
}

/* Unpacked bytes, at least one unless the end was reached (*n = 0). */
static enum status unpack(struct input *in, char *to, size_t cap, size_t *n,
                          struct err *e)
{
    static const char *const kind[] = { "", "gzip", "xz", "zstd" };
    enum status st = ST_OK;

    if (in->compression == COMPRESSION_NONE && in->raw_at < in->raw_n) {
        *n = in->raw_n - in->raw_at;            /* what was looked at */
        if (*n > cap) *n = cap;
        memcpy(to, in->raw + in->raw_at, *n);
        in->raw_at += *n;
        return ST_OK;
    }
    if (in->compression == COMPRESSION_NONE) return read_raw(in, to, cap, n, e);
    *n = 0;
    for (;;) {
        /* Even without packed bytes left a member may have more to give. */
        if (in->raw_at < in->raw_n || in->member) {
            st = unpack_some(in, to, cap, n, e);
            if (st || *n) return st;
        }
        if (in->raw_at < in->raw_n) continue;
        if (in->raw_end)
            return in->member ? truncated(in, kind[in->compression], e) : ST_OK;
        st = fill_raw(in, e);
        if (st) return st;
    }
}

/* No text begins like these: they are not UTF-8. A frame to skip could be one
 * but for its length, which below 16 MB ends in a zero byte. */
static enum compression recognize_compression(const char *p, size_t n)
{
    if (n >= 2 && !memcmp(p, "\x1F\x8B", 2)) return COMPRESSION_GZIP;
    if (n >= 6 && !memcmp(p, "\xFD" "7zXZ\0", 6)) return COMPRESSION_XZ;
    if (n >= 4 && !memcmp(p, "\x28\xB5\x2F\xFD", 4)) return COMPRESSION_ZSTD;
    if (n >= 8 && (p[0] & 0xF0) == 0x50 &&
        !memcmp(p + 1, "\x2A\x4D\x18", 3) && !p[7])
        return COMPRESSION_ZSTD;        /* begins with a frame to skip */
    return COMPRESSION_NONE;
}

static enum status input_open_compression(struct input *in, struct err *e)
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
    in->member = in->compression == COMPRESSION_XZ ||
                 in->compression == COMPRESSION_ZSTD;
    return ok ? ST_OK : err_nomem(e, in->name);
}

/* ---- UTF-16 ------------------------------------------------------------- */

static unsigned unit16(const struct input *in, const uint8_t *p)
{
    return in->encoding == ENC_UTF16LE ? p[0] | (unsigned)p[1] << 8
                                       : p[1] | (unsigned)p[0] << 8;
}

static enum status bad16(struct input *in, size_t at, const char *what,
                         struct err *e)
{
    return err_set(e, ST_FORMAT, "%s: byte %llu: %s in UTF-16 text", in->name,
                   (unsigned long long)(in->units_at + at + 1), what);
}

/* One character from half[at..]; *used = 0 when its second half is not there
 * yet. */
static enum status next16(struct input *in, size_t at, uint32_t *cp,
                          size_t *used, struct err *e)
{
    unsigned hi = unit16(in, in->half + at), lo;

    *used = 2;
    *cp = hi;
    if ((hi & 0xF800) != 0xD800) return ST_OK;
    if (hi & 0x0400) return bad16(in, at, "a lone low surrogate", e);
    *used = 0;
    if (in->half_n - at < 4) return ST_OK;
    lo = unit16(in, in->half + at + 2);
    if ((lo & 0xFC00) != 0xDC00)
        return bad16(in, at, "a lone high surrogate", e);
    *cp = 0x10000 + ((hi & 0x3FF) << 10) + (lo & 0x3FF);
    *used = 4;
    return ST_OK;
}

static enum status convert16(struct input *in, char *to, size_t cap,
                             size_t *n, struct err *e)
{
    enum status st = ST_OK;
    size_t at = 0, used = 1;
    uint32_t cp;

    *n = 0;
    while (in->half_n - at >= 2 && cap - *n >= 4) {
        st = next16(in, at, &cp, &used, e);
        if (st) return st;
        if (!used) break;
        *n += (size_t)utf8_put(to + *n, cp);
        at += used;
    }
    memmove(in->half, in->half + at, in->half_n - at);
    in->half_n -= at;
    in->units_at += at;
    return ST_OK;
}

static enum status read16(struct input *in, char *to, size_t cap, size_t *n,
                          struct err *e)
{
    enum status st;
    size_t k;

    for (;;) {
        st = convert16(in, to, cap, n, e);
        if (st || *n) return st;
        st = unpack(in, (char *)in->half + in->half_n,
                    HALF_BYTES - in->half_n, &k, e);
        if (st) return st;
        if (!k && in->half_n) return bad16(in, 0, "half a character", e);
        if (!k) return ST_OK;
        in->half_n += k;
    }
}

/* The mark, or the first two characters of an XML file without one. */
static enum status open_encoding(struct input *in, struct err *e)
{
    const uint8_t *p = (uint8_t *)in->out;
    enum status st = ST_OK;
    size_t k = 1, n = 0, mark = 0;

    for (; n < 4 && k; n += k) {
        st = unpack(in, in->out + n, HALF_BYTES - n, &k, e);
        if (st) return st;
    }
    if (n >= 4 && (!memcmp(p, "\xFF\xFE\0\0", 4) ||
                   !memcmp(p, "\0\0\xFE\xFF", 4)))
        return err_set(e, ST_FORMAT, "%s: the encoding UTF-32 is not read; "
                       "convert the file to UTF-8", in->name);
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
    in->half = malloc(HALF_BYTES);
    if (!in->half) return err_nomem(e, in->name);
    in->half_n = n - mark;
    in->units_at = mark;
    memcpy(in->half, p + mark, in->half_n);
    return ST_OK;
}

/* ---- what is handed out ------------------------------------------------- */

static enum status fill_out(struct input *in, struct err *e)
{
    enum status st;
    size_t n, room;

    if (in->out_at) {
        memmove(in->out, in->out + in->out_at, in->out_n - in->out_at);
        in->out_n -= in->out_at;
        in->out_at = 0;
    }
    room = OUT_BYTES - in->out_n;
    st = (in->encoding == ENC_UTF8 ? unpack : read16)(in, in->out + in->out_n,
                                                      room, &n, e);
    if (st) return st;
    in->out_n += n;
    in->out_end = n == 0;
    return ST_OK;
}

enum status input_peek_more(struct input *in, size_t want,
                            const char **bytes, size_t *n, struct err *e)
{
    if (in->bad.status) {
        if (e) *e = in->bad;
        return in->bad.status;
    }
    while (in->out_n - in->out_at < want && !in->out_end)
        if (fill_out(in, &in->bad)) {
            if (e) *e = in->bad;
            return in->bad.status;
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

static enum status input_settle(struct input **out, struct input *in,
                                enum status st, struct err *e)
{
    if (!st) st = input_open_compression(in, e);
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
    return input_settle(out, in, st, e);
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
    return input_settle(out, in, st, e);
}

void input_close(struct input *in)
{
    if (!in) return;
    if (in->fd >= 0) close(in->fd);
    if (in->compression == COMPRESSION_GZIP) inflateEnd(&in->gz);
    lzma_end(&in->xz);
    ZSTD_freeDStream(in->zstd);
    free(in->half);
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
