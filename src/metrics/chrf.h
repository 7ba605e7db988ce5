/* chrf.h - chrF2 (Popović 2015) with the same digits as sacrebleu: character
 * n-grams up to order 6 without white space, no word n-grams, beta 2,
 * case-sensitive.
 *
 * Counts are summed over the corpus before anything is divided. Where the
 * reference of a pair is too short for an order, the hypothesis' n-grams of
 * that order are not counted. */
#ifndef METRICS_CHRF_H
#define METRICS_CHRF_H

#include <stdint.h>

#include "metrics/tally.h"

enum {
    CHRF_ORDERS = 6,
    CHRF_MATCH = 0,             /* n-grams in both texts, clipped */
    CHRF_HYP = CHRF_MATCH + CHRF_ORDERS,        /* of the hypothesis */
    CHRF_REF = CHRF_HYP + CHRF_ORDERS,          /* of the reference */
    CHRF_STATS = CHRF_REF + CHRF_ORDERS
};

bool chrf_count(struct tally *s, struct str hyp, struct str ref,
                int64_t *stats);        /* false when memory runs out */

/* Precision and recall are averaged over the orders that both sides have (the
 * "effective order") and then combined. */
double chrf_score(const int64_t *stats);

/* The older definition, which some published scores use: an F-score for each
 * order, averaged over all six; 1e-16 stands for a missing value. */
double chrf_score_eps(const int64_t *stats);

#endif
