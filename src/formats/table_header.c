/* table_header.c - recognizes the header row of a table by its column names or
 * language codes. */
#include "formats/table_header.h"

#include <string.h>
#include <strings.h>

#include "text/language.h"

static const char *const source_names[] = {
    "source", "src", "source text", "source segment", "source_text",
    "source language", "original", "msgid", "quelle", "quelltext",
    "ausgangstext", NULL
};
static const char *const target_names[] = {
    "target", "tgt", "trg", "target text", "target segment", "target_text",
    "target language", "translation", "msgstr", "ziel", "zieltext",
    /* both cases: strncasecmp() folds only ASCII */
    "übersetzung", "Übersetzung", NULL
};

static bool is_blank_char(char c)
{
    return c == ' ' || c == '\t';
}

static struct str header_trim(struct str s)
{
    while (s.n && is_blank_char(s.p[0])) s.p++, s.n--;
    while (s.n && is_blank_char(s.p[s.n - 1])) s.n--;
    return s;
}

/* Remove a remark in parentheses: "source (Deutsch)" gives "source". */
static struct str without_remark(struct str s)
{
    const char *open = s.n ? memchr(s.p, '(', s.n) : NULL;

    if (!open || open == s.p || s.p[s.n - 1] != ')') return s;
    return header_trim((struct str){ s.p, (size_t)(open - s.p) });
}

static bool is_named(struct str field, const char *const *names)
{
    struct str s = without_remark(header_trim(field));

    for (; *names; names++)
        if (strlen(*names) == s.n && !strncasecmp(*names, s.p, s.n))
            return true;
    return false;
}

/* Return the code of the language if s looks like "de", "de-AT", "deu_Latn" or
 * "zh_Hant_TW"; else NULL. */
static const char *header_language(struct str s)
{
    if (s.n > 11) return NULL;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return NULL;
    }
    return language_code(s);
}

bool is_table_header(struct str source, struct str target,
                     const char *source_lang, const char *target_lang)
{
    struct str s = header_trim(source), t = header_trim(target);
    const char *from, *to;

    if (is_named(source, source_names) && is_named(target, target_names))
        return true;
    from = header_language(s);
    to = header_language(t);
    return from && to && strcmp(from, to) &&
           language_fits(s, str_of(source_lang)) &&
           language_fits(t, str_of(target_lang));
}
