/* skmt_tools.h - unstable extras: making model files.
 *
 * Here today, different tomorrow: for the command line tool and for build
 * scripts. What programs should rely on is in skmt.h. */
#ifndef SKMT_TOOLS_H
#define SKMT_TOOLS_H

#include "skmt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Convert a model in the standard form (a directory with model.safetensors,
 * config.json and spm.model) to one .skmt file. type: "f32", "bf16" or
 * "int8". progress may be NULL. */
typedef void skmt_progress_fn(void *user, int done, int total);
SKMT_API skmt_status skmt_convert(const char *dir, const char *type,
                                  const char *out, skmt_progress_fn *progress,
                                  void *user, skmt_error *err);

/* Print-ready lines about a model file's tensors, one call a tensor. */
typedef void skmt_tensor_fn(void *user, const char *name, const char *type,
                            int64_t rows, int64_t cols, uint64_t bytes,
                            uint64_t checksum);
SKMT_API skmt_status skmt_model_tensors(const skmt_model *model,
                                        skmt_tensor_fn *fn, void *user);

#ifdef __cplusplus
}
#endif
#endif
