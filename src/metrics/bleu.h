/* bleu.h - corpus BLEU (Papineni et al. 2002), digit for digit as sacrebleu
 * gives it: 13a tokens, case kept, n-grams up to 4, exp smoothing, one
 * reference.
 *
 * A pair gives BLEU_STATS counts; those of a corpus are their sums. */
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

/* false: no memory. */
bool bleu_count(struct tally *s, struct str hyp, struct str ref,
                int64_t *stats);

struct bleu {
    double score;               /* 0 .. 100 */
    double precision[BLEU_ORDERS];      /* in percent, smoothed */
    double bp;                  /* brevity penalty */
};
void bleu_of(const int64_t *stats, struct bleu *out);
double bleu_score(const int64_t *stats);

/* The numbers behind it, by name; NULL after the last. */
const char *bleu_detail(const int64_t *stats, int i, double *value);

#endif
