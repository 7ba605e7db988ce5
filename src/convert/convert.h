/* convert.h - convert the folder of a trained model to one .skmt file.
 *
 * The folder contains model.safetensors, config.json and spm.model, with the
 * tensors and keys that docs/formats/model.md lists. All names and shapes are
 * checked before anything is written, and the file appears under its name only
 * when it is complete. The same folder and type give the same bytes. */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include "base/err.h"
#include "tensor/tensor.h"

/* `type` is the element type of the matrices: DT_F32, DT_BF16 or DT_I8. Norms,
 * biases and learned positions are always f32. `progress`, which may be NULL,
 * is called after each of `total` steps. The memory needed is twice that of the
 * largest matrix as f32, in addition to the mapped input. */
enum status convert_model(const char *dir, enum dtype type, const char *out,
                          void (*progress)(void *user, int done, int total),
                          void *user, struct err *e);

#endif
