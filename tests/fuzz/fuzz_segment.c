/* fuzz_segment.c - opens any bytes as an index segment.
 *
 * The bytes are the numbers in the head of a segment and its data. They are
 * taken as verified. The segment is either refused or can be searched, checked
 * and, if it is sound, merged without any access out of bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tm/bm25.h"
#include "tm/segment_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static struct segment *open_bytes(const uint8_t *bytes, size_t n)
{
    struct pagefile_head head = { .version = SEGMENT_VERSION };
    size_t fixed = sizeof head.user32 + 12 * sizeof head.user[0];
    struct segment *s;
    uint8_t *data;
    struct err e;

    if (n < fixed) return NULL;
    memcpy(head.magic, SEGMENT_MAGIC, sizeof head.magic);
    memcpy(head.user32, bytes, sizeof head.user32);
    memcpy(head.user, bytes + sizeof head.user32, 12 * sizeof head.user[0]);
    data = malloc(n - fixed + 1);
    if (!data) return NULL;
    memcpy(data, bytes + fixed, n - fixed);
    return segment_adopt(&s, &head, data, n - fixed, &e) ? NULL : s;
}

static void search(struct segment *s)
{
    struct bm25_parts parts = { &s, 1, NULL, NULL, s->n_docs, s->words };
    uint64_t query[12] = { 1, 2, UINT64_MAX };
    struct terms terms = { .at = query, .n = 3 };
    struct segment *damaged;
    struct hit hits[16];
    struct bm25 *b;
    size_t found;
    struct err e;

    /* Terms that the segment has, or claims to have. */
    for (uint32_t i = 0; i < s->n_terms && terms.n < 12; i++)
        query[terms.n++] = s->terms[i].hash;
    if (bm25_new(&b, &e)) return;
    bm25_search(b, &parts, &terms, 16, hits, &found, &damaged, &e);
    bm25_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct seg_key key = { 1, 0, 1 };
    struct segment *s = open_bytes(bytes, n);
    struct image im;
    uint32_t doc;
    struct err e;

    if (!s) return 0;
    search(s);
    for (int64_t text = -2; text < 40; text++)
        if (segment_doc(s, text, &doc) && doc % 3 == 0)
            segment_mark_deleted(s, doc);
    if (segment_sound(s) && segments_fit(&s, 1)
        && !segments_merge(&s, 1, &key, 2, &im, &e))
        image_release(&im);
    segment_close(s);
    return 0;
}
