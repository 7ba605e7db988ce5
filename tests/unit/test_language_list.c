/* The lists of languages, and the tokens of languages. */
#include "convert/language_list.h"
#include "test.h"

/* What the ids of known tokens say about the order: the first language of
 * M2M-100 has the id 128004, that of NLLB-200 256001. */
TEST(language_list_has_known_ids)
{
    const struct { enum language_list l; const char *code; int id, first; }
    known[] = {
        { LANGUAGES_M2M, "af", 128004, 128004 },
        { LANGUAGES_M2M, "de", 128020, 128004 },
        { LANGUAGES_M2M, "en", 128022, 128004 },
        { LANGUAGES_M2M, "fr", 128028, 128004 },
        { LANGUAGES_M2M, "zh", 128102, 128004 },
        { LANGUAGES_M2M, "zu", 128103, 128004 },
        { LANGUAGES_NLLB, "ace_Arab", 256001, 256001 },
        { LANGUAGES_NLLB, "deu_Latn", 256042, 256001 },
        { LANGUAGES_NLLB, "eng_Latn", 256047, 256001 },
        { LANGUAGES_NLLB, "fra_Latn", 256057, 256001 },
        { LANGUAGES_NLLB, "zul_Latn", 256202, 256001 },
    };

    CHECK_INT(language_list_count(LANGUAGES_M2M), 100);
    CHECK_INT(language_list_count(LANGUAGES_NLLB), 202);
    CHECK_INT(language_list_count(LANGUAGES_WMT21), 8);
    for (size_t i = 0; i < COUNT(known); i++)
        CHECK_INT(known[i].first +
                  language_list_find(known[i].l, known[i].code), known[i].id);
    CHECK_INT(language_list_find(LANGUAGES_M2M, "deu_Latn"), -1);
    CHECK_INT(language_list_find(LANGUAGES_NLLB, "de"), -1);
}

TEST(language_list_has_each_code_once)
{
    for (enum language_list l = LANGUAGES_M2M; l <= LANGUAGES_WMT21; l++)
        for (int i = 0; i < language_list_count(l); i++)
            CHECK_INT(language_list_find(l, language_list_code(l, i)), i);
}

TEST(language_list_tokens_come_back)
{
    for (enum language_list l = LANGUAGES_M2M; l <= LANGUAGES_WMT21; l++)
        for (int i = 0; i < language_list_count(l); i++) {
            const char *code = language_list_code(l, i);
            char token[16], back[16];

            REQUIRE(language_list_token(l, code, token, sizeof token));
            REQUIRE(language_list_is_token(l, token, back, sizeof back));
            CHECK_STR(back, code);
        }
}

TEST(language_list_knows_other_words)
{
    static const char *const m2m[] = {
        "", "__", "____", "__a__", "__abcd__", "__DE__", "de", "_de__",
        "__de_", "deu_Latn", "__d\xc3\xa4__"
    };
    static const char *const nllb[] = {
        "", "deu", "deu_latn", "deu-Latn", "deu_Latin", "de_Latn", "DEU_Latn",
        "__de__", "deu_LATN", "\xe2\x96\x81" "eu_Latn"
    };
    char token[8];

    for (size_t i = 0; i < COUNT(m2m); i++)
        CHECK(!language_list_is_token(LANGUAGES_M2M, m2m[i], NULL, 0));
    for (size_t i = 0; i < COUNT(nllb); i++)
        CHECK(!language_list_is_token(LANGUAGES_NLLB, nllb[i], NULL, 0));
    CHECK(!language_list_token(LANGUAGES_M2M, "a code that is long", token,
                               sizeof token));
}
