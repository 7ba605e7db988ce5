/* split.c - finds sentence and clause borders by rule.
 *
 * The text is read once, forward. At a run of stops (. ! ? ...) with the
 * closing quotes and brackets after it, the word before and the text after it
 * decide whether the sentence ends. Nothing looks further than a word, a few
 * brackets and one run of white space, so the time is linear for any text.
 *
 * Invariants of struct splitter: begin <= last <= t.len while a sentence is
 * open, and the spans of one call ascend without overlapping. */
#include "text/split.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/utf8.h"

#define WORD_MAX 40             /* bytes; longer words are in no list */

/* ---- word lists ---- */

/* A word in lower case matches in any case; a word with a capital matches only
 * as it is written here ("Mag. Huber", but "das mag ich"). An abbreviation in
 * a "never" list never ends a sentence. An abbreviation in a "maybe" list ends
 * one if a "starter" follows: a word that is rarely capitalized except at the
 * beginning of a sentence. */
static const char *const de_never[] = {
    "abg", "abzgl", "allg", "amerik", "arab", "autom", "betr", "bgm", "bspw",
    "bzgl", "bzw", "ca", "d.h", "dipl", "dr", "dt", "durchschn", "ehem",
    "einschl", "engl", "entspr", "evtl", "exkl", "Fa", "Fam", "frl", "frz",
    "geb", "gebr", "gegr", "gem", "gest", "ggf", "ggfs", "griech", "h.c",
    "habil", "hl", "horiz", "hr", "hrn", "i.a", "i.d.r", "i.h.v", "i.s.d",
    "i.v.m", "ing", "inkl", "insb", "insbes", "ital", "jur", "kgl", "lt",
    "m.e", "Mag", "med", "mind", "mittl", "möbl", "msgr", "nat", "o.g", "öff",
    "öffentl", "österr", "phil", "präs", "priv", "prof", "rer", "resp", "röm",
    "Rs", "s.o", "s.u", "sog", "sogen", "st", "staatl", "städt", "stellv",
    "stv", "techn", "u.u", "urspr", "v.a", "verh", "versch", "vgl", "vollst",
    "vorm", "vors", "z.b", "z.t", "z.zt", "zit", "zzgl", NULL
};
static const char *const de_maybe[] = {
    "a.d", "abb", "abl", "abs", "abschn", "abt", "anh", "anl", "anm", "anz",
    "apr", "art", "aufl", "aug", "ausg", "az", "bd", "bde", "bez", "bl", "bsp",
    "buchst", "chr", "co", "dergl", "dez", "dgl", "dok", "etc", "ev", "feb",
    "febr", "ff", "fn", "fr", "hbf", "Hd", "hrsg", "inc", "inst", "jan", "jg",
    "jh", "jhd", "jhdt", "jr", "jul", "jun", "kap", "kath", "lfd", "lit",
    "ltd", "mär", "max", "min", "mio", "mrd", "mwst", "nov", "nr", "nrn",
    "o.ä", "okt", "ph", "pkt", "rdnr", "ref", "rn", "rz", "sek", "sen", "sep",
    "sept", "slg", "sr", "std", "stk", "str", "tab", "tel", "tgl", "tsd",
    "u.ä", "u.a", "uabs", "univ", "urt", "usf", "usw", "vol", "wg", "ziff",
    "zt", "zz", "zzt", NULL
};
/* Endings of compounds that are "maybe" abbreviations: Unterabs., BGBl.,
 * Amtsbl., Hauptstr., GVBl., Gesetzbl. Plain "abs" or "bl" would be too broad:
 * des Maßstabs, Herr Strobl. */
static const char *const de_ending[] = {
    "erabs", "gbl", "sbl", "str", "vbl", "zbl", NULL
};
/* English, but also common in German text. */
static const char *const en_title[] = {
    "capt", "gov", "messrs", "mlle", "mme", "mr", "mrs", "Ms", "Mt", "rev",
    "sgt", "st", "supt", "vs", NULL
};
static const char *const en_never[] = {
    "adm", "approx", "cf", "cmdr", "cpl", "dr", "e.g", "eg", "gen", "hon",
    "i.e", "ie", "lt", "maj", "pres", "prof", "rep", "sen", "v.s", "viz", NULL
};
static const char *const en_maybe[] = {
    "al", "apr", "art", "assn", "aug", "ave", "blvd", "bros", "ch", "co",
    "col", "corp", "dec", "dept", "ed", "eds", "esq", "est", "etc", "ext",
    "feb", "fig", "figs", "ft", "inc", "jan", "jr", "jul", "jun", "lb", "lbs",
    "ltd", "mar", "max", "min", "mph", "no", "nos", "nov", "oct", "op", "oz",
    "para", "ph.d", "pp", "pt", "rd", "sec", "sect", "sep", "sept", "sr",
    "tel", "univ", "vol", "vols", NULL
};
static const char *const de_starter[] = {
    "Aber", "Alle", "Allerdings", "Als", "Also", "Am", "An", "Auch", "Auf",
    "Aus", "Außerdem", "Bei", "Beide", "Beim", "Bis", "Bisher", "Bitte", "Da",
    "Dabei", "Dadurch", "Dafür", "Dagegen", "Daher", "Damit", "Danach",
    "Daneben", "Dann", "Darauf", "Daraus", "Darin", "Darum", "Darüber", "Das",
    "Dass", "Davon", "Dazu", "Dem", "Den", "Denn", "Der", "Deren", "Des",
    "Deshalb", "Dessen", "Deswegen", "Die", "Dies", "Diese", "Diesem",
    "Diesen", "Dieser", "Dieses", "Doch", "Dort", "Durch", "Ein", "Eine",
    "Einem", "Einen", "Einer", "Eines", "Einige", "Er", "Es", "Für", "Gegen",
    "Gestern", "Heute", "Hier", "Hierbei", "Hierzu", "Ich", "Ihm", "Ihr",
    "Ihre", "Im", "In", "Insgesamt", "Ja", "Jede", "Jeder", "Jedes", "Jedoch",
    "Jetzt", "Kein", "Keine", "Leider", "Man", "Manche", "Mein", "Meine",
    "Mit", "Nach", "Nachdem", "Nein", "Nicht", "Noch", "Nun", "Nur", "Ob",
    "Obwohl", "Oder", "Ohne", "Schon", "Seine", "Seit", "Sie", "So", "Sobald",
    "Sofern", "Somit", "Sondern", "Später", "Trotzdem", "Über", "Um", "Und",
    "Unser", "Unsere", "Unter", "Viele", "Vom", "Von", "Vor", "Warum", "Was",
    "Weil", "Welche", "Welcher", "Welches", "Wenn", "Wer", "Wie", "Wir", "Wo",
    "Während", "Zu", "Zudem", "Zum", "Zur", "Zwar", NULL
};
static const char *const en_starter[] = {
    "A", "After", "All", "Also", "Although", "An", "And", "Another", "As",
    "At", "Because", "Before", "Both", "But", "By", "Each", "Even", "Every",
    "For", "From", "He", "Her", "Here", "His", "How", "However", "If", "In",
    "It", "Its", "Many", "Most", "My", "No", "Not", "Now", "On", "Once",
    "Only", "Or", "Our", "Please", "She", "Since", "So", "Some", "Such",
    "That", "The", "Their", "Then", "There", "Therefore", "These", "They",
    "This", "Those", "Thus", "To", "Under", "Until", "We", "What", "When",
    "Where", "Which", "While", "Who", "Why", "With", "Yes", "You", "Your",
    NULL
};

#define N_LISTS 3

struct rules {                  /* each array of lists ends with NULL */
    const char *const *never[N_LISTS], *const *maybe[N_LISTS];
    const char *const *ending[N_LISTS], *const *starter[N_LISTS];
    bool ordinals;              /* "3." may be "third" */
    bool nouns_capitalized;     /* nouns begin with a capital, so a capital
                                   does not show that a sentence begins */
};

static const struct rules de_rules = {
    { de_never, en_title }, { de_maybe }, { de_ending }, { de_starter },
    true, true
};
static const struct rules en_rules = {
    { en_never, en_title }, { en_maybe }, { NULL }, { en_starter },
    false, false
};
static const struct rules any_rules = {
    { de_never, en_never, en_title }, { de_maybe, en_maybe }, { de_ending },
    { de_starter, en_starter }, true, false
};

static bool split_listed(const char *const *const list[N_LISTS],
                         const char *word)
{
    for (int i = 0; i < N_LISTS && list[i]; i++)
        for (const char *const *w = list[i]; *w; w++)
            if (**w == *word && !strcmp(*w, word)) return true;
    return false;
}

static bool has_ending(const char *const *const list[N_LISTS],
                       const char *word)
{
    size_t n = strlen(word);

    for (int i = 0; i < N_LISTS && list[i]; i++)
        for (const char *const *w = list[i]; *w; w++) {
            size_t m = strlen(*w);

            if (n > m && !strcmp(word + n - m, *w)) return true;
        }
    return false;
}

/* ---- characters ---- */

static bool split_is_space(uint32_t cp)
{
    if (cp < 0x80) return cp == ' ' || (cp >= '\t' && cp <= '\r');
    return cp == 0x85 || cp == 0x2028 || cp == 0x2029 ||
           utf8proc_category((utf8proc_int32_t)cp) == UTF8PROC_CATEGORY_ZS;
}

/* The kinds of punctuation that may end a sentence. The order matters: if a run
 * has several kinds, join_stops gives it the last of them in this order. Two
 * full stops or more count as STOP_DOTS. */
enum stop { STOP_NONE, STOP_DOT, STOP_DOTS, STOP_MARK, STOP_WIDE };

static enum stop stop_of(uint32_t cp)
{
    switch (cp) {
    case '.': return STOP_DOT;
    case 0x2026: return STOP_DOTS;
    case '!': case '?':
    case 0x203C: case 0x203D: case 0x2047: case 0x2048: case 0x2049:
    case 0x0589:                                /* Armenian */
    case 0x061F: case 0x06D4:                   /* Arabic */
    case 0x0964: case 0x0965:                   /* danda */
    case 0x104B: case 0x1362: return STOP_MARK; /* Burmese, Ethiopic */
    case 0x3002: case 0xFF01: case 0xFF1F: case 0xFF61: return STOP_WIDE;
    default: return STOP_NONE;
    }
}

static bool is_quote(uint32_t cp)
{
    return cp == '"' || cp == '\'' || (cp >= 0x2018 && cp <= 0x201F) ||
           cp == 0xAB || cp == 0xBB || cp == 0x2039 || cp == 0x203A ||
           cp == 0x300D || cp == 0x300F;
}

static bool is_closer(uint32_t cp)
{
    if (is_quote(cp) || cp == ')' || cp == ']' || cp == '}') return true;
    return cp >= 0x80 &&
           utf8proc_category((utf8proc_int32_t)cp) == UTF8PROC_CATEGORY_PE;
}

/* Quotes, brackets, dashes and bullets that may stand before the first word of
 * a sentence. */
static bool may_precede_sentence(uint32_t cp)
{
    if (is_quote(cp) || cp == '(' || cp == '[' || cp == '-' || cp == '*' ||
        cp == 0xA1 || cp == 0xBF || cp == 0x2013 || cp == 0x2014 ||
        cp == 0x2022)
        return true;
    return cp >= 0x80 &&
           utf8proc_category((utf8proc_int32_t)cp) == UTF8PROC_CATEGORY_PS;
}

static bool split_is_digit(uint32_t cp)
{
    if (cp < 0x80) return cp >= '0' && cp <= '9';
    return utf8proc_category((utf8proc_int32_t)cp) == UTF8PROC_CATEGORY_ND;
}

static bool is_letter(uint32_t cp)
{
    utf8proc_category_t c;

    if (cp < 0x80) return (cp | 32) >= 'a' && (cp | 32) <= 'z';
    c = utf8proc_category((utf8proc_int32_t)cp);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_ME;
}

/* Returns whether cp is a capital, or a letter of a script without case. */
static bool is_capital(uint32_t cp)
{
    utf8proc_category_t c;

    if (cp < 0x80) return cp >= 'A' && cp <= 'Z';
    c = utf8proc_category((utf8proc_int32_t)cp);
    return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LT ||
           c == UTF8PROC_CATEGORY_LO;
}

/* ---- the text after a stop ---- */

struct split_text { const char *s; size_t len; };

static uint32_t split_char_at(struct split_text t, size_t at, int *len)
{
    return utf8_next(t.s + at, t.len - at, len);
}

struct next_text {
    bool space;                 /* white space, or the end of the text */
    bool plausible;             /* could be the beginning of a sentence */
    bool digit;                 /* begins with a digit */
    bool bracket;               /* begins with a quote or bracket */
    bool starter;               /* begins with a word of a starter list */
};

static bool read_starter(const struct rules *r, struct split_text t, size_t at)
{
    char word[WORD_MAX + 5];
    size_t n = 0;
    int len;

    while (at < t.len && n < WORD_MAX) {
        if (!is_letter(split_char_at(t, at, &len))) break;
        memcpy(word + n, t.s + at, (size_t)len);
        n += (size_t)len;
        at += (size_t)len;
    }
    word[n] = '\0';
    return n && split_listed(r->starter, word);
}

static struct next_text split_peek_next(const struct rules *r,
                                        struct split_text t, size_t at)
{
    struct next_text f = { .space = at == t.len };
    uint32_t cp = 0;
    int len = 0;

    for (; at < t.len && split_is_space(cp = split_char_at(t, at, &len));
         at += (size_t)len)
        f.space = true;
    for (int i = 0; i < 4 && at < t.len && may_precede_sentence(cp); i++) {
        bool space_may_follow = !is_quote(cp);

        f.bracket = true;
        at += (size_t)len;
        if (at < t.len) cp = split_char_at(t, at, &len);
        /* One space may follow a dash, bullet or bracket. A quote that is
         * followed by a space is a closing one. */
        if (space_may_follow && at < t.len && cp == ' ') {
            at++;
            if (at < t.len) cp = split_char_at(t, at, &len);
        }
    }
    if (at == t.len) return f;
    f.digit = split_is_digit(cp);
    f.plausible = f.digit || is_capital(cp);
    f.starter = f.plausible && read_starter(r, t, at);
    return f;
}

/* ---- the word before a full stop ---- */

struct split_word {
    char raw[WORD_MAX + 1];     /* this and `lower` are "" if the word is
                                   longer than any in a list */
    char lower[WORD_MAX + 5];
    int n_chars, n_digits, n_dots, n_roman;
    bool capital;               /* begins with a capital */
    bool dotted;                /* single letters between dots: "U.S" */
};

static bool is_roman(uint32_t cp)
{
    return cp && cp < 0x80 && strchr("IVXLCDM", (int)cp);
}

static void split_read_word(struct split_word *w, const char *s, size_t n)
{
    size_t out = 0, letters = 0;
    bool single = true;

    memset(w, 0, sizeof *w);
    if (n > WORD_MAX) {
        w->n_chars = WORD_MAX;
        return;
    }
    memcpy(w->raw, s, n);
    for (size_t i = 0; i < n;) {
        int len;
        uint32_t cp = utf8_next(s + i, n - i, &len);

        if (i == 0) w->capital = is_capital(cp);
        w->n_chars++;
        w->n_digits += split_is_digit(cp);
        w->n_roman += is_roman(cp);
        w->n_dots += cp == '.';
        letters = cp == '.' ? 0 : letters + 1;
        if (letters > 1) single = false;
        if (out <= WORD_MAX)
            out += (size_t)utf8_put(w->lower + out, (uint32_t)
                                    utf8proc_tolower((utf8proc_int32_t)cp));
        i += (size_t)len;
    }
    w->lower[out <= WORD_MAX ? out : 0] = '\0';
    w->dotted = w->n_dots && single;
}

/* Returns the part after the last hyphen or dot: "ing" of "dipl.-ing". */
static const char *last_part(const char *word)
{
    const char *part = word;

    for (const char *p = word; *p; p++)
        if ((*p == '-' || *p == '.') && p[1]) part = p + 1;
    return part;
}

static bool word_listed(const char *const *const list[N_LISTS],
                        const struct split_word *w)
{
    return split_listed(list, w->lower) || split_listed(list, w->raw);
}

static bool part_listed(const char *const *const list[N_LISTS],
                        const struct split_word *w)
{
    return split_listed(list, last_part(w->lower)) ||
           split_listed(list, last_part(w->raw));
}

/* Returns whether a full stop after the word s[0..n) ends the sentence, given
 * the text f that follows. `first` means that the word is the first of its
 * sentence; a number there numbers a list item or heading. */
static bool dot_ends(const struct rules *r, const char *s, size_t n,
                     bool first, const struct next_text *f)
{
    struct split_word w;

    split_read_word(&w, s, n);
    /* A number: "3", "12", "1990", "3.4". At the beginning of a sentence it
     * numbers an item. In a language with ordinals, a number of one or two
     * characters may be one ("am 3. Mai") and never ends the sentence. A longer
     * one ends it before a starter; before another word it does so only if it
     * has no dots inside and nouns are not capitalized. */
    if (w.n_digits && w.n_digits + w.n_dots == w.n_chars) {
        if (first) return false;
        if (!r->ordinals) return true;
        if (f->starter) return w.n_chars > 2;
        return w.n_chars > 2 && !w.n_dots && !r->nouns_capitalized;
    }
    if (w.n_chars == 1) return false;   /* an initial, or "z. B." */
    /* Roman numerals: item numbers, and ordinals ("Ludwig XIV. war"). */
    if (w.n_chars == w.n_roman && (first || r->ordinals))
        return !first && f->starter;
    if (word_listed(r->never, &w)) return false;
    if (w.dotted || word_listed(r->maybe, &w)) return f->starter;
    if (part_listed(r->never, &w)) return false;
    if (part_listed(r->maybe, &w) || has_ending(r->ending, w.lower))
        return f->starter;
    /* A short word before a number is probably an abbreviation that is in no
     * list, as in "Cpt. 12". */
    return !(f->digit && w.n_chars <= (w.capital ? 4 : 2));
}

/* ---- sentences ---- */

struct splitter {
    struct split_text t;
    const struct rules *r;
    struct spans *out;
    size_t first;               /* index in out->at of the first sentence */
    bool open;                  /* inside a sentence */
    size_t begin;               /* of the sentence */
    size_t last;                /* end of its last character so far */
    size_t word;                /* begin of the current word; the current
                                   position if there is none */
    uint32_t before;            /* the previous character */
    int n_lines;                /* line ends in the preceding white space */
};

void spans_release(struct spans *s)
{
    free(s->at);
    memset(s, 0, sizeof *s);
}

/* Appends the open sentence, if there is one. Returns false when out of
 * memory. */
static bool split_end_sentence(struct splitter *sp)
{
    struct spans *out = sp->out;

    if (!sp->open) return true;
    assert(sp->begin < sp->last && sp->last <= sp->t.len);
    assert(out->n == sp->first || out->at[out->n - 1].end <= sp->begin);
    sp->open = false;
    if (!mem_grow(&out->at, &out->cap, out->n + 1, sizeof *out->at))
        return false;
    out->at[out->n++] = (struct span){ sp->begin, sp->last };
    return true;
}

/* A run of stops and the closing quotes and brackets after it. */
struct stops {
    size_t begin, end;
    enum stop kind;
    bool closed;                /* closing quotes or brackets follow */
    bool quoted;                /* quotes are among them */
};

static enum stop join_stops(enum stop a, enum stop b)
{
    if (a == STOP_NONE) return b;
    if (a == STOP_DOT && b == STOP_DOT) return STOP_DOTS;
    return a > b ? a : b;
}

static struct stops read_stops(struct split_text t, size_t at)
{
    struct stops st = { at, at, STOP_NONE, false, false };
    enum stop kind;
    uint32_t cp;
    int len;

    for (; st.end < t.len; st.end += (size_t)len) {
        kind = stop_of(split_char_at(t, st.end, &len));
        if (!kind) break;
        st.kind = join_stops(st.kind, kind);
    }
    for (; st.end < t.len; st.end += (size_t)len) {
        cp = split_char_at(t, st.end, &len);
        if (!is_closer(cp)) break;
        st.closed = true;
        if (is_quote(cp)) st.quoted = true;
    }
    return st;
}

/* Returns whether the sentence ends at these stops. */
static bool stops_end(const struct splitter *sp, const struct stops *st)
{
    struct next_text f = split_peek_next(sp->r, sp->t, st->end);
    size_t word = sp->word;

    if (sp->before == '(' || sp->before == '[') return false;   /* "(!)" */
    if (st->kind == STOP_WIDE)
        return !st->closed || f.space || f.bracket;
    if (!f.space || !f.plausible) return false;
    if (st->kind == STOP_DOTS) return f.starter;
    /* "Was?" fragte Hans: a mark inside quotes may end just the quotation. */
    if (st->kind == STOP_MARK) return !st->quoted || f.starter;
    /* No word precedes the full stop directly. After white space it ends the
     * sentence only before a starter; after another character, such as a
     * bracket or quote, it always does. */
    if (word == st->begin) return sp->last == st->begin || f.starter;
    return dot_ends(sp->r, sp->t.s + word, st->begin - word,
                    word == sp->begin, &f);
}

/* Handles the stops at `at` and returns where to continue. A dot inside a word
 * ("3.14", "U.S") stays part of it. */
static size_t take_stops(struct splitter *sp, size_t at, bool *ok)
{
    struct stops st = read_stops(sp->t, at);
    bool end = stops_end(sp, &st);
    uint32_t next = 0;
    int len;

    if (st.end < sp->t.len) next = split_char_at(sp->t, st.end, &len);
    sp->last = st.end;
    sp->before = '.';
    if (end) *ok = split_end_sentence(sp);
    if (st.kind != STOP_DOT || st.closed ||
        !(is_letter(next) || split_is_digit(next) || next == '-'))
        sp->word = st.end;
    return st.end;
}

static bool in_word(uint32_t cp)
{
    return is_letter(cp) || split_is_digit(cp) || cp == '-' || cp == '\'' ||
           cp == 0x2019;
}

/* Handles the character at `at` and returns where to continue. */
static size_t take_char(struct splitter *sp, size_t at, uint32_t cp, int len,
                        bool *ok)
{
    size_t end = at + (size_t)len;

    if (split_is_space(cp)) {
        sp->n_lines += cp == '\n' ? 1 : cp == 0x2029 ? 2 : 0;
        sp->word = end;
        sp->before = cp;
        return end;
    }
    if (sp->n_lines >= 2) *ok = split_end_sentence(sp);      /* an empty line */
    sp->n_lines = 0;
    if (!sp->open) {
        sp->open = true;
        sp->begin = at;
        sp->last = at;
    }
    if (stop_of(cp)) return take_stops(sp, at, ok);
    sp->last = end;
    sp->before = cp;
    if (!in_word(cp)) sp->word = end;
    return end;
}

static const struct rules *rules_for(const char *lang)
{
    if (lang && !strncmp(lang, "de", 2)) return &de_rules;
    if (lang && !strncmp(lang, "en", 2)) return &en_rules;
    return &any_rules;
}

enum status split_sentences(const char *text, size_t len, const char *lang,
                            struct spans *out, struct err *e)
{
    struct splitter sp = {
        .t = { text, len }, .r = rules_for(lang), .out = out,
        .first = out->n
    };
    size_t at = 0;
    bool ok = true;
    int n;

    while (ok && at < len) {
        uint32_t cp = split_char_at(sp.t, at, &n);

        at = take_char(&sp, at, cp, n, &ok);
        assert(at <= len && sp.word <= at);
    }
    if (ok) ok = split_end_sentence(&sp);
    if (ok) return ST_OK;
    out->n = sp.first;
    return err_nomem(e, "splitting text into sentences");
}

/* ---- clauses ---- */

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
static enum border comma_or_clause(struct split_text t, uint32_t cp, size_t at)
{
    switch (cp) {
    case '-': case 0x2013: case 0x2014:
        return at && split_is_space(char_before(t.s, at, &at)) ? BORDER_CLAUSE
                                                         : BORDER_SPACE;
    case ';': case ':': case 0xFF1B: case 0xFF1A: return BORDER_CLAUSE;
    case ',': case 0x060C: case 0x3001: case 0xFF0C: return BORDER_COMMA;
    default: return BORDER_SPACE;
    }
}

/* Returns whether the full stop at `dot` ends a sentence. The next text begins
 * at `next`. */
static bool full_stop_ends_sentence(struct split_text t, size_t dot,
                                    size_t next)
{
    struct next_text f = split_peek_next(&any_rules, t, next);
    size_t word = dot, at = dot;
    uint32_t cp;

    while (word && dot - word <= WORD_MAX) {
        cp = char_before(t.s, word, &at);
        if (split_is_space(cp) || (!in_word(cp) && cp != '.')) break;
        word = at;
    }
    return f.plausible && word < dot &&
           dot_ends(&any_rules, t.s + word, dot - word, word == 0, &f);
}

static bool is_wide(uint32_t cp)
{
    return cp == 0x3001 || cp == 0xFF0C || cp == 0xFF1B || cp == 0xFF1A ||
           stop_of(cp) == STOP_WIDE;
}

/* Returns the kind of border at t.s[end], where one piece ends and the next
 * begins. `space` means that white space follows. */
static enum border border_at(struct split_text t, size_t end, bool space)
{
    size_t at = end;
    uint32_t cp = 0;

    for (int i = 0; i < 4 && at; i++) {
        size_t next = at;

        cp = char_before(t.s, at, &at);
        if (!is_closer(cp)) break;
        if (i == 3) at = next;
    }
    if (!space && !is_wide(cp)) return BORDER_NONE;
    switch (stop_of(cp)) {
    case STOP_NONE: return comma_or_clause(t, cp, at);
    case STOP_DOT:
        return full_stop_ends_sentence(t, at, end) ? BORDER_SENTENCE
                                                   : BORDER_SPACE;
    default: return BORDER_SENTENCE;
    }
}

/* Returns the kind of border between p[i - 1] and p[i]. */
static enum border piece_border(struct split_text t, const struct piece *p,
                                size_t i)
{
    size_t end = p[i - 1].end, next = p[i].begin;
    bool space = next > end;
    int len;

    if (end == 0) return BORDER_NONE;
    if (!space && p[i].begin == p[i].end) return BORDER_NONE;
    if (!space)
        space = split_is_space(utf8_next(t.s + next, t.len - next, &len));
    return border_at(t, end, space);
}

size_t split_clause(const char *text, const struct piece *p, size_t n,
                    size_t limit)
{
    struct split_text t = { text, p[n - 1].end };
    enum border best = BORDER_NONE;
    size_t at = limit;

    assert(limit >= 1 && n > limit);
    for (size_t i = limit; i >= 1; i--) {
        enum border b;

        if (i < limit / 2 && best) break;
        b = piece_border(t, p, i);
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
