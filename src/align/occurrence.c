/* occurrence.c - lists the occurrences of each word of a bitext, by counting
 * them first. */
#include "align/occurrence.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

void occurrences_release(struct occurrences *o)
{
    free(o->at);
    free(o->begin);
    memset(o, 0, sizeof *o);
}

/* Set begin[w + 1] to where the occurrences of word w begin. occurrences_fill
 * then moves it to where they end, which is where those of w + 1 begin. */
static void occurrences_count(struct occurrences *o,
                              const struct bitext_side *side)
{
    size_t sum = 0;

    for (size_t i = 0; i < side->n_words; i++) o->begin[side->words[i] + 1]++;
    for (size_t w = 0; w < o->n_words; w++) {
        size_t count = o->begin[w + 1];

        o->begin[w + 1] = sum;
        sum += count;
    }
    assert(sum == o->n);
}

static void occurrences_fill(struct occurrences *o, const struct bitext *b,
                             const struct bitext_side *side)
{
    for (size_t pair = 0; pair < b->n_pairs; pair++) {
        struct bitext_text t = bitext_text(side, pair);

        for (uint32_t i = 0; i < t.n; i++)
            o->at[o->begin[t.at[i] + 1]++] =
                (struct occurrence){ (uint32_t)pair, i + 1 };
    }
    assert(o->begin[o->n_words] == o->n);
}

enum status occurrences_init(struct occurrences *o, const struct bitext *b,
                             const struct bitext_side *side, struct err *e)
{
    o->n = side->n_words;
    o->n_words = side->n_keys;
    o->at = malloc((o->n + 1) * sizeof *o->at);
    o->begin = calloc(o->n_words + 1, sizeof *o->begin);
    if (!o->at || !o->begin)
        return err_nomem(e, "the occurrences of words");
    occurrences_count(o, side);
    occurrences_fill(o, b, side);
    return ST_OK;
}

size_t occurrences_word_at(const struct occurrences *o, size_t at)
{
    size_t low = 0, high = o->n_words;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (o->begin[middle] < at) low = middle + 1;
        else high = middle;
    }
    return low;
}

size_t occurrences_in_pair(const struct occurrences *o, size_t word,
                           size_t pair)
{
    size_t low = o->begin[word], high = o->begin[word + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (o->at[middle].pair < pair) low = middle + 1;
        else high = middle;
    }
    return low;
}
