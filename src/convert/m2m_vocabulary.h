/* m2m_vocabulary.h - the vocabularies of M2M-100, NLLB-200 and SMaLL-100, whose
 * files do not list all tokens.
 *
 * The pieces of vocab.json (M2M-100), or those of the SentencePiece model moved
 * by one (NLLB-200), come first. The tokens of the languages follow in a fixed
 * order. added_tokens.json, where it exists, must agree, and may have more
 * tokens. */
#ifndef CONVERT_M2M_VOCABULARY_H
#define CONVERT_M2M_VOCABULARY_H

#include <stdbool.h>

#include "base/err.h"
#include "convert/file_set.h"
#include "convert/language_list.h"
#include "convert/vocabulary.h"

#define M2M_SPM "sentencepiece.bpe.model"

/* Make the vocabulary of a model whose tables have `rows` rows. */
enum status m2m_vocabulary_read(struct vocabulary **out, struct file_set *s,
                                enum language_list languages, int rows,
                                struct err *e);

#endif
