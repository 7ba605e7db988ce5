/* datastore_file.h - open a datastore file: the entries of a whole memory.
 *
 * docs/formats/datastore.md describes the file, and datastore_write.h writes
 * it. The file is mapped. datastore_file_open checks the header and everything
 * but the keys: each checksum, number and text. After that, no reader can leave
 * the file, whatever the keys are. The keys are most of the file, and reading
 * them takes long; datastore_file_check verifies them.
 *
 * An open file never changes, and threads may share it. A writer may add and
 * delete pairs at the same time; who opens the file afterwards sees it.
 * Nobody may make the file shorter while it is open. */
#ifndef KNN_DATASTORE_FILE_H
#define KNN_DATASTORE_FILE_H

#include "knn/entries.h"
#include "knn/pair_keys.h"
#include "tm/problems.h"
#include "tm/progress.h"

/* The model whose states the keys must be. */
struct datastore_model {
    uint64_t id;                /* of its weights (engine_weights_id) */
    int d, vocab;
};

struct datastore_info {
    uint64_t store;             /* identifies the file */
    uint64_t model;
    uint64_t memory;            /* that it was built from; 0: none */
    uint64_t bytes;             /* of the file */
    int64_t entries;            /* with those of deleted pairs */
    int32_t pairs, deleted;     /* all pairs, and the deleted ones */
    int vocab;
    bool with_eos;              /* pairs have an entry for EOS */
    bool has_weights;           /* entries were merged */
    bool building;              /* not all pairs were added yet */
    uint64_t request;           /* building: what is to be built */
    int64_t last;               /* building: the last pair of the memory that
                                   was added or left out */
};

/* A file that is not complete yet is refused, unless `unfinished`. A file that
 * was made with another model is refused; m may be NULL: any model. The caller
 * drops *out (entries_drop). Its sources, if any, and texts are in the file. */
enum status datastore_file_open(struct entries **out, const char *path,
                                const struct datastore_model *m,
                                bool unfinished, struct err *e);
/* The same for a file in memory, aligned to 64 bytes, which must stay valid and
 * unchanged. `name` is used in messages. */
enum status datastore_file_open_memory(struct entries **out,
                                       const void *bytes, size_t size,
                                       const char *name,
                                       const struct datastore_model *m,
                                       bool unfinished, struct err *e);

/* The following functions take entries that one of these has opened. */

struct datastore_info datastore_file_info(const struct entries *s);
/* The id of a pair (key_id_of_pair), also of a deleted one. */
struct key_id datastore_file_pair_id(const struct entries *s, int32_t pair);
/* A checksum of the keys of the first n blocks of entries. It is computed from
 * their checksums, so no key is read. Blocks never change once they are
 * written; pairs that are deleted do not change the keys. */
uint64_t datastore_file_keys_sum(const struct entries *s, int n);
/* The source tokens of a pair: [*first, *first + result) of its block. */
int datastore_file_sources(const struct entries *s, int32_t pair, int *first);

/* Verify the keys: checksums, and whether norms and texts match what is stored
 * with them. fn is called for each problem; *n is their number. fn, progress
 * and n may be NULL. Progress is told as bytes. */
enum status datastore_file_check(const struct entries *s, problem_fn *fn,
                                 void *user, tm_progress_fn *progress,
                                 void *progress_user, int *n, struct err *e);

#endif
