/* ter.h - translation edit rate (Snover et al. 2006), counted as sacrebleu's
 * default counts it.
 *
 * Both texts are written in lower case and cut at white space: punctuation
 * stays on its word ("tok:tercom|norm:no|punct:yes|asian:no|case:lc"). Edits
 * are words inserted, deleted or replaced, and shifts: a stretch of words that
 * moves as one. Shifts are found greedily: of all stretches that also stand in
 * the reference, both places having an error, the one is moved that lowers the
 * edit distance most (then the longest, the first, the one moved furthest to
 * the front), until none lowers it.
 *
 * Limits: a stretch has at most 10 words and the two places differ by at most
 * 50; a sentence stops looking after 1,000 trials, and the round that reached
 * them is not used; edit distances are searched 25 words either side of the
 * diagonal.
 *
 * One difference is known: a capital sigma is always U+03C3 here, not U+03C2
 * at the end of a word. */
#ifndef METRICS_TER_H
#define METRICS_TER_H

#include <stdint.h>

#include "metrics/tally.h"

enum { TER_EDITS, TER_REF_LEN, TER_STATS };

bool ter_count(struct tally *s, struct str hyp, struct str ref,
               int64_t *stats);                 /* false: no memory */
double ter_score(const int64_t *stats);         /* in percent; may pass 100 */
const char *ter_detail(const int64_t *stats, int i, double *value);

#endif
