/* datastore_edit.h - delete pairs of a datastore file. A deletion is complete
 * or absent, whatever happens. */
#ifndef ENGINE_DATASTORE_EDIT_H
#define ENGINE_DATASTORE_EDIT_H

#include "knn/datastore_file.h"
#include "tm/source.h"

/* Which pairs to delete: those that have one of the ids, and this source, and
 * this target. A part that is NULL or 0 does not restrict. At least one is
 * given. */
struct datastore_filter {
    const int64_t *ids;         /* [n_ids] numbers of pairs in the memory */
    size_t n_ids;
    const char *source, *target;
};

/* Delete the pairs that the filter names. *n is their number. */
enum status datastore_delete_where(const char *path,
                                   const struct datastore_filter *f,
                                   int64_t *n, struct err *e);
/* Delete the pairs that the memories of the source do not have (any more). */
enum status datastore_delete_missing(const char *path,
                                     struct pair_source *source, int64_t *n,
                                     struct err *e);

#endif
