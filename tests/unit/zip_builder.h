/* zip_builder.h - writes zip archives for tests, also wrong ones.
 *
 *     struct zip_builder z;
 *     zip_begin(&z);
 *     zip_put(&z, &(struct zip_part){ .name = "a.txt", .text = "hello" });
 *     zip_end(&z);
 *     .. z.out.data, z.out.len ..
 *     zip_release(&z); */
#ifndef ZIP_BUILDER_H
#define ZIP_BUILDER_H

#include <zlib.h>

#include "base/strbuf.h"
#include "test.h"

/* What to store, and what the directory says of it. The members after
 * `deflate` are written as they are unless they are 0. */
struct zip_part {
    const char *name;
    const char *text;           /* NULL: no bytes */
    size_t size;                /* of text; 0: it ends with a NUL */
    bool deflate;
    bool wide;                  /* sizes and offset only in a zip64 field */
    bool bare;                  /* the local header has no sizes and no sum */
    size_t name_size;           /* for names with a NUL */
    unsigned flags, method, local_extra, crc, unix_mode;
    uint64_t say_size, say_packed, say_header;
};

struct zip_builder {
    struct strbuf out, directory;
    unsigned n;
    bool wide;                  /* write zip64 end records */
    /* Added to what the end record says. */
    int more_entries, more_at, more_size;
};

static inline void zip_number(struct strbuf *b, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        strbuf_addc(b, (char)(number >> 8 * i));
}

static inline void zip_begin(struct zip_builder *z)
{
    *z = (struct zip_builder){ 0 };
    strbuf_init(&z->out, 0);
    strbuf_init(&z->directory, 0);
}

static inline void zip_release(struct zip_builder *z)
{
    strbuf_release(&z->out);
    strbuf_release(&z->directory);
}

/* The packed bytes, in malloc memory. */
static inline unsigned char *zip_pack(const struct zip_part *p, size_t size,
                                      size_t *packed)
{
    uLong most = compressBound((uLong)size) + 16;
    unsigned char *out = malloc(most);
    z_stream s = { 0 };

    if (!out) abort();
    *packed = size;
    if (!p->deflate) {
        if (size) memcpy(out, p->text, size);
        return out;
    }
    if (deflateInit2(&s, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY))
        abort();
    s.next_in = (unsigned char *)(size_t)p->text;
    s.avail_in = (unsigned)size;
    s.next_out = out;
    s.avail_out = (unsigned)most;
    if (deflate(&s, Z_FINISH) != Z_STREAM_END) abort();
    *packed = s.total_out;
    deflateEnd(&s);
    return out;
}

static inline void zip_put(struct zip_builder *z, const struct zip_part *p)
{
    size_t size = p->size ? p->size : p->text ? strlen(p->text) : 0, packed;
    size_t name = p->name_size ? p->name_size : strlen(p->name);
    unsigned char *bytes = zip_pack(p, size, &packed);
    unsigned crc = p->crc ? p->crc
                 : (unsigned)crc32(0, (const void *)(p->text ? p->text : ""),
                                   (unsigned)size);
    unsigned method = p->method ? p->method : p->deflate ? 8 : 0;
    uint64_t header = p->say_header ? p->say_header : z->out.len;
    struct strbuf *o = &z->out, *d = &z->directory;

    zip_number(o, 0x04034b50, 4);
    zip_number(o, 20, 2);
    zip_number(o, p->flags | (p->bare ? 8 : 0), 2);
    zip_number(o, method, 2);
    zip_number(o, 0, 4);
    zip_number(o, p->bare ? 0 : crc, 4);
    zip_number(o, p->bare ? 0 : packed, 4);
    zip_number(o, p->bare ? 0 : size, 4);
    zip_number(o, name, 2);
    zip_number(o, p->local_extra, 2);
    strbuf_add(o, p->name, name);
    for (unsigned i = 0; i < p->local_extra; i++) strbuf_addc(o, 0);
    strbuf_add(o, bytes, packed);
    free(bytes);

    if (p->say_size) size = p->say_size;
    if (p->say_packed) packed = p->say_packed;
    zip_number(d, 0x02014b50, 4);
    zip_number(d, p->unix_mode ? 3 << 8 | 20 : 20, 2);
    zip_number(d, 20, 2);
    zip_number(d, p->flags | (p->bare ? 8 : 0), 2);
    zip_number(d, method, 2);
    zip_number(d, 0, 4);
    zip_number(d, crc, 4);
    zip_number(d, p->wide ? 0xffffffff : packed, 4);
    zip_number(d, p->wide ? 0xffffffff : size, 4);
    zip_number(d, name, 2);
    zip_number(d, p->wide ? 28 + 6 : 6, 2);
    zip_number(d, 3, 2);                        /* comment */
    zip_number(d, 0, 4);
    zip_number(d, (uint64_t)p->unix_mode << 16, 4);
    zip_number(d, p->wide ? 0xffffffff : header, 4);
    strbuf_add(d, p->name, name);
    zip_number(d, 0x5455, 2);                   /* another extra field */
    zip_number(d, 2, 2);
    zip_number(d, 0, 2);
    if (p->wide) {
        zip_number(d, 1, 2);
        zip_number(d, 24, 2);
        zip_number(d, size, 8);
        zip_number(d, packed, 8);
        zip_number(d, header, 8);
    }
    strbuf_adds(d, "abc");
    z->n++;
}

static inline void zip_end64(struct zip_builder *z, uint64_t at)
{
    struct strbuf *o = &z->out;
    uint64_t here = o->len;

    zip_number(o, 0x06064b50, 4);
    zip_number(o, 44, 8);
    zip_number(o, 45, 2);
    zip_number(o, 45, 2);
    zip_number(o, 0, 8);
    zip_number(o, z->n, 8);
    zip_number(o, z->n, 8);
    zip_number(o, z->directory.len, 8);
    zip_number(o, at, 8);
    zip_number(o, 0x07064b50, 4);
    zip_number(o, 0, 4);
    zip_number(o, here, 8);
    zip_number(o, 1, 4);
}

static inline void zip_end(struct zip_builder *z)
{
    struct strbuf *o = &z->out;
    uint64_t at = o->len, size = z->directory.len;
    unsigned n = z->n + (unsigned)z->more_entries;

    strbuf_add(o, z->directory.data, z->directory.len);
    if (z->wide) zip_end64(z, at);
    zip_number(o, 0x06054b50, 4);
    zip_number(o, 0, 4);
    zip_number(o, n, 2);
    zip_number(o, n, 2);
    zip_number(o, size + (uint64_t)(int64_t)z->more_size, 4);
    zip_number(o, at + (uint64_t)(int64_t)z->more_at, 4);
    zip_number(o, 0, 2);
}

#endif
