/* tensor_file.h - the named tensors in a file of another project, one interface
 * for all containers.
 *
 * Each container (safetensors, npz, PyTorch, CTranslate2) has a reader that
 * opens a file, checks its directory once, and fills in a struct tensor_file.
 * After that, the shape of every tensor matches the bytes that it has, and all
 * of them lie inside the file. A reader never maps the data: it reads the rows
 * that are asked for, so that a file of any size needs little memory.
 *
 * A tensor of other dimensions than 1 or 2, or of a type that is not in the
 * list, is kept with its name so that it can be named in a message, but it
 * cannot be read. An open file does not change, except for the `used` marks.
 * One thread at a time may use it. */
#ifndef CONVERT_TENSOR_FILE_H
#define CONVERT_TENSOR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum element {
    ELEMENT_F32, ELEMENT_F16, ELEMENT_BF16, ELEMENT_F64,
    ELEMENT_I8, ELEMENT_U8, ELEMENT_I16, ELEMENT_I32, ELEMENT_I64,
    ELEMENT_OTHER               /* cannot be read */
};

#define FILE_TENSOR_DIMS 4

struct file_tensor {
    const char *name;           /* owned by the file */
    enum element type;          /* as stored */
    int n_dims;                 /* 0: a scalar. More than FILE_TENSOR_DIMS: only
                                   the first ones are in shape */
    int64_t shape[FILE_TENSOR_DIMS];    /* missing ones are 1 */
    bool used;                  /* for the caller */
    int index;                  /* for the reader: its number, from 0 */
    bool alias;                 /* another name of a tensor of the file */
};

struct tensor_file;

struct tensor_file_ops {
    /* Write n rows of a tensor, from `row` on, to out [n, cols] as floats.
     * A tensor of up to one dimension is one row. Integers with a scale are
     * multiplied by it. The caller has checked row, n and the type. Fails with
     * ST_IO, or with ST_FORMAT if compressed data are damaged. */
    enum status (*read)(struct tensor_file *f, const struct file_tensor *t,
                        int64_t row, int64_t n, float *out, struct err *e);
    void (*close)(struct tensor_file *f);
};

/* A reader has this as the first member of its own struct. */
struct tensor_file {
    const struct tensor_file_ops *ops;
    char *name;                 /* of the file, for messages; owned by the
                                   reader */
    struct file_tensor *at;     /* [n] in the order of the file; owned by the
                                   reader */
    int n;
};

void tensor_file_close(struct tensor_file *f);          /* NULL is fine */

/* The tensor with a name; NULL if it does not exist. */
struct file_tensor *tensor_file_find(struct tensor_file *f, const char *name);

/* Rows and columns of a tensor seen as a matrix. A vector [n] and a scalar have
 * one row, and so have [1, n] and [n] alike. */
int64_t file_tensor_rows(const struct file_tensor *t);
int64_t file_tensor_cols(const struct file_tensor *t);

/* Read rows as floats. Fails with ST_FORMAT, naming file and tensor, if a value
 * is NaN or infinite, or if the tensor cannot be read. */
enum status tensor_file_read(struct tensor_file *f,
                             const struct file_tensor *t, int64_t row,
                             int64_t n, float *out, struct err *e);

/* Read a scalar, or a vector of one element. */
enum status tensor_file_scalar(struct tensor_file *f,
                               const struct file_tensor *t, double *out,
                               struct err *e);

/* Append the text in a vector of int8 or uint8, without NULs at its end. Fails
 * with ST_FORMAT if it is another tensor or has more than `most` bytes. The
 * text may be anything else than UTF-8. */
struct strbuf;
enum status tensor_file_text(struct tensor_file *f,
                             const struct file_tensor *t, size_t most,
                             struct strbuf *out, struct err *e);

#endif
