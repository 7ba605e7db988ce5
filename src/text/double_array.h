/* double_array.h - a map from byte strings to numbers, as Darts-clone stores it
 * and SentencePiece uses it for its normalization map.
 *
 * It is a trie in an array of 32-bit units, little-endian and not aligned. In a
 * unit, bits 0-7 are the label. Bit 8 says that a key ends here. Bits 10-30
 * (shifted left by 8 more if bit 9 is set) are the distance to the children,
 * combined by xor: the child with a label is at (place of the unit ^ distance ^
 * label). Bit 31 marks the value of a key, which is the child with the label 0.
 * The units may come from a file, so a reader checks each place before it reads
 * a unit there. Keys have no NUL. For use inside text/ only. */
#ifndef TEXT_DOUBLE_ARRAY_H
#define TEXT_DOUBLE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/load_le.h"
#include "base/strbuf.h"

struct double_array {
    const uint8_t *units;       /* 4 bytes each */
    size_t n;
};

#define DOUBLE_ARRAY_KEY_MOST 255       /* bytes */
#define DOUBLE_ARRAY_VALUE_MOST 0x7FFFFFFF

static inline uint32_t double_array_unit(const struct double_array *a, size_t i)
{
    return load_u32(a->units + 4 * i);
}

static inline size_t double_array_distance(uint32_t unit)
{
    return (size_t)(unit >> 10 & 0x1FFFFF) << ((unit & 1u << 9) >> 6);
}

static inline bool double_array_ends_key(uint32_t unit)
{
    return unit & 1u << 8;
}

static inline bool double_array_has_label(uint32_t unit, uint8_t label)
{
    return (unit & 0x800000FF) == label;
}

struct double_array_key {
    const char *key;            /* [len], not NUL-terminated */
    size_t len;
    uint32_t value;
};

/* Call fn for each key, in ascending order of bytes. Stops with the status of
 * fn if that is not ST_OK. Fails with ST_FORMAT if the array is damaged. */
typedef enum status double_array_fn(void *user,
                                    const struct double_array_key *k,
                                    struct err *e);
enum status double_array_walk(const struct double_array *a,
                              double_array_fn *fn, void *user, struct err *e);

/* Append an array with n keys, which are sorted by bytes and all different. No
 * key is empty or longer than DOUBLE_ARRAY_KEY_MOST. */
enum status double_array_build(struct strbuf *out,
                               const struct double_array_key *keys, size_t n,
                               struct err *e);

#endif
