/* datastore_file_internal.h - the struct behind an open datastore file, for
 * datastore_file.c and datastore_file_check.c. */
#ifndef KNN_DATASTORE_FILE_INTERNAL_H
#define KNN_DATASTORE_FILE_INTERNAL_H

#include "base/file.h"
#include "knn/datastore_file.h"
#include "knn/datastore_format.h"

/* What a block of entries has besides its struct entry_block. */
struct datastore_part_block {
    const struct datastore_block *head;
    struct datastore_layout layout;
    const struct datastore_pair *pairs; /* [n_pairs] */
    const char *text;
    uint32_t *first_src;        /* [n_pairs] first source token of each pair;
                                   NULL: there are none */
    /* Copies of the arrays of the file, once a pair of the block was deleted;
     * NULL before. */
    float *norm;
    struct entry_span *span;
};

struct datastore_file {
    struct entries s;
    char *name;                 /* for messages */
    struct mapping map;
    bool mapped;                /* close map; otherwise the caller owns it */
    struct datastore_header head;
    bool slot_valid[2];
    struct datastore_part_block *parts; /* [s.n_blocks] */
    struct entry_map pca;       /* s.map points here, or s.map is NULL */
    bool *deleted;              /* [s.n_pairs] */
};

static inline struct datastore_file *datastore_file_of(const struct entries *s)
{
    return (struct datastore_file *)(uintptr_t)s;
}

#endif
