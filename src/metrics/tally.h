/* tally.h - what counting one pair of texts needs, kept for the next pair.
 *
 * A text becomes units: numbers that are equal where words (or characters)
 * are. Clipped n-gram matches are then counted exactly: an n-gram is the pair
 * of its first n-1 units, which have a number already, and its last one.
 * Belongs to one thread at a time. */
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
    struct strbuf text, other;
    struct fields words;
    struct map64 ids;
    struct units hyp, ref;
    struct units hyp_gram, ref_gram;    /* the n-gram that begins at i */
    struct units left;                  /* of the reference's, by number */
    struct map64 seen;                  /* see rindicator.h */
};

void tally_init(struct tally *s);
void tally_release(struct tally *s);

bool units_push(struct units *u, uint32_t unit);        /* false: no memory */

/* Forget the words numbered so far: a new pair begins. */
void tally_begin(struct tally *s);
/* Forget what earlier pairs had too: a new document begins. */
void tally_begin_document(struct tally *s);
/* s->words as numbers into out. Words are told apart by 64 bits of hash. */
bool tally_number(struct tally *s, struct units *out);

/* matches[n-1], n = 1 .. orders: n-grams of s->hyp found in s->ref, each of
 * the reference's matched once. */
bool tally_match(struct tally *s, int orders, int64_t *matches);

/* n-grams of a text of so many units. */
static inline int64_t gram_count(size_t units, int n)
{
    return units >= (size_t)n ? (int64_t)(units - (size_t)n + 1) : 0;
}

#endif
