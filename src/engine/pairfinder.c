/* pairfinder.c - searches a source of pairs for those that are similar to each
 * sentence of a text. The pairs steer the translation of the sentence. If a
 * stored source is equal to the sentence (an exact match), its translation is
 * reused and the sentence is not decoded. The texts, tokens and keys of the
 * pairs of a sentence are a pairset (pairset.c); missing keys are computed in
 * datastore_builder.c.
 *
 * A system that searches a datastore of all pairs gets no pairs, but a pairset
 * all the same, which owns the mixer of the sentence.
 *
 * Invariants:
 *   - After pairfinder_run a sentence has a job, or a stored translation and a
 *     pairset, or was empty.
 *   - No pairset has alternatives left when it is attached to a sentence. */
#include "engine/pairfinder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "engine/memory_check.h"
#include "knn/entries.h"

/* Sentences of at most SHORT_PIECES pieces are searched again with this many
 * candidates; see search_more. */
enum { SHORT_PIECES = 6, MORE_CANDIDATES = 4096 };

/* A long pair with a lower similarity is left out (is_costly). Chosen on dev
 * lines (bench/STEERING.md). */
#define LEAST_SIMILARITY_OF_LONG 0.15

struct pairfinder {
    const struct engine *en;
    struct options o;
    struct steering_sources from;
    struct retriever *retriever;
    struct retrieve_query q;
    struct matches found;
    struct source_want *wants;  /* what to fetch of the matches */
    size_t *wanted;             /* wants[i] is of found.at[wanted[i]] */
    size_t wants_cap, wanted_cap;
    struct strbuf plain[2];     /* source and target without tags */
    struct aligner *aligner;    /* NULL: the system needs none, or there is no
                                   alignment */
    const struct steering_system *system;
    const struct job *job;      /* of the sentence whose pairs are prepared;
                                   NULL: it needs no comparison */
};

/* Find the unedited pieces of a pair, and its links if there is an alignment.
 * The special tokens of the sentence are left out. */
static enum status pairfinder_align(struct pairfinder *pf, struct str source,
                                    struct str target,
                                    struct steering_pair *to, struct err *e)
{
    const struct config *c = pf->en->backend->cfg;
    int before = c->prefix_id >= 0, after = c->suffix_id >= 0;

    assert(pf->job->n_src >= before + after);
    return steering_pair_align(pf->en, pf->aligner, pf->from.alignment, source,
                               target, pf->job->src + before,
                               pf->job->n_src - before - after, to, e);
}

/* Look up the keys of a pair, or its tokens, and compare it with the sentence
 * if the system needs that. */
static enum status pairfinder_prepare_pair(struct pairfinder *pf,
                                           struct str source,
                                           struct str target,
                                           struct steering_pair *to,
                                           struct err *e)
{
    enum status st = pf->aligner
        ? steering_pair_encode(pf->en, source, target, to, e)
        : steering_pair_prepare(pf->en, pf->from.keys->cache, source, target,
                                to, e);

    if (st || !pf->job) return st;
    if (pf->system->needs & NEEDS_FOREIGN)
        st = steering_pair_compare(pf->en, source, pf->job->src,
                                   pf->job->n_src, to, e);
    if (!st && pf->system->needs & NEEDS_KEPT)
        st = pairfinder_align(pf, source, target, to, e);
    return st;
}

/* ---- pairs from a source ------------------------------------------------- */

/* A fetch of the pairs of matches into the pairset of a text. */
struct pair_fetch { struct pairfinder *pf; struct pairset *r; size_t bytes; };

/* Whether the keys of a pair would cost much and be worth little: the pair is
 * unlike the text, and its two texts are longer than it on average. The best
 * pair is never left out.
 * Lengths are in bytes, because a pair with keys in the cache is not
 * tokenized. */
static bool is_costly(const struct pair_fetch *f, const struct match *m,
                      struct str source, struct str target)
{
    return options_leave_out_costly(&f->pf->o) && m != f->pf->found.at &&
           m->similarity < LEAST_SIMILARITY_OF_LONG &&
           source.n + target.n > 2 * f->bytes;
}

/* Copy the texts of a pair, for explanations and for exact matches. */
static enum status pairfinder_copy_texts(const struct source_pair *p,
                                         struct str source, struct str target,
                                         struct steering_pair *to,
                                         struct err *e)
{
    to->pair = p->pair.id;
    return steering_pair_copy_texts(to, source, target, p->memory->name, e);
}

/* Add a pair to those that steer, with its keys or tokens. A pair with an empty
 * text cannot steer and is left out. */
static enum status pairfinder_add_match(struct pair_fetch *f,
                                        const struct match *m,
                                        const struct source_pair *p,
                                        struct str source, struct str target,
                                        struct err *e)
{
    struct pairfinder *pf = f->pf;
    struct steering_pair *to = &f->r->pairs[f->r->n++];
    enum status st;

    *to = (struct steering_pair){ .similarity = m->similarity };
    st = pairfinder_prepare_pair(pf, source, target, to, e);
    if (st) return st;
    if (to->keys || to->n_tgt > 0)
        return p->memory ? pairfinder_copy_texts(p, source, target, to, e)
                         : ST_OK;
    steering_pair_release(to);
    f->r->n--;
    return ST_OK;
}

/* Add another translation of a source that was found. It does not steer; only
 * its texts are needed. */
static enum status pairfinder_add_alternative(struct pair_fetch *f,
                                              const struct match *m,
                                              const struct source_pair *p,
                                              struct str source,
                                              struct str target,
                                              struct err *e)
{
    struct pairset *r = f->r;
    struct steering_pair *to = &r->pairs[r->n + r->n_alternatives++];

    *to = (struct steering_pair){ .similarity = m->similarity };
    return pairfinder_copy_texts(p, source, target, to, e);
}

/* Take a pair that was fetched. One that was deleted meanwhile is left out. */
static enum status pairfinder_take(void *user, size_t i,
                                   const struct source_pair *p, struct err *e)
{
    struct pair_fetch *f = user;
    size_t k = f->pf->wanted[i];
    const struct match *m = &f->pf->found.at[k];
    struct str source = p->pair.unit.source, target = p->pair.unit.target;
    enum status st = ST_OK;

    if (!p->found) return ST_OK;
    if (p->pair.unit.tagged)
        st = steering_pair_plain(f->pf->plain, &source, &target, e);
    if (st || is_costly(f, m, source, target)) return st;
    return k < f->pf->found.n
           ? pairfinder_add_match(f, m, p, source, target, e)
           : pairfinder_add_alternative(f, m, p, source, target, e);
}

/* List what to fetch: all matches, and those other translations of their
 * sources whose source may be the sentence itself. */
static enum status pairfinder_list_wants(struct pairfinder *pf, size_t *n,
                                         struct err *e)
{
    const struct matches *found = &pf->found;
    size_t all = found->n + found->n_more;

    *n = 0;
    if (!mem_grow(&pf->wants, &pf->wants_cap, all, sizeof *pf->wants) ||
        !mem_grow(&pf->wanted, &pf->wanted_cap, all, sizeof *pf->wanted))
        return err_nomem(e, "translation memory search");
    for (size_t i = 0; i < all; i++) {
        bool exact = found->at[i].similarity >= 1;
        bool texts = exact || (pf->o.explain && i < found->n);

        if (i >= found->n && !exact) continue;
        pf->wanted[*n] = i;
        pf->wants[(*n)++] = (struct source_want){
            found->at[i].id, texts ? FETCH_RECORD : FETCH_TEXTS };
    }
    return ST_OK;
}

static enum status pairfinder_fetch(struct pairfinder *pf, struct str text,
                                    struct pairset *r, struct err *e)
{
    struct pair_fetch f = { pf, r, text.n };
    size_t n;
    enum status st = pairfinder_list_wants(pf, &n, e);

    r->has_texts = pf->o.explain;
    if (!st)
        st = source_fetch(pf->from.source, pf->wants, n, pairfinder_take, &f,
                          e);
    assert((size_t)(r->n + r->n_alternatives) <=
           pf->found.n + pf->found.n_more);
    return st;
}

static enum status pairfinder_search(struct pairfinder *pf, struct str text,
                                     struct pairset **out, struct err *e)
{
    enum status st = retrieve(pf->retriever, pf->from.source, text,
                              &pf->q, &pf->found, e);

    *out = NULL;
    if (!st) st = pairset_new(out, pf->found.n + pf->found.n_more, e);
    if (!st) st = pairfinder_fetch(pf, text, *out, e);
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
        st = pairfinder_prepare_pair(pf, given[i].source, given[i].target, to,
                                     e);
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
static enum status pairfinder_use_exact(struct sentence *s, struct pairset *m,
                                        struct err *e)
{
    assert(m->n > 0 && !m->n_alternatives && !s->pairset);
    s->pairset = m;
    return result_use_stored(s, m->pairs[0].target, e);
}

/* Whether lambda can be above 0 under these options. */
static bool options_steer(const struct options *o)
{
    if (strcmp(options_system(o), "sk")) return true;
    return o->adapter == ADAPTER_DISTANCE ||
           (o->adapter == ADAPTER_FIXED && options_lambda(o) > 0);
}

/* The options of the steering system. */
static struct system_options system_options_of(const struct pairfinder *pf)
{
    const struct options *o = &pf->o;
    const struct config *cfg = pf->en->backend->cfg;

    return (struct system_options){
        .trust = o->trust.is_set ? &o->trust.net : pf->en->trust,
        .model_tau = options_tau(&(struct options){ 0 }, cfg->knn_tau),
        .k = options_k(o), .repeat_votes = options_repeat_votes(o),
        .eos_abstains = options_eos_abstains(o), .eos = cfg->eos_id,
        .entries = pf->from.entries, .online = pf->from.online,
        .metak = o->metak.is_set ? &o->metak.net : NULL,
        .cache = options_cache(o), .occurrences = o->occurrences,
        .chunk = { o->chunk, o->chunk_first, o->chunk_longest, o->chunk_dims },
        .chunk_tau = options_chunk_tau(o, cfg->knn_tau),
        .chunk_lambda = o->chunk_lambda < 0 ? options_lambda(o)
                                            : o->chunk_lambda,
        .pieces_weight = options_pieces_weight(o),
        .pieces_normalize = o->pieces_normalize,
        .weigh = { .tau = options_tau(o, cfg->knn_tau),
                   .adapter = o->adapter, .lambda = options_lambda(o) },
    };
}

static bool pairfinder_needs(const struct pairfinder *pf, unsigned what)
{
    return (pf->system->needs & what) != 0;
}

/* Whether these pairs, or the datastore, can change a translation. */
static bool pairfinder_steers(const struct pairfinder *pf,
                              const struct pairset *m)
{
    if (!pf->system->sentence_new || !options_steer(&pf->o)) return false;
    return m->n || !pairfinder_needs(pf, NEEDS_PAIRS);
}

/* Let the pairs steer the sentence, which takes ownership of them. */
static enum status pairfinder_attach(struct pairfinder *pf, struct sentence *s,
                                     struct pairset *m, struct err *e)
{
    struct job *j = s->job;
    struct system_sentence need = {
        .rows = j->o.beam + j->o.draft, .nbest = j->o.nbest,
        .max_len = j->max_len, .explain = j->o.explain, .source = j->src,
        .n_source = j->n_src,
        .n_prefix = pf->en->backend->cfg->prefix_id >= 0,
        .n_suffix = pf->en->backend->cfg->suffix_id >= 0 };
    struct system_options o = system_options_of(pf);
    enum status st;

    assert(j && !s->pairset && !m->n_alternatives);
    s->pairset = m;
    if (!pairfinder_steers(pf, m)) return ST_OK;
    m->keys = pf->from.keys;
    m->needs_no_keys = pf->aligner != NULL;
    m->system = pf->system;
    st = m->system->sentence_new(&m->mixer, &o, &need, e);
    if (st) return st;
    j->mixer = m->mixer;
    j->o.prune = options_prune_steered(&pf->o);
    return ST_OK;
}

/* Search for an exact match among more candidates. So many stored texts share
 * all words of a very short text that an exact match may not be among the usual
 * candidates. */
static enum status search_more(struct pairfinder *pf, struct str text,
                               struct pairset **out, struct err *e)
{
    struct retrieve_query q = pf->q;
    enum status st;

    pf->q.candidates = MORE_CANDIDATES;
    pf->q.o.min_similarity = 1;
    pf->q.o.length_filter = false;
    st = pairfinder_search(pf, text, out, e);
    pf->q = q;
    return st;
}

/* Let the system steer the sentence without pairs of its own. */
static enum status attach_without_pairs(struct pairfinder *pf,
                                        struct sentence *s, struct err *e)
{
    struct pairset *m;
    enum status st;

    if (!pf->system->sentence_new || !options_steer(&pf->o)) return ST_OK;
    st = pairset_new(&m, 0, e);
    return st ? st : pairfinder_attach(pf, s, m, e);
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
    if (may_reuse && pairset_keep_exact(m, text))
        return pairfinder_use_exact(s, m, e);
    if (may_reuse && s->n_pieces <= SHORT_PIECES)
        st = search_more(pf, text, &more, e);
    if (more && pairset_keep_exact(more, text)) {
        pairset_free(m);
        return pairfinder_use_exact(s, more, e);
    }
    pairset_free(more);
    if (!st && pairfinder_needs(pf, NEEDS_PAIRS))
        return pairfinder_attach(pf, s, m, e);
    pairset_free(m);
    return st ? st : attach_without_pairs(pf, s, e);
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
    *found = true;
    return pairfinder_use_exact(&r->sentences[first], m, e);
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
    bool may_reuse = options_exact(&pf->o) == EXACT_USE && !given &&
                     pf->from.source;
    bool pairs = pairfinder_needs(pf, NEEDS_PAIRS);
    bool done = false;
    enum status st = ST_OK;

    if (pairs && !given && !pf->from.source) return ST_OK;
    if (may_reuse || (pairs && !given))
        st = engine_check_memories(pf->en, pf->o.any_language,
                                   pf->from.source, e);
    for (int i = 0; i < r->n_sentences; i++)
        if (r->sentences[i].job && r->sentences[i].job->n_prefix)
            may_reuse = false;
    if (!st && may_reuse && r->n_sentences > 1) {
        st = match_whole_text(pf, r, &done, e);
        if (!st && !done) st = match_divided_sentences(pf, r, e);
    }
    for (int i = 0; !st && !done && i < r->n_sentences; i++) {
        struct sentence *s = &r->sentences[i];
        struct pairset *m;

        if (!s->job) continue;
        pf->job = s->job;
        if (may_reuse || (pairs && !given)) {
            st = match_sentence(pf, r, s, may_reuse, e);
        } else if (!pairs) {
            st = attach_without_pairs(pf, s, e);
        } else {
            st = pairfinder_use_given(pf, given, n, &m, e);
            if (!st) st = pairfinder_attach(pf, s, m, e);
        }
    }
    pf->job = NULL;
    return st;
}

/* ---- creation and destruction -------------------------------------------- */

enum status make_retrieve_query(const struct options *o,
                                const struct engine *en, int matches,
                                struct retrieve_query *q, struct err *e)
{
    *q = (struct retrieve_query){
        .o = { .top = matches, .rerank = o->rerank,
               .length_filter = o->length_filter,
               .min_similarity = o->min_similarity },
        .candidates = o->candidates > matches ? o->candidates : matches };
    if (en) {
        q->sw = en->w->src_subword;
        q->tokenizer = en->w->src_tokenizer;
    }
    if (o->analyzer != ANALYZER_SUBWORD) return ST_OK;
    if (!en)
        return err_set(e, ST_ARGUMENT, "analyzer: subword needs a model, "
                       "because it counts the model's pieces");
    q->analyzer = (struct analyzer){ q->sw, q->tokenizer };
    return ST_OK;
}

/* Check what system "learned" needs: a network, and not more neighbors than it
 * can see. */
static enum status check_learned(const struct pairfinder *pf, struct err *e)
{
    if (strcmp(pf->system->name, "learned")) return ST_OK;
    if (!pf->o.trust.is_set && !pf->en->trust)
        return err_set(e, ST_ARGUMENT, "system: this model has no network for "
                       "learned trust; train one (skmt tune --learn) or use "
                       "--system sk");
    if (options_k(&pf->o) > TRUST_NEIGHBORS)
        return err_set(e, ST_ARGUMENT, "k: %d is too large; system learned "
                       "uses at most %d neighbors", options_k(&pf->o),
                       (int)TRUST_NEIGHBORS);
    return ST_OK;
}

/* Check what systems with a datastore need. */
static enum status check_entries(const struct pairfinder *pf, struct err *e)
{
    const struct entries *s = pf->from.entries;

    if (pairfinder_needs(pf, NEEDS_ONLINE) && !pf->from.online)
        return err_set(e, ST_ARGUMENT, "system: %s learns from corrections; "
                       "use it with 'skmt learn'", pf->system->name);
    if (!pairfinder_needs(pf, NEEDS_ENTRIES) || (!s && pf->from.online))
        return ST_OK;
    if (!s)
        return err_set(e, ST_ARGUMENT, "system: %s needs a datastore; make one "
                       "with 'skmt knn build' and use --datastore FILE",
                       pf->system->name);
    if (pairfinder_needs(pf, NEEDS_SOURCES) && !s->has_sources)
        return err_set(e, ST_ARGUMENT, "system: %s needs a datastore with "
                       "source tokens; make one with 'skmt knn build "
                       "--sources'", pf->system->name);
    if (s->d_model != pf->en->backend->d ||
        (s->model && s->model != engine_weights_id(pf->en)))
        return err_set(e, ST_VERSION, "datastore: it was made with another "
                       "model; make it again with this one (skmt knn build)");
    return ST_OK;
}

/* An alignment must know the pieces of the model. */
static enum status check_alignment(const struct pairfinder *pf, struct err *e)
{
    struct word_splitter pieces = engine_splitter(pf->en);

    if (!pf->from.alignment) return ST_OK;
    return align_model_fits(pf->from.alignment, &pieces, "alignment", e);
}

enum status pairfinder_new(struct pairfinder **out, const struct engine *en,
                           const struct options *o,
                           const struct steering_sources *from,
                           struct err *e)
{
    struct pairfinder *pf = calloc(1, sizeof *pf);
    enum status st;

    *out = NULL;
    if (!pf) return err_nomem(e, "translation memory search");
    pf->en = en;
    pf->o = *o;
    options_choose_preset(&pf->o, en->trust != NULL);
    pf->system = system_named(options_system(&pf->o));
    pf->from = *from;
    strbuf_init(&pf->plain[0], 0);
    strbuf_init(&pf->plain[1], 0);
    st = engine_check_trust(en, o, e);
    if (!st) st = engine_check_metak(en, o, e);
    if (!st) st = check_learned(pf, e);
    if (!st) st = check_entries(pf, e);
    if (!st) st = check_alignment(pf, e);
    if (!st)
        st = make_retrieve_query(&pf->o, en, options_pairs(&pf->o), &pf->q, e);
    if (!st) st = retriever_new(&pf->retriever, e);
    if (!st && pairfinder_needs(pf, NEEDS_KEPT) && from->alignment)
        st = aligner_new(&pf->aligner, from->alignment, e);
    if (st) pairfinder_free(pf);
    else *out = pf;
    return st;
}

void pairfinder_free(struct pairfinder *pf)
{
    if (!pf) return;
    retriever_free(pf->retriever);
    aligner_free(pf->aligner);
    matches_release(&pf->found);
    free(pf->wants);
    free(pf->wanted);
    strbuf_release(&pf->plain[0]);
    strbuf_release(&pf->plain[1]);
    free(pf);
}
