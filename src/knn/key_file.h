/* key_file.h - keys that survive a restart: a SQLite file of key blocks.
 *
 * One file is of one model, one type of key and one way of building them
 * (`maker`, a number that tells); opened for another it is refused with a
 * sentence, never misread. It is a cache and bounded like one: beyond `limit`
 * bytes of keys the least recently written or read pairs go. Pairs are known by
 * their texts, so one file may serve any number of memories, and a key in it
 * never becomes wrong. Every row carries a checksum; one that does not match is
 * as good as none. Several processes may share a file. All calls are safe from
 * any thread (one at a time inside).
 *
 * A file of an older version loses its keys when it is opened; they are made
 * again when they are needed. The statistics say so.
 *
 * A file or folder that cannot be written, or a disk without any space, is
 * opened for reading only: what is there is found, nothing is stored, and the
 * statistics say so. An error (no space left, a damaged file) leaves the file
 * as it was before the call, and the next call may be tried all the same.
 *
 * docs/formats/keys.md has the tables. */
#ifndef KNN_KEY_FILE_H
#define KNN_KEY_FILE_H

#include <stdbool.h>

#include "knn/pair_keys.h"

struct key_file;

struct key_file_stats {
    uint64_t blocks, bytes, limit;
    bool read_only;             /* nothing is stored */
    bool remade;                /* it was of an older version when opened */
};

struct key_file_kind {          /* what all its blocks have in common */
    uint64_t maker;
    enum key_type type;
    int d;                      /* numbers of a key */
    int vocab;                  /* tokens are smaller; others are damage */
};

/* Made when it does not exist or is empty. */
enum status key_file_open(struct key_file **out, const char *path,
                          const struct key_file_kind *kind, uint64_t limit,
                          struct err *e);
void key_file_close(struct key_file *f);        /* NULL is fine */

/* *out is NULL when it is not there. */
enum status key_file_get(struct key_file *f, struct key_id id,
                         struct pair_keys **out, struct err *e);
/* All in one transaction. A block replaces what the file had of its pair; one
 * larger than the limit is left out; what is least recently used makes room
 * (where the limit was lowered much, in several steps). Nothing happens when
 * the file can only be read. */
enum status key_file_put(struct key_file *f, const struct key_id *ids,
                         struct pair_keys *const *blocks, int n, struct err *e);
/* Remove, and overwrite, the keys of all pairs but these, which are in
 * ascending order of hi, then lo. *removed counts, after an error, too: then
 * some are left. ST_IO when the file can only be read. */
enum status key_file_keep_only(struct key_file *f, const struct key_id *ids,
                               size_t n, uint64_t *removed, struct err *e);
/* Remove what is beyond the limit, and return the space that nothing uses to
 * the file system. The file has its new size when its log is copied back: at
 * once where nobody else reads it, else when the last program closes it. Does
 * nothing when the file can only be read. */
enum status key_file_compact(struct key_file *f, struct err *e);
/* The pair was used without asking the file: keep it longer. Only a note is
 * taken; it is written when there is a reason to. *told is the caller's memo
 * about this pair, 0 at first: no note is taken twice. Best effort. */
void key_file_touch(struct key_file *f, struct key_id id, uint32_t *told);
enum status key_file_stats(struct key_file *f, struct key_file_stats *out,
                           struct err *e);

#endif
