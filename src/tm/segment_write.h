/* segment_write.h - make segments: from texts, or out of other segments.
 *
 * A builder takes documents in ascending order of text id and keeps their
 * postings in memory (some 12 bytes each); builder_accepts()
 * says when it is time to make a segment of them. The result is an image: the
 * data of a page file, to be written or used as it is. */
#ifndef TM_SEGMENT_WRITE_H
#define TM_SEGMENT_WRITE_H

#include "tm/analyze.h"
#include "tm/segment.h"

struct image {                  /* zeroed to begin with */
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
/* Can it take this text too? Not when it is full, or has a later one. */
bool builder_accepts(const struct builder *b, int64_t text);
uint32_t builder_docs(const struct builder *b);
/* The segment of all that was added but the texts in drop (ascending); the
 * builder is empty afterwards. key and number go into the head. */
enum status builder_image(struct builder *b, const struct seg_key *key,
                          int64_t number, const int64_t *drop, size_t n_drop,
                          struct image *out, struct err *e);

/* One segment out of several; dead documents are left out. All must be sound
 * (segment_sound), their documents together at most SEGMENT_MAX_DOCS. */
#define MERGE_MAX 64
bool segments_fit(struct segment *const *segs, size_t n);
enum status segments_merge(struct segment *const *segs, size_t n,
                           const struct seg_key *key, int64_t number,
                           struct image *out, struct err *e);

#endif
