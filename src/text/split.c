/* split.c - finds the borders of sentences by rule.
 *
 * The text is read once, forward. At a run of stops (. ! ? ...) with the
 * closing quotes and brackets after it, the word before and the text after it
 * decide whether the sentence ends. Nothing looks further than a word, a few
 * brackets and one run of white space, so the time is linear for any text.
 *
 * Invariants of struct splitter: begin <= last <= t.n while a sentence is
 * open, and the spans of one call ascend without overlapping. */
#include "text/split.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/full_stop.h"
#include "text/punct.h"
#include "text/utf8.h"

struct splitter {
    struct str t;
    struct sentence_rules r;
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

static uint32_t split_char_at(struct str t, size_t at, int *len)
{
    return utf8_next(t.p + at, t.n - at, len);
}

/* The character at `at`; 0 at the end. */
static uint32_t split_peek(struct str t, size_t at)
{
    int len;

    return at < t.n ? split_char_at(t, at, &len) : 0;
}

/* Appends the open sentence, if there is one. Returns false when out of
 * memory. */
static bool split_end_sentence(struct splitter *sp)
{
    struct spans *out = sp->out;

    if (!sp->open) return true;
    assert(sp->begin < sp->last && sp->last <= sp->t.n);
    assert(out->n == sp->first || out->at[out->n - 1].end <= sp->begin);
    sp->open = false;
    if (!mem_grow(&out->at, &out->cap, out->n + 1, sizeof *out->at))
        return false;
    out->at[out->n++] = (struct span){ sp->begin, sp->last };
    return true;
}

/* ---- stops that depend on what is around them ---------------------------- */

/* The syllable before a shad ends a Tibetan sentence. */
static bool is_final_word(const struct splitter *sp, size_t end)
{
    char word[STOP_WORD_MAX + 1];
    size_t n = end - sp->word;

    if (n > STOP_WORD_MAX) return false;
    memcpy(word, sp->t.p + sp->word, n);
    word[n] = '\0';
    return sentence_rules_have(&sp->r, LIST_FINAL, word);
}

/* A single or double shad. It ends a sentence if it is double, if another one
 * follows, maybe after spaces, and after certain words. *end gets the end of
 * both. At the beginning of a text, shads follow ornaments. */
static enum stop shad_at(const struct splitter *sp, size_t at, uint32_t cp,
                         size_t *end)
{
    bool twice = cp == 0x0F0E;
    size_t next = *end;

    while (next < sp->t.n && next - *end < 4 && sp->t.p[next] == ' ') next++;
    if (split_peek(sp->t, next) == 0x0F0D) {
        *end = next + 3;
        twice = true;
    }
    if (sp->before == 0x0F04 || sp->before == 0x0F05) return STOP_NONE;
    return twice || is_final_word(sp, at) ? STOP_WIDE : STOP_NONE;
}

static bool is_between(uint32_t cp, uint32_t first, uint32_t last)
{
    return cp >= first && cp <= last;
}

/* The kind of the stop at `at`, which is the character cp. *end, the end of
 * that character, moves behind what belongs to it. Some characters are stops
 * only in some scripts: the Greek question mark is a semicolon, an Armenian
 * sentence may end with a colon, and two colons or word separators end an
 * Ethiopic one. */
static enum stop split_stop_at(const struct splitter *sp, size_t at,
                               uint32_t cp, size_t *end)
{
    enum stop kind = punct_stop(cp);
    uint32_t before = sp->before;

    switch (cp) {
    case 0x0F0D: case 0x0F0E: return shad_at(sp, at, cp, end);
    case ';':
        return is_between(before, 0x0370, 0x03FF) ||
               is_between(before, 0x1F00, 0x1FFF) ? STOP_MARK : STOP_NONE;
    case ':':
        if (is_between(before, 0x0531, 0x058F)) return STOP_MARK;
        if (!is_between(before, 0x1200, 0x139F)) return STOP_NONE;
        break;
    case 0x1361: break;
    default: return kind;
    }
    if (split_peek(sp->t, *end) != cp) return STOP_NONE;
    *end += *end - at;
    return STOP_WIDE;
}

/* ---- runs of stops ------------------------------------------------------- */

/* A run of stops and the closing quotes and brackets after it. */
struct stops {
    size_t begin, end;
    enum stop kind;
    uint32_t last;              /* stop */
    bool closed;                /* closing quotes or brackets follow */
    bool quoted;                /* quotes are among them */
};

/* In French typography a space stands before the closing quote: "« Oui. »". */
static size_t skip_space_before_quote(struct str t, size_t at)
{
    uint32_t cp = split_peek(t, at), after;
    size_t quote = at;
    int len;

    if (cp != ' ' && cp != 0xA0 && cp != 0x202F) return at;
    split_char_at(t, at, &len);
    quote += (size_t)len;
    cp = split_peek(t, quote);
    if (cp != 0xBB && cp != 0x203A) return at;
    split_char_at(t, quote, &len);
    after = split_peek(t, quote + (size_t)len);
    return !after || punct_is_space(after) || punct_is_closer(after) ? quote
                                                                     : at;
}

/* The first stop is known: it has this kind and this end. */
static struct stops read_stops(struct str t, size_t at, uint32_t first,
                               enum stop kind, size_t end)
{
    struct stops st = { at, end, kind, first, false, false };
    uint32_t cp;
    int len;

    for (; st.end < t.n; st.end += (size_t)len) {
        cp = split_char_at(t, st.end, &len);
        kind = punct_stop(cp);
        if (!kind) break;
        st.kind = punct_join_stops(st.kind, kind);
        st.last = cp;
    }
    st.end = skip_space_before_quote(t, st.end);
    for (; st.end < t.n; st.end += (size_t)len) {
        cp = split_char_at(t, st.end, &len);
        if (!punct_is_closer(cp)) break;
        /* In Chinese these are opening quotes, and no space precedes them. */
        if (st.kind == STOP_WIDE && (cp == 0x2018 || cp == 0x201C)) break;
        st.closed = true;
        if (punct_is_quote(cp)) st.quoted = true;
    }
    return st;
}

/* Whether all that precedes in the sentence is a number. */
static bool is_item_number(const struct splitter *sp, size_t end)
{
    size_t at = sp->begin;
    int len;

    for (; at < end; at += (size_t)len)
        if (!punct_is_digit(split_char_at(sp->t, at, &len))) return false;
    return end > sp->begin;
}

/* Whether stops that need no white space after them end the sentence. A full
 * stop of full width also stands in numbers, and a double danda on both sides
 * of the number of a verse. In Bengali and Burmese, items have numbers with a
 * stop. Khmer writes "etc." with two stops. */
static bool wide_stops_end(const struct splitter *sp, const struct stops *st,
                           const struct next_text *next)
{
    if (st->last == 0xFF0E && (punct_is_digit(sp->before) || next->digit) &&
        !next->space)
        return false;
    if (st->last == 0x0965 && next->digit) return false;
    if (next->space && is_item_number(sp, st->begin)) return false;
    if (st->last == 0x17D4 && split_peek(sp->t, st->end) == 0x179B &&
        split_peek(sp->t, st->end + 3) == 0x17D4)
        return false;
    return !st->closed || next->space || next->bracket;
}

/* Whether a mark of exclamation or question ends the sentence. One inside
 * quotes or brackets may end just what is inside: "Was?" fragte Hans. Brackets
 * with the whole sentence end with it. */
static bool mark_ends(const struct splitter *sp, const struct stops *st,
                      const struct next_text *next)
{
    uint32_t first = split_peek(sp->t, sp->begin);

    if (!st->closed || next->starter) return true;
    return !st->quoted && punct_is_opener(first) && !punct_is_quote(first);
}

/* Returns whether the sentence ends at these stops. */
static bool stops_end(const struct splitter *sp, const struct stops *st)
{
    struct next_text f = next_text_at(&sp->r, sp->t, st->end);
    size_t word = sp->word;
    struct str before = { sp->t.p + word, st->begin - word };

    if (sp->before == '(' || sp->before == '[') return false;   /* "(!)" */
    if (st->kind == STOP_WIDE) return wide_stops_end(sp, st, &f);
    if (!f.space || !f.plausible) return false;
    if (st->kind == STOP_DOTS) return f.starter;
    if (st->kind == STOP_MARK) return mark_ends(sp, st, &f);
    /* No word precedes the full stop directly. After white space it ends the
     * sentence only before a starter; after another character, such as a
     * bracket or quote, it always does. */
    if (!before.n) return sp->last == st->begin || f.starter;
    return full_stop_ends(&sp->r, before, word == sp->begin, &f);
}

/* Handles the stops at `at` and returns where to continue. A dot inside a word
 * ("3.14", "U.S") stays part of it. */
static size_t take_stops(struct splitter *sp, struct stops st, bool *ok)
{
    bool end = stops_end(sp, &st);
    uint32_t next = split_peek(sp->t, st.end);

    sp->last = st.end;
    sp->before = '.';
    if (end) *ok = split_end_sentence(sp);
    if (st.kind != STOP_DOT || st.closed ||
        !(punct_is_letter(next) || punct_is_digit(next) || next == '-'))
        sp->word = st.end;
    return st.end;
}

/* ---- sentences ----------------------------------------------------------- */

/* Handles the character at `at` and returns where to continue. */
static size_t take_char(struct splitter *sp, size_t at, uint32_t cp, int len,
                        bool *ok)
{
    size_t end = at + (size_t)len;
    enum stop kind;

    if (punct_is_space(cp)) {
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
    kind = split_stop_at(sp, at, cp, &end);
    if (kind)
        return take_stops(sp, read_stops(sp->t, at, cp, kind, end), ok);
    sp->last = end;
    sp->before = cp;
    if (!full_stop_in_word(cp)) sp->word = end;
    return end;
}

enum status split_sentences(const char *text, size_t len, const char *lang,
                            struct spans *out, struct err *e)
{
    struct splitter sp = {
        .t = { text, len }, .r = sentence_rules_of(lang), .out = out,
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
