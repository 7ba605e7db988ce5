/* toy_source.h - a source of pairs that is an array in main memory, for tests
 * of what uses sources. Its score is the number of different words (standard
 * analyzer, tags stripped) that a pair has in common with the query. It returns
 * texts and no symbols, and finds no ties. Pairs with equal texts are separate
 * texts. */
#ifndef TOY_SOURCE_H
#define TOY_SOURCE_H

#include "tm/source.h"

struct toy_source;              /* opaque */

/* The source has two memories: "main", and "second" with priority 1. Returns
 * NULL when out of memory. */
struct toy_source *toy_source_new(uint64_t identity);
void toy_source_free(struct toy_source *t);     /* NULL is fine */
struct pair_source *toy_source_of(struct toy_source *t);

/* memory: 0 or 1. tagged: both texts are in the tagged form. Returns the id of
 * the pair, or 0 when out of memory. A pair that is added later was confirmed
 * later. */
int64_t toy_source_add(struct toy_source *t, int memory, const char *source,
                       const char *target, bool tagged);
/* An unknown id is ignored. */
void toy_source_remove(struct toy_source *t, int64_t id);

#endif
