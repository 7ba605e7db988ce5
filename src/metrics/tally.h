/* tally.h - scratch space for counting words and n-grams in a pair of texts. It
 * is reused from pair to pair.
 *
 * A text becomes a sequence of units: numbers that are equal where the words
 * (or characters) are equal. Clipped n-gram matches are counted exactly: an
 * n-gram is identified by the number of the (n-1)-gram it begins with and its
 * last unit. Only one thread at a time may use a tally. */
#ifndef METRICS_TALLY_H
#define METRICS_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map64.h"
#include "base/strbuf.h"
#include "metrics/fields.h"

struct units {
    uint32_t *at;               /* [n] */
    size_t n, cap;
};

struct tally {
    struct strbuf text, other;  /* the text being tokenized */
    struct fields words;        /* they point into text */
    struct map64 ids;           /* numbers of the words or n-grams of a pair */
    struct units hyp, ref;      /* the units of the two texts */
    struct units hyp_gram, ref_gram;    /* number of the n-gram at place i */
    struct units ref_left;      /* by n-gram: occurrences not yet matched */
    struct map64 words_seen;    /* by word: earlier lines of the document that
                                 * have it (rindicator.h) */
};

void tally_init(struct tally *s);
void tally_release(struct tally *s);

/* The bool functions below return false when memory runs out. */
bool units_push(struct units *u, uint32_t unit);

/* Starts a new pair: clears s->ids. */
void tally_begin(struct tally *s);
/* Starts a new document: clears s->words_seen. */
void tally_begin_document(struct tally *s);
/* Writes the numbers of s->words to out. Two words count as equal when 64 bits
 * of their hashes are. */
bool tally_number(struct tally *s, struct units *out);

/* Sets matches[n-1], for n = 1 .. orders, to the number of n-grams of s->hyp
 * that match one of s->ref; each n-gram of s->ref matches at most once. */
bool tally_match(struct tally *s, int orders, int64_t *matches);

/* Returns the number of n-grams in a text of `units` units. */
static inline int64_t gram_count(size_t units, int n)
{
    return units >= (size_t)n ? (int64_t)(units - (size_t)n + 1) : 0;
}

#endif
