/* moses.h - splits English text into words as the Moses tokenizer does
 * (tokenizer.perl -l en, with escaping).
 *
 * Each character other than letters, digits and . ' ` , - becomes a word of its
 * own. So does a comma that is not between two digits, and a run of two or
 * more dots. "can't" becomes "can" and "'t". A full stop stays attached to its
 * word if the word is not the last one and is a known abbreviation ("Mr."),
 * contains another dot ("i.e."), or is followed by a lower-case letter. Finally
 * & | < > ' " [ ] are escaped as &amp; &#124; and so on.
 *
 * Letters are those of Unicode. One difference from Perl is known: combining
 * marks (U+0300 and others) that Perl counts as alphabetic become words of
 * their own here. This affects Hebrew, Arabic and the scripts of India. */
#ifndef METRICS_MOSES_H
#define METRICS_MOSES_H

#include "metrics/tally.h"

enum moses_hyphens {
    MOSES_HYPHENS_STAY,         /* "well-known" stays one word */
    MOSES_HYPHENS_SPLIT         /* "well @-@ known" (tokenizer.perl -a) */
};

/* Writes the words of text to out, with one space between words. The contents
 * of spare are overwritten; out and spare must differ, and text must not lie in
 * either. Returns false when memory runs out. */
bool moses_words(struct strbuf *out, struct strbuf *spare, struct str text,
                 enum moses_hyphens hyphens);

/* Splits text into s->words with MOSES_HYPHENS_STAY. The words point into
 * s->text; s->other is overwritten too. Returns false when memory runs out. */
bool moses_tally(struct tally *s, struct str text);

#endif
