/* file_stream.h - bytes that can be read at any place: a file on the disk, or
 * one in an archive.
 *
 * One thread at a time may use a stream. */
#ifndef CONVERT_FILE_STREAM_H
#define CONVERT_FILE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct file_stream;

struct file_stream_ops {
    /* The caller has checked that the bytes lie inside the stream. */
    enum status (*read)(struct file_stream *f, uint64_t at, void *out,
                        size_t n, struct err *e);
    void (*close)(struct file_stream *f);
};

/* An implementation has this as the first member of its own struct. */
struct file_stream {
    const struct file_stream_ops *ops;
    char *name;                 /* for messages; owned by the implementation */
    uint64_t size;
};

/* Open a regular file on the disk. */
enum status file_stream_open_path(struct file_stream **out, const char *path,
                                  struct err *e);
void file_stream_close(struct file_stream *f);          /* NULL is fine */
const char *file_stream_name(const struct file_stream *f);  /* for messages */
uint64_t file_stream_size(const struct file_stream *f);
/* Read exactly n bytes at an offset. Fails with ST_FORMAT if the file is
 * shorter or damaged, with ST_IO if it cannot be read. */
enum status file_stream_read(struct file_stream *f, uint64_t at, void *out,
                             size_t n, struct err *e);

#endif
