/* datastore_format.h - the layout of a datastore file, for its reader and its
 * writer.
 *
 * docs/formats/datastore.md explains the fields. Numbers are little-endian and
 * naturally aligned, so the structs below are the layout of the file:
 *
 *     two slots with the header | block | block | ..
 *
 * Slots and blocks begin at multiples of DATASTORE_PAGE. Only `size` bytes of
 * the file count, as the header says; a writer that was interrupted may have
 * left others after them. Magic, endian tag and version keep their places in
 * all future versions. */
#ifndef KNN_DATASTORE_FORMAT_H
#define KNN_DATASTORE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "knn/datastore_file.h"

#define DATASTORE_MAGIC "SKMTKNNS"              /* 8 bytes, no NUL */
#define DATASTORE_BLOCK_MAGIC "SKMTBLCK"        /* 8 bytes, no NUL */
#define DATASTORE_ENDIAN 0x01020304u
#define DATASTORE_VERSION 1u
#define DATASTORE_PAGE 4096
#define DATASTORE_SLOTS (2 * DATASTORE_PAGE)    /* the blocks begin here */
#define DATASTORE_ALIGN 64                      /* of the arrays of a block */
#define DATASTORE_DIM_MAX 65536
#define DATASTORE_COUNT_MAX (1u << 30)          /* of a block: entries, pairs,
                                                   source tokens, links */

/* Bits of datastore_header.flags. */
enum {
    DATASTORE_EOS = 1,          /* pairs have an entry for EOS */
    DATASTORE_SOURCES = 2,      /* blocks have source tokens */
    DATASTORE_WEIGHTS = 4,      /* entries have weights */
    DATASTORE_MAP = 8,          /* the first block is a map */
    DATASTORE_BUILDING = 16,    /* not all pairs were added yet */
    DATASTORE_FLAGS = 31
};

/* Both slots have the same contents, unless a writer was interrupted between
 * the two. The rest of a slot is zeros. */
struct datastore_header {
    char magic[8];
    uint32_t endian, version;
    uint64_t sequence;          /* number of the commit, from 1 */
    uint64_t size;              /* bytes of the file that count */
    uint64_t sum;               /* XXH3-64 of the slot, with 0 here */
    uint64_t store;             /* random number of this file, not 0 */
    uint64_t model;             /* of the weights and the tokenizer */
    uint32_t d_model, d, vocab;
    uint32_t type;              /* enum entry_type */
    uint32_t kind;              /* enum state_kind */
    uint32_t flags;
    uint64_t entries;           /* of all blocks, with those of deleted pairs */
    uint32_t pairs;             /* of all blocks, with deleted ones */
    uint32_t deleted;           /* deleted pairs */
    uint32_t blocks;            /* of all kinds */
    uint32_t reserved;          /* zero */
    uint64_t memory;            /* identity of the memory; 0: none */
    uint64_t request;           /* DATASTORE_BUILDING: what is to be built */
    int64_t last;               /* DATASTORE_BUILDING: the last pair of the
                                   memory that was added or left out */
};
_Static_assert(sizeof(struct datastore_header) == 128, "header has no holes");

enum datastore_block_kind {
    DATASTORE_ENTRIES = 1,
    DATASTORE_DELETED,          /* numbers of deleted pairs */
    DATASTORE_MAPPING           /* mean and matrix of a struct entry_map */
};

struct datastore_block {        /* begins a block */
    char magic[8];
    uint64_t store;             /* that of the header */
    uint64_t at;                /* where it begins in the file */
    uint64_t bytes;             /* of the block */
    uint64_t table_sum;         /* XXH3-64 of the arrays before the keys */
    uint64_t key_sum;           /* XXH3-64 of the keys, to the end */
    uint64_t text_bytes;
    uint32_t kind;              /* enum datastore_block_kind */
    uint32_t first_pair;        /* number of its first pair */
    uint32_t n;                 /* entries; DATASTORE_DELETED: pairs */
    uint32_t n_pairs, n_src, n_links;
    uint64_t reserved[5];       /* zero */
    uint64_t sum;               /* XXH3-64 of this struct, with 0 here */
};
_Static_assert(sizeof(struct datastore_block) == 128, "block has no holes");

/* A pair of a block. Its texts are in the text of the block: the source, a NUL,
 * the target, a NUL. The texts, entries and source tokens of the pairs follow
 * each other in the order of the pairs. */
struct datastore_pair {
    uint64_t hi, lo;            /* struct key_id of its texts */
    int64_t id;                 /* its number in the memory; 0: none */
    uint32_t text;              /* where its source begins */
    uint32_t source_bytes, target_bytes;
    uint32_t n_src;             /* its source tokens */
};
_Static_assert(sizeof(struct datastore_pair) == 40, "pair has no holes");

/* The arrays of a block, in the order of the file. np is n padded to
 * ENTRY_PANEL. An array that a block does not have takes no space. */
enum datastore_part {
    PART_MEAN,                  /* f32 [d_model] */
    PART_MATRIX,                /* f32 [d, d_model] */
    PART_LIST,                  /* uint32 [n] */
    PART_SPAN,                  /* struct entry_span [n_pairs] */
    PART_PAIRS,                 /* struct datastore_pair [n_pairs] */
    PART_TOKEN,                 /* int32 [np] */
    PART_PAIR,                  /* int32 [np] */
    PART_NORM,                  /* f32 [np] */
    PART_SCALE,                 /* f32 [np] */
    PART_COMP,                  /* int32 [np] */
    PART_LOG_WEIGHT,            /* f32 [np] */
    PART_POS,                   /* uint16 [np] */
    PART_SRC_TOKEN,             /* int32 [n_src] */
    PART_SRC_SCALE,             /* f32 [n_src] */
    PART_LINK_BEGIN,            /* uint32 [n_src + 1] */
    PART_LINK,                  /* uint32 [n_links] */
    PART_TEXT,                  /* bytes */
    PART_KEYS,                  /* struct entry_block.keys */
    PART_SRC_KEYS,              /* int8 [n_src, src_ld] */
    PART_COUNT
};

struct datastore_layout {
    uint64_t at[PART_COUNT];    /* from the beginning of the block */
    uint64_t bytes[PART_COUNT];
    uint64_t total;             /* of the block */
};

/* Compute where the arrays of a block are. Returns false if the numbers of the
 * block are too large or do not fit its kind. h is sound. */
bool datastore_layout_of(const struct datastore_header *h,
                         const struct datastore_block *b,
                         struct datastore_layout *out);

/* The bytes of n keys, n a multiple of ENTRY_PANEL; the numbers of a source
 * key in the file. */
uint64_t datastore_key_bytes(const struct datastore_header *h, uint64_t n);
uint64_t datastore_src_ld(const struct datastore_header *h);

uint64_t datastore_slot_sum(const uint8_t slot[DATASTORE_PAGE]);
uint64_t datastore_block_sum(const struct datastore_block *b);
uint64_t datastore_sum(const void *bytes, size_t n);

/* Copy the newest valid slot of a file to *out. `bytes` are the first
 * DATASTORE_SLOTS bytes of the file, or all if it is shorter. valid[i] says
 * whether slot i is valid. If none is, the error says what kind of file this
 * is. Every field of *out is in range, but not compared with the file. */
enum status datastore_header_read(const uint8_t *bytes, uint64_t file_size,
                                  const char *path,
                                  struct datastore_header *out, bool valid[2],
                                  struct err *e);
/* Whether this is what is left of a file whose creation was interrupted: it has
 * no room for blocks, and not two slots. `bytes` as above. */
bool datastore_is_blank(const uint8_t *bytes, uint64_t file_size);

struct datastore_info datastore_info_of(const struct datastore_header *h);

/* Copy an int8 key from or to the panels of a block. `padded` is d padded to
 * 4. */
void datastore_key_unpack(const void *panels, int i, int padded, int8_t *key);
void datastore_key_pack(void *panels, int i, int padded, const int8_t *key);

/* The squared norm of a key, rounded up to a float, so that two writers agree.
 * Infinity if a number of the key is not finite. */
float datastore_norm_int8(const int8_t *key, int d, float scale);
float datastore_norm_f16(const uint16_t *key, int d);

#endif
