/* moses.h - splits English text into words as the Moses tokenizer does
 * (tokenizer.perl -l en, with escaping); see text/moses_tokenize.h. */
#ifndef METRICS_MOSES_H
#define METRICS_MOSES_H

#include "metrics/tally.h"

enum moses_hyphens {
    MOSES_HYPHENS_STAY,         /* "well-known" stays one word */
    MOSES_HYPHENS_SPLIT         /* "well @-@ known" (tokenizer.perl -a) */
};

/* Writes the words of text to out, with one space between words. Returns false
 * when memory runs out. */
bool moses_words(struct strbuf *out, struct str text,
                 enum moses_hyphens hyphens);

/* Splits text into s->words with MOSES_HYPHENS_STAY. The words point into
 * s->text. Returns false when memory runs out. */
bool moses_tally(struct tally *s, struct str text);

#endif
