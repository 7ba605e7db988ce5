/* image.c - puts the tables of an index segment together: classes sorted by
 * frequency, terms, runs and postings. The caller decides what the postings
 * are (segment_build.c, segment_merge.c); writing the file is pagefile.c. */
#include "tm/image.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int by_count(const void *a, const void *b)
{
    const struct seg_class *x = a, *y = b;

    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    if (x->tf != y->tf) return x->tf < y->tf ? -1 : 1;
    return (int)x->length - y->length;
}

bool image_begin(struct image_writer *w, const struct seg_class *classes,
                 uint32_t n_classes)
{
    assert(n_classes <= SEGMENT_MAX_CLASSES);    /* ranks have 16 bits */
    memset(w, 0, sizeof *w);
    w->n_classes = n_classes;
    w->classes = malloc((n_classes + 1) * sizeof *w->classes);
    w->rank = malloc((n_classes + 1) * sizeof *w->rank);
    w->docs = malloc(BLOCK_DOCS * sizeof *w->docs);
    w->cls = malloc(BLOCK_DOCS * sizeof *w->cls);
    if (!w->classes || !w->rank || !w->docs || !w->cls) return false;
    for (uint32_t i = 0; i < n_classes; i++) {
        w->classes[i] = classes[i];
        /* Unused bytes keep the caller's number while sorting. */
        w->classes[i].zero[0] = (uint8_t)i;
        w->classes[i].zero[1] = (uint8_t)(i >> 8);
    }
    qsort(w->classes, n_classes, sizeof *w->classes, by_count);
    for (uint32_t i = 0; i < n_classes; i++) {
        struct seg_class *c = &w->classes[i];

        w->rank[c->zero[0] | c->zero[1] << 8] = (uint16_t)i;
        memset(c->zero, 0, sizeof c->zero);
    }
    return true;
}

void image_flush_run(struct image_writer *w)
{
    struct seg_run run = { (uint16_t)(w->block | (w->wide ? RUN_WIDE : 0)),
                           (uint16_t)(w->n - 1) };
    size_t bytes = run_bytes(run);
    uint8_t *p;

    assert(w->n > 0 && w->n <= BLOCK_DOCS);

    if (!mem_grow(&w->runs, &w->cap_runs, w->n_runs + 1, sizeof *w->runs)
        || !mem_grow(&w->posts, &w->cap_posts, w->n_posts + bytes, 1)) {
        w->failed = true;
        w->n = 0;
        return;
    }
    w->runs[w->n_runs++] = run;
    p = w->posts + w->n_posts;
    p[bytes - 1] = 0;
    memcpy(p, w->docs, w->n * sizeof *w->docs);
    p += w->n * sizeof *w->docs;
    if (w->wide) memcpy(p, w->cls, w->n * sizeof *w->cls);
    else for (uint32_t i = 0; i < w->n; i++) p[i] = (uint8_t)w->cls[i];
    w->n_posts += bytes;
    w->n = 0;
    w->wide = false;
}

/* Writes the entry at terms[n_terms] without counting it. */
static void open_term(struct image_writer *w, uint64_t hash)
{
    assert(w->n_posts % 2 == 0);        /* positions count two bytes */
    if (w->n) image_flush_run(w);
    if (w->n_posts / 2 > UINT32_MAX || w->n_runs > UINT32_MAX
        || !mem_grow(&w->terms, &w->cap_terms, w->n_terms + 1,
                     sizeof *w->terms)) {
        w->failed = true;
        return;
    }
    w->terms[w->n_terms] = (struct seg_term){ hash, (uint32_t)w->n_runs,
                                              (uint32_t)(w->n_posts / 2) };
}

void image_term(struct image_writer *w, uint64_t hash)
{
    /* If all documents of the last term are dead, it has no postings, and this
     * term replaces it. */
    if (w->n) image_flush_run(w);
    if (w->n_terms && w->terms[w->n_terms - 1].run == w->n_runs) w->n_terms--;
    PARANOID_CHECK(!w->n_terms || w->terms[w->n_terms - 1].hash < hash);
    open_term(w, hash);
    if (!w->failed) w->n_terms++;
}

static uint64_t image_put_table(struct image *im, uint64_t *at,
                                const void *bytes, size_t n)
{
    uint64_t here = *at;

    assert(here % 8 == 0);
    if (im->data && n) memcpy(im->data + here, bytes, n);
    *at = (here + n + 7) / 8 * 8;
    return here;
}

/* Called twice: first without im->data to compute the size, then to copy. */
static uint64_t image_put_all(struct image *im, const struct image_writer *w,
                              const struct image_facts *f)
{
    uint64_t at = 0, *u = im->head.user;

    u[SEG_AT_IDS] = image_put_table(im, &at, f->ids, f->n_ids * sizeof *f->ids);
    u[SEG_AT_CLASSES] = image_put_table(im, &at, w->classes,
                                        w->n_classes * sizeof *w->classes);
    u[SEG_AT_TERMS] = image_put_table(im, &at, w->terms,
                                      (w->n_terms + 1) * sizeof *w->terms);
    u[SEG_AT_RUNS] =
        image_put_table(im, &at, w->runs, w->n_runs * sizeof *w->runs);
    u[SEG_AT_POSTS] = image_put_table(im, &at, w->posts, w->n_posts);
    u[SEG_POST_BYTES] = w->n_posts;
    return at;
}

static void image_put_head(struct image *im, const struct image_writer *w,
                           const struct image_facts *f)
{
    struct pagefile_head *h = &im->head;

    memset(h, 0, sizeof *h);
    memcpy(h->magic, SEGMENT_MAGIC, sizeof h->magic);
    h->version = SEGMENT_VERSION;
    h->user32[SEG32_DOCS] = f->n_docs;
    h->user32[SEG32_TERMS] = (uint32_t)w->n_terms;
    h->user32[SEG32_CLASSES] = w->n_classes;
    h->user32[SEG32_IDS] = (uint32_t)f->n_ids;
    h->user32[SEG32_RUNS] = (uint32_t)w->n_runs;
    h->user[SEG_UUID] = f->key.uuid;
    h->user[SEG_ANALYZER] = f->key.analyzer;
    h->user[SEG_NUMBER] = (uint64_t)f->number;
    h->user[SEG_MEMORY] = (uint64_t)f->key.memory;
    h->user[SEG_WORDS] = f->words;
}

enum status image_end(struct image_writer *w, const struct image_facts *f,
                      struct image *out, struct err *e)
{
    uint64_t copied;

    memset(out, 0, sizeof *out);
    if (w->n) image_flush_run(w);
    if (w->n_terms && w->terms[w->n_terms - 1].run == w->n_runs) w->n_terms--;
    open_term(w, UINT64_MAX);           /* where the last term's runs end */
    if (w->failed) return err_nomem(e, "index segment");
    image_put_head(out, w, f);
    out->n = image_put_all(out, w, f);
    out->data = calloc(out->n + 1, 1);
    if (!out->data) return err_nomem(e, "index segment");
    copied = image_put_all(out, w, f);
    assert(copied == out->n);
    (void)copied;
    return ST_OK;
}

void image_writer_release(struct image_writer *w)
{
    free(w->classes);
    free(w->rank);
    free(w->terms);
    free(w->runs);
    free(w->posts);
    free(w->docs);
    free(w->cls);
    memset(w, 0, sizeof *w);
}

void image_release(struct image *im)
{
    free(im->data);
    memset(im, 0, sizeof *im);
}

bool id_runs_add(struct id_runs *r, uint32_t doc, int64_t text)
{
    assert(!r->n || doc > r->at[r->n - 1].doc);
    if (!r->n || text != r->next) {
        if (!mem_grow(&r->at, &r->cap, r->n + 1, sizeof *r->at)) return false;
        r->at[r->n++] = (struct seg_ids){ doc, 0, text };
    }
    r->next = text + 1;
    return true;
}
