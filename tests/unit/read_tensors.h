/* read_tensors.h - the tensors of a safetensors file on the disk, for tests. */
#ifndef READ_TENSORS_H
#define READ_TENSORS_H

#include "convert/safetensors_file.h"
#include "test.h"

static inline enum status tensors_open(struct tensor_file **out,
                                       const char *path, struct err *e)
{
    struct file_stream *in;
    enum status st = file_stream_open_path(&in, path, e);

    *out = NULL;
    return st ? st : safetensors_file_open(out, in, e);
}

/* All values of a tensor, in malloc memory. */
static inline float *tensors_values(struct tensor_file *f,
                                    const struct file_tensor *t, int *n)
{
    int64_t rows = file_tensor_rows(t);
    struct err e;
    float *v;

    *n = (int)(rows * file_tensor_cols(t));
    v = calloc((size_t)*n + 1, sizeof *v);
    if (v) CHECK_OK(tensor_file_read(f, t, 0, rows, v, &e), &e);
    return v;
}

#endif
