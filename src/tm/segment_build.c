/* segment_build.c - builds a segment from texts.
 *
 * Postings are appended document by document as (term number, class); doc_end
 * says where the postings of a document end. A counting sort by term, with the
 * terms in order of hash, then yields the posting lists.
 *
 * Invariants: doc_text and doc_end ascend; the document frequencies of all
 * terms add up to n_posts; post_term and post_class refer to known terms and
 * classes. They do not hold after builder_add failed: then the builder can
 * only be freed. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/map64.h"
#include "base/mem.h"
#include "tm/image.h"
#include "tm/length_byte.h"

/* A builder is full at half the documents that a segment may have, so that two
 * segments can be merged, or when its postings take some tens of megabytes. */
#define BUILD_DOCS (SEGMENT_MAX_DOCS / 2)
#define BUILD_POSTS (3u << 20)
/* The most classes that one document of 16 MiB can add: it has at most this
 * many distinct frequencies, because their sum is its length. */
#define DOC_CLASSES 6000u

struct term_info {
    uint64_t hash;
    uint32_t df;
    uint32_t last_doc, tf;      /* the last document with it, how often */
};

struct builder {
    struct map64 numbers;       /* hash to term number */
    struct term_info *terms;
    size_t n_terms, cap_terms;
    uint32_t *post_term;        /* [n_posts] term number */
    uint16_t *post_class;       /* [n_posts] */
    size_t n_posts, cap_term, cap_class;
    uint32_t *doc_end;          /* [n_docs] index after its last posting */
    uint32_t *doc_words;        /* [n_docs] exact length in terms */
    int64_t *doc_text;          /* [n_docs] */
    size_t cap_end, cap_words, cap_text;
    uint32_t n_docs;
    struct map64 class_of;      /* tf << 8 | length to class */
    struct seg_class *classes;
    size_t n_classes, cap_classes;
};

enum status builder_new(struct builder **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    return *out ? ST_OK : err_nomem(e, "index");
}

void builder_free(struct builder *b)
{
    if (!b) return;
    map64_release(&b->numbers);
    map64_release(&b->class_of);
    free(b->terms);
    free(b->post_term);
    free(b->post_class);
    free(b->doc_end);
    free(b->doc_words);
    free(b->doc_text);
    free(b->classes);
    free(b);
}

bool builder_accepts(const struct builder *b, int64_t text)
{
    return !b->n_docs || (b->doc_text[b->n_docs - 1] < text
                          && b->n_docs < BUILD_DOCS && b->n_posts < BUILD_POSTS
                          && b->n_classes + DOC_CLASSES
                             <= SEGMENT_MAX_CLASSES);
}

uint32_t builder_docs(const struct builder *b) { return b->n_docs; }

static bool segment_build_add_term(struct builder *b, uint64_t hash)
{
    bool fresh;
    uint32_t *number = map64_put(&b->numbers, hash, &fresh);
    struct term_info *t;

    if (!number) return false;
    if (fresh) {
        if (!mem_grow(&b->terms, &b->cap_terms, b->n_terms + 1,
                      sizeof *b->terms))
            return false;
        *number = (uint32_t)b->n_terms;
        b->terms[b->n_terms++] = (struct term_info){ hash, 0, UINT32_MAX, 0 };
    }
    t = &b->terms[*number];
    if (t->last_doc == b->n_docs) {
        t->tf++;
        return true;
    }
    if (!mem_grow(&b->post_term, &b->cap_term, b->n_posts + 1,
                  sizeof *b->post_term))
        return false;
    t->last_doc = b->n_docs;
    t->tf = 1;
    t->df++;
    b->post_term[b->n_posts++] = *number;
    return true;
}

static bool class_number(struct builder *b, uint32_t tf, uint8_t length,
                         uint16_t *out)
{
    bool fresh;
    uint32_t *c = map64_put(&b->class_of, (uint64_t)tf << 8 | length, &fresh);

    if (!c) return false;
    if (fresh) {
        if (!mem_grow(&b->classes, &b->cap_classes, b->n_classes + 1,
                      sizeof *b->classes))
            return false;
        *c = (uint32_t)b->n_classes;
        b->classes[b->n_classes++]
            = (struct seg_class){ tf, 0, length, { 0 } };
    }
    b->classes[*c].count++;
    *out = (uint16_t)*c;
    return true;
}

enum status builder_add(struct builder *b, int64_t text,
                        const struct terms *terms, struct err *e)
{
    size_t begin = b->n_posts;
    uint8_t length = length_to_byte((uint32_t)terms->n);
    size_t n = b->n_docs + (size_t)1;

    assert(!b->n_docs || b->doc_text[b->n_docs - 1] < text);
    assert(b->n_docs < SEGMENT_MAX_DOCS);
    if (!mem_grow(&b->doc_end, &b->cap_end, n, sizeof *b->doc_end)
        || !mem_grow(&b->doc_words, &b->cap_words, n, sizeof *b->doc_words)
        || !mem_grow(&b->doc_text, &b->cap_text, n, sizeof *b->doc_text))
        return err_nomem(e, "index");
    for (size_t i = 0; i < terms->n; i++)
        if (!segment_build_add_term(b, terms->at[i]))
            return err_nomem(e, "index");
    if (!mem_grow(&b->post_class, &b->cap_class, b->n_posts + 1,
                  sizeof *b->post_class))
        return err_nomem(e, "index");
    for (size_t i = begin; i < b->n_posts; i++)
        if (!class_number(b, b->terms[b->post_term[i]].tf, length,
                          &b->post_class[i]))
            return err_nomem(e, "index");
    assert(b->n_posts <= UINT32_MAX && b->n_classes <= SEGMENT_MAX_CLASSES);
    b->doc_end[b->n_docs] = (uint32_t)b->n_posts;
    b->doc_words[b->n_docs] = (uint32_t)terms->n;
    b->doc_text[b->n_docs++] = text;
    return ST_OK;
}

/* ---- making the segment -------------------------------------------------- */

struct sorted_terms {           /* postings sorted by term */
    uint32_t *order;            /* [n_terms] term numbers in order of hash */
    uint32_t *at;               /* [n_terms] by number: where the term's next
                                   posting goes */
    uint32_t *doc;              /* [n_posts] */
    uint16_t *class;            /* [n_posts] */
    uint32_t *new_doc;          /* [n_docs] UINT32_MAX: dropped */
};

static void sorted_release(struct sorted_terms *s)
{
    free(s->order);
    free(s->at);
    free(s->doc);
    free(s->class);
    free(s->new_doc);
}

static bool sorted_alloc(struct sorted_terms *s, const struct builder *b)
{
    s->order = malloc((b->n_terms + 1) * sizeof *s->order);
    s->at = malloc((b->n_terms + 1) * sizeof *s->at);
    s->doc = malloc((b->n_posts + 1) * sizeof *s->doc);
    s->class = malloc((b->n_posts + 1) * sizeof *s->class);
    s->new_doc = malloc(((size_t)b->n_docs + 1) * sizeof *s->new_doc);
    return s->order && s->at && s->doc && s->class && s->new_doc;
}

static int segment_build_by_hash(const void *a, const void *b, void *terms)
{
    const struct term_info *t = terms;
    uint64_t x = t[*(const uint32_t *)a].hash;
    uint64_t y = t[*(const uint32_t *)b].hash;

    return x < y ? -1 : x > y;
}

static void sort_postings(struct sorted_terms *s, const struct builder *b)
{
    uint32_t at = 0, post = 0;

    for (uint32_t i = 0; i < b->n_terms; i++) s->order[i] = i;
    qsort_r(s->order, b->n_terms, sizeof *s->order, segment_build_by_hash,
            b->terms);
    for (size_t i = 0; i < b->n_terms; i++) {
        s->at[s->order[i]] = at;
        at += b->terms[s->order[i]].df;
    }
    assert(at == b->n_posts);
    for (uint32_t d = 0; d < b->n_docs; d++)
        for (; post < b->doc_end[d]; post++) {
            uint32_t to = s->at[b->post_term[post]]++;

            s->doc[to] = d;
            s->class[to] = b->post_class[post];
        }
}

/* Number the documents that are not dropped, and collect their ids. */
static bool segment_build_number_docs(struct sorted_terms *s,
                                      const struct builder *b,
                                      const int64_t *drop, size_t n_drop,
                                      struct id_runs *ids,
                                      struct image_facts *f)
{
    size_t at = 0;

    for (uint32_t d = 0; d < b->n_docs; d++) {
        assert(!d || b->doc_text[d - 1] < b->doc_text[d]);
        while (at < n_drop && drop[at] < b->doc_text[d]) at++;
        s->new_doc[d] = UINT32_MAX;
        if (at < n_drop && drop[at] == b->doc_text[d]) continue;
        if (!id_runs_add(ids, f->n_docs, b->doc_text[d])) return false;
        f->words += b->doc_words[d];
        s->new_doc[d] = f->n_docs++;
    }
    return true;
}

static void write_lists(struct image_writer *w, const struct sorted_terms *s,
                        const struct builder *b)
{
    uint32_t post = 0;

    for (size_t i = 0; i < b->n_terms; i++) {
        const struct term_info *t = &b->terms[s->order[i]];

        image_term(w, t->hash);
        for (uint32_t k = 0; k < t->df; k++, post++) {
            uint32_t d = s->new_doc[s->doc[post]];

            if (d != UINT32_MAX) image_post(w, d, s->class[post]);
        }
    }
    assert(post == b->n_posts);
}

static void builder_reset(struct builder *b)
{
    map64_clear(&b->numbers);
    map64_clear(&b->class_of);
    b->n_terms = b->n_posts = b->n_classes = 0;
    b->n_docs = 0;
}

enum status builder_image(struct builder *b, const struct seg_key *key,
                          int64_t number, const int64_t *drop, size_t n_drop,
                          struct image *out, struct err *e)
{
    struct image_facts f = { .key = *key, .number = number };
    struct image_writer w = { 0 };
    struct id_runs ids = { 0 };
    struct sorted_terms s = { 0 };
    enum status st = ST_OK;

    for (size_t i = 1; i < n_drop; i++) assert(drop[i - 1] <= drop[i]);
    memset(out, 0, sizeof *out);
    if (!sorted_alloc(&s, b)
        || !image_begin(&w, b->classes, (uint32_t)b->n_classes)
        || !segment_build_number_docs(&s, b, drop, n_drop, &ids, &f))
        st = err_nomem(e, "index");
    if (!st) {
        sort_postings(&s, b);
        write_lists(&w, &s, b);
        f.ids = ids.at;
        f.n_ids = ids.n;
        st = image_end(&w, &f, out, e);
    }
    if (!st) builder_reset(b);
    image_writer_release(&w);
    sorted_release(&s);
    free(ids.at);
    return st;
}
