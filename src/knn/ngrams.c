/* ngrams.c - collects n-grams into a sorted array and finds those that continue
 * the last tokens of a translation by binary search.
 *
 * Rewards are sums of floats in the order 1-gram, 2-gram .. 4-gram, so a reward
 * is the same number wherever it is computed. */
#include "knn/ngrams.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* ---- order -------------------------------------------------------------- */

static int compare_tokens(const int32_t *a, const int32_t *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* By length and tokens; then the one whose weight counts comes first. */
static int compare_ngrams(const void *left, const void *right)
{
    const struct ngram *a = left, *b = right;
    int c = a->n != b->n ? a->n - b->n
                         : compare_tokens(a->token, b->token, a->n);

    if (c) return c;
    if (a->weight > b->weight || a->weight < b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->pair != b->pair) return a->pair < b->pair ? -1 : 1;
    return (a->pos > b->pos) - (a->pos < b->pos);
}

/* By weight, the largest first; equals in the order of pairs and positions. */
static int compare_weights(const void *left, const void *right)
{
    const struct ngram *a = left, *b = right;

    if (a->weight > b->weight || a->weight < b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->pair != b->pair) return a->pair < b->pair ? -1 : 1;
    return (a->pos > b->pos) - (a->pos < b->pos);
}

static int compare_words(const void *left, const void *right)
{
    const int32_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* ---- collecting --------------------------------------------------------- */

/* Add the n-grams of a target that begin with word `from`. */
static int add_from(struct ngram *to, const struct ngram_target *t, int pair,
                    int from)
{
    int n = 0;

    if (t->fate[from] != FATE_KEPT) return 0;
    for (int k = 0; k < NGRAM_MOST && from + k < t->n; k++) {
        int last = from + k;

        if (t->fate[last] == FATE_EDITED) break;
        if (t->fate[last] == FATE_UNALIGNED) continue;
        to[n] = (struct ngram){ .n = k + 1, .weight = t->weight, .pair = pair,
                                .pos = last };
        memcpy(to[n].token, t->token + from,
               ((size_t)k + 1) * sizeof *t->token);
        n++;
    }
    return n;
}

/* Keep the first one of equal n-grams. Returns how many are left. */
static int drop_equal(struct ngram *at, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++)
        if (!kept || at[i].n != at[kept - 1].n ||
            compare_tokens(at[i].token, at[kept - 1].token, at[i].n))
            at[kept++] = at[i];
    return kept;
}

/* List the words: the last tokens of the 1-grams, which are first in g->at.
 * scratch has room for them. */
static bool list_words(struct ngrams *g, int n, struct ngram *scratch)
{
    int all = 0;

    while (all < n && g->at[all].n == 1) all++;
    g->word = malloc(((size_t)all + 1) * sizeof *g->word);
    if (!g->word) return false;
    g->n_words = all < NGRAM_WORDS ? all : NGRAM_WORDS;
    memcpy(scratch, g->at, (size_t)all * sizeof *scratch);
    if (all > NGRAM_WORDS)
        qsort(scratch, (size_t)all, sizeof *scratch, compare_weights);
    for (int i = 0; i < g->n_words; i++) g->word[i] = scratch[i].token[0];
    qsort(g->word, (size_t)g->n_words, sizeof *g->word, compare_words);
    return true;
}

/* Number the n-grams by their words. Those that end in a word that is not
 * listed are dropped. */
static void number_words(struct ngrams *g, int n)
{
    int kept = 0, length = 0;

    for (int i = 0; i < n; i++) {
        struct ngram *x = &g->at[i];
        const int32_t *word = bsearch(&x->token[x->n - 1], g->word,
                                      (size_t)g->n_words, sizeof *g->word,
                                      compare_words);

        if (!word) continue;
        x->word = (int)(word - g->word);
        while (length < x->n) g->begin[++length] = kept;
        g->at[kept++] = *x;
    }
    while (length < NGRAM_MOST + 1) g->begin[++length] = kept;
}

enum status ngrams_new(struct ngrams **out, const struct ngram_target *targets,
                       int n, struct err *e)
{
    struct ngrams *g = calloc(1, sizeof *g);
    struct ngram *scratch;
    size_t room = 1;
    int count = 0;
    bool ok;

    *out = NULL;
    for (int i = 0; i < n; i++) room += NGRAM_MOST * (size_t)targets[i].n;
    if (g) g->at = malloc(room * sizeof *g->at);
    scratch = malloc(room * sizeof *scratch);
    ok = g && g->at && scratch;
    for (int i = 0; ok && i < n; i++)
        for (int k = 0; k < targets[i].n && targets[i].weight > 0; k++)
            count += add_from(g->at + count, &targets[i], i, k);
    if (ok) {
        qsort(g->at, (size_t)count, sizeof *g->at, compare_ngrams);
        count = drop_equal(g->at, count);
        ok = list_words(g, count, scratch);
    }
    if (ok) number_words(g, count);
    free(scratch);
    if (!ok) {
        ngrams_free(g);
        return err_nomem(e, "translation pieces");
    }
    *out = g;
    return ST_OK;
}

void ngrams_free(struct ngrams *g)
{
    if (!g) return;
    free(g->at);
    free(g->word);
    free(g);
}

/* ---- finding ------------------------------------------------------------ */

/* The first n-gram of length n that is not before the given tokens in the order
 * of their first `given` tokens; with `after`, the first that is after them. */
static int ngrams_bound(const struct ngrams *g, int n, const int32_t *tokens,
                        int given, bool after)
{
    int low = g->begin[n], high = g->begin[n + 1];

    while (low < high) {
        int mid = low + (high - low) / 2;
        int c = compare_tokens(g->at[mid].token, tokens, given);

        if (c < 0 || (after && c == 0)) low = mid + 1;
        else high = mid;
    }
    return low;
}

void ngrams_rewards(const struct ngrams *g, const int32_t *last, int n_last,
                    float *reward)
{
    assert(g->begin[2] - g->begin[1] == g->n_words);
    for (int i = 0; i < g->n_words; i++) reward[i] = g->at[i].weight;
    for (int n = 2; n <= NGRAM_MOST && n - 1 <= n_last; n++) {
        const int32_t *before = last + n_last - (n - 1);
        int end = ngrams_bound(g, n, before, n - 1, true);

        for (int i = ngrams_bound(g, n, before, n - 1, false); i < end; i++)
            reward[g->at[i].word] += g->at[i].weight;
    }
}

float ngrams_most_reward(const struct ngrams *g)
{
    float sum = 0;

    for (int n = 1; n <= NGRAM_MOST; n++) {
        float most = 0;

        for (int i = g->begin[n]; i < g->begin[n + 1]; i++)
            if (g->at[i].weight > most) most = g->at[i].weight;
        sum += most;
    }
    return sum;
}

int ngrams_completed(const struct ngrams *g, const int32_t *last, int n_last,
                     int32_t token, const struct ngram *out[NGRAM_MOST])
{
    int found = 0;

    for (int n = NGRAM_MOST; n >= 1; n--) {
        int32_t tokens[NGRAM_MOST];
        int at;

        if (n - 1 > n_last) continue;
        if (n > 1)
            memcpy(tokens, last + n_last - (n - 1),
                   (size_t)(n - 1) * sizeof *tokens);
        tokens[n - 1] = token;
        at = ngrams_bound(g, n, tokens, n, false);
        if (at < g->begin[n + 1] &&
            !compare_tokens(g->at[at].token, tokens, n))
            out[found++] = &g->at[at];
    }
    return found;
}
