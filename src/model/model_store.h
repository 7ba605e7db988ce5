/* model_store.h - the models that a user has, and which of them is meant.
 *
 * The store is a folder of files NAME.skmt, with the list of default models
 * (model_defaults.h) and nothing else that is kept. Further folders, of models
 * that came with skmt, can be searched after it. A struct model_store lists
 * the names when it is opened, and reads a file only to find a model by its
 * languages. It never changes; model_store_change.h changes the folder.
 *
 * A model of a folder hides those with the same name in later folders. */
#ifndef MODEL_MODEL_STORE_H
#define MODEL_MODEL_STORE_H

#include <stdbool.h>

#include "base/err.h"
#include "model/model_defaults.h"

/* The model that is used if the user has chosen none. */
#define MODEL_STORE_USUAL "de-en"

struct model_store;             /* opaque */

/* Open the store in a folder, which need not exist. Fails only if out of
 * memory: see model_store_check. NULL: that of the user,
 * $SKMT_HOME/models, else $XDG_DATA_HOME/skmt/models, else
 * ~/.local/share/skmt/models. If none of these variables is set, there is no
 * store, only further folders. */
enum status model_store_open(struct model_store **out, const char *folder,
                             struct err *e);
void model_store_close(struct model_store *s);          /* NULL is fine */
/* Also search this folder, after those before it. It need not exist. */
enum status model_store_add_folder(struct model_store *s, const char *folder,
                                   struct err *e);

/* Fails if the folder of the store or the list of defaults could not be read. A
 * model can still be found by the name of its file. */
enum status model_store_check(const struct model_store *s, struct err *e);

/* The folder of the store; NULL if there is none. */
const char *model_store_folder(const struct model_store *s);
const struct model_defaults *model_store_defaults(const struct model_store *s);

/* Model i, by folder and name; NULL after the last. */
const char *model_store_name(const struct model_store *s, int i);
const char *model_store_path(const struct model_store *s, int i);
/* Whether it is in the folder of the store. */
bool model_store_owns(const struct model_store *s, int i);
/* The index of a name, which may end in ".skmt"; -1 if there is none. */
int model_store_index(const struct model_store *s, const char *name);

/* Find the model that a user means, and set *path, in malloc memory, to its
 * file. In this order, where NULL and "" are the same:
 *   1. `name`: a path, a file in the current folder, or a model by its name;
 *   2. $SKMT_MODEL likewise, unless it is for other languages;
 *   3. if languages are given, the default for this pair, or the model that
 *      fits them best (card_fit). Of equal ones it is the default for
 *      everything, or one of an earlier folder; if there are still several,
 *      that is an error;
 *   4. the default for everything;
 *   5. MODEL_STORE_USUAL.
 * It is not checked whether a model fits the languages if it was chosen by
 * name. The error says what was looked for, and where. */
enum status model_store_find(const struct model_store *s, const char *name,
                             const char *from, const char *to, char **path,
                             struct err *e);

#endif
