/* moses_normalize.c - one pass for each substitution of
 * normalize-punctuation.perl, in the same order, because what one writes the
 * next ones read. replace-unicode-punctuation.perl is one pass: no substitution
 * of it writes what another one reads.
 *
 * The Perl script sees a line with its line end, and bytes instead of
 * characters. So its white space and digits are those of ASCII, and a quotation
 * mark at the end of the line is not at the end. */
#include "text/moses_normalize.h"

#include <string.h>

#include "base/invariant.h"
#include "text/moses_rules.h"
#include "text/utf8.h"

static bool is_ascii(const struct aligned_text *t)
{
    size_t n = 0;

    while (n < t->n && (unsigned char)t->text[n] < 0x80) n++;
    return n == t->n;
}

/* ---- punctuation of other scripts --------------------------------------- */

/* The replacement of a character, or NULL. */
static const char *narrow_form(uint32_t cp, bool one_quote)
{
    static const char digits[10][2] = { "0", "1", "2", "3", "4", "5", "6", "7",
                                        "8", "9" };

    if (cp == 0xFF11 && one_quote) return "\"";
    if (cp - 0xFF10 < 10) return digits[cp - 0xFF10];
    switch (cp) {
    case 0xFF0C: case 0x3001: return ",";
    case 0x3002: case 0xFF0E: return ". ";
    case 0x201C: case 0x201D: case 0x300A: case 0x300B: case 0x300C:
    case 0x300D: return "\"";
    case 0x2236: case 0xFF1A: return ":";
    case 0xFF1F: return "?";
    case 0xFF01: return "!";
    case 0xFF08: return "(";
    case 0xFF09: return ")";
    case 0xFF1B: return ";";
    case 0xFF5E: return "~";
    case 0xFF05: return "%";
    case 0x2019: return "'";
    case 0x2026: return "...";
    case 0x2501: return "-";
    case 0x3008: return "<";
    case 0x3009: return ">";
    case 0x3010: return "[";
    case 0x3011: return "]";
    default: return NULL;
    }
}

/* The end of the white space that begins at `at`. */
static size_t skip_space(const struct aligned_text *t, size_t at,
                         const struct moses_language *l)
{
    int len;

    while (at < t->n) {
        uint32_t cp = utf8_next(t->text + at, t->n - at, &len);

        if (l->alphabet.perl ? cp != ' ' : !utf8_is_space(cp)) break;
        at += (size_t)len;
    }
    return at;
}

void moses_narrow(struct aligned_work *w, const struct moses_language *l,
                  bool one_quote)
{
    const struct aligned_text *t = &w->now;
    size_t kept = 0, at = 0;
    int len;

    if (w->failed || is_ascii(t)) return;
    aligned_begin(w);
    while (at < t->n) {
        uint32_t cp = utf8_next(t->text + at, t->n - at, &len);
        const char *form = cp < 0x80 ? NULL : narrow_form(cp, one_quote);

        if (form) {
            aligned_keep(w, kept, at);
            aligned_put(w, form, strlen(form), at);
            kept = at + (size_t)len;
            if (*form == '.' && form[1] == ' ') kept = skip_space(t, kept, l);
            at = kept;
        } else {
            at += (size_t)len;
        }
    }
    aligned_keep(w, kept, t->n);
    aligned_end(w);
}

/* ---- control characters ------------------------------------------------- */

static void replace_controls(struct aligned_work *w, const char *into)
{
    static const struct moses_alphabet all = { .perl = true };
    const struct aligned_text *t = &w->now;
    size_t kept = 0, at = 0;
    int len;

    if (w->failed) return;
    aligned_begin(w);
    for (; at < t->n; at += (size_t)len) {
        uint32_t cp = utf8_next(t->text + at, t->n - at, &len);

        if (!(moses_class(&all, cp) & MC_CONTROL)) continue;
        aligned_keep(w, kept, at);
        aligned_put(w, into, strlen(into), at);
        kept = at + (size_t)len;
    }
    aligned_keep(w, kept, t->n);
    aligned_end(w);
}

void moses_blank_controls(struct aligned_work *w) { replace_controls(w, " "); }

void moses_drop_controls(struct aligned_work *w) { replace_controls(w, ""); }

/* ---- punctuation -------------------------------------------------------- */

#define NBSP "\u00A0"

static const struct moses_rule normal_rules[] = {
    R("\r", ""),
    /* Spaces beside parentheses and punctuation. */
    R("(", " ("),
    R(")", ") "),
    R(MOSES_SPACES, " "),
    R(") ", ")", .right = SIDE_STOP),
    R("( ", "("),
    R(" )", ")"),
    R(" %", "%", .left = SIDE_DIGIT),
    R(" :", ":"),
    R(" ;", ";"),
    /* Quotation marks and dashes. */
    R("`", "'"),
    R("''", " \" "),
    R("„", "\""),
    R("“", "\""),
    R("”", "\""),
    R("–", "-"),
    R("—", " - "),
    R(MOSES_SPACES, " "),
    R("´", "'"),
    R("‘", "'", .left = SIDE_LETTER, .right = SIDE_LETTER),
    R("’", "'", .left = SIDE_LETTER, .right = SIDE_LETTER),
    R("‘", "'"),
    R("‚", "'"),
    R("’", "\"", .flavor = PERL_ONLY),
    R("’", "'", .flavor = PORT_ONLY),
    R("''", "\""),
    R("…", "..."),
    R(NBSP "«" NBSP, " \"", .flavor = PERL_ONLY),
    R(NBSP "«" NBSP, "\"", .flavor = PORT_ONLY),
    R("«" NBSP, "\""),
    R("«", "\""),
    R(NBSP "»" NBSP, "\" ", .flavor = PERL_ONLY),
    R(NBSP "»" NBSP, "\"", .flavor = PORT_ONLY),
    R(NBSP "»", "\""),
    R("»", "\""),
    /* No-break spaces. */
    R(NBSP "%", "%"),
    R("nº" NBSP, "nº "),
    R(NBSP ":", ":"),
    R(NBSP "ºC", " ºC"),
    R(NBSP "cm", " cm"),
    R(NBSP "?", "?"),
    R(NBSP "!", "!"),
    R(NBSP ";", ";"),
    R("," NBSP, ", "),
    R(MOSES_SPACES, " ")
};

static const struct moses_rule comma_after_quote[] = { R(",\"", "\",") };
static const struct moses_rule decimal_comma[] = {
    R(NBSP, ",", .left = SIDE_DIGIT, .right = SIDE_DIGIT)
};
static const struct moses_rule decimal_point[] = {
    R(NBSP, ".", .left = SIDE_DIGIT, .right = SIDE_DIGIT)
};

/* English: '"' and then commas or full stops change places. */
static void stops_before_quotes(struct aligned_work *w)
{
    const struct aligned_text *t = &w->now;
    size_t kept = 0, end;

    if (w->failed || !memchr(t->text, '"', t->n)) return;
    aligned_begin(w);
    for (size_t at = 0; at < t->n; at = end) {
        end = at + 1;
        if (t->text[at] != '"') continue;
        while (end < t->n && (t->text[end] == ',' || t->text[end] == '.'))
            end++;
        if (end == at + 1) continue;
        aligned_keep(w, kept, at);
        aligned_put(w, t->text + at + 1, end - at - 1, at);
        aligned_put(w, "\"", 1, at);
        kept = end;
    }
    aligned_keep(w, kept, t->n);
    aligned_end(w);
}

/* The end of what must follow a quotation mark that ends at `at`, if full stops
 * before it are to be moved: any white space and a character other than '<', or
 * else white space alone. 0: something else follows. */
static size_t after_quote(const struct aligned_text *t, size_t at,
                          const struct moses_language *l)
{
    size_t end = at;
    int len = 0;

    while (end < t->n) {
        uint32_t cp = utf8_next(t->text + end, t->n - end, &len);

        if (l->alphabet.perl ? cp != ' ' && (cp < '\t' || cp > '\r')
                             : !utf8_is_space(cp)) break;
        end += (size_t)len;
    }
    if (end < t->n && t->text[end] != '<') return end + (size_t)len;
    return end > at || (end == t->n && l->alphabet.perl) ? end : 0;
}

/* Other languages: full stops and then '"' change places. */
static void quotes_before_stops(struct aligned_work *w,
                                const struct moses_language *l)
{
    const struct aligned_text *t = &w->now;
    size_t kept = 0, end;

    if (w->failed || !memchr(t->text, '"', t->n)) return;
    aligned_begin(w);
    for (size_t at = 0, next; at < t->n; at = next) {
        for (end = at; end < t->n && t->text[end] == '.';) end++;
        next = end > at ? end : at + 1;
        if (end == at || end == t->n || t->text[end] != '"') continue;
        if (!(next = after_quote(t, end + 1, l))) {
            next = end + 1;
            continue;
        }
        aligned_keep(w, kept, at);
        aligned_put(w, "\"", 1, at);
        aligned_put(w, t->text + at, end - at, at);
        kept = end + 1;
    }
    aligned_keep(w, kept, t->n);
    aligned_end(w);
}

void moses_punctuation(struct aligned_work *w, const struct moses_language *l)
{
    const struct moses_alphabet *a = &l->alphabet;

    MOSES_APPLY(w, normal_rules, a);
    if (l->quotes == QUOTES_AFTER_STOP) {
        stops_before_quotes(w);
    } else if (l->quotes == QUOTES_BEFORE_STOP) {
        MOSES_APPLY(w, comma_after_quote, a);
        quotes_before_stops(w, l);
    }
    if (l->decimal_comma) MOSES_APPLY(w, decimal_comma, a);
    else MOSES_APPLY(w, decimal_point, a);
}
