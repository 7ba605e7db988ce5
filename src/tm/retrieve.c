/* retrieve.c - see retrieve.h. */
#include "tm/retrieve.h"

#include <stdlib.h>

#include "base/mem.h"
#include "formats/tags.h"
#include "text/utf8.h"

/* One memory's candidates, in the order they are offered. */
struct list {
    struct match *at;
    size_t n, cap, next;
};

struct retriever {
    struct store *store;
    struct index *const *indexes;       /* [n] */
    const struct memory_info *infos;    /* [n] */
    size_t n;
    struct analyser analyser;
    const struct subword *sw;           /* of the symbols */
    uint64_t tokenizer;
    struct similar *similar;
    struct list *lists;                 /* [n] */
    struct hit *hits;                   /* one memory's */
    size_t hits_cap;
    struct terms terms;                 /* of the text that is looked for */
    struct symbols symbols;
    struct strbuf plain;
};

void matches_release(struct matches *m)
{
    free(m->at);
    *m = (struct matches){ 0 };
}

void retriever_free(struct retriever *rt)
{
    if (!rt) return;
    for (size_t i = 0; rt->lists && i < rt->n; i++) free(rt->lists[i].at);
    free(rt->lists);
    free(rt->hits);
    similar_free(rt->similar);
    terms_release(&rt->terms);
    symbols_release(&rt->symbols);
    strbuf_release(&rt->plain);
    free(rt);
}

enum status retriever_new(struct retriever **out, struct store *s,
                          struct index *const *indexes,
                          const struct memory_info *infos, size_t n,
                          const struct analyser *a, const struct subword *sw,
                          uint64_t tokenizer, struct err *e)
{
    struct retriever *rt = calloc(1, sizeof *rt);
    enum status st;

    *out = NULL;
    if (!rt) return err_nomem(e, "a search");
    *rt = (struct retriever){ .store = s, .indexes = indexes, .infos = infos,
                              .n = n, .analyser = *a, .sw = sw,
                              .tokenizer = tokenizer };
    strbuf_init(&rt->plain, 0);
    rt->lists = calloc(n ? n : 1, sizeof *rt->lists);
    st = rt->lists ? similar_new(&rt->similar, e) : err_nomem(e, "a search");
    if (st) retriever_free(rt);
    else *out = rt;
    return st;
}

/* ---- one memory ---------------------------------------------------------- */

static double measure(size_t distance, const struct symbols *q, size_t n,
                      uint32_t chars, enum rerank by)
{
    if (by == RERANK_AUTHORS)
        return similarity(distance, q->chars, chars);
    return similarity(distance, q->n, n);
}

/* Best first; equal ones as BM25 has them. */
static int by_similarity(const void *a, const void *b)
{
    const struct match *x = a, *y = b;

    if (x->similarity != y->similarity)
        return x->similarity < y->similarity ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static enum status compare_hits(struct retriever *rt, size_t memory, size_t n,
                                const struct retrieve_options *o,
                                struct err *e)
{
    struct list *list = &rt->lists[memory];
    uint32_t chars = 0, *counted = o->rerank == RERANK_AUTHORS ? &chars : NULL;
    const uint32_t *at;
    enum status st;
    size_t len;

    for (size_t i = 0; i < n; i++) {
        const struct hit *h = &rt->hits[i];
        double s;

        st = index_symbols(rt->indexes[memory], h, &at, &len, counted, e);
        if (st) return st;
        s = measure(similar_distance(rt->similar, at, len), &rt->symbols, len,
                    chars, o->rerank);
        list->at[i] = (struct match){
            .text = h->text, .memory = rt->infos[memory].id, .similarity = s,
            .score = h->score, .rank = (int)i,
            .priority = rt->infos[memory].priority };
    }
    list->n = n;
    if (o->rerank != RERANK_NONE)
        qsort(list->at, n, sizeof *list->at, by_similarity);
    return ST_OK;
}

static enum status fill_list(struct retriever *rt, size_t memory,
                             const struct retrieve_options *o, struct err *e)
{
    struct list *list = &rt->lists[memory];
    struct index *ix = rt->indexes[memory];
    size_t n = 0, top = (size_t)o->candidates;
    enum status st;

    list->n = list->next = 0;
    if (!mem_grow(&list->at, &list->cap, top, sizeof *list->at) ||
        !mem_grow(&rt->hits, &rt->hits_cap, top, sizeof *rt->hits))
        return err_nomem(e, "the candidates of a search");
    st = index_refresh(ix, e);
    if (!st) st = index_use_symbols(ix, rt->sw, rt->tokenizer, e);
    if (!st) st = index_search(ix, &rt->terms, top, rt->hits, &n, e);
    if (!st) st = compare_hits(rt, memory, n, o, e);
    return st;
}

/* ---- what is left out ---------------------------------------------------- */

static enum status characters(struct retriever *rt, struct str text,
                              bool tagged, size_t *n, struct err *e)
{
    strbuf_reset(&rt->plain);
    if (tagged) {
        if (!tags_strip(text, &rt->plain)) return err_nomem(e, "a text");
        text = (struct str){ rt->plain.data, rt->plain.len };
    }
    *n = utf8_count(text.p, text.n);
    return ST_OK;
}

static enum status length_fits(struct retriever *rt, int64_t text, bool *fits,
                               struct err *e)
{
    struct str source, target;
    size_t s = 0, t = 0;
    bool tagged, found;
    enum status st;

    *fits = false;
    st = store_text(rt->store, text, &source, &target, &tagged, &found, e);
    if (st || !found) return st;
    st = characters(rt, source, tagged, &s, e);
    if (!st) st = characters(rt, target, tagged, &t, e);
    *fits = s < 2 * t && t < 2 * s && s != 1 && t != 1;
    return st;
}

/* Go to the first of the list that may be shown. */
static enum status settle(struct retriever *rt, struct list *list,
                          const struct retrieve_options *o, struct err *e)
{
    enum status st = ST_OK;
    bool fits = false;

    for (; list->next < list->n; list->next++) {
        const struct match *m = &list->at[list->next];

        fits = m->similarity >= o->min_similarity;
        if (fits && o->length_filter)
            st = length_fits(rt, m->text, &fits, e);
        if (st || fits) break;
    }
    return st;
}

/* ---- all of them --------------------------------------------------------- */

static bool goes_before(const struct match *a, const struct match *b)
{
    if (a->similarity != b->similarity) return a->similarity > b->similarity;
    if (a->priority != b->priority) return a->priority > b->priority;
    return a->text > b->text;
}

static struct list *best_head(struct retriever *rt)
{
    struct list *best = NULL;

    for (size_t i = 0; i < rt->n; i++) {
        struct list *l = &rt->lists[i];

        if (l->next < l->n &&
            (!best || goes_before(&l->at[l->next], &best->at[best->next])))
            best = l;
    }
    return best;
}

static enum status merge(struct retriever *rt,
                         const struct retrieve_options *o,
                         struct matches *out, struct err *e)
{
    enum status st = ST_OK;
    struct list *l;

    if (!mem_grow(&out->at, &out->cap, (size_t)o->top, sizeof *out->at))
        return err_nomem(e, "matches");
    for (size_t i = 0; !st && i < rt->n; i++)
        st = settle(rt, &rt->lists[i], o, e);
    while (!st && out->n < (size_t)o->top && (l = best_head(rt))) {
        out->at[out->n++] = l->at[l->next++];
        if (out->n < (size_t)o->top) st = settle(rt, l, o, e);
    }
    return st;
}

enum status retrieve(struct retriever *rt, struct str text,
                     const struct retrieve_options *o, struct matches *out,
                     struct err *e)
{
    enum status st;

    out->n = 0;
    st = analyse(&rt->analyser, text, &rt->terms, e);
    if (!st) st = symbols_of(rt->sw, text, &rt->symbols, e);
    if (!st)
        st = similar_set(rt->similar, rt->symbols.at, rt->symbols.n, e);
    for (size_t i = 0; !st && i < rt->n; i++) st = fill_list(rt, i, o, e);
    if (!st) st = merge(rt, o, out, e);
    return st;
}
