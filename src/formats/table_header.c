/* table_header.c - recognizes the header row of a table by its column names or
 * language codes. */
#include "formats/table_header.h"

#include <string.h>
#include <strings.h>

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

/* The codes of ISO 639-1, two letters each. Every code is followed by a space:
 * strstr() for two letters and a space finds only whole codes. */
static const char codes[] =
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce "
    "ch co cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr "
    "fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is "
    "it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln "
    "lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv "
    "ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk "
    "sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw "
    "ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu ";

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

/* Return whether s looks like "de", "de-AT" or "zh_Hant_TW". */
static bool is_language_code(struct str s)
{
    char code[4];

    if (s.n < 2 || s.n > 11) return false;
    for (size_t i = 0; i < 2; i++)
        code[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + 32 : s.p[i]);
    code[2] = ' ';
    code[3] = '\0';
    if (code[0] == ' ' || code[1] == ' ' || !strstr(codes, code)) return false;
    if (s.n == 2) return true;
    if (s.n < 5 || (s.p[2] != '-' && s.p[2] != '_')) return false;
    for (size_t i = 3; i < s.n; i++) {
        char c = s.p[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return true;
}

/* Return whether code names the language lang. If lang is not known, any code
 * is accepted. */
static bool is_code_of(struct str code, const char *lang)
{
    if (!lang || !*lang) return true;
    return strlen(lang) >= 2 && !strncasecmp(lang, code.p, 2);
}

bool is_table_header(struct str source, struct str target,
                     const char *source_lang, const char *target_lang)
{
    struct str s = header_trim(source), t = header_trim(target);

    if (is_named(source, source_names) && is_named(target, target_names))
        return true;
    return is_language_code(s) && is_language_code(t) &&
           strncasecmp(s.p, t.p, 2) && is_code_of(s, source_lang) &&
           is_code_of(t, target_lang);
}
