/* bm25.h - score a query against segments and a tail, exactly.
 *
 *   score = sum over query words, with multiplicity, of
 *           idf * tf / (tf + k1 (1 - b + b length / average))
 *   idf   = ln(1 + (N - df + 0.5) / (df + 0.5)),  k1 = 1.2, b = 0.75
 *
 * as Lucene has it (Robertson and Zaragoza 2009, without the constant k1 + 1),
 * length being the one-byte length, the average exact.
 *
 * What a posting adds is rounded once, to a whole number: 2^31 stands for the
 * most the query could score. The rest is integer sums, so the order of terms,
 * blocks and segments, and skipping what cannot matter, change no bit, and
 * equal scores are equal. Rounding is below 1e-9 of the largest score for each
 * word. */
#ifndef TM_BM25_H
#define TM_BM25_H

#include "tm/index.h"
#include "tm/segment.h"
#include "tm/tail.h"

struct bm25_parts {
    struct segment *const *segments;
    size_t n_segments;
    const struct tail *tail;
    const struct map64 *dead_df;        /* term hash to dead documents that
                                           are still in segments */
    uint64_t n_docs, words;             /* of the live documents */
};

struct bm25;                    /* scratch: accumulators, tables, the heap */
enum status bm25_new(struct bm25 **out, struct err *e);
void bm25_free(struct bm25 *b);                 /* NULL is fine */

/* As index_search. hit.part is the segment's number in the list, or
 * n_segments for the tail. *damaged is the segment whose bytes are not right
 * (then *n is 0), or NULL. */
enum status bm25_search(struct bm25 *b, const struct bm25_parts *parts,
                        const struct terms *query, size_t top,
                        struct hit *hits, size_t *n,
                        struct segment **damaged, struct err *e);

#endif
