/* input.h - reads a file as UTF-8, decompressing and converting as needed.
 *
 * gzip, xz and zstd are recognized by their first bytes, and so are UTF-16 and
 * the byte order marks of UTF-16 and UTF-8. The output is UTF-8. UTF-8 input is
 * passed on without validation; the format validates it, because it can name
 * the line. Memory use is constant: two buffers of 256 KiB and the
 * decompressor's window. A file that needs a window of more than 128 MiB is
 * refused. Truncated or damaged compressed data is reported as an error, never
 * as the end of the file. Concatenated members are read one after the other.
 *
 * The first error is permanent: every later call reports it again. */
#ifndef FORMATS_INPUT_H
#define FORMATS_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct input;

/* The path "-" is standard input. */
enum status input_open(struct input **out, const char *path, struct err *e);
/* Reads from memory instead, for tests and fuzzers. The bytes are borrowed;
 * `name` is used in messages. */
enum status input_open_memory(struct input **out, const char *name,
                              const void *bytes, size_t n, struct err *e);
void input_close(struct input *in);             /* NULL is allowed */

/* Returns the bytes that are available now, at least one; *n = 0 means the end
 * of the file. The bytes stay valid until the next call of input_peek,
 * input_peek_more or input_close. */
enum status input_peek(struct input *in, const char **bytes, size_t *n,
                       struct err *e);
/* Like input_peek, but returns at least `want` bytes unless the file ends
 * first. want <= INPUT_PEEK_MAX. */
#define INPUT_PEEK_MAX ((size_t)64 << 10)
enum status input_peek_more(struct input *in, size_t want,
                            const char **bytes, size_t *n, struct err *e);
/* Consumes n of the bytes that the last peek returned. */
void input_take(struct input *in, size_t n);

/* Returns whether reading more would block until another process writes. This
 * is never the case for a regular file. Bytes that were read earlier may still
 * be available. */
bool input_waits(const struct input *in);

const char *input_name(const struct input *in);     /* for messages */
/* Returns whether the encoding is known for certain: the file has a byte order
 * mark or is UTF-16. */
bool input_marked(const struct input *in);
/* For progress reports: bytes of the file on disk, read so far and in total.
 * The total is 0 if it is not known. */
uint64_t input_done(const struct input *in);
uint64_t input_total(const struct input *in);

#endif
