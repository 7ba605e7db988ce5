/* moses.c - tokenizes by one pass over the text for each rule of
 * tokenizer.perl, in the same order.
 *
 * A pass reads what the passes before it wrote, including the spaces, and
 * consumes the characters that it matched, as a substitution with /g does in
 * Perl: after a rule has turned "a,b," into "a , b,", it continues after the
 * "b". The order of the passes and this consumption decide how unusual cases
 * come out. For the same reason double spaces are kept until
 * split_full_stops() splits the text into words. */
#include "metrics/moses.h"

#include <utf8proc.h>

#include "base/invariant.h"
#include "text/utf8.h"

/* ---- characters --------------------------------------------------------- */

enum {
    C_ALPHA = 1,
    C_DIGIT = 2,
    C_NUMBER = 4,               /* digits, and numbers such as U+00BD */
    C_LOWER = 8,
    C_ALNUM = C_ALPHA | C_DIGIT
};

static unsigned char_class_unicode(uint32_t cp)
{
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_LL: return C_ALPHA | C_LOWER;
    case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM: return C_ALPHA;
    case UTF8PROC_CATEGORY_LO:
        return cp == 0xAA || cp == 0xBA ? C_ALPHA | C_LOWER : C_ALPHA;
    case UTF8PROC_CATEGORY_ND: return C_DIGIT | C_NUMBER;
    case UTF8PROC_CATEGORY_NL: return C_ALPHA | C_NUMBER;
    case UTF8PROC_CATEGORY_NO: return C_NUMBER;
    default: return 0;
    }
}

static unsigned char_class(uint32_t cp)
{
    if (cp >= 0x80) return char_class_unicode(cp);
    if (cp - '0' < 10) return C_DIGIT | C_NUMBER;
    if (cp - 'a' < 26) return C_ALPHA | C_LOWER;
    return cp - 'A' < 26 ? C_ALPHA : 0;
}

/* Returns the class of the character at `at` and sets *len to its length. */
static unsigned char_class_at(struct str s, size_t at, int *len)
{
    return char_class(utf8_next(s.p + at, s.n - at, len));
}

static bool moses_add(struct strbuf *out, struct str s, size_t at, size_t n)
{
    return strbuf_add(out, s.p + at, n);
}

/* Adds s[at .. at+n) with a space on either side. */
static bool moses_add_spaced(struct strbuf *out, struct str s, size_t at,
                             size_t n)
{
    return strbuf_addc(out, ' ') && moses_add(out, s, at, n)
           && strbuf_addc(out, ' ');
}

/* ---- the passes --------------------------------------------------------- */

static bool stays_in_words(uint32_t cp)
{
    return (cp < 0x80 && cp && strchr(".'`,-", (int)cp))
           || char_class(cp) & C_ALNUM;
}

/* Reduces white space to single spaces and trims it at both ends, removes
 * control characters, and puts spaces around each character that cannot be
 * part of a word. */
static bool separate_symbols(struct strbuf *out, struct str in)
{
    bool space = false, begun = false;
    int len;

    for (size_t at = 0; at < in.n; at += (size_t)len) {
        uint32_t cp = utf8_next(in.p + at, in.n - at, &len);
        bool inside;

        if (fields_is_space(cp) && !(cp >= 0x1C && cp <= 0x1F)) space = true;
        else if (cp >= 0x20) {
            inside = stays_in_words(cp);
            if (begun && space && !strbuf_addc(out, ' ')) return false;
            space = false;
            begun = true;
            if (!(inside ? moses_add(out, in, at, (size_t)len)
                         : moses_add_spaced(out, in, at, (size_t)len)))
                return false;
        }
    }
    return true;
}

static bool is_split_hyphen(struct str in, size_t at, unsigned before)
{
    int len;

    return in.p[at] == '-' && before & C_ALNUM && at + 1 < in.n
           && char_class_at(in, at + 1, &len) & C_ALNUM;
}

static bool split_hyphens(struct strbuf *out, struct str in)
{
    unsigned before = 0;
    int len;

    for (size_t at = 0; at < in.n; at += (size_t)len) {
        unsigned here = char_class_at(in, at, &len);

        if (!(is_split_hyphen(in, at, before)
              ? strbuf_adds(out, " @-@ ")
              : moses_add(out, in, at, (size_t)len)))
            return false;
        before = here;
    }
    return true;
}

/* A run of two or more dots becomes a word. */
static bool split_dots(struct strbuf *out, struct str in)
{
    for (size_t at = 0, n; at < in.n; at += n) {
        for (n = 0; at + n < in.n && in.p[at + n] == '.';) n++;
        if (n > 1) {
            if (!moses_add_spaced(out, in, at, n)) return false;
            continue;
        }
        n = 1;
        if (!moses_add(out, in, at, n)) return false;
    }
    return true;
}

/* What a rule requires of the character on one side of a mark. */
enum moses_side {
    SIDE_NONE,                  /* nothing; the character is not consumed */
    SIDE_ALPHA, SIDE_NOT_ALPHA,
    SIDE_NUMBER, SIDE_NOT_NUMBER,
    SIDE_NEITHER,               /* neither alphabetic nor a number */
    SIDE_S                      /* the letter s, as in "1990's" */
};

/* Where `left mark right` matches, a space is added before the mark, and
 * another one after it unless right_stays. */
struct rule {
    enum moses_side left, right;
    char mark;
    bool right_stays;           /* the right side stays attached to the mark */
};

static const struct rule rules[] = {
    { SIDE_NOT_NUMBER, SIDE_NONE, ',', false },
    { SIDE_NONE, SIDE_NOT_NUMBER, ',', false },
    { SIDE_NOT_ALPHA, SIDE_NOT_ALPHA, '\'', false },
    { SIDE_NEITHER, SIDE_ALPHA, '\'', false },
    { SIDE_ALPHA, SIDE_NOT_ALPHA, '\'', false },
    { SIDE_ALPHA, SIDE_ALPHA, '\'', true },
    { SIDE_NUMBER, SIDE_S, '\'', true }
};

static bool side_matches(enum moses_side side, uint32_t cp)
{
    unsigned c = char_class(cp);

    switch (side) {
    case SIDE_NONE: break;
    case SIDE_ALPHA: return c & C_ALPHA;
    case SIDE_NOT_ALPHA: return !(c & C_ALPHA);
    case SIDE_NUMBER: return c & C_NUMBER;
    case SIDE_NOT_NUMBER: return !(c & C_NUMBER);
    case SIDE_NEITHER: return !(c & (C_ALPHA | C_NUMBER));
    case SIDE_S: return cp == 's';
    }
    return true;
}

/* Returns whether the character at `at` meets the requirement, and sets *n to
 * the number of bytes that the side consumes. */
static bool match_side(enum moses_side side, struct str in, size_t at,
                       size_t *n)
{
    int len;

    *n = 0;
    if (side == SIDE_NONE) return true;
    if (at >= in.n
        || !side_matches(side, utf8_next(in.p + at, in.n - at, &len)))
        return false;
    *n = (size_t)len;
    return true;
}

/* Returns whether the rule matches at `at`, and sets *left and *right to the
 * number of bytes that it consumes before and after the mark. */
static bool rule_holds(const struct rule *r, struct str in, size_t at,
                       size_t *left, size_t *right)
{
    return match_side(r->left, in, at, left) && at + *left < in.n
           && in.p[at + *left] == r->mark
           && match_side(r->right, in, at + *left + 1, right);
}

static bool apply_rule(const struct rule *r, struct strbuf *out, struct str in)
{
    size_t left, right, at = 0;

    while (at < in.n) {
        if (rule_holds(r, in, at, &left, &right)) {
            if (!moses_add(out, in, at, left) || !strbuf_addc(out, ' ')
                || !strbuf_addc(out, r->mark)
                || (!r->right_stays && !strbuf_addc(out, ' '))
                || !moses_add(out, in, at + left + 1, right))
                return false;
            at += left + 1 + right;
            assert(at <= in.n);
        } else {
            int len;

            utf8_next(in.p + at, in.n - at, &len);
            if (!moses_add(out, in, at, (size_t)len)) return false;
            at += (size_t)len;
        }
    }
    return true;
}

/* ---- full stops --------------------------------------------------------- */

/* Abbreviations that keep their full stop, from the list of Moses for English.
 * Single capital letters keep it too (is_abbreviation). */
static const char *const abbreviations[] = {
    "Adj", "Adm", "Adv", "Apr", "Asst", "Aug", "Bart", "Bldg", "Brig", "Bros",
    "Capt", "Cmdr", "Col", "Comdr", "Con", "Corp", "Cpl", "DR", "Dec", "Dr",
    "Drs", "Ens", "Feb", "Gen", "Gov", "Hon", "Hosp", "Hr", "Insp", "Jan",
    "Jul", "Jun", "Lt", "MM", "MR", "MRS", "MS", "Maj", "Mar", "Messrs",
    "Mlle", "Mme", "Mr", "Mrs", "Ms", "Msgr", "Nos", "Nov", "Nr", "Oct", "Op",
    "Ord", "Pfc", "Ph", "Prof", "Pvt", "Rep", "Reps", "Res", "Rev", "Rs", "Rt",
    "Sen", "Sens", "Sep", "Sfc", "Sgt", "Sr", "St", "Supt", "Surg", "rev",
    "v", "vs", NULL
};
/* These keep their full stop only before a digit. */
static const char *const abbreviations_of_numbers[] = {
    "Art", "No", "pp", NULL
};

static bool list_has_word(const char *const *list, struct str word)
{
    for (; *list; list++)
        if (str_eq(str_of(*list), word)) return true;
    return false;
}

static bool is_abbreviation(struct str word)
{
    return (word.n == 1 && word.p[0] >= 'A' && word.p[0] <= 'Z')
           || list_has_word(abbreviations, word);
}

static bool has_dot_and_letter(struct str word)
{
    int len;

    if (!memchr(word.p, '.', word.n)) return false;
    for (size_t at = 0; at < word.n; at += (size_t)len)
        if (char_class_at(word, at, &len) & C_ALPHA) return true;
    return false;
}

/* `word` comes without its full stop. `next` begins one space after the word.
 * If it begins with another space, an earlier pass has separated the word that
 * follows. */
static bool keeps_stop(struct str word, struct str next)
{
    int len;

    return has_dot_and_letter(word) || is_abbreviation(word)
           || (next.n && char_class_at(next, 0, &len) & C_LOWER)
           || (list_has_word(abbreviations_of_numbers, word) && next.n
               && next.p[0] >= '0' && next.p[0] <= '9');
}

static bool is_dots(struct str word)
{
    size_t n = 0;

    while (n < word.n && word.p[n] == '.') n++;
    return n == word.n;
}

/* Returns whether the full stop at the end of `word` is split off. `rest` is
 * the text after the word. The last word never keeps its full stop. */
static bool splits_stop(struct str word, struct str rest)
{
    size_t spaces = 0;

    if (word.n < 2 || word.p[word.n - 1] != '.' || is_dots(word)) return false;
    while (spaces < rest.n && rest.p[spaces] == ' ') spaces++;
    return spaces == rest.n
           || !keeps_stop((struct str){ word.p, word.n - 1 },
                          (struct str){ rest.p + 1, rest.n - 1 });
}

static bool moses_add_word(struct strbuf *out, struct str word, bool split)
{
    assert(word.n >= 1 + (size_t)split);
    if (out->len && !strbuf_addc(out, ' ')) return false;
    return split ? moses_add(out, word, 0, word.n - 1) && strbuf_adds(out, " .")
                 : moses_add(out, word, 0, word.n);
}

static bool split_full_stops(struct strbuf *out, struct str in)
{
    size_t end;

    for (size_t at = 0; at < in.n; at = end) {
        const char *space = memchr(in.p + at, ' ', in.n - at);
        struct str word, rest;

        end = space ? (size_t)(space - in.p) : in.n;
        assert(end >= at && end <= in.n);
        word = (struct str){ in.p + at, end - at };
        rest = (struct str){ in.p + end, in.n - end };
        if (word.n && !moses_add_word(out, word, splits_stop(word, rest)))
            return false;
        if (space) end++;
    }
    return true;
}

/* ---- last passes -------------------------------------------------------- */

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

static bool moses_escape(struct strbuf *out, struct str in)
{
    for (size_t i = 0; i < in.n; i++) {
        const char *e = moses_entity(in.p[i]);

        if (!(e ? strbuf_adds(out, e) : strbuf_addc(out, in.p[i])))
            return false;
    }
    return true;
}

/* The rules need a character after the apostrophe, so they miss ".'" at the
 * end of the text. */
static bool split_last_quote(struct strbuf *out, struct str in)
{
    size_t n = in.n;

    if (n < 2 || memcmp(in.p + n - 2, ".'", 2)) return moses_add(out, in, 0, n);
    n -= 2;
    if (n && in.p[n - 1] == ' ') n--;
    return moses_add(out, in, 0, n) && strbuf_adds(out, n ? " . '" : ". '");
}

static bool split_last_comma(struct strbuf *out, struct str in)
{
    if (!in.n || in.p[in.n - 1] != ',') return moses_add(out, in, 0, in.n);
    return moses_add(out, in, 0, in.n - 1) && strbuf_adds(out, " ,");
}

typedef bool moses_pass(struct strbuf *out, struct str in);

static void moses_swap(struct strbuf *a, struct strbuf *b)
{
    struct strbuf keep = *a;

    *a = *b;
    *b = keep;
}

/* Runs a pass over the text in out; its result replaces the text. */
static bool moses_run_pass(moses_pass *fn, struct strbuf *out,
                           struct strbuf *spare)
{
    strbuf_reset(spare);
    if (!fn(spare, strbuf_view(out))) return false;
    moses_swap(out, spare);
    return true;
}

/* Applies the rules for this mark, in order, to the text in out. */
static bool moses_run_rules(struct strbuf *out, struct strbuf *spare, char mark)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].mark != mark || !memchr(out->data, mark, out->len))
            continue;
        strbuf_reset(spare);
        if (!apply_rule(&rules[i], spare, strbuf_view(out))) return false;
        moses_swap(out, spare);
    }
    return true;
}

bool moses_words(struct strbuf *out, struct strbuf *spare, struct str text,
                 enum moses_hyphens hyphens)
{
    assert(out != spare);
    strbuf_reset(out);
    if (!separate_symbols(out, text)) return false;
    if (hyphens == MOSES_HYPHENS_SPLIT
        && !moses_run_pass(split_hyphens, out, spare))
        return false;
    return moses_run_pass(split_dots, out, spare)
           && moses_run_rules(out, spare, ',')
           && moses_run_pass(split_last_comma, out, spare)
           && moses_run_rules(out, spare, '\'')
           && moses_run_pass(split_full_stops, out, spare)
           && moses_run_pass(split_last_quote, out, spare)
           && moses_run_pass(moses_escape, out, spare);
}

bool moses_tally(struct tally *s, struct str text)
{
    return moses_words(&s->text, &s->other, text, MOSES_HYPHENS_STAY)
           && fields_split(&s->words, strbuf_view(&s->text));
}
