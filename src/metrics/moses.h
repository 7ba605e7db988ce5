/* moses.h - the words of English text as the Moses tokenizer cuts them
 * (tokenizer.perl -l en, with its escapes).
 *
 * Whatever is no letter, digit or one of . ' ` , - stands alone; so do commas
 * that are not between numbers and runs of dots. "can't" is "can" and "'t". A
 * full stop stays on its word when it is not the last one and is a known
 * abbreviation ("Mr."), has another dot ("i.e.") or is followed by a small
 * letter. At the end & | < > ' " [ ] are written as &amp; &#124; and so on.
 *
 * Letters are Unicode's, but for marks (U+0300 ..) that Perl counts as
 * alphabetic: they stand alone here, which shows in Hebrew, Arabic and the
 * scripts of India. */
#ifndef METRICS_MOSES_H
#define METRICS_MOSES_H

#include "metrics/tally.h"

enum moses_hyphens {
    MOSES_HYPHENS_STAY,         /* "well-known" is a word */
    MOSES_HYPHENS_SPLIT         /* "well @-@ known" (tokenizer.perl -a) */
};

/* The words of text with a blank between two, in out; spare is used up on the
 * way. false: no memory. */
bool moses_words(struct strbuf *out, struct strbuf *spare, struct str text,
                 enum moses_hyphens hyphens);

/* The same with hyphens that stay, as s->words; uses s->text and s->other. */
bool moses_tally(struct tally *s, struct str text);

#endif
