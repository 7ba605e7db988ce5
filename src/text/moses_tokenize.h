/* moses_tokenize.h - splits a text into words and punctuation as the Moses
 * tokenizer does: tokenizer.perl of Moses, or its Python port.
 *
 * Each character other than letters, digits and . ' ` , - becomes a word of its
 * own. So does a comma that is not between two digits, and a run of two or more
 * dots. The language decides about apostrophes. A full stop stays attached to
 * its word if the word is a known abbreviation ("Mr."), contains another dot
 * ("i.e."), or is followed by a lower-case letter.
 *
 * Each function changes w->now. For use inside text/ and metrics/. */
#ifndef TEXT_MOSES_TOKENIZE_H
#define TEXT_MOSES_TOKENIZE_H

#include "text/aligned_text.h"
#include "text/moses_language.h"

/* Afterwards there is one space between two words, and none at the ends.
 * dashes: "well-known" becomes "well @-@ known" (tokenizer.perl -a). */
void moses_tokenize(struct aligned_work *w, const struct moses_language *l,
                    bool dashes);

/* Split at white space only. The words are divided in the same way. */
void moses_tokenize_spaces(struct aligned_work *w);

/* & | < > ' " [ ] become &amp; &#124; &lt; &gt; &apos; &quot; &#91; &#93;. */
void moses_escape(struct aligned_work *w);

#endif
