/* moses_language.c - which rules each language has. The port lacks some. */
#include "text/moses_language.h"

#include <stdio.h>
#include <string.h>

/* Whether the list, codes divided by spaces, has this code. */
static bool code_in(const char *list, const char *code)
{
    size_t n = strlen(code);
    const char *hit = list;

    while (n && (hit = strstr(hit, code))) {
        if ((hit == list || hit[-1] == ' ') && (!hit[n] || hit[n] == ' '))
            return true;
        hit++;
    }
    return false;
}

static enum moses_apostrophe apostrophe_of(const char *code, bool perl)
{
    if (code_in("en", code)) return APOSTROPHE_RIGHT;
    if (code_in(perl ? "fr it ga ca" : "fr it", code)) return APOSTROPHE_LEFT;
    if (perl && code_in("so tdt", code)) return APOSTROPHE_INSIDE;
    return APOSTROPHE_ALONE;
}

static enum moses_quotes quotes_of(const char *code, bool perl)
{
    if (code_in("en", code)) return QUOTES_AFTER_STOP;
    if (perl ? !code_in("cs cz", code) : code_in("de es fr", code))
        return QUOTES_BEFORE_STOP;
    return QUOTES_STAY;
}

void moses_language_init(struct moses_language *l, const char *code, bool perl)
{
    memset(l, 0, sizeof *l);
    snprintf(l->code, sizeof l->code, "%s", code);
    l->alphabet.perl = perl;
    l->alphabet.han = code_in("zh ja cjk", l->code);
    l->alphabet.hangul = code_in("ko cjk", l->code);
    l->apostrophe = apostrophe_of(l->code, perl);
    l->quotes = quotes_of(l->code, perl);
    l->decimal_comma = code_in("de es cz cs fr", l->code);
    l->inner_colon = perl && code_in("fi sv", l->code);
    l->inner_dot = perl && code_in("ca", l->code);
    l->inner_apostrophe = perl && code_in("tdt", l->code);
    l->prefixes = moses_prefixes_of(l->code);
}

bool moses_language_is(const struct moses_language *l, const char *code)
{
    return !strcmp(l->code, code);
}
