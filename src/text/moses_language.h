/* moses_language.h - what the rules of Moses make of a language.
 *
 * A language without rules of its own has the common ones and the abbreviations
 * of English, as in Moses. For use inside text/ and metrics/. */
#ifndef TEXT_MOSES_LANGUAGE_H
#define TEXT_MOSES_LANGUAGE_H

#include "text/moses_chars.h"
#include "text/moses_prefixes.h"

#define MOSES_LANGUAGE_MAX 15           /* bytes of a code, such as "de" */

/* What happens to an apostrophe. */
enum moses_apostrophe {
    APOSTROPHE_ALONE,           /* is a word of its own */
    APOSTROPHE_RIGHT,           /* English: "can 't" */
    APOSTROPHE_LEFT,            /* French: "l' eau" */
    APOSTROPHE_INSIDE           /* Somali: stays between letters */
};

/* Where the normalizer puts a comma or full stop beside a quotation mark. */
enum moses_quotes { QUOTES_STAY, QUOTES_AFTER_STOP, QUOTES_BEFORE_STOP };

struct moses_language {
    char code[MOSES_LANGUAGE_MAX + 1];
    struct moses_alphabet alphabet;
    enum moses_apostrophe apostrophe;
    enum moses_quotes quotes;
    bool decimal_comma;         /* "1(U+00A0)5" becomes "1,5", else "1.5" */
    bool inner_colon;           /* Finnish, Swedish: "EU:n" is one word */
    bool inner_dot;             /* Catalan: U+00B7 is part of words */
    bool inner_apostrophe;      /* Tetun: and so is an apostrophe */
    const struct moses_prefixes *prefixes;
};

/* perl: the rules of the Perl scripts; else those of their Python port. A code
 * that is too long is cut. */
void moses_language_init(struct moses_language *l, const char *code,
                         bool perl);
bool moses_language_is(const struct moses_language *l, const char *code);

#endif
