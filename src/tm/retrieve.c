/* retrieve.c - joins the two halves of retrieval: candidates of a source, and
 * their ranking. It looks into neither.
 *
 * Texts with the same words usually have equal scores, and a memory may have
 * more of them than `candidates`. If the lowest score of the candidates is that
 * of a text equal to the query, the source is asked for the others with this
 * score, to find the other translations of the query. */
#include "tm/retrieve.h"

#include <stdlib.h>

#include "base/invariant.h"

struct retriever {
    struct reranker *reranker;
    struct candidates found, ties;
};

void retriever_free(struct retriever *rt)
{
    if (!rt) return;
    reranker_free(rt->reranker);
    candidates_release(&rt->found);
    candidates_release(&rt->ties);
    free(rt);
}

enum status retriever_new(struct retriever **out, struct err *e)
{
    struct retriever *rt = calloc(1, sizeof *rt);
    enum status st;

    *out = NULL;
    if (!rt) return err_nomem(e, "a search");
    st = reranker_new(&rt->reranker, e);
    if (st) retriever_free(rt);
    else *out = rt;
    return st;
}

/* Give the candidates of one memory to the reranker. */
static enum status retrieve_add_list(struct retriever *rt,
                                     struct pair_source *from,
                                     const struct source_query *q,
                                     const struct candidate_list *l,
                                     struct err *e)
{
    enum status st = rerank_add(rt->reranker, &rt->found, l, e);

    if (st || l->n < q->top || !q->top || q->top >= SOURCE_TIES_MAX ||
        !rerank_wants_ties(rt->reranker))
        return st;
    st = source_find_ties(from, q, l->memory->id, &rt->ties, e);
    if (!st && rt->ties.n_lists)
        st = rerank_add_ties(rt->reranker, &rt->ties, rt->ties.lists, e);
    return st;
}

enum status retrieve(struct retriever *rt, struct pair_source *from,
                     struct str text, const struct retrieve_query *q,
                     struct matches *out, struct err *e)
{
    struct source_query s = { .text = text, .top = (size_t)q->candidates,
                              .analyzer = q->analyzer, .sw = q->sw,
                              .tokenizer = q->tokenizer,
                              .chars = q->o.rerank == RERANK_AUTHORS };
    enum status st;

    assert(q->o.top >= 0 && q->candidates >= 0);
    out->n = out->n_more = 0;
    st = source_find(from, &s, &rt->found, e);
    if (!st) st = rerank_begin(rt->reranker, text, q->sw, &q->o, e);
    for (size_t i = 0; !st && i < rt->found.n_lists; i++)
        st = retrieve_add_list(rt, from, &s, &rt->found.lists[i], e);
    return st ? st : rerank_end(rt->reranker, from, out, e);
}
