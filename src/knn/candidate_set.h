/* candidate_set.h - the candidates of a sentence: the entries of a datastore
 * that its decoder states are compared with in system fast (method 9.2).
 *
 * Keys are copied from the datastore, so that a search reads adjacent memory,
 * and get the norm 1. A search finds the candidates with the largest cosine.
 * d2 of a neighbor is 1 - cosine, so that weigh() with tau = T computes
 * softmax(cosine / T). If the datastore has a map, the image of the state is
 * compared.
 *
 * A set belongs to one sentence and is used by one thread at a time. Searching
 * allocates nothing. */
#ifndef KNN_CANDIDATE_SET_H
#define KNN_CANDIDATE_SET_H

#include "knn/finder.h"
#include "knn/source_index.h"

struct candidate_set;           /* opaque */

/* Copy the keys of the candidates, which are sorted and all different. A key
 * that is zero or not finite has no direction and is left out. With KEY_INT8
 * and a datastore of int8 keys no precision is lost. Holds s. Fails with
 * ST_NOMEM only. */
enum status candidate_set_new(struct candidate_set **out, struct entries *s,
                              const struct place_list *list,
                              enum key_type type, struct err *e);
void candidate_set_free(struct candidate_set *cs);      /* NULL is fine */
int candidate_set_count(const struct candidate_set *cs);

/* The finder of the set. It reads the states of the rows (s->kind). Each query
 * has min(k, count) neighbors; equal cosines are ordered by pair and position.
 * A query that is zero has the same distance to all. */
const struct finder *candidate_set_finder(const struct candidate_set *cs);

#endif
