/* sentence_rules.h - what tells the end of a sentence in a language: lists of
 * words and a few properties. abbreviations.def has them and explains them. */
#ifndef TEXT_SENTENCE_RULES_H
#define TEXT_SENTENCE_RULES_H

#include <stdbool.h>
#include <stddef.h>

enum sentence_list {
    LIST_NEVER, LIST_MAYBE, LIST_ENDING, LIST_STARTER, LIST_FINAL,
    N_SENTENCE_LISTS
};
enum sentence_flag {
    SPLIT_ORDINALS = 1, SPLIT_NOUNS = 2, SPLIT_DATES = 4, SPLIT_NO_DOTS = 8
};

struct word_lists;              /* opaque */
struct sentence_rules {
    const struct word_lists *lists[3];  /* the last ones may be NULL */
    unsigned flags;                     /* of enum sentence_flag */
};

/* The rules of a language; lang is a code in any form (language.h). If it is
 * NULL or unknown, the text is taken for German or English. */
struct sentence_rules sentence_rules_of(const char *lang);
/* Whether a list has a word, as it is written. */
bool sentence_rules_have(const struct sentence_rules *r,
                         enum sentence_list list, const char *word);
/* Whether a longer word ends with one of LIST_ENDING. */
bool sentence_rules_have_ending(const struct sentence_rules *r,
                                const char *word);

#endif
