/* ter.h - translation edit rate (Snover et al. 2006), with the same result as
 * sacrebleu's default.
 *
 * Both texts are lower-cased and split at white space; punctuation stays
 * attached to its word ("tok:tercom|norm:no|punct:yes|asian:no|case:lc"). An
 * edit inserts, deletes or replaces a word, or shifts a sequence of words to
 * another place. Shifts are found by a greedy search. In each round the
 * candidates are the sequences that also occur in the reference and have an
 * error in both places. The search applies the shift that lowers the edit
 * distance most; ties go to the longest sequence, then the first, then the one
 * moved furthest to the front. It ends when no shift lowers the distance.
 *
 * Limits: a sequence has at most 10 words, and its two places are at most 50
 * words apart. The search for a sentence ends after 1,000 trials, and the round
 * that reached the limit is discarded. Edit distances are computed in a band of
 * 25 words on either side of the diagonal.
 *
 * One difference from sacrebleu is known: a capital sigma always becomes U+03C3
 * here, never U+03C2 as at the end of a word. */
#ifndef METRICS_TER_H
#define METRICS_TER_H

#include <stdint.h>

#include "metrics/tally.h"

enum { TER_EDITS, TER_REF_LEN, TER_STATS };

bool ter_count(struct tally *s, struct str hyp, struct str ref,
               int64_t *stats);         /* false when memory runs out */
double ter_score(const int64_t *stats); /* in percent; may exceed 100 */
const char *ter_detail(const int64_t *stats, int i, double *value);

#endif
