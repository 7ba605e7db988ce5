/* ct2_model.h - the plan of a CTranslate2 model. family_ct2.c and
 * family_argos.c say where its files are. */
#ifndef CONVERT_CT2_MODEL_H
#define CONVERT_CT2_MODEL_H

#include "convert/family.h"
#include "convert/tokenizer_files.h"

struct ct2_model {
    struct file_set *files;
    const char *folder;         /* of model.bin in the set: "" or "model/" */
    const struct tokenizer_files *tokenizers;
    const char *codes;          /* ct2_texts.h; may be NULL */
    const char *target_prefix;  /* ct2_texts.h; "" */
    const struct family_options *options;
};

/* The languages of the config must be set, as far as they are known. */
enum status ct2_model_plan(struct model_plan *p, const struct ct2_model *m,
                           struct err *e);

#endif
