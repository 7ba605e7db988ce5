/* image.h - a segment's tables, written term by term.
 *
 * image_begin() is told the classes and how often each will be used; then come
 * terms in ascending order of hash, each followed by its postings in ascending
 * order of document; image_end() puts the tables together. */
#ifndef TM_IMAGE_H
#define TM_IMAGE_H

#include "tm/segment_write.h"

struct image_writer {
    struct seg_class *classes;  /* [n_classes], commonest first */
    uint32_t n_classes;
    uint16_t *rank;             /* [n_classes] given class to its place */
    struct seg_term *terms;
    size_t n_terms, cap_terms;
    struct seg_run *runs;
    size_t n_runs, cap_runs;
    uint8_t *posts;
    size_t n_posts, cap_posts;
    bool failed;                /* no memory, or too large */

    uint16_t *docs, *cls;       /* [BLOCK_DOCS] of the run being collected */
    uint32_t n, block;
    bool wide;
};

/* classes[i].count says how often; copied. */
bool image_begin(struct image_writer *w, const struct seg_class *classes,
                 uint32_t n_classes);
void image_term(struct image_writer *w, uint64_t hash);
void image_flush_run(struct image_writer *w);
static inline void image_post(struct image_writer *w, uint32_t doc,
                              uint32_t class)
{
    if (w->n && doc / BLOCK_DOCS != w->block) image_flush_run(w);
    w->block = doc / BLOCK_DOCS;
    w->docs[w->n] = (uint16_t)(doc % BLOCK_DOCS);
    w->cls[w->n] = w->rank[class];
    w->wide |= w->rank[class] >= NARROW_CLASSES;
    w->n++;
}
/* What the head needs beside the tables. */
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

/* Append to runs of ids; false: no memory. */
struct id_runs { struct seg_ids *at; size_t n, cap; int64_t next; };
bool id_runs_add(struct id_runs *r, uint32_t doc, int64_t text);

#endif
