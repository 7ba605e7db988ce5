/* words.h - the words of a text, by the borders of Unicode (UAX #29).
 *
 * What Lucene's standard tokenizer does: a run of letters, digits, marks and
 * '_' is a word, with . : ' between letters and . , ; ' between digits inside
 * it ("2,5", "don't"); ideographs and Hiragana stand alone, Katakana runs
 * together, and so do Thai and its neighbors, as there is no dictionary. Text
 * is valid UTF-8 (each other byte counts as U+FFFD). The borders are those of
 * Unicode 15 but for Thai and for U+202F, which is a space here. */
#ifndef TEXT_WORDS_H
#define TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum word_kind {
    WORD_TERM,                  /* has a letter or a digit: what is indexed */
    WORD_SPACE,                 /* white space only */
    WORD_OTHER                  /* punctuation, symbols, a lone '_' */
};

struct words {
    struct str text;
    size_t begin, end;          /* of the word words_next found */
    enum word_kind kind;
};

#define WORD_CHARS_MAX 255

void words_begin(struct words *w, struct str text);
/* The next stretch between two borders; every byte of the text is in exactly
 * one. What is longer than WORD_CHARS_MAX code points is cut there. false: at
 * the end. */
bool words_next(struct words *w);

/* Writes a word in lower case (the simple mapping of each code point, as
 * Lucene does) and returns the number of bytes: at most 3 for each of the
 * word's, and WORD_LOWER_MAX for a word of words_next. Not NUL-terminated. */
#define WORD_LOWER_MAX (4 * WORD_CHARS_MAX)
size_t words_lower(struct str word, char *out);

#endif
