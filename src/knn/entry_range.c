/* entry_range.c - finds entries of a pair by binary search, because positions
 * may be missing. */
#include "knn/entry_range.h"

#include "base/invariant.h"

/* The first entry of [first, end) whose position is at least pos. */
static uint32_t first_at(const struct entry_block *b, uint32_t first,
                         uint32_t end, int pos)
{
    while (first < end) {
        uint32_t mid = first + (end - first) / 2;

        if (b->pos[mid] < pos) first = mid + 1;
        else end = mid;
    }
    return first;
}

struct entry_range entry_range_of(const struct entries *s, int32_t pair,
                                  int from, int to)
{
    const struct entry_block *b = entries_block_of(s, pair);
    struct entry_span span = b->span[pair - b->first_pair];
    uint32_t end = span.first + span.n;
    uint32_t first = first_at(b, span.first, end, from);

    assert(from <= to && end <= (uint32_t)b->n);
    return (struct entry_range){ b, (int)first,
                                 (int)(first_at(b, first, end, to) - first) };
}
