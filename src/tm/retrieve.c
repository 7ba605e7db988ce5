/* retrieve.c - gets the candidates of each memory, sorts, filters and merges
 * them. retrieve.h describes the steps.
 *
 * Step 5 needs the texts of candidates, and reading them is slow. So candidates
 * whose sources have the same symbols are grouped by a hash first, and only
 * the texts of groups that reach the result are read and compared.
 *
 * Invariants: in each list, candidates before `next` are in the result or were
 * filtered out. Once the heads were skipped to unfiltered candidates, at[next]
 * of each list can be shown. Group numbers are 1 .. groups, and each group has
 * at least two members. Ordering translations permutes matches: none is lost
 * or repeated. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tm/retrieve.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "pair/tags.h"
#include "text/utf8.h"
#include "tm/precedence.h"

/* The candidates of one memory, in the order in which they are merged. */
struct candidate_list {
    struct match *at;
    size_t n, cap;
    size_t next;                /* the first that is not merged yet */
    size_t merge_end;           /* beyond the top, merge up to here */
    struct match *extra;        /* texts beyond the candidates whose source has
                                   the symbols of the query */
    size_t n_extra, cap_extra;
};

/* One of several translations of a source, while they are being ordered. */
struct same_source {
    struct match match;
    size_t place;               /* index in the matches */
    struct str source, target;  /* in retriever.texts; source is trimmed */
    size_t source_at, target_at;        /* their offsets there */
    struct precedence precedence;
};

struct retriever {
    struct store *store;
    struct index *const *indexes;       /* [n] */
    const struct memory_info *infos;    /* [n] */
    size_t n;
    struct analyzer analyzer;
    const struct subword *sw;           /* for symbols; NULL: words */
    uint64_t tokenizer;
    struct similar *similar;
    struct candidate_list *lists;        /* [n] */
    struct hit *hits;                   /* of one memory */
    size_t hits_cap;
    struct terms terms;                 /* of the query */
    struct symbols symbols;             /* of the query */
    struct strbuf plain;
    uint64_t hash;                      /* of the query's symbols */
    struct match **by_hash;             /* all candidates, sorted by hash */
    size_t by_hash_cap;
    bool *group_wanted;                 /* [groups + 1] has a member in the
                                           result; [0] is false */
    size_t wanted_cap;
    struct same_source *translations;
    size_t n_translations, translations_cap;
    struct strbuf texts;                /* of the translations */
};

void matches_release(struct matches *m)
{
    free(m->at);
    *m = (struct matches){ 0 };
}

void retriever_free(struct retriever *rt)
{
    if (!rt) return;
    for (size_t i = 0; rt->lists && i < rt->n; i++) {
        free(rt->lists[i].at);
        free(rt->lists[i].extra);
    }
    free(rt->by_hash);
    free(rt->group_wanted);
    free(rt->translations);
    strbuf_release(&rt->texts);
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
                          const struct analyzer *a, const struct subword *sw,
                          uint64_t tokenizer, struct err *e)
{
    struct retriever *rt = calloc(1, sizeof *rt);
    enum status st;

    *out = NULL;
    if (!rt) return err_nomem(e, "a search");
    *rt = (struct retriever){ .store = s, .indexes = indexes, .infos = infos,
                              .n = n, .analyzer = *a, .sw = sw,
                              .tokenizer = tokenizer };
    strbuf_init(&rt->plain, 0);
    strbuf_init(&rt->texts, 0);
    rt->lists = calloc(n ? n : 1, sizeof *rt->lists);
    st = rt->lists ? similar_new(&rt->similar, e) : err_nomem(e, "a search");
    if (st) retriever_free(rt);
    else *out = rt;
    return st;
}

/* ---- one memory ---------------------------------------------------------- */

static double retrieve_measure(size_t distance, const struct symbols *q,
                               size_t n, uint32_t chars, enum rerank by)
{
    if (by == RERANK_AUTHORS)
        return similarity(distance, q->chars, chars);
    return similarity(distance, q->n, n);
}

/* The most similar first; equal ones in BM25's order. */
static int by_similarity(const void *a, const void *b)
{
    const struct match *x = a, *y = b;

    if (x->similarity != y->similarity)
        return x->similarity < y->similarity ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static uint64_t symbols_hash(const uint32_t *at, size_t n)
{
    return XXH64(at, n * sizeof *at, 0);
}

/* Make a match of hit i of a memory. */
static enum status compare_hit(struct retriever *rt, size_t memory, size_t i,
                               const struct retrieve_options *o,
                               struct match *out, struct err *e)
{
    uint32_t chars = 0, *counted = o->rerank == RERANK_AUTHORS ? &chars : NULL;
    const struct hit *h = &rt->hits[i];
    const uint32_t *at;
    enum status st;
    size_t len;

    assert(memory < rt->n && i < rt->hits_cap);
    st = index_symbols(rt->indexes[memory], h, &at, &len, counted, e);
    if (st) return st;
    *out = (struct match){
        .text = h->text, .memory = rt->infos[memory].id,
        .similarity = retrieve_measure(similar_distance(rt->similar, at, len),
                                       &rt->symbols, len, chars, o->rerank),
        .score = h->score, .rank = (int)i,
        .priority = rt->infos[memory].priority,
        .hash = symbols_hash(at, len) };
    return ST_OK;
}

static enum status compare_hits(struct retriever *rt, size_t memory, size_t n,
                                const struct retrieve_options *o,
                                struct err *e)
{
    struct candidate_list *list = &rt->lists[memory];

    assert(n <= list->cap && n <= rt->hits_cap);
    for (size_t i = 0; i < n; i++) {
        enum status st = compare_hit(rt, memory, i, o, &list->at[i], e);

        if (st) return st;
    }
    list->n = n;
    if (o->rerank != RERANK_NONE)
        qsort(list->at, n, sizeof *list->at, by_similarity);
    return ST_OK;
}

/* Whether a candidate equals the query, and hits beyond the candidates may have
 * the same score. */
static bool more_exact_possible(const struct retriever *rt,
                                const struct candidate_list *list, size_t top)
{
    if (list->n < top || !top || top >= RETRIEVE_MORE) return false;
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].hash == rt->hash)
            return list->at[i].score <= rt->hits[top - 1].score;
    return false;
}

/* Find texts beyond the candidates whose source equals the query. */
static enum status find_more_exact(struct retriever *rt, size_t memory,
                                   const struct retrieve_options *o,
                                   struct err *e)
{
    struct candidate_list *list = &rt->lists[memory];
    size_t top = (size_t)o->candidates, n = 0;
    struct match m;
    enum status st;

    if (!more_exact_possible(rt, list, top)) return ST_OK;
    if (!mem_grow(&rt->hits, &rt->hits_cap, RETRIEVE_MORE, sizeof *rt->hits))
        return err_nomem(e, "the candidates of a search");
    st = index_search(rt->indexes[memory], &rt->terms, RETRIEVE_MORE, rt->hits,
                      &n, e);
    for (size_t i = top; !st && i < n; i++) {
        if (rt->hits[i].score < rt->hits[top - 1].score) break;
        st = compare_hit(rt, memory, i, o, &m, e);
        if (st || m.hash != rt->hash) continue;
        if (!mem_grow(&list->extra, &list->cap_extra, list->n_extra + 1,
                      sizeof *list->extra))
            return err_nomem(e, "the candidates of a search");
        list->extra[list->n_extra++] = m;
    }
    return st;
}

static enum status fill_list(struct retriever *rt, size_t memory,
                             const struct retrieve_options *o, struct err *e)
{
    struct candidate_list *list = &rt->lists[memory];
    struct index *ix = rt->indexes[memory];
    size_t n = 0, top = (size_t)o->candidates;
    enum status st;

    list->n = list->next = list->n_extra = 0;
    if (!mem_grow(&list->at, &list->cap, top, sizeof *list->at) ||
        !mem_grow(&rt->hits, &rt->hits_cap, top, sizeof *rt->hits))
        return err_nomem(e, "the candidates of a search");
    st = index_refresh(ix, e);
    if (!st) st = index_use_symbols(ix, rt->sw, rt->tokenizer, e);
    if (!st) st = index_search(ix, &rt->terms, top, rt->hits, &n, e);
    if (!st) st = compare_hits(rt, memory, n, o, e);
    if (!st) st = find_more_exact(rt, memory, o, e);
    return st;
}

/* ---- candidates with the same symbols ------------------------------------ */

static int match_by_hash(const void *a, const void *b)
{
    const struct match *x = *(struct match *const *)a;
    const struct match *y = *(struct match *const *)b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static enum status gather_candidates(struct retriever *rt, size_t *n,
                                     struct err *e)
{
    size_t total = 0;

    for (size_t i = 0; i < rt->n; i++)
        total += rt->lists[i].n + rt->lists[i].n_extra;
    *n = 0;
    if (!mem_grow(&rt->by_hash, &rt->by_hash_cap, total + 1,
                  sizeof *rt->by_hash) ||
        !mem_grow(&rt->group_wanted, &rt->wanted_cap, total + 1,
                  sizeof *rt->group_wanted))
        return err_nomem(e, "the candidates of a search");
    for (size_t i = 0; i < rt->n; i++) {
        struct candidate_list *l = &rt->lists[i];

        for (size_t k = 0; k < l->n; k++) rt->by_hash[(*n)++] = &l->at[k];
        for (size_t k = 0; k < l->n_extra; k++)
            rt->by_hash[(*n)++] = &l->extra[k];
    }
    return ST_OK;
}

/* Number the groups of two or more candidates with equal hashes. */
static enum status group_candidates(struct retriever *rt, uint32_t *groups,
                                    struct err *e)
{
    struct match **at;
    size_t n, end;
    enum status st = gather_candidates(rt, &n, e);

    *groups = 0;
    if (st) return st;
    at = rt->by_hash;
    qsort(at, n, sizeof *at, match_by_hash);
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && at[end]->hash == at[i]->hash;) end++;
        if (end == i + 1) continue;
        ++*groups;
        assert(*groups <= n / 2);
        for (size_t k = i; k < end; k++) at[k]->group = *groups;
    }
    return ST_OK;
}

/* ---- filters ------------------------------------------------------------- */

static enum status retrieve_characters(struct retriever *rt, struct str text,
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
    st = retrieve_characters(rt, source, tagged, &s, e);
    if (!st) st = retrieve_characters(rt, target, tagged, &t, e);
    *fits = s < 2 * t && t < 2 * s && s != 1 && t != 1;
    return st;
}

/* Move list->next to the next candidate that passes the filters. */
static enum status skip_filtered(struct retriever *rt,
                                 struct candidate_list *list,
                                 const struct retrieve_options *o,
                                 struct err *e)
{
    enum status st = ST_OK;
    bool fits = false;

    assert(list->next <= list->n);
    for (; list->next < list->n; list->next++) {
        const struct match *m = &list->at[list->next];

        fits = m->similarity >= o->min_similarity;
        if (fits && o->length_filter)
            st = length_fits(rt, m->text, &fits, e);
        if (st || fits) break;
    }
    return st;
}

/* ---- merging the lists --------------------------------------------------- */

static bool goes_before(const struct match *a, const struct match *b)
{
    if (a->similarity != b->similarity) return a->similarity > b->similarity;
    if (a->priority != b->priority) return a->priority > b->priority;
    return a->text > b->text;
}

/* The list whose head comes next, or NULL when all lists are empty. */
static struct candidate_list *best_head(struct retriever *rt)
{
    struct candidate_list *best = NULL;

    for (size_t i = 0; i < rt->n; i++) {
        struct candidate_list *l = &rt->lists[i];

        if (l->next < l->n &&
            (!best || goes_before(&l->at[l->next], &best->at[best->next])))
            best = l;
    }
    return best;
}

static enum status skip_filtered_heads(struct retriever *rt,
                                       const struct retrieve_options *o,
                                       struct err *e)
{
    enum status st = ST_OK;

    for (size_t i = 0; !st && i < rt->n; i++)
        st = skip_filtered(rt, &rt->lists[i], o, e);
    return st;
}

static enum status retrieve_merge_lists(struct retriever *rt,
                                        const struct retrieve_options *o,
                                        struct matches *out, struct err *e)
{
    enum status st;
    struct candidate_list *l;

    if (!mem_grow(&out->at, &out->cap, (size_t)o->top, sizeof *out->at))
        return err_nomem(e, "matches");
    st = skip_filtered_heads(rt, o, e);
    while (!st && out->n < (size_t)o->top && (l = best_head(rt))) {
        out->at[out->n++] = l->at[l->next++];
        if (out->n < (size_t)o->top) st = skip_filtered(rt, l, o, e);
    }
    return st;
}

/* ---- several translations of one source ---------------------------------- */

/* Mark the groups that have a member in the result, and set how far each list
 * must be merged to have all of their members. False: there is no such
 * group. */
static bool mark_groups(struct retriever *rt, const struct matches *out,
                        uint32_t groups)
{
    bool any = false;

    memset(rt->group_wanted, 0, (groups + 1) * sizeof *rt->group_wanted);
    for (size_t i = 0; i < out->n; i++) assert(out->at[i].group <= groups);
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].group) any = rt->group_wanted[out->at[i].group] = true;
    for (size_t i = 0; i < rt->n; i++) {
        struct candidate_list *l = &rt->lists[i];

        l->merge_end = l->next;
        for (size_t k = l->next; k < l->n; k++)
            if (rt->group_wanted[l->at[k].group]) l->merge_end = k + 1;
    }
    return any;
}

static bool lists_unfinished(const struct retriever *rt)
{
    for (size_t i = 0; i < rt->n; i++)
        if (rt->lists[i].next < rt->lists[i].merge_end) return true;
    return false;
}

static enum status add_wanted(const struct retriever *rt,
                              const struct match *m, struct matches *out,
                              struct err *e)
{
    if (!rt->group_wanted[m->group]) return ST_OK;
    if (!mem_grow(&out->at, &out->cap, out->n + 1, sizeof *out->at))
        return err_nomem(e, "matches");
    out->at[out->n++] = *m;
    return ST_OK;
}

/* Append the texts of find_more_exact. */
static enum status add_extra(struct retriever *rt,
                             const struct retrieve_options *o,
                             struct matches *out, struct err *e)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < rt->n; i++)
        for (size_t k = 0; !st && k < rt->lists[i].n_extra; k++) {
            const struct match *m = &rt->lists[i].extra[k];
            bool fits = true;

            if (o->length_filter) st = length_fits(rt, m->text, &fits, e);
            if (!st && fits) st = add_wanted(rt, m, out, e);
        }
    return st;
}

/* Append the other members of the wanted groups to the matches. */
static enum status merge_group_members(struct retriever *rt,
                                       const struct retrieve_options *o,
                                       struct matches *out, struct err *e)
{
    enum status st = skip_filtered_heads(rt, o, e);
    struct candidate_list *l;

    while (!st && lists_unfinished(rt) && (l = best_head(rt))) {
        st = add_wanted(rt, &l->at[l->next++], out, e);
        if (!st) st = skip_filtered(rt, l, o, e);
    }
    return st ? st : add_extra(rt, o, out, e);
}

static bool copy_translation_text(struct retriever *rt, struct str text,
                                  size_t *at)
{
    *at = rt->texts.len;
    return !text.n || strbuf_add(&rt->texts, text.p, text.n);
}

/* Read a match's texts and precedence. A text that was removed meanwhile is
 * skipped: it keeps its place. */
static enum status load_translation(struct retriever *rt,
                                    const struct matches *m, size_t place,
                                    struct err *e)
{
    struct same_source *t;
    struct str source, target;
    bool tagged, found;
    enum status st;

    if (!mem_grow(&rt->translations, &rt->translations_cap,
                  rt->n_translations + 1, sizeof *rt->translations))
        return err_nomem(e, "matches");
    t = &rt->translations[rt->n_translations];
    *t = (struct same_source){ .match = m->at[place], .place = place };
    st = store_text(rt->store, t->match.text, &source, &target, &tagged,
                    &found, e);
    if (st || !found) return st;
    st = precedence_source(source, tagged, &rt->plain, &t->source, e);
    if (st) return st;
    t->target = target;
    if (!copy_translation_text(rt, t->source, &t->source_at) ||
        !copy_translation_text(rt, t->target, &t->target_at))
        return err_nomem(e, "matches");
    st = precedence_read(rt->store, t->match.text, t->match.priority,
                         &t->precedence, e);
    if (!st && t->precedence.last.occurrences) rt->n_translations++;
    return st;
}

static enum status load_translations(struct retriever *rt,
                                     const struct matches *m, struct err *e)
{
    enum status st = ST_OK;

    rt->n_translations = 0;
    strbuf_reset(&rt->texts);
    for (size_t i = 0; !st && i < m->n; i++)
        if (m->at[i].group) st = load_translation(rt, m, i, e);
    for (size_t i = 0; i < rt->n_translations; i++) {   /* texts is complete */
        struct same_source *t = &rt->translations[i];

        t->source.p = rt->texts.data + t->source_at;
        t->target.p = rt->texts.data + t->target_at;
    }
    return st;
}

static int compare_str(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int d = n ? memcmp(a.p, b.p, n) : 0;

    return d ? d : a.n < b.n ? -1 : a.n > b.n;
}

static int compare_sources(const struct same_source *a,
                           const struct same_source *b)
{
    if (a->match.group != b->match.group)
        return a->match.group < b->match.group ? -1 : 1;
    return compare_str(a->source, b->source);
}

static int translation_by_place(const void *a, const void *b)
{
    const struct same_source *x = a, *y = b;
    int d = compare_sources(x, y);

    return d ? d : x->place < y->place ? -1 : x->place > y->place;
}

static int translation_by_precedence(const void *a, const void *b)
{
    const struct same_source *x = a, *y = b;
    int d = precedence_compare(&x->precedence, &y->precedence);

    return d ? d : x->place < y->place ? -1 : x->place > y->place;
}

static bool translations_differ(const struct same_source *t, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!str_eq(t[0].target, t[i].target)) return true;
    return false;
}

/* Put the n translations of one source, sorted by place, in the order of their
 * precedence. */
static void order_translations(struct same_source *t, size_t n,
                               struct matches *m)
{
    size_t k = 0;

    if (!translations_differ(t, n)) return;
    for (size_t i = 0; i < n; i++) {    /* text 0 marks a place to fill */
        assert(t[i].place < m->n && (!i || t[i].place > t[i - 1].place));
        m->at[t[i].place].text = 0;
    }
    qsort(t, n, sizeof *t, translation_by_precedence);
    for (size_t i = 0; i < m->n && k < n; i++)
        if (!m->at[i].text) m->at[i] = t[k++].match;
    assert(k == n);
}

static enum status order_sources(struct retriever *rt, struct matches *m,
                                 struct err *e)
{
    struct same_source *t;
    size_t end;
    enum status st = store_begin_read(rt->store, e), ended;

    if (st) return st;
    st = load_translations(rt, m, e);
    ended = store_commit(rt->store, st ? NULL : e);
    if (st || ended) return st ? st : ended;
    t = rt->translations;
    if (!rt->n_translations) return ST_OK;
    qsort(t, rt->n_translations, sizeof *t, translation_by_place);
    for (size_t i = 0; i < rt->n_translations; i = end) {
        for (end = i + 1; end < rt->n_translations &&
                          !compare_sources(&t[i], &t[end]);) end++;
        order_translations(t + i, end - i, m);
    }
    return ST_OK;
}

static enum status retrieve_merge(struct retriever *rt,
                                  const struct retrieve_options *o,
                                  struct matches *out, struct err *e)
{
    uint32_t groups = 0;
    size_t n;
    enum status st = group_candidates(rt, &groups, e);

    if (!st) st = retrieve_merge_lists(rt, o, out, e);
    if (st || !groups || !mark_groups(rt, out, groups)) return st;
    n = out->n;
    assert(n <= (size_t)o->top);
    st = merge_group_members(rt, o, out, e);
    if (!st) st = order_sources(rt, out, e);
    out->n_more = out->n - n;
    out->n = n;
    return st;
}

enum status retrieve(struct retriever *rt, struct str text,
                     const struct retrieve_options *o, struct matches *out,
                     struct err *e)
{
    enum status st;

    assert(o->top >= 0 && o->candidates >= 0);
    out->n = out->n_more = 0;
    st = analyze(&rt->analyzer, text, &rt->terms, e);
    if (!st) st = symbols_of(rt->sw, text, &rt->symbols, e);
    if (!st)
        st = similar_set(rt->similar, rt->symbols.at, rt->symbols.n, e);
    if (!st) rt->hash = symbols_hash(rt->symbols.at, rt->symbols.n);
    for (size_t i = 0; !st && i < rt->n; i++) st = fill_list(rt, i, o, e);
    if (!st) st = retrieve_merge(rt, o, out, e);
    return st;
}
