/* safetensors.h - read the tensors of a .safetensors file, mapped.
 *
 * The file is an 8-byte length, that many bytes of JSON (name -> dtype, shape,
 * data_offsets), then the data. safetensors_open() checks that every tensor
 * is a vector or a matrix of F32, F16 or BF16, that its size is its shape's,
 * and that together they fill the data without holes or overlaps, as the
 * format demands. Immutable once open, except for the `used` marks. */
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
    uint64_t begin, end;        /* in the data */
    const uint8_t *data;        /* not aligned */
    bool used;                  /* for the caller: not read by the others */
};

struct safetensors;

enum status safetensors_open(struct safetensors **out, const char *path,
                             struct err *e);
void safetensors_close(struct safetensors *s);  /* NULL is fine */

const char *safetensors_name(const struct safetensors *s);
int safetensors_count(const struct safetensors *s);
struct sf_tensor *safetensors_at(struct safetensors *s, int i);
struct sf_tensor *safetensors_find(struct safetensors *s, const char *name);

/* All elements as floats, in order. false: one of them is NaN or infinite.
 * out is [shape[0] * shape[1]]. */
bool sf_tensor_read(const struct sf_tensor *t, float *out);

float f16_to_f32(uint16_t h);                   /* exact */

#endif
