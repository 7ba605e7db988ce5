/* index_merge.c - writes the tail to a segment and merges small segments into
 * larger ones.
 *
 * New files are written while other processes search and add. They are
 * published by one short transaction, which replaces the manifest. It changes
 * nothing if another process has replaced the manifest meanwhile; then the
 * files are discarded, and the work is repeated now or at the next merge. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "tm/index_internal.h"

#define MAX_STEPS 100           /* merges in one call */
#define MIN_MERGE 4             /* fewer segments are not worth merging */
#define DEAD_SHARE 5            /* rewrite a segment with 1/5 dead documents */

/* ---- which segments ------------------------------------------------------ */

static uint32_t live_docs(const struct segment *s)
{
    assert(s->n_dead <= s->n_docs);
    return s->n_docs - s->n_dead;
}

static bool many_dead(const struct segment *s)
{
    return (uint64_t)s->n_dead * DEAD_SHARE >= s->n_docs && s->n_dead;
}

/* The log keeps all removals after the oldest one whose document is still in a
 * segment, and every process reads them when it opens the index. Returns the
 * segment with the oldest dead document if there are too many, else NULL. */
static struct segment *oldest_dead_segment(const struct index *ix)
{
    struct segment *worst = NULL;

    if (ix->removals_read <= TAIL_LIMIT_FACTOR * ix->o.tail_limit) return NULL;
    for (size_t i = 0; i < ix->n_segs; i++)
        if (ix->segs[i]->n_dead
            && (!worst || ix->segs[i]->first_dead < worst->first_dead))
            worst = ix->segs[i];
    return worst;
}

static int smaller_first(const void *a, const void *b)
{
    const struct segment *x = *(struct segment *const *)a;
    const struct segment *y = *(struct segment *const *)b;

    return live_docs(x) < live_docs(y) ? -1 : live_docs(x) > live_docs(y);
}

/* Choose the segments to merge; out is [MERGE_MAX]. Returns how many; one means
 * that this segment is rewritten without its dead documents.
 *
 * The choice is the smallest segments of similar size: each has at most twice
 * as many live documents as all smaller ones together. So a text is written
 * again about once for each doubling of the memory. all: as many segments as
 * fit. */
static size_t index_merge_choose(struct index *ix, bool all,
                                 struct segment **out)
{
    size_t n = ix->n_segs, k = 0;
    uint64_t docs = 0;
    struct segment **s = malloc((n + 1) * sizeof *s);

    if (!s) return 0;
    memcpy(s, ix->segs, n * sizeof *s);
    qsort(s, n, sizeof *s, smaller_first);
    while (k < n && k < MERGE_MAX) {
        if (docs && !all && live_docs(s[k]) > 2 * docs) break;
        out[k] = s[k];
        if (!segments_fit(out, k + 1)) break;
        docs += live_docs(s[k++]);
    }
    if (k < (all ? 2 : MIN_MERGE)) k = 0;
    for (size_t i = 0; !k && i < n; i++)
        if (many_dead(s[i]) || (all && s[i]->n_dead)) {
            out[0] = s[i];
            k = 1;
        }
    free(s);
    assert(k <= n && k <= MERGE_MAX);
    if (!k && (out[0] = oldest_dead_segment(ix))) k = 1;
    return k;
}

bool index_wants_merge(const struct index *ix)
{
    struct segment *chosen[MERGE_MAX];

    return ix->tail.n_docs >= ix->o.tail_limit
           || index_merge_choose((struct index *)(void *)ix, false, chosen);
}

/* ---- files of subword ids ------------------------------------------------ */

/* These functions write the ids of a new segment before the first search needs
 * them. Errors are ignored: the ids are computed when they are needed. */

/* For a segment of new texts and the tokenizer in use, if any. */
static void make_segment_symbols(struct index *ix,
                                 const struct segment_row *row)
{
    char *seg_path = segment_path(ix->dir, row->number);
    char *path = symbol_path(ix->dir, row->number, ix->tokenizer);
    struct segment *seg = NULL;
    struct err e;

    if (ix->with_symbols && ix->sw && seg_path && path
        && !segment_open(&seg, seg_path, &ix->key, row->number, row->checksum,
                         &e))
        symfile_make(path, seg, ix->s, ix->sw, ix->tokenizer, NULL, NULL, &e);
    segment_close(seg);
    free(seg_path);
    free(path);
}

/* Open the ids of a segment that is being merged. If the file is missing and
 * the tokenizer is the one in use, write it: that is less work than encoding
 * the whole merged segment later. */
static enum status open_part_symbols(struct index *ix, struct segment *part,
                                     uint64_t tokenizer, struct symfile **out,
                                     struct err *e)
{
    char *path = symbol_path(ix->dir, part->number, tokenizer);
    enum status st;

    if (!path) return err_nomem(e, "subword ids");
    st = symfile_open(out, path, part, tokenizer, e);
    if (st && ix->with_symbols && ix->sw && tokenizer == ix->tokenizer) {
        st = symfile_make(path, part, ix->s, ix->sw, tokenizer, NULL, NULL,
                          e);
        if (!st) st = symfile_open(out, path, part, tokenizer, e);
    }
    free(path);
    return st;
}

/* Copy the ids of a merged segment from its parts. Nothing is encoded again,
 * and the tokenizer is not needed. */
static void join_symbols(struct index *ix, struct segment *seg,
                         struct segment *const *old, size_t n,
                         uint64_t tokenizer)
{
    struct symfile *files[MERGE_MAX] = { NULL };
    char *path = symbol_path(ix->dir, seg->number, tokenizer);
    struct err e;
    enum status st = path ? ST_OK : ST_NOMEM;

    for (size_t i = 0; !st && i < n; i++)
        st = open_part_symbols(ix, old[i], tokenizer, &files[i], &e);
    if (!st) symfile_join(path, seg, old, files, n, tokenizer, &e);
    for (size_t i = 0; i < n; i++) symfile_close(files[i]);
    free(path);
}

/* Copy the ids for every tokenizer for which the largest part has ids. */
static void join_all_symbols(struct index *ix, const struct segment_row *row,
                             struct segment *const *old, size_t n)
{
    uint64_t tokenizers[TOKENIZERS_MAX];
    char *path = segment_path(ix->dir, row->number);
    struct segment *seg = NULL, *largest = old[0];
    struct err e;
    size_t k;

    for (size_t i = 1; i < n; i++)
        if (old[i]->n_docs > largest->n_docs) largest = old[i];
    k = segment_tokenizers(ix->dir, largest->number, tokenizers);
    if (k && path && !segment_open(&seg, path, &ix->key, row->number,
                                   row->checksum, &e))
        for (size_t i = 0; i < k; i++)
            join_symbols(ix, seg, old, n, tokenizers[i]);
    segment_close(seg);
    free(path);
}

/* ---- steps --------------------------------------------------------------- */

static bool is_among(const struct segment *s, struct segment *const *list,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == s) return true;
    return false;
}

/* Write a manifest that lists the present segments without `old`, and those in
 * em. Its `clean` becomes the last change before the first removal whose
 * document is still in a listed segment. *superseded: another process wrote a
 * manifest first, and nothing was changed. */
static enum status index_merge_publish(struct index *ix,
                                       struct segment *const *old,
                                       size_t n_old,
                                       const struct emit_result *em,
                                       int64_t seq, bool *superseded,
                                       struct err *e)
{
    struct manifest m = { .seq = seq, .clean = ix->applied };
    enum status st;

    assert(ix->has_locks);
    m.segments = calloc(ix->n_segs + em->n + 1, sizeof *m.segments);
    if (!m.segments) return err_nomem(e, "index");
    for (size_t i = 0; i < ix->n_segs; i++) {
        const struct segment *s = ix->segs[i];

        if (is_among(s, old, n_old)) continue;
        if (s->n_dead && s->first_dead <= m.clean)
            m.clean = s->first_dead - 1;
        m.segments[m.n_segments++] = (struct segment_row){
            s->number, s->n_docs, s->file.head.sum };
    }
    assert(m.n_segments + n_old == ix->n_segs);
    for (size_t i = 0; i < em->n; i++)
        m.segments[m.n_segments++] = em->rows[i];
    st = manifest_write(ix->s, ix->key.memory, ix->a.id, ix->generation, &m,
                        e);
    *superseded = st == ST_CANCELED;
    free(m.segments);
    return *superseded ? ST_OK : st;
}

/* Turn the tail into segments. Its texts are read again from the store, as they
 * are visible at one moment. */
static enum status flush_tail(struct index *ix, struct err *e)
{
    struct emit_result em = { 0 };
    bool superseded = false;
    int64_t seq;
    enum status st = index_build_segments(ix, ix->generation ? ix->seq : -1,
                                          &em, &seq, e);

    assert(ix->has_locks);
    for (size_t i = 0; !st && i < em.n; i++)
        make_segment_symbols(ix, &em.rows[i]);
    if (!st) st = index_merge_publish(ix, NULL, 0, &em, seq, &superseded, e);
    if (st || superseded) emitted_discard(&em, ix->dir);
    emitted_release(&em);
    return st;
}

enum status index_flush(struct index *ix, struct err *e)
{
    struct locks l;
    int64_t now;
    bool got;
    enum status st = locks_take(&l, ix, LOCK_EXCLUSIVE, &got, e);

    if (!st)
        st = manifest_generation(ix->s, ix->key.memory, ix->a.id, &now, e);
    if (!st && now == ix->generation) st = flush_tail(ix, e);
    locks_drop(&l, ix);
    return st;
}

static enum status merge_files(struct index *ix, struct segment **old,
                               size_t n, bool *superseded, struct err *e)
{
    struct emit_result em = { 0 };
    struct segment_row row;
    struct image im = { 0 };
    enum status st;

    assert(ix->has_locks && ix->loaded && n > 0);
    st = segments_merge(old, n, &ix->key, new_segment_number(), &im, e);
    if (!st) st = segment_emit(ix->dir, &im, &row, e);
    image_release(&im);
    if (!st && !emitted_add(&em, &row)) st = err_nomem(e, "index");
    emitted_drop_empty(&em, ix->dir);
    if (!st && em.n) join_all_symbols(ix, &row, old, n);
    if (!st)
        st = index_merge_publish(ix, old, n, &em, ix->seq, superseded, e);
    if (st || *superseded) emitted_discard(&em, ix->dir);
    else for (size_t i = 0; i < n; i++) segment_remove(ix->dir, old[i]->number);
    emitted_release(&em);
    return st;
}

/* Do one merge; *done when there is nothing to merge. */
static enum status merge_step(struct index *ix, bool all, bool *done,
                              struct err *e)
{
    struct segment *old[MERGE_MAX];
    size_t n = index_merge_choose(ix, all, old);
    bool superseded = false;

    *done = !n;
    for (size_t i = 0; i < n; i++)
        if (!segment_sound(old[i])) return index_rebuild_after_damage(ix, e);
    return n ? merge_files(ix, old, n, &superseded, e) : ST_OK;
}

static enum status merge_locked(struct index *ix, bool all, struct err *e)
{
    bool done = false;
    enum status st;

    if (index_in_memory(ix)) ix->loaded = false;        /* write files now */
    st = index_refresh(ix, e);
    if (!st && (ix->tail.n_docs >= ix->o.tail_limit
                || (all && ix->tail.n_docs && ix->generation)))
        st = flush_tail(ix, e);
    for (int turn = 0; !st && !done && turn < MAX_STEPS; turn++) {
        st = index_refresh(ix, e);
        if (!st) st = merge_step(ix, all, &done, e);
        if (!st && index_progress(ix, "merging", (uint64_t)turn, 0))
            st = err_set(e, ST_CANCELED, "stopped while merging");
    }
    return st ? st : index_refresh(ix, e);
}

enum status index_merge(struct index *ix, bool all, struct err *e)
{
    struct locks l;
    bool got;
    enum status st;

    if (!index_may_write(ix)) return ST_OK;
    st = locks_take(&l, ix, all ? LOCK_EXCLUSIVE : LOCK_TRY, &got, e);
    if (st) return st;
    if (got) st = merge_locked(ix, all, e);
    locks_drop(&l, ix);
    if (!st && got) st = index_sweep(ix->s, e);
    return st;
}
