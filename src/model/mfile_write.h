/* mfile_write.h - write a .skmt file, tensor by tensor.
 *
 * Start with the config text, add each tensor, then commit. The file appears
 * under its name only with the commit. The same calls give the same bytes. A
 * tensor whose name ends in ".w" is a matrix in panels, of linear_bytes()
 * bytes; all others are plain and have rows * cols elements. */
#ifndef MODEL_MFILE_WRITE_H
#define MODEL_MFILE_WRITE_H

#include "base/err.h"
#include "model/mfile.h"

struct mfile_writer;

enum status mfile_writer_new(struct mfile_writer **out, const char *path,
                             const char *config, size_t config_len,
                             struct err *e);
enum status mfile_writer_add(struct mfile_writer *w, const char *name,
                             enum dtype type, int64_t rows, int64_t cols,
                             const void *data, uint64_t bytes, struct err *e);
/* The same in parts, for a tensor that should not be in memory as a whole:
 * start it, append all of its bytes, end it. */
enum status mfile_writer_start(struct mfile_writer *w, const char *name,
                               enum dtype type, int64_t rows, int64_t cols,
                               struct err *e);
enum status mfile_writer_append(struct mfile_writer *w, const void *data,
                                uint64_t n, struct err *e);
enum status mfile_writer_end(struct mfile_writer *w, struct err *e);
enum status mfile_writer_commit(struct mfile_writer *w, struct err *e);
/* Without a commit, this discards the file. NULL is fine. */
void mfile_writer_free(struct mfile_writer *w);

#endif
