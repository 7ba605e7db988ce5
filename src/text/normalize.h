/* normalize.h - text as the pieces expect it, and where each byte came from.
 *
 * Applies a SentencePiece normalizer: replacements from its compiled map
 * (usually NFKC and a little more), white space squeezed and written as
 * U+2581, invalid bytes as U+FFFD. A normalizer is immutable; the result
 * belongs to the caller and can be used again for the next text. For use
 * inside text/ only. */
#ifndef TEXT_NORMALIZE_H
#define TEXT_NORMALIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "text/subword_model.h"

struct normalizer {
    struct normalizer_spec spec;
    bool space_is_suffix;
    const struct piece_trie *user;      /* kept as they are; may be NULL */
    const uint8_t *unit;        /* double array, 4 bytes a unit, unaligned */
    size_t n_units;             /* 0: no map */
    const char *into;           /* replacements, each NUL-terminated */
    size_t into_len;
};

struct normalized {
    char *text;                 /* [n] */
    uint32_t *from;             /* [n + 1] where in the original the unit
                                   (one replacement) of this byte begins */
    size_t n;
    size_t dummy;               /* bytes of the dummy prefix at the start */
    size_t cap_text, cap_from;
};
void normalized_release(struct normalized *out);        /* zeroed is fine */

/* The spec's map is borrowed. ST_FORMAT when it is damaged. */
enum status normalizer_init(struct normalizer *nz,
                            const struct normalizer_spec *spec, struct err *e);

/* Replaces what out held. ST_LIMIT for a text of a gigabyte. */
enum status normalize(const struct normalizer *nz, const char *text,
                      size_t len, struct normalized *out, struct err *e);

#endif
