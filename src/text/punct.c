/* punct.c - kinds of characters, from Unicode's properties Sentence_Terminal
 * and General_Category. */
#include "text/punct.h"

#include <utf8proc.h>

#include "text/sentence_stops.h"

static utf8proc_category_t category(uint32_t cp)
{
    return utf8proc_category((utf8proc_int32_t)cp);
}

/* ---- stops --------------------------------------------------------------- */

static bool is_listed_stop(uint32_t cp)
{
    size_t low = 0, high = sizeof sentence_stops / sizeof *sentence_stops;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (cp > sentence_stops[mid].last) low = mid + 1;
        else high = mid;
    }
    return low < sizeof sentence_stops / sizeof *sentence_stops &&
           cp >= sentence_stops[low].first;
}

/* The Arabic full stop is used like that of Latin. Khmer and Tibetan stops have
 * no property; one Burmese stop with the property is a comma. The single shad
 * of Tibetan is not here, because it also ends clauses. */
enum stop punct_stop(uint32_t cp)
{
    if (cp < 0x80)
        return cp == '.' ? STOP_DOT
                         : cp == '!' || cp == '?' ? STOP_MARK : STOP_NONE;
    switch (cp) {
    case 0x06D4: return STOP_DOT;
    case 0x2026: return STOP_DOTS;
    case 0x037E: case 0x061D: case 0x061E: case 0x061F:
    case 0x203C: case 0x203D: case 0x2047: case 0x2048: case 0x2049:
        return STOP_MARK;
    case 0x0F0E: case 0x17D4: case 0x17D5: return STOP_WIDE;
    case 0x104A: return STOP_NONE;
    default: return is_listed_stop(cp) ? STOP_WIDE : STOP_NONE;
    }
}

enum stop punct_join_stops(enum stop a, enum stop b)
{
    if (a == STOP_NONE) return b;
    if (a == STOP_DOT && b == STOP_DOT) return STOP_DOTS;
    return a > b ? a : b;
}

/* ---- punctuation --------------------------------------------------------- */

bool punct_is_space(uint32_t cp)
{
    if (cp < 0x80) return cp == ' ' || (cp >= '\t' && cp <= '\r');
    return cp == 0x85 || cp == 0x2028 || cp == 0x2029 ||
           category(cp) == UTF8PROC_CATEGORY_ZS;
}

bool punct_is_quote(uint32_t cp)
{
    return cp == '"' || cp == '\'' || (cp >= 0x2018 && cp <= 0x201F) ||
           cp == 0xAB || cp == 0xBB || cp == 0x2039 || cp == 0x203A ||
           cp == 0x300D || cp == 0x300F;
}

bool punct_is_closer(uint32_t cp)
{
    if (punct_is_quote(cp) || cp == ')' || cp == ']' || cp == '}') return true;
    return cp >= 0x80 && category(cp) == UTF8PROC_CATEGORY_PE;
}

bool punct_is_opener(uint32_t cp)
{
    if (punct_is_quote(cp) || cp == '(' || cp == '[' || cp == '-' ||
        cp == '*' || cp == 0xA1 || cp == 0xBF || cp == 0x02BB ||
        cp == 0x2013 || cp == 0x2014 || cp == 0x2022)
        return true;
    return cp >= 0x80 && category(cp) == UTF8PROC_CATEGORY_PS;
}

/* ---- letters and digits -------------------------------------------------- */

bool punct_is_digit(uint32_t cp)
{
    if (cp < 0x80) return cp >= '0' && cp <= '9';
    return category(cp) == UTF8PROC_CATEGORY_ND;
}

bool punct_is_letter(uint32_t cp)
{
    utf8proc_category_t c;

    if (cp < 0x80) return (cp | 32) >= 'a' && (cp | 32) <= 'z';
    c = category(cp);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_ME;
}

/* Georgian letters have the category of small letters, because there are
 * capitals. These are for headings; sentences begin with small letters. */
static bool is_georgian(uint32_t cp)
{
    return cp >= 0x10D0 && cp <= 0x10FF;
}

bool punct_is_initial(uint32_t cp)
{
    utf8proc_category_t c;

    if (cp < 0x80) return cp >= 'A' && cp <= 'Z';
    c = category(cp);
    return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LT ||
           c == UTF8PROC_CATEGORY_LO || is_georgian(cp);
}

bool punct_is_uncased(uint32_t cp)
{
    return cp >= 0x80 &&
           (category(cp) == UTF8PROC_CATEGORY_LO || is_georgian(cp));
}

bool punct_is_syllable(uint32_t cp)
{
    return (cp >= 0x1100 && cp <= 0x11FF) || (cp >= 0x3040 && cp <= 0x30FF) ||
           (cp >= 0x3400 && cp <= 0x9FFF) || (cp >= 0xAC00 && cp <= 0xD7A3) ||
           (cp >= 0xF900 && cp <= 0xFAFF) || (cp >= 0x20000 && cp <= 0x3FFFF);
}
