/* retrieve.h - finds the stored pairs that are most similar to a sentence: asks
 * a source for candidates (source.h) and ranks them (rerank.h).
 *
 * A retriever is scratch memory for one thread. It may be used with any source
 * and query. */
#ifndef TM_RETRIEVE_H
#define TM_RETRIEVE_H

#include "tm/rerank.h"

struct retrieve_query {
    struct rerank_options o;
    int candidates;             /* of each memory; default 64 */
    struct analyzer analyzer;   /* defines the terms of BM25 */
    const struct subword *sw;   /* similarity counts its pieces; NULL: words */
    uint64_t tokenizer;         /* the hash that identifies sw */
};

struct retriever;               /* opaque */
enum status retriever_new(struct retriever **out, struct err *e);
void retriever_free(struct retriever *rt);      /* NULL is fine */

/* text: plain text, valid UTF-8. A pair that another process removes during the
 * search may be among the matches. */
enum status retrieve(struct retriever *rt, struct pair_source *from,
                     struct str text, const struct retrieve_query *q,
                     struct matches *out, struct err *e);

#endif
