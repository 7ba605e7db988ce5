/* zip_archive_entry.c - the bytes of an entry of a zip archive, at any place.
 *
 * A model in an archive is read in the order of the converter, not in that of
 * the file. While an entry is inflated for the first time, we note places
 * between two deflate blocks, with the 32 KiB before each, and start again from
 * the nearest one.
 *
 * Invariants: `checked` bytes from the start have been read once, and crc is
 * their checksum. Reading beyond `checked` reads all bytes up to there. When
 * checked == facts->size, the size and the checksum were those of the
 * directory; if they were not, `wrong` says so and nothing can be read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/invariant.h"
#include "base/load_le.h"
#include "base/strbuf.h"
#include "convert/zip_archive_internal.h"

#define LOCAL_SIGN 0x04034b50
#define BLOCK 65536
#define WINDOW 32768            /* how far back deflate can refer */
#define MAX_PLACES 512
#define FIRST_SPAN (1 << 20)    /* bytes between two places */

/* A place between two deflate blocks. */
struct inflate_place {
    uint64_t out;               /* its offset in the entry */
    uint64_t in;                /* the next packed byte */
    int bits;                   /* how many bits of the byte before that belong
                                   to the next block */
    unsigned n;                 /* bytes in window */
    uint8_t *window;            /* the bytes before it */
};

struct zip_stream {
    struct file_stream base;
    struct zip_archive *archive;
    const struct zip_entry *facts;
    uint64_t packed;            /* where the packed bytes are in the archive */
    uint64_t raw_at;            /* the next packed byte to read */

    uint64_t checked;
    uint32_t crc;
    const char *wrong;          /* what is damaged; NULL: nothing so far */

    /* For deflated entries. */
    z_stream z;
    bool inflating;             /* z is initialized */
    uint64_t out_at;            /* offset of z's next byte in the entry */
    struct inflate_place *places;
    int n_places;
    uint64_t span;
    uint8_t in[BLOCK];
    uint8_t skipped[BLOCK];     /* for bytes that are read over */
};

static enum status zip_stream_bad(struct zip_stream *s, const char *what,
                                  struct err *e)
{
    s->wrong = what;
    return err_set(e, ST_FORMAT, "%s: damaged: %s", s->base.name, what);
}

/* ---- packed bytes ---- */

static enum status raw_read(struct zip_stream *s, void *out, size_t n,
                            struct err *e)
{
    enum status st;

    if (n > s->facts->packed - s->raw_at)
        return zip_stream_bad(s, "the entry ends too early", e);
    st = file_stream_read(s->archive->in, s->packed + s->raw_at, out, n, e);
    if (!st) s->raw_at += n;
    return st;
}

/* ---- inflating ---- */

/* Forget every second place, so that the others cover twice as much. */
static void thin_places(struct zip_stream *s)
{
    int n = 0;

    for (int i = 0; i < s->n_places; i++)
        if (i % 2) s->places[n++] = s->places[i];
        else free(s->places[i].window);
    s->n_places = n;
    s->span *= 2;
}

/* z is between two blocks, at offset `at` of the entry. Without memory for
 * another place, going back takes longer. */
static void note_place(struct zip_stream *s, uint64_t at)
{
    struct inflate_place *p;
    uint64_t last = s->n_places ? s->places[s->n_places - 1].out : 0;

    if (at < last + s->span) return;
    if (!s->places) s->places = calloc(MAX_PLACES, sizeof *s->places);
    if (!s->places) return;
    if (s->n_places == MAX_PLACES) thin_places(s);
    p = &s->places[s->n_places];
    *p = (struct inflate_place){ .out = at, .in = s->raw_at - s->z.avail_in,
                                 .bits = s->z.data_type & 7,
                                 .window = malloc(WINDOW) };
    if (!p->window) return;
    if (inflateGetDictionary(&s->z, p->window, &p->n) == Z_OK) s->n_places++;
    else free(p->window);
}

static enum status refill(struct zip_stream *s, struct err *e)
{
    uint64_t left = s->facts->packed - s->raw_at;
    size_t n = left < sizeof s->in ? (size_t)left : sizeof s->in;
    enum status st = raw_read(s, s->in, n, e);

    s->z.next_in = s->in;
    s->z.avail_in = st ? 0 : (unsigned)n;
    return st;
}

/* Inflate up to *n bytes, at least one unless the data end. *n becomes the
 * number of bytes, and *end says whether the data ended. */
static enum status inflate_bytes(struct zip_stream *s, uint8_t *out, size_t *n,
                                 bool *end, struct err *e)
{
    unsigned want = *n < BLOCK ? (unsigned)*n : BLOCK;
    enum status st;
    int r = Z_OK;

    s->z.next_out = out;
    s->z.avail_out = want;
    while (s->z.avail_out && r != Z_STREAM_END) {
        if (!s->z.avail_in && (st = refill(s, e))) return st;
        r = inflate(&s->z, Z_BLOCK);
        if (r == Z_MEM_ERROR) return err_nomem(e, s->base.name);
        if (r == Z_BUF_ERROR && !s->z.avail_in &&
            s->raw_at == s->facts->packed)
            return zip_stream_bad(s, "the compressed data end too early", e);
        if (r != Z_OK && r != Z_BUF_ERROR && r != Z_STREAM_END)
            return zip_stream_bad(s, "the compressed data are not valid", e);
        /* 128: between two blocks; 64: after the last one. */
        if ((s->z.data_type & 192) == 128)
            note_place(s, s->out_at + (want - s->z.avail_out));
    }
    *n = want - s->z.avail_out;
    *end = r == Z_STREAM_END;
    s->out_at += *n;
    return ST_OK;
}

/* Make z start at the last place before `at`, or at the start. */
static enum status restart(struct zip_stream *s, uint64_t at, struct err *e)
{
    const struct inflate_place *p = NULL;
    enum status st;
    uint8_t byte;

    for (int i = 0; i < s->n_places && s->places[i].out <= at; i++)
        p = &s->places[i];
    if (!s->inflating && inflateInit2(&s->z, -MAX_WBITS) != Z_OK)
        return err_nomem(e, s->base.name);
    s->inflating = true;
    inflateReset(&s->z);
    s->z.avail_in = 0;
    s->out_at = p ? p->out : 0;
    s->raw_at = 0;
    if (!p) return ST_OK;
    assert(p->in > 0 || !p->bits);
    s->raw_at = p->in - (p->bits > 0);
    if (p->bits) {
        st = raw_read(s, &byte, 1, e);
        if (st) return st;
        inflatePrime(&s->z, p->bits, byte >> (8 - p->bits));
    }
    inflateSetDictionary(&s->z, p->window, p->n);
    return ST_OK;
}

/* Whether a place is nearer than z itself, for reading at `at`. */
static bool should_restart(const struct zip_stream *s, uint64_t at)
{
    if (!s->inflating || at < s->out_at) return true;
    for (int i = s->n_places - 1; i >= 0 && s->places[i].out > s->out_at; i--)
        if (s->places[i].out <= at) return true;
    return false;
}

static enum status inflate_at(struct zip_stream *s, uint64_t at, uint8_t *out,
                              size_t n, struct err *e)
{
    enum status st = should_restart(s, at) ? restart(s, at, e) : ST_OK;
    bool end = false;

    while (!st && n) {
        bool skip = s->out_at < at;
        uint64_t gap = skip ? at - s->out_at : 0;
        size_t k = !skip ? n : gap < BLOCK ? (size_t)gap : BLOCK;

        if (end) return zip_stream_bad(s, "the entry ends too early", e);
        st = inflate_bytes(s, skip ? s->skipped : out, &k, &end, e);
        if (skip || st) continue;
        out += k;
        n -= k;
    }
    return st;
}

/* After the last byte: the compressed data must end here too. */
static enum status check_inflated(struct zip_stream *s, struct err *e)
{
    size_t n = 1;
    bool end;
    enum status st = ST_OK;

    if (!s->inflating) st = restart(s, 0, e);
    assert(st || s->out_at == s->facts->size);
    if (!st) st = inflate_bytes(s, s->skipped, &n, &end, e);
    if (!st && (n || !end || s->raw_at - s->z.avail_in != s->facts->packed))
        st = zip_stream_bad(s, "the entry is larger than the archive says", e);
    /* z is after the end now. */
    if (s->inflating) inflateEnd(&s->z);
    s->inflating = false;
    return st;
}

/* ---- reading ---- */

static enum status fetch(struct zip_stream *s, uint64_t at, uint8_t *out,
                         size_t n, struct err *e)
{
    if (s->facts->method == ZIP_DEFLATED) return inflate_at(s, at, out, n, e);
    s->raw_at = at;
    return raw_read(s, out, n, e);
}

static enum status check_end(struct zip_stream *s, struct err *e)
{
    enum status st = ST_OK;

    assert(s->checked == s->facts->size);
    if (s->facts->method == ZIP_DEFLATED) st = check_inflated(s, e);
    if (!st && s->crc != s->facts->crc)
        st = zip_stream_bad(s, "its checksum is wrong", e);
    return st;
}

/* The bytes [at, at + n) have been read, and at <= checked. */
static enum status count_checked(struct zip_stream *s, uint64_t at,
                                 const uint8_t *out, size_t n, struct err *e)
{
    assert(at <= s->checked);
    if (at + n <= s->checked) return ST_OK;
    for (size_t i = (size_t)(s->checked - at), k; i < n; i += k) {
        k = n - i < 1 << 30 ? n - i : 1 << 30;
        s->crc = (uint32_t)crc32(s->crc, out + i, (unsigned)k);
    }
    s->checked = at + n;
    return s->checked < s->facts->size ? ST_OK : check_end(s, e);
}

static enum status zip_stream_read(struct file_stream *f, uint64_t at,
                                   void *out, size_t n, struct err *e)
{
    struct zip_stream *s = (struct zip_stream *)f;
    enum status st = ST_OK;

    if (s->wrong) return zip_stream_bad(s, s->wrong, e);
    while (!st && s->checked < at) {
        uint64_t from = s->checked, gap = at - from;
        size_t k = gap < BLOCK ? (size_t)gap : BLOCK;

        st = fetch(s, from, s->skipped, k, e);
        if (!st) st = count_checked(s, from, s->skipped, k, e);
    }
    if (!st) st = fetch(s, at, out, n, e);
    return st ? st : count_checked(s, at, out, n, e);
}

static void zip_stream_close(struct file_stream *f)
{
    struct zip_stream *s = (struct zip_stream *)f;

    if (s->inflating) inflateEnd(&s->z);
    for (int i = 0; i < s->n_places; i++) free(s->places[i].window);
    free(s->places);
    free(s->base.name);
    free(s);
}

static const struct file_stream_ops zip_stream_ops = {
    .read = zip_stream_read,
    .close = zip_stream_close,
};

/* The name and an extra field, which need not be those of the directory, lie
 * between the local header and the packed bytes. */
static enum status find_packed(struct zip_stream *s, struct err *e)
{
    const struct zip_entry *z = s->facts;
    uint8_t b[ZIP_LOCAL_HEADER];
    enum status st;

    assert(z->end - z->header >= sizeof b);
    st = file_stream_read(s->archive->in, z->header, b, sizeof b, e);
    if (st) return st;
    if (load_u32(b) != LOCAL_SIGN)
        return zip_stream_bad(s, "its local header is missing", e);
    s->packed = z->header + sizeof b + load_u16(b + 26) + load_u16(b + 28);
    if (s->packed > z->end || z->end - s->packed < z->packed)
        return zip_stream_bad(s, "it overlaps the next entry", e);
    return ST_OK;
}

static char *entry_title(const struct zip_archive *a, const char *entry)
{
    struct strbuf text;
    char *title = NULL;

    strbuf_init(&text, 0);
    if (strbuf_addf(&text, "%s: %s", zip_archive_name(a), entry))
        title = strbuf_take(&text);
    strbuf_release(&text);
    return title;
}

enum status zip_archive_entry_open(struct file_stream **out,
                                   struct zip_archive *a, int i, struct err *e)
{
    struct zip_stream *s = calloc(1, sizeof *s);
    const struct zip_entry *z = &a->entries[i];
    enum status st = ST_OK;

    assert(i >= 0 && i < a->n);
    *out = NULL;
    if (!s) return err_nomem(e, z->name);
    s->base = (struct file_stream){ &zip_stream_ops, entry_title(a, z->name),
                                    z->size };
    s->archive = a;
    s->facts = z;
    s->span = FIRST_SPAN;
    if (!s->base.name)
        st = err_nomem(e, z->name);
    else if (z->method != ZIP_STORED && z->method != ZIP_DEFLATED)
        st = err_set(e, ST_FORMAT, "%s: compressed with method %d; only "
                     "stored (0) and deflated (8) entries can be read",
                     s->base.name, z->method);
    else
        st = find_packed(s, e);
    /* An entry without bytes is verified now. */
    if (!st && !z->size) st = check_end(s, e);
    if (st) zip_stream_close(&s->base);
    else *out = &s->base;
    return st;
}
