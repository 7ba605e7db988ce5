/* Codes of languages: reading, comparing and writing them. */
#include "convert/language_list.h"
#include "test.h"
#include "text/language.h"

static const char *parsed(const char *written)
{
    static char out[40];
    struct language l;

    if (!language_parse(str_of(written), &l)) return "unknown";
    snprintf(out, sizeof out, "%s %s %s", l.code, l.script, l.region);
    return out;
}

TEST(language_reads_codes)
{
    static const struct { const char *written, *want; } c[] = {
        { "de", "de  " }, { "DE", "de  " }, { "deu", "de  " },
        { "ger", "de  " }, { ">>deu<<", "de  " }, { "de_AT", "de  AT" },
        { "deu_Latn", "de Latn " }, { "de-Latn-AT", "de Latn AT" },
        { "de_DE.UTF-8", "de  DE" }, { "de.UTF-8", "de  " },
        { "sr@latin", "sr Latn " }, { "sr_RS@latin", "sr Latn RS" },
        { "sr-RS-Latn", "sr Latn RS" }, { "ca_ES@valencia", "ca  ES" },
        { "es-419", "es  419" }, { "EN-US-x-twain", "en  US" },
        { "de-CH-1996", "de  CH" },
        { "zh-CN", "zh Hans CN" }, { "zh_TW", "zh Hant TW" },
        { "zh-HK", "zh Hant HK" }, { "zho_Hans", "zh Hans " },
        { "cmn_Hant", "zh Hant " }, { "zh-CHT", "zh Hant " },
        { "zh-yue", "yue  " }, { "zh-cmn-Hans", "zh Hans " },
        /* The usual code of a part may be shorter. */
        { "zho-hat", "ht  " }, { "qaa-hat", "ht  " },
        { "kor_Hang", "ko Kore " }, { "sat_Beng", "sat Olck " },
        { "zt", "zh Hant " }, { "pb", "pt  BR" }, { "ns", "nso  " },
        { "iw", "he  " }, { "pes_Arab", "fa Arab " },
        { "xal", "xal  " }, { "qaa", "qaa  " },
        { "", "unknown" }, { "d", "unknown" }, { "und", "unknown" },
        { "mul", "unknown" }, { "zle", "unknown" }, { "*", "unknown" },
        { "german", "unknown" }, { "d1", "unknown" }, { "-de", "de  " },
        { ">><<", "unknown" }, { "x-klingon", "unknown" },
    };

    for (size_t i = 0; i < COUNT(c); i++)
        CHECK_STR(parsed(c[i].written), c[i].want);
}

/* Whether two codes fit, the same in both directions. */
static bool fits(const char *a, const char *b)
{
    bool fit = language_fits(str_of(a), str_of(b));

    CHECK_INT(language_fits(str_of(b), str_of(a)), fit);
    return fit;
}

TEST(language_fits_other_ways_to_write_it)
{
    static const char *const same[][2] = {
        { "de", "de-DE" }, { "de", "deu" }, { "de-AT", "deu_Latn" },
        { "de-CH", "de_DE" }, { ">>fra<<", "fr" }, { "zh-Hans", "cmn_Hans" },
        { "zh-CN", "zho_Hans" }, { "zh", "zho_Hant" }, { "pt-BR", "pt_BR" },
        { "pt-BR", "pt-PT" }, { "no", "nb" }, { "nn-NO", "no" },
        { "sr", "srp_Cyrl" }, { "hr", "sh" }, { "ar", "arz_Arab" },
        { "ar-EG", "arb_Arab" }, { "fil", "tl" }, { "xal", "XAL" },
        { "", "de" }, { "und", "de" }, { "roa", "fr" }, { "*all*", "fr" },
    };
    static const char *const other[][2] = {
        { "de", "en" }, { "zh-Hans", "zh-TW" }, { "zho_Hant", "zh-CN" },
        { "nb", "nn" }, { "hr", "sr" }, { "sr-Latn", "srp_Cyrl" },
        { "arz", "ary" }, { "zh", "yue" }, { "xal", "de" }, { "de", "den" },
        { "id", "ms" }, { "es", "est" },
    };

    for (size_t i = 0; i < COUNT(same); i++)
        if (!fits(same[i][0], same[i][1])) CHECK_STR(same[i][0], same[i][1]);
    for (size_t i = 0; i < COUNT(other); i++)
        if (fits(other[i][0], other[i][1]))
            test_fail(__FILE__, __LINE__, "%s fits %s", other[i][0],
                      other[i][1]);
}

TEST(language_accepts_what_is_more_exact)
{
    static const struct { const char *wanted, *has; bool want; } c[] = {
        { "de", "de", true }, { "de", "DE-at", true }, { "de", "deu", true },
        { "de", "de_AT.UTF-8", true }, { "deu_Latn", "de-DE", true },
        { "de-AT", "de", false }, { "de-AT", "de-DE", false },
        { "de_AT", "DE-AT", true }, { "de", "den", false },
        { "", "de", true }, { NULL, "", true }, { "de", "", false },
        { "de", "und", false }, { "sr", "sr-Latn", true },
        { "sr-Latn", "sr-Cyrl", false }, { "pan_Guru", "pa", true },
        { "pa-Arab", "pa", false }, { "zh-Hant", "zh-TW", true },
        { "zh-TW", "zh-Hant", true }, { "zh-TW", "zh", false },
        { "zh-TW", "zh-HK", false }, { "zh-CN", "zh-Hans", true },
        { "zh-HK", "zh-Hant", false }, { "zh-Hans", "zh-TW", false },
        { "no", "nb-NO", true }, { "nb", "no", true },
        { "German", "german", true }, { "x-abc", "x_ABC-de", true },
        { "x-abc", "x-abcd", false }, { "german", "de", false },
    };

    for (size_t i = 0; i < COUNT(c); i++)
        if (language_accepts(c[i].wanted, str_of(c[i].has)) != c[i].want)
            test_fail(__FILE__, __LINE__, "%s, %s: not %d", c[i].wanted,
                      c[i].has, c[i].want);
}

TEST(language_rank_prefers_the_same)
{
    static const char *const c[][3] = {  /* wanted; better; worse */
        { "de", "de", "de-AT" }, { "de", "deu", "de-AT" },
        { "de", "deu_Latn", "de-AT" }, { "no", "no", "nb" },
        { "nb", "nb-NO", "no" }, { "zh-TW", "zh-TW", "zh-Hant" },
        { "sr", "sr", "sr-Cyrl-RS" },
    };

    for (size_t i = 0; i < COUNT(c); i++)
        CHECK(language_rank(c[i][0], str_of(c[i][1])) >
              language_rank(c[i][0], str_of(c[i][2])));
    CHECK_INT(language_rank("de", str_of("deu")),
              language_rank("de", str_of("de")));
}

TEST(language_writes_tags)
{
    static const struct { const char *written, *want; } c[] = {
        { "deu_Latn", "de" }, { "de_AT.UTF-8", "de-AT" }, { "pt_br", "pt-BR" },
        { "zho_Hant", "zh-Hant" }, { "zho_Hans", "zh-Hans" },
        { "zh_TW", "zh-TW" }, { "zh-Hant-TW", "zh-TW" },
        { "srp_Cyrl", "sr-Cyrl" }, { "rus_Cyrl", "ru" },
        { "ace_Arab", "ace-Arab" }, { "es-419", "es-419" }, { "und", "" },
        { "", "" }, { "xal_Cyrl", "xal-Cyrl" }, { "uz-Cyrl-UZ", "uz-Cyrl-UZ" },
    };

    for (size_t i = 0; i < COUNT(c); i++) {
        char tag[LANGUAGE_TAG_SIZE];

        language_tag(str_of(c[i].written), tag);
        CHECK_STR(tag, c[i].want);
        CHECK(language_fits(str_of(tag), str_of(c[i].written)));
    }
}

TEST(language_has_codes_and_names)
{
    CHECK_STR(language_code(str_of("GER")), "de");
    CHECK_STR(language_name(str_of("deu_Latn")), "German");
    CHECK_STR(language_name(str_of("el")), "Greek");
    CHECK(!language_code(str_of("zz")) && !language_name(str_of("zz")));
    CHECK(!language_code(str_of("mul")) && !language_code(str_of("")));
    CHECK(!language_code((struct str){ NULL, 0 }));
}

/* ---- the list ------------------------------------------------------------ */

static const char *const codes[] = {
#define LANGUAGE(code, script, name) code,
#include "text/languages.def"
};
static const char *const others[][2] = {
#define CODE(written, code) { written, code },
#include "text/languages.def"
};
static const char *const members[][2] = {
#define MEMBER(code, macro) { code, macro },
#include "text/languages.def"
};

/* The list is sorted, and each code has one meaning. */
TEST(language_list_is_in_order)
{
    for (size_t i = 0; i < COUNT(codes); i++) {
        if (i) CHECK(strcmp(codes[i - 1], codes[i]) < 0);
        CHECK_STR(language_code(str_of(codes[i])), codes[i]);
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        const char *code = language_code(str_of(others[i][0]));

        if (i) CHECK(strcmp(others[i - 1][0], others[i][0]) < 0);
        CHECK_STR(code ? code : "",
                  others[i][1][0] ? language_code(str_of(others[i][1])) : "");
    }
    for (size_t i = 0; i < COUNT(members); i++) {
        CHECK_STR(language_code(str_of(members[i][0])), members[i][0]);
        CHECK_STR(language_code(str_of(members[i][1])), members[i][1]);
    }
}

/* Every language of the multilingual models is in the list, and no two of a
 * model fit unless one includes the other. */
TEST(language_list_has_all_of_the_models)
{
    for (enum language_list l = LANGUAGES_M2M; l <= LANGUAGES_WMT21; l++)
        for (int i = 0; i < language_list_count(l); i++) {
            struct str a = str_of(language_list_code(l, i));

            if (!language_code(a))
                test_fail(__FILE__, __LINE__, "%s is not listed", a.p);
            for (int k = 0; k < i; k++) {
                struct str b = str_of(language_list_code(l, k));

                if (!language_fits(a, b)) continue;
                CHECK(strcmp(language_code(a), language_code(b)));
            }
        }
}
