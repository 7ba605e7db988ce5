/* mfile_format.h - the layout of a .skmt file, for its reader and its writer.
 *
 * docs/formats/model.md explains the fields. Numbers are little-endian and
 * naturally aligned, so the structs below are the layout of the file:
 *
 *     header | config text | tensors ... | directory
 *
 * Between the parts there are fewer than MFILE_GAP bytes, all zero. The
 * directory comes last because a writer knows it last. Magic, endian tag,
 * version and size keep their places in all future versions, so that any
 * reader can tell the user what kind of file it is. */
#ifndef MODEL_MFILE_FORMAT_H
#define MODEL_MFILE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/mfile.h"

#define MFILE_MAGIC "SKMTMODL"          /* 8 bytes, no NUL */
#define MFILE_ENDIAN 0x01020304u
#define MFILE_ALIGN 64                  /* alignment of every part */
#define MFILE_PAGE 4096                 /* alignment of a large tensor */
#define MFILE_BIG 65536                 /* size from which it is large */
#define MFILE_GAP 4096
#define MFILE_CONFIG_MAX 65536
#define MFILE_COUNT_MAX 100000
#define MFILE_DIM_MAX 0x40000000        /* fits in an int when padded */

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
    char name[MFILE_NAME_MAX + 1];      /* padded with NUL bytes */
    uint32_t type;                      /* enum dtype */
    uint32_t layout;                    /* enum mfile_layout */
    uint64_t rows, cols;
    uint64_t offset, bytes;
    uint64_t sum;                       /* XXH3-64 of the bytes */
    uint64_t reserved[2];               /* zero */
};
_Static_assert(sizeof(struct mfile_entry) == 128, "entry has no holes");

/* The XXH3-64 checksum of some bytes. */
uint64_t mfile_sum(const void *bytes, size_t n);

/* The checksum of header (with its field `sum` set to zero), config and
 * directory, in this order. */
uint64_t mfile_head_sum(const struct mfile_header *h, const char *config,
                        const struct mfile_entry *dir);

/* Whether a name has 1 to MFILE_NAME_MAX of the characters a-z 0-9 . _ - and
 * is padded with NUL bytes. */
bool mfile_name_ok(const char name[MFILE_NAME_MAX + 1]);

/* The size of a tensor with this type, layout and shape; 0 if the combination
 * is not valid (an unknown type, no rows, panels of bytes). */
uint64_t mfile_bytes(uint32_t type, uint32_t layout, uint64_t rows,
                     uint64_t cols);

/* A tensor whose name ends in ".w" is in panels; all others are plain. */
enum mfile_layout mfile_layout_of(const char *name);

#endif
