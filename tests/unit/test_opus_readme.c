/* test_opus_readme.c - the facts in the README.md of an OPUS-MT package. */
#include "test.h"

#include "convert/opus_readme.h"

#define STORE "https://object.pouta.csc.fi/OPUS-MT-models/"

static void expect_facts(const char *text, const char *source,
                         const char *target, const char *origin)
{
    struct opus_readme r;

    opus_readme_read(&r, text, strlen(text));
    CHECK_STR(r.source, source);
    CHECK_STR(r.target, target);
    CHECK_STR(r.origin, origin);
}

TEST(packages_of_2021)
{
    expect_facts("# opus-2021-02-18.zip\n\n* dataset: opus\n"
                 "* model: transformer-align\n* source language(s): deu\n"
                 "* target language(s): eng\r\n* model: transformer-align\n"
                 "* download: [opus.zip](" STORE "deu-eng/opus.zip)\n\n"
                 "## Benchmarks\n", "deu", "eng", STORE "deu-eng/opus.zip");
    /* Languages in their own scripts, and lists. */
    expect_facts("* source language(s): tgl_Latn\n"
                 "* target language(s): dan isl nno\n", "tgl_Latn", "", "");
}

TEST(packages_of_2020)
{
    expect_facts("* dataset: opus\n* download: [opus.zip](" STORE
                 "de-en/opus.zip)\n", "de", "en", STORE "de-en/opus.zip");
    expect_facts("* download: [opus.zip](" STORE "de+nl-en+sv/opus.zip)\n", "",
                 "", STORE "de+nl-en+sv/opus.zip");
    expect_facts("* download: [opus.zip](opus.zip)\n", "", "", "opus.zip");
}

TEST(several_releases)
{
    expect_facts("* source language(s): heb\n* download: [a](x/a.zip)\n"
                 "* target language(s): dan\n"
                 "* source language(s): heb\n* download: [b](x/b.zip)\n"
                 "* target language(s): dan swe\n", "heb", "", "");
}

TEST(other_texts)
{
    expect_facts("", "", "", "");
    expect_facts("source language(s): de\n", "", "", "");
    expect_facts("* source language(s)\n* source language(s):", "", "", "");
    expect_facts("* download: [a](b", "", "", "");
    expect_facts("* download: (a b)\n", "", "", "");
    expect_facts("* source language(s): a-very-long-name-of-a-language\n", "",
                 "", "");
    expect_facts("* source language(s): de\x01\n", "", "", "");
}
