/* convert.h - write the .skmt file of a model that is planned.
 *
 * The file appears under its name only when it is complete. The same input and
 * type give the same bytes. Tensors are read and written in blocks of rows, so
 * that matrices of any size need little memory; only a matrix that is stored by
 * input (tensor.h) is in memory as a whole, as int8. */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include <stdint.h>

#include "base/err.h"
#include "convert/model_plan.h"
#include "tensor/tensor.h"

/* Called from time to time with the bytes of the tensors that are written and
 * their total. Return non-zero to stop: the conversion then fails with
 * ST_CANCELED. */
typedef int convert_progress_fn(void *user, uint64_t done, uint64_t total);

/* `type` is the element type of the matrices: DT_F32, DT_BF16 or DT_I8. Norms,
 * biases and learned positions are always f32. `progress` may be NULL. */
enum status convert_plan(struct model_plan *p, enum dtype type,
                         const char *out, convert_progress_fn *progress,
                         void *user, struct err *e);

/* Convert the model at `path`, a folder or a zip archive. */
enum status convert_model(const char *path, enum dtype type, const char *out,
                          convert_progress_fn *progress, void *user,
                          struct err *e);

#endif
