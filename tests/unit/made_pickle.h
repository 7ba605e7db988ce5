/* made_pickle.h - makes pickles from a notation that is like Python's, for
 * tests of those who read their values.
 *
 *     put_pickle(&b, "{'args': argparse.Namespace{'arch': 'x', 'layers': 6},"
 *                    " 'list': [1, 2.5, None, True], 'word': a.B('c')}");
 *
 * NAME{..} is an object with fields, NAME(..) the result of a call. Strings
 * have no escapes. */
#ifndef MADE_PICKLE_H
#define MADE_PICKLE_H

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

static inline void put_value(struct strbuf *b, const char **at);

static inline void skip_blanks(const char **at)
{
    while (isspace((unsigned char)**at)) ++*at;
}

static inline void put_string(struct strbuf *b, const char *text, size_t n)
{
    strbuf_addc(b, 'X');
    for (int i = 0; i < 4; i++) strbuf_addc(b, (char)(n >> 8 * i));
    strbuf_add(b, text, n);
}

/* Values up to `end`, which may be separated by commas and colons. */
static inline void put_values(struct strbuf *b, const char **at, char end)
{
    ++*at;
    strbuf_addc(b, '(');
    for (skip_blanks(at); **at != end; skip_blanks(at)) {
        put_value(b, at);
        skip_blanks(at);
        if (**at == ',' || **at == ':') ++*at;
    }
    ++*at;
}

static inline void put_dict(struct strbuf *b, const char **at)
{
    strbuf_addc(b, '}');
    put_values(b, at, '}');
    strbuf_addc(b, 'u');
}

/* Integers have no point and no exponent. */
static inline void put_number(struct strbuf *b, const char **at)
{
    char *end, *whole;
    double real = strtod(*at, &end);
    long long integer = strtoll(*at, &whole, 10);
    uint64_t bits;

    if (end == *at) abort();
    *at = end;
    memcpy(&bits, &real, sizeof bits);
    strbuf_adds(b, end == whole ? "\x8a\x08" : "G");
    for (int i = 0; i < 8; i++)
        strbuf_addc(b, end == whole ? (char)(integer >> 8 * i)
                                    : (char)(bits >> (56 - 8 * i)));
}

/* None, True, False, or the name of a class or a function. */
static inline void put_name(struct strbuf *b, const char **at)
{
    const char *name = *at, *dot = NULL;

    for (; isalnum((unsigned char)**at) || strchr("_.", **at); ++*at)
        if (**at == '.') dot = *at;
    if (!dot) {
        strbuf_addc(b, *name == 'T' ? '\x88' : *name == 'F' ? '\x89' : 'N');
        return;
    }
    strbuf_addf(b, "c%.*s\n%.*s\n", (int)(dot - name), name,
                (int)(*at - dot - 1), dot + 1);
    if (**at == '{') {
        strbuf_adds(b, ")\x81");
        put_dict(b, at);
        strbuf_addc(b, 'b');
    } else if (**at == '(') {
        put_values(b, at, ')');
        strbuf_adds(b, "tR");
    }
}

static inline void put_value(struct strbuf *b, const char **at)
{
    const char *start;

    skip_blanks(at);
    start = *at;
    if (*start == '{') {
        put_dict(b, at);
    } else if (*start == '[') {
        strbuf_addc(b, ']');
        put_values(b, at, ']');
        strbuf_addc(b, 'e');
    } else if (*start == '\'') {
        *at = strchr(start + 1, '\'');
        put_string(b, start + 1, (size_t)(*at - start - 1));
        ++*at;
    } else if (isalpha((unsigned char)*start)) {
        put_name(b, at);
    } else {
        put_number(b, at);
    }
}

/* Append a whole pickle of protocol 2. */
static inline void put_pickle(struct strbuf *b, const char *notation)
{
    strbuf_adds(b, "\x80\x02");
    put_value(b, &notation);
    strbuf_addc(b, '.');
}

#endif
