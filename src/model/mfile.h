/* mfile.h - the .skmt model file: named tensors in one mapped file.
 *
 * docs/formats/model.md describes the layout. mfile_open() checks the header
 * and every offset, size, name and checksum once; after that, readers trust
 * them. An open file never changes, and threads may share it. Processes that
 * map the same file share its pages. */
#ifndef MODEL_MFILE_H
#define MODEL_MFILE_H

#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "tensor/tensor.h"

#define MFILE_VERSION 1
#define MFILE_NAME_MAX 63

/* These values are stored in model files and never change. */
enum mfile_layout {
    LAYOUT_PLAIN,               /* row by row */
    LAYOUT_PANELS               /* panels (tensor.h): names that end in ".w" */
};

struct mtensor {
    const char *name;           /* points into the mapping */
    enum dtype type;
    enum mfile_layout layout;
    int64_t shape[2];           /* rows and columns without padding; a vector
                                   is [n, 1], bytes are [n, 1] */
    const void *data;           /* aligned to 64 bytes */
    uint64_t bytes;             /* size of data, with padding */
    uint64_t sum;               /* XXH3-64 of data */
};

struct mfile;

enum status mfile_open(struct mfile **out, const char *path, struct err *e);
/* The same without the checksums of the tensors, so that the data are not read:
 * to list models. A tensor that is used must be checked first. */
enum status mfile_open_unchecked(struct mfile **out, const char *path,
                                 struct err *e);
enum status mfile_check_tensor(const struct mfile *f, const struct mtensor *t,
                               struct err *e);
/* The same for a file in memory, which must stay valid and unchanged until
 * mfile_close(): for fuzzing, and for programs that embed a model. `name` is
 * used in messages. */
enum status mfile_open_memory(struct mfile **out, const void *data,
                              size_t size, const char *name, struct err *e);
void mfile_close(struct mfile *f);              /* NULL is fine */

const char *mfile_name(const struct mfile *f);
uint64_t mfile_size(const struct mfile *f);
/* The checksum of header, config and directory. It covers the checksums of all
 * tensors, so two files with the same id have the same contents. */
uint64_t mfile_id(const struct mfile *f);
int mfile_count(const struct mfile *f);                 /* of tensors */
/* Tensor i or the tensor with a name; NULL if it does not exist. */
const struct mtensor *mfile_at(const struct mfile *f, int i);
const struct mtensor *mfile_find(const struct mfile *f, const char *name);

/* The text of the hyperparameters (config.h). It is not NUL-terminated. */
const char *mfile_config(const struct mfile *f, size_t *len);

#endif
