/* rindicator.h - the R-indicator (Simianer et al. 2019): how soon a system
 * uses the words that corrections taught it.
 *
 * The reference of a line is what the system is told after translating it. Of
 * each word of a reference we ask in how many references of the same document
 * it stood before, and whether the translation has it too. R_i is the share of
 * words found among those seen i times; i is counted in the buckets 0, 1,
 * 2 to 5, 6 to 9, 10 and more, as Wang et al. (2022) do.
 *
 * Words are Moses words (moses.h), hyphens kept, case kept, each counted once a
 * line. Left out are single ASCII punctuation marks and plain numbers ("12",
 * "12.", "12.5"), and stop words (stopwords.h, whatever their case) unless they
 * are asked for. Moses escapes quotes, brackets and & < > |, so those are not
 * single marks and count, as they do in the figures that were published.
 *
 * Lines come in order; tally_begin_document() begins another document. Only a
 * line that was counted is remembered. */
#ifndef METRICS_RINDICATOR_H
#define METRICS_RINDICATOR_H

#include <stdint.h>

#include "metrics/tally.h"

enum {
    R_BUCKETS = 5,
    R_FOUND = 0,                /* words that the translation has too */
    R_WORDS = R_FOUND + R_BUCKETS,      /* words of the references */
    R_STATS = R_WORDS + R_BUCKETS
};

/* Both may be counted side by side. false: no memory. */
bool rindicator_count(struct tally *s, struct str hyp, struct str ref,
                      int64_t *stats);
bool rindicator_count_all(struct tally *s, struct str hyp, struct str ref,
                          int64_t *stats);      /* stop words too */

/* The bucket of a word that stood in so many references before. */
int rindicator_bucket(uint32_t times);

double rindicator_score(const int64_t *stats);  /* all buckets, in percent */
/* R_i of each bucket (NaN: it has no words), then found, then words. */
const char *rindicator_detail(const int64_t *stats, int i, double *value);

#endif
