/* align_train.c - expectation maximization over the rows of a lexicon_table.
 *
 * An iteration has two passes over the occurrences of the given words. A row of
 * the table is copied to an array that is indexed by made word, so that the
 * inner loops do not search. For an occurrence at position j of n given words,
 * and a made word y at position i of m:
 *
 *     part = weight(j, i) * prob(y | given word)        diagonal.h
 *
 *   sums     adds the parts of all given words of a pair to `scale` of y. Then
 *            em_finish_sums adds the null word, and turns the sum into the
 *            factor that makes a part a probability.
 *   counts   adds the probabilities to the expected count of the word pair.
 *            When a row is complete, its new probabilities are computed at
 *            once, so no table of counts is needed.
 *
 * Threads divide the first pass by pairs and the second pass by rows. Each
 * number is then summed by one thread, in the order of rows or of pairs, so the
 * result does not depend on the number of threads. */
#include "align/align_train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align/diagonal.h"
#include "align/pair_sizes.h"
#include "base/invariant.h"

/* Probabilities in the table are at least this, so that no sum is 0 and no
 * number is denormal. */
#define LEAST_PROB 1e-37
/* The tension takes this many steps of gradient ascent in an iteration. The
 * second derivative of what the steps maximize, per word, is minus the variance
 * of h, which is below 1/12. So with a rate of at most 24 no step can lower
 * it. */
#define TENSION_STEPS 8
#define TENSION_RATE 20.0
/* A pass is divided into slices; progress is reported between them. */
#define SLICES 50

struct em_scratch {             /* of one part */
    float *prob;                /* [made words] the row, by made word */
    double *count;              /* [made words] zero between rows */
    double *weight;             /* [BITEXT_WORDS_MAX] */
};

struct em {
    const struct bitext_side *given, *made;
    const struct align_settings *settings;
    struct pool *pool;
    size_t n_pairs;
    struct occurrences occ;     /* of the given words */
    struct lexicon_table table;
    struct pair_sizes sizes;
    double *scale;              /* [made->n_words] */
    double *h_sum;              /* [given->n_keys] expected h of the links of
                                   a word */
    struct em_scratch *scratch; /* [n_parts] */
    int n_parts;
    double tension;
    size_t slice_begin, slice_end;      /* given words of the current slice */
};

struct align_settings align_settings_defaults(void)
{
    return (struct align_settings){ .iterations = 5, .null_prob = 0.08,
                                    .tension = 4, .alpha = 0.01 };
}

/* ---- memory -------------------------------------------------------------- */

static void em_release(struct em *em)
{
    for (int i = 0; em->scratch && i < em->n_parts; i++) {
        free(em->scratch[i].prob);
        free(em->scratch[i].count);
        free(em->scratch[i].weight);
    }
    free(em->scratch);
    free(em->scale);
    free(em->h_sum);
    pair_sizes_release(&em->sizes);
    lexicon_table_release(&em->table);
    occurrences_release(&em->occ);
}

static bool em_alloc_scratch(struct em *em)
{
    em->n_parts = pool_threads(em->pool);
    em->scratch = calloc((size_t)em->n_parts, sizeof *em->scratch);
    for (int i = 0; em->scratch && i < em->n_parts; i++) {
        struct em_scratch *s = &em->scratch[i];

        s->prob = calloc(em->made->n_keys, sizeof *s->prob);
        s->count = calloc(em->made->n_keys, sizeof *s->count);
        s->weight = malloc(BITEXT_WORDS_MAX * sizeof *s->weight);
        if (!s->prob || !s->count || !s->weight) return false;
    }
    return em->scratch != NULL;
}

static enum status em_init(struct em *em, const struct bitext *b, struct err *e)
{
    enum status st = occurrences_init(&em->occ, b, em->given, e);

    if (!st) st = lexicon_table_init(&em->table, &em->occ, em->made, e);
    if (!st)
        st = pair_sizes_init(&em->sizes, b->n_pairs, em->given, em->made, e);
    if (st) return st;
    em->scale = malloc(em->made->n_words * sizeof *em->scale);
    em->h_sum = malloc(em->given->n_keys * sizeof *em->h_sum);
    if (!em->scale || !em->h_sum || !em_alloc_scratch(em))
        return err_nomem(e, "training");
    return ST_OK;
}

/* ---- rows ---------------------------------------------------------------- */

static void em_load_row(const struct em *em, size_t row, float *prob)
{
    const struct lexicon_table *t = &em->table;

    for (uint64_t k = t->begin[row]; k < t->begin[row + 1]; k++)
        prob[t->word[k]] = t->prob[k];
}

/* The logarithmic derivative of the gamma function, for x > 0: from x >= 6 on
 * by its asymptotic series, below that by psi(x) = psi(x + 1) - 1 / x. */
static double em_digamma(double x)
{
    double lower = 0, y;

    for (; x < 6; x++) lower += 1 / x;
    y = 1 / (x * x);
    return log(x) - 0.5 / x - lower -
           y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y / 240)));
}

/* Compute the new probabilities of a row from its expected counts. With alpha,
 * they are exp(E[ln p]) under the posterior Dirichlet distribution. */
static void em_update_row(struct em *em, size_t row, const double *count)
{
    const struct lexicon_table *t = &em->table;
    uint64_t begin = t->begin[row], end = t->begin[row + 1];
    double alpha = em->settings->alpha, total = 0, log_total;

    for (uint64_t k = begin; k < end; k++) total += count[t->word[k]];
    if (!(total > 0)) return;
    log_total = alpha > 0
                    ? em_digamma(total + alpha * (double)(end - begin)) : 0;
    for (uint64_t k = begin; k < end; k++) {
        double c = count[t->word[k]];
        double p = alpha > 0 ? exp(em_digamma(c + alpha) - log_total)
                             : c / total;

        t->prob[k] = (float)fmax(p, LEAST_PROB);
    }
}

static void em_clear_counts(const struct em *em, size_t row, double *count)
{
    const struct lexicon_table *t = &em->table;

    for (uint64_t k = t->begin[row]; k < t->begin[row + 1]; k++)
        count[t->word[k]] = 0;
}

/* ---- the first pass: sums ------------------------------------------------ */

/* The first pair of a part: parts have about the same number of made words. */
static size_t em_part_begin(const struct em *em, int part, int n_parts)
{
    uint64_t want = (uint64_t)em->made->n_words * (unsigned)part /
                    (unsigned)n_parts;
    size_t low = 0, high = em->n_pairs;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (em->made->begin[middle] < want) low = middle + 1;
        else high = middle;
    }
    return part == n_parts ? em->n_pairs : low;
}

static void em_add_parts(const struct em *em, struct em_scratch *s,
                         struct occurrence o)
{
    struct bitext_text y = bitext_text(em->made, o.pair);
    uint32_t n = bitext_text(em->given, o.pair).n;
    double *sum = em->scale + em->made->begin[o.pair];

    diagonal_weights(em->tension, o.position, n, y.n, s->weight);
    for (uint32_t i = 0; i < y.n; i++)
        sum[i] += s->weight[i] * (double)s->prob[y.at[i]];
}

static void em_sums(void *arg, int part, int n_parts)
{
    struct em *em = arg;
    struct em_scratch *s = &em->scratch[part];
    size_t first = em_part_begin(em, part, n_parts);
    size_t end = em_part_begin(em, part + 1, n_parts);

    for (size_t w = em->slice_begin; w < em->slice_end; w++) {
        size_t k = occurrences_in_pair(&em->occ, w, first);
        size_t k_end = occurrences_in_pair(&em->occ, w, end);

        if (k < k_end) em_load_row(em, w + 1, s->prob);
        for (; k < k_end; k++) em_add_parts(em, s, em->occ.at[k]);
    }
}

/* Complete the sums of a pair. Returns its log-likelihood. count: of the words
 * that the null word made. */
static double em_finish_pair(struct em *em, size_t pair, double *count)
{
    struct bitext_text y = bitext_text(em->made, pair);
    double *scale = em->scale + em->made->begin[pair];
    double null = em->settings->null_prob, log_likelihood = 0;
    size_t place = y.n ? em->sizes.at[em->sizes.of_pair[pair]].place : 0;

    for (uint32_t i = 0; i < y.n; i++) {
        double prior = (1 - null) / em->sizes.sum[place + i];
        double from_null = null * (double)em->table.prob[y.at[i]];
        double p = from_null + prior * scale[i];

        assert(p > 0);
        log_likelihood += log(p);
        count[y.at[i]] += from_null / p;
        em->sizes.linked[place + i] += 1 - from_null / p;
        scale[i] = prior / p;
    }
    return log_likelihood;
}

/* Complete all sums and update the row of the null word. Its words are 0, 1, 2
 * .., so table.prob is indexed by word. Returns the log-likelihood. */
static double em_finish_sums(struct em *em)
{
    double *count = em->scratch[0].count, log_likelihood = 0;

    for (size_t pair = 0; pair < em->n_pairs; pair++)
        log_likelihood += em_finish_pair(em, pair, count);
    em_update_row(em, 0, count);
    em_clear_counts(em, 0, count);
    return log_likelihood;
}

/* ---- the second pass: counts --------------------------------------------- */

/* Add the expected counts of an occurrence. Returns the expected h. */
static double em_count_one(const struct em *em, struct em_scratch *s,
                           struct occurrence o)
{
    struct bitext_text y = bitext_text(em->made, o.pair);
    uint32_t n = bitext_text(em->given, o.pair).n;
    const double *scale = em->scale + em->made->begin[o.pair];
    double at = (double)o.position / n, h_sum = 0;

    diagonal_weights(em->tension, o.position, n, y.n, s->weight);
    for (uint32_t i = 0; i < y.n; i++) {
        double p = s->weight[i] * (double)s->prob[y.at[i]] * scale[i];

        s->count[y.at[i]] += p;
        h_sum -= p * fabs(at - (double)(i + 1) / y.n);
    }
    return h_sum;
}

static void em_counts(void *arg, int part, int n_parts)
{
    struct em *em = arg;
    struct em_scratch *s = &em->scratch[part];
    size_t from = em->occ.begin[em->slice_begin];
    size_t work = em->occ.begin[em->slice_end] - from;
    size_t w = em->slice_begin, end = em->slice_end;

    if (part)
        w = occurrences_word_at(&em->occ,
                                from + work * (size_t)part / (size_t)n_parts);
    if (part + 1 < n_parts)
        end = occurrences_word_at(&em->occ, from + work * (size_t)(part + 1) /
                                                (size_t)n_parts);
    for (; w < end; w++) {
        em_load_row(em, w + 1, s->prob);
        em->h_sum[w] = 0;
        for (size_t k = em->occ.begin[w]; k < em->occ.begin[w + 1]; k++)
            em->h_sum[w] += em_count_one(em, s, em->occ.at[k]);
        em_update_row(em, w + 1, s->count);
        em_clear_counts(em, w + 1, s->count);
    }
}

/* ---- iterations ---------------------------------------------------------- */

static enum status em_canceled(struct err *e)
{
    return err_set(e, ST_CANCELED, "the training was stopped");
}

/* Run a pass over all given words. begin: how much of the training is done
 * before it; share: how much it is. */
static enum status em_pass(struct em *em, pool_fn *fn, double begin,
                           double share, struct err *e)
{
    const struct align_settings *s = em->settings;

    for (int k = 0; k < SLICES; k++) {
        if (s->on_progress &&
            s->on_progress(s->user, begin + share * k / SLICES))
            return em_canceled(e);
        em->slice_begin = k ? em->slice_end : 0;
        em->slice_end = k + 1 < SLICES
            ? occurrences_word_at(&em->occ,
                                  em->occ.n * (size_t)(k + 1) / SLICES)
            : em->occ.n_words;
        assert(em->slice_begin <= em->slice_end);
        pool_run(em->pool, fn, em);
    }
    return ST_OK;
}

/* Move the tension uphill: the gradient of the log-likelihood is the expected h
 * of the links minus the h that the prior expects. */
static void em_update_tension(struct em *em)
{
    double h_sum = 0, words = (double)em->made->n_words;

    for (size_t w = 0; w < em->given->n_keys; w++) h_sum += em->h_sum[w];
    for (int i = 0; i < TENSION_STEPS; i++) {
        double gradient = h_sum - pair_sizes_expect(&em->sizes, em->tension);

        em->tension += TENSION_RATE * gradient / words;
        em->tension = fmin(fmax(em->tension, DIAGONAL_TENSION_MIN),
                           DIAGONAL_TENSION_MAX);
    }
}

static enum status em_iterate(struct em *em, struct align_iteration *it,
                              struct err *e)
{
    const struct align_settings *s = em->settings;
    double share = 0.5 / it->of, begin = 2 * share * (it->number - 1);
    enum status st;

    memset(em->scale, 0, em->made->n_words * sizeof *em->scale);
    pair_sizes_begin(&em->sizes, em->tension);
    st = em_pass(em, em_sums, begin, share, e);
    if (st) return st;
    it->log_likelihood = em_finish_sums(em);
    st = em_pass(em, em_counts, begin + share, share, e);
    if (st) return st;
    /* The probabilities of the first iteration are uniform: what they say about
     * positions is only the prior itself. */
    if (it->number > 1) em_update_tension(em);
    it->perplexity = exp(-it->log_likelihood / (double)em->made->n_words);
    it->tension = em->tension;
    if (s->on_iteration && s->on_iteration(s->user, it)) return em_canceled(e);
    return ST_OK;
}

enum status align_train(struct align_direction *out, const struct bitext *b,
                        bool reverse, const struct align_settings *s,
                        struct pool *pool, struct err *e)
{
    struct em em = { .given = &b->side[reverse], .made = &b->side[!reverse],
                     .settings = s, .pool = pool, .n_pairs = b->n_pairs,
                     .tension = s->tension };
    struct align_iteration it = { .reverse = reverse, .of = s->iterations };
    enum status st;

    assert(b->finished && em.made->n_words && s->iterations >= 1);
    *out = (struct align_direction){ .null_prob = s->null_prob };
    st = em_init(&em, b, e);
    for (it.number = 1; !st && it.number <= it.of; it.number++)
        st = em_iterate(&em, &it, e);
    out->tension = em.tension;
    if (!st) st = lexicon_compact(&out->lexicon, &em.table, e);
    em_release(&em);
    return st;
}
