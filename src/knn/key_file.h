/* key_file.h - a key file: a SQLite file that keeps keys across restarts.
 *
 * A file holds keys of one model, one type and one set of key options. The
 * number `maker` identifies them; a file with another maker is refused with an
 * error. The file is a cache with a limit: when the keys exceed `limit` bytes,
 * the least recently used pairs are removed. A pair is identified by its
 * texts, so one file can serve any number of memories, and its keys never
 * become stale. Each row has a checksum; a row that does not match it counts
 * as missing. Several processes may share a file. All functions may be called
 * from any thread; they take a lock.
 *
 * Opening a file of an older version deletes its keys. They are computed again
 * when they are needed. The statistics report this (remade).
 *
 * When the file or its folder is not writable, or the disk is full, the file is
 * opened read-only: stored keys are found, nothing is stored, and the
 * statistics report this (read_only). After an error (disk full, damaged file)
 * the file is as it was before the call, and later calls may succeed.
 *
 * docs/formats/keys.md describes the tables. */
#ifndef KNN_KEY_FILE_H
#define KNN_KEY_FILE_H

#include <stdbool.h>

#include "knn/pair_keys.h"

struct key_file;

struct key_file_stats {
    uint64_t pairs, bytes, limit;
    bool read_only;             /* nothing is stored */
    bool remade;                /* had an older version and was emptied */
};

struct key_file_kind {          /* properties of all keys in a file */
    uint64_t maker;             /* identifies the model and the key options */
    enum key_type type;
    int d;                      /* dimensions of a key */
    int vocab;                  /* larger token ids mean a damaged file */
};

/* Open a key file. It is created when it does not exist or is empty. limit is
 * in bytes. */
enum status key_file_open(struct key_file **out, const char *path,
                          const struct key_file_kind *kind, uint64_t limit,
                          struct err *e);
void key_file_close(struct key_file *f);        /* NULL is fine */

/* Read the keys of a pair. *out is a new reference, or NULL when the file does
 * not have the pair. */
enum status key_file_get(struct key_file *f, struct key_id id,
                         struct pair_keys **out, struct err *e);
/* Store the keys of n pairs in one transaction. They replace older keys of the
 * same pairs. Keys larger than the limit are skipped. The least recently used
 * pairs are removed to make room; if the limit was lowered a lot, this takes
 * several calls. Does nothing when the file is read-only. */
enum status key_file_put(struct key_file *f, const struct key_id *ids,
                         struct pair_keys *const *keys, int n, struct err *e);
/* Remove the keys of all pairs except these n, and overwrite them on disk. ids
 * are sorted by hi, then lo. *removed is the number of pairs removed, also
 * after an error, when some may be left. Returns ST_IO when the file is
 * read-only. */
enum status key_file_keep_only(struct key_file *f, const struct key_id *ids,
                               size_t n, uint64_t *removed, struct err *e);
/* Remove pairs beyond the limit, and return unused space to the file system.
 * The file shrinks when its log is copied back: at once if no other program
 * reads it, else when the last program closes it. Does nothing when the file is
 * read-only. */
enum status key_file_compact(struct key_file *f, struct err *e);
/* Note that a pair was used without reading it from the file, so that it is
 * kept longer. The note stays in memory until pairs are evicted or the file is
 * closed; it may get lost. *noted_use belongs to the caller, one for each pair,
 * 0 at first; it prevents duplicate notes. */
void key_file_touch(struct key_file *f, struct key_id id, uint32_t *noted_use);
enum status key_file_stats(struct key_file *f, struct key_file_stats *out,
                           struct err *e);

#endif
