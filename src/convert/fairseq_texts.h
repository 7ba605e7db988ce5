/* fairseq_texts.h - the dictionaries, languages and tokenizers of a model of
 * fairseq. */
#ifndef CONVERT_FAIRSEQ_TEXTS_H
#define CONVERT_FAIRSEQ_TEXTS_H

#include "convert/fairseq_config.h"
#include "convert/family.h"
#include "convert/hf_names.h"

/* Fill in the languages, the special ids, the tokenizers, the rows and the
 * barred ids of a plan whose tables are known. Fails with ST_FORMAT if a file
 * is missing or does not fit. */
enum status fairseq_texts_plan(struct model_plan *p, struct file_set *s,
                               const struct hf_names *n,
                               const struct fairseq_config *c,
                               const struct family_options *o, struct err *e);

#endif
