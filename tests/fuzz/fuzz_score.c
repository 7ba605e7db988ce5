/* fuzz_score.c - scores any bytes as a translation and its reference.
 *
 * The first line is scored against the rest, and the rest against itself. The
 * fuzzer checks relations between the counts, not only memory safety. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/metric.h"
#include "metrics/moses.h"
#include "metrics/rindicator.h"
#include "metrics/ter.h"
#include "metrics/wordfreq.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

/* Matches are at most as many as n-grams, and do not grow with the order. */
static void check_matches(const int64_t *found, const int64_t *hyp, int orders)
{
    for (int i = 0; i < orders; i++)
        must(found[i] >= 0 && found[i] <= hyp[i]
             && (!i || found[i] <= found[i - 1]));
}

static void check_pair(struct tally *t, struct str hyp, struct str ref)
{
    int64_t b[METRIC_STATS_MAX], c[METRIC_STATS_MAX], e[METRIC_STATS_MAX];
    size_t n_hyp, n_ref;

    must(bleu_count(t, hyp, ref, b) && chrf_count(t, hyp, ref, c));
    check_matches(b + BLEU_CORRECT, b + BLEU_TOTAL, BLEU_ORDERS);
    check_matches(c + CHRF_MATCH, c + CHRF_HYP, CHRF_ORDERS);
    check_matches(c + CHRF_MATCH, c + CHRF_REF, CHRF_ORDERS);
    must(bleu_score(b) >= 0 && bleu_score(b) < 100.001);
    must(chrf_score(c) >= 0 && chrf_score(c) < 100.001);
    must(ter_count(t, hyp, ref, e));
    n_hyp = t->hyp.n;
    n_ref = t->ref.n;
    must(e[TER_REF_LEN] == (int64_t)n_ref);
    must(e[TER_EDITS] >= (int64_t)(n_hyp > n_ref ? n_hyp - n_ref
                                                 : n_ref - n_hyp));
    must(e[TER_EDITS] <= (int64_t)(n_hyp > n_ref ? n_hyp : n_ref));
}

static void check_itself(struct tally *t, struct str text)
{
    int64_t b[METRIC_STATS_MAX], e[METRIC_STATS_MAX];

    must(bleu_count(t, text, text, b) && ter_count(t, text, text, e));
    must(!memcmp(b + BLEU_CORRECT, b + BLEU_TOTAL, BLEU_ORDERS * sizeof *b));
    must(e[TER_EDITS] == 0);
}

/* Words are separated by single spaces, and special characters are escaped. */
static void check_moses(struct tally *t, struct str text)
{
    for (int split = 0; split < 2; split++) {
        must(moses_words(&t->text, text, split ? MOSES_HYPHENS_SPLIT
                                               : MOSES_HYPHENS_STAY));
        for (size_t i = 0; i < t->text.len; i++) {
            unsigned char c = (unsigned char)t->text.data[i];

            must(c >= ' ' && !strchr("|<>'\"[]", c));
            must(c != ' ' || (i && i + 1 < t->text.len
                              && t->text.data[i + 1] != ' '));
        }
    }
}

/* Every word of the first line counts as repeated once in the second. */
static void check_recall(struct tally *t, struct str hyp, struct str ref)
{
    int64_t first[R_STATS], again[R_STATS], all[R_STATS];

    tally_begin_document(t);
    must(rindicator_count(t, hyp, ref, first));
    must(rindicator_count_all(t, hyp, ref, all));
    must(first[R_WORDS] <= all[R_WORDS]);
    must(all[R_WORDS] <= (int64_t)t->words.n);
    must(first[R_FOUND] <= first[R_WORDS] && all[R_FOUND] <= all[R_WORDS]);
    must(rindicator_count(t, ref, ref, again));
    must(again[R_WORDS] == 0 && again[R_WORDS + 1] == first[R_WORDS]);
    must(again[R_FOUND + 1] == first[R_WORDS]);
}

static void check_words(struct str hyp, struct str ref)
{
    struct wordfreq_figure f;
    struct wordfreq w;

    wordfreq_init(&w);
    must(wordfreq_learn(&w, ref) && wordfreq_add(&w, hyp, ref));
    must(w.counts[0].ref == 0 && w.counts[0].matched == 0);
    for (int b = 0; b < WORDFREQ_BUCKETS; b++) {
        wordfreq_get(&w, b, &f);
        must(f.n.matched <= f.n.hyp && f.n.matched <= f.n.ref);
        must(f.f1 >= 0 && f.f1 < 100.001);
    }
    wordfreq_release(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    size_t n = line ? (size_t)(line - data) : size, m = size - n;
    /* Copies of the exact size, so that ASan detects reads past the end. */
    struct str a = { malloc(n ? n : 1), n }, b = { malloc(m ? m : 1), m };
    struct tally t;

    if (n) memcpy((char *)a.p, data, n);
    if (m) memcpy((char *)b.p, data + n, m);
    tally_init(&t);
    check_pair(&t, a, b);
    check_pair(&t, b, a);
    check_itself(&t, b);
    check_moses(&t, a);
    check_recall(&t, a, b);
    check_words(a, b);
    tally_release(&t);
    free((char *)a.p);
    free((char *)b.p);
    return 0;
}
