/* moses_rules.h - replacements in a text, each with a condition on the
 * characters on either side.
 *
 * A rule works like a substitution of Perl with /g: the text is read once from
 * left to right, and what a match has consumed is not matched again. For use
 * inside text/ only. */
#ifndef TEXT_MOSES_RULES_H
#define TEXT_MOSES_RULES_H

#include "text/aligned_text.h"
#include "text/moses_chars.h"

/* What is required of the character on one side. It is consumed, but stays. */
enum moses_side {
    SIDE_NONE,                  /* nothing; no character is consumed */
    SIDE_ALPHA, SIDE_NOT_ALPHA,
    SIDE_ALNUM,
    SIDE_NUMBER, SIDE_NOT_NUMBER,
    SIDE_NEITHER,               /* neither alphabetic nor a number */
    SIDE_NOT_SMALL,             /* not a lower-case letter, or the end of the
                                   text; for `right` only */
    SIDE_S,                     /* the letter s, as in "1990's" */
    SIDE_LETTER,                /* a-z, A-Z */
    SIDE_DIGIT,                 /* for Perl 0-9, for the port any digit */
    SIDE_STOP,                  /* one of .!:?;, */
    SIDE_END                    /* the end of the text; for `right` only */
};

enum moses_flavor { BOTH_FLAVORS, PERL_ONLY, PORT_ONLY };

struct moses_rule {
    const char *mark;           /* what is replaced; MOSES_SPACES: a run of
                                   spaces */
    const char *into;
    enum moses_side left, right;
    bool look;                  /* the right side is not consumed */
    enum moses_flavor flavor;
};

#define MOSES_SPACES "  "

/* For lists of rules: R(mark, into, .left = SIDE_ALPHA) */
#define R(mark_, into_, ...) { .mark = mark_, .into = into_, __VA_ARGS__ }

/* Apply n rules, one after another, to w->now. */
void moses_rules_apply(struct aligned_work *w, const struct moses_rule *rules,
                       size_t n, const struct moses_alphabet *a);

#define MOSES_APPLY(w, rules, a) \
    moses_rules_apply(w, rules, sizeof rules / sizeof *rules, a)

#endif
