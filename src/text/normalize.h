/* normalize.h - normalizes text for the tokenizer, and maps each byte of the
 * result to its origin.
 *
 * Applies a SentencePiece normalizer: replacements from its compiled map
 * (usually NFKC and a little more), white space squeezed and written as
 * U+2581, invalid bytes replaced by U+FFFD. A normalizer is immutable. The
 * result belongs to the caller and can be reused for the next text. For use
 * inside text/ only. */
#ifndef TEXT_NORMALIZE_H
#define TEXT_NORMALIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "text/double_array.h"
#include "text/subword_model.h"

struct normalizer {
    struct normalizer_spec spec;
    bool space_is_suffix;
    const struct piece_trie *user;      /* pieces that are never changed;
                                           may be NULL */
    struct double_array rules;  /* n is 0 if there is no map */
    const char *into;           /* replacements, each NUL-terminated */
    size_t into_len;
};

struct normalized {
    char *text;                 /* [n] */
    uint32_t *from;             /* [n + 1] where the unit (one replacement) of
                                   each byte begins in the original; ascends.
                                   from[n] is the end of the last unit */
    size_t n;
    size_t dummy;               /* length of the dummy prefix, 0 if none */
    size_t cap_text, cap_from;
};
void normalized_release(struct normalized *out);    /* may be zeroed */
/* Returns whether `from` ascends and stays within a text of len bytes. For
 * PARANOID_CHECK. */
bool normalized_sound(const struct normalized *out, size_t len);

/* The spec's map is borrowed. Returns ST_FORMAT if it is damaged. */
enum status normalizer_init(struct normalizer *nz,
                            const struct normalizer_spec *spec, struct err *e);

/* Normalizes a text into *out. Returns ST_LIMIT for a text of 1 GiB or more. */
enum status normalize(const struct normalizer *nz, const char *text,
                      size_t len, struct normalized *out, struct err *e);

#endif
