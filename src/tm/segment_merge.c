/* segment_merge.c - merges several segments into one.
 *
 * Documents get new numbers in order of text id. Then the term tables are
 * walked together in order of hash, and the lists of each term are joined.
 * When the text ids of the segments do not overlap, which is the usual case,
 * a joined list is already in order.
 *
 * Invariants: the segments are distinct, and each document has either a new
 * number or UINT32_MAX, which means that it is left out. The new numbers of a
 * segment ascend, and no two documents have the same one. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/map64.h"
#include "base/mem.h"
#include "tm/image.h"
#include "tm/length_byte.h"

struct merge_posting { uint32_t doc, class; };

struct merge_state {
    struct segment *const *segs;
    size_t n;
    uint32_t *new_doc[MERGE_MAX];       /* UINT32_MAX: left out */
    uint32_t n_left_out[MERGE_MAX];     /* documents that are left out */
    uint32_t *new_class[MERGE_MAX];
    struct map64 class_of;
    struct seg_class *classes;
    size_t n_classes, cap_classes;
    struct id_runs ids;
    struct image_facts facts;
    struct merge_posting *posts;        /* of one term */
    size_t n_posts, cap_posts;
    bool sorted;                        /* posts ascend by document */
};

static void merge_release(struct merge_state *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->new_doc[i]);
        free(m->new_class[i]);
    }
    map64_release(&m->class_of);
    free(m->classes);
    free(m->ids.at);
    free(m->posts);
}

bool segments_fit(struct segment *const *segs, size_t n)
{
    uint64_t docs = 0, classes = 0, posts = 0;

    for (size_t i = 0; i < n; i++) {
        docs += segs[i]->n_docs - segs[i]->n_dead;
        classes += segs[i]->n_classes;
        posts += segs[i]->file.head.user[SEG_POST_BYTES];
    }
    return n <= MERGE_MAX && docs <= SEGMENT_MAX_DOCS
           && classes <= SEGMENT_MAX_CLASSES && posts < UINT32_MAX;
}

/* ---- documents ----------------------------------------------------------- */

static void segment_merge_leave_out(struct merge_state *m, size_t i,
                                    uint32_t doc)
{
    m->new_doc[i][doc] = UINT32_MAX;
    m->n_left_out[i]++;
}

/* The segment whose next live document has the lowest text id. Dead documents
 * before it are left out. Returns m->n when no document remains. */
static size_t lowest_text(struct merge_state *m, uint32_t *at)
{
    size_t best = m->n;
    int64_t best_text = 0;

    for (size_t i = 0; i < m->n; i++) {
        int64_t text;

        while (at[i] < m->segs[i]->n_docs
               && segment_is_dead(m->segs[i], at[i]))
            segment_merge_leave_out(m, i, at[i]++);
        if (at[i] >= m->segs[i]->n_docs) continue;
        text = segment_text(m->segs[i], at[i]);
        if (best == m->n || text < best_text) {
            best = i;
            best_text = text;
        }
    }
    return best;
}

static bool segment_merge_number_docs(struct merge_state *m)
{
    uint32_t at[MERGE_MAX] = { 0 };
    size_t i;

    while ((i = lowest_text(m, at)) < m->n) {
        int64_t text = segment_text(m->segs[i], at[i]);

        if (m->ids.n && text < m->ids.next) {   /* another segment had it */
            segment_merge_leave_out(m, i, at[i]++);
            continue;
        }
        if (!id_runs_add(&m->ids, m->facts.n_docs, text)) return false;
        m->new_doc[i][at[i]++] = m->facts.n_docs++;
    }
    for (i = 0; i < m->n; i++) assert(at[i] == m->segs[i]->n_docs);
    return true;
}

/* ---- classes ------------------------------------------------------------- */

static bool number_classes(struct merge_state *m, size_t i)
{
    const struct segment *s = m->segs[i];

    for (uint32_t c = 0; c < s->n_classes; c++) {
        const struct seg_class *k = &s->classes[c];
        bool fresh;
        uint32_t *to = map64_put(&m->class_of,
                                 (uint64_t)k->tf << 8 | k->length, &fresh);

        if (!to) return false;
        if (fresh) {
            if (!mem_grow(&m->classes, &m->cap_classes, m->n_classes + 1,
                          sizeof *m->classes))
                return false;
            *to = (uint32_t)m->n_classes;
            m->classes[m->n_classes++]
                = (struct seg_class){ k->tf, 0, k->length, { 0 } };
        }
        m->classes[*to].count += k->count;
        m->new_class[i][c] = *to;
    }
    return true;
}

static bool merge_alloc(struct merge_state *m)
{
    for (size_t i = 0; i < m->n; i++) {
        m->new_doc[i] = malloc(((size_t)m->segs[i]->n_docs + 1)
                               * sizeof *m->new_doc[i]);
        m->new_class[i] = malloc(((size_t)m->segs[i]->n_classes + 1)
                                 * sizeof *m->new_class[i]);
        if (!m->new_doc[i] || !m->new_class[i] || !number_classes(m, i))
            return false;
    }
    return segment_merge_number_docs(m);
}

/* ---- posting lists ------------------------------------------------------- */

/* Append the postings of a run of segment i to the joined list. Postings that
 * are out of range are skipped. */
static bool append_run(struct merge_state *m, size_t i, struct seg_run run,
                       const uint8_t *p)
{
    uint32_t n = run_count(run), base = (run.block & ~RUN_WIDE) * BLOCK_DOCS;
    const uint8_t *cls = p + 2 * (size_t)n;

    if (!mem_grow(&m->posts, &m->cap_posts, m->n_posts + n, sizeof *m->posts))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        uint16_t low, class = cls[k];
        struct merge_posting to;

        memcpy(&low, p + 2 * (size_t)k, 2);
        if (run.block & RUN_WIDE) memcpy(&class, cls + 2 * (size_t)k, 2);
        if (base + low >= m->segs[i]->n_docs
            || class >= m->segs[i]->n_classes)
            continue;
        to.doc = m->new_doc[i][base + low];
        if (to.doc == UINT32_MAX) continue;
        to.class = m->new_class[i][class];
        if (m->n_posts && m->posts[m->n_posts - 1].doc >= to.doc)
            m->sorted = false;
        m->posts[m->n_posts++] = to;
    }
    return true;
}

static bool append_list(struct merge_state *m, size_t i, uint32_t term)
{
    const struct segment *s = m->segs[i];
    const struct seg_term *t = &s->terms[term];
    const uint8_t *p = s->posts + (uint64_t)t->post * 2;

    for (uint32_t r = t->run; r < t[1].run; r++) {
        if (!append_run(m, i, s->runs[r], p)) return false;
        p += run_bytes(s->runs[r]);
    }
    return true;
}

static int by_doc(const void *a, const void *b)
{
    const struct merge_posting *x = a, *y = b;

    return x->doc < y->doc ? -1 : x->doc > y->doc;
}

static void write_list(struct merge_state *m, struct image_writer *w,
                       uint64_t hash)
{
    if (!m->n_posts) return;
    if (!m->sorted) qsort(m->posts, m->n_posts, sizeof *m->posts, by_doc);
    image_term(w, hash);
    assert(m->posts[m->n_posts - 1].doc < m->facts.n_docs);
    for (size_t k = 0; k < m->n_posts; k++)
        if (!k || m->posts[k].doc != m->posts[k - 1].doc)
            image_post(w, m->posts[k].doc, m->posts[k].class);
}

static bool segment_merge_lists(struct merge_state *m, struct image_writer *w)
{
    uint32_t at[MERGE_MAX] = { 0 };

    for (;;) {
        uint64_t hash = UINT64_MAX;
        bool any = false;

        for (size_t i = 0; i < m->n; i++)
            if (at[i] < m->segs[i]->n_terms) {
                any = true;
                if (m->segs[i]->terms[at[i]].hash < hash)
                    hash = m->segs[i]->terms[at[i]].hash;
            }
        if (!any) return true;
        m->n_posts = 0;
        m->sorted = true;
        for (size_t i = 0; i < m->n; i++)
            if (at[i] < m->segs[i]->n_terms
                && m->segs[i]->terms[at[i]].hash == hash
                && !append_list(m, i, at[i]++))
                return false;
        write_list(m, w, hash);
    }
}

/* The exact lengths of the documents of segment i that are left out, summed.
 * Segments do not store exact lengths, so the frequencies are added up. */
static uint64_t words_left_out(const struct merge_state *m, size_t i)
{
    const struct segment *s = m->segs[i];
    uint64_t words = 0;

    if (!m->n_left_out[i]) return 0;
    for (uint32_t t = 0; t < s->n_terms; t++) {
        const uint8_t *p = s->posts + (uint64_t)s->terms[t].post * 2;

        for (uint32_t r = s->terms[t].run; r < s->terms[t + 1].run; r++) {
            struct seg_run run = s->runs[r];
            uint32_t n = run_count(run);
            uint32_t base = (run.block & ~RUN_WIDE) * BLOCK_DOCS;

            for (uint32_t k = 0; k < n; k++) {
                uint16_t low, class = p[2 * (size_t)n + k];

                memcpy(&low, p + 2 * (size_t)k, 2);
                if (run.block & RUN_WIDE)
                    memcpy(&class, p + 2 * (size_t)n + 2 * (size_t)k, 2);
                if (base + low < s->n_docs && class < s->n_classes
                    && m->new_doc[i][base + low] == UINT32_MAX)
                    words += s->classes[class].tf;
            }
            p += run_bytes(run);
        }
    }
    return words;
}

enum status segments_merge(struct segment *const *segs, size_t n,
                           const struct seg_key *key, int64_t number,
                           struct image *out, struct err *e)
{
    struct merge_state m = { .segs = segs, .n = n,
                       .facts = { .key = *key, .number = number } };
    struct image_writer w = { 0 };
    enum status st = ST_OK;

    assert(n > 0 && n <= MERGE_MAX);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) assert(segs[i] != segs[k]);
    memset(out, 0, sizeof *out);
    if (!merge_alloc(&m)
        || !image_begin(&w, m.classes, (uint32_t)m.n_classes)
        || !segment_merge_lists(&m, &w))
        st = err_nomem(e, "merging the index");
    for (size_t i = 0; !st && i < n; i++)
        m.facts.words += segs[i]->words - words_left_out(&m, i);
    assert(st || m.facts.n_docs <= SEGMENT_MAX_DOCS);
    m.facts.ids = m.ids.at;
    m.facts.n_ids = m.ids.n;
    if (!st) st = image_end(&w, &m.facts, out, e);
    image_writer_release(&w);
    merge_release(&m);
    return st;
}
