/* pairset.c - finds the stored pairs for each sentence of a text, with their
 * keys or the tokens to make keys of, and takes the stored translation of a
 * sentence that is the same; see pairset.h. */
#include "engine/pairfinder.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/tags.h"

/* Memory texts are read up to so many pieces, as the reference does. */
enum { MOST_PIECES = 199 };

enum { SHORT_PIECES = 6, MORE_CANDIDATES = 4096 };

struct pairfinder {
    const struct engine *en;
    struct options o;
    struct tmfile *tm;          /* NULL: none */
    struct key_cache *keys;
    struct tm_query q;
    struct matches found;
    struct strbuf plain[2];     /* source and target without their tags */
};

/* ---- pairs of a sentence ---------------------------------------------------- */

static void steering_pair_release(struct steering_pair *p)
{
    pair_keys_drop(p->keys);
    free(p->ids);
    free(p->source);
    free(p->target);
    free(p->memory);
}

void pairset_free(struct pairset *r)
{
    if (!r) return;
    for (int i = 0; i < r->n + r->n_more; i++)
        steering_pair_release(&r->pairs[i]);
    free(r->pairs);
    sk_sentence_release(&r->sk);
    free(r);
}

void pairset_drop_keys(struct pairset *r)
{
    for (int i = 0; i < r->n; i++) {
        pair_keys_drop(r->pairs[i].keys);
        r->pairs[i].keys = NULL;
        free(r->pairs[i].ids);
        r->pairs[i].ids = NULL;
    }
}

static enum status pairset_new(struct pairset **out, size_t most, struct err *e)
{
    struct pairset *r = calloc(1, sizeof *r);

    *out = NULL;
    if (r) r->pairs = calloc(most ? most : 1, sizeof *r->pairs);
    if (!r || !r->pairs) {
        free(r);
        return err_nomem(e, "memory pairs");
    }
    *out = r;
    return ST_OK;
}

/* ---- pairs as tokens ----------------------------------------------------- */

uint64_t pairset_fingerprint(const struct engine *en, const struct options *o)
{
    uint64_t parts[] = { mfile_id(en->w->file), options_knn_eos(o),
                         MOST_PIECES };

    return key_id_of(parts, sizeof parts).lo;
}

struct key_id steering_pair_id(struct str source, struct str target)
{
    struct key_id both[] = { key_id_of(source.p, source.n),
                             key_id_of(target.p, target.n) };

    return key_id_of(both, sizeof both);
}

enum status steering_pair_keys(struct key_cache *keys, struct steering_pair *p,
                               struct err *e)
{
    enum status st = p->asked
                     ? key_cache_get_again(keys, p->id, &p->keys, e)
                     : key_cache_get(keys, p->id, &p->keys, e);

    p->asked = true;
    if (!st || st == ST_NOMEM) return st;
    err_clear(e);
    return ST_OK;
}

static enum status encode_side(const struct engine *en, struct str text,
                               struct pieces *p, struct err *e)
{
    size_t most = (size_t)en->net->max_pos - 2;
    enum status st = subword_encode(en->w->subword, text.p ? text.p : "",
                                    text.n, p, e);

    if (most > MOST_PIECES) most = MOST_PIECES;
    if (p->n > most) p->n = most;
    return st;
}

static enum status join_sides(const struct engine *en,
                              const struct pieces *src,
                              const struct pieces *tgt,
                              struct steering_pair *to, struct err *e)
{
    const struct config *c = &en->w->cfg;
    int32_t *at = malloc((src->n + tgt->n + 2) * sizeof *at);

    if (!at) return err_nomem(e, "memory pairs");
    to->ids = at;
    if (c->prefix_id >= 0) *at++ = c->prefix_id;
    for (size_t i = 0; i < src->n; i++) *at++ = src->at[i].id;
    if (c->suffix_id >= 0) *at++ = c->suffix_id;
    to->n_src = (int)(at - to->ids);
    for (size_t i = 0; i < tgt->n; i++) *at++ = tgt->at[i].id;
    to->n_tgt = src->n ? (int)tgt->n : 0;
    return ST_OK;
}

enum status steering_pair_encode(const struct engine *en, struct str source,
                               struct str target, struct steering_pair *to,
                               struct err *e)
{
    struct pieces src = { 0 }, tgt = { 0 };
    enum status st = encode_side(en, source, &src, e);

    if (!st) st = encode_side(en, target, &tgt, e);
    if (!st) st = join_sides(en, &src, &tgt, to, e);
    pieces_release(&src);
    pieces_release(&tgt);
    return st;
}

enum status steering_pair_prepare(const struct engine *en,
                                  struct key_cache *keys, struct str source,
                                  struct str target, struct steering_pair *to,
                                  struct err *e)
{
    enum status st;

    to->id = steering_pair_id(source, target);
    st = steering_pair_keys(keys, to, e);
    if (st || to->keys) return st;
    return steering_pair_encode(en, source, target, to, e);
}

static char *pairfinder_copy(struct str s)
{
    char *p = malloc(s.n + 1);

    if (p && s.n) memcpy(p, s.p, s.n);
    if (p) p[s.n] = 0;
    return p;
}

static enum status keep_texts(struct steering_pair *to, struct str source,
                              struct str target, const char *memory,
                              struct err *e)
{
    to->source = pairfinder_copy(source);
    to->target = pairfinder_copy(target);
    to->memory = pairfinder_copy(str_of(memory));
    return to->source && to->target && to->memory
        ? ST_OK : err_nomem(e, "memory pairs");
}

/* ---- one pair -------------------------------------------------------------- */

enum status steering_pair_plain(struct strbuf *sb, struct str *source,
                                struct str *target, struct err *e)
{
    strbuf_reset(&sb[0]);
    strbuf_reset(&sb[1]);
    if (!tags_strip(*source, &sb[0]) || !tags_strip(*target, &sb[1]))
        return err_nomem(e, "memory pairs");
    *source = strbuf_view(&sb[0]);
    *target = strbuf_view(&sb[1]);
    return ST_OK;
}

/* For who reads an explanation, and what an exact match becomes. */
static enum status pairfinder_keep_pair(struct pairfinder *rc,
                                        const struct match *m,
                                        struct steering_pair *to,
                                        struct err *e)
{
    const struct memory_info *info = tmfile_info(rc->tm, m->memory);
    struct str source, target;
    int64_t n;
    struct pair p;
    enum status st = store_text_pair(rc->tm->store, m->text, &p, &n, e);

    if (st || !n || !info) return st;
    source = p.unit.source;
    target = p.unit.target;
    if (p.unit.tagged) st = steering_pair_plain(rc->plain, &source, &target, e);
    to->pair = p.id;
    return st ? st : keep_texts(to, source, target, info->name, e);
}

/* *there: the text is, and says something. */
static enum status fetch(struct pairfinder *rc, const struct match *m,
                         struct steering_pair *to, bool *there, struct err *e)
{
    struct str source, target;
    bool tagged;
    enum status st = store_text(rc->tm->store, m->text, &source, &target,
                                &tagged, there, e);

    if (st || !*there) return st;
    if (tagged) st = steering_pair_plain(rc->plain, &source, &target, e);
    if (!st)
        st = steering_pair_prepare(rc->en, rc->keys, source, target, to, e);
    *there = to->keys || to->n_tgt > 0;
    return st;
}

static enum status pairfinder_take(struct pairfinder *rc, const struct match *m,
                                   struct pairset *r, struct err *e)
{
    struct steering_pair *to = &r->pairs[r->n++];
    bool there = false;
    enum status st;

    *to = (struct steering_pair){ .similarity = m->similarity };
    st = fetch(rc, m, to, &there, e);
    if (!st && there && (rc->o.explain || m->similarity >= 1))
        st = pairfinder_keep_pair(rc, m, to, e);
    if (st || there) return st;
    steering_pair_release(to);  /* gone meanwhile, or nothing in it */
    r->n--;
    return ST_OK;
}

/* Other translations of the sources, which do not steer: of them only the
 * texts are needed, and only where the sentence is the same. */
static enum status take_more(struct pairfinder *rc, struct pairset *r,
                             struct err *e)
{
    const struct matches *found = &rc->found;
    enum status st = ST_OK;

    for (size_t i = found->n; !st && i < found->n + found->n_more; i++) {
        const struct match *m = &found->at[i];
        struct steering_pair *to = &r->pairs[r->n + r->n_more];

        if (m->similarity < 1) continue;
        *to = (struct steering_pair){ .similarity = m->similarity };
        r->n_more++;
        st = pairfinder_keep_pair(rc, m, to, e);
        if (st || to->target) continue;
        r->n_more--;            /* removed meanwhile */
    }
    return st;
}

static enum status take_all(struct pairfinder *rc, struct pairset *r,
                            struct err *e)
{
    enum status st = store_begin_read(rc->tm->store, e), end;

    if (st) return st;
    r->explained = rc->o.explain;
    for (size_t i = 0; !st && i < rc->found.n; i++)
        st = pairfinder_take(rc, &rc->found.at[i], r, e);
    if (!st) st = take_more(rc, r, e);
    end = store_commit(rc->tm->store, st ? NULL : e);
    return st ? st : end;
}

static enum status pairfinder_search(struct pairfinder *rc, struct str text,
                                     struct pairset **out, struct err *e)
{
    enum status st = tmfile_search(rc->tm, text, &rc->q, &rc->found, e);

    *out = NULL;
    if (!st) st = pairset_new(out, rc->found.n + rc->found.n_more, e);
    if (!st) st = take_all(rc, *out, e);
    if (st) {
        pairset_free(*out);
        *out = NULL;
    }
    return st;
}

static enum status pairfinder_take_given(struct pairfinder *rc,
                                         const struct similar_pair *given,
                                         int n, struct pairset **out,
                                         struct err *e)
{
    enum status st;

    if (n > options_pairs(&rc->o)) n = options_pairs(&rc->o);
    st = pairset_new(out, (size_t)n, e);
    if (!st) (*out)->explained = rc->o.explain;
    for (int i = 0; !st && i < n; i++) {
        struct steering_pair *to = &(*out)->pairs[(*out)->n++];

        to->similarity = fmin(fmax(given[i].similarity, 0), 1);
        st = steering_pair_prepare(rc->en, rc->keys, given[i].source,
                                   given[i].target, to, e);
        if (!st && rc->o.explain)
            st = keep_texts(to, given[i].source, given[i].target, "", e);
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

/* ---- a text ---------------------------------------------------------------- */

static struct str sentence_text(const struct result *r,
                                const struct sentence *s)
{
    return (struct str){ r->source + s->begin, s->end - s->begin };
}

static bool is_sentence(const struct steering_pair *p, struct str text)
{
    return p->similarity >= 1 && p->source && p->target &&
           str_eq(str_trim(str_of(p->source)), str_trim(text));
}

static bool has_target(const struct pairset *m, int n, const char *target)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(m->pairs[i].target, target)) return true;
    return false;
}

static void drop_more(struct pairset *m)
{
    while (m->n_more) steering_pair_release(&m->pairs[m->n + --m->n_more]);
}

/* Leave the pairs that are the sentence itself: first the one to be taken, then
 * one for each other translation. They are in the order of tm/precedence.h
 * already. False: there is none, and the others are as they were. */
static bool keep_exact(struct pairset *m, struct str text)
{
    int all = m->n + m->n_more, kept = 0, at = 0;

    while (at < m->n && !is_sentence(&m->pairs[at], text)) at++;
    if (at == m->n) {
        drop_more(m);
        return false;
    }
    for (at = 0; at < all; at++) {
        struct steering_pair p = m->pairs[at];

        if (!is_sentence(&p, text) || has_target(m, kept, p.target)) {
            steering_pair_release(&p);
            continue;
        }
        assert(kept <= at);
        m->pairs[kept++] = p;
    }
    m->n = kept;
    m->n_more = 0;
    return true;
}

/* The segment has its translation without any work. */
static void pairfinder_give(struct result *r, struct sentence *s,
                            struct pairset *m)
{
    r->pending -= s->job != NULL;
    job_free(s->job);
    s->job = NULL;
    s->pairset = m;
    s->exact = true;
}

static bool trusts(const struct options *o)
{
    return o->adapter == ADAPTER_DISTANCE ||
           (o->adapter == ADAPTER_FIXED && o->lambda > 0);
}

static enum status attach(struct pairfinder *rc, struct sentence *s,
                          struct pairset *m, struct err *e)
{
    s->pairset = m;
    if (!m->n || !trusts(&rc->o)) return ST_OK;         /* the model alone */
    s->job->mixer_data = &m->sk;
    if (!rc->o.explain) return ST_OK;
    return sk_sentence_alloc_votes(&m->sk, rc->o.nbest, s->job->max_len,
                                   options_k(&rc->o), e);
}

/* Of very short texts so many share all their words that the one that is the
 * same may not be among the candidates. */
static enum status search_more(struct pairfinder *rc, struct str text,
                               struct pairset **out, struct err *e)
{
    struct retrieve_options o = rc->q.o;
    enum status st;

    rc->q.o.candidates = MORE_CANDIDATES;
    rc->q.o.min_similarity = 1;
    rc->q.o.length_filter = false;
    st = pairfinder_search(rc, text, out, e);
    rc->q.o = o;
    return st;
}

static enum status pairfinder_sentence(struct pairfinder *rc, struct result *r,
                                       struct sentence *s, bool may_give,
                                       struct err *e)
{
    struct str text = sentence_text(r, s);
    struct pairset *m, *more = NULL;
    enum status st = pairfinder_search(rc, text, &m, e);

    if (st) return st;
    if (!may_give) drop_more(m);
    if (may_give && keep_exact(m, text)) {
        pairfinder_give(r, s, m);
        return ST_OK;
    }
    if (may_give && s->n_pieces <= SHORT_PIECES)
        st = search_more(rc, text, &more, e);
    if (more && keep_exact(more, text)) {
        pairset_free(m);
        pairfinder_give(r, s, more);
        return ST_OK;
    }
    pairset_free(more);
    if (!st) return attach(rc, s, m, e);
    pairset_free(m);
    return st;
}

/* Several sentences may be stored together as one text: then they become one
 * sentence with its translation. */
static enum status pairfinder_joined(struct pairfinder *rc, struct result *r,
                                     int first, int n, struct str text,
                                     bool *found, struct err *e)
{
    struct pairset *m;
    enum status st = pairfinder_search(rc, text, &m, e);

    *found = false;
    if (st) return st;
    if (!keep_exact(m, text)) {
        pairset_free(m);
        return ST_OK;
    }
    st = result_join_sentences(r, first, n, e);
    if (st) {
        pairset_free(m);
        return st;
    }
    pairfinder_give(r, &r->sentences[first], m);
    *found = true;
    return ST_OK;
}

/* A line of several sentences may be stored as a whole. */
static enum status pairfinder_whole_text(struct pairfinder *rc,
                                         struct result *r, bool *found,
                                         struct err *e)
{
    struct str text = str_trim((struct str){ r->source, r->source_len });

    return pairfinder_joined(rc, r, 0, r->n_sentences, text, found, e);
}

/* So may sentences that were cut because they are long. The only sentence of
 * a line has been looked for as the whole line. */
static enum status pairfinder_cut_sentences(struct pairfinder *rc,
                                            struct result *r, struct err *e)
{
    enum status st = ST_OK;
    bool found;

    for (int i = 0; i < r->n_sentences && !st; i++) {
        struct sentence *s = &r->sentences[i];
        int n = 1;

        while (i + n < r->n_sentences && s[n].continues) n++;
        if (n == 1 || n == r->n_sentences) continue;
        st = pairfinder_joined(rc, r, i, n,
                               (struct str){ r->source + s->begin,
                                             s[n - 1].end - s->begin },
                               &found, e);
        if (!found) i += n - 1;
    }
    return st;
}

enum status pairfinder_run(struct pairfinder *rc, struct result *r,
                           const struct similar_pair *given, int n,
                           struct err *e)
{
    bool may_give = options_exact(&rc->o) == EXACT_USE && !given;
    bool done = false;
    enum status st = ST_OK;

    if (!given && !rc->tm) return ST_OK;
    for (int i = 0; i < r->n_sentences; i++)
        if (r->sentences[i].job && r->sentences[i].job->n_prefix)
            may_give = false;
    if (may_give && r->n_sentences > 1) {
        st = pairfinder_whole_text(rc, r, &done, e);
        if (!st && !done) st = pairfinder_cut_sentences(rc, r, e);
    }
    for (int i = 0; !st && !done && i < r->n_sentences; i++) {
        struct sentence *s = &r->sentences[i];
        struct pairset *m;

        if (!s->job) continue;
        if (!given) {
            st = pairfinder_sentence(rc, r, s, may_give, e);
        } else {
            st = pairfinder_take_given(rc, given, n, &m, e);
            if (!st) st = attach(rc, s, m, e);
        }
    }
    return st;
}

/* ---- birth and death ------------------------------------------------------- */

enum status options_search(const struct options *o, const struct engine *en,
                           int matches, struct tm_query *q, struct err *e)
{
    *q = (struct tm_query){ .o = {
        .top = matches,
        .candidates = o->candidates > matches ? o->candidates : matches,
        .rerank = (enum rerank)o->rerank, .length_filter = o->length_filter,
        .min_similarity = o->min_similarity } };
    if (en) {
        q->sw = en->w->subword;
        q->tokenizer = en->w->tokenizer;
    }
    if (o->analyzer != ANALYZER_SUBWORD) return ST_OK;
    if (!en)
        return err_set(e, ST_ARGUMENT, "analyzer: subword needs a model, whose "
                       "pieces it counts");
    q->analyzer = (struct analyzer){ q->sw, q->tokenizer };
    return ST_OK;
}

enum status pairfinder_new(struct pairfinder **out, const struct engine *en,
                           const struct options *o, struct tmfile *tm,
                           struct key_cache *keys, struct err *e)
{
    struct pairfinder *rc = calloc(1, sizeof *rc);
    enum status st;

    *out = NULL;
    if (!rc) return err_nomem(e, "memory pairs");
    rc->en = en;
    rc->o = *o;
    rc->tm = tm;
    rc->keys = keys;
    strbuf_init(&rc->plain[0], 0);
    strbuf_init(&rc->plain[1], 0);
    st = options_search(o, en, options_pairs(o), &rc->q, e);
    if (st) pairfinder_free(rc);
    else *out = rc;
    return st;
}

void pairfinder_free(struct pairfinder *rc)
{
    if (!rc) return;
    matches_release(&rc->found);
    strbuf_release(&rc->plain[0]);
    strbuf_release(&rc->plain[1]);
    free(rc);
}
