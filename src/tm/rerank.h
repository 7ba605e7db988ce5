/* rerank.h - ranks the candidates of a source by edit similarity.
 *
 *   1. The candidates of each memory are sorted by similarity to the query;
 *      ties keep the order of the source.
 *   2. The length filter and the minimum similarity are applied, if set.
 *   3. The lists of the memories are merged. Each keeps its own order. Of their
 *      heads, the most similar comes next; of equal ones that of the memory
 *      with the higher priority, then the higher id, which is the newer pair.
 *   4. Several translations of one source exchange places among themselves, so
 *      that they are in the order of precedence.h. The set of places that they
 *      occupy does not change, nor do other pairs move: a memory with one
 *      translation for each source is not affected.
 *   5. The first `top` are the result.
 *
 * The method is that of Dai et al., "Simple and Scalable Nearest Neighbor
 * Machine Translation", 2023; the details of their programs are options. The
 * similarity of two texts is 1 - edits / length of the longer, in pieces of the
 * tokenizer or in words. RERANK_AUTHORS divides by the number of characters of
 * the longer text instead, with a space between its units, as the authors'
 * script does.
 *
 * A struct reranker is scratch memory for one thread. It is used in this order:
 * rerank_begin; rerank_add for each memory, perhaps followed by
 * rerank_add_ties for the same memory; rerank_end. */
#ifndef TM_RERANK_H
#define TM_RERANK_H

#include "base/enumlist.h"
#include "tm/source.h"

#define RERANKS(X)                                                          \
    X(RERANK_TOKEN, "token")                                                \
    X(RERANK_NONE, "none")                                                  \
    X(RERANK_AUTHORS, "authors")
enum rerank { RERANKS(ENUM_CONSTANT) };

struct rerank_options {
    int top;                    /* default 16 */
    enum rerank rerank;
    bool length_filter;         /* 0.5 |src| < |tgt| < 2 |src|, in characters,
                                   and neither is a single character */
    double min_similarity;      /* by the measure of rerank; 0: no minimum */
};

struct match {
    int64_t id;                 /* for source_fetch */
    int64_t memory;
    double similarity;          /* by the measure of rerank; with RERANK_NONE
                                   1 - distance / length */
    double score;               /* of the source, in its memory */
    int rank;                   /* by score in its memory, from 0 */
    int priority;               /* of its memory */
    uint64_t hash;              /* of the symbols of its source */
    uint32_t group;             /* number of the group of candidates with this
                                   hash, from 1; 0: it is the only one */
    const struct candidate_texts *texts;        /* of its candidate; NULL: not
                                   given. Valid until the next source_find. */
};
/* at[n] .. at[n + n_more - 1] are further translations of the sources of the n
 * matches; they were not among the first `top`. */
struct matches { struct match *at; size_t n, n_more, cap; };
void matches_release(struct matches *m);

struct reranker;                /* opaque */
enum status reranker_new(struct reranker **out, struct err *e);
void reranker_free(struct reranker *r);         /* NULL is fine */

/* Begin with a new query. text is plain text, sw the tokenizer for similarity
 * (NULL: words); it is borrowed until the next rerank_begin. */
enum status rerank_begin(struct reranker *r, struct str text,
                         const struct subword *sw,
                         const struct rerank_options *o, struct err *e);
/* Compare the candidates of a memory with the query. l is a list of `of`. The
 * texts of the candidates must stay valid until rerank_end; the lists need
 * not. */
enum status rerank_add(struct reranker *r, const struct candidates *of,
                       const struct candidate_list *l, struct err *e);
/* Whether a pair of the last list has the source of the query and scores no
 * better than the last pair of the list: then further ones may have the same
 * source and the same score. */
bool rerank_wants_ties(const struct reranker *r);
/* Add those candidates of l that have the source of the query to the list of
 * the memory that was added last. They become matches only as further
 * translations of the query. */
enum status rerank_add_ties(struct reranker *r, const struct candidates *of,
                            const struct candidate_list *l, struct err *e);
/* Rank all of them. The source `from` is asked for texts and dates where they
 * decide. */
enum status rerank_end(struct reranker *r, struct pair_source *from,
                       struct matches *out, struct err *e);

#endif
