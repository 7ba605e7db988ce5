/* convert.h - a trained model's folder to one .skmt file.
 *
 * The folder holds model.safetensors, config.json and spm.model, with the
 * names docs/formats/model.md lists. Everything is checked before the first
 * byte is written, and the file appears under its name only when complete.
 * The same folder and type give the same bytes. */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include "base/err.h"
#include "tensor/tensor.h"

/* type: of the matrices, DT_F32, DT_BF16 or DT_I8; norms, biases and learned
 * positions stay f32. progress (may be NULL) is called after each of `total`
 * steps. Memory: twice the largest matrix as f32, beside the mapped input. */
enum status convert_model(const char *dir, enum dtype type, const char *out,
                          void (*progress)(void *user, int done, int total),
                          void *user, struct err *e);

#endif
