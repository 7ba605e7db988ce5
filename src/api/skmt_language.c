/* skmt_language.c - the part of include/skmt.h about codes of languages. The
 * work is done in text/language.c. */
#include <stdio.h>

#include "skmt.h"
#include "text/language.h"

int skmt_language_fits(const char *a, const char *b)
{
    return language_fits(str_of(a), str_of(b));
}

const char *skmt_language_code(const char *written)
{
    return language_code(str_of(written));
}

const char *skmt_language_name(const char *written)
{
    const char *name = language_name(str_of(written));

    return name ? name : written;
}

int skmt_language_tag(const char *written, char *out, size_t size)
{
    char tag[LANGUAGE_TAG_SIZE];

    language_tag(str_of(written), tag);
    return snprintf(out, size, "%s", tag) < (int)size && tag[0];
}
