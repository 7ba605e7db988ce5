/* truecaser.h - writes words in the case that is usual for them: "The house"
 * becomes "the house", "The Hague" stays.
 *
 * It applies a truecasing model of Moses, like truecase.perl: the first word of
 * a sentence gets its most frequent form, and so does a word in a form that the
 * model has not seen. For use inside text/ only. */
#ifndef TEXT_TRUECASER_H
#define TEXT_TRUECASER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "text/aligned_text.h"

/* Words in ascending order, each with a value. */
struct sorted_words {
    struct str *key, *value;    /* [n] views; value is NULL without values */
    size_t n;
};

struct truecaser {              /* zeros: there is no model */
    struct sorted_words best;   /* lower-case form: most frequent form */
    struct sorted_words known;  /* all forms */
};
void truecaser_release(struct truecaser *t);

/* Read the file of a model: lines "word (count/all) other (count) ..". The
 * views are of *lower, which gets the lower-case forms, and of the file. *t
 * must be released in any case. */
enum status truecaser_read(struct truecaser *t, struct strbuf *lower,
                           struct str text, const char *name, struct err *e);

/* Whether the keys ascend, so that words can be looked up. */
bool sorted_words_sound(const struct sorted_words *s);

/* Change the words of w->now, which are divided by single spaces. */
void truecaser_apply(const struct truecaser *t, struct aligned_work *w);

#endif
