/* pairset.c - tokenizes a stored pair, looks up its keys, and manages the set
 * of pairs of a sentence. It does not search memories (pairfinder.c) and does
 * not compute keys (datastore_builder.c). */
#include "engine/pairset.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/unedited.h"
#include "pair/tags.h"

/* ---- one pair ------------------------------------------------------------ */

void steering_pair_release(struct steering_pair *p)
{
    pair_keys_drop(p->keys);
    free(p->ids);
    free(p->foreign);
    free(p->kept);
    free(p->links);
    piece_match_release(&p->match);
    free(p->source);
    free(p->target);
    free(p->memory);
}

struct key_id steering_pair_id(struct str source, struct str target)
{
    return key_id_of_pair(source, target);
}

enum status steering_pair_find_keys(struct key_cache *cache,
                                    struct steering_pair *p, struct err *e)
{
    enum status st;

    assert(!p->keys);
    st = p->lookup_counted ? key_cache_get_uncounted(cache, p->id, &p->keys, e)
                           : key_cache_get(cache, p->id, &p->keys, e);
    p->lookup_counted = true;
    if (!st || st == ST_NOMEM) return st;
    err_clear(e);
    return ST_OK;
}

/* Split a text of a pair with the tokenizer of its side. */
static enum status encode_text(const struct engine *en,
                               const struct subword *sw, struct str text,
                               struct pieces *p, struct err *e)
{
    size_t most = (size_t)en->backend->max_pos - 2;
    enum status st = subword_encode(sw, text.p ? text.p : "", text.n, p, e);

    if (most > PAIR_PIECES) most = PAIR_PIECES;
    if (p->n > most) p->n = most;
    return st;
}

static enum status encode_source(const struct engine *en, struct str text,
                                 struct pieces *p, struct err *e)
{
    return encode_text(en, en->w->src_subword, text, p, e);
}

static enum status encode_target(const struct engine *en, struct str text,
                                 struct pieces *p, struct err *e)
{
    return encode_text(en, en->w->tgt_subword, text, p, e);
}

static enum status join_sides(const struct engine *en,
                              const struct pieces *src,
                              const struct pieces *tgt,
                              struct steering_pair *to, struct err *e)
{
    const struct config *c = &en->w->cfg;
    int32_t *at = malloc((src->n + tgt->n + 2) * sizeof *at);

    assert(!to->ids);
    if (!at) return err_nomem(e, "translation memory search");
    to->ids = at;
    if (c->prefix_id >= 0) *at++ = c->prefix_id;
    for (size_t i = 0; i < src->n; i++) *at++ = src->at[i].id;
    if (c->suffix_id >= 0) *at++ = c->suffix_id;
    to->n_src = (int)(at - to->ids);
    for (size_t i = 0; i < tgt->n; i++) *at++ = tgt->at[i].id;
    to->n_tgt = src->n ? (int)tgt->n : 0;
    assert(to->n_src <= en->backend->max_pos && to->n_tgt <= PAIR_PIECES);
    return ST_OK;
}

enum status steering_pair_encode(const struct engine *en, struct str source,
                                 struct str target, struct steering_pair *to,
                                 struct err *e)
{
    struct pieces src = { 0 }, tgt = { 0 };
    enum status st = encode_source(en, source, &src, e);

    if (!st) st = encode_target(en, target, &tgt, e);
    if (!st) st = join_sides(en, &src, &tgt, to, e);
    pieces_release(&src);
    pieces_release(&tgt);
    return st;
}

/* The part of a source that is compared with a sentence: enough for nearly all
 * sources of PAIR_PIECES pieces, and not much work if a source is huge. If this
 * cuts a character, the last piece is an unknown one. */
enum { COMPARED_BYTES = 2048 };

/* List the pieces of a pair's source that the sentence does not have. */
static bool list_foreign(struct steering_pair *to, const int32_t *ids, int n,
                         const int32_t *src, int n_src)
{
    to->foreign = malloc(((size_t)n + 1) * sizeof *to->foreign);
    if (!to->foreign) return false;
    for (int i = 0; i < n; i++)
        if (!has_piece(src, n_src, ids[i]) &&
            !has_piece(to->foreign, to->n_foreign, ids[i]))
            to->foreign[to->n_foreign++] = ids[i];
    return true;
}

enum status steering_pair_compare(const struct engine *en, struct str source,
                                  const int32_t *src, int n_src,
                                  struct steering_pair *to, struct err *e)
{
    int32_t ids[PAIR_PIECES];
    struct pieces p = { 0 };
    enum status st;
    int n;

    assert(!to->foreign && !to->match.n);
    if (source.n > COMPARED_BYTES) source.n = COMPARED_BYTES;
    st = encode_source(en, source, &p, e);
    n = (int)p.n;
    assert(n <= PAIR_PIECES);
    for (int i = 0; i < n; i++) ids[i] = p.at[i].id;
    pieces_release(&p);
    if (!st && !list_foreign(to, ids, n, src, n_src))
        st = err_nomem(e, "translation memory search");
    if (!st)
        st = piece_match_init(&to->match, en->w->src_subword, ids, n, src,
                              n_src, e);
    return st;
}

/* Align the pieces of a pair. */
static enum status copy_links(struct aligner *a, const struct align_model *m,
                              const struct pieces *src,
                              const struct pieces *tgt,
                              struct steering_pair *to, struct err *e)
{
    uint32_t s[PAIR_PIECES], t[PAIR_PIECES];
    struct word_links links;

    assert(src->n <= PAIR_PIECES && tgt->n <= PAIR_PIECES);
    for (size_t i = 0; i < src->n; i++)
        s[i] = align_model_number(m, BITEXT_SOURCE, (uint64_t)src->at[i].id);
    for (size_t i = 0; i < tgt->n; i++)
        t[i] = align_model_number(m, BITEXT_TARGET, (uint64_t)tgt->at[i].id);
    links = aligner_run(a, ALIGN_GROW_DIAG_FINAL_AND, s, src->n, t, tgt->n);
    to->links = malloc((links.n + 1) * sizeof *to->links);
    if (!to->links) return err_nomem(e, "translation memory search");
    if (links.n) memcpy(to->links, links.at, links.n * sizeof *to->links);
    to->n_links = (int)links.n;
    return ST_OK;
}

/* Compare the pieces of a pair's source with the sentence. */
static enum status find_kept(const struct pieces *source, const int32_t *src,
                             int n_src, struct steering_pair *to,
                             struct err *e)
{
    int32_t ids[PAIR_PIECES];

    assert(source->n <= PAIR_PIECES);
    for (size_t i = 0; i < source->n; i++) ids[i] = source->at[i].id;
    to->kept = malloc(source->n + 1);
    if (!to->kept) return err_nomem(e, "translation memory search");
    to->n_kept = (int)source->n;
    return unedited_find(ids, to->n_kept, src, n_src, to->kept, e);
}

enum status steering_pair_align(const struct engine *en, struct aligner *a,
                                const struct align_model *m,
                                struct str source, struct str target,
                                const int32_t *src, int n_src,
                                struct steering_pair *to, struct err *e)
{
    struct pieces s = { 0 }, t = { 0 };
    enum status st = encode_source(en, source, &s, e);

    assert(!to->kept && !to->links);
    if (!st) st = find_kept(&s, src, n_src, to, e);
    if (!st && a) st = encode_target(en, target, &t, e);
    if (!st && a) st = copy_links(a, m, &s, &t, to, e);
    pieces_release(&s);
    pieces_release(&t);
    return st;
}

enum status steering_pair_prepare(const struct engine *en,
                                  struct key_cache *cache, struct str source,
                                  struct str target, struct steering_pair *to,
                                  struct err *e)
{
    enum status st;

    to->id = steering_pair_id(source, target);
    st = steering_pair_find_keys(cache, to, e);
    if (st || to->keys) return st;
    return steering_pair_encode(en, source, target, to, e);
}

static char *copy_str(struct str s)
{
    char *p = malloc(s.n + 1);

    if (p && s.n) memcpy(p, s.p, s.n);
    if (p) p[s.n] = 0;
    return p;
}

enum status steering_pair_copy_texts(struct steering_pair *to,
                                     struct str source, struct str target,
                                     const char *memory, struct err *e)
{
    assert(!to->source && !to->target && !to->memory);
    to->source = copy_str(source);
    to->target = copy_str(target);
    to->memory = copy_str(str_of(memory));
    return to->source && to->target && to->memory
        ? ST_OK : err_nomem(e, "translation memory search");
}

enum status steering_pair_plain(struct strbuf *sb, struct str *source,
                                struct str *target, struct err *e)
{
    strbuf_reset(&sb[0]);
    strbuf_reset(&sb[1]);
    if (!tags_strip(*source, &sb[0]) || !tags_strip(*target, &sb[1]))
        return err_nomem(e, "translation memory search");
    *source = strbuf_view(&sb[0]);
    *target = strbuf_view(&sb[1]);
    return ST_OK;
}

/* ---- the pairs of a sentence --------------------------------------------- */

enum status pairset_new(struct pairset **out, size_t most, struct err *e)
{
    struct pairset *r = calloc(1, sizeof *r);

    *out = NULL;
    if (r) r->pairs = calloc(most ? most : 1, sizeof *r->pairs);
    if (!r || !r->pairs) {
        free(r);
        return err_nomem(e, "translation memory search");
    }
    *out = r;
    return ST_OK;
}

void pairset_free(struct pairset *r)
{
    if (!r) return;
    assert(r->n >= 0 && r->n_alternatives >= 0);
    for (int i = 0; i < r->n + r->n_alternatives; i++)
        steering_pair_release(&r->pairs[i]);
    free(r->pairs);
    if (r->mixer) r->mixer->ops->free(r->mixer);
    free(r);
}

void pairset_drop_keys(struct pairset *r)
{
    assert(!r->n_alternatives);
    for (int i = 0; i < r->n; i++) {
        pair_keys_drop(r->pairs[i].keys);
        r->pairs[i].keys = NULL;
        free(r->pairs[i].ids);
        free(r->pairs[i].foreign);
        piece_match_release(&r->pairs[i].match);
        r->pairs[i].ids = r->pairs[i].foreign = NULL;
        r->pairs[i].n_foreign = 0;
        free(r->pairs[i].kept);
        free(r->pairs[i].links);
        r->pairs[i].kept = NULL;
        r->pairs[i].links = NULL;
        r->pairs[i].n_kept = r->pairs[i].n_links = 0;
    }
}

void pairset_drop_alternatives(struct pairset *r)
{
    while (r->n_alternatives)
        steering_pair_release(&r->pairs[r->n + --r->n_alternatives]);
}

/* Pair i of the mixer's own list. */
static bool mixer_list_pair(const struct pairset *r, int i,
                            struct mixer_pair *out)
{
    return r->mixer && r->mixer->ops->pair &&
           r->mixer->ops->pair(r->mixer, i, out);
}

int pairset_count(const struct pairset *r)
{
    struct mixer_pair p;
    int n = r ? r->n : 0;

    if (r && !n)
        while (mixer_list_pair(r, n, &p)) n++;
    return n;
}

static const char *text_or_empty(const char *s) { return s ? s : ""; }

struct pair_report pairset_report(const struct pairset *r, int i)
{
    const struct steering_pair *p = &r->pairs[i];
    struct pair_report out = { "", "", "", 0, 0, 0 };
    struct mixer_pair own;

    if (!r->n && mixer_list_pair(r, i, &own))
        return (struct pair_report){ own.source, own.target, "", own.id,
                                     -1, own.n };
    assert(i >= 0 && i < r->n);
    out.similarity = p->similarity;
    if (!r->has_texts) return out;
    out.source = text_or_empty(p->source);
    out.target = text_or_empty(p->target);
    out.memory = text_or_empty(p->memory);
    out.pair = p->pair;
    return out;
}

static bool is_exact_match(const struct steering_pair *p, struct str text)
{
    return p->similarity >= 1 && p->source && p->target &&
           str_eq(str_trim(str_of(p->source)), str_trim(text));
}

/* Whether one of the first n pairs has this target. */
static bool has_target(const struct pairset *r, int n, const char *target)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(r->pairs[i].target, target)) return true;
    return false;
}

bool pairset_keep_exact(struct pairset *r, struct str text)
{
    int all = r->n + r->n_alternatives, kept = 0, at = 0;

    while (at < r->n && !is_exact_match(&r->pairs[at], text)) at++;
    if (at == r->n) {
        pairset_drop_alternatives(r);
        return false;
    }
    for (at = 0; at < all; at++) {
        struct steering_pair p = r->pairs[at];

        if (!is_exact_match(&p, text) || has_target(r, kept, p.target)) {
            steering_pair_release(&p);
            continue;
        }
        assert(kept <= at);
        r->pairs[kept++] = p;
    }
    assert(kept > 0);
    r->n = kept;
    r->n_alternatives = 0;
    r->has_texts = true;
    return true;
}

uint64_t pairset_fingerprint(const struct engine *en, const struct options *o)
{
    uint64_t parts[] = { engine_weights_id(en), options_knn_eos(o),
                         PAIR_PIECES,
                         (uint64_t)en->backend->cfg->attention_layer };

    return key_id_of(parts, sizeof parts).lo;
}
