/* ivfpq_file.h - open an index file: the inverted lists and codes by which the
 * entries of a datastore are searched approximately.
 *
 * docs/formats/index.md describes the file, and ivfpq_build.h writes it. The
 * file is mapped. ivfpq_file_open verifies the checksums of all bytes and every
 * number, so nobody who uses the arrays has to check them again. Faiss never
 * reads a file: it gets these arrays.
 *
 * An open file never changes, and threads may share it. */
#ifndef KNN_IVFPQ_FILE_H
#define KNN_IVFPQ_FILE_H

#include <stdbool.h>

#include "base/file.h"
#include "knn/entries.h"

#define IVFPQ_MAGIC "SKMTIVPQ"                  /* 8 bytes, no NUL */
#define IVFPQ_ENDIAN 0x01020304u
#define IVFPQ_VERSION 1u
#define IVFPQ_PAGE 4096                         /* bytes of the header */
#define IVFPQ_LISTS_MAX (1 << 20)
#define IVFPQ_CODES 256                         /* centroids of a codebook */

/* The layout of the file: this, zeros up to IVFPQ_PAGE, then the arrays of
 * struct ivfpq_file. Numbers are little-endian. */
struct ivfpq_header {
    char magic[8];
    uint32_t endian, version;
    uint64_t size;              /* of the file */
    uint64_t sum;               /* XXH3-64 of the page, with 0 here */
    uint64_t payload_sum;       /* XXH3-64 of the rest of the file */
    uint64_t store;             /* of the datastore: its number */
    uint64_t keys;              /* ..its keys (datastore_file_keys_sum) */
    uint64_t model;             /* ..its model */
    uint64_t stored;            /* ..its entries, with deleted ones */
    uint64_t n;                 /* entries in the lists */
    uint32_t blocks;            /* blocks of entries of the datastore */
    uint32_t d;                 /* numbers of a key */
    uint32_t lists, subvectors;
    uint32_t probes;            /* lists that a search reads by default */
    uint32_t reserved;          /* zero */
    uint64_t sample, seed;      /* keys that it was trained with, and the seed
                                   by which they were drawn */
};
_Static_assert(sizeof(struct ivfpq_header) == 120, "header has no holes");

/* Where the arrays begin, from the beginning of the file, and the size of the
 * file. */
struct ivfpq_layout {
    uint64_t centroids, codebooks, begin, ids, codes, size;
};

struct ivfpq_file {
    struct mapping map;
    bool mapped;                /* close map; otherwise the caller owns it */
    struct ivfpq_header head;
    const float *centroids;     /* [lists, d] finite */
    const float *codebooks;     /* [subvectors, 256, d / subvectors] finite */
    const uint64_t *begin;      /* [lists + 1] ascending from 0 to n */
    const int64_t *ids;         /* [n] numbers of entries (entry_numbers.h),
                                   below `stored`, ascending in each list */
    const uint8_t *codes;       /* [n, subvectors] */
};

enum status ivfpq_file_open(struct ivfpq_file *f, const char *path,
                            struct err *e);
/* The same for a file in memory, aligned to 64 bytes, which must stay valid and
 * unchanged. `name` is used in messages. */
enum status ivfpq_file_open_memory(struct ivfpq_file *f, const void *bytes,
                                   size_t size, const char *name,
                                   struct err *e);
void ivfpq_file_close(struct ivfpq_file *f);    /* a zeroed struct is fine */

/* Fails unless the index was built from this datastore, which may have had
 * fewer blocks then. s comes from datastore_file_open. */
enum status ivfpq_file_fits(const struct ivfpq_file *f, const char *path,
                            const struct entries *s, struct err *e);

/* Whether a file begins like an index, whatever its state. */
bool ivfpq_file_is(const char *path);

/* For the writer. lists, d and n are in range. */
struct ivfpq_layout ivfpq_layout_of(const struct ivfpq_header *h);
uint64_t ivfpq_header_sum(const uint8_t page[IVFPQ_PAGE]);

#endif
