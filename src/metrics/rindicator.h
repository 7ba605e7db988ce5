/* rindicator.h - the R-indicator (Simianer et al. 2019): how soon a system
 * uses the words that corrections have shown it.
 *
 * The system sees the reference of a line after it has translated the line. For
 * each word of a reference we determine how many earlier references of the same
 * document contain it, and whether the translation contains it too. R_i is the
 * recall of the words that occurred in i earlier references. The values of i
 * form the buckets 0, 1, 2 to 5, 6 to 9, and 10 or more, as in Wang et al.
 * (2022).
 *
 * Words are Moses words (moses.h), with hyphens and case kept. Each word counts
 * once in a line. Single ASCII punctuation marks and plain numbers ("12",
 * "12.", "12.5") are not counted. Stop words (stopwords.h, in any case) are
 * counted only by rindicator_count_all(). Moses escapes quotes, brackets and
 * & < > |, so these are not single marks and count, as they do in published
 * results.
 *
 * Lines must be counted in order; tally_begin_document() starts a new
 * document. A line whose count failed does not affect later lines. */
#ifndef METRICS_RINDICATOR_H
#define METRICS_RINDICATOR_H

#include <stdint.h>

#include "metrics/tally.h"

enum {
    R_BUCKETS = 5,
    R_FOUND = 0,                /* of them, those in the translation too */
    R_WORDS = R_FOUND + R_BUCKETS,      /* words of the references */
    R_STATS = R_WORDS + R_BUCKETS
};

/* Both functions may be used with the same tally. They return false when
 * memory runs out. */
bool rindicator_count(struct tally *s, struct str hyp, struct str ref,
                      int64_t *stats);
bool rindicator_count_all(struct tally *s, struct str hyp, struct str ref,
                          int64_t *stats);      /* counts stop words too */

/* Returns the bucket of a word that occurred in `times` earlier references. */
int rindicator_bucket(uint32_t times);

double rindicator_score(const int64_t *stats);  /* all buckets, in percent */
/* Gives R_i of each bucket (NaN if the bucket has no words), then R_FOUND and
 * R_WORDS of each. Returns NULL when i is past the last one. */
const char *rindicator_detail(const int64_t *stats, int i, double *value);

#endif
