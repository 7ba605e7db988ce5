/* bleu.h - corpus BLEU (Papineni et al. 2002), with the same digits as
 * sacrebleu: 13a tokens, case-sensitive, n-grams up to order 4, exponential
 * smoothing, one reference.
 *
 * bleu_count() writes BLEU_STATS counts for a pair of texts. The counts of a
 * corpus are the sums over its pairs. */
#ifndef METRICS_BLEU_H
#define METRICS_BLEU_H

#include <stdint.h>

#include "metrics/tally.h"

enum {
    BLEU_ORDERS = 4,
    BLEU_CORRECT = 0,           /* n-grams found in the reference, clipped */
    BLEU_TOTAL = BLEU_CORRECT + BLEU_ORDERS,    /* n-grams of the hypothesis */
    BLEU_HYP_LEN = BLEU_TOTAL + BLEU_ORDERS,    /* tokens */
    BLEU_REF_LEN,
    BLEU_STATS
};

/* Returns false when memory runs out. */
bool bleu_count(struct tally *s, struct str hyp, struct str ref,
                int64_t *stats);

struct bleu {
    double score;               /* 0 .. 100 */
    double precision[BLEU_ORDERS];      /* in percent, smoothed */
    double bp;                  /* brevity penalty */
};
void bleu_of(const int64_t *stats, struct bleu *out);
double bleu_score(const int64_t *stats);

/* Writes the i-th component of the score to *value and returns its name;
 * returns NULL when i is past the last one. */
const char *bleu_detail(const int64_t *stats, int i, double *value);

#endif
