/* findmodel.h - finds and opens the model file.
 *
 * A path that exists is used as it is. A bare name such as "de-en" means the
 * file NAME.skmt in one of the model folders: ../models and
 * ../share/skmt/models relative to the folder of the program, then
 * share/skmt/models of the installation prefix. Without a name, $SKMT_MODEL is
 * used, or else "de-en". */
#ifndef COMMON_FINDMODEL_H
#define COMMON_FINDMODEL_H

#include <stdbool.h>

#include "skmt.h"

#define MODEL_OPTION                                                          \
    { "model", 'm', "FILE", "model file, or the name of an installed model; " \
      "default $SKMT_MODEL, then de-en" }

/* For commands that do not have the options of the library for opening a
 * model. */
#define MODEL_PAIR_OPTIONS                                                    \
    { "from", 0, "CODE", "source language, such as de, of a model with "      \
      "several languages (skmt info lists them)" },                           \
    { "to", 0, "CODE", "target language, likewise" }

/* Whether there is a default model: $SKMT_MODEL is set, or de-en is in one of
 * the folders. Opening it may still fail. */
bool has_default_model(void);

/* Opens the model `name`, which may be NULL, with these options (--device).
 * *path (may be NULL) gets the path of the file; the string is static. On
 * failure, prints an error and returns an exit status. */
int model_find(skmt_model **out, const char *name, const skmt_options *o,
               const char **path);

#endif
