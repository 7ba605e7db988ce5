/* opus_cleaning.h - the cleaning of texts in the packages of OPUS-MT.
 *
 * Their script preprocess.sh changes a text before SentencePiece splits it:
 * quotation marks and punctuation of other scripts become ASCII, and control
 * characters become blanks. The models were trained with such texts, and do not
 * know the pieces that were replaced. Here the rules become a part of the
 * SentencePiece model, so that spans of the text stay exact. */
#ifndef CONVERT_OPUS_CLEANING_H
#define CONVERT_OPUS_CLEANING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"

/* Whether a script preprocess.sh does this. */
bool opus_cleaning_is_in(const char *script, size_t size);

/* Append a SentencePiece model that cleans and then does what `spm` does.
 * Characters that Unicode has not assigned, and private ones beyond U+FFFF, are
 * not cleaned, because they are too many for a list. */
enum status opus_cleaning_add(struct strbuf *out, const void *spm, size_t size,
                              struct err *e);

#endif
