/* output.h - a file written in one step, compressed when its name says so.
 *
 * NAME.gz, NAME.xz and NAME.zst are compressed. A path is replaced when the
 * output is committed and not before (base/file.h); "-" is standard output,
 * written as it comes. Errors name the file. */
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
enum status output_commit(struct output *o, struct err *e);
void output_close(struct output *o);    /* not committed: leaves no trace */

#endif
