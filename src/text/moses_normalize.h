/* moses_normalize.h - cleans a text as the scripts of Moses do, before it is
 * split into words: punctuation of other scripts, quotation marks, spaces,
 * control characters.
 *
 * Each function changes w->now. For use inside text/ only. */
#ifndef TEXT_MOSES_NORMALIZE_H
#define TEXT_MOSES_NORMALIZE_H

#include "text/aligned_text.h"
#include "text/moses_language.h"

/* Replace full-width and CJK punctuation by ASCII. one_quote: the full-width 1
 * becomes a quotation mark, as in the Perl script. */
void moses_narrow(struct aligned_work *w, const struct moses_language *l,
                  bool one_quote);

/* Control, format, private and unassigned characters become spaces, or are
 * removed. */
void moses_blank_controls(struct aligned_work *w);
void moses_drop_controls(struct aligned_work *w);

/* Quotation marks, dashes, and the spaces beside punctuation. */
void moses_punctuation(struct aligned_work *w, const struct moses_language *l);

#endif
