/* retrieve.h - finds the stored pairs that are most similar to a sentence.
 *
 *   1. Each memory is searched by BM25 over its sources, for its best
 *      `candidates` texts.
 *   2. The candidates are sorted by edit similarity; ties keep BM25's order.
 *   3. The length filter and the minimum similarity are applied, if set.
 *   4. The lists of the memories are merged. Each keeps its own order. Of their
 *      heads, the most similar comes next; of equal ones that of the memory
 *      with the higher priority, then the newer text.
 *   5. Several translations of one source exchange places among themselves, so
 *      that they are in the order of precedence.h. The set of places that they
 *      occupy does not change, nor do other pairs move: a memory with one
 *      translation for each source is not affected.
 *   6. The first `top` are the result.
 *
 * The method is that of Dai et al., "Simple and Scalable Nearest Neighbor
 * Machine Translation", 2023; the details of their programs are options. The
 * similarity of two texts is 1 - edits / length of the longer, in pieces of the
 * tokenizer or in words. RERANK_AUTHORS divides by the number of characters of
 * the longer text instead, with a space between its units, as the authors'
 * script does.
 *
 * A retriever belongs to the thread of its store. */
#ifndef TM_RETRIEVE_H
#define TM_RETRIEVE_H

#include "base/enumlist.h"
#include "tm/index.h"
#include "tm/similar.h"

#define RERANKS(X)                                                          \
    X(RERANK_TOKEN, "token")                                                \
    X(RERANK_NONE, "none")                                                  \
    X(RERANK_AUTHORS, "authors")
enum rerank { RERANKS(ENUM_CONSTANT) };

struct retrieve_options {
    int top;                    /* default 16 */
    int candidates;             /* default 64 */
    enum rerank rerank;
    bool length_filter;         /* 0.5 |src| < |tgt| < 2 |src|, in characters,
                                   and neither is a single character */
    double min_similarity;      /* by the measure of rerank; 0: no minimum */
};

struct match {
    int64_t text;
    int64_t memory;
    double similarity;          /* by the measure of rerank; with RERANK_NONE
                                   1 - distance / length */
    double score;               /* BM25, in its memory */
    int rank;                   /* by BM25 in its memory, from 0 */
    int priority;               /* of its memory */
    uint64_t hash;              /* of the symbols of its source */
    uint32_t group;             /* number of the group of candidates with this
                                   hash, from 1; 0: it is the only one */
};
/* at[n] .. at[n + n_more - 1] are further translations of the sources of the n
 * matches; they were not among the first `top`. */
struct matches { struct match *at; size_t n, n_more, cap; };
void matches_release(struct matches *m);

struct retriever;
/* indexes[i] belongs to infos[i]. Both arrays and the tokenizers are borrowed.
 * sw is the tokenizer for similarity; NULL: words. */
enum status retriever_new(struct retriever **out, struct store *s,
                          struct index *const *indexes,
                          const struct memory_info *infos, size_t n,
                          const struct analyzer *a, const struct subword *sw,
                          uint64_t tokenizer, struct err *e);
void retriever_free(struct retriever *rt);      /* NULL is fine */

/* Texts with the same words have equal BM25 scores, and a memory may have more
 * of them than `candidates`. If the lowest score of the candidates is that of a
 * text equal to the query, this many hits are examined to find the other
 * translations of the query. */
enum { RETRIEVE_MORE = 4096 };

/* Refreshes the indexes, then searches. text: plain text, valid UTF-8. A text
 * that another process removes during the search may be among the matches. */
enum status retrieve(struct retriever *rt, struct str text,
                     const struct retrieve_options *o, struct matches *out,
                     struct err *e);

#endif
