/* rerank.c - compares candidates with the query, sorts, filters and merges
 * them. rerank.h describes the steps. It does not search.
 *
 * Step 4 needs the texts of candidates, and reading them is slow. So candidates
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

#include "tm/rerank.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "pair/tags.h"
#include "text/utf8.h"
#include "tm/precedence.h"
#include "tm/similar.h"

/* The candidates of one memory, in the order in which they are merged. */
struct ranked_list {
    struct match *at;
    size_t n, cap;
    size_t next;                /* the first that is not merged yet */
    size_t merge_end;           /* beyond the top, merge up to here */
    double lowest;              /* the score of the last candidate */
    double equal;               /* the best score of a candidate that has the
                                   symbols of the query */
    bool has_equal;             /* there is one */
    struct match *extra;        /* further texts with these symbols */
    size_t n_extra, cap_extra;
};

/* One of several translations of a source, while they are being ordered. */
struct same_source {
    struct match match;
    size_t place;               /* index in the matches */
    bool found;                 /* it was not removed meanwhile */
    struct str source, target;  /* in reranker.texts; source is trimmed */
    size_t source_at, target_at;        /* their offsets there */
    struct precedence precedence;
};

struct reranker {
    struct rerank_options o;
    const struct subword *sw;           /* for symbols; NULL: words */
    struct pair_source *from;           /* during rerank_end */
    struct similar *similar;
    struct symbols query, scratch;      /* of the query, of a candidate */
    uint64_t hash;                      /* of the query's symbols */
    struct ranked_list *lists;
    size_t n, lists_cap;                /* lists of this query */
    size_t n_made;                      /* lists that have memory */
    struct strbuf plain;
    struct match **by_hash;             /* all candidates, sorted by hash */
    size_t by_hash_cap;
    bool *group_wanted;                 /* [groups + 1] has a member in the
                                           result; [0] is false */
    size_t wanted_cap;
    struct same_source *translations;
    size_t n_translations, translations_cap;
    struct source_want *wants;          /* [n_translations] */
    size_t wants_cap;
    struct strbuf texts;                /* of the translations */
};

void matches_release(struct matches *m)
{
    free(m->at);
    *m = (struct matches){ 0 };
}

void reranker_free(struct reranker *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->n_made; i++) {
        free(r->lists[i].at);
        free(r->lists[i].extra);
    }
    free(r->lists);
    free(r->by_hash);
    free(r->group_wanted);
    free(r->translations);
    free(r->wants);
    similar_free(r->similar);
    symbols_release(&r->query);
    symbols_release(&r->scratch);
    strbuf_release(&r->plain);
    strbuf_release(&r->texts);
    free(r);
}

enum status reranker_new(struct reranker **out, struct err *e)
{
    struct reranker *r = calloc(1, sizeof *r);
    enum status st;

    *out = NULL;
    if (!r) return err_nomem(e, "a search");
    strbuf_init(&r->plain, 0);
    strbuf_init(&r->texts, 0);
    st = similar_new(&r->similar, e);
    if (st) reranker_free(r);
    else *out = r;
    return st;
}

/* ---- one memory ---------------------------------------------------------- */

static uint64_t symbols_hash(const uint32_t *at, size_t n)
{
    return XXH64(at, n * sizeof *at, 0);
}

enum status rerank_begin(struct reranker *r, struct str text,
                         const struct subword *sw,
                         const struct rerank_options *o, struct err *e)
{
    enum status st = symbols_of(sw, text, &r->query, e);

    assert(o->top >= 0);
    r->o = *o;
    r->sw = sw;
    r->n = 0;
    if (!st) st = similar_set(r->similar, r->query.at, r->query.n, e);
    if (!st) r->hash = symbols_hash(r->query.at, r->query.n);
    return st;
}

/* The plain text of a text of a candidate. */
static enum status rerank_plain(struct reranker *r, struct str text,
                                bool tagged, struct str *out, struct err *e)
{
    *out = text;
    if (!tagged) return ST_OK;
    strbuf_reset(&r->plain);
    if (!tags_strip(text, &r->plain)) return err_nomem(e, "a text");
    *out = strbuf_view(&r->plain);
    return ST_OK;
}

struct symbol_view { const uint32_t *at; size_t n; uint32_t chars; };

/* The symbols that came with the candidate, or those of its text. */
static enum status symbols_of_candidate(struct reranker *r,
                                        const struct candidates *of,
                                        const struct candidate *c,
                                        struct symbol_view *out,
                                        struct err *e)
{
    struct str plain;
    enum status st;

    if (c->has_symbols) {
        *out = (struct symbol_view){ candidate_symbols(of, c), c->n_symbols,
                                     c->chars };
        return ST_OK;
    }
    assert(c->texts);
    st = rerank_plain(r, c->texts->source, c->texts->tagged, &plain, e);
    if (!st) st = symbols_of(r->sw, plain, &r->scratch, e);
    *out = (struct symbol_view){ r->scratch.at, r->scratch.n,
                                 r->scratch.chars };
    return st;
}

static double similarity_to(struct reranker *r, const struct symbol_view *s)
{
    size_t distance = similar_distance(r->similar, s->at, s->n);

    if (r->o.rerank == RERANK_AUTHORS)
        return similarity(distance, r->query.chars, s->chars);
    return similarity(distance, r->query.n, s->n);
}

/* The most similar first; equal ones in the order of the source. */
static int by_similarity(const void *a, const void *b)
{
    const struct match *x = a, *y = b;

    if (x->similarity != y->similarity)
        return x->similarity < y->similarity ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The next list, empty, with room for n matches. */
static struct ranked_list *new_list(struct reranker *r, size_t n)
{
    struct ranked_list *l;

    if (!mem_grow(&r->lists, &r->lists_cap, r->n + 1, sizeof *r->lists))
        return NULL;
    l = &r->lists[r->n];
    if (r->n == r->n_made) {
        *l = (struct ranked_list){ 0 };
        r->n_made++;
    }
    if (!mem_grow(&l->at, &l->cap, n + 1, sizeof *l->at)) return NULL;
    l->n = l->next = l->n_extra = 0;
    l->has_equal = false;
    r->n++;
    return l;
}

static struct match rerank_match(const struct candidate_list *l, size_t i,
                                 const struct candidate *c,
                                 const struct symbol_view *s)
{
    return (struct match){ .id = c->id, .memory = l->memory->id,
                           .score = c->score, .rank = (int)(l->rank + i),
                           .priority = l->memory->priority,
                           .hash = symbols_hash(s->at, s->n),
                           .texts = c->texts };
}

enum status rerank_add(struct reranker *r, const struct candidates *of,
                       const struct candidate_list *l, struct err *e)
{
    struct ranked_list *to = new_list(r, l->n);

    if (!to) return err_nomem(e, "the candidates of a search");
    for (size_t i = 0; i < l->n; i++) {
        const struct candidate *c = &of->at[l->begin + i];
        struct match *m = &to->at[i];
        struct symbol_view s;
        enum status st = symbols_of_candidate(r, of, c, &s, e);

        if (st) return st;
        *m = rerank_match(l, i, c, &s);
        m->similarity = similarity_to(r, &s);
        if (m->hash == r->hash && !to->has_equal) {
            to->has_equal = true;
            to->equal = c->score;
        }
        to->lowest = c->score;
    }
    to->n = l->n;
    if (r->o.rerank != RERANK_NONE)
        qsort(to->at, to->n, sizeof *to->at, by_similarity);
    return ST_OK;
}

bool rerank_wants_ties(const struct reranker *r)
{
    const struct ranked_list *l = &r->lists[r->n - 1];

    assert(r->n > 0);
    return l->has_equal && l->equal <= l->lowest;
}

enum status rerank_add_ties(struct reranker *r, const struct candidates *of,
                            const struct candidate_list *l, struct err *e)
{
    struct ranked_list *to = &r->lists[r->n - 1];
    enum status st = ST_OK;

    assert(r->n > 0);
    for (size_t i = 0; !st && i < l->n; i++) {
        const struct candidate *c = &of->at[l->begin + i];
        struct symbol_view s;
        struct match m;

        st = symbols_of_candidate(r, of, c, &s, e);
        if (st) break;
        m = rerank_match(l, i, c, &s);
        if (m.hash != r->hash) continue;
        m.similarity = similarity_to(r, &s);
        if (!mem_grow(&to->extra, &to->cap_extra, to->n_extra + 1,
                      sizeof *to->extra))
            return err_nomem(e, "the candidates of a search");
        to->extra[to->n_extra++] = m;
    }
    return st;
}

/* ---- candidates with the same symbols ------------------------------------ */

static int match_by_hash(const void *a, const void *b)
{
    const struct match *x = *(struct match *const *)a;
    const struct match *y = *(struct match *const *)b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static enum status gather_candidates(struct reranker *r, size_t *n,
                                     struct err *e)
{
    size_t total = 0;

    for (size_t i = 0; i < r->n; i++)
        total += r->lists[i].n + r->lists[i].n_extra;
    *n = 0;
    if (!mem_grow(&r->by_hash, &r->by_hash_cap, total + 1,
                  sizeof *r->by_hash) ||
        !mem_grow(&r->group_wanted, &r->wanted_cap, total + 1,
                  sizeof *r->group_wanted))
        return err_nomem(e, "the candidates of a search");
    for (size_t i = 0; i < r->n; i++) {
        struct ranked_list *l = &r->lists[i];

        for (size_t k = 0; k < l->n; k++) r->by_hash[(*n)++] = &l->at[k];
        for (size_t k = 0; k < l->n_extra; k++)
            r->by_hash[(*n)++] = &l->extra[k];
    }
    return ST_OK;
}

/* Number the groups of two or more candidates with equal hashes. */
static enum status group_candidates(struct reranker *r, uint32_t *groups,
                                    struct err *e)
{
    struct match **at;
    size_t n, end;
    enum status st = gather_candidates(r, &n, e);

    *groups = 0;
    if (st) return st;
    at = r->by_hash;
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

static enum status lengths_fit(struct reranker *r,
                               const struct candidate_texts *x, bool *fits,
                               struct err *e)
{
    size_t s, t;
    struct str plain;
    enum status st = rerank_plain(r, x->source, x->tagged, &plain, e);

    *fits = false;
    if (st) return st;
    s = utf8_count(plain.p, plain.n);
    st = rerank_plain(r, x->target, x->tagged, &plain, e);
    if (st) return st;
    t = utf8_count(plain.p, plain.n);
    *fits = s < 2 * t && t < 2 * s && s != 1 && t != 1;
    return ST_OK;
}

struct length_check { struct reranker *r; bool fits; };

static enum status check_fetched_lengths(void *user, size_t i,
                                         const struct source_pair *p,
                                         struct err *e)
{
    const struct unit *u = &p->pair.unit;
    const struct candidate_texts x = { u->source, u->target, u->tagged };
    struct length_check *c = user;

    (void)i;
    return p->found ? lengths_fit(c->r, &x, &c->fits, e) : ST_OK;
}

static enum status length_fits(struct reranker *r, const struct match *m,
                               bool *fits, struct err *e)
{
    const struct source_want want = { m->id, FETCH_TEXTS };
    struct length_check c = { .r = r };
    enum status st;

    if (m->texts) return lengths_fit(r, m->texts, fits, e);
    st = source_fetch(r->from, &want, 1, check_fetched_lengths, &c, e);
    *fits = c.fits;
    return st;
}

/* Move list->next to the next candidate that passes the filters. */
static enum status skip_filtered(struct reranker *r,
                                 struct ranked_list *list, struct err *e)
{
    enum status st = ST_OK;
    bool fits = false;

    assert(list->next <= list->n);
    for (; list->next < list->n; list->next++) {
        const struct match *m = &list->at[list->next];

        fits = m->similarity >= r->o.min_similarity;
        if (fits && r->o.length_filter)
            st = length_fits(r, m, &fits, e);
        if (st || fits) break;
    }
    return st;
}

/* ---- merging the lists --------------------------------------------------- */

static bool goes_before(const struct match *a, const struct match *b)
{
    if (a->similarity != b->similarity) return a->similarity > b->similarity;
    if (a->priority != b->priority) return a->priority > b->priority;
    return a->id > b->id;
}

/* The list whose head comes next, or NULL when all lists are empty. */
static struct ranked_list *best_head(struct reranker *r)
{
    struct ranked_list *best = NULL;

    for (size_t i = 0; i < r->n; i++) {
        struct ranked_list *l = &r->lists[i];

        if (l->next < l->n &&
            (!best || goes_before(&l->at[l->next], &best->at[best->next])))
            best = l;
    }
    return best;
}

static enum status skip_filtered_heads(struct reranker *r, struct err *e)
{
    enum status st = ST_OK;

    for (size_t i = 0; !st && i < r->n; i++)
        st = skip_filtered(r, &r->lists[i], e);
    return st;
}

static enum status merge_lists(struct reranker *r, struct matches *out,
                               struct err *e)
{
    size_t top = (size_t)r->o.top;
    struct ranked_list *l;
    enum status st;

    if (!mem_grow(&out->at, &out->cap, top, sizeof *out->at))
        return err_nomem(e, "matches");
    st = skip_filtered_heads(r, e);
    while (!st && out->n < top && (l = best_head(r))) {
        out->at[out->n++] = l->at[l->next++];
        if (out->n < top) st = skip_filtered(r, l, e);
    }
    return st;
}

/* ---- several translations of one source ---------------------------------- */

/* Mark the groups that have a member in the result, and set how far each list
 * must be merged to have all of their members. False: there is no such
 * group. */
static bool mark_groups(struct reranker *r, const struct matches *out,
                        uint32_t groups)
{
    bool any = false;

    memset(r->group_wanted, 0, (groups + 1) * sizeof *r->group_wanted);
    for (size_t i = 0; i < out->n; i++) assert(out->at[i].group <= groups);
    for (size_t i = 0; i < out->n; i++)
        if (out->at[i].group) any = r->group_wanted[out->at[i].group] = true;
    for (size_t i = 0; i < r->n; i++) {
        struct ranked_list *l = &r->lists[i];

        l->merge_end = l->next;
        for (size_t k = l->next; k < l->n; k++)
            if (r->group_wanted[l->at[k].group]) l->merge_end = k + 1;
    }
    return any;
}

static bool lists_unfinished(const struct reranker *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->lists[i].next < r->lists[i].merge_end) return true;
    return false;
}

static enum status add_wanted(const struct reranker *r,
                              const struct match *m, struct matches *out,
                              struct err *e)
{
    if (!r->group_wanted[m->group]) return ST_OK;
    if (!mem_grow(&out->at, &out->cap, out->n + 1, sizeof *out->at))
        return err_nomem(e, "matches");
    out->at[out->n++] = *m;
    return ST_OK;
}

/* Append the texts of rerank_add_ties. */
static enum status add_extra(struct reranker *r, struct matches *out,
                             struct err *e)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; !st && k < r->lists[i].n_extra; k++) {
            const struct match *m = &r->lists[i].extra[k];
            bool fits = true;

            if (r->o.length_filter) st = length_fits(r, m, &fits, e);
            if (!st && fits) st = add_wanted(r, m, out, e);
        }
    return st;
}

/* Append the other members of the wanted groups to the matches. */
static enum status merge_group_members(struct reranker *r,
                                       struct matches *out, struct err *e)
{
    enum status st = skip_filtered_heads(r, e);
    struct ranked_list *l;

    while (!st && lists_unfinished(r) && (l = best_head(r))) {
        st = add_wanted(r, &l->at[l->next++], out, e);
        if (!st) st = skip_filtered(r, l, e);
    }
    return st ? st : add_extra(r, out, e);
}

static bool copy_translation_text(struct reranker *r, struct str text,
                                  size_t *at)
{
    *at = r->texts.len;
    return !text.n || strbuf_add(&r->texts, text.p, text.n);
}

/* Copy the texts and the precedence of a translation. One that was removed
 * meanwhile is skipped: it keeps its place. */
static enum status load_translation(void *user, size_t i,
                                    const struct source_pair *p,
                                    struct err *e)
{
    struct reranker *r = user;
    struct same_source *t = &r->translations[i];
    const struct unit *u = &p->pair.unit;
    enum status st;

    t->found = p->found;
    if (!p->found) return ST_OK;
    st = precedence_source(u->source, u->tagged, &r->plain, &t->source, e);
    if (st) return st;
    t->target = u->target;
    if (!copy_translation_text(r, t->source, &t->source_at) ||
        !copy_translation_text(r, t->target, &t->target_at))
        return err_nomem(e, "matches");
    t->precedence = (struct precedence){ t->match.priority, p->confirmed };
    return ST_OK;
}

/* List the matches that belong to groups. */
static enum status list_translations(struct reranker *r,
                                     const struct matches *m, struct err *e)
{
    size_t n = 0;

    if (!mem_grow(&r->translations, &r->translations_cap, m->n,
                  sizeof *r->translations) ||
        !mem_grow(&r->wants, &r->wants_cap, m->n, sizeof *r->wants))
        return err_nomem(e, "matches");
    for (size_t i = 0; i < m->n; i++) {
        if (!m->at[i].group) continue;
        r->translations[n] = (struct same_source){ .match = m->at[i],
                                                   .place = i };
        r->wants[n++] = (struct source_want){ m->at[i].id,
                                              FETCH_TEXTS | FETCH_CONFIRMED };
    }
    r->n_translations = n;
    return ST_OK;
}

static enum status load_translations(struct reranker *r,
                                     const struct matches *m, struct err *e)
{
    size_t n = 0;
    enum status st = list_translations(r, m, e);

    strbuf_reset(&r->texts);
    if (!st) st = source_fetch(r->from, r->wants, r->n_translations,
                               load_translation, r, e);
    if (st) return st;
    for (size_t i = 0; i < r->n_translations; i++) {    /* texts is complete */
        struct same_source *t = &r->translations[i];

        if (!t->found) continue;
        t->source.p = r->texts.data + t->source_at;
        t->target.p = r->texts.data + t->target_at;
        r->translations[n++] = *t;
    }
    r->n_translations = n;
    return ST_OK;
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
    for (size_t i = 0; i < n; i++) {    /* id 0 marks a place to fill */
        assert(t[i].place < m->n && (!i || t[i].place > t[i - 1].place));
        m->at[t[i].place].id = 0;
    }
    qsort(t, n, sizeof *t, translation_by_precedence);
    for (size_t i = 0; i < m->n && k < n; i++)
        if (!m->at[i].id) m->at[i] = t[k++].match;
    assert(k == n);
}

static enum status order_sources(struct reranker *r, struct matches *m,
                                 struct err *e)
{
    struct same_source *t;
    size_t end;
    enum status st = load_translations(r, m, e);

    if (st || !r->n_translations) return st;
    t = r->translations;
    qsort(t, r->n_translations, sizeof *t, translation_by_place);
    for (size_t i = 0; i < r->n_translations; i = end) {
        for (end = i + 1; end < r->n_translations &&
                          !compare_sources(&t[i], &t[end]);) end++;
        order_translations(t + i, end - i, m);
    }
    return ST_OK;
}

enum status rerank_end(struct reranker *r, struct pair_source *from,
                       struct matches *out, struct err *e)
{
    uint32_t groups = 0;
    size_t n;
    enum status st = group_candidates(r, &groups, e);

    r->from = from;
    out->n = out->n_more = 0;
    if (!st) st = merge_lists(r, out, e);
    if (st || !groups || !mark_groups(r, out, groups)) return st;
    n = out->n;
    assert(n <= (size_t)r->o.top);
    st = merge_group_members(r, out, e);
    if (!st) st = order_sources(r, out, e);
    out->n_more = out->n - n;
    out->n = n;
    return st;
}
