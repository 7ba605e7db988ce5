/* moses_chars.c - classes from the categories of libutf8proc and from the
 * ranges in moses_char_ranges.h, which are only searched for characters that
 * they can change. */
#include "text/moses_chars.h"

#include <utf8proc.h>

#include "text/moses_char_ranges.h"
#include "text/utf8.h"

#define CTL MC_CONTROL
#define BLK (MC_CONTROL | MC_SPACE)
#define NUM (MC_DIGIT | MC_NUMBER)
#define LOW (MC_ALPHA | MC_LOWER | MC_SMALL)
#define UPP MC_ALPHA
#define CUR MC_CURRENCY

const uint8_t moses_ascii_class[128] = {
    CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL, BLK, BLK, BLK, BLK, BLK, CTL,
    CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL, CTL,
    CTL, CTL,
    MC_SPACE, 0, 0, 0, CUR, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    NUM, NUM, NUM, NUM, NUM, NUM, NUM, NUM, NUM, NUM, 0, 0, 0, 0, 0, 0,
    0, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP,
    UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, UPP, 0, 0, 0, 0, 0,
    0, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW,
    LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, LOW, 0, 0, 0, 0, CTL
};

static bool in_ranges(const struct char_range *r, size_t n, uint32_t cp)
{
    while (n) {
        size_t half = n / 2;

        if (cp < r[half].first) n = half;
        else if (cp <= r[half].last) return true;
        else r += half + 1, n -= half + 1;
    }
    return false;
}

#define IN(ranges, cp) in_ranges(ranges, sizeof ranges / sizeof *ranges, cp)

static unsigned class_by_category(uint32_t cp)
{
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_LL: return MC_ALPHA | MC_LOWER | MC_SMALL;
    case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LT: return MC_ALPHA;
    case UTF8PROC_CATEGORY_LM: case UTF8PROC_CATEGORY_LO:
        return IN(other_lowercase, cp) ? MC_ALPHA | MC_LOWER : MC_ALPHA;
    case UTF8PROC_CATEGORY_ND: return MC_DIGIT | MC_NUMBER;
    case UTF8PROC_CATEGORY_NL:
        return MC_ALPHA | MC_NUMBER
               | (IN(other_lowercase, cp) ? MC_LOWER : 0);
    case UTF8PROC_CATEGORY_NO: return MC_NUMBER;
    case UTF8PROC_CATEGORY_MN: case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_SO:
        if (!IN(other_alphabetic, cp)) return 0;
        return IN(other_lowercase, cp) ? MC_ALPHA | MC_LOWER : MC_ALPHA;
    case UTF8PROC_CATEGORY_SC: return MC_CURRENCY;
    case UTF8PROC_CATEGORY_CN: case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF: case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
        return utf8_is_space(cp) ? MC_CONTROL | MC_SPACE : MC_CONTROL;
    default: return utf8_is_space(cp) ? MC_SPACE : 0;
    }
}

static bool is_hangul_syllable(uint32_t cp)
{
    return cp >= 0xAC00 && cp <= 0xD7A3;
}

unsigned moses_class_beyond_ascii(const struct moses_alphabet *a, uint32_t cp)
{
    enum { COUNTED = MC_ALNUM | MC_NUMBER | MC_LOWER | MC_SMALL | MC_CURRENCY };
    unsigned c = class_by_category(cp);

    if (a->perl) return c;
    if (!(c & COUNTED) && IN(port_marks, cp)) return MC_ALPHA;
    if (is_hangul_syllable(cp)) return a->hangul ? MC_ALPHA : 0;
    if (c & MC_SMALL && cp < 0x500) return c;   /* most letters */
    if (cp >= 0x2E80 && IN(script_han, cp))
        return a->han ? MC_ALPHA : c & ~(unsigned)COUNTED;
    if (c & COUNTED && (cp >= 0x10000 || IN(port_unknown, cp)))
        return IN(port_marks, cp) ? MC_ALPHA : c & ~(unsigned)COUNTED;
    return c;
}

bool moses_is_cjk(uint32_t cp)
{
    static const struct char_range cjk[] = {
        { 0x1100, 0x11FF }, { 0x2E80, 0xA4CF }, { 0xA840, 0xA87F },
        { 0xAC00, 0xD7AF }, { 0xF900, 0xFAFF }, { 0xFE30, 0xFE4F },
        { 0xFF65, 0xFFDC }, { 0x20000, 0x2FFFF }
    };

    return cp >= 0x1100 && IN(cjk, cp);
}

size_t moses_lower(uint32_t cp, char *out)
{
    size_t n;

    if (cp == 0x130) {          /* the only one with two characters */
        n = (size_t)utf8_put(out, 'i');
        return n + (size_t)utf8_put(out + n, 0x307);
    }
    return (size_t)utf8_put(out, (uint32_t)utf8proc_tolower(
        (utf8proc_int32_t)cp));
}

size_t moses_upper(uint32_t cp, char *out)
{
    size_t n = 0;

    for (size_t i = 0; cp >= 0x80
         && i < sizeof upper_cases / sizeof *upper_cases; i++) {
        if (upper_cases[i].cp != cp) continue;
        for (int k = 0; k < 3 && upper_cases[i].upper[k]; k++)
            n += (size_t)utf8_put(out + n, upper_cases[i].upper[k]);
        return n;
    }
    return (size_t)utf8_put(out, (uint32_t)utf8proc_toupper(
        (utf8proc_int32_t)cp));
}
