/* wordfreq.h - how well words come through, by how often they are seen, as
 * compare-mt counts it (Neubig et al. 2019).
 *
 * First learn the frequencies: from the references themselves, or from what a
 * system was trained on. Then add the lines. In each line a word of the
 * translation is matched with the same word of the reference, every one of the
 * reference's at most once; the frequency of the word says which bucket they
 * count in. Precision, recall and F1 are of the sums.
 *
 * Words are Moses words (moses.h), hyphens kept, case kept. Belongs to one
 * thread at a time. */
#ifndef METRICS_WORDFREQ_H
#define METRICS_WORDFREQ_H

#include <stdint.h>

#include "metrics/tally.h"

enum { WORDFREQ_BUCKETS = 9 };

struct wordfreq_counts {
    int64_t matched, hyp, ref;
};

struct wordfreq {
    struct map64 frequency;
    struct wordfreq_counts counts[WORDFREQ_BUCKETS];
    struct tally scratch;
};

struct wordfreq_figure {
    const char *frequency;      /* "<1", "4", "[5,10)", ">=1000" */
    struct wordfreq_counts n;
    double precision, recall, f1;       /* in percent; 0: nothing matched */
};

void wordfreq_init(struct wordfreq *w);
void wordfreq_release(struct wordfreq *w);
void wordfreq_reset(struct wordfreq *w);        /* keeps the frequencies */

/* Both false: no memory. A line that failed has not been added; of a text that
 * failed some words may have been learned. */
bool wordfreq_learn(struct wordfreq *w, struct str text);
bool wordfreq_add(struct wordfreq *w, struct str hyp, struct str ref);

/* The bucket of a word that is seen so often: 0, 1, 2, 3, 4, then from 5, from
 * 10, from 100, from 1000 on. */
int wordfreq_bucket(uint32_t frequency);
void wordfreq_get(const struct wordfreq *w, int bucket,
                  struct wordfreq_figure *out);

#endif
