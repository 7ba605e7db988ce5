/* index_build.c - builds the segments of an import while it runs.
 *
 * From index_build_new to index_build_free the `files` lock is held shared, so
 * that no other process removes our files before the manifest lists them. The
 * segments are published in the import's own transaction. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "tm/index_internal.h"

struct index_build {
    struct store *s;
    struct analyzer a;
    struct seg_key key;
    char *dir;
    struct lock files;
    struct builder *b;
    struct emit_result em;      /* segments of the import, and then of what
                                   other writers added */
    struct terms terms;
    struct strbuf plain;
    bool published;
};

enum status index_build_new(struct index_build **out, struct store *s,
                            int64_t memory, const struct analyzer *a,
                            struct err *e)
{
    struct index_build *b = calloc(1, sizeof *b);
    bool got;
    enum status st;

    *out = NULL;
    if (!b) return err_nomem(e, "index");
    b->s = s;
    b->a = *a;
    b->key = (struct seg_key){ store_uuid(s), a->id, memory };
    b->files.fd = -1;
    strbuf_init(&b->plain, 0);
    b->dir = index_dir(store_path(s));
    st = b->dir ? builder_new(&b->b, e) : err_nomem(e, "index");
    if (!st) st = lock_take(&b->files, b->dir, "files", LOCK_SHARED, &got, e);
    if (st) index_build_free(b);
    else *out = b;
    return st;
}

void index_build_free(struct index_build *b)
{
    if (!b) return;
    if (!b->published) emitted_discard(&b->em, b->dir);
    emitted_release(&b->em);
    builder_free(b->b);
    terms_release(&b->terms);
    strbuf_release(&b->plain);
    lock_drop(&b->files);
    free(b->dir);
    free(b);
}

void index_build_unpublish(struct index_build *b)
{
    assert(b->published);
    b->published = false;
}

/* Write the builder's documents, without the texts in dropped [n, ascending],
 * as a segment file. */
static enum status index_build_emit(struct index_build *b,
                                    const int64_t *dropped, size_t n,
                                    struct err *e)
{
    struct segment_row row;
    struct image im;
    enum status st = builder_image(b->b, &b->key, new_segment_number(),
                                   dropped, n, &im, e);

    assert(b->files.fd >= 0 && !b->published);
    if (st) return st;
    st = segment_emit(b->dir, &im, &row, e);
    image_release(&im);
    if (!st && !emitted_add(&b->em, &row)) {
        segment_remove(b->dir, row.number);
        st = err_nomem(e, "index");
    }
    return st;
}

enum status index_build_add(struct index_build *b, int64_t text,
                            struct str plain_text, struct err *e)
{
    enum status st = ST_OK;

    assert(!b->published);
    if (!builder_accepts(b->b, text)) st = index_build_emit(b, NULL, 0, e);
    if (!st) st = analyze(&b->a, plain_text, &b->terms, e);
    return st ? st : builder_add(b->b, text, &b->terms, e);
}

/* ---- publishing ---------------------------------------------------------- */

/* Write a segment again without the dropped texts. Another writer added those
 * while our segment was already on disk. */
static enum status rewrite_without(struct index_build *b,
                                   struct segment_row *row,
                                   const int64_t *dropped, size_t n_dropped,
                                   struct err *e)
{
    char *path = segment_path(b->dir, row->number);
    struct segment *seg = NULL;
    struct segment_row fresh;
    struct image im = { 0 };
    bool any = false;
    enum status st;

    if (!path) return err_nomem(e, "index");
    st = segment_open(&seg, path, &b->key, row->number, row->checksum, e);
    free(path);
    for (size_t i = 0; !st && i < n_dropped; i++) {
        uint32_t doc;

        if (!segment_doc(seg, dropped[i], &doc) || segment_is_dead(seg, doc))
            continue;
        any = true;
        if (!segment_mark_deleted(seg, doc)) st = err_nomem(e, "index");
    }
    if (!st && any && !segment_sound(seg))
        st = err_set(e, ST_IO, "%s: a file that was just written "
                     "is damaged; check the disk", b->dir);
    if (!st && any)
        st = segments_merge(&seg, 1, &b->key, new_segment_number(), &im, e);
    if (!st && any) st = segment_emit(b->dir, &im, &fresh, e);
    if (!st && any) {
        segment_remove(b->dir, row->number);
        *row = fresh;
    }
    image_release(&im);
    segment_close(seg);
    return st;
}

struct others_scan {            /* texts of other writers, in no segment yet */
    struct index_build *b;
    int64_t before;             /* changes from this one on are the import's;
                                   0: look at batch only */
    int64_t batch;              /* texts of this batch are the import's */
    enum status st;
    struct err *e;
};

static int add_others_text(void *user, const struct change *c)
{
    struct others_scan *r = user;
    struct str plain;

    if (r->before && c->seq >= r->before) return 1;
    if (c->kind != CHANGE_ADD || c->text >> 32 == r->batch) return 0;
    r->st = plain_source(&r->b->plain, c->source, c->tagged, &plain, r->e);
    if (!r->st) r->st = index_build_add(r->b, c->text, plain, r->e);
    return r->st != ST_OK;
}

/* Add all visible texts that are neither in the manifest's segments nor in the
 * import. */
static enum status collect_others(struct index_build *b,
                                const struct manifest *m, int64_t seq,
                                int64_t batch, struct err *e)
{
    struct others_scan r = { .b = b, .batch = batch, .e = e };
    enum status st;

    if (m->generation) {
        r.before = seq;
        st = store_changes(b->s, b->key.memory, m->seq, m->seq,
                           add_others_text, &r, e);
    } else {
        st = store_scan(b->s, b->key.memory, add_others_text, &r, e);
    }
    if (r.st) return r.st;
    if (st && st != ST_CANCELED) return st;
    return builder_docs(b->b) ? index_build_emit(b, NULL, 0, e) : ST_OK;
}

static enum status index_build_write_manifest(struct index_build *b,
                                              struct manifest *m, int64_t seq,
                                              struct err *e)
{
    size_t n = m->n_segments + b->em.n;
    struct segment_row *rows = calloc(n + 1, sizeof *rows);
    struct manifest next = { .seq = seq, .segments = rows, .n_segments = n,
                             .clean = m->generation ? m->clean : seq };
    enum status st;

    if (!rows) return err_nomem(e, "index");
    if (m->n_segments)
        memcpy(rows, m->segments, m->n_segments * sizeof *rows);
    assert(!builder_docs(b->b));        /* all texts are in segments */
    if (b->em.n)
        memcpy(rows + m->n_segments, b->em.rows, b->em.n * sizeof *rows);
    st = manifest_write(b->s, b->key.memory, b->key.analyzer, m->generation,
                        &next, e);
    free(rows);
    return st;
}

static int index_build_by_value(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

    return a < b ? -1 : a > b;
}

/* Take the dropped texts, which are in any order, out of the segments and the
 * builder. */
static enum status index_build_leave_out(struct index_build *b,
                                         const int64_t *dropped, size_t n,
                                         struct err *e)
{
    int64_t *sorted = malloc((n + 1) * sizeof *sorted);
    enum status st = sorted ? ST_OK : err_nomem(e, "index");

    if (!st && n) {
        memcpy(sorted, dropped, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, index_build_by_value);
    }
    for (size_t i = 0; !st && n && i < b->em.n; i++)
        st = rewrite_without(b, &b->em.rows[i], sorted, n, e);
    if (!st && builder_docs(b->b)) st = index_build_emit(b, sorted, n, e);
    free(sorted);
    return st;
}

enum status index_build_publish(struct index_build *b, int64_t seq,
                                int64_t batch, const int64_t *dropped,
                                size_t n_dropped, struct err *e)
{
    struct manifest m = { 0 };
    enum status st = index_build_leave_out(b, dropped, n_dropped, e);

    assert(!b->published);
    assert(st || !builder_docs(b->b));
    if (!st)
        st = manifest_read(b->s, b->key.memory, b->key.analyzer, &m, e);
    if (!st) st = collect_others(b, &m, seq, batch, e);
    emitted_drop_empty(&b->em, b->dir);
    if (!st) st = index_build_write_manifest(b, &m, seq, e);
    manifest_release(&m);
    b->published = !st;
    return st;
}
