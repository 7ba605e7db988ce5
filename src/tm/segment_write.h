/* segment_write.h - makes segments from texts, or from other segments.
 *
 * A builder accepts documents in ascending order of text id and keeps their
 * postings in memory, about 12 bytes each. When builder_accepts() is false,
 * the caller makes a segment of them. The result is an image: the data of a
 * page file, which can be written to disk or used in memory. */
#ifndef TM_SEGMENT_WRITE_H
#define TM_SEGMENT_WRITE_H

#include "tm/analyze.h"
#include "tm/segment.h"

struct image {                  /* initialize with zeros */
    struct pagefile_head head;
    uint8_t *data;              /* malloc memory */
    uint64_t n;
};
void image_release(struct image *im);

struct builder;
enum status builder_new(struct builder **out, struct err *e);
void builder_free(struct builder *b);           /* NULL is fine */
enum status builder_add(struct builder *b, int64_t text,
                        const struct terms *terms, struct err *e);
/* False when the builder is full or has a text with the same or a higher id. */
bool builder_accepts(const struct builder *b, int64_t text);
uint32_t builder_docs(const struct builder *b);
/* The segment of all documents that were added, without the texts in drop
 * (ascending). The builder is empty afterwards, unless there is an error. key
 * and number go into the head. */
enum status builder_image(struct builder *b, const struct seg_key *key,
                          int64_t number, const int64_t *drop, size_t n_drop,
                          struct image *out, struct err *e);

/* Merge segments into one, without their dead documents. All of them must be
 * sound (segment_sound), and segments_fit must be true. A text that several
 * segments have is taken once. */
#define MERGE_MAX 64
bool segments_fit(struct segment *const *segs, size_t n);
enum status segments_merge(struct segment *const *segs, size_t n,
                           const struct seg_key *key, int64_t number,
                           struct image *out, struct err *e);

#endif
