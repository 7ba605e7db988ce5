/* worker_search.h - the searches of large datastores that a worker keeps, one
 * for each datastore that its sentences use.
 *
 * A search has scratch memory, and the queue that the sentences of a batch
 * share. It is made when a sentence first needs it. Searches that no sentence
 * uses are dropped when another datastore needs one, so that a datastore that
 * was replaced does not stay open.
 *
 * A search is counted by its holders: the worker and the mixers, which may live
 * longer. One thread at a time uses a worker_search and its searches; any
 * thread may drop one. */
#ifndef KNN_WORKER_SEARCH_H
#define KNN_WORKER_SEARCH_H

#include "knn/entry_search.h"

struct worker_search;
struct held_search;

enum status worker_search_new(struct worker_search **out, struct err *e);
void worker_search_free(struct worker_search *ws);      /* NULL is fine */

/* The search of this datastore, held for the caller. */
enum status worker_search_get(struct worker_search *ws, struct entries *s,
                              struct held_search **out, struct err *e);
struct entry_search *held_search_of(const struct held_search *h);
void held_search_drop(struct held_search *h);           /* NULL is fine */

/* worker_search_new and _free in the form that struct steering_system needs. */
enum status worker_search_make(void **out, const struct backend *b,
                               struct err *e);
void worker_search_unmake(void *worker);

#endif
