/* test_moses.c - tests that English text is split into words as Moses does it.
 *
 * The cases were compared with a Perl program that has the same rules. So were
 * 440,000 lines of corpora and 300,000 lines of random characters; the only
 * differences were the combining marks of Devanagari (see moses.h). */
#include "metrics/moses.h"
#include "test.h"

/* The result is valid until the next call. */
static const char *cut(const char *text, size_t n, enum moses_hyphens hyphens)
{
    static char kept[400];
    struct strbuf out;

    strbuf_init(&out, 0);
    CHECK(moses_words(&out, (struct str){ text, n }, hyphens));
    snprintf(kept, sizeof kept, "%s", out.data);
    strbuf_release(&out);
    return kept;
}

static const char *words(const char *text)
{
    return cut(text, strlen(text), MOSES_HYPHENS_STAY);
}

TEST(a_sentence_with_everything)
{
    static const char text[] =
        "Hello, Mr. Smith's well-known dog can't run... 1,234.5 (ok) [x] "
        "\"q\" & <b> i.e. this. Fig. 3 e.g. that No. 5 is. End.";

    CHECK_STR(cut(text, strlen(text), MOSES_HYPHENS_SPLIT),
              "Hello , Mr. Smith &apos;s well @-@ known dog can &apos;t run "
              "... 1,234.5 ( ok ) &#91; x &#93; &quot; q &quot; &amp; &lt; b "
              "&gt; i.e. this . Fig . 3 e.g. that No. 5 is . End .");
}

TEST(hyphens_stay_or_split)
{
    CHECK_STR(words("well-known 3-4 a- -b --"), "well-known 3-4 a- -b --");
    CHECK_STR(cut("a-b-c 3-4 a- -b x--y", 20, MOSES_HYPHENS_SPLIT),
              "a @-@ b @-@ c 3 @-@ 4 a- -b x--y");
}

TEST(marks_stand_alone)
{
    CHECK_STR(words("a_b;c:d!e?(f)%g"), "a _ b ; c : d ! e ? ( f ) % g");
    CHECK_STR(words("a|b \xE2\x82\xAC" "5 \xC2\xABx\xC2\xBB"),
              "a &#124; b \xE2\x82\xAC 5 \xC2\xAB x \xC2\xBB");
    CHECK_STR(words("&quot;x&quot;"), "&amp; quot ; x &amp; quot ;");
    CHECK_STR(words("`a` \xC3\xA9t\xC3\xA9"), "`a` \xC3\xA9t\xC3\xA9");
}

TEST(commas_stay_in_numbers)
{
    CHECK_STR(words("5,300 a,b,c,d 5,a a,5 ,5 5, 5,"),
              "5,300 a , b , c , d 5 , a a , 5 , 5 5 , 5 ,");
    CHECK_STR(words("5,"), "5 ,");
    CHECK_STR(words(",5"), ",5");               /* no rule matches at 0 */
    CHECK_STR(words("a,,b"), "a , , b");
    /* The Roman numeral eight (U+2167) counts as a letter and as a number, one
     * half (U+00BD) only as a number. */
    CHECK_STR(words("5,\xE2\x85\xA7 5,\xC2\xBD"),
              "5,\xE2\x85\xA7 5 , \xC2\xBD");
}

TEST(apostrophes_stay_with_the_letters_after_them)
{
    CHECK_STR(words("can't we'll o'clock"),
              "can &apos;t we &apos;ll o &apos;clock");
    CHECK_STR(words("the dogs' bone"), "the dogs &apos; bone");
    CHECK_STR(words("he said 'yes' twice"),
              "he said &apos; yes &apos; twice");
    CHECK_STR(words("the 1990's or 5'x"), "the 1990 &apos;s or 5&apos;x");
    /* The rules need a character before and after the apostrophe. */
    CHECK_STR(words("'tis dogs'"), "&apos;tis dogs&apos;");
    CHECK_STR(words("the 'end.'"), "the &apos; end . &apos;");
    CHECK_STR(words("the end .'"), "the end . &apos;");
    CHECK_STR(words(".'"), ". &apos;");
}

TEST(full_stops_split_from_words_but_not_from_abbreviations)
{
    CHECK_STR(words("This is it. That is it."), "This is it . That is it .");
    CHECK_STR(words("Dr. No met J. Smith"), "Dr. No met J. Smith");
    CHECK_STR(words("approx. five approx. Five"), "approx. five approx . Five");
    CHECK_STR(words("the U.S. Army p.m. Then"), "the U.S. Army p.m. Then");
    CHECK_STR(words("No. 5 No. Five"), "No. 5 No . Five");
    CHECK_STR(words("see 2.5. Then 7. Eight"), "see 2.5 . Then 7 . Eight");
    CHECK_STR(words("ask Mr."), "ask Mr .");    /* the last one splits */
    CHECK_STR(words("ask Mr. "), "ask Mr .");
    /* A parenthesis follows, not a lower-case letter. */
    CHECK_STR(words("it (etc.) goes"), "it ( etc . ) goes");
    CHECK_STR(words("."), ".");
}

TEST(runs_of_dots_are_a_word)
{
    CHECK_STR(words("wait... what..no"), "wait ... what .. no");
    CHECK_STR(words("..."), "...");
    CHECK_STR(words("a.b...c. d"), "a.b ... c. d");
}

TEST(white_space_and_controls)
{
    CHECK_STR(words(""), "");
    CHECK_STR(words(" \t\n"), "");
    CHECK_STR(words("  a\t\tb\xC2\xA0" "c\xE2\x80\x83" "d\r\n"), "a b c d");
    CHECK_STR(words("a\x01" "b\x1C" "c"), "abc");
    CHECK_STR(cut("a\0b", 3, MOSES_HYPHENS_STAY), "ab");
}
