/* language.c - reads codes of languages, and compares them.
 *
 * A code is cut at '-' and '_'. The first part is the language; the others are
 * told apart by their form: four letters are a script, two letters or three
 * digits a region, three letters a language that is more exact than the first
 * (zh-yue). Everything after a part of another form is ignored.
 *
 * The tables are sorted, and are searched by halving. */
#include "text/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* ---- the list ------------------------------------------------------------ */

struct listed_language { const char *code, *script, *name; };
struct other_code { const char *written, *code; };

static const struct listed_language languages[] = {
#define LANGUAGE(code, script, name) { code, script, name },
#include "text/languages.def"
};
static const struct other_code other_codes[] = {
#define CODE(written, code) { written, code },
#include "text/languages.def"
};
static const struct { const char *code, *macro; } members[] = {
#define MEMBER(code, macro) { code, macro },
#include "text/languages.def"
};
static const struct { const char *code, *written, *script; } scripts[] = {
#define SCRIPT(code, written, script) { code, written, script },
#include "text/languages.def"
};

/* Both structs begin with the string that they are sorted by. */
static int compare_codes(const void *key, const void *entry)
{
    return strcmp(key, *(const char *const *)entry);
}

static const struct listed_language *find_language(const char *code)
{
    return bsearch(code, languages, sizeof languages / sizeof *languages,
                   sizeof *languages, compare_codes);
}

static const char *find_other_code(const char *written)
{
    const struct other_code *o =
        bsearch(written, other_codes, sizeof other_codes / sizeof *other_codes,
                sizeof *other_codes, compare_codes);

    return o ? o->code : NULL;
}

/* Whether language b includes language a. */
static bool is_member(const char *a, const char *b)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (!strcmp(members[i].code, a)) return !strcmp(members[i].macro, b);
    return false;
}

static bool same_language(const char *a, const char *b)
{
    return !strcmp(a, b) || is_member(a, b) || is_member(b, a);
}

/* What a script in lower case means for a language, such as Kore for ko-Hang.
 * NULL if it is not listed. */
static const char *find_script(const char *code, const char *written)
{
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (!strcmp(scripts[i].code, code) &&
            !strcmp(scripts[i].written, written))
            return scripts[i].script;
    return NULL;
}

/* ---- parts of a code ----------------------------------------------------- */

static bool is_code_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char code_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static char code_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

/* A part of a code: its first four characters in lower case, and what it
 * consists of. */
struct code_part {
    char text[5];
    size_t n;
    bool letters, digits;       /* and nothing else */
};

/* Takes the next part from the rest of a code. Returns false at its end: also
 * at the codeset or the modifier of a locale (de_DE.UTF-8, sr_RS@latin). */
static bool take_part(struct str *rest, struct code_part *p)
{
    *p = (struct code_part){ .letters = true, .digits = true };
    if (rest->n && (rest->p[0] == '-' || rest->p[0] == '_')) {
        rest->p++;
        rest->n--;
    }
    while (rest->n && !memchr("-_@.", rest->p[0], 4)) {
        char c = rest->p[0];

        if (p->n < 4) p->text[p->n] = code_lower(c);
        p->n++;
        p->letters = p->letters && is_code_letter(c);
        p->digits = p->digits && c >= '0' && c <= '9';
        rest->p++;
        rest->n--;
    }
    return p->n > 0;
}

/* Sets the language, in lower case, if it is in the list. */
static bool set_code(struct language *l, const char *written)
{
    const char *other = find_other_code(written);
    const char *code = other ? other : written;

    if (!find_language(written) && (!other || !*other)) return false;
    assert(strlen(code) < sizeof l->code);
    memset(l->code, 0, sizeof l->code);
    memcpy(l->code, code, strlen(code));
    return true;
}

/* Sets the script, in lower case. */
static void set_script(struct language *l, const char *written)
{
    const char *known = find_script(l->code, written);

    assert(known || strlen(written) == 4);
    snprintf(l->script, sizeof l->script, "%s", known ? known : written);
    l->script[0] = code_upper(l->script[0]);
}

/* The script that a region tells. Only Chinese has such regions. */
static const char *region_script(const struct language *l)
{
    if (strcmp(l->code, "zh") || !l->region[0]) return "";
    if (strstr("CN SG", l->region)) return "Hans";
    return strstr("TW HK MO", l->region) ? "Hant" : "";
}

/* Sets the region, in lower case. */
static void set_region(struct language *l, const char *written)
{
    for (size_t i = 0; i < sizeof l->region; i++)
        l->region[i] = code_upper(written[i]);
    if (!l->script[0])
        snprintf(l->script, sizeof l->script, "%s", region_script(l));
}

/* Adds a part after the first. Returns false if it ends the code. */
static bool add_part(struct language *l, const struct code_part *p)
{
    bool letters = p->letters;

    if ((letters && p->n == 4) || (p->n == 3 && find_script(l->code, p->text)))
        set_script(l, p->text);
    else if ((letters && p->n == 2) || (p->digits && p->n == 3))
        set_region(l, p->text);
    else
        return letters && p->n == 3 && set_code(l, p->text);
    return true;
}

static void add_parts(struct language *l, struct str rest)
{
    struct code_part p;

    while (take_part(&rest, &p) && add_part(l, &p)) {}
}

/* Sets the script if the modifier of a locale names one: sr_RS@latin. */
static void set_modifier(struct language *l, struct str written)
{
    static const struct { const char *name, *script; } names[] = {
        { "@latin", "latn" }, { "@cyrillic", "cyrl" },
        { "@devanagari", "deva" }, { "@arabic", "arab" }
    };
    const char *at = memchr(written.p, '@', written.n);
    struct str modifier;

    if (!at) return;
    modifier = (struct str){ at, written.n - (size_t)(at - written.p) };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(modifier, str_of(names[i].name)))
            set_script(l, names[i].script);
}

/* Removes the marks around a token: ">>deu<<". */
static struct str without_marks(struct str s)
{
    if (s.n > 4 && !memcmp(s.p, ">>", 2) && !memcmp(s.p + s.n - 2, "<<", 2))
        return (struct str){ s.p + 2, s.n - 4 };
    return s;
}

bool language_parse(struct str written, struct language *out)
{
    struct str rest = without_marks(written), usual;
    struct code_part first, p;
    const char *other;

    memset(out, 0, sizeof *out);
    if (!take_part(&rest, &first) || !first.letters || first.n < 2 ||
        first.n > 3)
        return false;
    other = find_other_code(first.text);
    if (other && !*other) return false;
    usual = str_of(other ? other : first.text); /* may have more parts */
    take_part(&usual, &p);
    memcpy(out->code, p.text, sizeof out->code);
    add_parts(out, usual);
    add_parts(out, rest);
    set_modifier(out, written);
    return true;
}

/* ---- comparing ----------------------------------------------------------- */

bool language_fits(struct str a, struct str b)
{
    struct language x, y;

    if (!language_parse(a, &x) || !language_parse(b, &y)) return true;
    return same_language(x.code, y.code) &&
           (!x.script[0] || !y.script[0] || !strcmp(x.script, y.script));
}

/* The script of texts in a language; "" if it is not known. */
static const char *script_of(const struct language *l)
{
    const struct listed_language *known = find_language(l->code);

    return l->script[0] || !known ? l->script : known->script;
}

/* Codes that are not of a language are compared as texts. */
static bool accepts_text(struct str wanted, struct str has)
{
    if (has.n < wanted.n) return false;
    for (size_t i = 0; i < wanted.n; i++) {
        char a = wanted.p[i], b = has.p[i];

        if (code_lower(a == '_' ? '-' : a) != code_lower(b == '_' ? '-' : b))
            return false;
    }
    return has.n == wanted.n || memchr("-_@.", has.p[wanted.n], 4);
}

/* zh-TW is what others write as zh-Hant, and zh-CN as zh-Hans. */
static bool accepts_region(const struct language *wanted,
                           const struct language *has)
{
    if (!wanted->region[0] || !strcmp(wanted->region, has->region))
        return true;
    return !strcmp(wanted->code, "zh") && !has->region[0] && has->script[0] &&
           strstr("CN TW", wanted->region);
}

bool language_accepts(const char *wanted, struct str has)
{
    struct language w, h;
    const char *script;

    if (!wanted || !*wanted || str_eq(str_of(wanted), has)) return true;
    if (!language_parse(str_of(wanted), &w))
        return accepts_text(str_of(wanted), has);
    if (!language_parse(has, &h) || !same_language(w.code, h.code))
        return false;
    script = script_of(&h);
    return (!w.script[0] || !script[0] || !strcmp(w.script, script)) &&
           accepts_region(&w, &h);
}

int language_rank(const char *wanted, struct str has)
{
    struct language w, h;

    if (!language_parse(str_of(wanted), &w) || !language_parse(has, &h))
        return 0;
    return 4 * !strcmp(w.code, h.code) + 2 * !strcmp(w.region, h.region) +
           !strcmp(script_of(&w), script_of(&h));
}

/* ---- names and tags ------------------------------------------------------ */

static const struct listed_language *listed_language(struct str written)
{
    struct language l;

    return language_parse(written, &l) ? find_language(l.code) : NULL;
}

const char *language_code(struct str written)
{
    const struct listed_language *l = listed_language(written);

    return l ? l->code : NULL;
}

const char *language_name(struct str written)
{
    const struct listed_language *l = listed_language(written);

    return l ? l->name : NULL;
}

/* Whether the script says nothing that the rest of the code does not. */
static bool script_is_clear(const struct language *l)
{
    const struct listed_language *known = find_language(l->code);

    return !l->script[0] || !strcmp(l->script, region_script(l)) ||
           (known && !strcmp(l->script, known->script));
}

void language_tag(struct str written, char out[LANGUAGE_TAG_SIZE])
{
    struct language l;
    bool clear;

    out[0] = '\0';
    if (!language_parse(written, &l)) return;
    clear = script_is_clear(&l);
    snprintf(out, LANGUAGE_TAG_SIZE, "%s%s%s%s%s", l.code, clear ? "" : "-",
             clear ? "" : l.script, l.region[0] ? "-" : "", l.region);
}
