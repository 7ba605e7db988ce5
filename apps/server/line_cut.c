/* line_cut.c - cuts a text into the lines that are translated. */
#include "line_cut.h"

#include <string.h>
#include <utf8proc.h>

/* Reads the character at s. Returns its bytes; 1, with -1, if it is not
 * valid. */
static size_t read_character(const char *s, size_t len, utf8proc_int32_t *c)
{
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s,
                                          (utf8proc_ssize_t)len, c);

    if (n > 0) return (size_t)n;
    *c = -1;
    return 1;
}

static bool is_white_space(utf8proc_int32_t c)
{
    if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
    if (c == 0x85 || c == 0xFEFF) return true;
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return true;
    default:
        return false;
    }
}

bool line_cut(const char *text, size_t len, size_t *at, struct cut_line *out)
{
    size_t i = *at, n;
    utf8proc_int32_t c;

    while (i < len && (n = read_character(text + i, len - i, &c),
                       is_white_space(c)))
        i += n;
    out->begin = out->end = i;
    while (i < len && text[i] != '\n') {
        n = read_character(text + i, len - i, &c);
        i += n;
        if (!is_white_space(c)) out->end = i;
    }
    *at = i;
    return out->end > out->begin;
}

bool has_letters(const char *text, size_t len)
{
    utf8proc_int32_t c;

    for (size_t i = 0; i < len;) {
        i += read_character(text + i, len - i, &c);
        if (c < 0) return true;
        switch (utf8proc_category(c)) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
            return true;
        default:
            break;
        }
    }
    return false;
}

size_t line_characters(const char *text)
{
    size_t n = 0;

    for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}
