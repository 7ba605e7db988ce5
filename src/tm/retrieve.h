/* retrieve.h - a sentence to its most similar past pairs.
 *
 *   1. BM25 over the source side: the best `candidates` of each memory;
 *   2. re-ranked by edit similarity, stable: ties keep BM25's order;
 *   3. the length filter and the least similarity, when asked for;
 *   4. the memories' lists merged: each keeps its own order, and of their
 *      heads the most similar is next, then that of the memory with the higher
 *      priority, then the newer;
 *   5. several translations of one source exchange places among themselves,
 *      so that they stand in the order of precedence.h. The places that they
 *      take together do not change, nor do those of other pairs: a memory
 *      with one translation for each source is not affected;
 *   6. the first `top`.
 *
 * (Dai et al., "Simple and Scalable Nearest Neighbor Machine Translation",
 * 2023, with the details of their programs as options.) The similarity of two
 * texts is 1 - edits / length of the longer, in pieces of the tokenizer or in
 * words. RERANK_AUTHORS divides by the characters of the longer instead, when
 * its units are written with a space between them, as the authors' script
 * does.
 *
 * A retriever belongs to the thread of its store. */
#ifndef TM_RETRIEVE_H
#define TM_RETRIEVE_H

#include "tm/index.h"
#include "tm/similar.h"

enum rerank { RERANK_TOKEN, RERANK_NONE, RERANK_AUTHORS };

struct retrieve_options {
    int top;                    /* 16 */
    int candidates;             /* 64 */
    enum rerank rerank;
    bool length_filter;         /* 0.5 |src| < |tgt| < 2 |src|, in characters,
                                   and neither is a single one */
    double min_similarity;      /* by the same measure; 0: all */
};

struct match {
    int64_t text;
    int64_t memory;
    double similarity;          /* by the measure asked for; with RERANK_NONE
                                   still 1 - distance / length */
    double score;               /* BM25, in its own memory */
    int rank;                   /* by BM25 in its own memory, from 0 */
    int priority;               /* of its memory */
    uint64_t hash;              /* of the symbols of its source */
    uint32_t group;             /* of candidates with the same hash, from 1;
                                   0: no other candidate has it */
};
/* Behind the n matches, up to n + n_more, are translations of their sources
 * that were not among the first `top`. */
struct matches { struct match *at; size_t n, n_more, cap; };
void matches_release(struct matches *m);

struct retriever;
/* indexes[i] belongs to infos[i]; both borrowed, and the tokenizers too. sw may
 * be NULL: words. */
enum status retriever_new(struct retriever **out, struct store *s,
                          struct index *const *indexes,
                          const struct memory_info *infos, size_t n,
                          const struct analyzer *a, const struct subword *sw,
                          uint64_t tokenizer, struct err *e);
void retriever_free(struct retriever *rt);      /* NULL is fine */

/* Texts that share all their words have equal BM25 scores, and more of them
 * than `candidates` may be stored. Where a text that is the same as the query
 * is among the last of such a row, so many are looked at to find its other
 * translations. */
enum { RETRIEVE_MORE = 4096 };

/* Refreshes the indexes, then searches. Plain text, valid UTF-8. A text that
 * somebody removed while we looked may still be among the matches. */
enum status retrieve(struct retriever *rt, struct str text,
                     const struct retrieve_options *o, struct matches *out,
                     struct err *e);

#endif
