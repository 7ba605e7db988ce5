/* file_set.h - the files of a model: a folder, or a zip archive of one.
 *
 * A zip archive (OPUS-MT, .argosmodel, PyTorch, npz) is read with libzip. Names
 * in it that are absolute or contain ".." or NUL, encrypted entries, and
 * entries whose sizes or checksums are wrong are refused. If all files of an
 * archive or a folder of files are in one subfolder, that is left out of the
 * names. Nothing is unpacked to the disk.
 *
 * Names use '/' and are relative to the set. Only regular files count. */
#ifndef CONVERT_FILE_SET_H
#define CONVERT_FILE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct file_set;
struct file_stream;

/* path is a folder or a zip archive. Fails with ST_FORMAT if it is neither. */
enum status file_set_open(struct file_set **out, const char *path,
                          struct err *e);
void file_set_close(struct file_set *s);                /* NULL is fine */

const char *file_set_path(const struct file_set *s);
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

/* A file of the set as bytes that can be read at any place. In an archive,
 * going back in a compressed entry starts it again; reading forward is fast. A
 * stream must be closed before its set. */
enum status file_stream_open(struct file_stream **out, struct file_set *s,
                             const char *name, struct err *e);
/* The same for a single file on the disk. */
enum status file_stream_open_path(struct file_stream **out, const char *path,
                                  struct err *e);
void file_stream_close(struct file_stream *f);          /* NULL is fine */
const char *file_stream_name(const struct file_stream *f);  /* for messages */
uint64_t file_stream_size(const struct file_stream *f);
/* Read exactly n bytes at an offset. Fails with ST_FORMAT if the file is
 * shorter or damaged, with ST_IO if it cannot be read. */
enum status file_stream_read(struct file_stream *f, uint64_t at, void *out,
                             size_t n, struct err *e);

#endif
