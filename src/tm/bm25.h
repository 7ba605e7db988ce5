/* bm25.h - scores a query against segments and a tail, exactly.
 *
 *   score = sum over query words, with multiplicity, of
 *           idf * tf / (tf + k1 (1 - b + b length / average))
 *   idf   = ln(1 + (N - df + 0.5) / (df + 0.5)),  k1 = 1.2, b = 0.75
 *
 * as in Lucene (Robertson and Zaragoza 2009, without the constant factor
 * k1 + 1). The length is the one-byte length (length_byte.h), the average is
 * exact.
 *
 * What a posting adds is rounded once, to an integer, on a scale where 2^31 is
 * the highest score that the query can reach. Everything else is integer sums.
 * So neither the order of terms, blocks and segments nor pruning changes a
 * single bit of a score, and equal scores compare equal. The rounding error of
 * each query word is below 1e-9 of the highest possible score. */
#ifndef TM_BM25_H
#define TM_BM25_H

#include "tm/index.h"
#include "tm/segment.h"
#include "tm/tail.h"

struct bm25_parts {
    struct segment *const *segments;
    size_t n_segments;
    const struct tail *tail;
    const struct map64 *dead_df;        /* term hash to dead documents with
                                           it in segments; may be NULL */
    uint64_t n_docs, words;             /* live documents, and their terms */
};

struct bm25;                    /* scratch: sums, tables, the heap */
enum status bm25_new(struct bm25 **out, struct err *e);
void bm25_free(struct bm25 *b);                 /* NULL is fine */

/* Like index_search. hit.part is the index of the segment in the list, or
 * n_segments for the tail. *damaged is NULL, or a segment with wrong bytes;
 * then *n is 0. */
enum status bm25_search(struct bm25 *b, const struct bm25_parts *parts,
                        const struct terms *query, size_t top,
                        struct hit *hits, size_t *n,
                        struct segment **damaged, struct err *e);
/* Whether all sums are zero and a full heap is in heap order, as must hold
 * between two blocks; for PARANOID_CHECK. */
bool bm25_sound(const struct bm25 *b);

#endif
