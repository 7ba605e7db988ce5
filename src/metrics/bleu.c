/* bleu.c - computes BLEU: the geometric mean of n-gram precisions, times a
 * brevity penalty.
 *
 * Invariant: for each order the matched n-grams are at most the n-grams of the
 * hypothesis, in the counts of a pair and in their sums. */
#include "metrics/bleu.h"

#include <math.h>

#include "base/invariant.h"
#include "metrics/tok13a.h"

static bool bleu_tokenize(struct tally *s, struct str text, struct units *out)
{
    return tok13a(&s->text, &s->other, text)
           && fields_split(&s->words, strbuf_view(&s->text))
           && tally_number(s, out);
}

bool bleu_count(struct tally *s, struct str hyp, struct str ref,
                int64_t *stats)
{
    tally_begin(s);
    if (!bleu_tokenize(s, hyp, &s->hyp) || !bleu_tokenize(s, ref, &s->ref)
        || !tally_match(s, BLEU_ORDERS, stats + BLEU_CORRECT))
        return false;
    for (int n = 1; n <= BLEU_ORDERS; n++) {
        stats[BLEU_TOTAL + n - 1] = gram_count(s->hyp.n, n);
        assert(stats[BLEU_CORRECT + n - 1] <= stats[BLEU_TOTAL + n - 1]);
    }
    stats[BLEU_HYP_LEN] = (int64_t)s->hyp.n;
    stats[BLEU_REF_LEN] = (int64_t)s->ref.n;
    return true;
}

static double brevity_penalty(double hyp_len, double ref_len)
{
    if (hyp_len >= ref_len) return 1;
    return hyp_len > 0 ? exp(1 - ref_len / hyp_len) : 0;
}

/* Exponential smoothing: the first order without matches counts as half a
 * match, the next such order as a quarter, and so on. An order without n-grams
 * keeps precision 0, and so do all longer ones. */
static void smoothed_precisions(const int64_t *stats, double *precision)
{
    double halves = 1;

    for (int i = 0; i < BLEU_ORDERS && stats[BLEU_TOTAL + i]; i++) {
        double total = (double)stats[BLEU_TOTAL + i];
        double correct = (double)stats[BLEU_CORRECT + i];

        assert(correct <= total);
        if (!stats[BLEU_CORRECT + i]) halves *= 2;
        precision[i] = correct > 0 ? 100 * correct / total
                                   : 100 / (halves * total);
    }
}

void bleu_of(const int64_t *stats, struct bleu *out)
{
    double logs = 0;

    *out = (struct bleu){ .bp = brevity_penalty((double)stats[BLEU_HYP_LEN],
                                        (double)stats[BLEU_REF_LEN]) };
    /* Without a matched unigram no longer n-gram matches either. */
    if (!stats[BLEU_CORRECT]) return;
    smoothed_precisions(stats, out->precision);
    for (int i = 0; i < BLEU_ORDERS; i++) {
        if (!(out->precision[i] > 0)) return;
        logs += log(out->precision[i]);
    }
    out->score = out->bp * exp(logs / BLEU_ORDERS);
}

double bleu_score(const int64_t *stats)
{
    struct bleu b;

    bleu_of(stats, &b);
    return b.score;
}

const char *bleu_detail(const int64_t *stats, int i, double *value)
{
    static const char *const names[] = {
        "correct1", "correct2", "correct3", "correct4", "total1", "total2",
        "total3", "total4", "hyp_len", "ref_len", "precision1", "precision2",
        "precision3", "precision4", "bp"
    };
    struct bleu b;

    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    bleu_of(stats, &b);
    if (i < BLEU_STATS) *value = (double)stats[i];
    else if (i < BLEU_STATS + BLEU_ORDERS)
        *value = b.precision[i - BLEU_STATS];
    else *value = b.bp;
    return names[i];
}
