/* languages.c - the pairs of languages that are served. */
#include "languages.h"

#include "detector.h"
#include "models.h"
#include "server.h"

int language_pairs(const struct server *s)
{
    return models_count(s->models);
}

void language_pair(const struct server *s, int i, const char **source,
                   const char **target)
{
    const struct served_model *m = models_get(s->models, i);

    *source = m ? m->source : "";
    *target = m ? m->target : "";
}

bool language_is_served(const struct server *s, const char *source,
                        const char *target)
{
    return source && target && models_find(s->models, source, target);
}

bool language_is_source(const struct server *s, const char *code)
{
    return code && models_find(s->models, code, NULL);
}

bool language_is_target(const struct server *s, const char *code)
{
    return code && models_find(s->models, NULL, code);
}

const char *language_detect(const struct server *s, const char *text,
                            double *confidence)
{
    *confidence = 0;
    return s->detector ? detector_find(s->detector, text, confidence) : NULL;
}
