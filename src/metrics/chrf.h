/* chrf.h - chrF2 (Popović 2015) as sacrebleu gives it: character n-grams up
 * to 6 without white space, no word n-grams, beta 2, case kept.
 *
 * Counts are summed over the corpus before anything is divided. A pair whose
 * reference is too short for an order adds nothing to the hypothesis' count of
 * that order. */
#ifndef METRICS_CHRF_H
#define METRICS_CHRF_H

#include <stdint.h>

#include "metrics/tally.h"

enum {
    CHRF_ORDERS = 6,
    CHRF_MATCH = 0,
    CHRF_HYP = CHRF_MATCH + CHRF_ORDERS,
    CHRF_REF = CHRF_HYP + CHRF_ORDERS,
    CHRF_STATS = CHRF_REF + CHRF_ORDERS
};

bool chrf_count(struct tally *s, struct str hyp, struct str ref,
                int64_t *stats);                /* false: no memory */

/* Precision and recall are averaged over the orders both sides have (the
 * "effective order"), then combined. */
double chrf_score(const int64_t *stats);

/* The older way, which some published figures have: an F of each order, with
 * 1e-16 where one is missing, averaged over all six. */
double chrf_score_eps(const int64_t *stats);

#endif
