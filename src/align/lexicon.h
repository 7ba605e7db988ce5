/* lexicon.h - the probabilities of words given words of the other side.
 *
 * A row holds the probabilities of one given word. Row 0 is that of the null
 * word, from which words without a counterpart come; row w + 1 is that of word
 * w. Word pairs that are not in the table have the probability LEXICON_FLOOR.
 *
 * There are two forms. A lexicon_table is used in training: it has every word
 * pair that occurs in a pair of texts, and its rows are not sorted. A lexicon
 * is compact and immutable: pairs with small probabilities are left out, and
 * the words of a row ascend. */
#ifndef ALIGN_LEXICON_H
#define ALIGN_LEXICON_H

#include "align/occurrence.h"

#define LEXICON_FLOOR 1e-9
/* A compact lexicon leaves out smaller probabilities. */
#define LEXICON_LEAST 1e-6f

struct lexicon_table {          /* initialize with zeros */
    size_t n_rows;
    uint64_t *begin;            /* [n_rows + 1] where each row begins */
    uint32_t *word;             /* [begin[n_rows]] row 0 is 0, 1, 2 .. */
    float *prob;                /* the same size */
};

/* Lists the word pairs: those of a given word and a made word that occur in the
 * same pair of texts, and those of the null word and every made word. All
 * probabilities are 1 / made->n_keys. */
enum status lexicon_table_init(struct lexicon_table *t,
                               const struct occurrences *given,
                               const struct bitext_side *made, struct err *e);
void lexicon_table_release(struct lexicon_table *t);

struct lexicon {
    size_t n_rows, n;           /* rows; word pairs */
    const uint64_t *begin;      /* [n_rows + 1] */
    const uint32_t *word;       /* [n] ascending in each row */
    const float *prob;          /* [n] */
};

/* Makes a compact lexicon of a table. Free it with lexicon_release. */
enum status lexicon_compact(struct lexicon *out, const struct lexicon_table *t,
                            struct err *e);
void lexicon_release(struct lexicon *l);

/* The probability of `word` given the word of a row. A row or a word that the
 * lexicon does not know has the probability LEXICON_FLOOR. */
double lexicon_prob(const struct lexicon *l, size_t row, uint32_t word);

#endif
