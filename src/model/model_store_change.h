/* model_store_change.h - add models to the store of a user, remove them, and
 * set the default models.
 *
 * Several processes may change a store at the same time. A new model is written
 * in a folder of its own inside of the store, and renamed when it is complete,
 * so that nobody ever sees a part of it. What a killed process has left behind
 * is removed by the next change. A struct model_store does not notice changes:
 * open it again.
 *
 * All functions fail if there is no store (model_store_folder). */
#ifndef MODEL_MODEL_STORE_CHANGE_H
#define MODEL_MODEL_STORE_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/model_store.h"

/* Longest name of a model, in bytes. */
#define MODEL_STORE_NAME_MAX 100

struct new_model;               /* opaque */

/* Begin to add a model. `name` may end in ".skmt". It may not be empty, begin
 * with '.' or '-', or contain '/', white space or control characters. Fails if
 * the store has a model of this name, unless `replace` is set. */
enum status new_model_begin(struct new_model **out,
                            const struct model_store *s, const char *name,
                            bool replace, struct err *e);
/* Where to write the file, under this name or by renaming another one. */
const char *new_model_path(const struct new_model *m);
/* Where it will be. */
const char *new_model_target(const struct new_model *m);
/* Write a copy of a model file, all of which is checked before. `progress` may
 * be NULL; a non-zero result stops with ST_CANCELED. */
typedef int new_model_progress(void *user, uint64_t done, uint64_t total);
enum status new_model_copy(struct new_model *m, const char *file,
                           new_model_progress *progress, void *user,
                           struct err *e);
/* The model is complete: add it to the store. */
enum status new_model_commit(struct new_model *m, struct err *e);
/* Frees m, and removes what was written if it was not committed. NULL is
 * fine. */
void new_model_free(struct new_model *m);

/* Delete a model of the store, and the defaults that name it. */
enum status model_store_remove(const struct model_store *s, const char *name,
                               struct err *e);

/* Make a model, which must be in one of the folders of s, the default for
 * everything or for a pair of languages. Both languages are given, or neither
 * (NULL). name NULL: from now on there is no such default. */
enum status model_store_set_default(const struct model_store *s,
                                    const char *name, const char *from,
                                    const char *to, struct err *e);

#endif
