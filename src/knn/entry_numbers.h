/* entry_numbers.h - numbers for the entries of a large datastore.
 *
 * An index needs one number for each entry. Entries are numbered from 0 in the
 * order of the blocks, and in each block in their order. Deleted entries keep
 * their numbers; padding has none. Blocks that are added later do not change
 * the numbers of the others.
 *
 * Threads may share a struct entry_numbers. */
#ifndef KNN_ENTRY_NUMBERS_H
#define KNN_ENTRY_NUMBERS_H

#include <math.h>

#include "knn/entries.h"

struct entry_numbers {
    const struct entries *entries;      /* borrowed */
    int64_t *first;             /* [n_blocks + 1] number of the first entry of
                                   each block; at last the number of entries */
};

enum status entry_numbers_init(struct entry_numbers *t,
                               const struct entries *s, struct err *e);
/* A zeroed struct is fine. */
void entry_numbers_release(struct entry_numbers *t);

/* The number of entries, with deleted ones. */
static inline int64_t entry_numbers_total(const struct entry_numbers *t)
{
    return t->first[t->entries->n_blocks];
}

/* The block of an entry, and its index in the block. The number must be below
 * the total. */
const struct entry_block *entry_numbers_find(const struct entry_numbers *t,
                                             int64_t number, int *i);

/* Whether entry i of a block was deleted. */
static inline bool entry_is_deleted(const struct entry_block *b, int i)
{
    return !isfinite(b->norm[i]);
}

#endif
