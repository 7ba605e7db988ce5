/* segment.h - an immutable part of the index, one file.
 *
 * Documents are numbered from 0 in order of text id. The file (pagefile.h) has
 * five tables:
 *
 *   ids      runs of consecutive text ids: first document, its id
 *   classes  the (term frequency, length byte) pairs that occur, commonest
 *            first, and how often
 *   terms    hash, where its runs and postings begin; ascending, one more at
 *            the end; found by interpolation, hashes being even
 *   runs     a term's postings in one block of 2^16 documents: block number
 *            (top bit: wide) and count - 1, 16 bits each
 *   posts    for each run count document numbers in the block, 16 bits each,
 *            then count classes of one byte (wide: two), to an even length
 *
 * So a posting takes three bytes, needs no decoding, and what it adds to a
 * score is found in a table of 256 entries. */
#ifndef TM_SEGMENT_H
#define TM_SEGMENT_H

#include "tm/pagefile.h"

#define SEGMENT_MAGIC "SKMTSEG"
/* Also raised when analyze() gives a text other terms than before. */
#define SEGMENT_VERSION 1
#define SEGMENT_MAX_DOCS (1u << 20)
#define BLOCK_DOCS 65536u
#define RUN_WIDE 0x8000u
#define NARROW_CLASSES 256u
#define SEGMENT_MAX_CLASSES 65536u

struct seg_ids { uint32_t doc, zero; int64_t text; };
struct seg_class { uint32_t tf, count; uint8_t length, zero[3]; };
struct seg_term { uint64_t hash; uint32_t run, post; }; /* post: in 2 bytes */
struct seg_run { uint16_t block, last; };               /* last: count - 1 */

/* Names of the head's numbers. */
enum { SEG32_DOCS, SEG32_TERMS, SEG32_CLASSES, SEG32_IDS, SEG32_RUNS };
enum { SEG_UUID, SEG_ANALYZER, SEG_NUMBER, SEG_MEMORY, SEG_WORDS, SEG_AT_IDS,
       SEG_AT_CLASSES, SEG_AT_TERMS, SEG_AT_RUNS, SEG_AT_POSTS,
       SEG_POST_BYTES };

struct segment {
    struct pagefile file;
    int64_t number;             /* 0: in memory only */
    uint32_t n_docs, n_terms, n_classes, n_ids, n_runs;
    uint64_t words;             /* sum of the documents' exact lengths */
    const struct seg_ids *ids;          /* [n_ids] */
    const struct seg_class *classes;    /* [n_classes] */
    const struct seg_term *terms;       /* [n_terms + 1] */
    const struct seg_run *runs;         /* [n_runs] */
    const uint8_t *posts;

    uint64_t *dead;             /* a bit per document; NULL: none */
    uint32_t n_dead;
    int64_t first_dead;         /* the change that struck out the first;
                                   index.c's */
    double *impact;             /* [n_classes] tf / (tf + norm), bm25.c's */
    double impact_for;          /* the average length it was made for */
    double max_impact;
};

struct seg_key { uint64_t uuid, analyzer; int64_t memory; };

/* ST_FORMAT: missing, damaged, or not the one that was meant. checksum is the
 * head's, as the manifest has it. */
enum status segment_open(struct segment **out, const char *path,
                         const struct seg_key *key, int64_t number,
                         uint64_t checksum, struct err *e);
/* Over an image made by segment_write.h; takes data. */
enum status segment_adopt(struct segment **out,
                          const struct pagefile_head *head, uint8_t *data,
                          uint64_t n, struct err *e);
void segment_close(struct segment *s);          /* NULL is fine */

/* All bytes verified, offsets and the order of terms and runs checked: before a
 * merge. */
bool segment_sound(struct segment *s);

struct seg_list {
    const struct seg_run *runs;
    uint32_t n_runs;
    uint32_t df;                /* sum of the runs' counts; 0: no such term */
    const uint8_t *posts;
};
/* false: the file is damaged there. */
bool segment_find(struct segment *s, uint64_t hash, struct seg_list *out);
static inline uint32_t run_count(struct seg_run r) { return r.last + 1u; }
static inline size_t run_bytes(struct seg_run r)
{
    uint32_t n = run_count(r);

    return r.block & RUN_WIDE ? 4 * (size_t)n : (3 * (size_t)n + 1) / 2 * 2;
}

int64_t segment_text(const struct segment *s, uint32_t doc);
/* false: not in this segment. */
bool segment_doc(const struct segment *s, int64_t text, uint32_t *doc);

static inline bool segment_is_dead(const struct segment *s, uint32_t doc)
{
    return s->dead && s->dead[doc / 64] >> doc % 64 & 1;
}
bool segment_kill(struct segment *s, uint32_t doc);     /* false: no memory */
void segment_revive(struct segment *s);         /* no document is dead */

#endif
