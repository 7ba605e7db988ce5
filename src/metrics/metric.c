/* metric.c - the table that lists each metric with its functions, and the
 * search by name. */
#include "metrics/metric.h"

#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/rindicator.h"
#include "metrics/ter.h"

_Static_assert(BLEU_STATS <= METRIC_STATS_MAX, "room for bleu");
_Static_assert(CHRF_STATS <= METRIC_STATS_MAX, "room for chrf");
_Static_assert(TER_STATS <= METRIC_STATS_MAX, "room for ter");
_Static_assert(R_STATS <= METRIC_STATS_MAX, "room for r");

static const char *no_detail(const int64_t *sums, int i, double *value)
{
    (void)sums, (void)i, (void)value;
    return NULL;
}

static const struct metric metrics[] = {
    { "bleu", "BLEU", bleu_count, bleu_score, bleu_detail, BLEU_STATS,
      "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp", false },
    { "chrf", "chrF2", chrf_count, chrf_score, no_detail, CHRF_STATS,
      "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no", false },
    { "chrf-eps", "chrF2 (eps)", chrf_count, chrf_score_eps, no_detail,
      CHRF_STATS, "nrefs:1|case:mixed|eff:no|nc:6|nw:0|space:no", false },
    { "ter", "TER", ter_count, ter_score, ter_detail, TER_STATS,
      "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no", false },
    { "r", "R", rindicator_count, rindicator_score, rindicator_detail, R_STATS,
      "nrefs:1|case:mixed|tok:moses-en|stop:iso-en|num:no|punct:no", true },
    { "r-all", "R-all", rindicator_count_all, rindicator_score,
      rindicator_detail, R_STATS,
      "nrefs:1|case:mixed|tok:moses-en|stop:none|num:no|punct:no", true }
};

const struct metric *metric_at(int i)
{
    return i >= 0 && i < (int)(sizeof metrics / sizeof *metrics)
           ? &metrics[i] : NULL;
}

const struct metric *metric_find(struct str name)
{
    const struct metric *m;

    for (int i = 0; (m = metric_at(i)); i++)
        if (str_eq(name, str_of(m->name))) return m;
    return NULL;
}
