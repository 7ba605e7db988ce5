/* metric.h - the scores there are, one line each.
 *
 * A score is counted pair by pair and worked out of the sums, so whoever keeps
 * the counts of every pair can score any choice of them (bootstrap.h). One that
 * remembers is to be given every line once and in order, with a call of
 * tally_begin_document() where another document begins. */
#ifndef METRICS_METRIC_H
#define METRICS_METRIC_H

#include <stdint.h>

#include "metrics/tally.h"

#define METRIC_STATS_MAX 18

struct metric {
    const char *name;           /* "bleu" */
    const char *title;          /* "BLEU" */
    bool (*count)(struct tally *s, struct str hyp, struct str ref,
                  int64_t *stats);              /* false: no memory */
    double (*score)(const int64_t *sums);
    const char *(*detail)(const int64_t *sums, int i, double *value);
    int n_stats;                /* at most METRIC_STATS_MAX */
    const char *signature;      /* how it counts, in sacrebleu's words */
    bool remembers;             /* what it counts depends on earlier lines */
};

const struct metric *metric_at(int i);          /* NULL after the last */
const struct metric *metric_find(struct str name);      /* NULL: none */

#endif
