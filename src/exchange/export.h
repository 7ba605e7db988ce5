/* export.h - writes all pairs of a memory to a file. */
#ifndef EXCHANGE_EXPORT_H
#define EXCHANGE_EXPORT_H

#include "formats/writer.h"
#include "tm/tmfile.h"

struct export_options {
    enum format format;         /* FORMAT_AUTO: from the name of the file */
    const char *target_path;    /* FORMAT_PARALLEL: the file of the targets */
};

/* Write the current version of every pair, in order of id. Format-specific data
 * of pairs and file headers that came from a file of the same format is written
 * back. *n is the number of pairs. */
enum status tm_export(struct tmfile *t, const char *memory, const char *path,
                      const struct export_options *o, int64_t *n,
                      struct err *e);

#endif
