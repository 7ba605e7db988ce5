/* plan_languages.h - the languages of a model: one pair, or the tokens that the
 * vocabulary of a multilingual model has for them. */
#ifndef CONVERT_PLAN_LANGUAGES_H
#define CONVERT_PLAN_LANGUAGES_H

#include "convert/family.h"
#include "convert/vocabulary.h"

/* What the tokens look like. */
enum language_marks {
    LANGUAGE_MARKS_NONE,
    LANGUAGE_MARKS_OPUS,        /* ">>deu<<", ">>cmn_Hans<<": the target
                                   language, before the source */
    LANGUAGE_MARKS_M2M,         /* "__de__" */
    LANGUAGE_MARKS_NLLB         /* "deu_Latn" */
};

/* The language of a piece: "deu", "de", "deu_Latn". false: it is none, or its
 * code does not fit. */
bool plan_language_code(enum language_marks marks, const char *piece,
                        char *code, size_t size);

/* The kind of M2M or NLLB of which a vocabulary has at least two tokens, or
 * LANGUAGE_MARKS_NONE. */
enum language_marks plan_language_marks(const struct vocabulary *v);

/* Fill in the languages of a plan with all tokens of these marks in a
 * vocabulary, bar those of the vocabulary of the target (which may be the
 * same), and set language_tokens to `where`. The languages of the options
 * become those of the config, as the model writes them ("deu_Latn" for "de");
 * one that the model lacks, or that may be several, is refused. If there is no
 * token, nothing happens. Call plan_rows() before. */
enum status plan_languages(struct model_plan *p, const struct vocabulary *v,
                           const struct vocabulary *target,
                           enum language_marks marks,
                           enum language_tokens where,
                           const struct family_options *o, struct err *e);

/* Warn of the license of the published models with these marks, if it forbids
 * something. false: out of memory. */
bool plan_languages_warn(struct model_plan *p, enum language_marks marks);

/* The languages of a model of one pair: those of the options or, where they
 * are NULL, `source` and `target`, which may be NULL too. Refuses a code that
 * is too long or has other characters than letters, digits, '-' and '_'. */
enum status plan_pair(struct model_plan *p, const struct family_options *o,
                      const char *source, const char *target, struct err *e);

#endif
