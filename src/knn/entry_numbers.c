/* entry_numbers.c - adds up the sizes of blocks, and finds the block of a
 * number by binary search. */
#include "knn/entry_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

enum status entry_numbers_init(struct entry_numbers *t,
                               const struct entries *s, struct err *e)
{
    t->entries = s;
    t->first = calloc((size_t)s->n_blocks + 1, sizeof *t->first);
    if (!t->first) return err_nomem(e, "numbers of entries");
    for (int b = 0; b < s->n_blocks; b++)
        t->first[b + 1] = t->first[b] + s->blocks[b].n;
    return ST_OK;
}

void entry_numbers_release(struct entry_numbers *t)
{
    free(t->first);
    memset(t, 0, sizeof *t);
}

const struct entry_block *entry_numbers_find(const struct entry_numbers *t,
                                             int64_t number, int *i)
{
    int low = 0, high = t->entries->n_blocks - 1;

    assert(number >= 0 && number < entry_numbers_total(t));
    while (low < high) {        /* the last block that begins at or before */
        int mid = low + (high - low + 1) / 2;

        if (t->first[mid] <= number) low = mid;
        else high = mid - 1;
    }
    *i = (int)(number - t->first[low]);
    assert(*i < t->entries->blocks[low].n);
    return &t->entries->blocks[low];
}
