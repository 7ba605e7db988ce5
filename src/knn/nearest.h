/* nearest.h - a list of the nearest entries so far, in an order that does not
 * depend on the order in which they come: by distance, then pair, then
 * position. */
#ifndef KNN_NEAREST_H
#define KNN_NEAREST_H

#include <math.h>
#include <stdbool.h>

#include "knn/finder.h"

static inline bool nearest_before(const struct neighbor *a,
                                  const struct neighbor *b)
{
    if (a->d2 != b->d2) return a->d2 < b->d2;
    if (a->pair != b->pair) return a->pair < b->pair;
    return a->pos < b->pos;
}

/* Insert nb into the sorted list, which has n of at most k entries. Returns the
 * new number of entries. A distance that is not a number counts as infinite. */
static inline int nearest_insert(struct neighbor *list, int n, int k,
                                 struct neighbor nb)
{
    int at;

    if (isnan(nb.d2)) nb.d2 = INFINITY;
    if (n == k && !nearest_before(&nb, &list[k - 1])) return n;
    if (n < k) n++;
    for (at = n - 1; at > 0 && nearest_before(&nb, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = nb;
    return n;
}

#endif
