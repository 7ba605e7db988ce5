/* moses_prefixes.h - abbreviations that keep their full stop when a text is
 * split into words ("Dr. Huber", but "im Haus .").
 *
 * Moses has a file of such words per language. The lists here are our own: what
 * is usual in the language, so a rare abbreviation may be in one list and not
 * in the other. For use inside text/ only. */
#ifndef TEXT_MOSES_PREFIXES_H
#define TEXT_MOSES_PREFIXES_H

#include "base/str.h"
#include "text/moses_chars.h"

struct moses_prefixes;          /* opaque */

/* The list of a language ("de"). As in Moses, a language without a list has
 * that of English. Never NULL. */
const struct moses_prefixes *moses_prefixes_of(const char *language);

enum moses_prefix {
    PREFIX_NONE,
    PREFIX_ALWAYS,              /* keeps its full stop */
    PREFIX_NUMERIC              /* keeps it before a digit: "No. 5" */
};

/* What a word is, which comes without its full stop. */
enum moses_prefix moses_prefix_kind(const struct moses_prefixes *p,
                                    struct str word);

#endif
