/* made_zip.h - the bytes of a zip archive with stored entries, for tests of
 * readers. */
#ifndef MADE_ZIP_H
#define MADE_ZIP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/strbuf.h"

struct made_zip {
    struct strbuf out;          /* the archive, after made_zip_end() */
    struct strbuf directory;
    unsigned n;
    uint32_t flushed;           /* bytes that are in a file already */
};

static inline void made_zip_number(struct strbuf *to, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        if (!strbuf_addc(to, (char)(value >> 8 * i))) abort();
}

/* The part of a header that both kinds share, beginning with the version. */
static inline void made_zip_facts(struct strbuf *to, const char *name,
                                  const void *bytes, size_t n)
{
    made_zip_number(to, 20, 2);                 /* version */
    made_zip_number(to, 0, 2);                  /* flags */
    made_zip_number(to, 0, 2);                  /* stored */
    made_zip_number(to, 0x00210000, 4);         /* the first day */
    made_zip_number(to, (uint32_t)crc32(0, bytes, (unsigned)n), 4);
    made_zip_number(to, (uint32_t)n, 4);
    made_zip_number(to, (uint32_t)n, 4);
    made_zip_number(to, (uint32_t)strlen(name), 2);
    made_zip_number(to, 0, 2);                  /* extra bytes */
}

static inline void made_zip_add(struct made_zip *z, const char *name,
                                const void *bytes, size_t n)
{
    uint32_t at = z->flushed + (uint32_t)z->out.len;

    made_zip_number(&z->out, 0x04034b50, 4);
    made_zip_facts(&z->out, name, bytes, n);
    if (!strbuf_adds(&z->out, name) || !strbuf_add(&z->out, bytes, n)) abort();
    made_zip_number(&z->directory, 0x02014b50, 4);
    made_zip_number(&z->directory, 20, 2);      /* made by */
    made_zip_facts(&z->directory, name, bytes, n);
    made_zip_number(&z->directory, 0, 4);       /* comment, disk */
    made_zip_number(&z->directory, 0, 4);       /* attributes */
    made_zip_number(&z->directory, 0, 2);
    made_zip_number(&z->directory, at, 4);
    if (!strbuf_adds(&z->directory, name)) abort();
    z->n++;
}

static inline void made_zip_end(struct made_zip *z)
{
    uint32_t at = z->flushed + (uint32_t)z->out.len;

    if (!strbuf_add(&z->out, z->directory.data, z->directory.len)) abort();
    made_zip_number(&z->out, 0x06054b50, 4);
    made_zip_number(&z->out, 0, 4);
    made_zip_number(&z->out, z->n, 2);
    made_zip_number(&z->out, z->n, 2);
    made_zip_number(&z->out, (uint32_t)z->directory.len, 4);
    made_zip_number(&z->out, at, 4);
    made_zip_number(&z->out, 0, 2);
}

/* Write what is there to a file and forget it, so that a large archive needs
 * little memory. */
static inline void made_zip_flush(struct made_zip *z, FILE *f)
{
    if (fwrite(z->out.data, 1, z->out.len, f) != z->out.len) abort();
    z->flushed += (uint32_t)z->out.len;
    strbuf_reset(&z->out);
}

static inline void made_zip_init(struct made_zip *z)
{
    strbuf_init(&z->out, 0);
    strbuf_init(&z->directory, 0);
    z->n = z->flushed = 0;
}

static inline void made_zip_release(struct made_zip *z)
{
    strbuf_release(&z->out);
    strbuf_release(&z->directory);
}

#endif
