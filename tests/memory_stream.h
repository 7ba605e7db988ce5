/* memory_stream.h - bytes in memory as a file_stream, for unit tests and
 * fuzzers of readers that take a stream. */
#ifndef MEMORY_STREAM_H
#define MEMORY_STREAM_H

#include <stdlib.h>
#include <string.h>

#include "convert/file_stream.h"

struct memory_stream {
    struct file_stream base;
    const uint8_t *bytes;       /* borrowed */
};

static inline enum status memory_stream_read(struct file_stream *f, uint64_t at,
                                             void *out, size_t n,
                                             struct err *e)
{
    (void)e;
    if (at > f->size || n > f->size - at) abort();
    if (n) memcpy(out, ((struct memory_stream *)f)->bytes + at, n);
    return ST_OK;
}

static inline void memory_stream_close(struct file_stream *f)
{
    free(f);
}

static const struct file_stream_ops memory_stream_ops = {
    memory_stream_read, memory_stream_close
};

/* The bytes must stay where they are. Its name is "memory". */
static inline struct file_stream *memory_stream_new(const void *bytes,
                                                    size_t size)
{
    struct memory_stream *m = malloc(sizeof *m);

    if (!m) abort();
    *m = (struct memory_stream){ { &memory_stream_ops, (char *)"memory", size },
                                 bytes };
    return &m->base;
}

#endif
