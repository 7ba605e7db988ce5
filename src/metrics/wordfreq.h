/* wordfreq.h - word accuracy by word frequency, as compare-mt computes it
 * (Neubig et al. 2019).
 *
 * First learn the frequencies, from the references themselves or from the
 * training data of a system. Then add the lines. In each line a word of the
 * translation is matched with an equal word of the reference; each word of the
 * reference matches at most once. The frequency of a word decides in which
 * bucket it is counted. Precision, recall and F1 are computed from the sums of
 * a bucket.
 *
 * Words are Moses words (moses.h), with hyphens and case kept. Only one thread
 * at a time may use a struct wordfreq. */
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
    double precision, recall, f1;       /* in percent; 0 without a match */
};

void wordfreq_init(struct wordfreq *w);
void wordfreq_release(struct wordfreq *w);
/* Sets the counts to 0 and keeps the frequencies. */
void wordfreq_reset(struct wordfreq *w);

/* Both return false when memory runs out. Then wordfreq_add() has not counted
 * the line, but wordfreq_learn() may have counted some words of the text. */
bool wordfreq_learn(struct wordfreq *w, struct str text);
bool wordfreq_add(struct wordfreq *w, struct str hyp, struct str ref);

/* Returns the bucket of a word of this frequency. The buckets are 0, 1, 2, 3,
 * 4, 5 to 9, 10 to 99, 100 to 999, and 1000 or more. */
int wordfreq_bucket(uint32_t frequency);
void wordfreq_get(const struct wordfreq *w, int bucket,
                  struct wordfreq_figure *out);

#endif
