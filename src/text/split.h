/* split.h - a text into sentences, and a sentence too long into clauses.
 *
 * Rules, not a model: a sentence ends after . ! ? ... (and their CJK kin) with
 * closing quotes, when white space and a plausible beginning follow; known
 * abbreviations, initials and ordinals ("am 3. Oktober", "z. B.", "Dr.") do
 * not end one. An empty line ends one whatever stands before it, a mere line
 * end does not. When in doubt nothing is split: two sentences translated
 * together cost little, half a sentence costs the translation. */
#ifndef TEXT_SPLIT_H
#define TEXT_SPLIT_H

#include <stddef.h>

#include "base/err.h"
#include "text/subword.h"

struct span { size_t begin, end; };
struct spans {                  /* grows; freed by spans_release */
    struct span *at;
    size_t n, cap;
};
void spans_release(struct spans *s);

/* Append the sentences of text: spans ascend, hold no white space at either
 * end, and what lies between them is white space. lang is "de", "en" or
 * anything (general rules); NULL is "anything". Linear time. */
enum status split_sentences(const char *text, size_t len, const char *lang,
                            struct spans *out, struct err *e);

/* How many of the n pieces (n > limit >= 1) make the first part: at most
 * limit, at the best border there - sentence end, then ; : and dashes, then
 * a comma, then any space - not before limit / 2 unless there is no other;
 * limit itself when there is no border at all (or just before, so as not to
 * cut a character that is several byte pieces). Never 0. */
size_t split_clause(const char *text, const struct piece *p, size_t n,
                    size_t limit);

#endif
