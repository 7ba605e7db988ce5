/* zip_archive.h - the entries of a zip archive in a stream.
 *
 * We read the directory ourselves: Debian has libzip, but no static one, and a
 * program can link this library statically.
 *
 * Refused are: entries that are encrypted, whose names are absolute or empty,
 * contain ".." or control characters, or occur twice, that overlap one another
 * or the directory, or whose size is impossible for their packed bytes. Folders
 * and symbolic links are left out. */
#ifndef CONVERT_ZIP_ARCHIVE_H
#define CONVERT_ZIP_ARCHIVE_H

#include <stdbool.h>

#include "base/err.h"
#include "convert/file_stream.h"

struct zip_archive;             /* opaque */

/* The stream belongs to the archive, also on failure. */
enum status zip_archive_open(struct zip_archive **out, struct file_stream *in,
                             struct err *e);
void zip_archive_close(struct zip_archive *a);          /* NULL is fine */

const char *zip_archive_name(const struct zip_archive *a);
int zip_archive_count(const struct zip_archive *a);
/* Entry i, in the order of the archive. */
const char *zip_archive_entry_name(const struct zip_archive *a, int i);
uint64_t zip_archive_entry_size(const struct zip_archive *a, int i);

/* Open entry i as a stream, which must be closed before the archive. Its name
 * is "ARCHIVE: ENTRY". Entries that are stored or deflated can be read. When
 * the last byte of an entry has been read, its size and its checksum have been
 * verified; to that end, bytes that are skipped are read too. After that,
 * stored bytes are read from where they are, and inflating starts again at one
 * of up to 512 places. */
enum status zip_archive_entry_open(struct file_stream **out,
                                   struct zip_archive *a, int i,
                                   struct err *e);

/* Whether the stream begins as a zip archive does. */
enum status zip_archive_recognize(bool *is_zip, struct file_stream *in,
                                  struct err *e);

#endif
