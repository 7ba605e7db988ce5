/* ngrams.h - the translation pieces of a sentence: n-grams of the targets of
 * similar pairs, with their weights (method 10.2).
 *
 * An n-gram of a target is taken if none of its words translates an edited word
 * and its first and last words are aligned. Its weight is the similarity of the
 * most similar pair that has it. So the last word of every n-gram is a 1-gram
 * of the set, too, and only these words can get a reward.
 *
 * At most NGRAM_WORDS different words are kept, those of the largest weights;
 * n-grams that end in another word are dropped. A set is immutable. */
#ifndef KNN_NGRAMS_H
#define KNN_NGRAMS_H

#include "base/err.h"
#include "knn/unedited.h"
#include "nn/mixer.h"

enum { NGRAM_MOST = 4, NGRAM_WORDS = MIXTURE_TOKENS };

struct ngram_target {           /* the target of a pair */
    const int32_t *token;       /* [n] */
    const uint8_t *fate;        /* [n] enum word_fate */
    int n;
    float weight;               /* similarity of the pair, 0 to 1 */
};

struct ngram {
    int32_t token[NGRAM_MOST];  /* [n], then zeros */
    int n;
    float weight;
    int32_t pair, pos;          /* where it was found: the most similar pair,
                                   the first of equals; the position of its
                                   last token */
    int word;                   /* index of the last token in ngrams.word */
};

struct ngrams {
    struct ngram *at;           /* by n, then by tokens; all different */
    int begin[NGRAM_MOST + 2];  /* those of length n are [begin[n],
                                   begin[n + 1]) */
    int32_t *word;              /* [n_words] ascending: the 1-grams */
    int n_words;
};

/* Collect the n-grams of n targets. Pairs without similarity have none. */
enum status ngrams_new(struct ngrams **out, const struct ngram_target *targets,
                       int n, struct err *e);
void ngrams_free(struct ngrams *g);             /* NULL is fine */

/* For each word, the sum of the weights of all n-grams that it completes after
 * the n_last tokens of `last`, oldest first. reward has room for n_words. */
void ngrams_rewards(const struct ngrams *g, const int32_t *last, int n_last,
                    float *reward);
/* No reward is larger than this. */
float ngrams_most_reward(const struct ngrams *g);
/* The n-grams that `token` completes there, the longest first. Returns their
 * number. */
int ngrams_completed(const struct ngrams *g, const int32_t *last, int n_last,
                     int32_t token, const struct ngram *out[NGRAM_MOST]);

#endif
