/* wholefile.h - writes files such that they appear complete or not at all.
 *
 * A file is written under a temporary name in the same folder and then renamed.
 * Special files (a pipe, /dev/stdout) are written directly. */
#ifndef COMMON_WHOLEFILE_H
#define COMMON_WHOLEFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/textbuf.h"

/* The first two functions print errors on stderr and return an exit status. All
 * may be called by several threads. */

/* Checks whether the file can be written, before the work begins. */
int whole_file_check(const char *path);
int whole_file_write(const char *path, const struct textbuf *text);
/* Prints nothing. On failure it returns false and writes the error, with the
 * name of the file, to why[size]. */
bool whole_file_replace(const char *path, const struct textbuf *text,
                        char *why, size_t size);

#endif
