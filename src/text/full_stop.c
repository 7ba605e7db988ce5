/* full_stop.c - decides by the words around a full stop, with the lists of the
 * language. It reads one word on each side, and the quotes and brackets before
 * the next word. */
#include "text/full_stop.h"

#include <string.h>
#include <utf8proc.h>

#include "text/punct.h"
#include "text/utf8.h"

static uint32_t char_of(struct str text, size_t at, int *len)
{
    return utf8_next(text.p + at, text.n - at, len);
}

/* ---- the text after a stop ----------------------------------------------- */

/* Whether a word of LIST_STARTER is at `at`. A single letter before a full stop
 * is an initial. */
static bool is_starter(const struct sentence_rules *r, struct str text,
                       size_t at)
{
    char word[STOP_WORD_MAX + 5];
    size_t n = 0;
    int len, chars = 0;

    for (; at < text.n && n < STOP_WORD_MAX; at += (size_t)len, chars++) {
        if (!punct_is_letter(char_of(text, at, &len))) break;
        memcpy(word + n, text.p + at, (size_t)len);
        n += (size_t)len;
    }
    word[n] = '\0';
    if (chars == 1 && at < text.n && text.p[at] == '.') return false;
    return n && sentence_rules_have(r, LIST_STARTER, word);
}

/* Whether one space may follow an opener. A quote that is followed by a space
 * is a closing one, except in French typography. */
static bool space_may_follow(uint32_t opener, bool first)
{
    return !punct_is_quote(opener) ||
           (first && (opener == 0xAB || opener == 0x2039));
}

/* Skips the quotes, brackets, dashes and bullets at *at, where *cp is. Returns
 * the last one; 0 if there is none. */
static uint32_t skip_openers(struct str text, size_t *at, uint32_t *cp,
                             int *len)
{
    uint32_t last = 0;

    for (int i = 0; i < 4 && *at < text.n && punct_is_opener(*cp); i++) {
        last = *cp;
        *at += (size_t)*len;
        if (*at < text.n) *cp = char_of(text, *at, len);
        if (*at < text.n && space_may_follow(last, i == 0) &&
            (*cp == ' ' || *cp == 0xA0 || *cp == 0x202F)) {
            *at += (size_t)*len;
            if (*at < text.n) *cp = char_of(text, *at, len);
        }
    }
    return last;
}

/* A sentence may begin with "'n" in Afrikaans and with "'s" or "'t" in Dutch;
 * then the next word has the capital. Returns where that is. */
static size_t skip_clitic(struct str text, size_t at, uint32_t apostrophe)
{
    if ((apostrophe == '\'' || apostrophe == 0x2019) && text.n - at > 2 &&
        memchr("nst", text.p[at], 3) && text.p[at + 1] == ' ')
        return at + 2;
    return at;
}

struct next_text next_text_at(const struct sentence_rules *r, struct str text,
                              size_t at)
{
    struct next_text f = { .space = at == text.n };
    uint32_t cp = 0, opener;
    int len = 0;

    for (; at < text.n && punct_is_space(cp = char_of(text, at, &len));
         at += (size_t)len)
        f.space = true;
    opener = skip_openers(text, &at, &cp, &len);
    f.bracket = opener != 0;
    if (at == text.n) return f;
    at = skip_clitic(text, at, opener);
    cp = char_of(text, at, &len);
    f.digit = punct_is_digit(cp);
    f.plausible = f.digit || punct_is_initial(cp);
    f.starter = f.plausible && is_starter(r, text, at);
    return f;
}

/* ---- the word before a full stop ----------------------------------------- */

struct stop_word {
    char raw[STOP_WORD_MAX + 1];        /* this and `lower` are "" if the word
                                           is longer than any in a list */
    char lower[STOP_WORD_MAX + 5];
    int n_chars, n_digits, n_dots, n_hyphens;
    int n_roman, n_small;       /* capitals and small letters of Roman
                                   numerals; small ones up to x only */
    bool capital;               /* begins with a capital */
    bool syllables;             /* begins with a letter that may be a word */
    bool dotted;                /* single letters between dots and hyphens:
                                   "U.S", "J.-P" */
};

static bool is_one_of(uint32_t cp, const char *letters)
{
    return cp && cp < 0x80 && strchr(letters, (int)cp);
}

static void read_stop_word(struct stop_word *w, struct str s)
{
    size_t out = 0, letters = 0;
    bool single = true;
    int len;

    memset(w, 0, sizeof *w);
    if (s.n > STOP_WORD_MAX) {
        w->n_chars = STOP_WORD_MAX;
        return;
    }
    memcpy(w->raw, s.p, s.n);
    for (size_t i = 0; i < s.n; i += (size_t)len) {
        uint32_t cp = char_of(s, i, &len);

        if (cp == 0x06D4) cp = '.';

        if (i == 0) {
            w->capital = punct_is_initial(cp) && !punct_is_uncased(cp);
            w->syllables = punct_is_syllable(cp);
        }
        w->n_chars++;
        w->n_digits += punct_is_digit(cp);
        w->n_roman += is_one_of(cp, "IVXLCDM");
        w->n_small += is_one_of(cp, "ivx");
        w->n_dots += cp == '.';
        w->n_hyphens += cp == '-';
        letters = cp == '.' || cp == '-' ? 0 : letters + 1;
        if (letters > 1) single = false;
        if (out <= STOP_WORD_MAX)
            out += (size_t)utf8_put(w->lower + out, (uint32_t)
                                    utf8proc_tolower((utf8proc_int32_t)cp));
    }
    w->lower[out <= STOP_WORD_MAX ? out : 0] = '\0';
    w->dotted = w->n_dots && single;
}

/* Returns the part after the last hyphen, dot or apostrophe: "ing" of
 * "dipl.-ing", "av" of "l'av". */
static const char *last_part(const char *word)
{
    static const char quote[] = "\u2019";
    const char *part = word;

    for (const char *p = word; *p; p++) {
        if ((*p == '-' || *p == '.' || *p == '\'') && p[1]) part = p + 1;
        if (!strncmp(p, quote, 3) && p[3]) part = p + 3;
    }
    return part;
}

static bool word_listed(const struct sentence_rules *r,
                        enum sentence_list list, const struct stop_word *w)
{
    return sentence_rules_have(r, list, w->lower) ||
           sentence_rules_have(r, list, w->raw);
}

static bool part_listed(const struct sentence_rules *r,
                        enum sentence_list list, const struct stop_word *w)
{
    return sentence_rules_have(r, list, last_part(w->lower)) ||
           sentence_rules_have(r, list, last_part(w->raw));
}

/* A number: "3", "12", "1990", "3.4", "9.-10". At the beginning of a sentence
 * it numbers an item. In a language with ordinals, a number of one or two
 * characters may be one ("am 3. Mai") and never ends the sentence. A longer one
 * ends it before a starter; before another word it does so only if it has no
 * dots inside and nouns are not capitalized. */
static bool number_ends(const struct sentence_rules *r,
                        const struct stop_word *w, bool first,
                        const struct next_text *next)
{
    if (first || (r->flags & SPLIT_DATES && next->digit)) return false;
    if (!(r->flags & SPLIT_ORDINALS)) return true;
    if (next->starter) return w->n_chars > 2;
    return w->n_chars > 2 && !w->n_dots && !(r->flags & SPLIT_NOUNS);
}

/* A single character: an initial, or a part of "z. B.". A syllable may be a
 * word; at the beginning of a sentence it numbers an item. */
static bool single_ends(const struct sentence_rules *r,
                        const struct stop_word *w, bool first,
                        const struct next_text *next)
{
    if (w->syllables) return !first;
    return !first && next->starter && word_listed(r, LIST_MAYBE, w);
}

/* A word that is in no list. A short one before a number is probably an
 * abbreviation all the same, as in "Cpt. 12". */
static bool unlisted_ends(const struct stop_word *w,
                          const struct next_text *next)
{
    if (w->syllables || !next->digit) return true;
    return w->n_chars > (w->capital ? 4 : 2);
}

bool full_stop_in_word(uint32_t cp)
{
    return punct_is_letter(cp) || punct_is_digit(cp) || cp == '-' ||
           cp == '\'' || cp == 0x2019 || cp == 0x200C || cp == 0x200D;
}

bool full_stop_ends(const struct sentence_rules *r, struct str word, bool first,
                    const struct next_text *next)
{
    struct stop_word w;

    if (r->flags & SPLIT_NO_DOTS) return false;
    read_stop_word(&w, word);
    if (w.n_digits && w.n_digits + w.n_dots + w.n_hyphens == w.n_chars)
        return number_ends(r, &w, first, next);
    if (w.n_chars == 1) return single_ends(r, &w, first, next);
    /* "ii. The second"; but "vi" is a word of several languages. */
    if (w.n_small == w.n_chars && (first || strcmp(w.lower, "vi")))
        return false;
    /* Roman numerals: item numbers, and ordinals ("Ludwig XIV. war"). */
    if (w.n_chars == w.n_roman && (first || r->flags & SPLIT_ORDINALS))
        return !first && next->starter;
    if (word_listed(r, LIST_NEVER, &w)) return false;
    if (w.dotted || word_listed(r, LIST_MAYBE, &w)) return next->starter;
    if (part_listed(r, LIST_NEVER, &w)) return false;
    if (part_listed(r, LIST_MAYBE, &w) ||
        sentence_rules_have_ending(r, w.lower))
        return next->starter;
    return unlisted_ends(&w, next);
}
