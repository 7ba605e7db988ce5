/* words.h - the words of a text, by the borders of Unicode (UAX #29).
 *
 * What Lucene's standard tokenizer does: a run of letters, digits, marks and
 * '_' is a word, with . : ' between letters and . , ; ' between digits inside
 * it ("2,5", "don't"); ideographs and Hiragana stand alone, Katakana runs
 * together; no dictionary. Text is valid UTF-8 (other bytes count as U+FFFD). */
#ifndef TEXT_WORDS_H
#define TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

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

void words_begin(struct words *w, struct str text);
/* The next stretch between two borders; every byte of the text is in exactly
 * one. A term of more than 255 code points is cut there. false: at the end. */
bool words_next(struct words *w);

/* Append a word in lower case (the simple mapping of each code point, as
 * Lucene does). ASCII has a fast path. false: no memory. */
bool words_lower(struct str word, struct strbuf *out);

#endif
