/* words.h - splits a text into words at the borders of Unicode (UAX #29).
 *
 * It gives the words of Lucene's standard tokenizer. A run of letters, digits,
 * marks and '_' is a word, and may contain . : ' between letters and . , ; '
 * between digits ("2,5", "don't"). Each ideograph and Hiragana letter is a word
 * of its own. A run of Katakana is one word, and so is a run of Thai or another
 * Southeast Asian script, because there is no dictionary. The text should be
 * valid UTF-8; each invalid byte counts as U+FFFD. The borders are those of
 * Unicode 15, except in Southeast Asian scripts and for U+202F, which is a
 * space here. */
#ifndef TEXT_WORDS_H
#define TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum word_kind {
    WORD_TERM,                  /* has a letter or digit; these are indexed */
    WORD_SPACE,                 /* white space only */
    WORD_OTHER                  /* punctuation, symbols, a lone '_' */
};

struct words {
    struct str text;
    size_t begin, end;          /* of the current word */
    enum word_kind kind;
};

#define WORD_CHARS_MAX 255

void words_begin(struct words *w, struct str text);
/* Finds the next stretch between two borders. Every byte of the text belongs to
 * exactly one stretch. A stretch of more than WORD_CHARS_MAX code points is cut
 * there. Returns false at the end. */
bool words_next(struct words *w);

/* Writes a word in lower case, mapping each code point by itself like Lucene
 * does. Returns the number of bytes: at most 3 for each byte of the word, and
 * at most WORD_LOWER_MAX for a word of words_next. The result is not
 * NUL-terminated. */
#define WORD_LOWER_MAX (4 * WORD_CHARS_MAX)
size_t words_lower(struct str word, char *out);

#endif
