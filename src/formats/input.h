/* input.h - the bytes of a file as UTF-8, whatever it is wrapped in.
 *
 * Gzip, xz and zstd are recognized by their first bytes, UTF-16 and UTF-8 byte
 * order marks likewise; what comes out is plain bytes in UTF-8 (UTF-8 input is
 * passed on unchecked: the format checks it where it can say a line). Memory
 * is constant: two buffers of 256 KiB and the decompressor's window (bounded:
 * a file that asks for more than 128 MiB is refused). Truncated or damaged
 * compressed data is an error, not an end. Concatenated members are read. */
#ifndef FORMATS_INPUT_H
#define FORMATS_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct input;

/* "-" is standard input. */
enum status input_open(struct input **out, const char *path, struct err *e);
/* The same over bytes in memory (borrowed), for tests and fuzzers; name is
 * used in messages. */
enum status input_open_memory(struct input **out, const char *name,
                              const void *bytes, size_t n, struct err *e);
void input_close(struct input *in);             /* NULL is fine */

/* The bytes available now, at least one unless the end was reached (then
 * *n = 0). They stay valid until input_take. */
enum status input_peek(struct input *in, const char **bytes, size_t *n,
                       struct err *e);
/* At least `want` bytes when the file has as many left (want <= 64 KiB). */
enum status input_peek_more(struct input *in, size_t want,
                            const char **bytes, size_t *n, struct err *e);
void input_take(struct input *in, size_t n);    /* n of those are used */

/* Would reading on wait for whoever writes the other end? Never for a file.
 * What was read already may hold some more. */
bool input_waits(const struct input *in);

const char *input_name(const struct input *in);     /* for messages */
bool input_marked(const struct input *in);      /* a mark said which UTF it is,
                                                   or it was UTF-16 */
/* For progress: bytes of the file as it lies on disk, read so far and in all
 * (0: not known). */
uint64_t input_done(const struct input *in);
uint64_t input_total(const struct input *in);

#endif
