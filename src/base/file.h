/* file.h - files mapped for reading, and files replaced in one step.
 *
 * A mapping is read-only and shared with every process that maps the same
 * file. A replacement is written beside its target and renamed over it only
 * when complete and flushed, so a reader sees the old bytes or the new. */
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
void mapping_close(struct mapping *m);          /* zeroed struct is fine */

struct replacement {
    int fd;
    uint64_t size;              /* bytes written so far */
    char *path, *temp;
};

enum status replacement_begin(struct replacement *r, const char *path,
                              struct err *e);
enum status replacement_write(struct replacement *r, const void *bytes,
                              size_t n, struct err *e);
/* Overwrite bytes already written (a header whose sums are known last). */
enum status replacement_patch(struct replacement *r, uint64_t at,
                              const void *bytes, size_t n, struct err *e);
enum status replacement_commit(struct replacement *r, struct err *e);
void replacement_abort(struct replacement *r);  /* no-op after commit */

/* A whole file in malloc memory, NUL-terminated; refuses more than limit. */
enum status file_read(char **out, size_t *size, const char *path,
                      size_t limit, struct err *e);

#endif
