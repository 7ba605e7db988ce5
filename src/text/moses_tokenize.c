/* moses_tokenize.c - tokenizes by one pass over the text for each rule of
 * tokenizer.perl, in the same order.
 *
 * A pass reads what the passes before it wrote, including the spaces, and
 * consumes the characters that it matched, as a substitution with /g does in
 * Perl: after a rule has turned "a,b," into "a , b,", it continues after the
 * "b". The order of the passes and this consumption decide how unusual cases
 * come out. For the same reason double spaces are kept until full_stops()
 * splits the text into words. */
#include "text/moses_tokenize.h"

#include <string.h>

#include "base/invariant.h"
#include "text/moses_rules.h"
#include "text/utf8.h"

/* ---- spaces and symbols ------------------------------------------------- */

static bool stays_in_words(const struct moses_language *l, uint32_t cp,
                           unsigned class)
{
    if (class & MC_ALNUM) return true;
    switch (cp) {
    case '.': case '\'': case '`': case ',': case '-': return true;
    case ':': return l->inner_colon;
    case 0xB7: return l->inner_dot;
    default: return false;
    }
}

/* Writes the space that was seen before byte `at`, if there is text before
 * it. */
static void write_space(struct aligned_work *w, size_t *space)
{
    if (*space != SIZE_MAX && w->next.n) aligned_put(w, " ", 1, *space);
    *space = SIZE_MAX;
}

/* Reduces white space to single spaces and trims it at both ends, removes
 * control characters, and puts spaces around each character that cannot be part
 * of a word. */
static void separate_symbols(struct aligned_work *w,
                             const struct moses_language *l)
{
    const struct aligned_text *t = &w->now;
    size_t space = SIZE_MAX;    /* where the white space before begins */
    size_t at = 0, begin = 0;
    unsigned class = 0;
    uint32_t cp = 0;
    int len = 0;

    aligned_begin(w);
    for (; at < t->n; at += (size_t)len, begin = at) {
        for (; at < t->n; at += (size_t)len) {
            cp = utf8_next(t->text + at, t->n - at, &len);
            class = moses_class(&l->alphabet, cp);
            if (!stays_in_words(l, cp, class)) break;
        }
        if (at > begin) {
            write_space(w, &space);
            aligned_keep(w, begin, at);
        }
        if (at == t->n) break;
        if (class & MC_SPACE) {
            if (space == SIZE_MAX) space = at;
        } else if (cp >= 0x20) {
            write_space(w, &space);
            aligned_put(w, " ", 1, at);
            aligned_keep(w, at, at + (size_t)len);
            aligned_put(w, " ", 1, at + (size_t)len);
        }
    }
    aligned_end(w);
}

void moses_tokenize_spaces(struct aligned_work *w)
{
    const struct aligned_text *t = &w->now;
    size_t space = SIZE_MAX, begin = 0, at = 0;
    int len = 0;

    if (w->failed) return;
    aligned_begin(w);
    for (; at < t->n; at += (size_t)len, begin = at) {
        while (at < t->n
               && !utf8_is_space(utf8_next(t->text + at, t->n - at, &len)))
            at += (size_t)len;
        if (at > begin) {
            write_space(w, &space);
            aligned_keep(w, begin, at);
        }
        if (at == t->n) break;
        if (space == SIZE_MAX) space = at;
    }
    aligned_end(w);
}

/* ---- the rules ---------------------------------------------------------- */

static const struct moses_rule colons[] = {
    R(":", " : ", .right = SIDE_NOT_SMALL, .look = true)
};
static const struct moses_rule inner_apostrophes[] = {
    R("'", " ' ", .right = SIDE_NOT_SMALL, .look = true)
};
static const struct moses_rule dashes_apart[] = {
    R("-", " @-@ ", .left = SIDE_ALNUM, .right = SIDE_ALNUM, .look = true)
};
static const struct moses_rule commas[] = {
    R(",", " , ", .left = SIDE_NOT_NUMBER),
    R(",", " , ", .right = SIDE_NOT_NUMBER),
    R(",", " ,", .left = SIDE_NUMBER, .right = SIDE_END)
};
static const struct moses_rule apostrophes_alone[] = { R("'", " ' ") };
static const struct moses_rule apostrophes_right[] = {
    R("'", " ' ", .left = SIDE_NOT_ALPHA, .right = SIDE_NOT_ALPHA),
    R("'", " ' ", .left = SIDE_NEITHER, .right = SIDE_ALPHA),
    R("'", " ' ", .left = SIDE_ALPHA, .right = SIDE_NOT_ALPHA),
    R("'", " '", .left = SIDE_ALPHA, .right = SIDE_ALPHA),
    R("'", " '", .left = SIDE_NUMBER, .right = SIDE_S)
};
/* All four are for the languages of APOSTROPHE_LEFT, the first three for those
 * of APOSTROPHE_INSIDE. */
static const struct moses_rule apostrophes_left[] = {
    R("'", " ' ", .left = SIDE_NOT_ALPHA, .right = SIDE_NOT_ALPHA),
    R("'", " ' ", .left = SIDE_NOT_ALPHA, .right = SIDE_ALPHA),
    R("'", " ' ", .left = SIDE_ALPHA, .right = SIDE_NOT_ALPHA),
    R("'", "' ", .left = SIDE_ALPHA, .right = SIDE_ALPHA)
};

static void split_apostrophes(struct aligned_work *w,
                              const struct moses_language *l)
{
    const struct moses_alphabet *a = &l->alphabet;

    switch (l->apostrophe) {
    case APOSTROPHE_ALONE: MOSES_APPLY(w, apostrophes_alone, a); break;
    case APOSTROPHE_RIGHT: MOSES_APPLY(w, apostrophes_right, a); break;
    case APOSTROPHE_LEFT: MOSES_APPLY(w, apostrophes_left, a); break;
    case APOSTROPHE_INSIDE:
        moses_rules_apply(w, apostrophes_left, 3, a);
        break;
    }
}

/* A run of two or more dots becomes a word. */
static void split_dots(struct aligned_work *w)
{
    const struct aligned_text *t = &w->now;
    size_t kept = 0, end;

    if (w->failed || !memmem(t->text, t->n, "..", 2)) return;
    aligned_begin(w);
    for (size_t at = 0; at < t->n; at = end) {
        for (end = at; end < t->n && t->text[end] == '.';) end++;
        if (end < at + 2) {
            end = at + 1;
            continue;
        }
        aligned_keep(w, kept, at);
        aligned_put(w, " ", 1, at);
        aligned_keep(w, at, end);
        aligned_put(w, " ", 1, end);
        kept = end;
    }
    aligned_keep(w, kept, t->n);
    aligned_end(w);
}

/* ---- full stops --------------------------------------------------------- */

static bool has_dot_and_letter(const struct moses_language *l, struct str word)
{
    int len;

    if (!memchr(word.p, '.', word.n)) return false;
    for (size_t at = 0; at < word.n; at += (size_t)len)
        if (moses_class(&l->alphabet,
                        utf8_next(word.p + at, word.n - at, &len)) & MC_ALPHA)
            return true;
    return false;
}

static bool begins_lower(const struct moses_language *l, struct str word)
{
    int len;

    return word.n && moses_class(&l->alphabet,
                                 utf8_next(word.p, word.n, &len)) & MC_LOWER;
}

/* `word` comes without its full stop, `next` begins with the next word. */
static bool keeps_stop(const struct moses_language *l, struct str word,
                       struct str next)
{
    if (has_dot_and_letter(l, word) || begins_lower(l, next)) return true;
    switch (moses_prefix_kind(l->prefixes, word)) {
    case PREFIX_ALWAYS: return true;
    case PREFIX_NUMERIC:
        return next.n && next.p[0] >= '0' && next.p[0] <= '9';
    default: return false;
    }
}

static bool is_dots(struct str word)
{
    size_t n = 0;

    while (n < word.n && word.p[n] == '.') n++;
    return n == word.n;
}

/* Whether the full stop at the end of `word` is split off. `rest` is the text
 * after the word. For Perl, the last word never keeps its full stop, and
 * between two spaces there is a word without letters. */
static bool splits_stop(const struct moses_language *l, struct str word,
                        struct str rest)
{
    size_t spaces = 0;

    if (word.n < 2 || word.p[word.n - 1] != '.' || is_dots(word)) return false;
    while (spaces < rest.n && rest.p[spaces] == ' ') spaces++;
    if (l->alphabet.perl && spaces == rest.n) return true;
    if (l->alphabet.perl) spaces = 1;
    return !keeps_stop(l, (struct str){ word.p, word.n - 1 },
                       (struct str){ rest.p + spaces, rest.n - spaces });
}

/* Splits the text at spaces and writes the words with single spaces. */
static void full_stops(struct aligned_work *w, const struct moses_language *l)
{
    const struct aligned_text *t = &w->now;
    size_t space = SIZE_MAX, end;

    if (w->failed) return;
    aligned_begin(w);
    for (size_t at = 0; at < t->n; at = end + 1) {
        const char *hit = memchr(t->text + at, ' ', t->n - at);
        struct str word, rest;
        bool split;

        end = hit ? (size_t)(hit - t->text) : t->n;
        word = (struct str){ t->text + at, end - at };
        rest = (struct str){ t->text + end, t->n - end };
        if (word.n) {
            split = splits_stop(l, word, rest);
            write_space(w, &space);
            aligned_keep(w, at, end - split);
            if (split) aligned_put(w, " .", 2, end - 1);
        }
        if (hit && space == SIZE_MAX) space = end;
    }
    aligned_end(w);
}

/* The rules for apostrophes need a character after it, so they miss ".'" at the
 * end of the text. */
static void split_last_quote(struct aligned_work *w)
{
    const struct aligned_text *t = &w->now;
    size_t stop = t->n - 2, kept = stop;

    if (w->failed || t->n < 2 || memcmp(t->text + stop, ".'", 2)) return;
    if (kept && t->text[kept - 1] == ' ') kept--;
    aligned_begin(w);
    aligned_keep(w, 0, kept);
    if (kept) aligned_put(w, " ", 1, kept);
    aligned_keep(w, stop, stop + 1);
    aligned_put(w, " ", 1, stop + 1);
    aligned_keep(w, stop + 1, t->n);
    aligned_end(w);
}

void moses_tokenize(struct aligned_work *w, const struct moses_language *l,
                    bool dashes)
{
    const struct moses_alphabet *a = &l->alphabet;

    if (w->failed) return;
    separate_symbols(w, l);
    if (l->inner_colon) MOSES_APPLY(w, colons, a);
    if (l->inner_apostrophe) MOSES_APPLY(w, inner_apostrophes, a);
    if (dashes) MOSES_APPLY(w, dashes_apart, a);
    split_dots(w);
    MOSES_APPLY(w, commas, a);
    split_apostrophes(w, l);
    full_stops(w, l);
    split_last_quote(w);
}

/* ---- escapes ------------------------------------------------------------ */

static const char *moses_entity(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '|': return "&#124;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '\'': return "&apos;";
    case '"': return "&quot;";
    case '[': return "&#91;";
    case ']': return "&#93;";
    default: return NULL;
    }
}

void moses_escape(struct aligned_work *w)
{
    const struct aligned_text *t = &w->now;
    size_t kept = 0;

    if (w->failed) return;
    aligned_begin(w);
    for (size_t i = 0; i < t->n; i++) {
        const char *e = moses_entity(t->text[i]);

        if (!e) continue;
        aligned_keep(w, kept, i);
        aligned_put(w, e, strlen(e), i);
        kept = i + 1;
    }
    aligned_keep(w, kept, t->n);
    aligned_end(w);
}
