/* chrf.c - computes chrF: the F-score of character n-grams, in the present and
 * in the older definition.
 *
 * Invariant: in the counts of a pair, the matches of each order are at most the
 * n-grams of either side. */
#include "metrics/chrf.h"

#include "base/invariant.h"
#include "text/utf8.h"

#define BETA2 4.0               /* beta squared; beta is 2 */
#define EPS 1e-16

static bool chrf_characters(struct str text, struct units *out)
{
    int len;

    out->n = 0;
    for (size_t at = 0; at < text.n; at += (size_t)len) {
        uint32_t cp = utf8_next(text.p + at, text.n - at, &len);

        if (!utf8_is_space(cp) && !units_push(out, cp)) return false;
    }
    return true;
}

bool chrf_count(struct tally *s, struct str hyp, struct str ref,
                int64_t *stats)
{
    if (!chrf_characters(hyp, &s->hyp) || !chrf_characters(ref, &s->ref)
        || !tally_match(s, CHRF_ORDERS, stats + CHRF_MATCH))
        return false;
    for (int n = 1; n <= CHRF_ORDERS; n++) {
        int64_t in_ref = gram_count(s->ref.n, n);

        stats[CHRF_REF + n - 1] = in_ref;
        stats[CHRF_HYP + n - 1] = in_ref ? gram_count(s->hyp.n, n) : 0;
        assert(stats[CHRF_MATCH + n - 1] <= stats[CHRF_REF + n - 1]);
        assert(stats[CHRF_MATCH + n - 1] <= stats[CHRF_HYP + n - 1]);
    }
    return true;
}

static double f_score(double precision, double recall)
{
    double below = BETA2 * precision + recall;

    return below > 0 ? (1 + BETA2) * precision * recall / below : 0;
}

double chrf_score(const int64_t *stats)
{
    double precision = 0, recall = 0;
    int orders = 0;

    for (int i = 0; i < CHRF_ORDERS; i++) {
        double match = (double)stats[CHRF_MATCH + i];

        if (!stats[CHRF_HYP + i] || !stats[CHRF_REF + i]) continue;
        precision += match / (double)stats[CHRF_HYP + i];
        recall += match / (double)stats[CHRF_REF + i];
        orders++;
    }
    return orders ? 100 * f_score(precision / orders, recall / orders) : 0;
}

double chrf_score_eps(const int64_t *stats)
{
    double sum = 0;

    for (int i = 0; i < CHRF_ORDERS; i++) {
        double match = (double)stats[CHRF_MATCH + i];
        double precision = stats[CHRF_HYP + i]
                           ? match / (double)stats[CHRF_HYP + i] : EPS;
        double recall = stats[CHRF_REF + i]
                        ? match / (double)stats[CHRF_REF + i] : EPS;

        sum += precision + recall > 0 ? f_score(precision, recall) : EPS;
    }
    return 100 * sum / CHRF_ORDERS;
}
