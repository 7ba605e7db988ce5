/* align_fix.h - pairs and models for the tests of word alignment. */
#ifndef ALIGN_FIX_H
#define ALIGN_FIX_H

#include "align/align_model.h"
#include "test.h"

static const struct word_splitter fix_words = { .split = SPLIT_WORDS };

static inline bool add_pair(struct bitext *b, const char *source,
                            const char *target)
{
    struct word_keys s = { 0 }, t = { 0 };
    bool ok = !word_keys_of(&fix_words, BITEXT_SOURCE, str_of(source), &s,
                            NULL) &&
              !word_keys_of(&fix_words, BITEXT_TARGET, str_of(target), &t,
                            NULL) &&
              !bitext_add(b, &s, &t, NULL);

    word_keys_release(&s);
    word_keys_release(&t);
    return ok;
}

static inline enum status train_words(struct align_model **m, struct bitext *b,
                                      const struct align_settings *s,
                                      int n_threads, struct err *e)
{
    return align_model_train(m, b, &fix_words, s, n_threads, e);
}

/* The number of a word, which is in lower case. */
static inline uint32_t word_number(const struct align_model *m,
                                   enum bitext_which side, const char *word)
{
    struct word_keys k = { 0 };
    uint32_t number = ALIGN_UNKNOWN;

    if (!word_keys_of(&fix_words, BITEXT_SOURCE, str_of(word), &k, NULL) &&
        k.n == 1)
        number = align_model_number(m, side, k.at[0].key);
    word_keys_release(&k);
    return number;
}

/* A random number below n. */
static inline uint32_t fix_random(unsigned *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*seed * n >> 32);
}

/* Add n pairs of 1 to 9 words. Source word k is translated by target word k;
 * common words have low numbers. One word in ten has no translation, and
 * neighbors are sometimes exchanged. */
static inline void add_made_up(struct bitext *b, int n)
{
    unsigned seed = 7;

    for (int i = 0; i < n; i++) {
        char source[200] = "", target[200] = "";
        uint32_t words = 1 + fix_random(&seed, 9), last = 0;

        for (uint32_t k = 0; k < words; k++) {
            uint32_t word = fix_random(&seed, 1 + fix_random(&seed, 60));
            size_t s = strlen(source), t = strlen(target);
            bool swap = k && fix_random(&seed, 5) == 0;

            snprintf(source + s, sizeof source - s, "s%u ", word);
            if (fix_random(&seed, 10) == 0) continue;
            snprintf(target + t, sizeof target - t, "t%u ",
                     swap ? last : word);
            last = word;
        }
        if (!target[0]) strcpy(target, "t0");
        CHECK(add_pair(b, source, target));
    }
}

#endif
