/* segment.h - an immutable part of the index, one file.
 *
 * Documents are numbered from 0 in order of text id. The file (pagefile.h) has
 * five tables:
 *
 *   ids      runs of consecutive text ids: the first document of the run and
 *            its text id
 *   classes  the pairs (term frequency, length byte) that occur, most frequent
 *            first, and how often each occurs
 *   terms    the hash of a term and where its runs and postings begin, in
 *            ascending order of hash, with one more entry at the end. Terms
 *            are found by interpolation, because hashes are evenly spread.
 *   runs     the postings of a term in one block of 2^16 documents: block
 *            number (top bit: wide) and count - 1, 16 bits each, in ascending
 *            order of block
 *   posts    for each run `count` document numbers within the block, 16 bits
 *            each and ascending, then `count` class numbers of one byte (wide:
 *            two bytes), padded to an even length
 *
 * So a posting takes three bytes and needs no decoding, and what it adds to a
 * score is found in a table of 256 entries.
 *
 * The tables are never changed. What changes in memory are the marks of
 * deleted documents: a document is marked deleted (dead) when its text was
 * removed from the store after the segment was written. n_dead is the number
 * of bits set in `dead`, and first_dead is 0 if and only if index.c has marked
 * no document deleted.
 *
 * Opening verifies the head and the tables of ids and classes. Everything else
 * is verified when it is first used, so a damaged file is found by
 * segment_find or segment_sound, never by a crash. */
#ifndef TM_SEGMENT_H
#define TM_SEGMENT_H

#include "tm/pagefile.h"

#define SEGMENT_MAGIC "SKMTSEG"
/* Must also be raised when analyze() changes the terms of a text. */
#define SEGMENT_VERSION 1
#define SEGMENT_MAX_DOCS (1u << 20)
#define BLOCK_DOCS 65536u
#define RUN_WIDE 0x8000u
#define NARROW_CLASSES 256u
#define SEGMENT_MAX_CLASSES 65536u

struct seg_ids { uint32_t doc, zero; int64_t text; };
struct seg_class { uint32_t tf, count; uint8_t length, zero[3]; };
struct seg_term { uint64_t hash; uint32_t run, post; }; /* post: offset / 2 */
struct seg_run { uint16_t block, last; };               /* last: count - 1 */

/* Indices of the numbers in the head: pagefile_head.user32 and .user. */
enum { SEG32_DOCS, SEG32_TERMS, SEG32_CLASSES, SEG32_IDS, SEG32_RUNS };
enum { SEG_UUID, SEG_ANALYZER, SEG_NUMBER, SEG_MEMORY, SEG_WORDS, SEG_AT_IDS,
       SEG_AT_CLASSES, SEG_AT_TERMS, SEG_AT_RUNS, SEG_AT_POSTS,
       SEG_POST_BYTES };

struct segment {
    struct pagefile file;
    int64_t number;             /* 0: in memory only */
    uint32_t n_docs, n_terms, n_classes, n_ids, n_runs;
    uint64_t words;             /* sum of the exact lengths, in terms, of all
                                   documents, dead ones too */
    const struct seg_ids *ids;          /* [n_ids] */
    const struct seg_class *classes;    /* [n_classes] */
    const struct seg_term *terms;       /* [n_terms + 1] */
    const struct seg_run *runs;         /* [n_runs] */
    const uint8_t *posts;

    uint64_t *dead;             /* a bit per document; NULL: none is dead */
    uint32_t n_dead;
    int64_t first_dead;         /* the first change that deleted a document;
                                   set by index.c */
    double *impact;             /* [n_classes] tf / (tf + norm); by bm25.c */
    double impact_for;          /* the average length that impact is for */
    double max_impact;          /* the largest of impact */
};

struct seg_key { uint64_t uuid, analyzer; int64_t memory; };

/* ST_FORMAT: the file is missing, damaged, or another one than the manifest
 * lists. checksum: of the head, from the manifest. */
enum status segment_open(struct segment **out, const char *path,
                         const struct seg_key *key, int64_t number,
                         uint64_t checksum, struct err *e);
/* A segment in memory, from an image of segment_write.h. Takes data, also when
 * it fails. */
enum status segment_adopt(struct segment **out,
                          const struct pagefile_head *head, uint8_t *data,
                          uint64_t n, struct err *e);
void segment_close(struct segment *s);          /* NULL is fine */

/* Verify all bytes, the offsets, and the order of terms and runs. Must be true
 * before a merge. */
bool segment_sound(struct segment *s);
/* Whether n_dead matches the marks, for PARANOID_CHECK. */
bool segment_dead_sound(const struct segment *s);

struct seg_list {
    const struct seg_run *runs;
    uint32_t n_runs;
    uint32_t df;                /* number of postings; 0: no such term */
    const uint8_t *posts;
};
/* The posting list of a term. False: the file is damaged there. */
bool segment_find(struct segment *s, uint64_t hash, struct seg_list *out);
static inline uint32_t run_count(struct seg_run r) { return r.last + 1u; }
static inline size_t run_bytes(struct seg_run r)
{
    uint32_t n = run_count(r);

    return r.block & RUN_WIDE ? 4 * (size_t)n : (3 * (size_t)n + 1) / 2 * 2;
}

/* The text id of a document, and the document of a text id. */
int64_t segment_text(const struct segment *s, uint32_t doc);
/* false: the text is not in this segment. */
bool segment_doc(const struct segment *s, int64_t text, uint32_t *doc);

static inline bool segment_is_dead(const struct segment *s, uint32_t doc)
{
    return s->dead && s->dead[doc / 64] >> doc % 64 & 1;
}
/* Mark a live document dead. False: out of memory. */
bool segment_mark_deleted(struct segment *s, uint32_t doc);
/* Clear all marks of deleted documents. */
void segment_clear_deleted(struct segment *s);

#endif
