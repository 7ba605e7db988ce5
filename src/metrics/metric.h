/* metric.h - the table of metrics.
 *
 * A metric counts something in each pair of texts and computes the score from
 * the sums of the counts. A caller that keeps the counts of every pair can thus
 * score any subset of the pairs (bootstrap.h). The counts of some metrics
 * depend on earlier lines (`remembers`): they need every line once and in
 * order, and a call of tally_begin_document() before each document. */
#ifndef METRICS_METRIC_H
#define METRICS_METRIC_H

#include <stdint.h>

#include "metrics/tally.h"

#define METRIC_STATS_MAX 18

struct metric {
    const char *name;           /* "bleu" */
    const char *title;          /* "BLEU" */
    bool (*count)(struct tally *s, struct str hyp, struct str ref,
                  int64_t *stats);      /* false when memory runs out */
    double (*score)(const int64_t *sums);
    const char *(*detail)(const int64_t *sums, int i, double *value);
    int n_stats;                /* at most METRIC_STATS_MAX */
    const char *signature;      /* the settings, in sacrebleu's notation */
    bool remembers;             /* counts depend on earlier lines */
};

const struct metric *metric_at(int i);          /* NULL after the last */
const struct metric *metric_find(struct str name);      /* NULL if unknown */

#endif
