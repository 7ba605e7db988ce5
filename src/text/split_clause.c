/* split_clause.c - finds the best border at which a sentence that is too long
 * can be cut. It looks at borders of pieces only, from the last one that is in
 * reach back to the first. */
#include <string.h>

#include "base/invariant.h"
#include "text/full_stop.h"
#include "text/language.h"
#include "text/punct.h"
#include "text/split.h"
#include "text/utf8.h"

struct clause_text {
    struct str t;
    struct sentence_rules r;
};

/* In ascending order of quality. */
enum border { BORDER_NONE, BORDER_SPACE, BORDER_COMMA, BORDER_CLAUSE,
              BORDER_SENTENCE };

/* Returns the character that ends at `end` > 0 and sets *begin to its start. */
static uint32_t char_before(const char *s, size_t end, size_t *begin)
{
    size_t at = end - 1;
    int len;

    assert(end > 0);
    while (at && end - at < 4 && ((unsigned char)s[at] & 0xC0) == 0x80) at--;
    *begin = at;
    return utf8_next(s + at, end - at, &len);
}

/* Returns the kind of border after character cp, which begins at `at`. A dash
 * counts only with a space before it, unlike the hyphen of "ein- und
 * aussteigen". */
static enum border comma_or_clause(struct str t, uint32_t cp, size_t at)
{
    switch (cp) {
    case '-': case 0x2013: case 0x2014:
        return at && punct_is_space(char_before(t.p, at, &at)) ? BORDER_CLAUSE
                                                               : BORDER_SPACE;
    case ';': case ':': case 0xFF1B: case 0xFF1A:
    case 0x061B:                                /* Arabic */
    case 0x0F0D:                                /* Tibetan */
    case 0x1364: case 0x1365: case 0x1366:      /* Ethiopic */
        return BORDER_CLAUSE;
    case ',': case 0x060C: case 0x3001: case 0xFF0C: case 0x055D: case 0x104A:
    case 0x1363:
        return BORDER_COMMA;
    default: return BORDER_SPACE;
    }
}

/* Returns whether the full stop at `dot` ends a sentence. The next text begins
 * at `next`. */
static bool clause_ends_sentence(const struct clause_text *c, size_t dot,
                                 size_t next)
{
    struct next_text f = next_text_at(&c->r, c->t, next);
    size_t word = dot, at = dot;
    uint32_t cp;

    while (word && dot - word <= STOP_WORD_MAX) {
        cp = char_before(c->t.p, word, &at);
        if (punct_is_space(cp) || (!full_stop_in_word(cp) && cp != '.')) break;
        word = at;
    }
    return f.plausible && word < dot &&
           full_stop_ends(&c->r, (struct str){ c->t.p + word, dot - word },
                          word == 0, &f);
}

static bool is_wide(uint32_t cp)
{
    return cp == 0x3001 || cp == 0xFF0C || cp == 0xFF1B || cp == 0xFF1A ||
           punct_stop(cp) == STOP_WIDE;
}

/* Returns the kind of border at byte `end` of the text, where one piece ends
 * and the next begins. `space` means that white space follows. */
static enum border border_at(const struct clause_text *c, size_t end,
                             bool space)
{
    struct str t = c->t;
    size_t at = end;
    uint32_t cp = 0;

    for (int i = 0; i < 4 && at; i++) {
        size_t next = at;

        cp = char_before(t.p, at, &at);
        if (!punct_is_closer(cp)) break;
        if (i == 3) at = next;
    }
    if (!space && !is_wide(cp)) return BORDER_NONE;
    switch (punct_stop(cp)) {
    case STOP_NONE: return comma_or_clause(t, cp, at);
    case STOP_DOT:
        return clause_ends_sentence(c, at, end) ? BORDER_SENTENCE
                                                : BORDER_SPACE;
    default: return BORDER_SENTENCE;
    }
}

/* Returns the kind of border between p[i - 1] and p[i]. */
static enum border piece_border(const struct clause_text *c,
                                const struct piece *p, size_t i)
{
    struct str t = c->t;
    size_t end = p[i - 1].end, next = p[i].begin;
    bool space = next > end;
    int len;

    if (end == 0) return BORDER_NONE;
    if (!space && p[i].begin == p[i].end) return BORDER_NONE;
    if (!space)
        space = punct_is_space(utf8_next(t.p + next, t.n - next, &len));
    return border_at(c, end, space);
}

/* For German and English the rules of both apply, as for an unknown language: a
 * cut that is not made costs nothing here, because there is another place. */
static struct sentence_rules clause_rules(const char *lang)
{
    const char *code = language_code(str_of(lang));

    if (code && (!strcmp(code, "de") || !strcmp(code, "en"))) lang = NULL;
    return sentence_rules_of(lang);
}

size_t split_clause(const char *text, const struct piece *p, size_t n,
                    size_t limit, const char *lang)
{
    const struct clause_text c = { { text, p[n - 1].end },
                                   clause_rules(lang) };
    enum border best = BORDER_NONE;
    size_t at = limit;

    assert(limit >= 1 && n > limit);
    for (size_t i = limit; i >= 1; i--) {
        enum border b;

        if (i < limit / 2 && best) break;
        b = piece_border(&c, p, i);
        if (b > best) {
            best = b;
            at = i;
        }
    }
    if (best) return at;
    /* At least keep the byte pieces of one character together. */
    while (at > 1 && p[at].begin == p[at].end) at--;
    return p[at].begin < p[at].end ? at : limit;
}
