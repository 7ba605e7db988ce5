/* mfile_format.h - the bytes of a .skmt file, for its reader and its writer.
 *
 * docs/formats/model.md explains them. Everything is little-endian and every
 * field lies at its natural alignment, so the structs are the layout:
 *
 *     header | config text | tensors ... | directory
 *
 * with zeros between the parts, fewer than MFILE_GAP. The directory comes
 * last because a writer knows it last. Magic, endian tag, version and size
 * keep their place in every version to come, so that any reader can say what
 * it was given. */
#ifndef MODEL_MFILE_FORMAT_H
#define MODEL_MFILE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mfile.h"

#define MFILE_MAGIC "SKMTMODL"          /* 8 bytes, no NUL */
#define MFILE_ENDIAN 0x01020304u
#define MFILE_ALIGN 64                  /* of every part */
#define MFILE_PAGE 4096                 /* of a tensor of MFILE_BIG or more */
#define MFILE_BIG 65536
#define MFILE_GAP 4096
#define MFILE_CONFIG_MAX 65536
#define MFILE_COUNT_MAX 100000
#define MFILE_DIM_MAX 0x40000000        /* so that int holds it, padded */

struct mfile_header {
    char magic[8];
    uint32_t endian;
    uint32_t version;
    uint64_t file_size;
    uint64_t config_offset;
    uint64_t directory_offset;
    uint32_t config_size;
    uint32_t count;                     /* entries in the directory */
    uint64_t sum;                       /* mfile_head_sum() */
    uint64_t reserved;                  /* zero */
};
_Static_assert(sizeof(struct mfile_header) == 64, "header has no holes");

struct mfile_entry {
    char name[MFILE_NAME_MAX + 1];      /* NUL to the end */
    uint32_t type;                      /* enum dtype */
    uint32_t layout;                    /* enum mfile_layout */
    uint64_t rows, cols;
    uint64_t offset, bytes;
    uint64_t sum;                       /* XXH3-64 of the bytes */
    uint64_t reserved[2];               /* zero */
};
_Static_assert(sizeof(struct mfile_entry) == 128, "entry has no holes");

/* XXH3-64. */
uint64_t mfile_sum(const void *bytes, size_t n);

/* The sum of header (its sum field taken as zero), config and directory, in
 * that order. */
uint64_t mfile_head_sum(const struct mfile_header *h, const char *config,
                        const struct mfile_entry *dir);

/* A name is 1 to MFILE_NAME_MAX of a-z 0-9 . _ - with zeros after it. */
bool mfile_name_ok(const char name[MFILE_NAME_MAX + 1]);

/* The bytes that type, layout and shape imply; 0 for a combination that
 * cannot be (an unknown type, no rows, a packed tensor of bytes). */
uint64_t mfile_bytes(uint32_t type, uint32_t layout, uint64_t rows,
                     uint64_t cols);

/* Names of packed matrices end in ".w"; all else is plain. */
enum mfile_layout mfile_layout_of(const char *name);

#endif
