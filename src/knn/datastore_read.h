/* datastore_read.h - read the pairs of a datastore file in the form in which a
 * writer takes them (datastore_write.h): to copy, reduce or print them.
 *
 * A reader is used by one thread at a time. */
#ifndef KNN_DATASTORE_READ_H
#define KNN_DATASTORE_READ_H

#include "knn/datastore_write.h"

struct datastore_reader;        /* opaque */

/* s comes from datastore_file_open. It is borrowed. */
enum status datastore_reader_new(struct datastore_reader **out,
                                 const struct entries *s, struct err *e);
void datastore_reader_free(struct datastore_reader *r);  /* NULL is fine */

/* The kind of a datastore, for a writer. s comes from datastore_file_open; the
 * map is borrowed from it. */
struct datastore_kind datastore_file_kind(const struct entries *s);

/* Set *out to a pair. The keys are in the form in which they are stored. The
 * arrays are valid until the next call; the texts as long as s is held. A
 * deleted pair has no entries, no source tokens and no links. */
enum status datastore_reader_get(struct datastore_reader *r, int32_t pair,
                                 struct datastore_item *out, struct err *e);

/* How a copy differs from the original. */
struct datastore_change {
    const char *stage;          /* what progress is told */
    struct datastore_kind kind; /* of the copy */
    /* Change a pair before it is written. NULL: no pair changes. */
    enum status (*change)(void *user, int32_t pair, struct datastore_item *it,
                          struct err *e);
    void *user;
};
/* Write a changed copy of all pairs that are not deleted, in large blocks. The
 * file appears, or replaces an old one, when it is complete. progress may be
 * NULL; it is told pairs. */
enum status datastore_copy_changed(const struct entries *s, const char *path,
                                   const struct datastore_change *c,
                                   tm_progress_fn *progress, void *user,
                                   struct err *e);
/* Copy all pairs that are not deleted to a new file, in large blocks. The file
 * appears, or replaces an old one, when it is complete. progress may be NULL;
 * it is told pairs. */
enum status datastore_copy(const struct entries *s, const char *path,
                           tm_progress_fn *progress, void *user,
                           struct err *e);

#endif
