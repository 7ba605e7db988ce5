/* ct2_texts.h - the vocabularies of a CTranslate2 model, and what follows from
 * them and from its tokenizers: the ids of the plan.
 *
 * CTranslate2 gets tokens from the program that calls it, and its files do not
 * say which special tokens that program adds. Three kinds of models are told
 * apart:
 *
 *     zero start               Marian: "</s>" ends the source; the vocabulary
 *                              of some has languages (">>deu<<")
 *     tokens of languages      M2M-100, NLLB-200, SMaLL-100: the language and
 *     ("__de__", "deu_Latn")   "</s>" around the source, and the language first
 *                              in the target
 *     others                   OpenNMT and fairseq: as the settings say */
#ifndef CONVERT_CT2_TEXTS_H
#define CONVERT_CT2_TEXTS_H

#include "convert/ct2_settings.h"
#include "convert/family.h"
#include "convert/tokenizer_files.h"
#include "convert/vocabulary.h"

struct ct2_vocabularies {
    struct vocabulary *source, *target;     /* the same if there is one file */
};

/* Read shared_vocabulary, or source_vocabulary and target_vocabulary, as .json
 * or .txt. A vocabulary without `unk` gets it, as in CTranslate2. The struct
 * need not be initialized, and must be released on failure too. */
enum status ct2_vocabularies_read(struct ct2_vocabularies *v,
                                  struct file_set *s, const char *folder,
                                  const char *unk, struct err *e);
void ct2_vocabularies_release(struct ct2_vocabularies *v);

struct ct2_texts {
    const struct ct2_vocabularies *vocabularies;
    const struct ct2_settings *settings;
    struct file_set *files;
    const struct tokenizer_files *tokenizers;
    /* Instead of tokenizers, a file with BPE merges for words that Moses' rules
     * split, as Argos has it, for the languages of the config; or NULL. */
    const char *codes;
    const char *target_prefix;  /* a token that begins each translation; "" */
    bool small100;              /* with tokens of languages: only the target's
                                   language, before the source */
    const struct family_options *options;
};

/* Fill in tokenizers, rows, languages and all ids. The sizes of the tables and
 * shared_table must be set. */
enum status ct2_texts_plan(struct model_plan *p, const struct ct2_texts *t,
                           struct err *e);

#endif
