/* skmt_search.c - the part of include/skmt.h that searches a memory file and
 * returns matches. The search itself is in tm/. */
#include <stdlib.h>

#include "api/public_pair.h"
#include "api/sized.h"
#include "api/tm_handle.h"
#include "engine/pairfinder.h"
#include "text/utf8.h"
#include "tm/similar.h"

struct public_match {
    skmt_match m;               /* points to `pair` */
    skmt_pair pair;
    struct strbuf text;         /* the strings of the pair */
    struct stretches edits;     /* differences from the query */
    bool compared;              /* edits is set; it is computed when it is
                                   first needed */
};

struct skmt_matches {
    char *query;
    struct public_match *at;
    size_t n;
};

static enum status skmt_search_check_text(struct str text, struct err *e)
{
    size_t good;

    if (!text.p) return err_set(e, ST_ARGUMENT, "the text is NULL");
    good = utf8_check(text.p, text.n);
    if (good == text.n) return ST_OK;
    return err_set(e, ST_TEXT, "the text is not valid UTF-8: byte %zu is "
                   "0x%02X", good, (unsigned char)text.p[good]);
}

static enum status matches_new(skmt_matches **out, const char *text, size_t n,
                               struct err *e)
{
    skmt_matches *m = calloc(1, sizeof *m);

    *out = m;
    if (!m) return err_nomem(e, "matches");
    m->query = strdup(text);
    m->at = calloc(n ? n : 1, sizeof *m->at);
    return m->query && m->at ? ST_OK : err_nomem(e, "matches");
}

struct match_reading { const struct matches *from; skmt_matches *to; };

/* Copy the pair of a match. A pair that was deleted meanwhile is left out. */
static enum status take_match(void *user, size_t i,
                              const struct source_pair *p, struct err *e)
{
    const struct match_reading *r = user;
    struct public_match *it = &r->to->at[r->to->n];

    if (!p->found) return ST_OK;
    r->to->n++;
    strbuf_init(&it->text, 0);
    it->m.pair = &it->pair;
    it->m.similarity = r->from->at[i].similarity;
    it->m.score = r->from->at[i].score;
    it->m.occurrences = p->occurrences;
    return public_pair(&it->text, &p->pair, p->memory, &it->pair, e);
}

static enum status skmt_search_take_matches(skmt_tm *tm,
                                            const struct matches *from,
                                            skmt_matches *to, struct err *e)
{
    struct match_reading r = { from, to };
    struct source_want *w = calloc(from->n + 1, sizeof *w);
    enum status st;

    if (!w) return err_nomem(e, "matches");
    for (size_t i = 0; i < from->n; i++)
        w[i] = (struct source_want){ from->at[i].id, FETCH_RECORD };
    st = source_fetch(tmfile_source(tm->f), w, from->n, take_match, &r, e);
    free(w);
    return st;
}

skmt_status skmt_tm_search(skmt_tm *tm, const char *text,
                           const skmt_options *options,
                           const skmt_model *model, skmt_matches **out,
                           skmt_error *err)
{
    struct options o = options_or_defaults(options);
    struct err *e = err_of(err);
    struct matches found = { 0 };
    skmt_matches *m = NULL;
    struct retrieve_query q;
    enum status st;

    *out = NULL;
    err_clear(e);
    st = skmt_search_check_text(str_of(text), e);
    if (!st) st = make_retrieve_query(&o, model ? engine_of(model) : NULL,
                                      options_matches(&o), &q, e);
    if (!st && !tm->retriever) st = retriever_new(&tm->retriever, e);
    if (!st) st = retrieve(tm->retriever, tmfile_source(tm->f), str_of(text),
                           &q, &found, e);
    if (!st) st = matches_new(&m, text, found.n, e);
    if (!st) st = skmt_search_take_matches(tm, &found, m, e);
    matches_release(&found);
    if (st) skmt_matches_free(m);
    else *out = m;
    return (skmt_status)st;
}

/* ---- matches ------------------------------------------------------------- */

int skmt_matches_count(const skmt_matches *m) { return (int)m->n; }

static struct public_match *match_at(const skmt_matches *m, int i)
{
    return i >= 0 && (size_t)i < m->n ? &m->at[i] : NULL;
}

void skmt_matches_get(const skmt_matches *m, int i, skmt_match *out)
{
    const struct public_match *match = match_at(m, i);

    sized_put(SIZED_skmt_match, out, match ? &match->m : &(skmt_match){
        .pair = public_pair_none() }, NULL);
}

static const char edit_kinds[] = { [EDIT_KEEP] = '=', [EDIT_DROP] = '-',
                                   [EDIT_ADD] = '+' };

int skmt_matches_edit(const skmt_matches *m, int i, int k, char *kind,
                      size_t *begin, size_t *end)
{
    struct public_match *match = match_at(m, i);
    const struct stretch *s;

    *kind = 0;
    *begin = *end = 0;
    if (!match) return 0;
    if (!match->compared)
        match->compared = !differences(str_of(match->pair.source),
                                       str_of(m->query), &match->edits, NULL);
    if (!match->compared || k < 0 || (size_t)k >= match->edits.n) return 0;
    s = &match->edits.at[k];
    *kind = edit_kinds[s->kind];
    *begin = s->begin;
    *end = s->end;
    return 1;
}

void skmt_matches_free(skmt_matches *m)
{
    if (!m) return;
    for (size_t i = 0; i < m->n; i++) {
        strbuf_release(&m->at[i].text);
        stretches_release(&m->at[i].edits);
    }
    free(m->at);
    free(m->query);
    free(m);
}

skmt_status skmt_compare(const char *stored, const char *text,
                         skmt_edit_fn *fn, void *user, skmt_error *err)
{
    struct err *e = err_of(err);
    struct stretches edits = { 0 };
    enum status st;

    err_clear(e);
    st = skmt_search_check_text(str_of(stored), e);
    if (!st) st = skmt_search_check_text(str_of(text), e);
    if (!st) st = differences(str_of(stored), str_of(text), &edits, e);
    for (size_t i = 0; !st && i < edits.n; i++) {
        const struct stretch *s = &edits.at[i];

        if (fn(user, edit_kinds[s->kind], s->begin, s->end))
            st = err_set(e, ST_CANCELED, "canceled");
    }
    stretches_release(&edits);
    return (skmt_status)st;
}
