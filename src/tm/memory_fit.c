/* memory_fit.c - compares the languages of memories with those of a model, and
 * describes what does not fit. */
#include "tm/memory_fit.h"

#include "text/language.h"

bool memory_fits(const struct memory_info *m,
                 const struct model_languages *model)
{
    return language_fits(str_of(m->source_lang), str_of(model->source)) &&
           language_fits(str_of(m->target_lang), str_of(model->target));
}

static const char *or_unknown(const char *lang)
{
    return lang && *lang ? lang : "an unknown language";
}

enum status memories_must_fit(const struct memory_info *list, size_t n,
                              const struct model_languages *model,
                              struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!memory_fits(&list[i], model))
            return err_set(e, ST_ARGUMENT, "the memory \"%s\" is from %s to "
                           "%s, but the model translates from %s to %s; use a "
                           "memory and a model of the same languages, or set "
                           "option any-language", list[i].name,
                           or_unknown(list[i].source_lang),
                           or_unknown(list[i].target_lang),
                           or_unknown(model->source),
                           or_unknown(model->target));
    return ST_OK;
}

enum status memories_none_fits(const char *path,
                               const struct model_languages *model,
                               struct err *e)
{
    return err_set(e, ST_ARGUMENT, "%s: no memory is from %s to %s, the "
                   "languages of the model; set option any-language to use "
                   "memories of other languages", path,
                   or_unknown(model->source), or_unknown(model->target));
}
