/* test_rindicator.c - compares R-indicator counts with counts by hand: the
 * words of a reference by how often they occurred in the document before. */
#include "metrics/rindicator.h"
#include "metrics/stopwords.h"
#include "metrics/stopwords_en.h"
#include "test.h"

/* ---- words that do not count -------------------------------------------- */

TEST(stop_words_are_in_the_list)
{
    static const char *const in[] = { "'ll", "zr", "the", "a", "yourselves",
                                      "inc.", "10", "herse\xE2\x80\x9D" };
    static const char *const out[] = { "", "The", "thq", "thee", "aspirin",
                                       "zz", "'", "zrx", "11" };

    for (size_t i = 0; i < COUNT(in); i++)
        if (!stopwords_has(str_of(in[i])))
            test_fail(__FILE__, __LINE__, "\"%s\" is not there", in[i]);
    for (size_t i = 0; i < COUNT(out); i++)
        if (stopwords_has(str_of(out[i])))
            test_fail(__FILE__, __LINE__, "\"%s\" is in the list", out[i]);
    CHECK(!stopwords_has((struct str){ NULL, 0 }));
    CHECK(stopwords_has((struct str){ "then", 3 }));
}

TEST(every_stop_word_is_found)
{
    CHECK_INT(COUNT(stopwords_en), 1298);
    for (size_t i = 0; i < COUNT(stopwords_en); i++)
        if (!stopwords_has(str_of(stopwords_en[i])))
            test_fail(__FILE__, __LINE__, "\"%s\" is not found",
                      stopwords_en[i]);
}

typedef bool count_fn(struct tally *s, struct str hyp, struct str ref,
                      int64_t *stats);

static void add(struct tally *s, count_fn *count, const char *hyp,
                const char *ref, int64_t *sums)
{
    int64_t stats[R_STATS];

    REQUIRE(count(s, str_of(hyp), str_of(ref), stats));
    for (int i = 0; i < R_STATS; i++) sums[i] += stats[i];
}

/* Checks how many words of a reference count, without and with stop words. */
static int words_of(const char *ref, count_fn *count)
{
    int64_t sums[R_STATS] = { 0 };
    struct tally s;

    tally_init(&s);
    add(&s, count, "", ref, sums);
    tally_release(&s);
    for (int b = 1; b < R_BUCKETS; b++) CHECK_INT(sums[R_WORDS + b], 0);
    return (int)sums[R_WORDS];
}

TEST(some_words_do_not_count)
{
    static const struct { const char *ref; int content, all; } cases[] = {
        { "", 0, 0 },
        { "Aspirin relieves pain .", 3, 3 },
        { "the The THE and", 0, 4 },            /* stop words in any case */
        { "aspirin aspirin Aspirin", 2, 2 },    /* each word counts once */
        { "12 12.5 007 5.", 0, 0 },
        { "1,000 12a .5 1.2.3", 4, 4 },         /* not plain numbers */
        { "- ! ? : ; % ( ) * / @ # $ ^ _ ~ `", 0, 0 },
        { ", . { } = + \\", 0, 0 },
        { "-- ... \xE2\x80\xA6 \xC2\xB0", 4, 4 },       /* not one ASCII mark */
        { "\" ' & < > [ ] |", 8, 8 },           /* Moses escapes these */
        { "well-known x-", 2, 2 }
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        int n = words_of(cases[i].ref, rindicator_count);
        int all = words_of(cases[i].ref, rindicator_count_all);

        if (n != cases[i].content || all != cases[i].all)
            test_fail(__FILE__, __LINE__, "\"%s\": %d and %d words, want %d "
                      "and %d", cases[i].ref, n, all, cases[i].content,
                      cases[i].all);
    }
}

/* ---- earlier occurrences ------------------------------------------------ */

TEST(buckets_have_the_right_limits)
{
    static const int want[] = { 0, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4 };

    for (size_t i = 0; i < COUNT(want); i++)
        CHECK_INT(rindicator_bucket((uint32_t)i), want[i]);
    CHECK_INT(rindicator_bucket(UINT32_MAX), 4);
}

static void check_sums(const int64_t *sums, const int *found, const int *words)
{
    for (int b = 0; b < R_BUCKETS; b++) {
        if (sums[R_FOUND + b] != found[b] || sums[R_WORDS + b] != words[b])
            test_fail(__FILE__, __LINE__, "bucket %d: %d of %d, want %d of %d",
                      b, (int)sums[R_FOUND + b], (int)sums[R_WORDS + b],
                      found[b], words[b]);
    }
}

TEST(each_line_raises_the_count_of_a_word)
{
    static const int words[] = { 1, 1, 4, 4, 3 }, found[] = { 0, 1, 4, 4, 3 };
    int64_t sums[R_STATS] = { 0 };
    struct tally s;

    tally_init(&s);
    for (int i = 0; i < 13; i++)
        add(&s, rindicator_count, i ? "zinc" : "zink", "zinc zinc", sums);
    tally_release(&s);
    check_sums(sums, found, words);
    CHECK_NEAR(rindicator_score(sums), 100.0 * 12 / 13, 1e-12);
}

/* The words of each reference, with the number of earlier references that have
 * them, and those that the translation has too:
 *
 * line  reference                 also in the translation
 * 1     aspirin(0) relieves(0)    aspirin
 * 2     aspirin(1) lowers(0)      lowers ("relieves" is not in the reference)
 * 3     Aspirin(0) relieves(1)    relieves (line 1 counts, though it missed it)
 * -- another document
 * 4     aspirin(0)                aspirin                                */
TEST(documents_begin_with_counts_of_zero)
{
    static const int found[] = { 3, 1, 0, 0, 0 }, words[] = { 5, 2, 0, 0, 0 };
    int64_t sums[R_STATS] = { 0 };
    struct tally s;

    tally_init(&s);
    add(&s, rindicator_count, "aspirin", "The aspirin relieves.", sums);
    add(&s, rindicator_count, "relieves and lowers", "aspirin lowers", sums);
    add(&s, rindicator_count, "aspirin relieves", "Aspirin relieves", sums);
    tally_begin_document(&s);
    add(&s, rindicator_count, "aspirin", "aspirin", sums);
    tally_release(&s);
    check_sums(sums, found, words);
}

TEST(words_of_earlier_translations_do_not_count)
{
    static const int found[] = { 1, 0, 0, 0, 0 }, words[] = { 2, 0, 0, 0, 0 };
    int64_t sums[R_STATS] = { 0 };
    struct tally s;

    tally_init(&s);
    add(&s, rindicator_count, "zinc zinc", "copper", sums);
    add(&s, rindicator_count, "zinc", "zinc", sums);
    tally_release(&s);
    check_sums(sums, found, words);
}

TEST(counts_with_and_without_stop_words_are_independent)
{
    static const int found[] = { 1, 1, 0, 0, 0 }, words[] = { 1, 1, 0, 0, 0 };
    static const int found_all[] = { 2, 1, 0, 0, 0 };
    static const int words_all[] = { 2, 2, 0, 0, 0 };
    int64_t some[R_STATS] = { 0 }, all[R_STATS] = { 0 };
    struct tally s;

    tally_init(&s);
    for (int i = 0; i < 2; i++) {
        const char *hyp = i ? "zinc" : "the zinc";

        add(&s, rindicator_count, hyp, "the zinc", some);
        add(&s, rindicator_count_all, hyp, "the zinc", all);
    }
    tally_release(&s);
    check_sums(some, found, words);
    check_sums(all, found_all, words_all);
}

/* Hash keys that were too similar once confused such words. */
TEST(short_words_are_distinguished)
{
    int64_t some[R_STATS] = { 0 }, all[R_STATS] = { 0 };
    char text[26 * 4 + 1] = "";
    struct tally s;

    for (int i = 0; i < 26; i++)
        sprintf(text + 4 * i, "qq%c ", 'A' + i);
    tally_init(&s);
    add(&s, rindicator_count, "", text, some);
    add(&s, rindicator_count_all, "", text, all);
    tally_release(&s);
    CHECK(some[R_WORDS] == 26 && some[R_WORDS + 1] == 0);
    CHECK(all[R_WORDS] == 26 && all[R_WORDS + 1] == 0);
}

TEST(details_have_names)
{
    static const int64_t sums[R_STATS] = { 1, 0, 3, 0, 0, 4, 2, 3, 0, 0 };
    double v = 0;

    CHECK_STR(rindicator_detail(sums, 0, &v), "r0");
    CHECK_NEAR(v, 25, 1e-12);
    CHECK_STR(rindicator_detail(sums, 1, &v), "r1");
    CHECK(v == 0);
    CHECK_STR(rindicator_detail(sums, 2, &v), "r2_5");
    CHECK_NEAR(v, 100, 1e-12);
    CHECK_STR(rindicator_detail(sums, 4, &v), "r10");
    CHECK(isnan(v));
    CHECK_STR(rindicator_detail(sums, 5, &v), "found_r0");
    CHECK(v == 1);
    CHECK_STR(rindicator_detail(sums, 11, &v), "words_r1");
    CHECK(v == 2);
    CHECK_STR(rindicator_detail(sums, 14, &v), "words_r10");
    CHECK(!rindicator_detail(sums, 15, &v) && !rindicator_detail(sums, -1, &v));
    CHECK_NEAR(rindicator_score(sums), 100.0 * 4 / 9, 1e-12);
}

TEST(the_score_without_words_is_zero)
{
    static const int64_t none[R_STATS];

    CHECK(rindicator_score(none) == 0);
}
