/* file.h - files mapped for reading, and files replaced atomically.
 *
 * A mapping is read-only and shared with every process that maps the same
 * file. A replacement is written to a temporary file in the folder of its
 * target. It is renamed over the target only when it is complete and flushed
 * to disk, so a reader sees either the old contents or the new ones. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct mapping {
    const uint8_t *data;        /* NULL when the file is empty */
    size_t size;
};

enum status mapping_open(struct mapping *m, const char *path, struct err *e);
void mapping_close(struct mapping *m);          /* a zeroed struct is fine */

struct replacement {
    int fd;                     /* of temp; -1 when not open */
    uint64_t size;              /* bytes written so far */
    char *path, *temp;          /* the target and the temporary file */
};

enum status replacement_begin(struct replacement *r, const char *path,
                              struct err *e);
enum status replacement_write(struct replacement *r, const void *bytes,
                              size_t n, struct err *e);
/* Overwrite bytes that were written before: the header of a file contains
 * checksums that are known only at the end. */
enum status replacement_patch(struct replacement *r, uint64_t at,
                              const void *bytes, size_t n, struct err *e);
/* Flush and rename. The replacement is closed afterwards, also on failure. */
enum status replacement_commit(struct replacement *r, struct err *e);
/* Remove the temporary file. Does nothing after a commit. */
void replacement_abort(struct replacement *r);

/* Read a whole file, or a pipe to its end. *out is NUL-terminated; the caller
 * frees it. A file of more than `limit` bytes is an error. */
enum status file_read(char **out, size_t *size, const char *path,
                      size_t limit, struct err *e);

#endif
