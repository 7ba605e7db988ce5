/* skmt_tools.h - functions that make and inspect model files.
 *
 * This interface may change in any release. It is for the command line tool and
 * for build scripts; other programs should use skmt.h only. */
#ifndef SKMT_TOOLS_H
#define SKMT_TOOLS_H

#include "skmt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Convert a model to a .skmt file. dir is a directory with the files
 * model.safetensors, config.json and spm.model; out is the name of the new
 * file. type is "f32", "bf16" or "int8". progress may be NULL; it is called
 * with the number of steps done and the total. */
typedef void skmt_progress_fn(void *user, int done, int total);
SKMT_API skmt_status skmt_convert(const char *dir, const char *type,
                                  const char *out, skmt_progress_fn *progress,
                                  void *user, skmt_error *err);

/* Call fn once for each tensor in a model file. */
typedef void skmt_tensor_fn(void *user, const char *name, const char *type,
                            int64_t rows, int64_t cols, uint64_t bytes,
                            uint64_t checksum);
SKMT_API skmt_status skmt_model_tensors(const skmt_model *model,
                                        skmt_tensor_fn *fn, void *user);

#ifdef __cplusplus
}
#endif
#endif
