/* analyze.h - turns a text into the terms that the index counts, and into the
 * symbols that edit distance counts.
 *
 * A term is a 64-bit hash: of a lower-cased word (the standard analyzer), or of
 * the id of a piece of one tokenizer. Two different words have the same hash
 * with probability 2^-64. The word is never needed again. */
#ifndef TM_ANALYZE_H
#define TM_ANALYZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "text/subword.h"

struct analyzer {
    const struct subword *subword;  /* NULL: standard analyzer */
    uint64_t id;                /* 0: standard; else that of the tokenizer */
};

struct terms {                  /* initialize with zeros */
    uint64_t *at;               /* [n] in the order of the text, with
                                   repetitions */
    size_t n, cap;
    struct pieces pieces;       /* scratch */
};
void terms_release(struct terms *t);

/* The terms of a plain text, without tags. Replaces the contents of t. */
enum status analyze(const struct analyzer *a, struct str text,
                    struct terms *t, struct err *e);

/* The units of edit distance, and so of similarity: the pieces of a tokenizer,
 * or, without one (sw is NULL), every word and every punctuation mark in its
 * original case. A unit is a 32-bit number: a piece id, or the hash of a word.
 * chars is the length in code points of the units joined by spaces, for the
 * option rerank=authors (method.md 1.5). */
struct symbols {                /* initialize with zeros */
    uint32_t *at;               /* [n] */
    size_t n, cap;
    uint32_t chars;
    struct pieces pieces;       /* scratch */
};
void symbols_release(struct symbols *s);
enum status symbols_of(const struct subword *sw, struct str text,
                       struct symbols *s, struct err *e);

/* What `chars` is for symbols that are piece ids. */
uint32_t symbols_chars(const struct subword *sw, const uint32_t *at, size_t n);

#endif
