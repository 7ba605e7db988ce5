/* test_plan_languages.c - tests of finding the languages of a vocabulary. */
#include "convert/plan_languages.h"
#include "convert/plan_rows.h"
#include "test.h"

static struct vocabulary *vocabulary_of(const char *lines)
{
    struct vocabulary *v;
    struct err e;

    CHECK_OK(vocabulary_read(&v, VOCABULARY_LINES, lines, strlen(lines), "v",
                             &e), &e);
    return v;
}

static const char opus[] = "a\n>>deu<<\n>><<\n>>cmn_Hans<<\nb>>x<<\n>>x y<<";
static const char m2m[] = "</s>\n__de__\na\n__ast__\n__x1__\n____";
static const char nllb[] = "</s>\ndeu_Latn\neng_Latn\nabc_latn\nzho_Hans";

/* The message, or the list of languages. */
static char result[600];

static void plan_for(struct model_plan *p, const char *lines,
                     enum language_marks marks, enum language_tokens where,
                     const struct family_options *o)
{
    struct vocabulary *v = vocabulary_of(lines);
    struct plan_side side = { vocabulary_size(v), vocabulary_size(v), 0 };
    struct err e;

    *p = (struct model_plan){ .shared_table = true };
    strbuf_init(&p->languages, 0);
    CHECK_OK(plan_rows(p, &side, NULL, false, &e), &e);
    if (plan_languages(p, v, v, marks, where, o, &e))
        snprintf(result, sizeof result, "%s", e.msg);
    else
        snprintf(result, sizeof result, "%s", p->languages.data);
    vocabulary_free(v);
}

static void plan_end(struct model_plan *p)
{
    strbuf_release(&p->languages);
    free(p->barred);
}

TEST(finds_the_marks_of_a_vocabulary)
{
    static const struct { const char *lines; enum language_marks marks; }
    cases[] = {
        { m2m, LANGUAGE_MARKS_M2M }, { nllb, LANGUAGE_MARKS_NLLB },
        { opus, LANGUAGE_MARKS_NONE }, { "a\n__de__", LANGUAGE_MARKS_NONE },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct vocabulary *v = vocabulary_of(cases[i].lines);

        CHECK_INT(plan_language_marks(v), cases[i].marks);
        vocabulary_free(v);
    }
}

TEST(lists_and_bars_the_languages)
{
    static const struct family_options none, both = {
        .source_lang = "deu_Latn", .target_lang = "zho_Hans",
    };
    static const struct family_options one = {
        .source_lang = "en", .target_lang = "cmn_Hans",
    };
    static const struct family_options usual = {
        .source_lang = "de-AT", .target_lang = "zh",
    };
    struct model_plan p;

    plan_for(&p, m2m, LANGUAGE_MARKS_M2M, LANGUAGE_TOKENS_BOTH, &none);
    CHECK_STR(result, "de\t1\nast\t3\n");
    CHECK_INT(p.cfg.language_tokens, LANGUAGE_TOKENS_BOTH);
    CHECK_MEM(p.barred, "\0\1\0\1\0\0", 6);
    CHECK_STR(p.cfg.source_lang, "");
    plan_end(&p);
    plan_for(&p, nllb, LANGUAGE_MARKS_NLLB, LANGUAGE_TOKENS_BOTH, &both);
    CHECK_STR(result, "deu_Latn\t1\neng_Latn\t2\nzho_Hans\t4\n");
    CHECK_STR(p.cfg.source_lang, "deu_Latn");
    CHECK_STR(p.cfg.target_lang, "zho_Hans");
    plan_end(&p);
    plan_for(&p, opus, LANGUAGE_MARKS_OPUS, LANGUAGE_TOKENS_TARGET_FIRST,
             &one);
    CHECK_STR(result, "deu\t1\ncmn_Hans\t3\n");
    CHECK_STR(p.cfg.source_lang, "");
    CHECK_STR(p.cfg.target_lang, "cmn_Hans");
    plan_end(&p);
    plan_for(&p, nllb, LANGUAGE_MARKS_NLLB, LANGUAGE_TOKENS_BOTH, &usual);
    CHECK_STR(p.cfg.source_lang, "deu_Latn");
    CHECK_STR(p.cfg.target_lang, "zho_Hans");
    plan_end(&p);
    plan_for(&p, "a\nb", LANGUAGE_MARKS_OPUS, LANGUAGE_TOKENS_TARGET_FIRST,
             &one);
    CHECK_STR(result, "");
    CHECK_INT(p.cfg.language_tokens, LANGUAGE_TOKENS_NONE);
    plan_end(&p);
}

TEST(bars_the_languages_of_the_target)
{
    static const struct family_options none;
    struct vocabulary *source = vocabulary_of("a\n>>deu<<\n>>fra<<\nb");
    struct vocabulary *target = vocabulary_of(">>deu<<\nc\nd\ne");
    struct plan_side side = { 4, 4, 0 };
    struct model_plan p = { 0 };
    struct err e;

    strbuf_init(&p.languages, 0);
    CHECK_OK(plan_rows(&p, &side, &side, false, &e), &e);
    CHECK_OK(plan_languages(&p, source, target, LANGUAGE_MARKS_OPUS,
                            LANGUAGE_TOKENS_TARGET_FIRST, &none, &e), &e);
    CHECK_STR(p.languages.data, "deu\t1\nfra\t2\n");
    CHECK_MEM(p.barred, "\1\0\0\0", 4);
    vocabulary_free(source);
    vocabulary_free(target);
    plan_end(&p);
}

TEST(finds_the_language_that_a_code_means)
{
    static const struct family_options o = { .source_lang = "en-US",
                                             .target_lang = "de" };
    struct model_plan p;

    plan_for(&p, nllb, LANGUAGE_MARKS_NLLB, LANGUAGE_TOKENS_BOTH, &o);
    CHECK_STR(p.cfg.source_lang, "eng_Latn");
    CHECK_STR(p.cfg.target_lang, "deu_Latn");
    plan_end(&p);
}

TEST(refuses_languages_that_the_model_lacks)
{
    static const struct family_options target = { .target_lang = "fr" };
    static const struct family_options source = { .source_lang = "en" };
    struct model_plan p;

    plan_for(&p, nllb, LANGUAGE_MARKS_NLLB, LANGUAGE_TOKENS_BOTH, &target);
    CHECK_STR(result, "target-lang: the model does not have the language "
              "\"fr\"; it has: deu_Latn, eng_Latn, zho_Hans");
    plan_end(&p);
    plan_for(&p, m2m, LANGUAGE_MARKS_M2M, LANGUAGE_TOKENS_BOTH, &source);
    CHECK_STR(result, "source-lang: the model does not have the language "
              "\"en\"; it has: de, ast");
    plan_end(&p);
}

static void check_pair(const char *given, const char *found, const char *want)
{
    struct family_options o = { .target_lang = given };
    struct model_plan p = { 0 };
    struct err e = { 0 };

    if (plan_pair(&p, &o, "de", found, &e)) CHECK_STR(e.msg, want);
    else CHECK_STR(p.cfg.target_lang, want);
    CHECK_STR(p.cfg.source_lang, "de");
}

TEST(options_name_the_languages_of_a_pair)
{
    check_pair(NULL, NULL, "");
    check_pair(NULL, "en", "en");
    check_pair("pt-BR", "en", "pt-BR");
    check_pair("a b", "en", "target-lang: \"a b\" is not a language code");
    check_pair(NULL, "1234567890123456", "target-lang: \"1234567890123456\" "
               "is not a language code");
    check_pair("", "en", "");
}
