/* zip_archive_internal.h - what the files zip_archive*.c share. */
#ifndef CONVERT_ZIP_ARCHIVE_INTERNAL_H
#define CONVERT_ZIP_ARCHIVE_INTERNAL_H

#include <zip.h>

#include "convert/zip_archive.h"

struct zip_entry {
    char *name;
    uint64_t index;             /* of libzip */
    uint64_t size, packed;
    uint32_t crc;
    int method;                 /* ZIP_CM_STORE, ZIP_CM_DEFLATE, .. */
};

struct zip_archive {
    struct file_stream *in;     /* what libzip reads */
    uint64_t at;                /* libzip's position in it */
    struct err why;             /* why the stream could not be read; no message:
                                   it could */
    zip_error_t error;          /* the same for libzip */
    zip_t *zip;
    struct zip_entry *entries;  /* [n] */
    int n;
};

/* Report an error of libzip. A failure of the stream below it counts more. */
enum status zip_archive_error(struct zip_archive *a, const char *name,
                              zip_error_t *error, struct err *e);

#endif
