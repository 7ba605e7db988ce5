/* entry_range.h - the entries of a pair by their positions. */
#ifndef KNN_ENTRY_RANGE_H
#define KNN_ENTRY_RANGE_H

#include "knn/entries.h"

/* Entries [first, first + n) of a block. */
struct entry_range {
    const struct entry_block *block;
    int first, n;
};

/* The entries of a pair at positions from .. to - 1, in order. Positions may be
 * missing. There are none if the pair was deleted. */
struct entry_range entry_range_of(const struct entries *s, int32_t pair,
                                  int from, int to);

#endif
