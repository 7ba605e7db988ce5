/* bytes_stream.h - bytes in memory as a stream (convert/file_stream.h). */
#ifndef BYTES_STREAM_H
#define BYTES_STREAM_H

#include <stdlib.h>
#include <string.h>

#include "convert/file_stream.h"

struct bytes_stream {
    struct file_stream base;
    unsigned char *bytes;       /* a copy without spare bytes, so that a read
                                   behind it is noticed */
};

static inline enum status bytes_stream_read(struct file_stream *f, uint64_t at,
                                            void *out, size_t n, struct err *e)
{
    (void)e;
    memcpy(out, ((struct bytes_stream *)f)->bytes + at, n);
    return ST_OK;
}

static inline void bytes_stream_close(struct file_stream *f)
{
    free(((struct bytes_stream *)f)->bytes);
    free(f->name);
    free(f);
}

static inline struct file_stream *bytes_stream_new(const void *bytes, size_t n)
{
    static const struct file_stream_ops ops = {
        bytes_stream_read, bytes_stream_close,
    };
    struct bytes_stream *s = calloc(1, sizeof *s);

    s->base = (struct file_stream){ &ops, strdup("f"), n };
    s->bytes = malloc(n + !n);
    if (n) memcpy(s->bytes, bytes, n);
    return &s->base;
}

#endif
