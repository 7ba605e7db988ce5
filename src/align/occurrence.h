/* occurrence.h - where each word of one side of a bitext occurs.
 *
 * Training goes through the words of one side, and for each word through its
 * occurrences, in the order of the pairs. Immutable after occurrences_init. */
#ifndef ALIGN_OCCURRENCE_H
#define ALIGN_OCCURRENCE_H

#include "align/bitext.h"

struct occurrence {
    uint32_t pair;
    uint32_t position;          /* in the text of the pair, from 1 */
};

struct occurrences {            /* initialize with zeros */
    struct occurrence *at;      /* [n] by word, then by pair, then by
                                   position */
    size_t n;
    size_t *begin;              /* [n_words + 1] where those of a word begin */
    size_t n_words;
};

enum status occurrences_init(struct occurrences *o, const struct bitext *b,
                             const struct bitext_side *side, struct err *e);
void occurrences_release(struct occurrences *o);

/* The first word whose occurrences begin at `at` or later; n_words if there is
 * none. For dividing the words into parts with equal work. */
size_t occurrences_word_at(const struct occurrences *o, size_t at);
/* The index of the first occurrence of a word in this pair or a later one. */
size_t occurrences_in_pair(const struct occurrences *o, size_t word,
                           size_t pair);

#endif
