/* findmodel.h - which model file to open.
 *
 * A path that exists is taken as it is. A bare name ("de-en") is looked for
 * as NAME and NAME.skmt in the model folders: ../models and
 * ../share/skmt/models beside the program, then the folder it was installed
 * for. Without a name $SKMT_MODEL is asked, then "de-en" is looked for. */
#ifndef FINDMODEL_H
#define FINDMODEL_H

#include <stdbool.h>

#include "skmt.h"

/* Is there a model without naming one: $SKMT_MODEL is set, or the default is
 * in its place? Opening it may still fail. */
bool model_is_there(void);

/* Open what `name` (may be NULL) means. On failure a sentence that lists
 * where was looked has been printed and an exit status is returned.
 * *path (may be NULL) is static: the file that was opened. */
int model_find(skmt_model **out, const char *name, const char **path);

#endif
