/* findmodel.h - finds and opens the model file.
 *
 * skmt_store_find says which model is meant. After the store of the user, it
 * looks in the folders of the models that came with the program: ../models and
 * ../share/skmt/models relative to the folder of the program, then
 * share/skmt/models of the installation prefix. */
#ifndef COMMON_FINDMODEL_H
#define COMMON_FINDMODEL_H

#include <stdbool.h>

#include "skmt_tools.h"

#define MODEL_OPTION                                                          \
    { "model", 'm', "FILE", "model file, or the name of a model (skmt model " \
      "list); default: $SKMT_MODEL, then the model for --from and --to, then "\
      "the default model, de-en" }

/* For commands that do not have the options of the library for opening a
 * model. */
#define MODEL_PAIR_OPTIONS                                                    \
    { "from", 0, "CODE", "source language, such as de: chooses the model for "\
      "it, and the language of a model that has several (skmt info)" },       \
    { "to", 0, "CODE", "target language, likewise" }

/* Opens the store of the user and adds the other folders. NULL: an error was
 * printed. */
skmt_store *model_folders_open(void);

/* Whether there is a model for these options (--from, --to; o may be NULL): one
 * was chosen, or the default exists. Opening it may still fail. */
bool has_default_model(skmt_options *o);

/* Opens the model `name`, which may be NULL, with these options, which may be
 * NULL too. *path (may be NULL) gets the path of the file; the string is
 * static. On failure, prints an error and returns an exit status. */
int model_find(skmt_model **out, const char *name, skmt_options *o,
               const char **path);

#endif
