/* moses_detokenize.c - joins words, each by the first rule that applies to it.
 *
 * The rules look at the word, at its neighbors, and at how often a quotation
 * mark has occurred. What they decide is whether there is a space before the
 * word, and whether there may be one after it. */
#include "text/moses_detokenize.h"

#include <string.h>
#include <strings.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/map64.h"
#include "text/moses_rules.h"
#include "text/utf8.h"

/* ---- words -------------------------------------------------------------- */

/* A word of the text, which ends at a space or at the end. */
static struct str word_at(const struct aligned_text *t, size_t at)
{
    const char *hit = at < t->n ? memchr(t->text + at, ' ', t->n - at) : NULL;

    if (at >= t->n) return (struct str){ t->text, 0 };
    return (struct str){ t->text + at,
                         hit ? (size_t)(hit - t->text) - at : t->n - at };
}

static uint32_t first_char(struct str word)
{
    int len;

    return word.n ? utf8_next(word.p, word.n, &len) : 0;
}

static uint32_t last_char(struct str word)
{
    size_t at = word.n;
    int len;

    if (!word.n) return 0;
    do at--;
    while (at && ((unsigned char)word.p[at] & 0xC0) == 0x80);
    return utf8_next(word.p + at, word.n - at, &len);
}

/* Whether the word is not empty and has only characters of the list. */
static bool consists_of(struct str word, const char *chars)
{
    for (size_t i = 0; i < word.n; i++)
        if (!word.p[i] || !strchr(chars, word.p[i])) return false;
    return word.n > 0;
}

static bool word_is(struct str word, const char *text)
{
    return str_eq(word, str_of(text));
}

/* ---- which rule --------------------------------------------------------- */

/* The words around one, and what came before. */
struct joiner {
    struct aligned_work *w;
    const struct moses_language *l;
    struct str before2, before, word, after, after2;
    struct str last, last2;     /* the last two words of the text */
    bool has_after3;            /* there is a third word after it */
    bool space_due;             /* there may be a space before the word */
    struct map64 quotes;        /* how often each mark has occurred */
};

static bool has_class(const struct joiner *j, uint32_t cp, unsigned class)
{
    return cp && moses_class(&j->l->alphabet, cp) & class;
}

static bool is_opening(const struct joiner *j)
{
    int len;

    for (size_t i = 0; i < j->word.n; i += (size_t)len) {
        uint32_t cp = utf8_next(j->word.p + i, j->word.n - i, &len);

        if (cp != '(' && cp != '[' && cp != '{' && cp != 0xBF && cp != 0xA1
            && !has_class(j, cp, MC_CURRENCY)) return false;
    }
    return j->word.n > 0;
}

static bool is_quote(struct str word)
{
    int len;

    for (size_t i = 0; i < word.n; i += (size_t)len) {
        uint32_t cp = utf8_next(word.p + i, word.n - i, &len);

        if (cp != '\'' && cp != '"' && cp != '`' && cp != 0x201E
            && cp != 0x201C) return false;
    }
    return word.n > 0;
}

/* English: "'s" after a word. The port does not look at that word. */
static bool is_contraction(const struct joiner *j)
{
    struct str rest = { j->word.p + 1, j->word.n - 1 };

    return moses_language_is(j->l, "en") && j->word.n > 1
           && *j->word.p == '\'' && has_class(j, first_char(rest), MC_ALPHA)
           && j->before.n && (!j->l->alphabet.perl
                              || has_class(j, last_char(j->before), MC_ALNUM));
}

/* French: "l'" before a word. */
static bool is_elision(const struct joiner *j)
{
    const char *const *code, *const perl[] = { "fr", "it", NULL };
    const char *const port[] = { "fr", "it", "ga", NULL };
    struct str stem = { j->word.p, j->word.n - 1 };

    for (code = j->l->alphabet.perl ? perl : port; *code; code++)
        if (moses_language_is(j->l, *code)) break;
    return *code && j->word.n > 1 && j->word.p[j->word.n - 1] == '\''
           && has_class(j, last_char(stem), MC_ALPHA)
           && has_class(j, first_char(j->after), MC_ALPHA);
}

/* Czech: the digits after "3 ,". The port looks at the last two words of the
 * text instead. */
static bool is_fraction(const struct joiner *j)
{
    static const char digits[] = "0123456789";
    bool perl = j->l->alphabet.perl;
    struct str whole = perl ? j->before2 : j->last2;
    struct str mark = perl ? j->before : j->last;

    return moses_language_is(j->l, "cs") && j->before2.n
           && consists_of(whole, digits)
           && (word_is(mark, ".") || word_is(mark, ","))
           && consists_of(j->word, digits);
}

/* Czech: the word before "- li" or "- mail". */
static bool is_before_dash(const struct joiner *j)
{
    struct str next = j->after2;

    return moses_language_is(j->l, "cs") && j->l->alphabet.perl
           && has_class(j, last_char(j->word), MC_ALPHA)
           && (word_is(j->after, "-") || word_is(j->after, "\u2013"))
           && j->has_after3
           && ((next.n == 2 && !strncasecmp(next.p, "li", 2))
               || (next.n >= 4 && !strncasecmp(next.p, "mail", 4)));
}

/* Finnish endings that follow a colon: "EU:ssa". A case, and perhaps an owner
 * and a particle. */
static bool begins_with(struct str word, const char *text, struct str *rest)
{
    size_t n = strlen(text);

    if (word.n < n || memcmp(word.p, text, n)) return false;
    *rest = (struct str){ word.p + n, word.n - n };
    return true;
}

static bool is_finnish_ending(struct str word)
{
    static const char *const cases[] = {
        "n", "a", "ä", "ssa", "ssä", "sta", "stä", "hun", "hyn", "han", "hän",
        "hön", "un", "yn", "an", "än", "ön", "seen", "lla", "llä", "lta",
        "ltä", "lle", "ksi", "kse", "tta", "ine", NULL
    };
    static const char *const owners[] = {
        "", "ni", "si", "mme", "nne", "nsa", NULL
    };
    static const char *const particles[] = {
        "", "ko", "kö", "han", "hän", "pa", "pä", "kaan", "kään", "kin", NULL
    };
    struct str mine, rest;

    for (int c = 0; cases[c]; c++) {
        if (!begins_with(word, cases[c], &mine)) continue;
        for (int o = 0; owners[o]; o++) {
            if (!begins_with(mine, owners[o], &rest)) continue;
            for (int p = 0; particles[p]; p++)
                if (word_is(rest, particles[p])) return true;
        }
    }
    return false;
}

static bool is_ending_after_colon(const struct joiner *j)
{
    char text[48];
    size_t n;
    int len;

    if (!moses_language_is(j->l, "fi") || !j->l->alphabet.perl
        || last_char(j->before) != ':' || !j->word.n || j->word.n > 30)
        return false;
    n = moses_lower(utf8_next(j->word.p, j->word.n, &len), text);
    memcpy(text + n, j->word.p + len, j->word.n - (size_t)len);
    n += j->word.n - (size_t)len;
    return is_finnish_ending((struct str){ text, n });
}

/* ---- what the rules do -------------------------------------------------- */

static size_t offset_of(const struct joiner *j, struct str word)
{
    return (size_t)(word.p - j->w->now.text);
}

static void write_space_before(struct joiner *j, struct str word)
{
    const struct aligned_text *out = &j->w->next;

    if (out->n && out->text[out->n - 1] != ' ')
        aligned_put(j->w, " ", 1, offset_of(j, word));
}

static void write_word(struct joiner *j, struct str word)
{
    size_t at = offset_of(j, word);

    aligned_keep(j->w, at, at + word.n);
}

/* Write the word without a space before it. */
static void attach(struct joiner *j)
{
    write_word(j, j->word);
    j->space_due = true;
}

/* Write the word with a space before it, if one is due. after: there may be a
 * space after it. */
static void write_apart(struct joiner *j, bool after)
{
    if (j->space_due) write_space_before(j, j->word);
    write_word(j, j->word);
    j->space_due = after;
}

static void write_in_lower_case(struct joiner *j)
{
    char lower[MOSES_CASE_MAX];
    int len;

    for (size_t i = 0; i < j->word.n; i += (size_t)len) {
        uint32_t cp = utf8_next(j->word.p + i, j->word.n - i, &len);

        aligned_put(j->w, lower, moses_lower(cp, lower),
                    offset_of(j, j->word) + i);
    }
    j->space_due = true;
}

static void join_cjk(struct joiner *j)
{
    bool joins = j->before.n && moses_is_cjk(last_char(j->before))
                 && !moses_language_is(j->l, "ko");

    if (joins) attach(j);
    else write_apart(j, true);
}

static void join_closing(struct joiner *j)
{
    if (moses_language_is(j->l, "fr") && j->word.n == 1
        && strchr("?!:;\\%", *j->word.p))
        write_space_before(j, j->word);
    attach(j);
}

/* Marks of the same kind open and close in turn. Low and high quotation marks
 * are of one kind with '"'. */
static void join_quote(struct joiner *j)
{
    bool curly = !memchr(j->word.p, '\'', j->word.n)
                 && !memchr(j->word.p, '"', j->word.n)
                 && !memchr(j->word.p, '`', j->word.n), fresh;
    struct str kind = curly ? str_of("\"") : j->word;
    uint32_t *count = map64_put(&j->quotes, XXH3_64bits(kind.p, kind.n),
                                &fresh);

    if (!count) {
        j->w->failed = true;
        return;
    }
    if (moses_language_is(j->l, "cs")) {
        if (word_is(j->word, "\u201E")) *count = 0;
        if (word_is(j->word, "\u201C")) *count = 1;
    }
    if (*count % 2) {
        attach(j);
        ++*count;
    } else if (moses_language_is(j->l, "en") && word_is(j->word, "'")
               && last_char(j->before) == 's') {
        attach(j);              /* "the Jones' house" */
    } else {
        write_apart(j, false);
        ++*count;
    }
}

/* Returns whether the next word was written, too. */
static bool join_word(struct joiner *j)
{
    bool ko = moses_language_is(j->l, "ko");

    if (moses_is_cjk(first_char(j->word)) && (j->l->alphabet.perl || !ko))
        join_cjk(j);
    else if (is_opening(j)) write_apart(j, false);
    else if (consists_of(j->word, ",.?!:;\\%}])")) join_closing(j);
    else if (is_contraction(j) || is_fraction(j)) attach(j);
    else if (is_elision(j)) write_apart(j, false);
    else if (is_before_dash(j)) {
        write_apart(j, false);
        write_word(j, j->after);
        return true;
    } else if (is_quote(j->word)) join_quote(j);
    else if (is_ending_after_colon(j)) write_in_lower_case(j);
    else write_apart(j, true);
    return false;
}

/* ---- the text ----------------------------------------------------------- */

static size_t next_word(const struct joiner *j, struct str word)
{
    const struct aligned_text *t = &j->w->now;
    size_t at = offset_of(j, word) + word.n + 1;

    /* The port knows no empty words. */
    while (!j->l->alphabet.perl && at < t->n && t->text[at] == ' ') at++;
    return at;
}

/* Sets the words after j->word. */
static void find_next_words(struct joiner *j)
{
    const struct aligned_text *t = &j->w->now;
    struct str third;

    j->after = word_at(t, next_word(j, j->word));
    j->after2 = j->after.n ? word_at(t, next_word(j, j->after)) : j->after;
    third = j->after2.n ? word_at(t, next_word(j, j->after2)) : j->after2;
    j->has_after3 = j->after2.n && third.n;
}

/* Find the last two words, for is_fraction(). */
static void find_last_words(struct joiner *j)
{
    const struct aligned_text *t = &j->w->now;
    size_t at = 0;

    if (j->l->alphabet.perl || !moses_language_is(j->l, "cs")) return;
    while (at < t->n) {
        struct str word = word_at(t, at);

        if (word.n) {
            j->last2 = j->last;
            j->last = word;
        }
        at += word.n + 1;
    }
}

static void join_words(struct aligned_work *w, const struct moses_language *l)
{
    struct joiner j = { .w = w, .l = l, .space_due = true };
    struct aligned_text *out = &w->next;
    size_t at = 0, next;

    find_last_words(&j);
    aligned_begin(w);
    for (; at < w->now.n && !w->failed; at = next) {
        bool both;

        j.word = word_at(&w->now, at);
        next = at + j.word.n + 1;
        if (!j.word.n) {
            if (!l->alphabet.perl) continue;
            if (j.space_due) write_space_before(&j, j.word);
            j.space_due = true;
            j.before2 = j.before;
            j.before = j.word;
            continue;
        }
        find_next_words(&j);
        both = join_word(&j);
        j.before2 = both ? j.word : j.before;
        j.before = both ? j.after : j.word;
        if (both) next = offset_of(&j, j.after) + j.after.n + 1;
    }
    while (out->n && out->text[out->n - 1] == ' ') out->n--;
    aligned_end(w);
    map64_release(&j.quotes);
}

static const struct moses_rule dashes_joined[] = { R(" @-@ ", "-") };

/* " @-@ " becomes "-", also at the ends of the text. */
static void join_dashes(struct aligned_work *w)
{
    static const struct moses_alphabet any = { .perl = true };

    if (!memmem(w->now.text, w->now.n, "@-@", 3)) return;
    aligned_begin(w);
    aligned_put(w, " ", 1, 0);
    aligned_keep(w, 0, w->now.n);
    aligned_put(w, " ", 1, w->now.n);
    aligned_end(w);
    MOSES_APPLY(w, dashes_joined, &any);
}

static void unescape(struct aligned_work *w)
{
    static const struct { const char *entity, *into; } known[] = {
        { "&bar;", "|" }, { "&#124;", "|" }, { "&lt;", "<" }, { "&gt;", ">" },
        { "&bra;", "[" }, { "&ket;", "]" }, { "&quot;", "\"" },
        { "&apos;", "'" }, { "&#91;", "[" }, { "&#93;", "]" }, { "&amp;", "&" }
    };
    const struct aligned_text *t = &w->now;
    size_t kept = 0;

    if (w->failed || !memchr(t->text, '&', t->n)) return;
    aligned_begin(w);
    for (size_t at = 0; at < t->n; at++) {
        struct str rest = { t->text + at, t->n - at };

        if (*rest.p != '&') continue;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (!begins_with(rest, known[i].entity, &rest)) continue;
            aligned_keep(w, kept, at);
            aligned_put(w, known[i].into, 1, at);
            kept = t->n - rest.n;
            at = kept - 1;
            break;
        }
    }
    aligned_keep(w, kept, t->n);
    aligned_end(w);
}

void moses_detokenize(struct aligned_work *w, const struct moses_language *l)
{
    if (w->failed) return;
    join_dashes(w);
    unescape(w);
    if (!w->failed) join_words(w, l);
}

/* ---- case --------------------------------------------------------------- */

bool moses_ends_sentence(struct str word)
{
    return word.n == 1 && memchr(".:?!", *word.p, 4);
}

bool moses_delays_sentence(struct str word)
{
    static const char *const entities[] = {
        "&quot;", "&apos;", "&#91;", "&#93;"
    };

    if (word.n == 1) return memchr("([\"'", *word.p, 4);
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (word_is(word, entities[i])) return true;
    return false;
}

void moses_detruecase(struct aligned_work *w)
{
    const struct aligned_text *t = &w->now;
    bool start = true;
    char upper[MOSES_CASE_MAX];
    size_t kept = 0;
    int len;

    if (w->failed) return;
    aligned_begin(w);
    for (size_t at = 0; at < t->n;) {
        struct str word = word_at(t, at);

        if (start && word.n) {
            uint32_t cp = utf8_next(word.p, word.n, &len);

            aligned_keep(w, kept, at);
            aligned_put(w, upper, moses_upper(cp, upper), at);
            kept = at + (size_t)len;
        }
        if (word.n && !moses_delays_sentence(word))
            start = moses_ends_sentence(word);
        at += word.n + 1;
    }
    aligned_keep(w, kept, t->n);
    aligned_end(w);
}
