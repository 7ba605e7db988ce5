/* keyfile.h - keys that survive a restart: a SQLite file of key blocks.
 *
 * One file is of one model, one type of key and one way of building them
 * (`maker`, a number that tells); opened for another it is refused with a
 * sentence, never misread. It is a cache and bounded like one: beyond `limit`
 * bytes of keys the least recently written or read pairs go. Every row carries
 * a checksum; one that does not match is as good as none. Several processes
 * may share a file. All calls are safe from any thread (one at a time inside).
 */
#ifndef KNN_KEYFILE_H
#define KNN_KEYFILE_H

#include <stdbool.h>

#include "knn/keyblock.h"

struct keyfile;

struct keyfile_stats { uint64_t blocks, bytes, limit; };

/* Made when it does not exist. d, type: of its blocks. */
enum status keyfile_open(struct keyfile **out, const char *path,
                         uint64_t maker, enum key_type type, int d,
                         uint64_t limit, struct err *e);
void keyfile_close(struct keyfile *f);          /* NULL is fine */

/* *out is NULL when it is not there. */
enum status keyfile_get(struct keyfile *f, struct key_id id,
                        struct keyblock **out, struct err *e);
/* Is it there? Without reading it. */
enum status keyfile_has(struct keyfile *f, struct key_id id, bool *has,
                        struct err *e);
/* All in one transaction. */
enum status keyfile_put(struct keyfile *f, const struct key_id *ids,
                        struct keyblock *const *blocks, int n, struct err *e);
enum status keyfile_forget(struct keyfile *f, const struct key_id *ids, int n,
                           struct err *e);
enum status keyfile_stats(struct keyfile *f, struct keyfile_stats *out,
                          struct err *e);

#endif
