/* align_file.h - the layout of a file of alignment parameters, for its reader
 * and writer (align_file.c) and for tests.
 *
 * docs/formats/alignment.md explains the fields. Numbers are little-endian and
 * naturally aligned, so the struct below and the arrays are the layout of the
 * file: the header, then the arrays of align_file.c: file_parts, each padded
 * with zeros to a multiple of 8 bytes. */
#ifndef ALIGN_ALIGN_FILE_H
#define ALIGN_ALIGN_FILE_H

#include <stddef.h>
#include <stdint.h>

#define ALIGN_FILE_MAGIC "SKMTALGN"     /* 8 bytes, no NUL */
#define ALIGN_FILE_ENDIAN 0x01020304u
#define ALIGN_FILE_VERSION 1

struct align_file_direction {
    double tension, null_prob;
    uint64_t n_entries;
};

struct align_file_header {
    char magic[8];
    uint32_t endian, version;
    uint64_t file_size;
    uint64_t sum;               /* XXH3-64 of the file with this field 0 */
    uint32_t split;             /* enum word_split */
    uint32_t keep_case;         /* 0 or 1 */
    uint64_t tokenizer;
    uint64_t n_source, n_target;        /* words */
    struct align_file_direction forward, reverse;
};
_Static_assert(sizeof(struct align_file_header) == 112, "no holes");

/* Computes `sum` of the bytes of a file, which has at least a header. */
uint64_t align_file_sum(const uint8_t *bytes, size_t size);

#endif
