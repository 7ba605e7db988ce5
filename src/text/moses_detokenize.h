/* moses_detokenize.h - makes a text of words and punctuation, as the Moses
 * detokenizer does: detokenizer.perl of Moses, or its Python port.
 *
 * Punctuation is attached to the word before or after it, quotation marks open
 * and close in turn, "@-@" becomes a hyphen without spaces, and entities become
 * characters. Each function changes w->now, which has words divided by single
 * spaces. For use inside text/ only. */
#ifndef TEXT_MOSES_DETOKENIZE_H
#define TEXT_MOSES_DETOKENIZE_H

#include "text/aligned_text.h"
#include "text/moses_language.h"

void moses_detokenize(struct aligned_work *w, const struct moses_language *l);

/* Upper-case the first letter of each sentence (detruecase.perl). The words
 * stay divided. */
void moses_detruecase(struct aligned_work *w);

/* Whether a word ends a sentence ("."), or does not end the beginning of one
 * (a quotation mark): for the truecaser. Words are escaped or not. */
bool moses_ends_sentence(struct str word);
bool moses_delays_sentence(struct str word);

#endif
