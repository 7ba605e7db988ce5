/* keyfile.h - keys that survive a restart: a SQLite file of key blocks.
 *
 * One file is of one model, one type of key and one way of building them
 * (`maker`, a number that tells); opened for another it is refused with a
 * sentence, never misread. It is a cache and bounded like one: beyond `limit`
 * bytes of keys the least recently written or read pairs go. Every row carries
 * a checksum; one that does not match is as good as none. Several processes
 * may share a file. All calls are safe from any thread (one at a time inside).
 *
 * A file or folder that cannot be written, or a disk without any space, is
 * opened for reading only: what is there is found, nothing is stored, and the
 * statistics say so. An error (no space left, a damaged file) leaves the file
 * as it was before the call, and the next call may be tried all the same.
 *
 * docs/formats/keys.md has the tables. */
#ifndef KNN_KEYFILE_H
#define KNN_KEYFILE_H

#include <stdbool.h>

#include "knn/keyblock.h"

struct keyfile;

struct keyfile_stats {
    uint64_t blocks, bytes, limit;
    bool read_only;             /* nothing is stored */
};

/* Made when it does not exist or is empty. d, type: of its blocks. */
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
/* All in one transaction. What is there already stays; a block larger than the
 * limit is left out; what is least recently used makes room (where the limit
 * was lowered much, in several steps). Nothing happens when the file can only
 * be read. */
enum status keyfile_put(struct keyfile *f, const struct key_id *ids,
                        struct keyblock *const *blocks, int n, struct err *e);
/* Not found any more. Where they could not be removed (an error, or the file
 * can only be read) this holds until the file is closed. */
enum status keyfile_forget(struct keyfile *f, const struct key_id *ids, int n,
                           struct err *e);
/* The ids of which hi is this, in *ids (malloc memory). */
enum status keyfile_list(struct keyfile *f, uint64_t hi, struct key_id **ids,
                         size_t *n, struct err *e);
/* The pair was used without asking the file: keep it longer. Only a note is
 * taken; it is written when there is a reason to. *told is the caller's memo
 * about this pair, 0 at first: no note is taken twice. Best effort. */
void keyfile_touch(struct keyfile *f, struct key_id id, uint32_t *told);
enum status keyfile_stats(struct keyfile *f, struct keyfile_stats *out,
                          struct err *e);

#endif
