/* hf_files.h - the weights in a folder as Hugging Face's transformers stores
 * them: model.safetensors or pytorch_model.bin, in one file or in several with
 * an index. */
#ifndef CONVERT_HF_FILES_H
#define CONVERT_HF_FILES_H

#include "base/err.h"
#include "convert/checkpoint.h"
#include "convert/file_set.h"

enum hf_form { HF_SAFETENSORS, HF_TORCH };

/* Whether the set has weights in any of these forms. Never fails. */
bool hf_files_exist(struct file_set *s);

/* Open the weights. If the set has both forms, `first` says which one is used.
 * A tensor that an index lists must exist. */
enum status hf_files_open(struct checkpoint **out, struct file_set *s,
                          enum hf_form first, struct err *e);

#endif
