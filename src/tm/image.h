/* image.h - builds the tables of an index segment in memory, term by term.
 *
 * image_begin() gets the classes and how often each will be used. Then the
 * caller adds terms by ascending hash, each followed by its postings by
 * ascending document. image_end() puts the tables together to an image.
 *
 * Invariants: hashes ascend strictly; the postings that are being collected
 * are of one block of documents, at most BLOCK_DOCS, and their documents ascend
 * strictly; every class is below n_classes. */
#ifndef TM_IMAGE_H
#define TM_IMAGE_H

#include "base/invariant.h"
#include "tm/segment_write.h"

struct image_writer {
    struct seg_class *classes;  /* [n_classes], most frequent first */
    uint32_t n_classes;
    uint16_t *rank;             /* [n_classes] the caller's class to its place
                                   in classes */
    struct seg_term *terms;
    size_t n_terms, cap_terms;
    struct seg_run *runs;
    size_t n_runs, cap_runs;
    uint8_t *posts;
    size_t n_posts, cap_posts;
    bool failed;                /* out of memory, or too large */

    /* The run that is being collected: postings of one term and block. */
    uint16_t *docs, *cls;       /* [BLOCK_DOCS], of which n are used */
    uint32_t n, block;
    bool wide;                  /* some class needs two bytes */
};

/* Copies the classes. classes[i].count says how often class i will be used.
 * Returns false when out of memory. */
bool image_begin(struct image_writer *w, const struct seg_class *classes,
                 uint32_t n_classes);
/* Begins the next term. */
void image_term(struct image_writer *w, uint64_t hash);
/* Ends the run that is being collected; it must not be empty. */
void image_flush_run(struct image_writer *w);
/* Adds a posting to the present term. */
static inline void image_post(struct image_writer *w, uint32_t doc,
                              uint32_t class)
{
    PARANOID_CHECK(class < w->n_classes && w->n <= BLOCK_DOCS);
    if (w->n && doc / BLOCK_DOCS != w->block) image_flush_run(w);
    w->block = doc / BLOCK_DOCS;
    w->docs[w->n] = (uint16_t)(doc % BLOCK_DOCS);
    w->cls[w->n] = w->rank[class];
    w->wide |= w->rank[class] >= NARROW_CLASSES;
    w->n++;
}
/* What the head of the segment needs beside the tables. */
struct image_facts {
    struct seg_key key;
    int64_t number;
    uint32_t n_docs;
    uint64_t words;
    const struct seg_ids *ids;
    size_t n_ids;
};
enum status image_end(struct image_writer *w, const struct image_facts *f,
                      struct image *out, struct err *e);
void image_writer_release(struct image_writer *w);

/* Appends a document and its text id, as a run of consecutive ids where
 * possible. Returns false when out of memory. Documents ascend. */
struct id_runs { struct seg_ids *at; size_t n, cap; int64_t next; };
bool id_runs_add(struct id_runs *r, uint32_t doc, int64_t text);

#endif
