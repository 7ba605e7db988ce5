/* split.h - splits a text into sentences, and a long sentence into clauses.
 *
 * It uses rules, not a model. A sentence ends after . ! ? ... and closing
 * quotes, if white space and a plausible beginning of a sentence follow. Known
 * abbreviations, initials and ordinals ("am 3. Oktober", "z. B.", "Dr.") do not
 * end a sentence. The abbreviations depend on the language (abbreviations.def).
 *
 * Other scripts have stops of their own, with or without white space after
 * them: the ideographic full stop, the danda, those of Arabic, Armenian,
 * Burmese, Ethiopic, Greek, Khmer and Tibetan, and all others with the property
 * Sentence_Terminal of Unicode. Thai and Lao have no stop: their texts end a
 * sentence only at an empty line, or at a stop of another script.
 *
 * An empty line always ends a sentence; a single line break does not. In case
 * of doubt the text is not split: two sentences translated together cost
 * little, but half a sentence gives a bad translation. */
#ifndef TEXT_SPLIT_H
#define TEXT_SPLIT_H

#include <stddef.h>

#include "base/err.h"
#include "text/subword.h"

struct span { size_t begin, end; };
struct spans {                  /* a growing array */
    struct span *at;
    size_t n, cap;
};
void spans_release(struct spans *s);

/* Appends the sentences of the text to *out. The spans ascend, begin and end
 * without white space, and are separated only by white space. lang is the code
 * of the language (language.h). If it is NULL or unknown, the rules of German
 * and English apply. On failure *out is unchanged. Takes linear time. */
enum status split_sentences(const char *text, size_t len, const char *lang,
                            struct spans *out, struct err *e);

/* Returns how many of the n pieces form the first part of a sentence that is
 * too long: at least 1 and at most limit. n > limit >= 1. The cut is at the
 * best border in reach: a sentence end, else ; : or a dash, else a comma, else
 * any space. A border before limit / 2 is used only if there is no other. If
 * there is no border at all, the result is limit, or a little less to keep the
 * byte pieces of one character together. lang: see split_sentences. */
size_t split_clause(const char *text, const struct piece *p, size_t n,
                    size_t limit, const char *lang);

#endif
