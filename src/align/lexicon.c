/* lexicon.c - lists the word pairs of a bitext, and keeps the probable ones.
 *
 * The made words of a row are collected by going through the texts that contain
 * the given word. seen[w] is the last row that has word w, so each word enters
 * a row once. The pairs are counted first and stored afterwards: their number
 * can be large, and an array that grows would need up to twice the memory. */
#include "align/lexicon.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* ---- the table of training ----------------------------------------------- */

void lexicon_table_release(struct lexicon_table *t)
{
    free(t->begin);
    free(t->word);
    free(t->prob);
    memset(t, 0, sizeof *t);
}

/* Count the made words of a row, and store them in `word` unless it is NULL. */
static size_t collect_row(size_t row, const struct occurrences *given,
                          const struct bitext_side *made, uint32_t *seen,
                          uint32_t *word)
{
    size_t n = 0;

    for (size_t k = given->begin[row - 1]; k < given->begin[row]; k++) {
        struct bitext_text t = bitext_text(made, given->at[k].pair);

        if (k > given->begin[row - 1] &&
            given->at[k - 1].pair == given->at[k].pair)
            continue;
        for (uint32_t i = 0; i < t.n; i++) {
            if (seen[t.at[i]] == row) continue;
            seen[t.at[i]] = (uint32_t)row;
            if (word) word[n] = t.at[i];
            n++;
        }
    }
    return n;
}

static void count_rows(struct lexicon_table *t, const struct occurrences *given,
                       const struct bitext_side *made, uint32_t *seen)
{
    t->begin[0] = 0;
    t->begin[1] = made->n_keys;
    for (size_t row = 1; row < t->n_rows; row++)
        t->begin[row + 1] = t->begin[row] +
                            collect_row(row, given, made, seen, NULL);
}

static void fill_rows(struct lexicon_table *t, const struct occurrences *given,
                      const struct bitext_side *made, uint32_t *seen)
{
    uint64_t n = t->begin[t->n_rows];

    memset(seen, 0, made->n_keys * sizeof *seen);
    for (size_t w = 0; w < made->n_keys; w++) t->word[w] = (uint32_t)w;
    for (size_t row = 1; row < t->n_rows; row++)
        collect_row(row, given, made, seen, t->word + t->begin[row]);
    for (uint64_t k = 0; k < n; k++) t->prob[k] = 1 / (float)made->n_keys;
}

enum status lexicon_table_init(struct lexicon_table *t,
                               const struct occurrences *given,
                               const struct bitext_side *made, struct err *e)
{
    uint32_t *seen = calloc(made->n_keys + 1, sizeof *seen);
    enum status st = ST_OK;

    assert(made->n_keys > 0);
    t->n_rows = given->n_words + 1;
    t->begin = malloc((t->n_rows + 1) * sizeof *t->begin);
    if (seen && t->begin) {
        count_rows(t, given, made, seen);
        t->word = malloc(t->begin[t->n_rows] * sizeof *t->word);
        t->prob = malloc(t->begin[t->n_rows] * sizeof *t->prob);
    }
    if (t->word && t->prob) fill_rows(t, given, made, seen);
    else st = err_nomem(e, "the table of word pairs");
    free(seen);
    return st;
}

/* ---- the compact form ---------------------------------------------------- */

struct lexicon_entry { uint32_t word; float prob; };

static int compare_entries(const void *a, const void *b)
{
    uint32_t x = ((const struct lexicon_entry *)a)->word;
    uint32_t y = ((const struct lexicon_entry *)b)->word;

    return (x > y) - (x < y);
}

/* Copy the probable entries of a row to `to`, sorted. Returns their number. */
static size_t probable_entries(const struct lexicon_table *t, size_t row,
                               struct lexicon_entry *to)
{
    size_t n = 0;

    for (uint64_t k = t->begin[row]; k < t->begin[row + 1]; k++) {
        if (t->prob[k] < LEXICON_LEAST) continue;
        to[n++] = (struct lexicon_entry){ t->word[k], t->prob[k] };
    }
    qsort(to, n, sizeof *to, compare_entries);
    return n;
}

static size_t count_probable(const struct lexicon_table *t, size_t *longest)
{
    size_t n = 0;

    *longest = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        size_t length = t->begin[row + 1] - t->begin[row];

        if (length > *longest) *longest = length;
    }
    for (uint64_t k = 0; k < t->begin[t->n_rows]; k++)
        n += t->prob[k] >= LEXICON_LEAST;
    return n;
}

static void compact_rows(const struct lexicon_table *t,
                         struct lexicon_entry *row_entries, uint64_t *begin,
                         uint32_t *word, float *prob)
{
    size_t n = 0;

    for (size_t row = 0; row < t->n_rows; row++) {
        size_t length = probable_entries(t, row, row_entries);

        begin[row] = n;
        for (size_t k = 0; k < length; k++, n++) {
            word[n] = row_entries[k].word;
            prob[n] = row_entries[k].prob;
        }
    }
    begin[t->n_rows] = n;
}

enum status lexicon_compact(struct lexicon *out, const struct lexicon_table *t,
                            struct err *e)
{
    size_t longest, n = count_probable(t, &longest);
    struct lexicon_entry *row = malloc((longest + 1) * sizeof *row);
    uint64_t *begin = malloc((t->n_rows + 1) * sizeof *begin);
    uint32_t *word = malloc((n + 1) * sizeof *word);
    float *prob = malloc((n + 1) * sizeof *prob);
    enum status st = ST_OK;

    *out = (struct lexicon){ t->n_rows, n, begin, word, prob };
    if (row && begin && word && prob) {
        compact_rows(t, row, begin, word, prob);
        assert(begin[t->n_rows] == n);
    } else {
        st = err_nomem(e, "the table of word pairs");
        lexicon_release(out);
    }
    free(row);
    return st;
}

void lexicon_release(struct lexicon *l)
{
    free((void *)(uintptr_t)l->begin);
    free((void *)(uintptr_t)l->word);
    free((void *)(uintptr_t)l->prob);
    memset(l, 0, sizeof *l);
}

double lexicon_prob(const struct lexicon *l, size_t row, uint32_t word)
{
    uint64_t low, high;

    if (row >= l->n_rows) return LEXICON_FLOOR;
    low = l->begin[row];
    high = l->begin[row + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (l->word[middle] == word) return (double)l->prob[middle];
        if (l->word[middle] < word) low = middle + 1;
        else high = middle;
    }
    return LEXICON_FLOOR;
}
