/* bitext.c - stores pairs of texts as numbers of words.
 *
 * Until the bitext is finished, words are numbered in the order in which they
 * appear. Invariant: begin has n_pairs + 1 items once a pair was added, and the
 * last one is n_words. */
#include "align/bitext.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"

static void bitext_side_release(struct bitext_side *s)
{
    free(s->keys);
    free(s->words);
    free(s->begin);
    map64_release(&s->numbers);
}

void bitext_release(struct bitext *b)
{
    bitext_side_release(&b->side[BITEXT_SOURCE]);
    bitext_side_release(&b->side[BITEXT_TARGET]);
    memset(b, 0, sizeof *b);
}

/* ---- adding -------------------------------------------------------------- */

/* Set *number to the number of a key. Returns false when out of memory. */
static bool bitext_number(struct bitext_side *s, uint64_t key,
                          uint32_t *number)
{
    bool fresh;
    uint32_t *found;

    if (!mem_grow(&s->keys, &s->cap_keys, s->n_keys + 1, sizeof *s->keys))
        return false;
    found = map64_put(&s->numbers, key, &fresh);
    if (!found) return false;
    if (fresh) {
        *found = (uint32_t)s->n_keys;
        s->keys[s->n_keys++] = key;
    }
    *number = *found;
    return true;
}

/* Append a text. If this fails, n_words is the same as before. */
static bool bitext_append(struct bitext_side *s, const struct word_keys *k,
                          size_t n, size_t pair)
{
    if (!mem_grow(&s->words, &s->cap_words, s->n_words + n, sizeof *s->words) ||
        !mem_grow(&s->begin, &s->cap_begin, pair + 2, sizeof *s->begin))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!bitext_number(s, k->at[i].key, &s->words[s->n_words + i]))
            return false;
    s->begin[pair] = (uint32_t)s->n_words;
    s->begin[pair + 1] = (uint32_t)(s->n_words + n);
    return true;
}

static bool bitext_fits(const struct bitext *b, size_t n, size_t m)
{
    return b->side[BITEXT_SOURCE].n_words + n <= UINT32_MAX &&
           b->side[BITEXT_TARGET].n_words + m <= UINT32_MAX &&
           b->n_pairs < UINT32_MAX;
}

enum status bitext_add(struct bitext *b, const struct word_keys *source,
                       const struct word_keys *target, struct err *e)
{
    struct bitext_side *s = &b->side[BITEXT_SOURCE];
    struct bitext_side *t = &b->side[BITEXT_TARGET];
    bool empty = !source->n || !target->n;
    bool too_long = !empty && (source->n > BITEXT_WORDS_MAX ||
                               target->n > BITEXT_WORDS_MAX);
    size_t n = empty || too_long ? 0 : source->n;
    size_t m = empty || too_long ? 0 : target->n;

    assert(!b->finished);
    if (!bitext_fits(b, n, m))
        return err_set(e, ST_LIMIT, "there are more than %lu words to align; "
                       "use fewer pairs", (unsigned long)UINT32_MAX);
    if (!bitext_append(s, source, n, b->n_pairs) ||
        !bitext_append(t, target, m, b->n_pairs))
        return err_nomem(e, "the words of the pairs");
    s->n_words += n;
    t->n_words += m;
    b->n_pairs++;
    b->n_long += too_long;
    b->n_empty += empty;
    return ST_OK;
}

/* ---- sorting the vocabularies -------------------------------------------- */

struct ranked_key { uint64_t key; uint32_t number; };

static int compare_ranked_keys(const void *a, const void *b)
{
    uint64_t x = ((const struct ranked_key *)a)->key;
    uint64_t y = ((const struct ranked_key *)b)->key;

    return (x > y) - (x < y);
}

/* Replace the numbers of words by the ranks of their keys. */
static enum status bitext_rank(struct bitext_side *s, struct err *e)
{
    struct ranked_key *order = malloc((s->n_keys + 1) * sizeof *order);
    uint32_t *rank = malloc((s->n_keys + 1) * sizeof *rank);

    if (!order || !rank) {
        free(order);
        free(rank);
        return err_nomem(e, "the words of the pairs");
    }
    for (size_t i = 0; i < s->n_keys; i++)
        order[i] = (struct ranked_key){ s->keys[i], (uint32_t)i };
    qsort(order, s->n_keys, sizeof *order, compare_ranked_keys);
    for (size_t i = 0; i < s->n_keys; i++) {
        assert(!i || order[i - 1].key < order[i].key);
        s->keys[i] = order[i].key;
        rank[order[i].number] = (uint32_t)i;
    }
    for (size_t i = 0; i < s->n_words; i++) s->words[i] = rank[s->words[i]];
    free(order);
    free(rank);
    map64_release(&s->numbers);
    return ST_OK;
}

enum status bitext_finish(struct bitext *b, struct err *e)
{
    enum status st = ST_OK;

    if (b->finished) return ST_OK;
    for (int i = 0; !st && i < 2; i++) st = bitext_rank(&b->side[i], e);
    b->finished = !st;
    return st;
}
