/* full_stop.h - whether a full stop ends a sentence: what the word before it
 * and the text after it tell. */
#ifndef TEXT_FULL_STOP_H
#define TEXT_FULL_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "text/sentence_rules.h"

enum { STOP_WORD_MAX = 40 };    /* bytes; longer words are in no list */

/* What follows a stop. */
struct next_text {
    bool space;                 /* white space, or the end of the text */
    bool plausible;             /* could be the beginning of a sentence */
    bool digit;                 /* begins with a digit */
    bool bracket;               /* begins with a quote or bracket */
    bool starter;               /* begins with a word of LIST_STARTER */
};
struct next_text next_text_at(const struct sentence_rules *r, struct str text,
                              size_t at);

/* Whether a character belongs to the word before a full stop. Full stops inside
 * a word do, too. */
bool full_stop_in_word(uint32_t cp);
/* Whether a full stop after a word ends the sentence. `first` means that the
 * word is the first of its sentence; a number there numbers a list item or
 * heading. */
bool full_stop_ends(const struct sentence_rules *r, struct str word, bool first,
                    const struct next_text *next);

#endif
