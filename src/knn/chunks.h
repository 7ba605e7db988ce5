/* chunks.h - search a datastore at some steps only, and between them among the
 * tokens that follow the neighbors found so far (Martins, Marinho and Martins,
 * EMNLP 2022; method 8.1).
 *
 * At the steps of a schedule, the datastore is searched, and each neighbor
 * brings a chunk: its entry and those that follow it in its pair. The entries
 * of all chunks of the sentence are its local store. At other steps the
 * neighbors come from the local store. It is small, so a query is compared with
 * all of it.
 *
 * The hypotheses of a sentence share the local store, different sentences do
 * not. A step is the number of tokens that the hypotheses have. A lookup sees
 * the entries that earlier steps have added, and the order of its result does
 * not depend on the order in which they were added. So neither the order of
 * rows nor the batch changes a translation, and an explanation can look up what
 * a step has seen.
 *
 * The object belongs to one sentence and is used by one thread at a time.
 * Nothing is allocated after chunks_new. There is room for the chunks of all
 * neighbors at all steps of the schedule, so the local store is never full. */
#ifndef KNN_CHUNKS_H
#define KNN_CHUNKS_H

#include "knn/entries.h"
#include "knn/finder.h"

struct chunks;                  /* opaque */

struct chunk_options {
    int size;                   /* target tokens of a chunk */
    int first_gap;              /* steps from the first search to the second */
    int longest_gap;            /* most steps from one search to the next; at
                                   least first_gap */
    int dims;                   /* if the datastore has a map, the local store
                                   has the first `dims` numbers of each key;
                                   otherwise it has whole keys */
};
struct chunk_options chunk_options_defaults(void);

struct chunk_limits {
    int rows;                   /* most queries of a step */
    int k;                      /* most neighbors of a query that are added */
    int steps;                  /* steps are 0 .. steps - 1 */
    int n_source;               /* tokens of the source, with special ones */
};

/* The step of the search that follows a search at step t. */
int chunks_next(const struct chunk_options *o, int n_source, int t);

/* Holds s. Fails with ST_ARGUMENT when an option is out of range. */
enum status chunks_new(struct chunks **out, struct entries *s,
                       const struct chunk_options *o,
                       const struct chunk_limits *l, struct err *e);
void chunks_free(struct chunks *c);             /* NULL is fine */

/* Whether the datastore is searched at this step. */
bool chunks_searches(const struct chunks *c, int step);

/* Add the chunks of n neighbors of one query. The calls come in the order of
 * their steps, which are steps of the schedule. An entry that is in the local
 * store already is not added again. */
void chunks_add(struct chunks *c, int step, const struct neighbor *nb, int n);
/* Entries of the local store that a lookup at this step sees. */
int chunks_count(const struct chunks *c, int step);

/* Find the k nearest entries of the local store for a decoder state, q
 * [s->d_model], at a step. Returns their number: k, or all if there are fewer.
 * They are ordered by distance, equal ones by pair and position. d2 is the
 * distance itself, not squared, so that weigh() with tau = T computes
 * softmax(-D / T). */
int chunks_nearest(struct chunks *c, int step, const float *q, int k,
                   struct neighbor *out);

#endif
