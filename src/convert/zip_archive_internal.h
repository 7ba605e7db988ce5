/* zip_archive_internal.h - what the files zip_archive*.c share. */
#ifndef CONVERT_ZIP_ARCHIVE_INTERNAL_H
#define CONVERT_ZIP_ARCHIVE_INTERNAL_H

#include "convert/zip_archive.h"

enum zip_method { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

#define ZIP_LOCAL_HEADER 30     /* bytes before the name of an entry */

struct zip_entry {
    char *name;
    uint64_t header;            /* where its local header is */
    uint64_t end;               /* where the next header is: its bytes end
                                   there or before */
    uint64_t size, packed;
    uint32_t crc;
    int method;                 /* enum zip_method, or another number */
};

struct zip_archive {
    struct file_stream *in;
    struct zip_entry *entries;  /* [n] */
    int n;
};

/* Fill in the entries from the directory at the end of the stream. On failure
 * the entries so far remain, for zip_archive_close(). */
enum status zip_directory_read(struct zip_archive *a, struct err *e);

#endif
