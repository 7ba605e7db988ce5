/* wholefile.h - files that appear complete or not at all.
 *
 * They are written beside their place under another name and then renamed. What
 * is not a regular file (a pipe, /dev/stdout) is written directly. */
#ifndef WHOLEFILE_H
#define WHOLEFILE_H

#include "textbuf.h"

/* Both return an exit status and have reported the error on stderr. */

/* Whether the file can be written, found out before the work begins. */
int whole_file_check(const char *path);
int whole_file_write(const char *path, const struct textbuf *text);

#endif
