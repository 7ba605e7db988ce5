/* query_cache.h - the answers to earlier queries of a sentence (Martins,
 * Marinho and Martins 2022; method 7.3).
 *
 * A query is a decoder state, and its answer is a list of neighbors. If a query
 * is near an earlier one of the same sentence, the answer of that one is used
 * again, and nothing is searched. The whole list is kept, so that a vote can be
 * explained.
 *
 * A step is the number of tokens that the hypotheses have. Queries of a step
 * see only what was stored in earlier steps, so the result does not depend on
 * the order of the rows of a pass. Calls of query_cache_find and
 * query_cache_add come in the order of their steps.
 *
 * A cache belongs to one sentence and is used by one thread at a time. Nothing
 * is allocated after query_cache_new. There is room for all queries of all
 * steps, so a cache is never full. */
#ifndef KNN_QUERY_CACHE_H
#define KNN_QUERY_CACHE_H

#include "base/err.h"
#include "knn/finder.h"

struct query_cache;             /* opaque */

struct query_cache_options {
    double threshold;           /* an answer is used again up to this distance
                                   (not squared) of the two queries; >= 0 */
    bool keep_reused;           /* whether queries that got the answer of
                                   another one are stored, too */
};

struct query_cache_limits {
    int d;                      /* numbers of a query */
    int k;                      /* most neighbors of an answer */
    int rows;                   /* most queries of a step */
    int steps;                  /* steps are 0 .. steps - 1 */
};

struct query_answer {
    int n;
    const struct neighbor *nb;  /* [n] nearest first; valid as long as the
                                   cache */
    float distance;             /* from the query to the one whose answer this
                                   is, not squared; 0 if it was searched */
};

enum status query_cache_new(struct query_cache **out,
                            const struct query_cache_options *o,
                            const struct query_cache_limits *l, struct err *e);
void query_cache_free(struct query_cache *c);           /* NULL is fine */

/* Look for an answer to q [d]. Returns false if there is none near enough; the
 * caller searches then, and adds the answer before the next step. */
bool query_cache_find(struct query_cache *c, int step, const float *q,
                      struct query_answer *out);
/* Store the answer that a search gave. n is at most k. */
void query_cache_add(struct query_cache *c, int step, const float *q,
                     const struct neighbor *nb, int n);
/* The answer that q got in this step: that of an earlier query, or its own.
 * Returns false if there was no such query. For explanations; any step, and
 * nothing changes. */
bool query_cache_recall(const struct query_cache *c, int step, const float *q,
                        struct query_answer *out);

struct query_cache_counts { int64_t asked, reused; };
struct query_cache_counts query_cache_counts(const struct query_cache *c);

#endif
