/* moses_chars.h - the classes of characters that the rules of Moses tell apart.
 *
 * The scripts of Moses use the properties that Perl knows. sacremoses, their
 * port to Python, has lists of its own: no character beyond U+FFFF is a letter
 * there, nor are Han and Hangul, unless the language is Chinese, Japanese or
 * Korean. For use inside text/ only. */
#ifndef TEXT_MOSES_CHARS_H
#define TEXT_MOSES_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MC_ALPHA = 1,               /* letters, and the marks that belong to them */
    MC_DIGIT = 2,               /* decimal digits */
    MC_NUMBER = 4,              /* digits, fractions, Roman numerals */
    MC_LOWER = 8,               /* the property Lowercase */
    MC_SMALL = 16,              /* lower-case letters in the strict sense: Ll */
    MC_CURRENCY = 32,
    MC_SPACE = 64,
    MC_CONTROL = 128,           /* control, format, private, unassigned */
    MC_ALNUM = MC_ALPHA | MC_DIGIT
};

struct moses_alphabet {
    bool perl;                  /* else as in the Python port */
    bool han, hangul;           /* letters of the language; of no use if perl */
};

extern const uint8_t moses_ascii_class[128];

/* The class of a code point of 0x80 or more. */
unsigned moses_class_beyond_ascii(const struct moses_alphabet *a, uint32_t cp);

/* The class of a code point, a combination of MC_*. */
static inline unsigned moses_class(const struct moses_alphabet *a, uint32_t cp)
{
    if (cp >= 0x80) return moses_class_beyond_ascii(a, cp);
    /* For Perl, U+001C to U+001F are no white space. */
    if (cp >= 0x1C && cp <= 0x1F && !a->perl) return MC_SPACE | MC_CONTROL;
    return moses_ascii_class[cp];
}

/* Whether the character is Chinese, Japanese or Korean for the detokenizer:
 * letters and punctuation. */
bool moses_is_cjk(uint32_t cp);

#define MOSES_CASE_MAX 12       /* bytes of a converted character */

/* Write the character in lower or upper case and return the number of bytes,
 * at most MOSES_CASE_MAX. The upper case of U+00DF is "SS". */
size_t moses_lower(uint32_t cp, char *out);
size_t moses_upper(uint32_t cp, char *out);

#endif
