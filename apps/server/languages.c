/* languages.c - codes and names of languages, and the pairs that are served. */
#include "languages.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "detector.h"
#include "models.h"
#include "server.h"

static const struct language { const char *code, *iso3, *other, *name; }
languages[] = {
#define LANGUAGE(code, iso3, other, name) { code, iso3, other, name },
#include "languages.def"
#undef LANGUAGE
};

/* Copies the language of a code such as "de_DE" in lower case. Returns false
 * if it is not two or three letters. */
static bool language_part(const char *written, char part[4])
{
    size_t n = 0;

    while (isalpha((unsigned char)written[n]) && n < 4) n++;
    if (n < 2 || n > 3) return false;
    if (written[n] && written[n] != '-' && written[n] != '_') return false;
    for (size_t i = 0; i < n; i++)
        part[i] = (char)tolower((unsigned char)written[i]);
    part[n] = 0;
    return true;
}

const char *language_code(const char *written)
{
    char part[4];

    if (!written || !language_part(written, part)) return NULL;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        const struct language *l = &languages[i];

        if (!strcmp(part, l->code) || !strcmp(part, l->iso3)
            || !strcmp(part, l->other))
            return l->code;
    }
    return NULL;
}

const char *language_name(const char *code)
{
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (!strcmp(code, languages[i].code)) return languages[i].name;
    return code;
}

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
