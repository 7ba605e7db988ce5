/* words.c - splits a text into words and converts words to lower case.
 *
 * Nearly every word of European text consists of ASCII letters and digits and
 * some letters from U+00C0 to U+017F. A fast path finds those byte by byte
 * (words_by_bytes). Whenever it cannot be sure, words_by_all_rules applies the
 * full rules. Both give the same borders.
 *
 * Invariant: w->end of one stretch is w->begin of the next, every stretch has
 * at least one byte, and none has more than WORD_CHARS_MAX code points. */
#include "text/words.h"

#include <utf8proc.h>

#include "base/invariant.h"
#include "text/utf8.h"
#include "text/word_break.h"

#define BIT(class) (1u << WB_##class)
#define ANY_LETTER (BIT(LETTER) | BIT(HEBREW))
#define IGNORABLE (BIT(EXTEND) | BIT(FORMAT) | BIT(ZWJ))
#define IN_TERMS (ANY_LETTER | BIT(NUMERIC) | BIT(KATAKANA) | \
                  BIT(IDEOGRAPH) | BIT(SOUTHEAST))
#define IN_SPACE (BIT(BLANK) | BIT(WSEG) | BIT(CR) | BIT(LF) | BIT(NEWLINE))

/* ---- the full rules ------------------------------------------------------ */

/* The classes that may follow a class without a border (WB5, 8-10, 13, 15; and
 * Southeast Asian scripts). */
static const uint32_t follows[32] = {
    [WB_LETTER] = ANY_LETTER | BIT(NUMERIC) | BIT(EXTENDNUM),
    [WB_HEBREW] = ANY_LETTER | BIT(NUMERIC) | BIT(EXTENDNUM) | BIT(SQUOTE),
    [WB_NUMERIC] = ANY_LETTER | BIT(NUMERIC) | BIT(EXTENDNUM),
    [WB_KATAKANA] = BIT(KATAKANA) | BIT(EXTENDNUM),
    [WB_EXTENDNUM] = ANY_LETTER | BIT(NUMERIC) | BIT(KATAKANA) |
                     BIT(EXTENDNUM),
    [WB_RI] = BIT(RI),
    [WB_SOUTHEAST] = BIT(SOUTHEAST)
};

struct word_cursor {
    const char *s;
    size_t at, end;
    int n_chars;                /* code points of this stretch so far */
};

static char word_break_class(uint32_t cp)
{
    if (cp < WB_TABLED)
        return word_break_block[word_break_index[cp / WB_BLOCK]]
                               [cp % WB_BLOCK];
    for (size_t i = 0; i < sizeof word_break_high / sizeof *word_break_high;
         i++)
        if (cp >= word_break_high[i].first && cp <= word_break_high[i].last)
            return word_break_high[i].cls;
    return WB_PLAIN;
}

/* Returns the class of the next code point and sets *len to its length. Returns
 * 0 if the stretch must end: at the end of the text or at its maximum
 * length. */
static char words_peek(const struct word_cursor *c, int *len)
{
    if (c->at == c->end || c->n_chars == WORD_CHARS_MAX) return 0;
    return word_break_class(utf8_next(c->s + c->at, c->end - c->at, len));
}

static void words_take(struct word_cursor *c, int len)
{
    c->at += (size_t)len;
    c->n_chars++;
}

/* Returns whether a mark of class `mark` after a character of class `prev` is
 * inside a word because of the character after it (WB6, 7b and 12). If so,
 * `prev` remains the class for what follows. */
static bool is_bridge(struct word_cursor c, int mark_len, unsigned prev,
                      unsigned mark)
{
    uint32_t want = 0, m = 1u << mark;
    char next;
    int len;

    if (m & (BIT(MIDNUMLET) | BIT(SQUOTE) | BIT(MIDLETTER)) &&
        1u << prev & ANY_LETTER)
        want = ANY_LETTER;
    else if (m & (BIT(MIDNUMLET) | BIT(SQUOTE) | BIT(MIDNUM)) &&
             prev == WB_NUMERIC)
        want = BIT(NUMERIC);
    else if (mark == WB_DQUOTE && prev == WB_HEBREW)
        want = BIT(HEBREW);
    if (!want) return false;

    words_take(&c, mark_len);
    while ((next = words_peek(&c, &len)) && 1u << WB_CLASS(next) & IGNORABLE)
        words_take(&c, len);
    return next && 1u << WB_CLASS(next) & want;
}

static enum word_kind kind_of(uint32_t seen)
{
    if (seen & IN_TERMS) return WORD_TERM;
    return seen & ~IN_SPACE ? WORD_OTHER : WORD_SPACE;
}

/* Finds the stretch that starts at w->begin by the full rules. */
static void words_by_all_rules(struct words *w)
{
    struct word_cursor c = { w->text.p, w->begin, w->text.n, 0 };
    unsigned prev, last, cls;   /* of the last code point; `prev` ignores
                                   what WB4 ignores */
    uint32_t seen;
    char next;
    int len;

    prev = last = WB_CLASS(words_peek(&c, &len));
    seen = 1u << last;
    words_take(&c, len);
    while ((next = words_peek(&c, &len))) {
        cls = WB_CLASS(next);
        if (prev == WB_CR || prev == WB_LF || prev == WB_NEWLINE) {
            if (last != WB_CR || cls != WB_LF) break;
            prev = WB_LF;
        } else if (1u << cls & IGNORABLE ||                     /* WB4 */
                   (last == WB_WSEG && cls == WB_WSEG) ||       /* WB3d */
                   is_bridge(c, len, prev, cls)) {
            /* prev stays */
        } else if ((last == WB_ZWJ && WB_IS_PICTOGRAPH(next)) || /* WB3c */
                   follows[prev] & 1u << cls) {
            /* A flag is a pair of these; after a pair there is a border. */
            prev = prev == WB_RI && cls == WB_RI ? WB_OTHER : cls;
        } else {
            break;
        }
        last = cls;
        seen |= 1u << cls;
        words_take(&c, len);
    }
    w->end = c.at;
    w->kind = kind_of(seen);
}

/* ---- the fast path ------------------------------------------------------- */

/* What the fast path knows about a byte. */
enum {
    B_HARD,                     /* needs the full rules */
    B_LETTER, B_DIGIT, B_UNDERSCORE,
    B_LATIN,                    /* first byte of U+00C0 .. U+017F */
    B_POINT, B_COLON, B_COMMA,  /* may be inside a word */
    B_SPACE, B_MARK             /* stretches of their own, unless something
                                   extends them */
};

#define L B_LETTER
#define D B_DIGIT
#define U B_UNDERSCORE
#define P B_POINT
#define C B_COLON
#define K B_COMMA
#define S B_SPACE
#define M B_MARK
static const uint8_t byte_kind[256] = {
    M, M, M, M, M, M, M, M, M, S, S, S, S, B_HARD, M, M,
    M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    S, M, M, M, M, M, M, P, M, M, M, M, K, M, P, M,     /*  !"#$%&'()*+,-./ */
    D, D, D, D, D, D, D, D, D, D, C, K, M, M, M, M,     /* 0123456789:;<=>? */
    M, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, M, M, M, M, U,     /* PQ..Z[\]^_ */
    M, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, M, M, M, M, M,
    [0xC3] = B_LATIN, B_LATIN, B_LATIN
};
#undef L
#undef D
#undef U
#undef P
#undef C
#undef K
#undef S
#undef M

static unsigned kind_at(const char *s, size_t i)
{
    return byte_kind[(unsigned char)s[i]];
}

/* Returns whether a B_LATIN byte is followed by the second byte of a letter
 * from U+00C0 to U+017F. U+00D7, U+00F7 and broken sequences are not
 * letters. */
static bool is_latin(const char *s, size_t left)
{
    unsigned char first = (unsigned char)s[0], second;

    if (left < 2) return false;
    second = (unsigned char)s[1];
    return (second & 0xC0) == 0x80 &&
           !(first == 0xC3 && (second & 0xDF) == 0x97);
}

/* Returns whether the character at i cannot extend the one before it. Combining
 * marks and format characters can; they never begin with a byte below 0x80 or
 * from 0xC3 to 0xC5. */
static bool cannot_extend(const char *s, size_t i, size_t n)
{
    return i == n || (unsigned char)s[i] < 0x80 || kind_at(s, i) == B_LATIN;
}

/* Returns whether the mark at i joins the ASCII characters on both sides. It
 * follows a letter or digit and is not the last byte. */
static bool joins(const char *s, size_t i)
{
    unsigned mark = kind_at(s, i), next = kind_at(s, i + 1);
    unsigned prev = kind_at(s, i - 1);

    if (next == B_LETTER)
        return mark != B_COMMA && prev != B_DIGIT && prev != B_UNDERSCORE;
    return next == B_DIGIT && mark != B_COLON && prev == B_DIGIT;
}

/* Returns the end of the word at i, which starts with a letter or digit.
 * Returns 0 if the fast path cannot decide: the full rules are needed, or the
 * word has more than WORD_CHARS_MAX bytes and may have to be cut. The scan
 * stops at that length: a word of n bytes is cut into n / WORD_CHARS_MAX
 * pieces, and scanning to its end for each of them would be quadratic. */
static size_t fast_word_end(const char *s, size_t i, size_t n)
{
    size_t longest = n - i > WORD_CHARS_MAX ? i + WORD_CHARS_MAX : n;

    for (;;) {
        unsigned k = B_LETTER;

        while (i < n && i <= longest &&
               (k = kind_at(s, i)) <= B_UNDERSCORE && k) i++;
        if (i > longest) return 0;
        if (i == n) return i;
        switch (k) {
        case B_LATIN:
            if (!is_latin(s + i, n - i)) return 0;
            i += 2;
            break;
        case B_POINT: case B_COLON: case B_COMMA:
            if (i + 1 == n) return i;
            if ((unsigned char)s[i + 1] >= 0x80) return 0;
            if (!joins(s, i)) return i;
            i++;
            break;
        case B_HARD:
            return s[i] == '\r' ? i : 0;
        default:
            return i;
        }
    }
}

/* Finds the stretch at w->begin by its bytes. Returns false if that needs the
 * full rules. */
static bool words_by_bytes(struct words *w)
{
    const char *s = w->text.p;
    size_t i = w->begin, n = w->text.n, end = i + 1;
    unsigned k = kind_at(s, i);

    switch (k) {
    case B_HARD: case B_UNDERSCORE:
        return false;
    case B_LATIN:
        if (!is_latin(s + i, n - i)) return false;
        /* fall through */
    case B_LETTER: case B_DIGIT:
        end = fast_word_end(s, i, n);
        if (!end) return false;
        assert(end > i && end - i <= WORD_CHARS_MAX);
        w->kind = WORD_TERM;
        break;
    default:
        if (!cannot_extend(s, end, n)) return false;
        if (s[i] == ' ' && end < n && s[end] == ' ') return false;
        w->kind = k == B_SPACE ? WORD_SPACE : WORD_OTHER;
    }
    w->end = end;
    return true;
}

void words_begin(struct words *w, struct str text)
{
    *w = (struct words){ .text = text };
}

bool words_next(struct words *w)
{
    w->begin = w->end;
    if (w->begin == w->text.n) return false;
    if (!words_by_bytes(w)) words_by_all_rules(w);
    assert(w->end > w->begin && w->end <= w->text.n);
    return true;
}

/* ---- lower case ---------------------------------------------------------- */

static int lower_one(const char *s, size_t n, char *out, int *len)
{
    uint32_t cp = utf8_next(s, n, len);

    return utf8_put(out, (uint32_t)utf8proc_tolower((int32_t)cp));
}

size_t words_lower(struct str word, char *out)
{
    size_t n = 0;
    int len;

    for (size_t i = 0; i < word.n; i += (size_t)len) {
        unsigned char c = (unsigned char)word.p[i];

        if (c < 0x80) {
            out[n++] = (char)((unsigned)c - 'A' < 26 ? c + 32 : c);
            len = 1;
        } else if (c == 0xC3 && is_latin(word.p + i, word.n - i)) {
            /* U+00C0 .. U+00DE: the lower-case letter is 32 higher. */
            unsigned char d = (unsigned char)word.p[i + 1];

            out[n++] = (char)c;
            out[n++] = (char)(d < 0x9F ? d + 32 : d);
            len = 2;
        } else {
            n += (size_t)lower_one(word.p + i, word.n - i, out + n, &len);
        }
    }
    return n;
}
