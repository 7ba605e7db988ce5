/* checkpoint.h - the tensors of a model, in one file or in several.
 *
 * All names are different. A checkpoint owns its files. */
#ifndef CONVERT_CHECKPOINT_H
#define CONVERT_CHECKPOINT_H

#include "convert/tensor_file.h"

struct checkpoint;

enum status checkpoint_new(struct checkpoint **out, struct err *e);
void checkpoint_close(struct checkpoint *c);            /* NULL is fine */

/* Add a file, which belongs to the checkpoint from now on, and is closed on
 * failure too. Fails with ST_FORMAT if a name occurs twice. */
enum status checkpoint_add(struct checkpoint *c, struct tensor_file *f,
                           struct err *e);

/* The tensor with a name and, if file is not NULL, its file. NULL if it does
 * not exist. */
struct file_tensor *checkpoint_find(const struct checkpoint *c,
                                    const char *name,
                                    struct tensor_file **file);

/* All tensors, in the order of the files. NULL after the last. */
struct file_tensor *checkpoint_at(const struct checkpoint *c, int i,
                                  struct tensor_file **file);

/* The first file, for messages about tensors that no file has. */
const char *checkpoint_name(const struct checkpoint *c);

/* Mark a tensor as used, so that convert.c does not refuse it: for buffers and
 * training state that translation does not need. Returns false if there is no
 * such tensor. */
bool checkpoint_pass_over(struct checkpoint *c, const char *name);

#endif
