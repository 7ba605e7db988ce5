/* file_set.h - the files of a model: a folder, or a zip archive of one.
 *
 * A zip archive (OPUS-MT, .argosmodel, PyTorch, npz) is read in place: nothing
 * is unpacked to the disk. What zip_archive.h refuses is refused. If
 * all files are in one subfolder, it is left out of the names; and so on for
 * the folder inside it.
 *
 * Names use '/' and are relative to the set. Only regular files count, and not
 * those that are hidden: "." at the start of their name or of a folder's. */
#ifndef CONVERT_FILE_SET_H
#define CONVERT_FILE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "convert/file_stream.h"

struct file_set;

/* path is a folder or a zip archive, or a file *.pt in a folder: then the set
 * is that folder without its subfolders, and the file is the chosen one. Fails
 * with ST_FORMAT if it is none of these. */
enum status file_set_open(struct file_set **out, const char *path,
                          struct err *e);
/* A zip archive in a stream, such as an npz file in an archive. Names keep
 * their folders. The stream belongs to the set, also on failure. */
enum status file_set_open_stream(struct file_set **out, struct file_stream *in,
                                 struct err *e);
void file_set_close(struct file_set *s);                /* NULL is fine */

const char *file_set_path(const struct file_set *s);
/* The file of the set that the path named, or NULL. */
const char *file_set_chosen(const struct file_set *s);
int file_set_count(const struct file_set *s);
/* Name i, sorted by bytes. */
const char *file_set_name(const struct file_set *s, int i);
/* Whether there is a file of this name; *size, which may be NULL, is set. */
bool file_set_has(const struct file_set *s, const char *name, uint64_t *size);

/* Read a whole file, with a NUL after it. The caller frees *text with free().
 * Fails with ST_FORMAT if it has more than `most` bytes. Messages name the
 * archive and the file. */
enum status file_set_read(struct file_set *s, const char *name, size_t most,
                          char **text, size_t *size, struct err *e);

/* A file of the set as a stream (file_stream.h). In an archive, reading forward
 * is fast. Going back in a compressed entry starts at a place before, at most
 * about 1/500 of the entry away. The checksum of an entry is tested when its
 * last byte is read; bytes that are skipped are read for that too. A stream
 * must be closed before its set. */
enum status file_stream_open(struct file_stream **out, struct file_set *s,
                             const char *name, struct err *e);

#endif
