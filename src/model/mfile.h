/* mfile.h - the .skmt model file: named tensors in one mapped file.
 *
 * docs/formats/model.md has the layout. mfile_open() checks the header, every
 * offset, size, name and checksum once; after that readers trust them. An
 * open file is immutable and shared by threads (and, being a mapping, its
 * pages by processes). */
#ifndef MODEL_MFILE_H
#define MODEL_MFILE_H

#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "tensor/tensor.h"

#define MFILE_VERSION 1
#define MFILE_NAME_MAX 63

/* The numbers are part of the file: append only. */
enum mfile_layout {
    LAYOUT_PLAIN,               /* rows after one another */
    LAYOUT_PANELS               /* packed as tensor.h says: the ".w" tensors */
};

struct mtensor {
    const char *name;           /* in the mapping */
    enum dtype type;
    enum mfile_layout layout;
    int64_t shape[2];           /* rows, columns as the matrix is used; a
                                   vector is [n, 1], bytes are [n, 1] */
    const void *data;           /* 64-byte aligned */
    uint64_t bytes;             /* what lies in the file (packed, padded) */
    uint64_t sum;               /* XXH3-64 of those bytes */
};

struct mfile;

enum status mfile_open(struct mfile **out, const char *path, struct err *e);
/* The same over bytes in memory (borrowed): fuzzing, embedding. `name` is
 * for messages. */
enum status mfile_open_memory(struct mfile **out, const void *data,
                              size_t size, const char *name, struct err *e);
void mfile_close(struct mfile *f);              /* NULL is fine */

const char *mfile_name(const struct mfile *f);
uint64_t mfile_size(const struct mfile *f);
/* The sum of its head, which covers the sums of all tensors: two files with
 * the same one hold the same. */
uint64_t mfile_id(const struct mfile *f);
int mfile_count(const struct mfile *f);
const struct mtensor *mfile_at(const struct mfile *f, int i);
const struct mtensor *mfile_find(const struct mfile *f, const char *name);

/* The hyper-parameter text (config.h). */
const char *mfile_config(const struct mfile *f, size_t *len);

#endif
