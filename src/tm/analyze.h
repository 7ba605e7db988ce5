/* analyze.h - a text as the terms the index counts.
 *
 * A term is a 64-bit number: the hash of a lower-cased word (ANALYZE_STANDARD)
 * or of a subword id (ANALYZE_SUBWORD, exact pieces of one tokenizer). Two
 * different words share a number with probability 2^-64; nothing ever asks
 * for the word back. */
#ifndef TM_ANALYZE_H
#define TM_ANALYZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "text/subword.h"

struct analyzer {
    const struct subword *subword;  /* NULL: standard */
    uint64_t id;                /* 0: standard; else of the tokenizer */
};

struct terms {                  /* zeroed to begin with */
    uint64_t *at;               /* in the order of the text, repeated */
    size_t n, cap;
    struct pieces pieces;       /* scratch */
};
void terms_release(struct terms *t);

/* The terms of plain text (tags stripped before). Replaces what t held. */
enum status analyze(const struct analyzer *a, struct str text,
                    struct terms *t, struct err *e);

/* Units for edit distance, over which similarity is counted: the pieces of a
 * tokenizer, or without one (NULL) every word and every punctuation mark,
 * case kept. Units are 32-bit numbers (piece ids, or hashes of words). *chars
 * is the length in code points of the units joined by spaces (for the option
 * rerank authors, method 1.5). */
struct symbols {                /* zeroed to begin with */
    uint32_t *at;
    size_t n, cap;
    uint32_t chars;
    struct pieces pieces;       /* scratch */
};
void symbols_release(struct symbols *s);
enum status symbols_of(const struct subword *sw, struct str text,
                       struct symbols *s, struct err *e);

/* The characters `chars` counts, from symbols that are piece ids already. */
uint32_t symbols_chars(const struct subword *sw, const uint32_t *at, size_t n);

#endif
