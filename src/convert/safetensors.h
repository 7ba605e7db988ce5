/* safetensors.h - read the tensors of a mapped .safetensors file.
 *
 * The file starts with an 8-byte length and a JSON header of that many bytes
 * (name -> dtype, shape, data_offsets). The data follows. safetensors_open()
 * checks that every tensor is a vector or a matrix of F32, F16 or BF16, that
 * its size matches its shape, and that the tensors fill the data without gaps
 * or overlaps, as the format requires. An open file does not change, except
 * for the `used` marks. */
#ifndef CONVERT_SAFETENSORS_H
#define CONVERT_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum sf_type { SF_F32, SF_F16, SF_BF16, SF_COUNT };

struct sf_tensor {
    const char *name;
    enum sf_type type;
    int n_dims;                 /* 1 or 2 */
    int64_t shape[2];           /* a vector is [n, 1] */
    uint64_t begin, end;        /* offsets in the data */
    const uint8_t *data;        /* not aligned */
    bool used;                  /* for the caller; not used here */
};

struct safetensors;

enum status safetensors_open(struct safetensors **out, const char *path,
                             struct err *e);
void safetensors_close(struct safetensors *s);  /* NULL is fine */

const char *safetensors_name(const struct safetensors *s);
int safetensors_count(const struct safetensors *s);
/* Tensor i or the tensor with a name; NULL if it does not exist. */
struct sf_tensor *safetensors_at(struct safetensors *s, int i);
struct sf_tensor *safetensors_find(struct safetensors *s, const char *name);

/* Copy all elements as floats to out [shape[0] * shape[1]]. Returns false if
 * any of them is NaN or infinite. */
bool sf_tensor_read(const struct sf_tensor *t, float *out);

#endif
