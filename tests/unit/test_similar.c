/* test_similar.c - compares edit distances with the textbook algorithm, and
 * tests the differences of two texts. */
#include "test.h"
#include "tm/similar.h"

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * below >> 32);
}

/* n random units of `kinds` different ones. spread: over all 32 bits. */
static void fill(uint32_t *at, size_t n, uint32_t kinds, bool spread)
{
    for (size_t i = 0; i < n; i++) {
        at[i] = draw(kinds);
        if (spread) at[i] *= 2654435761u;
    }
}

static size_t distance(struct similar *s, const uint32_t *a, size_t n,
                       const uint32_t *b, size_t m)
{
    struct err e;

    CHECK_OK(similar_set(s, a, n, &e), &e);
    return similar_distance(s, b, m);
}

static size_t reference(const uint32_t *a, size_t n, const uint32_t *b,
                        size_t m)
{
    bool ok;
    size_t d = similar_reference(a, n, b, m, &ok);

    CHECK(ok);
    return d;
}

static size_t letters(struct similar *s, const char *a, const char *b)
{
    uint32_t x[100], y[100];
    size_t n = strlen(a), m = strlen(b);

    for (size_t i = 0; i < n; i++) x[i] = (unsigned char)a[i];
    for (size_t i = 0; i < m; i++) y[i] = (unsigned char)b[i];
    CHECK_INT(reference(x, n, y, m), distance(s, x, n, y, m));
    return similar_distance(s, y, m);
}

TEST(similar_known_distances)
{
    struct similar *s;
    struct err e;

    REQUIRE_OK(similar_new(&s, &e), &e);
    CHECK_INT(letters(s, "kitten", "sitting"), 3);
    CHECK_INT(letters(s, "", ""), 0);
    CHECK_INT(letters(s, "", "abc"), 3);
    CHECK_INT(letters(s, "abc", ""), 3);
    CHECK_INT(letters(s, "abc", "abc"), 0);
    CHECK_INT(letters(s, "abc", "xyz"), 3);
    CHECK_INT(letters(s, "a", "bab"), 2);
    similar_free(s);
    similar_free(NULL);
}

/* The pattern is empty before similar_set. */
TEST(similar_without_a_pattern)
{
    static const uint32_t text[] = { 0, 1, 2 };
    struct similar *s;
    struct err e;

    REQUIRE_OK(similar_new(&s, &e), &e);
    CHECK_INT(similar_distance(s, text, 3), 3);
    CHECK_INT(similar_distance(s, NULL, 0), 0);
    similar_free(s);
}

/* Lengths around multiples of 64, with few kinds of units and many matches. */
TEST(similar_around_blocks)
{
    static const size_t len[] = { 1, 2, 62, 63, 64, 65, 66, 127, 128, 129,
                                  191, 192, 193, 256, 300 };
    uint32_t a[300], b[300];
    struct similar *s;
    struct err e;

    REQUIRE_OK(similar_new(&s, &e), &e);
    for (size_t i = 0; i < COUNT(len); i++) {
        for (size_t k = 0; k < COUNT(len); k++) {
            fill(a, len[i], 3, false);
            fill(b, len[k], 3, false);
            CHECK_INT(distance(s, a, len[i], b, len[k]),
                      reference(a, len[i], b, len[k]));
        }
        CHECK_INT(distance(s, a, len[i], a, len[i]), 0);
        CHECK_INT(similar_distance(s, b, 0), len[i]);
    }
    similar_free(s);
}

TEST(similar_random_pairs)
{
    uint32_t a[300], b[300];
    struct similar *s;
    struct err e;

    REQUIRE_OK(similar_new(&s, &e), &e);
    for (int round = 0; round < 100000; round++) {
        /* Most have the length of a sentence, one in twenty is longer. */
        uint32_t most = round % 20 ? 70 : 301, kinds = 1 + draw(30);
        size_t n = draw(most), m = draw(most);

        fill(a, n, kinds, round % 2);
        fill(b, m, kinds, round % 2);
        CHECK_INT(distance(s, a, n, b, m), reference(a, n, b, m));
    }
    similar_free(s);
}

/* After one pattern another one is set: nothing of the first remains. */
TEST(similar_patterns_in_turn)
{
    uint32_t a[200], text[8][100];
    struct similar *s;
    struct err e;

    REQUIRE_OK(similar_new(&s, &e), &e);
    for (int i = 0; i < 8; i++) fill(text[i], 100, 40, true);
    for (int round = 0; round < 500; round++) {
        size_t n = draw(201);

        fill(a, n, 40, true);
        REQUIRE_OK(similar_set(s, a, n, &e), &e);
        for (int i = 0; i < 8; i++)
            CHECK_INT(similar_distance(s, text[i], 100),
                      reference(a, n, text[i], 100));
    }
    similar_free(s);
}

/* The distance is symmetric. It is at least the difference of the lengths and
 * at most the longer one. One edit changes it by at most 1. */
TEST(similar_behaves_as_a_distance)
{
    uint32_t a[150], b[151];
    struct similar *s;
    struct err e;

    REQUIRE_OK(similar_new(&s, &e), &e);
    for (int round = 0; round < 5000; round++) {
        size_t n = 1 + draw(150), m = 1 + draw(150), d, edited;

        fill(a, n, 5, true);
        fill(b, m, 5, true);
        d = distance(s, a, n, b, m);
        CHECK_INT(distance(s, b, m, a, n), d);
        CHECK(d <= (n > m ? n : m));
        CHECK(d >= (n > m ? n - m : m - n));
        b[draw((uint32_t)m)] = draw(5) * 2654435761u;
        edited = distance(s, a, n, b, m);
        CHECK(edited <= d + 1 && d <= edited + 1);
    }
    similar_free(s);
}

TEST(similar_long_texts)
{
    size_t n = 3000, m = 2900;
    uint32_t *a = malloc(n * sizeof *a), *b = malloc(m * sizeof *b);
    struct similar *s;
    struct err e;

    REQUIRE_OK(similar_new(&s, &e), &e);
    fill(a, n, 1000, true);
    fill(b, m, 1000, true);
    memcpy(b + 1000, a + 1100, 1200 * sizeof *b);
    CHECK_INT(distance(s, a, n, b, m), reference(a, n, b, m));
    similar_free(s);
    free(a);
    free(b);
}

TEST(similar_as_a_share)
{
    CHECK_NEAR(similarity(0, 0, 0), 1, 0);
    CHECK_NEAR(similarity(0, 5, 5), 1, 0);
    CHECK_NEAR(similarity(5, 5, 0), 0, 0);
    CHECK_NEAR(similarity(1, 4, 3), 0.75, 0);
    CHECK_NEAR(similarity(1, 3, 4), 0.75, 0);
}

/* ---- differences --------------------------------------------------------- */

/* The differences as one line: kept text, [-dropped-], {+added+}. */
static const char *shown(const char *theirs, const char *ours)
{
    static const char *const mark[] = { "%.*s", "[-%.*s-]", "{+%.*s+}" };
    static char line[2000];
    struct stretches s = { 0 };
    struct err e;
    size_t at = 0;

    CHECK_OK(differences(str_of(theirs), str_of(ours), &s, &e), &e);
    for (size_t i = 0; i < s.n; i++) {
        const char *text = s.at[i].kind == EDIT_ADD ? ours : theirs;

        at += (size_t)snprintf(line + at, sizeof line - at,
                               mark[s.at[i].kind],
                               (int)(s.at[i].end - s.at[i].begin),
                               text + s.at[i].begin);
    }
    line[at] = '\0';
    stretches_release(&s);
    return line;
}

TEST(differences_of_sentences)
{
    CHECK_STR(shown("Das ist gut.", "Das ist gut."), "Das ist gut.");
    CHECK_STR(shown("Das alte Haus", "Das neue Haus"),
              "Das [-alte-]{+neue+} Haus");
    CHECK_STR(shown("a day", "a new day"), "a {+new +}day");
    CHECK_STR(shown("a new day", "a day"), "a [-new -]day");
    CHECK_STR(shown("Haus", "Neues Haus"), "{+Neues +}Haus");
    CHECK_STR(shown("Haus", "Haus am See"), "Haus{+ am See+}");
    CHECK_STR(shown("Haus am See", "Haus"), "Haus[- am See-]");
    CHECK_STR(shown("eins zwei drei", "vier f\xC3\xBCnf"),
              "[-eins zwei drei-]{+vier f\xC3\xBCnf+}");
    CHECK_STR(shown("2,5 mg.", "2,6 mg!"), "[-2,5-]{+2,6+} mg[-.-]{+!+}");
    CHECK_STR(shown("a b c d e", "a x c y e"),
              "a [-b-]{+x+} c [-d-]{+y+} e");
    CHECK_STR(shown("Ja", "ja"), "[-Ja-]{+ja+}");
}

TEST(differences_of_white_space)
{
    CHECK_STR(shown("a b", "a  b"), "a[- -]{+  +}b");
    CHECK_STR(shown("a b ", "a b"), "a b[- -]");
    CHECK_STR(shown(" a", "a"), "[- -]a");
    CHECK_STR(shown("ab", "a b"), "[-ab-]{+a b+}");
    CHECK_STR(shown("a,b", "a, b"), "a,{+ +}b");
    CHECK_STR(shown("alt\n", "neu\n"), "[-alt-]{+neu+}\n");
    CHECK_STR(shown(" ", "\t"), "[- -]{+\t+}");
    CHECK_STR(shown(" ", " "), " ");
}

TEST(differences_of_nothing)
{
    CHECK_STR(shown("", ""), "");
    CHECK_STR(shown("", "neu"), "{+neu+}");
    CHECK_STR(shown("alt", ""), "[-alt-]");
}

/* Check what similar.h guarantees for any two texts. */
static void check_promises(struct str theirs, struct str ours)
{
    struct stretches s = { 0 };
    size_t t = 0, o = 0;
    struct err e;

    CHECK_OK(differences(theirs, ours, &s, &e), &e);
    for (size_t i = 0; i < s.n; i++) {
        struct stretch x = s.at[i];
        size_t n = x.end - x.begin;

        CHECK(x.begin < x.end);
        CHECK(!i || s.at[i - 1].kind != x.kind);
        CHECK(!i || x.kind != EDIT_DROP || s.at[i - 1].kind != EDIT_ADD);
        CHECK_INT(x.begin, x.kind == EDIT_ADD ? o : t);
        if (x.kind != EDIT_ADD) t += n;
        if (x.kind == EDIT_KEEP) {
            REQUIRE(o + n <= ours.n);
            CHECK_MEM(theirs.p + x.begin, ours.p + o, n);
        }
        if (x.kind != EDIT_DROP) o += n;
    }
    CHECK_INT(t, theirs.n);
    CHECK_INT(o, ours.n);
    stretches_release(&s);
}

static size_t random_text(char *out, size_t words)
{
    static const char *const part[] = { "a", "b", "der", "T\xC3\xA4g", ".",
                                        ",", " ", " ", " ", "  ", "\n" };
    size_t n = 0;

    for (size_t i = 0; i < words; i++) {
        const char *p = part[draw(COUNT(part))];

        memcpy(out + n, p, strlen(p));
        n += strlen(p);
    }
    return n;
}

TEST(differences_keep_their_promises)
{
    char a[400], b[400];

    for (int round = 0; round < 20000; round++) {
        struct str x = { a, random_text(a, draw(40)) };
        struct str y = { b, random_text(b, draw(40)) };

        check_promises(x, y);
    }
}

/* The length of the longest common subsequence: so many words must be kept. */
static size_t common(const char *a, size_t n, const char *b, size_t m)
{
    size_t at[2][101] = { 0 };

    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t *best = &at[i % 2][j];

            *best = at[(i - 1) % 2][j];
            if (at[i % 2][j - 1] > *best) *best = at[i % 2][j - 1];
            if (a[2 * (i - 1)] == b[2 * (j - 1)])
                *best = at[(i - 1) % 2][j - 1] + 1;
        }
    return at[n % 2][m];
}

TEST(differences_keep_all_they_can)
{
    char a[201], b[201];

    for (int round = 0; round < 3000; round++) {
        size_t n = 1 + draw(100), m = 1 + draw(100), kept = 0;
        struct stretches s = { 0 };
        struct err e;

        for (size_t i = 0; i < 100; i++) {
            a[2 * i] = (char)('a' + draw(6));
            b[2 * i] = (char)('a' + draw(6));
            a[2 * i + 1] = b[2 * i + 1] = ' ';
        }
        REQUIRE_OK(differences((struct str){ a, 2 * n },
                               (struct str){ b, 2 * m }, &s, &e), &e);
        for (size_t i = 0; i < s.n; i++)
            for (size_t k = s.at[i].begin; k < s.at[i].end; k++)
                kept += s.at[i].kind == EDIT_KEEP && a[k] != ' ';
        CHECK_INT(kept, common(a, n, b, m));
        stretches_release(&s);
    }
}

/* When there are too many words to compare, the common beginning and end are
 * kept, and all between them is replaced. */
TEST(differences_of_very_long_texts)
{
    size_t n = 2 * 5000;
    char *a = malloc(n), *b = malloc(n);
    struct stretches s = { 0 };
    struct err e;

    for (size_t i = 0; i < n; i++) {
        a[i] = i % 2 ? ' ' : 'a';
        b[i] = i % 2 ? ' ' : i % 4 ? 'a' : 'b';
    }
    b[0] = 'a';
    check_promises((struct str){ a, n }, (struct str){ b, n });
    REQUIRE_OK(differences((struct str){ a, n }, (struct str){ b, n }, &s, &e),
               &e);
    CHECK_INT(s.n, 4);          /* keep, drop, add, keep */
    stretches_release(&s);
    free(a);
    free(b);
}

/* For texts that are too long for the table, only the common beginning and end
 * count. Their table would take minutes. */
TEST(distances_of_very_long_texts)
{
    const size_t n = (size_t)1 << 20;
    uint32_t *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    struct similar *s = NULL;
    struct err e = { 0 };

    REQUIRE(a && b);
    for (size_t i = 0; i < n; i++) a[i] = b[i] = (uint32_t)i;
    REQUIRE_OK(similar_new(&s, &e), &e);
    CHECK_OK(similar_set(s, a, n, &e), &e);
    CHECK_INT(similar_distance(s, b, n), 0);
    CHECK_INT(similar_distance(s, b, n - 5), 5);
    CHECK_INT(similar_distance(s, b + 7, n - 7), 7);
    b[1000] = b[1010] = UINT32_MAX;
    CHECK_INT(similar_distance(s, b, n), 11);   /* the exact distance is 2 */
    for (size_t i = 0; i < n; i++) b[i] = 1;
    CHECK_INT(similar_distance(s, b, n), n);
    similar_free(s);
    free(a);
    free(b);
}
