/* memory_check.h - whether the memories in use have the languages of a model.
 * Everything that uses a source of pairs with a model checks this first. */
#ifndef ENGINE_MEMORY_CHECK_H
#define ENGINE_MEMORY_CHECK_H

#include "engine/engine.h"
#include "tm/memory_fit.h"
#include "tm/source.h"

struct model_languages engine_languages(const struct engine *en);
/* Fails with ST_ARGUMENT if a memory in use does not fit the model, unless any
 * language will do (option any-language). */
enum status engine_check_memories(const struct engine *en, bool any_language,
                                  struct pair_source *source, struct err *e);

#endif
