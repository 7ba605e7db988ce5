/* export.h - a memory into a file, pair by pair. */
#ifndef TM_EXPORT_H
#define TM_EXPORT_H

#include "formats/writer.h"
#include "tm/tmfile.h"

struct export_options {
    enum format format;         /* FORMAT_AUTO: by the file's ending */
    const char *target_path;    /* FORMAT_PARALLEL: the other language's file */
};

/* Every pair as it is now, by ascending id; what pairs and file heads of that
 * format held when they were imported is written again. *n counts. */
enum status tm_export(struct tmfile *t, const char *memory, const char *path,
                      const struct export_options *o, int64_t *n,
                      struct err *e);

#endif
