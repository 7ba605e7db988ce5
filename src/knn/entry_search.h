/* entry_search.h - find the k nearest entries of a large datastore, for many
 * decoder states at once.
 *
 * A search reads all keys of the datastore (or those that an index names), so
 * it pays to search for many rows together. The worker of a batch has one
 * struct entry_search for each datastore. Mixers put rows into its queue
 * (entry_search_ask, in their `ask`), the batch runs it (struct pass_search),
 * and then the neighbors are where the mixers wanted them.
 *
 * Neighbors are ordered by distance, equal ones by block and entry. With the
 * exact search, d2 is the squared distance of the state, or of its image under
 * the map of the datastore, to the stored key; it is infinite if it is too
 * large for a float or not a number. The result for a state does not depend on
 * the other states, nor on the order of the queue.
 *
 * One thread at a time uses an entry_search. Nothing is allocated after
 * entry_search_new. */
#ifndef KNN_ENTRY_SEARCH_H
#define KNN_ENTRY_SEARCH_H

#include "knn/entries.h"
#include "knn/finder.h"
#include "nn/mixer.h"

struct entry_search;            /* opaque */
struct ivfpq;
struct pool;

/* Holds s. With an index (ivfpq.h), which is borrowed, the search is
 * approximate; index NULL: exact. The threads of the pool divide the keys among
 * them; this does not change the result. The pool is borrowed, and may be
 * NULL. */
enum status entry_search_new(struct entry_search **out, struct entries *s,
                             const struct ivfpq *index, struct pool *pool,
                             struct err *e);
void entry_search_free(struct entry_search *es);        /* NULL is fine */

/* Turn the use of the pool on or off. It is on at first. */
void entry_search_use_pool(struct entry_search *es, bool use);

/* To be used as mixer.search. */
struct pass_search *entry_search_pass(struct entry_search *es);

/* Put row `row` of the last pass of x into the queue: its state of the kind
 * that the keys have (entries.kind), which the pass must keep (mixer.want). The
 * run of the queue writes the k nearest entries to out [k], nearest first, and
 * their number to *found; both must stay valid until then. k is 1 .. KNN_MAX_K.
 * If the queue is full, it is run first. */
enum status entry_search_ask(struct entry_search *es, struct executor *x,
                             int row, int k, struct neighbor *out, int *found,
                             struct err *e);

/* Search for n states at once, q [n, ldq] of d_model floats each; n may be any
 * number. Rows that wait in the queue are answered too. The
 * neighbors of state i are written to out + i * k. *found is their number for
 * each state: the smaller of k and the number of entries (with an index it may
 * be less for some states; then missing ones have an infinite d2 and token
 * -1). */
enum status entry_search_states(struct entry_search *es, const float *q,
                                size_t ldq, int n, int k, struct neighbor *out,
                                int *found, struct err *e);

#endif
