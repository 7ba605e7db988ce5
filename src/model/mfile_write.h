/* mfile_write.h - write a .skmt file, tensor by tensor, replaced atomically.
 *
 * Begin with the config text, add each tensor, commit. Nothing is visible
 * under the final name before commit. The same calls give the same bytes.
 * A tensor whose name ends in ".w" is a packed matrix (linear_bytes long);
 * all others are plain, rows * cols elements. */
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
enum status mfile_writer_commit(struct mfile_writer *w, struct err *e);
/* Drops what is not committed; NULL is fine. */
void mfile_writer_free(struct mfile_writer *w);

#endif
