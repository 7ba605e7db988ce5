/* asking.h - where the neighbors of a sentence's rows come from, if it uses a
 * datastore of all pairs: from the search that all sentences of a pass share,
 * from an earlier answer (query_cache.h), or from chunks (chunks.h).
 *
 * For each pass: asking_rows in the `ask` of the mixer, then the batch runs the
 * search, then asking_done in its `list`. Answers and chunks are kept by step,
 * which is the number of tokens before a row, so a sentence must take one step
 * in each pass: it may not have drafts.
 *
 * The object belongs to one sentence. Nothing is allocated after asking_new. */
#ifndef KNN_ASKING_H
#define KNN_ASKING_H

#include "knn/chunks.h"
#include "knn/query_cache.h"
#include "knn/worker_search.h"

struct asking;

struct asking_options {
    int k;                      /* neighbors of a row */
    int rows;                   /* most rows of a pass */
    int max_len;                /* steps are 0 .. max_len - 1 */
    int n_source;               /* tokens of the source, with special ones */
    double cache;               /* threshold of the cache; 0: none */
    const struct chunk_options *chunk;  /* NULL: search at every step */
};

/* s is borrowed; ws is used for this call only. Fails with ST_ARGUMENT when an
 * option is out of range. */
enum status asking_new(struct asking **out, struct entries *s,
                       struct worker_search *ws,
                       const struct asking_options *o, struct err *e);
void asking_free(struct asking *a);             /* NULL is fine */

struct pass_search *asking_search(const struct asking *a);

/* Find the neighbors of the rows, or ask for them: those of row i go to nb + i
 * * k, and their number to found[i]. They are there after the search. */
enum status asking_rows(struct asking *a, const struct mixer_rows *in,
                        struct neighbor *nb, int *found, struct err *e);
/* Keep what was found. */
enum status asking_done(struct asking *a, const struct mixer_rows *in,
                        const struct neighbor *nb, const int *found,
                        struct err *e);
/* Find the neighbors that the first n rows of a reading had in the search. */
enum status asking_again(struct asking *a, const struct mixer_reading *in,
                         int n, struct neighbor *nb, int *found,
                         struct err *e);
/* Whether the datastore is searched at this step; otherwise the neighbors come
 * from chunks, and their d2 is not squared. */
bool asking_searches(const struct asking *a, int step);

#endif
