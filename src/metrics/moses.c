/* moses.c - one pass over the text for each rule, in Moses' order.
 *
 * A rule sees what those before it wrote, blanks included, and takes the
 * characters it looked at: after "a,b," has become "a , b," the next try
 * begins at "b". That order, not each rule, makes the odd cases come out as
 * they do there. Blanks are therefore kept double until the words are cut. */
#include "metrics/moses.h"

#include <utf8proc.h>

#include "text/utf8.h"

/* ---- characters --------------------------------------------------------- */

enum {
    C_ALPHA = 1,
    C_DIGIT = 2,
    C_NUMBER = 4,               /* digits, and those like U+00BD */
    C_LOWER = 8,
    C_ALNUM = C_ALPHA | C_DIGIT
};

static unsigned class_of_wide(uint32_t cp)
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

static unsigned moses_class_of(uint32_t cp)
{
    if (cp >= 0x80) return class_of_wide(cp);
    if (cp - '0' < 10) return C_DIGIT | C_NUMBER;
    if (cp - 'a' < 26) return C_ALPHA | C_LOWER;
    return cp - 'A' < 26 ? C_ALPHA : 0;
}

/* The class of the character at `at`; its length in *len. */
static unsigned class_at(struct str s, size_t at, int *len)
{
    return moses_class_of(utf8_next(s.p + at, s.n - at, len));
}

static bool moses_add(struct strbuf *out, struct str s, size_t at, size_t n)
{
    return strbuf_add(out, s.p + at, n);
}

static bool add_apart(struct strbuf *out, struct str s, size_t at, size_t n)
{
    return strbuf_addc(out, ' ') && moses_add(out, s, at, n)
           && strbuf_addc(out, ' ');
}

/* ---- the passes --------------------------------------------------------- */

static bool stays_in_words(uint32_t cp)
{
    return (cp < 0x80 && cp && strchr(".'`,-", (int)cp))
           || moses_class_of(cp) & C_ALNUM;
}

/* White space becomes single blanks, none at the ends; control characters go;
 * what is not of words stands alone. */
static bool clean(struct strbuf *out, struct str in)
{
    bool blank = false, begun = false;
    int len;

    for (size_t at = 0; at < in.n; at += (size_t)len) {
        uint32_t cp = utf8_next(in.p + at, in.n - at, &len);
        bool inside;

        if (fields_is_space(cp) && !(cp >= 0x1C && cp <= 0x1F)) blank = true;
        else if (cp >= 0x20) {
            inside = stays_in_words(cp);
            if (begun && blank && !strbuf_addc(out, ' ')) return false;
            blank = false;
            begun = true;
            if (!(inside ? moses_add(out, in, at, (size_t)len)
                         : add_apart(out, in, at, (size_t)len)))
                return false;
        }
    }
    return true;
}

static bool is_split_hyphen(struct str in, size_t at, unsigned before)
{
    int len;

    return in.p[at] == '-' && before & C_ALNUM && at + 1 < in.n
           && class_at(in, at + 1, &len) & C_ALNUM;
}

static bool split_hyphens(struct strbuf *out, struct str in)
{
    unsigned before = 0;
    int len;

    for (size_t at = 0; at < in.n; at += (size_t)len) {
        unsigned here = class_at(in, at, &len);

        if (!(is_split_hyphen(in, at, before)
                  ? strbuf_adds(out, " @-@ ")
                  : moses_add(out, in, at, (size_t)len)))
            return false;
        before = here;
    }
    return true;
}

/* Two dots or more are a word. */
static bool split_dots(struct strbuf *out, struct str in)
{
    for (size_t at = 0, n; at < in.n; at += n) {
        for (n = 0; at + n < in.n && in.p[at + n] == '.';) n++;
        if (n > 1) {
            if (!add_apart(out, in, at, n)) return false;
            continue;
        }
        n = 1;
        if (!moses_add(out, in, at, n)) return false;
    }
    return true;
}

/* What may stand beside a mark for a rule to hold. */
enum moses_side {
    SIDE_NONE,                  /* the rule does not look */
    SIDE_ALPHA, SIDE_NOT_ALPHA,
    SIDE_NUMBER, SIDE_NOT_NUMBER,
    SIDE_NEITHER,               /* of the two */
    SIDE_S                      /* the letter of "1990's" */
};

/* left mark right: a blank before the mark, and one behind it or not. */
struct rule {
    enum moses_side left, right;
    char mark;
    bool right_stays;
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

static bool moses_fits(enum moses_side side, uint32_t cp)
{
    unsigned c = moses_class_of(cp);

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

/* Bytes a side takes at `at`; false: it does not fit. */
static bool take_side(enum moses_side side, struct str in, size_t at, size_t *n)
{
    int len;

    *n = 0;
    if (side == SIDE_NONE) return true;
    if (at >= in.n || !moses_fits(side, utf8_next(in.p + at, in.n - at, &len)))
        return false;
    *n = (size_t)len;
    return true;
}

/* Bytes before and behind the mark where the rule holds at `at`. */
static bool rule_holds(const struct rule *r, struct str in, size_t at,
                       size_t *left, size_t *right)
{
    return take_side(r->left, in, at, left) && at + *left < in.n
           && in.p[at + *left] == r->mark
           && take_side(r->right, in, at + *left + 1, right);
}

static bool moses_apply(const struct rule *r, struct strbuf *out, struct str in)
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

/* Abbreviations whose full stop is part of them, by Moses' list for English;
 * single capitals are too. */
static const char *const always[] = {
    "Adj", "Adm", "Adv", "Apr", "Asst", "Aug", "Bart", "Bldg", "Brig", "Bros",
    "Capt", "Cmdr", "Col", "Comdr", "Con", "Corp", "Cpl", "DR", "Dec", "Dr",
    "Drs", "Ens", "Feb", "Gen", "Gov", "Hon", "Hosp", "Hr", "Insp", "Jan",
    "Jul", "Jun", "Lt", "MM", "MR", "MRS", "MS", "Maj", "Mar", "Messrs",
    "Mlle", "Mme", "Mr", "Mrs", "Ms", "Msgr", "Nos", "Nov", "Nr", "Oct", "Op",
    "Ord", "Pfc", "Ph", "Prof", "Pvt", "Rep", "Reps", "Res", "Rev", "Rs", "Rt",
    "Sen", "Sens", "Sep", "Sfc", "Sgt", "Sr", "St", "Supt", "Surg", "rev",
    "v", "vs", NULL
};
static const char *const before_digits[] = { "Art", "No", "pp", NULL };

static bool moses_listed(const char *const *list, struct str word)
{
    for (; *list; list++)
        if (str_eq(str_of(*list), word)) return true;
    return false;
}

static bool is_abbreviation(struct str word)
{
    return (word.n == 1 && word.p[0] >= 'A' && word.p[0] <= 'Z')
           || moses_listed(always, word);
}

static bool has_dot_and_letter(struct str word)
{
    int len;

    if (!memchr(word.p, '.', word.n)) return false;
    for (size_t at = 0; at < word.n; at += (size_t)len)
        if (class_at(word, at, &len) & C_ALPHA) return true;
    return false;
}

/* `next` begins behind the word's blank; another blank there means that the
 * word that follows has been set apart. */
static bool keeps_stop(struct str word, struct str next)
{
    int len;

    return has_dot_and_letter(word) || is_abbreviation(word)
           || (next.n && class_at(next, 0, &len) & C_LOWER)
           || (moses_listed(before_digits, word) && next.n
               && next.p[0] >= '0' && next.p[0] <= '9');
}

static bool is_dots(struct str word)
{
    size_t n = 0;

    while (n < word.n && word.p[n] == '.') n++;
    return n == word.n;
}

/* The last word never keeps its full stop. */
static bool splits_stop(struct str word, struct str rest)
{
    size_t blanks = 0;

    if (word.n < 2 || word.p[word.n - 1] != '.' || is_dots(word)) return false;
    while (blanks < rest.n && rest.p[blanks] == ' ') blanks++;
    return blanks == rest.n
           || !keeps_stop((struct str){ word.p, word.n - 1 },
                          (struct str){ rest.p + 1, rest.n - 1 });
}

static bool moses_add_word(struct strbuf *out, struct str word, bool split)
{
    if (out->len && !strbuf_addc(out, ' ')) return false;
    return split ? moses_add(out, word, 0, word.n - 1) && strbuf_adds(out, " .")
                 : moses_add(out, word, 0, word.n);
}

static bool cut_words(struct strbuf *out, struct str in)
{
    size_t end;

    for (size_t at = 0; at < in.n; at = end) {
        const char *blank = memchr(in.p + at, ' ', in.n - at);
        struct str word, rest;

        end = blank ? (size_t)(blank - in.p) : in.n;
        word = (struct str){ in.p + at, end - at };
        rest = (struct str){ in.p + end, in.n - end };
        if (word.n && !moses_add_word(out, word, splits_stop(word, rest)))
            return false;
        if (blank) end++;
    }
    return true;
}

/* ---- the end ------------------------------------------------------------ */

static const char *moses_escape_of(char c)
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
        const char *e = moses_escape_of(in.p[i]);

        if (!(e ? strbuf_adds(out, e) : strbuf_addc(out, in.p[i])))
            return false;
    }
    return true;
}

/* A last apostrophe has nothing behind it that a rule could look at. */
static bool split_last(struct strbuf *out, struct str in)
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

typedef bool pass_fn(struct strbuf *out, struct str in);

static void moses_swap(struct strbuf *a, struct strbuf *b)
{
    struct strbuf keep = *a;

    *a = *b;
    *b = keep;
}

static bool moses_run(pass_fn *fn, struct strbuf *out, struct strbuf *spare)
{
    strbuf_reset(spare);
    if (!fn(spare, strbuf_view(out))) return false;
    moses_swap(out, spare);
    return true;
}

static bool run_rules(struct strbuf *out, struct strbuf *spare, char mark)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].mark != mark || !memchr(out->data, mark, out->len))
            continue;
        strbuf_reset(spare);
        if (!moses_apply(&rules[i], spare, strbuf_view(out))) return false;
        moses_swap(out, spare);
    }
    return true;
}

bool moses_words(struct strbuf *out, struct strbuf *spare, struct str text,
                 enum moses_hyphens hyphens)
{
    strbuf_reset(out);
    if (!clean(out, text)) return false;
    if (hyphens == MOSES_HYPHENS_SPLIT && !moses_run(split_hyphens, out, spare))
        return false;
    return moses_run(split_dots, out, spare) && run_rules(out, spare, ',') &&
           moses_run(split_last_comma, out, spare) &&
           run_rules(out, spare, '\'') && moses_run(cut_words, out, spare) &&
           moses_run(split_last, out, spare) &&
           moses_run(moses_escape, out, spare);
}

bool moses_tally(struct tally *s, struct str text)
{
    return moses_words(&s->text, &s->other, text, MOSES_HYPHENS_STAY)
           && fields_split(&s->words, strbuf_view(&s->text));
}
