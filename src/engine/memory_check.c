/* memory_check.c - compares the languages of the memories in use with those of
 * a model. */
#include "engine/memory_check.h"

struct model_languages engine_languages(const struct engine *en)
{
    const struct config *c = &en->w->cfg;

    return (struct model_languages){ c->source_lang, c->target_lang };
}

enum status engine_check_memories(const struct engine *en, bool any_language,
                                  struct pair_source *source, struct err *e)
{
    const struct model_languages model = engine_languages(en);
    const struct memory_info *list;
    size_t n;
    enum status st;

    if (any_language) return ST_OK;
    st = source_memories(source, &list, &n, e);
    return st ? st : memories_must_fit(list, n, &model, e);
}
