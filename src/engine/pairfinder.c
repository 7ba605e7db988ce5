/* pairfinder.c - searches a memory for pairs whose source is similar to each
 * sentence of a text. The pairs steer the translation of the sentence. If a
 * stored source is equal to the sentence (an exact match), its translation is
 * reused and the sentence is not decoded. The texts, tokens and keys of the
 * pairs of a sentence are a pairset (pairset.c); missing keys are computed in
 * datastore_builder.c.
 *
 * Invariants:
 *   - After pairfinder_run a sentence has a job, or is an exact match with a
 *     pairset, or was empty. `pending` of the result is its number of jobs.
 *   - No pairset has alternatives left when it is attached to a sentence. */
#include "engine/pairfinder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* Sentences of at most SHORT_PIECES pieces are searched again with this many
 * candidates; see search_more. */
enum { SHORT_PIECES = 6, MORE_CANDIDATES = 4096 };

struct pairfinder {
    const struct engine *en;
    struct options o;
    struct tmfile *tm;          /* NULL: only given pairs */
    struct key_cache *keys;
    struct tm_query q;
    struct matches found;
    struct strbuf plain[2];     /* source and target without tags */
};

/* ---- pairs from a memory ------------------------------------------------- */

/* Copy the texts of a match, for explanations and for exact matches. They stay
 * NULL when the pair was deleted meanwhile. */
static enum status pairfinder_copy_texts(struct pairfinder *pf,
                                         const struct match *m,
                                         struct steering_pair *to,
                                         struct err *e)
{
    const struct memory_info *info = tmfile_info(pf->tm, m->memory);
    struct str source, target;
    int64_t n;
    struct pair p;
    enum status st = store_text_pair(pf->tm->store, m->text, &p, &n, e);

    if (st || !n || !info) return st;
    source = p.unit.source;
    target = p.unit.target;
    if (p.unit.tagged) st = steering_pair_plain(pf->plain, &source, &target, e);
    to->pair = p.id;
    return st ? st
              : steering_pair_copy_texts(to, source, target, info->name, e);
}

/* Read a match from the store, and get its keys or tokens. *usable is false
 * when the pair was deleted meanwhile or a text is empty. */
static enum status pairfinder_fetch(struct pairfinder *pf,
                                    const struct match *m,
                                    struct steering_pair *to, bool *usable,
                                    struct err *e)
{
    struct str source, target;
    bool tagged;
    enum status st = store_text(pf->tm->store, m->text, &source, &target,
                                &tagged, usable, e);

    if (st || !*usable) return st;
    if (tagged) st = steering_pair_plain(pf->plain, &source, &target, e);
    if (!st)
        st = steering_pair_prepare(pf->en, pf->keys, source, target, to, e);
    *usable = to->keys || to->n_tgt > 0;
    return st;
}

/* Add a match to the pairs that steer. */
static enum status pairfinder_add_match(struct pairfinder *pf,
                                        const struct match *m,
                                        struct pairset *r, struct err *e)
{
    struct steering_pair *to = &r->pairs[r->n++];
    bool usable = false;
    enum status st;

    *to = (struct steering_pair){ .similarity = m->similarity };
    st = pairfinder_fetch(pf, m, to, &usable, e);
    if (!st && usable && (pf->o.explain || m->similarity >= 1))
        st = pairfinder_copy_texts(pf, m, to, e);
    if (st || usable) return st;
    steering_pair_release(to);
    r->n--;
    return ST_OK;
}

/* Add the other translations of the sources that were found. They do not steer;
 * only their texts are needed, and only if their source may be the sentence
 * itself. */
static enum status pairfinder_add_alternatives(struct pairfinder *pf,
                                               struct pairset *r,
                                               struct err *e)
{
    const struct matches *found = &pf->found;
    enum status st = ST_OK;

    for (size_t i = found->n; !st && i < found->n + found->n_more; i++) {
        const struct match *m = &found->at[i];
        struct steering_pair *to = &r->pairs[r->n + r->n_alternatives];

        if (m->similarity < 1) continue;
        *to = (struct steering_pair){ .similarity = m->similarity };
        r->n_alternatives++;
        st = pairfinder_copy_texts(pf, m, to, e);
        if (st || to->target) continue;
        r->n_alternatives--;    /* deleted meanwhile */
    }
    return st;
}

/* Read all matches in one transaction of the store. */
static enum status pairfinder_add_matches(struct pairfinder *pf,
                                          struct pairset *r, struct err *e)
{
    enum status st = store_begin_read(pf->tm->store, e), end;

    if (st) return st;
    r->has_texts = pf->o.explain;
    for (size_t i = 0; !st && i < pf->found.n; i++)
        st = pairfinder_add_match(pf, &pf->found.at[i], r, e);
    if (!st) st = pairfinder_add_alternatives(pf, r, e);
    end = store_commit(pf->tm->store, st ? NULL : e);
    assert((size_t)(r->n + r->n_alternatives) <=
           pf->found.n + pf->found.n_more);
    return st ? st : end;
}

static enum status pairfinder_search(struct pairfinder *pf, struct str text,
                                     struct pairset **out, struct err *e)
{
    enum status st = tmfile_search(pf->tm, text, &pf->q, &pf->found, e);

    *out = NULL;
    if (!st) st = pairset_new(out, pf->found.n + pf->found.n_more, e);
    if (!st) st = pairfinder_add_matches(pf, *out, e);
    if (st) {
        pairset_free(*out);
        *out = NULL;
    }
    return st;
}

/* Make a pairset of the pairs that the caller gave. */
static enum status pairfinder_use_given(struct pairfinder *pf,
                                        const struct similar_pair *given,
                                        int n, struct pairset **out,
                                        struct err *e)
{
    enum status st;

    if (n > options_pairs(&pf->o)) n = options_pairs(&pf->o);
    st = pairset_new(out, (size_t)n, e);
    if (!st) (*out)->has_texts = pf->o.explain;
    for (int i = 0; !st && i < n; i++) {
        struct steering_pair *to = &(*out)->pairs[(*out)->n++];

        to->similarity = fmin(fmax(given[i].similarity, 0), 1);
        st = steering_pair_prepare(pf->en, pf->keys, given[i].source,
                                   given[i].target, to, e);
        if (!st && pf->o.explain)
            st = steering_pair_copy_texts(to, given[i].source,
                                          given[i].target, "", e);
        if (!st && !to->keys && !to->n_tgt) {
            steering_pair_release(to);
            memset(to, 0, sizeof *to);
            (*out)->n--;
        }
    }
    if (st) {
        pairset_free(*out);
        *out = NULL;
    }
    return st;
}

/* ---- sentences of a text ------------------------------------------------- */

static struct str sentence_text(const struct result *r,
                                const struct sentence *s)
{
    return (struct str){ r->source + s->begin, s->end - s->begin };
}

/* Make the target of the first pair the translation of the sentence. The
 * sentence takes ownership of the pairset. */
static void pairfinder_use_exact(struct result *r, struct sentence *s,
                                 struct pairset *m)
{
    assert(m->n > 0 && !m->n_alternatives && m->pairs[0].target);
    assert(!s->pairset && r->pending >= (s->job != NULL));
    r->pending -= s->job != NULL;
    job_free(s->job);
    s->job = NULL;
    s->pairset = m;
    s->exact = true;
}

/* Whether lambda can be above 0 under these options. */
static bool options_steer(const struct options *o)
{
    return o->adapter == ADAPTER_DISTANCE ||
           (o->adapter == ADAPTER_FIXED && o->lambda > 0);
}

/* Let the pairs steer the sentence, which takes ownership of them. */
static enum status pairfinder_attach(struct pairfinder *pf, struct sentence *s,
                                     struct pairset *m, struct err *e)
{
    assert(s->job && !s->pairset && !m->n_alternatives);
    s->pairset = m;
    if (!m->n || !options_steer(&pf->o)) return ST_OK;
    s->job->mixer_data = &m->sk;
    if (!pf->o.explain) return ST_OK;
    return sk_sentence_alloc_votes(&m->sk, pf->o.nbest, s->job->max_len,
                                   options_k(&pf->o), e);
}

/* Search for an exact match among more candidates. So many stored texts share
 * all words of a very short text that an exact match may not be among the usual
 * candidates. */
static enum status search_more(struct pairfinder *pf, struct str text,
                               struct pairset **out, struct err *e)
{
    struct retrieve_options o = pf->q.o;
    enum status st;

    pf->q.o.candidates = MORE_CANDIDATES;
    pf->q.o.min_similarity = 1;
    pf->q.o.length_filter = false;
    st = pairfinder_search(pf, text, out, e);
    pf->q.o = o;
    return st;
}

/* Find the pairs of one sentence. An exact match becomes its translation if
 * may_reuse is set; else the pairs steer it. */
static enum status match_sentence(struct pairfinder *pf, struct result *r,
                                  struct sentence *s, bool may_reuse,
                                  struct err *e)
{
    struct str text = sentence_text(r, s);
    struct pairset *m, *more = NULL;
    enum status st = pairfinder_search(pf, text, &m, e);

    if (st) return st;
    if (!may_reuse) pairset_drop_alternatives(m);
    if (may_reuse && pairset_keep_exact(m, text)) {
        pairfinder_use_exact(r, s, m);
        return ST_OK;
    }
    if (may_reuse && s->n_pieces <= SHORT_PIECES)
        st = search_more(pf, text, &more, e);
    if (more && pairset_keep_exact(more, text)) {
        pairset_free(m);
        pairfinder_use_exact(r, s, more);
        return ST_OK;
    }
    pairset_free(more);
    if (!st) return pairfinder_attach(pf, s, m, e);
    pairset_free(m);
    return st;
}

/* If the n sentences from `first` on are stored together as one text, join them
 * to one sentence with the stored translation. `text` is their text. */
static enum status match_joined_sentences(struct pairfinder *pf,
                                          struct result *r, int first, int n,
                                          struct str text, bool *found,
                                          struct err *e)
{
    struct pairset *m;
    enum status st = pairfinder_search(pf, text, &m, e);

    *found = false;
    if (st) return st;
    if (!pairset_keep_exact(m, text)) {
        pairset_free(m);
        return ST_OK;
    }
    st = result_join_sentences(r, first, n, e);
    if (st) {
        pairset_free(m);
        return st;
    }
    pairfinder_use_exact(r, &r->sentences[first], m);
    *found = true;
    return ST_OK;
}

/* Look for a text of several sentences that is stored as a whole. */
static enum status match_whole_text(struct pairfinder *pf,
                                    struct result *r, bool *found,
                                    struct err *e)
{
    struct str text = str_trim((struct str){ r->source, r->source_len });

    return match_joined_sentences(pf, r, 0, r->n_sentences, text, found, e);
}

/* Look for stored sentences that were divided because they are long. If the
 * text is a single sentence, match_whole_text has looked for it already. */
static enum status match_divided_sentences(struct pairfinder *pf,
                                           struct result *r, struct err *e)
{
    enum status st = ST_OK;
    bool found;

    for (int i = 0; i < r->n_sentences && !st; i++) {
        struct sentence *s = &r->sentences[i];
        int n = 1;

        while (i + n < r->n_sentences && s[n].continues) n++;
        if (n == r->n_sentences) return ST_OK;  /* was the whole text */
        if (n == 1) continue;
        st = match_joined_sentences(pf, r, i, n,
                                    (struct str){ r->source + s->begin,
                                                  s[n - 1].end - s->begin },
                                    &found, e);
        if (!found) i += n - 1;
    }
    return st;
}

enum status pairfinder_run(struct pairfinder *pf, struct result *r,
                           const struct similar_pair *given, int n,
                           struct err *e)
{
    bool may_reuse = options_exact(&pf->o) == EXACT_USE && !given;
    bool done = false;
    enum status st = ST_OK;

    if (!given && !pf->tm) return ST_OK;
    for (int i = 0; i < r->n_sentences; i++)
        if (r->sentences[i].job && r->sentences[i].job->n_prefix)
            may_reuse = false;
    if (may_reuse && r->n_sentences > 1) {
        st = match_whole_text(pf, r, &done, e);
        if (!st && !done) st = match_divided_sentences(pf, r, e);
    }
    for (int i = 0; !st && !done && i < r->n_sentences; i++) {
        struct sentence *s = &r->sentences[i];
        struct pairset *m;

        if (!s->job) continue;
        if (!given) {
            st = match_sentence(pf, r, s, may_reuse, e);
        } else {
            st = pairfinder_use_given(pf, given, n, &m, e);
            if (!st) st = pairfinder_attach(pf, s, m, e);
        }
    }
    return st;
}

/* ---- creation and destruction -------------------------------------------- */

enum status make_tm_query(const struct options *o, const struct engine *en,
                          int matches, struct tm_query *q, struct err *e)
{
    *q = (struct tm_query){ .o = {
        .top = matches,
        .candidates = o->candidates > matches ? o->candidates : matches,
        .rerank = o->rerank, .length_filter = o->length_filter,
        .min_similarity = o->min_similarity } };
    if (en) {
        q->sw = en->w->subword;
        q->tokenizer = en->w->tokenizer;
    }
    if (o->analyzer != ANALYZER_SUBWORD) return ST_OK;
    if (!en)
        return err_set(e, ST_ARGUMENT, "analyzer: subword needs a model, "
                       "because it counts the model's pieces");
    q->analyzer = (struct analyzer){ q->sw, q->tokenizer };
    return ST_OK;
}

enum status pairfinder_new(struct pairfinder **out, const struct engine *en,
                           const struct options *o, struct tmfile *tm,
                           struct key_cache *keys, struct err *e)
{
    struct pairfinder *pf = calloc(1, sizeof *pf);
    enum status st;

    *out = NULL;
    if (!pf) return err_nomem(e, "translation memory search");
    pf->en = en;
    pf->o = *o;
    pf->tm = tm;
    pf->keys = keys;
    strbuf_init(&pf->plain[0], 0);
    strbuf_init(&pf->plain[1], 0);
    st = make_tm_query(o, en, options_pairs(o), &pf->q, e);
    if (st) pairfinder_free(pf);
    else *out = pf;
    return st;
}

void pairfinder_free(struct pairfinder *pf)
{
    if (!pf) return;
    matches_release(&pf->found);
    strbuf_release(&pf->plain[0]);
    strbuf_release(&pf->plain[1]);
    free(pf);
}
