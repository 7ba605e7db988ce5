/* test_words.c - word borders and lower case.
 *
 * Borders are compared with Unicode's own examples (word_break.txt is a part of
 * its WordBreakTest.txt) and with a direct implementation of the rules of UAX
 * #29. */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "test.h"
#include "text/utf8.h"
#include "text/word_break.h"
#include "text/words.h"

#define WHOLE "/usr/share/unicode/auxiliary/WordBreakTest.txt"

/* Returns the stretches of a text, or only its terms, joined by "|". */
static const char *cut(const char *text, bool terms_only)
{
    static char line[4000];
    struct words w;
    size_t at = 0, done = 0;

    words_begin(&w, str_of(text));
    while (words_next(&w)) {
        CHECK(w.begin == done && w.end > w.begin);
        done = w.end;
        if (terms_only && w.kind != WORD_TERM) continue;
        at += (size_t)snprintf(line + at, sizeof line - at, "%s%.*s",
                               at ? "|" : "", (int)(w.end - w.begin),
                               text + w.begin);
    }
    CHECK_INT(done, strlen(text));
    line[at] = '\0';
    return line;
}

#define BORDERS(text, want) CHECK_STR(cut(text, false), want)
#define TERMS(text, want) CHECK_STR(cut(text, true), want)

TEST(words_of_german)
{
    BORDERS("Gr\xC3\xB6\xC3\x9F" "e: 2,5 mg.",
            "Gr\xC3\xB6\xC3\x9F" "e|:| |2,5| |mg|.");
    TERMS("Nehmen Sie 2 Tab@@ letten , 2,5 mg !",
          "Nehmen|Sie|2|Tab|letten|2,5|mg");
    TERMS("z.B. 1.000,50 und 3.14 v.1 a.1 1.a",
          "z.B|1.000,50|und|3.14|v|1|a|1|1|a");
    TERMS("don't rock'n'roll 'quoted' it\xE2\x80\x99s",
          "don't|rock'n'roll|quoted|it\xE2\x80\x99s");
    TERMS("up-to-date a/b x=y", "up|to|date|a|b|x|y");
    TERMS("a:b 1:2 a,b a;b 1;2 1'000", "a:b|1|2|a|b|a|b|1;2|1'000");
    TERMS("\xC3\x84nd.\xC3\xBC" "b \xC3\x97 \xC3\xB7 5\xC3\x97" "5",
          "\xC3\x84nd.\xC3\xBC" "b|5|5");
}

TEST(words_underscore)
{
    TERMS("_ __ foo_bar _x x_ 1_000 a_.b", "foo_bar|_x|x_|1_000|a_|b");
    BORDERS("_ a", "_| |a");
}

TEST(words_marks_belong_to_letters)
{
    TERMS("a\xCC\x88nderung \xC2\xADx a\xC2\xAD" "b a\xE2\x80\x8D.b",
          "a\xCC\x88nderung|x|a\xC2\xAD" "b|a\xE2\x80\x8D.b");
    BORDERS("a.\xCC\x88" "b", "a.\xCC\x88" "b");
    BORDERS("a.\xCC\x88 b", "a|.\xCC\x88| |b");
    BORDERS("1,\xCC\x88" "2", "1,\xCC\x88" "2");
    BORDERS("!\xCC\x88 \xCC\x88", "!\xCC\x88| \xCC\x88");
}

TEST(words_of_other_scripts)
{
    /* Han and Hiragana letters are words; Katakana and Hangul form runs. */
    TERMS("\xE6\xBC\xA2\xE5\xAD\x97\xE3\x81\x8B\xE3\x81\xAA",
          "\xE6\xBC\xA2|\xE5\xAD\x97|\xE3\x81\x8B|\xE3\x81\xAA");
    TERMS("\xE3\x82\xAB\xE3\x83\x8A \xED\x95\x9C\xEA\xB8\x80",
          "\xE3\x82\xAB\xE3\x83\x8A|\xED\x95\x9C\xEA\xB8\x80");
    TERMS("\xF0\xA0\x80\x80\xF0\xA0\x80\x81",
          "\xF0\xA0\x80\x80|\xF0\xA0\x80\x81");
    /* Thai has no spaces: a run is one word. */
    TERMS("\xE0\xB9\x84\xE0\xB8\x97\xE0\xB8\xA2 a",
          "\xE0\xB9\x84\xE0\xB8\x97\xE0\xB8\xA2|a");
    TERMS("\xD7\x90\"\xD7\x91 \xD7\x90' \xD7\x90\"",
          "\xD7\x90\"\xD7\x91|\xD7\x90'|\xD7\x90");
    /* Full-width digits are digits; superscripts are not. */
    TERMS("\xEF\xBC\x91\xEF\xBC\x92 m\xC2\xB2", "\xEF\xBC\x91\xEF\xBC\x92|m");
}

TEST(words_pictures_are_no_terms)
{
    TERMS("\xF0\x9F\x98\x80 x \xE2\x82\xAC \xC2\xA9", "x");
    /* A family is one stretch, flags are pairs. */
    BORDERS("\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7.",
            "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7|.");
    BORDERS("\xF0\x9F\x87\xA9\xE2\x80\x8D\xE2\x84\xB9_",
            "\xF0\x9F\x87\xA9\xE2\x80\x8D\xE2\x84\xB9_");
    BORDERS("\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xAB",
            "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA|\xF0\x9F\x87\xAB");
}

static void check_kind(const char *text, enum word_kind kind)
{
    struct words w;

    words_begin(&w, str_of(text));
    CHECK(words_next(&w));
    CHECK_INT(w.kind, kind);
    CHECK_INT(w.end, strlen(text));
    CHECK(!words_next(&w));
    CHECK(!words_next(&w));
}

TEST(words_kinds)
{
    static const char *const space[] = {
        " ", "   ", "\t", "\n", "\r\n", "\f", "\xC2\x85", "\xC2\xA0",
        "\xE2\x80\xAF", "\xE3\x80\x80", "\xE2\x80\xA8", " \xE2\x80\x83 "
    };
    static const char *const other[] = {
        "_", "__", ".", "\"", "\x01", "\x7F", "\xC3\x97", "\xCC\x88",
        "\xE2\x80\x8B", "\xFF", " \xCC\x88", "\xF0\x9F\x98\x80"
    };
    static const char *const term[] = {
        "a", "1", "\xC3\xA4", "_1", "a\xCC\x88", "\xE6\xBC\xA2", "\xE2\x84\xB9"
    };

    for (size_t i = 0; i < COUNT(space); i++) check_kind(space[i], WORD_SPACE);
    for (size_t i = 0; i < COUNT(other); i++) check_kind(other[i], WORD_OTHER);
    for (size_t i = 0; i < COUNT(term); i++) check_kind(term[i], WORD_TERM);
    BORDERS("", "");
    BORDERS("\r\r\n\n", "\r|\r\n|\n");
    BORDERS("\t\t", "\t|\t");
    BORDERS("mot\xE2\x80\xAF!", "mot|\xE2\x80\xAF|!");
}

/* An invalid byte is a stretch of its own and joins nothing. */
TEST(words_of_broken_text)
{
    BORDERS("a\xFF" "b", "a|\xFF|b");
    BORDERS("a\xC3", "a|\xC3");
    BORDERS("a\xC3" "b \xC3", "a|\xC3|b| |\xC3");
    BORDERS("\xC3\x28 1.\xE2\x80", "\xC3|(| |1|.|\xE2|\x80");
    BORDERS("\x80\x80", "\x80|\x80");
}

static size_t count_stretches(const char *text, size_t n, size_t *longest)
{
    struct words w;
    size_t count = 0;

    *longest = 0;
    words_begin(&w, (struct str){ text, n });
    while (words_next(&w)) {
        size_t chars = 0;

        for (size_t i = w.begin; i < w.end; i++)
            chars += (text[i] & 0xC0) != 0x80;
        if (chars > *longest) *longest = chars;
        count++;
    }
    return count;
}

TEST(words_have_a_longest)
{
    char text[2000];
    size_t longest;

    memset(text, 'a', sizeof text);
    CHECK_INT(count_stretches(text, 255, &longest), 1);
    CHECK_INT(count_stretches(text, 256, &longest), 2);
    CHECK_INT(longest, 255);
    CHECK_INT(count_stretches(text, 1000, &longest), 4);
    text[254] = '.';            /* what follows does not affect this word */
    CHECK_INT(count_stretches(text, 300, &longest), 3);
    CHECK_INT(longest, 254);
    for (size_t i = 0; i < 1000; i++) memcpy(text + 2 * i, "\xC3\xA4", 2);
    CHECK_INT(count_stretches(text, 510, &longest), 1);
    CHECK_INT(count_stretches(text, 512, &longest), 2);
    CHECK_INT(longest, 255);
}

/* ---- Unicode's examples -------------------------------------------------- */

/* A line is "/ 0061 x 0308 / 0020 /": / is a border, x is none. */
static bool check_line(char *line)
{
    char text[400], got[100] = "", want[100] = "";
    size_t border[100], n_borders = 0, n = 0;
    struct words w;

    for (char *t = strtok(line, " \t\n"); t; t = strtok(NULL, " \t\n")) {
        if (!strcmp(t, "\xC3\xB7")) border[n_borders++] = n;
        else if (strcmp(t, "\xC3\x97"))
            n += (size_t)utf8_put(text + n, (uint32_t)strtoul(t, NULL, 16));
    }
    if (!n) return false;
    for (size_t i = 1; i < n_borders; i++)
        sprintf(want + strlen(want), " %zu", border[i]);
    words_begin(&w, (struct str){ text, n });
    while (words_next(&w)) sprintf(got + strlen(got), " %zu", w.end);
    CHECK_STR(got, want);
    return true;
}

static int check_examples(FILE *in)
{
    char *line = NULL, *comment;
    size_t cap = 0;
    int n = 0;

    while (getline(&line, &cap, in) > 0) {
        if ((comment = strchr(line, '#'))) *comment = '\0';
        n += check_line(line);
    }
    free(line);
    fclose(in);
    return n;
}

TEST(words_unicode_examples)
{
    FILE *in = fopen(test_data("word_break.txt"), "r");

    REQUIRE(in != NULL);
    CHECK_INT(check_examples(in), 365);
}

TEST(words_unicode_examples_all)
{
    FILE *in = fopen(WHOLE, "r");

    if (!in) SKIP("unicode-data is not installed");
    CHECK(check_examples(in) > 1000);
}

/* ---- the rules, one by one ----------------------------------------------- */

/* The random texts consist of these: every class, and those of the fast path
 * several times. */
static const uint32_t alphabet[] = {
    'a', 'Z', 'q', '0', '7', '_', '.', ',', ':', ';', '\'', '"', ' ', ' ', '-',
    '@', '\t', '\n', '\r', 0xE4, 0xDF, 0x17F, 0xD7, 0xF7, 0xAD, 0x308, 0x200D,
    0x2019, 0xB7, 0x5D0, 0x5D1, 0x30AB, 0x6F22, 0x304B, 0xE01, 0xE02, 0x1F1E9,
    0x1F600, 0x2139, 0xA9, 0x2028, 0x3000, 0x202F, 0x203F, 0x20000, 0xE0001,
    0xFF11, 0x661, 0x66C, 0xAC00, 0x180, 0xFFFD, 0x10FFFF
};

struct letters {
    uint32_t cp[40];
    char class[40];
    int n;
};

static char table_class(uint32_t cp)
{
    if (cp < WB_TABLED)
        return word_break_block[word_break_index[cp / WB_BLOCK]][cp % WB_BLOCK];
    for (size_t i = 0; i < COUNT(word_break_high); i++)
        if (cp >= word_break_high[i].first && cp <= word_break_high[i].last)
            return word_break_high[i].cls;
    return WB_PLAIN;
}

static int class_at(const struct letters *t, int i)
{
    return i < 0 || i >= t->n ? -1 : (int)WB_CLASS(t->class[i]);
}

static bool is_newline(int c)
{
    return c == WB_CR || c == WB_LF || c == WB_NEWLINE;
}

static bool is_ignorable(int c)
{
    return c == WB_EXTEND || c == WB_FORMAT || c == WB_ZWJ;
}

static bool is_letter(int c) { return c == WB_LETTER || c == WB_HEBREW; }

static bool is_quote_dot(int c) { return c == WB_MIDNUMLET || c == WB_SQUOTE; }

/* Returns the letter before or after i, skipping what WB4 ignores. */
static int skip(const struct letters *t, int i, int step)
{
    for (i += step; is_ignorable(class_at(t, i)); i += step)
        ;
    return i;
}

/* Returns whether there is a border before letter i (0 < i < n). */
static bool is_border(const struct letters *t, int i)
{
    int before = class_at(t, i - 1), c = class_at(t, i), flags = 0;
    int at = i - 1, a, aa, cc;

    if (before == WB_CR && c == WB_LF) return false;            /* WB3 */
    if (is_newline(before) || is_newline(c)) return true;       /* WB3a, b */
    if (before == WB_ZWJ && WB_IS_PICTOGRAPH(t->class[i])) return false;
    if (before == WB_WSEG && c == WB_WSEG) return false;        /* WB3c, d */
    if (is_ignorable(c)) return false;                          /* WB4 */
    if (is_ignorable(before)) at = skip(t, i - 1, -1);
    if (at < 0 || is_newline(class_at(t, at))) return true;
    a = class_at(t, at);
    aa = class_at(t, skip(t, at, -1));
    cc = class_at(t, skip(t, i, 1));
    if (is_letter(a) && is_letter(c)) return false;             /* WB5 */
    if (is_letter(a) && (c == WB_MIDLETTER || is_quote_dot(c)) &&
        is_letter(cc)) return false;                            /* WB6 */
    if (is_letter(aa) && (a == WB_MIDLETTER || is_quote_dot(a)) &&
        is_letter(c)) return false;                             /* WB7 */
    if (a == WB_HEBREW && c == WB_SQUOTE) return false;         /* WB7a */
    if (a == WB_HEBREW && c == WB_DQUOTE && cc == WB_HEBREW) return false;
    if (aa == WB_HEBREW && a == WB_DQUOTE && c == WB_HEBREW) return false;
    if ((a == WB_NUMERIC || is_letter(a)) && c == WB_NUMERIC) return false;
    if (a == WB_NUMERIC && is_letter(c)) return false;          /* WB8-10 */
    if (aa == WB_NUMERIC && (a == WB_MIDNUM || is_quote_dot(a)) &&
        c == WB_NUMERIC) return false;                          /* WB11 */
    if (a == WB_NUMERIC && (c == WB_MIDNUM || is_quote_dot(c)) &&
        cc == WB_NUMERIC) return false;                         /* WB12 */
    if (a == WB_KATAKANA && c == WB_KATAKANA) return false;     /* WB13 */
    if ((is_letter(a) || a == WB_NUMERIC || a == WB_KATAKANA ||
         a == WB_EXTENDNUM) && c == WB_EXTENDNUM) return false; /* WB13a */
    if (a == WB_EXTENDNUM && (is_letter(c) || c == WB_NUMERIC ||
                              c == WB_KATAKANA)) return false;  /* WB13b */
    for (int k = at; class_at(t, k) == WB_RI; k = skip(t, k, -1)) flags++;
    if (c == WB_RI && flags % 2) return false;                  /* WB15, 16 */
    return !(a == WB_SOUTHEAST && c == WB_SOUTHEAST);
}

static void check_letters(const struct letters *t)
{
    char text[200], got[400] = "", want[400] = "";
    size_t n = 0, at_g = 0, at_w = 0;
    struct words w;

    for (int i = 0; i < t->n; i++) {
        if (i && is_border(t, i))
            at_w += (size_t)sprintf(want + at_w, " %zu", n);
        n += (size_t)utf8_put(text + n, t->cp[i]);
    }
    sprintf(want + at_w, " %zu", n);
    words_begin(&w, (struct str){ text, n });
    while (words_next(&w))
        at_g += (size_t)sprintf(got + at_g, " %zu", w.end);
    if (strcmp(got, want))
        test_fail(__FILE__, __LINE__, "%.*s: borders%s, want%s", (int)n, text,
                  got, want);
}

TEST(words_follow_the_rules)
{
    uint32_t seed = 1;

    for (int round = 0; round < 200000; round++) {
        struct letters t = { .n = 1 + round % 12 };
        /* Every other round uses only letters of the fast path. */
        size_t n = round % 2 ? COUNT(alphabet) : 24;

        for (int i = 0; i < t.n; i++) {
            seed = seed * 1664525 + 1013904223;
            t.cp[i] = alphabet[(seed >> 8) % n];
            t.class[i] = table_class(t.cp[i]);
        }
        check_letters(&t);
    }
}

/* A word of several million letters, which would take forever in quadratic
 * time. It is cut into words of WORD_CHARS_MAX letters by either path. */
TEST(words_of_a_very_long_text)
{
    static const char *const unit[] = { "a", "\xC3\xA9", "7", "a.", "1,", "_",
                                        "\xE2\x80\xAF", "'", "a\xCC\x81" };
    const size_t size = (size_t)4 << 20;
    char *text = malloc(size);

    REQUIRE(text);
    for (size_t k = 0; k < COUNT(unit); k++) {
        size_t len = strlen(unit[k]), n = size / len * len, done = 0;
        struct words w;

        for (size_t i = 0; i < n; i += len) memcpy(text + i, unit[k], len);
        words_begin(&w, (struct str){ text, n });
        while (words_next(&w)) {
            CHECK(w.begin == done && w.end > w.begin);
            CHECK(utf8_count(text + w.begin, w.end - w.begin) <=
                  WORD_CHARS_MAX);
            done = w.end;
        }
        CHECK_INT(done, n);
    }
    free(text);
}

/* For words of about the maximum length, the fast path falls back to the full
 * rules. The borders are the same. */
TEST(words_are_cut_at_the_same_place_by_both_paths)
{
    char text[WORD_CHARS_MAX + 40];

    for (int n = WORD_CHARS_MAX - 3; n < WORD_CHARS_MAX + 4; n++)
        for (int mark = 0; mark < 3; mark++) {
            struct words w;
            int first = n < WORD_CHARS_MAX ? n : WORD_CHARS_MAX;

            memset(text, 'a', sizeof text);
            text[n] = " .,"[mark];              /* 'a.a' is one word */
            words_begin(&w, (struct str){ text, (size_t)n + 20 });
            CHECK(words_next(&w) && w.begin == 0);
            if (mark == 1)
                first = n + 2 <= WORD_CHARS_MAX ? WORD_CHARS_MAX
                        : n < WORD_CHARS_MAX ? n : WORD_CHARS_MAX;
            if (mark == 1 && n + 20 < first) first = n + 20;
            CHECK_INT(w.end, first);
            CHECK_INT(w.kind, WORD_TERM);
        }
}

/* ---- lower case ---------------------------------------------------------- */

static const char *lower(const char *text)
{
    static char out[WORD_LOWER_MAX + 1];

    out[words_lower(str_of(text), out)] = '\0';
    return out;
}

TEST(words_in_lower_case)
{
    CHECK_STR(lower("ABC xyz 12 [@`{"), "abc xyz 12 [@`{");
    CHECK_STR(lower("\xC3\x84\xC3\x96\xC3\x9C\xC3\x9F\xC3\x97\xC3\xB7"),
              "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F\xC3\x97\xC3\xB7");
    CHECK_STR(lower("\xE1\xBA\x9E"), "\xC3\x9F");       /* capital sharp s */
    CHECK_STR(lower("\xC4\xB0"), "i");                  /* I with a dot */
    CHECK_STR(lower("I"), "i");
    CHECK_STR(lower("\xCE\xA3\xCE\x91\xCE\xA3"), "\xCF\x83\xCE\xB1\xCF\x83");
    CHECK_STR(lower("\xC8\xBA"), "\xE2\xB1\xA5");  /* lower case is longer */
    CHECK_STR(lower("\xF0\x90\x90\x80"), "\xF0\x90\x90\xA8");
    CHECK_STR(lower(""), "");
    CHECK_STR(lower("A\xFF" "B\xC3"), "a\xEF\xBF\xBD" "b\xEF\xBF\xBD");
}

TEST(words_lower_case_of_every_letter)
{
    for (uint32_t cp = 1; cp < 0x110000; cp++) {
        char in[5], want[5], out[12];
        size_t n;

        if (cp >= 0xD800 && cp < 0xE000) continue;
        n = (size_t)utf8_put(in, cp);
        want[utf8_put(want, (uint32_t)utf8proc_tolower((int32_t)cp))] = '\0';
        out[words_lower((struct str){ in, n }, out)] = '\0';
        CHECK_STR(out, want);
    }
}
