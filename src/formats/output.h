/* output.h - writes a file atomically, compressed if its name says so.
 *
 * NAME.gz, NAME.xz and NAME.zst are compressed. The file appears, or replaces
 * an existing one, only when the output is committed (base/file.h). The path
 * "-" is standard output. It, a pipe and a device are written as the buffer
 * fills. Error messages name the file. The first error is permanent: every
 * later call reports it. */
#ifndef FORMATS_OUTPUT_H
#define FORMATS_OUTPUT_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct output;

enum status output_open(struct output **out, const char *path, struct err *e);
enum status output_write(struct output *o, const void *bytes, size_t n,
                         struct err *e);
enum status output_puts(struct output *o, const char *s, struct err *e);
enum status output_put(struct output *o, struct str s, struct err *e);
/* Completes the file. Nothing may be written afterwards. */
enum status output_commit(struct output *o, struct err *e);
/* Frees the output. Without a commit the file is left untouched. NULL is
 * allowed. */
void output_close(struct output *o);

#endif
