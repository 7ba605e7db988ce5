/* bitext.h - pairs of texts as numbers of words, on which alignment is trained.
 *
 *     bitext_add(b, source_keys, target_keys, &e);  ..
 *     bitext_finish(b, &e);
 *
 * Each side has a vocabulary: the distinct keys of its words. bitext_finish
 * sorts it, and from then on the number of a word is the rank of its key. So
 * the numbers do not depend on the order of the pairs. A pair with more than
 * BITEXT_WORDS_MAX words on a side, or with a side that has none, is kept
 * without words, so that the pairs can be counted. A bitext is changed by one
 * thread at a time. */
#ifndef ALIGN_BITEXT_H
#define ALIGN_BITEXT_H

#include "align/word_keys.h"
#include "base/map64.h"

/* Training takes time and memory in proportion to the product of the lengths,
 * and longer texts are rarely sentences. */
#define BITEXT_WORDS_MAX 1000

struct bitext_side {
    uint64_t *keys;             /* [n_keys] distinct; ascending when finished */
    size_t n_keys, cap_keys;
    uint32_t *words;            /* [n_words] of all texts, one after another:
                                   indices of keys */
    size_t n_words, cap_words;
    uint32_t *begin;            /* [n_pairs + 1] where each text begins */
    size_t cap_begin;
    struct map64 numbers;       /* of keys, until the bitext is finished */
};

struct bitext {                 /* initialize with zeros */
    struct bitext_side side[2];
    size_t n_pairs;
    size_t n_long, n_empty;     /* pairs without words: too long, or empty */
    bool finished;
};

struct bitext_text {
    const uint32_t *at;         /* [n] */
    uint32_t n;
};

void bitext_release(struct bitext *b);
enum status bitext_add(struct bitext *b, const struct word_keys *source,
                       const struct word_keys *target, struct err *e);
/* Sorts the vocabularies. Nothing can be added afterwards. */
enum status bitext_finish(struct bitext *b, struct err *e);

static inline struct bitext_text bitext_text(const struct bitext_side *s,
                                             size_t pair)
{
    return (struct bitext_text){ s->words + s->begin[pair],
                                 s->begin[pair + 1] - s->begin[pair] };
}

#endif
