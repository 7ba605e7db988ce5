/* moses_rules.c - looks for the mark of a rule and then at its sides, so that a
 * rule whose mark does not occur costs one search. */
#include "text/moses_rules.h"

#include <string.h>

#include "base/invariant.h"
#include "text/utf8.h"

/* \d of Perl without "use utf8", and of Python. */
static bool is_digit(const struct moses_alphabet *a, uint32_t cp)
{
    static const struct moses_alphabet all = { .perl = true };

    return a->perl ? cp - '0' < 10 : moses_class(&all, cp) & MC_DIGIT;
}

static bool side_matches(enum moses_side side, const struct moses_alphabet *a,
                         uint32_t cp)
{
    switch (side) {
    case SIDE_NONE: break;
    case SIDE_ALPHA: return moses_class(a, cp) & MC_ALPHA;
    case SIDE_NOT_ALPHA: return !(moses_class(a, cp) & MC_ALPHA);
    case SIDE_ALNUM: return moses_class(a, cp) & MC_ALNUM;
    case SIDE_NUMBER: return moses_class(a, cp) & MC_NUMBER;
    case SIDE_NOT_NUMBER: return !(moses_class(a, cp) & MC_NUMBER);
    case SIDE_NEITHER:
        return !(moses_class(a, cp) & (MC_ALPHA | MC_NUMBER));
    case SIDE_NOT_SMALL: return !(moses_class(a, cp) & MC_SMALL);
    case SIDE_S: return cp == 's';
    case SIDE_LETTER: return (cp | 0x20) - 'a' < 26;
    case SIDE_DIGIT: return is_digit(a, cp);
    case SIDE_STOP: return cp && cp < 0x80 && strchr(".!:?;,", (int)cp);
    case SIDE_END: return false;
    }
    return true;
}

/* Whether the character before `at` matches, and no match has consumed it. */
static bool left_matches(const struct moses_rule *r, struct str t, size_t at,
                         size_t consumed, const struct moses_alphabet *a)
{
    size_t begin = at;
    int len;

    if (r->left == SIDE_NONE) return true;
    if (at <= consumed) return false;
    do begin--;
    while (begin > consumed && ((unsigned char)t.p[begin] & 0xC0) == 0x80);
    return side_matches(r->left, a, utf8_next(t.p + begin, at - begin, &len));
}

/* Whether the character at `at` matches. *n: its length. */
static bool right_matches(const struct moses_rule *r, struct str t, size_t at,
                          const struct moses_alphabet *a, size_t *n)
{
    int len;

    *n = 0;
    if (r->right == SIDE_NONE) return true;
    if (at == t.n)
        return r->right == SIDE_END || r->right == SIDE_NOT_SMALL;
    if (!side_matches(r->right, a, utf8_next(t.p + at, t.n - at, &len)))
        return false;
    *n = (size_t)len;
    return true;
}

/* The end of the mark that begins at `at`. */
static size_t mark_end(const struct moses_rule *r, struct str t, size_t at,
                       size_t len)
{
    size_t end = at + len;

    if (r->mark[0] == ' ' && r->mark[1] == ' ')
        while (end < t.n && t.p[end] == ' ') end++;
    return end;
}

static void moses_rule_apply(struct aligned_work *w,
                             const struct moses_rule *r,
                             const struct moses_alphabet *a)
{
    struct str t = { w->now.text, w->now.n };
    size_t len = strlen(r->mark), into = strlen(r->into);
    size_t at = 0, kept = 0, consumed = 0, right;
    const char *hit;
    bool begun = false;

    assert(len > 0);
    while (at < t.n && (hit = memmem(t.p + at, t.n - at, r->mark, len))) {
        size_t begin = (size_t)(hit - t.p), end = mark_end(r, t, begin, len);

        at = begin + 1;
        if (!left_matches(r, t, begin, consumed, a)
            || !right_matches(r, t, end, a, &right)) continue;
        if (!begun) aligned_begin(w);
        begun = true;
        aligned_keep(w, kept, begin);
        aligned_put(w, r->into, into, begin);
        kept = end;
        at = consumed = r->look ? end : end + right;
    }
    if (!begun) return;
    aligned_keep(w, kept, t.n);
    aligned_end(w);
}

void moses_rules_apply(struct aligned_work *w, const struct moses_rule *rules,
                       size_t n, const struct moses_alphabet *a)
{
    for (size_t i = 0; i < n; i++) {
        if (rules[i].flavor == PERL_ONLY && !a->perl) continue;
        if (rules[i].flavor == PORT_ONLY && a->perl) continue;
        if (w->failed) return;
        moses_rule_apply(w, &rules[i], a);
    }
}
