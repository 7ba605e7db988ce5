/* index.c - loads the index, keeps it up to date with the store, searches it.
 *
 * The index consists of segments and a tail. A segment is a file that is
 * never changed, or its image in memory where files cannot be written. The tail
 * is a small index in memory (tail.h) that can grow. It has the texts that were
 * added to the store after the newest segment was built; a small memory may
 * have only a tail.
 *
 * index_internal.h states the invariants. This file also builds the index from
 * the store, in files or in memory. Merging segments is in index_merge.c, and
 * building during an import in index_build.c. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "pair/tags.h"
#include "tm/index_internal.h"

#define PROGRESS_STEP 4096
/* The number of attempts to load or build the index while other processes
 * replace its manifest. */
#define MAX_ATTEMPTS 8

enum load_result {
    LOADED,                     /* the index has all changes of the store */
    MISSING,                    /* the store has no manifest for this memory
                                   and analyzer: the index must be built */
    DAMAGED,                    /* a segment file of the manifest is missing
                                   or damaged */
    BEHIND                      /* the tail reached its limit before all
                                   changes were applied: write a segment */
};

enum status index_open(struct index **out, struct store *s, int64_t memory,
                       const struct analyzer *a,
                       const struct index_options *o, struct err *e)
{
    struct index *ix = calloc(1, sizeof *ix);
    enum status st;

    assert(s && a);
    *out = NULL;
    if (!ix) return err_nomem(e, "index");
    ix->s = s;
    ix->a = *a;
    subword_hold(a->subword);
    if (o) ix->o = *o;
    if (!ix->o.tail_limit) ix->o.tail_limit = TAIL_LIMIT;
    ix->key = (struct seg_key){ store_uuid(s), a->id, memory };
    strbuf_init(&ix->plain, 0);
    ix->dir = index_dir(store_path(s));
    st = ix->dir ? bm25_new(&ix->bm25, e) : err_nomem(e, "index");
    if (st) index_close(ix);
    else *out = ix;
    return st;
}

static void index_close_segments(struct index *ix)
{
    for (size_t i = 0; i < ix->n_segs; i++) {
        segment_close(ix->segs[i]);
        symfile_close(ix->syms[i]);
    }
    ix->n_segs = 0;
}

void index_close(struct index *ix)
{
    if (!ix) return;
    assert(!ix->has_locks);
    index_close_segments(ix);
    free(ix->segs);
    free(ix->syms);
    tail_release(&ix->tail);
    map64_release(&ix->dead_df);
    bm25_free(ix->bm25);
    terms_release(&ix->terms);
    strbuf_release(&ix->plain);
    symbols_release(&ix->symbols);
    subword_close(ix->a.subword);
    subword_close(ix->sw);
    free(ix->dir);
    free(ix);
}

int index_progress(const struct index *ix, const char *what, uint64_t done,
                   uint64_t total)
{
    return ix->o.progress ? ix->o.progress(ix->o.user, what, done, total) : 0;
}

enum status plain_source(struct strbuf *sb, struct str source, bool tagged,
                         struct str *out, struct err *e)
{
    *out = source;
    if (!tagged) return ST_OK;
    strbuf_reset(sb);
    if (!tags_strip(source, sb)) return err_nomem(e, "text");
    *out = (struct str){ sb->data, sb->len };
    return ST_OK;
}

static enum status analyze_source(struct index *ix, struct str source,
                                  bool tagged, struct err *e)
{
    struct str plain;
    enum status st = plain_source(&ix->plain, source, tagged, &plain, e);

    return st ? st : analyze(&ix->a, plain, &ix->terms, e);
}

/* End our read transaction after an error. A transaction of the caller around
 * it stays open. */
static void end_failed_read(struct index *ix)
{
    struct err ignored;

    store_commit(ix->s, &ignored);
}

/* ---- changes ------------------------------------------------------------- */

struct index_apply_context {
    struct index *ix;
    enum status st;             /* the error that stopped index_apply */
    struct err *e;
    size_t limit;               /* stop when the tail has more documents;
                                   0: no limit */
    bool tail_full;             /* the limit stopped index_apply */
};

static bool index_tail_sound(const struct index *ix)
{
    for (size_t d = 0; d < ix->tail.n_docs; d++) {
        uint32_t doc;

        if (ix->tail.docs[d].dead) continue;
        for (size_t i = 0; i < ix->n_segs; i++)
            if (segment_doc(ix->segs[i], ix->tail.docs[d].text, &doc)
                && !segment_is_dead(ix->segs[i], doc))
                return false;
    }
    return tail_sound(&ix->tail);
}

bool index_sound(const struct index *ix)
{
    if (ix->seq > ix->applied || ix->n_segs > ix->cap_segs
        || ix->n_segs > ix->cap_syms)
        return false;
    for (size_t i = 0; i < ix->n_segs; i++) {
        const struct segment *s = ix->segs[i];

        if (!segment_dead_sound(s) || !s->number != !ix->segs[0]->number
            || (!s->number && ix->syms[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (ix->segs[k] == s) return false;
    }
    return index_tail_sound(ix);
}

/* Find the segment that has a document of the text that is not marked deleted,
 * and the number of this document. */
static bool find_live_doc(const struct index *ix, int64_t text, size_t *seg,
                          uint32_t *doc)
{
    for (size_t i = 0; i < ix->n_segs; i++)
        if (segment_doc(ix->segs[i], text, doc)
            && !segment_is_dead(ix->segs[i], *doc)) {
            *seg = i;
            return true;
        }
    return false;
}

static enum status apply_add(struct index *ix, const struct change *c,
                             struct err *e)
{
    uint32_t doc;
    size_t seg;
    enum status st;

    if (tail_find(&ix->tail, c->text, &doc)
        || find_live_doc(ix, c->text, &seg, &doc))
        return ST_OK;
    st = analyze_source(ix, c->source, c->tagged, e);
    return st ? st : tail_add(&ix->tail, c->text, &ix->terms, e);
}

static int index_compare_uint64(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return a < b ? -1 : a > b;
}

/* Mark a document of a segment deleted and subtract it from the statistics.
 * ix->terms are its terms; they are sorted. */
static enum status mark_doc_deleted(struct index *ix, size_t seg, uint32_t doc,
                                    int64_t seq, struct err *e)
{
    struct terms *t = &ix->terms;

    assert(seg < ix->n_segs && doc < ix->segs[seg]->n_docs);
    if (!segment_mark_deleted(ix->segs[seg], doc)) return err_nomem(e, "index");
    if (!ix->segs[seg]->first_dead) ix->segs[seg]->first_dead = seq;
    qsort(t->at, t->n, sizeof *t->at, index_compare_uint64);
    for (size_t i = 0; i < t->n; i++) {
        bool fresh;
        uint32_t *df;

        if (i && t->at[i] == t->at[i - 1]) continue;
        df = map64_put(&ix->dead_df, t->at[i], &fresh);
        if (!df) return err_nomem(e, "index");
        ++*df;
    }
    ix->dead_words += t->n;
    return ST_OK;
}

static enum status apply_remove(struct index *ix, const struct change *c,
                                struct err *e)
{
    bool in_tail;
    uint32_t doc;
    size_t seg = 0;
    enum status st;

    ix->removals_read++;
    in_tail = tail_find(&ix->tail, c->text, &doc);
    if (!in_tail && !find_live_doc(ix, c->text, &seg, &doc)) return ST_OK;
    st = analyze_source(ix, c->source, c->tagged, e);
    if (st) return st;
    if (!in_tail) return mark_doc_deleted(ix, seg, doc, c->seq, e);
    tail_mark_deleted(&ix->tail, doc, &ix->terms);
    return ST_OK;
}

static int index_apply(void *user, const struct change *c)
{
    struct index_apply_context *ap = user;

    ap->st = c->kind == CHANGE_ADD ? apply_add(ap->ix, c, ap->e)
                                   : apply_remove(ap->ix, c, ap->e);
    if (c->seq > ap->ix->applied) ap->ix->applied = c->seq;
    ap->tail_full = ap->limit && ap->ix->tail.n_docs > ap->limit;
    return ap->st || ap->tail_full;
}

/* The status of a walk over changes that index_apply may have stopped. A full
 * tail is not an error. */
static enum status apply_status(enum status st,
                                const struct index_apply_context *ap)
{
    return ap->st ? ap->st : st == ST_CANCELED && ap->tail_full ? ST_OK : st;
}

/* limit: documents that the tail may have. When it has more, *oc is BEHIND and
 * the remaining changes are not applied. */
static enum status apply_changes(struct index *ix, int64_t adds_after,
                                 int64_t removes_after, size_t limit,
                                 enum load_result *oc, struct err *e)
{
    struct index_apply_context ap = { .ix = ix, .e = e, .limit = limit };
    enum status st = store_changes(ix->s, ix->key.memory, adds_after,
                                   removes_after, index_apply, &ap, e);

    if (ap.tail_full) *oc = BEHIND;
    return apply_status(st, &ap);
}

/* ---- loading ------------------------------------------------------------- */

/* Undo everything that was applied, except the marks of deleted documents in
 * segments. Those disappear when the segment is closed, or reuse_open_segment
 * clears them. */
static void forget_changes(struct index *ix)
{
    tail_reset(&ix->tail);
    map64_clear(&ix->dead_df);
    ix->dead_words = 0;
    ix->removals_read = 0;
}

/* If the segment is open already, move it and its symbol file to the caller
 * and clear its marks of deleted documents. */
static bool reuse_open_segment(struct index *ix, const struct segment_row *row,
                               struct segment **seg, struct symfile **sym)
{
    for (size_t i = 0; i < ix->n_segs; i++) {
        if (!ix->segs[i] || ix->segs[i]->number != row->number
            || ix->segs[i]->file.head.sum != row->checksum)
            continue;
        *seg = ix->segs[i];
        *sym = ix->syms[i];
        ix->segs[i] = NULL;
        ix->syms[i] = NULL;
        segment_clear_deleted(*seg);
        return true;
    }
    return false;
}

static enum status open_manifest_segment(struct index *ix,
                                         const struct segment_row *row,
                                         struct segment **out, struct err *e)
{
    char *path = segment_path(ix->dir, row->number);
    enum status st;

    if (!path) return err_nomem(e, "index");
    st = segment_open(out, path, &ix->key, row->number, row->checksum, e);
    free(path);
    return st;
}

static enum status open_manifest_segments(struct index *ix,
                                          const struct manifest *m,
                                          struct segment **segs,
                                          struct symfile **syms, struct err *e)
{
    enum status st = ST_OK;

    for (size_t i = 0; !st && i < m->n_segments; i++)
        if (!reuse_open_segment(ix, &m->segments[i], &segs[i], &syms[i]))
            st = open_manifest_segment(ix, &m->segments[i], &segs[i], e);
    return st;
}

/* Replace the segments by those of a manifest. When one of them cannot be
 * used, *oc is DAMAGED and the index has no segments. */
static enum status adopt_manifest(struct index *ix, const struct manifest *m,
                                  enum load_result *oc, struct err *e)
{
    size_t n = m->n_segments;
    struct segment **segs = calloc(n + 1, sizeof *segs);
    struct symfile **syms = calloc(n + 1, sizeof *syms);
    enum status st = segs && syms ? open_manifest_segments(ix, m, segs, syms, e)
                                  : err_nomem(e, "index");

    if (st == ST_FORMAT) {
        *oc = DAMAGED;
        st = ST_OK;
    }
    index_close_segments(ix);
    free(ix->segs);
    free(ix->syms);
    ix->segs = segs;
    ix->syms = syms;
    ix->cap_segs = segs ? n + 1 : 0;
    ix->cap_syms = syms ? n + 1 : 0;
    ix->no_symfiles = false;
    ix->n_segs = segs && syms ? n : 0;
    if (st || *oc == DAMAGED) index_close_segments(ix);
    ix->generation = m->generation;
    ix->seq = ix->applied = m->seq;
    ix->clean = m->clean;
    return st;
}

/* Call this inside a read transaction, so that the manifest and the log are of
 * the same moment. */
static enum status load_manifest(struct index *ix, size_t limit,
                                 enum load_result *oc, struct err *e)
{
    struct manifest m = { 0 };
    enum status st = manifest_read(ix->s, ix->key.memory, ix->a.id, &m, e);

    forget_changes(ix);
    *oc = m.generation ? LOADED : MISSING;
    if (!st) st = adopt_manifest(ix, &m, oc, e);
    manifest_release(&m);
    if (!st && *oc == LOADED)
        st = apply_changes(ix, ix->seq, ix->clean, limit, oc, e);
    return st;
}

/* Put all texts of a small memory in the tail; it needs no files. *oc is
 * MISSING when the memory has more texts than the tail may have. */
static enum status load_into_tail(struct index *ix, enum load_result *oc,
                                  struct err *e)
{
    struct index_apply_context ap = { .ix = ix,
                                      .e = e,
                                      .limit = ix->o.tail_limit };
    enum status st;

    assert(!ix->n_segs && !ix->generation);
    forget_changes(ix);
    ix->applied = 0;
    st = store_scan(ix->s, ix->key.memory, index_apply, &ap, e);
    st = apply_status(st, &ap);
    *oc = ap.tail_full ? MISSING : LOADED;
    if (!st && *oc == LOADED)
        st = store_last_change(ix->s, ix->key.memory, &ix->applied, e);
    if (*oc == MISSING) forget_changes(ix);
    return st;
}

/* Whether it is enough to apply the changes after ix->applied: the manifest is
 * the one we loaded, and the log still has all of those changes. */
static enum status can_catch_up(struct index *ix, bool *can, struct err *e)
{
    int64_t generation, start = 0;
    enum status st = manifest_generation(ix->s, ix->key.memory, ix->a.id,
                                         &generation, e);

    if (!st && !generation)
        st = store_log_start(ix->s, ix->key.memory, &start, e);
    *can = ix->loaded && generation == ix->generation && start <= ix->applied;
    return st;
}

static enum status catch_up(struct index *ix, size_t limit,
                            enum load_result *oc, struct err *e)
{
    bool can;
    enum status st = store_begin_read(ix->s, e);

    *oc = LOADED;
    if (st) return st;
    st = can_catch_up(ix, &can, e);
    if (!st && can)
        st = apply_changes(ix, ix->applied, ix->applied,
                           index_in_memory(ix) ? 0 : limit, oc, e);
    else if (!st)
        st = load_manifest(ix, limit, oc, e);
    if (!st && *oc == MISSING) st = load_into_tail(ix, oc, e);
    if (st) {
        /* Some changes may be applied in part: read everything again. */
        ix->loaded = false;
        end_failed_read(ix);
        return st;
    }
    return store_commit(ix->s, e);
}

/* ---- building ------------------------------------------------------------ */

/* Add an image to the index as a segment without a file. Takes the image's
 * data, also when it fails. */
static enum status emit_in_memory(struct index *ix, struct image *im,
                                  struct err *e)
{
    struct segment *seg;
    enum status st;

    assert(!ix->n_segs || index_in_memory(ix));
    assert(im->head.user[SEG_NUMBER] == 0);
    if (!mem_grow(&ix->segs, &ix->cap_segs, ix->n_segs + 1, sizeof *ix->segs)
        || !mem_grow(&ix->syms, &ix->cap_syms, ix->n_segs + 1,
                     sizeof *ix->syms)) {
        image_release(im);
        return err_nomem(e, "index");
    }
    st = segment_adopt(&seg, &im->head, im->data, im->n, e);
    if (st) return st;
    ix->segs[ix->n_segs] = seg;
    ix->syms[ix->n_segs++] = NULL;
    PARANOID_CHECK(segment_sound(seg));
    return ST_OK;
}

enum status index_write_segment(struct index *ix, struct builder *b,
                                struct emit_result *em, struct err *e)
{
    struct segment_row row;
    struct image im;
    enum status st = builder_image(b, &ix->key, em ? new_segment_number() : 0,
                                   NULL, 0, &im, e);

    if (st) return st;
    if (!em) return emit_in_memory(ix, &im, e);
    st = segment_emit(ix->dir, &im, &row, e);
    image_release(&im);
    if (!st && !emitted_add(em, &row)) {
        segment_remove(ix->dir, row.number);
        st = err_nomem(e, "index");
    }
    return st;
}

struct index_build_context {
    struct index *ix;
    struct builder *b;
    struct emit_result *em;     /* NULL: segments in memory */
    uint64_t done;
    enum status st;
    struct err *e;
};

static int build_add_change(void *user, const struct change *c)
{
    struct index_build_context *bu = user;
    struct index *ix = bu->ix;

    if (c->kind != CHANGE_ADD) return 0;
    if (!builder_accepts(bu->b, c->text))
        bu->st = index_write_segment(ix, bu->b, bu->em, bu->e);
    if (!bu->st) bu->st = analyze_source(ix, c->source, c->tagged, bu->e);
    if (!bu->st) bu->st = builder_add(bu->b, c->text, &ix->terms, bu->e);
    if (!bu->st && ++bu->done % PROGRESS_STEP == 0
        && index_progress(ix, "indexing", bu->done, 0))
        bu->st = err_set(bu->e, ST_CANCELED, "stopped while indexing");
    return bu->st != ST_OK;
}

/* Build segments of the texts that were added after change `after`, or of all
 * texts when it is negative. */
static enum status build_segments_in_transaction(
    struct index_build_context *bu, int64_t after, int64_t *seq, struct err *e)
{
    struct index *ix = bu->ix;
    enum status st = store_begin_read(ix->s, e);

    if (st) return st;
    st = store_last_change(ix->s, ix->key.memory, seq, e);
    if (!st)
        st = after < 0 ? store_scan(ix->s, ix->key.memory, build_add_change,
                                    bu, e)
                       : store_changes(ix->s, ix->key.memory, after, after,
                                       build_add_change, bu, e);
    if (bu->st) st = bu->st;
    if (!st && builder_docs(bu->b))
        st = index_write_segment(ix, bu->b, bu->em, e);
    if (st) {
        end_failed_read(ix);
        return st;
    }
    return store_commit(ix->s, e);
}

enum status index_build_segments(struct index *ix, int64_t after,
                                 struct emit_result *em, int64_t *seq,
                                 struct err *e)
{
    struct index_build_context bu = { .ix = ix, .em = em, .e = e };
    enum status st = builder_new(&bu.b, e);

    assert(em || after < 0);
    if (!st) st = build_segments_in_transaction(&bu, after, seq, e);
    builder_free(bu.b);
    return st;
}

static enum status build_in_memory(struct index *ix, struct err *e)
{
    enum status st;

    index_close_segments(ix);
    forget_changes(ix);
    st = index_build_segments(ix, -1, NULL, &ix->applied, e);
    ix->loaded = !st;
    if (!st) PARANOID_CHECK(index_sound(ix));
    return st;
}

bool index_in_memory(const struct index *ix)
{
    return ix->n_segs && !ix->segs[0]->number;
}

static enum status publish_all(struct index *ix, struct emit_result *em,
                               int64_t expected, int64_t seq, struct err *e)
{
    struct manifest m = { .seq = seq, .clean = seq, .segments = em->rows,
                          .n_segments = em->n };

    return manifest_write(ix->s, ix->key.memory, ix->a.id, expected, &m, e);
}

/* Build the index in files and write its manifest. Does nothing when the
 * present generation is not `generation` (unless that is -1): then another
 * process built the index while we waited for the lock. *superseded: another
 * process wrote a manifest while we were building. */
static enum status build_locked(struct index *ix, int64_t generation,
                                bool *superseded, struct err *e)
{
    struct emit_result em = { 0 };
    int64_t now, seq;
    enum status st = manifest_generation(ix->s, ix->key.memory, ix->a.id,
                                         &now, e);

    assert(ix->has_locks);
    if (st || (generation >= 0 && now != generation)) return st;
    st = index_build_segments(ix, -1, &em, &seq, e);
    if (!st) {
        st = publish_all(ix, &em, now, seq, e);
        *superseded = st == ST_CANCELED;
    }
    if (st) emitted_discard(&em, ix->dir);
    emitted_release(&em);
    return *superseded ? ST_OK : st;
}

/* Take the locks and build the index in files; the next catch_up loads them. */
static enum status build_files(struct index *ix, int64_t generation,
                               bool *superseded, struct err *e)
{
    struct locks l;
    bool got;
    enum status st = locks_take(&l, ix, LOCK_EXCLUSIVE, &got, e);

    *superseded = false;
    if (!st) st = build_locked(ix, generation, superseded, e);
    locks_drop(&l, ix);
    ix->loaded = false;
    return st;
}

/* Build the index in files, or in memory where files cannot be written. */
static enum status build_index(struct index *ix, struct err *e)
{
    bool superseded;
    enum status st;

    if (!index_may_write(ix)) return build_in_memory(ix, e);
    st = build_files(ix, ix->generation, &superseded, e);
    return st == ST_IO ? build_in_memory(ix, e) : st;
}

enum status index_rebuild(struct index *ix, struct err *e)
{
    bool superseded = true;
    enum status st = ST_OK;

    for (int turn = 0; !st && superseded && turn < MAX_ATTEMPTS; turn++)
        st = build_files(ix, -1, &superseded, e);
    if (!st && superseded)
        st = err_set(e, ST_IO, "%s: other programs keep changing the index; "
                     "try again when they have finished", ix->dir);
    if (!st) st = index_refresh(ix, e);
    return st;
}

/* A segment may be missing because another process has merged it: there is a
 * newer manifest then. So the first DAMAGED only reads the manifest again; a
 * second one of the same generation builds the index. */
enum status index_refresh(struct index *ix, struct err *e)
{
    enum load_result oc = LOADED;
    int64_t damaged = -1;       /* generation that was found damaged */
    size_t limit = index_may_write(ix)
                   ? TAIL_LIMIT_FACTOR * ix->o.tail_limit : 0;
    uint32_t version;
    enum status st = store_version(ix->s, &version, e);

    if (st || (ix->loaded && version == ix->version)) return st;
    for (int turn = 0; turn < MAX_ATTEMPTS; turn++) {
        st = catch_up(ix, limit, &oc, e);
        if (st) return st;
        ix->loaded = oc == LOADED;
        if (ix->loaded) break;
        if (oc == BEHIND) {
            st = index_flush(ix, e);
            if (st && st != ST_IO) break;
            if (st) limit = 0;          /* keep it all in the tail */
        } else if (oc == MISSING || damaged == ix->generation) {
            st = build_index(ix, e);
            if (st || ix->loaded) break;
        }
        damaged = oc == DAMAGED ? ix->generation : -1;
    }
    if (!st && !ix->loaded) st = build_in_memory(ix, e);
    if (!st) ix->version = version;
    assert(st || ix->loaded);
    if (!st) PARANOID_CHECK(index_sound(ix));
    return st;
}

enum status index_rebuild_after_damage(struct index *ix, struct err *e)
{
    enum status st = build_index(ix, e);

    return st ? st : index_refresh(ix, e);
}

/* ---- searching ----------------------------------------------------------- */

static struct bm25_parts index_parts(const struct index *ix)
{
    struct bm25_parts p = { ix->segs, ix->n_segs, &ix->tail, &ix->dead_df,
                            ix->tail.n_live, ix->tail.words };

    for (size_t i = 0; i < ix->n_segs; i++) {
        p.n_docs += ix->segs[i]->n_docs - ix->segs[i]->n_dead;
        p.words += ix->segs[i]->words;
    }
    p.words -= ix->dead_words < p.words ? ix->dead_words : p.words;
    return p;
}

enum status index_search(struct index *ix, const struct terms *query,
                         size_t top, struct hit *hits, size_t *n,
                         struct err *e)
{
    struct segment *damaged = NULL;
    enum status st = ix->loaded ? ST_OK : index_refresh(ix, e);

    *n = 0;
    for (int turn = 0; !st && turn < 2; turn++) {
        struct bm25_parts parts = index_parts(ix);

        assert(ix->loaded);
        st = bm25_search(ix->bm25, &parts, query, top, hits, n, &damaged, e);
        if (st || !damaged) return st;
        assert(*n == 0);
        st = index_rebuild_after_damage(ix, e);
    }
    return st ? st : err_set(e, ST_IO, "%s: the index is damaged again right "
                             "after it was rebuilt; check the disk", ix->dir);
}

void index_stats(const struct index *ix, struct index_stats *out)
{
    struct bm25_parts p = index_parts(ix);

    *out = (struct index_stats){
        .docs = (int64_t)p.n_docs, .total_terms = (int64_t)p.words,
        .segments = (int)ix->n_segs, .tail_docs = ix->tail.n_live };
    for (size_t i = 0; i < ix->n_segs; i++) {
        out->terms += ix->segs[i]->n_terms;
        out->dead_docs += ix->segs[i]->n_dead;
        out->bytes += (int64_t)pagefile_bytes(&ix->segs[i]->file);
        if (ix->syms[i])
            out->symbol_bytes += (int64_t)symfile_bytes(ix->syms[i]);
    }
}

/* ---- symbols ------------------------------------------------------------- */

static int encode_progress(void *user, uint64_t done, uint64_t total)
{
    return index_progress(user, "encoding", done, total);
}

static enum status open_symbols(struct index *ix, size_t i, struct err *e)
{
    struct segment *seg = ix->segs[i];
    char *path = symbol_path(ix->dir, seg->number, ix->tokenizer);
    enum status st;

    if (!path) return err_nomem(e, "subword ids");
    st = symfile_open(&ix->syms[i], path, seg, ix->tokenizer, e);
    if (st == ST_FORMAT && index_may_write(ix) && !ix->no_symfiles) {
        st = symfile_make(path, seg, ix->s, ix->sw, ix->tokenizer,
                          encode_progress, ix, e);
        ix->no_symfiles = st == ST_IO;  /* do not encode at each search */
        if (!st)
            st = symfile_open(&ix->syms[i], path, seg, ix->tokenizer, e);
    }
    free(path);
    /* Without the file, ids are computed when they are needed. */
    return st == ST_FORMAT || st == ST_IO ? ST_OK : st;
}

enum status index_use_symbols(struct index *ix, const struct subword *sw,
                              uint64_t tokenizer, struct err *e)
{
    enum status st = ST_OK;

    if (!ix->with_symbols || ix->tokenizer != tokenizer || ix->sw != sw)
        for (size_t i = 0; i < ix->n_segs; i++) {
            symfile_close(ix->syms[i]);
            ix->syms[i] = NULL;
            ix->no_symfiles = false;
        }
    subword_replace(&ix->sw, sw);
    ix->tokenizer = tokenizer;
    ix->with_symbols = true;
    for (size_t i = 0; sw && !st && i < ix->n_segs; i++)
        if (!ix->syms[i] && ix->segs[i]->number)
            st = open_symbols(ix, i, e);
    return st;
}

static enum status compute_symbols(struct index *ix, int64_t text,
                                   struct err *e)
{
    struct str source, target, plain;
    bool tagged, found;
    enum status st = store_text(ix->s, text, &source, &target, &tagged,
                                &found, e);

    if (st) return st;
    if (!found) source = (struct str){ 0 };
    st = plain_source(&ix->plain, source, found && tagged, &plain, e);
    return st ? st : symbols_of(ix->sw, plain, &ix->symbols, e);
}

/* Remove a damaged symbol file; the next index_use_symbols writes it again. */
static void drop_symbols(struct index *ix, size_t i)
{
    char *path = symbol_path(ix->dir, ix->segs[i]->number, ix->tokenizer);

    symfile_close(ix->syms[i]);
    ix->syms[i] = NULL;
    if (path && index_may_write(ix)) unlink(path);
    free(path);
}

enum status index_symbols(struct index *ix, const struct hit *h,
                          const uint32_t **at, size_t *n, uint32_t *chars,
                          struct err *e)
{
    struct symbols *s = &ix->symbols;
    struct symfile *f = h->part < ix->n_segs ? ix->syms[h->part] : NULL;
    enum status st = ST_OK;

    assert(ix->with_symbols && h->part <= ix->n_segs);
    assert(h->part == ix->n_segs ? h->doc < ix->tail.n_docs
                                 : h->doc < ix->segs[h->part]->n_docs);
    if (f && symfile_get(f, h->doc, &s->at, &s->cap, &s->n)) {
        if (chars) s->chars = symbols_chars(ix->sw, s->at, s->n);
    } else {
        if (f) drop_symbols(ix, h->part);
        st = compute_symbols(ix, h->text, e);
    }
    *at = s->at;
    *n = s->n;
    if (chars) *chars = s->chars;
    return st;
}
