/* memory_fit.h - whether memories have the languages of a model.
 *
 * A memory fits a model if both may have the same source language, and the same
 * target language (text/language.h). Unknown languages fit all others. */
#ifndef TM_MEMORY_FIT_H
#define TM_MEMORY_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "pair/pair.h"

struct model_languages {
    const char *source, *target;        /* codes; NULL or "" if not known */
};

bool memory_fits(const struct memory_info *m,
                 const struct model_languages *model);
/* Fails with ST_ARGUMENT if one of the n memories does not fit. */
enum status memories_must_fit(const struct memory_info *list, size_t n,
                              const struct model_languages *model,
                              struct err *e);
/* The error of a file whose memories do not fit. */
enum status memories_none_fits(const char *path,
                               const struct model_languages *model,
                               struct err *e);

#endif
