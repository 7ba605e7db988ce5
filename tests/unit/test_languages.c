/* test_languages.c - multilingual models: their lists of languages, what a code
 * means, and opening them for a pair. */
#include "skmt.h"
#include "skmt_tools.h"
#include "tiny_remake.h"

#include "model/languages.h"

static const char list_text[] =
    "deu_Latn\t20\neng_Latn\t21\nzho_Hans\t22\nzho_Hant\t23\npor_Latn\t24\n"
    "xx_odd\t25\n";

static void two_tokens(struct config *c)
{
    c->language_tokens = LANGUAGE_TOKENS_BOTH;
    *c->source_lang = *c->target_lang = 0;
    strcpy(c->license, "CC-BY-4.0");
    strcpy(c->origin, "somewhere");
    c->beam = 6;
    c->length_penalty = 1.5;
}

static void one_token(struct config *c)
{
    c->language_tokens = LANGUAGE_TOKENS_TARGET_FIRST;
    *c->source_lang = 0;
    strcpy(c->target_lang, "deu_Latn");
}

/* A model with a list of languages, or with none. */
static bool make_model(struct tiny_net *t, const char *list,
                       void (*change)(struct config *c))
{
    struct tiny_part part = { "languages", list, list ? strlen(list) : 0 };
    struct tiny o = TINY_DEFAULT;

    o.seed = 18;
    return tiny_net_write(t, &o, DT_F32) &&
           tiny_remake(t, &part, list != NULL, change);
}

/* ---- the list ---- */

static enum status read_list(const char *list, struct languages *l,
                             struct err *e)
{
    struct tiny_net t;
    struct mfile *f;
    enum status st = ST_NOMEM;

    *l = (struct languages){ 0 };
    if (make_model(&t, list, NULL) &&
        CHECK_OK(mfile_open(&f, tiny_net_file(&t, "m.skmt"), e), e)) {
        st = languages_read(l, f, TINY_PIECES, e);
        mfile_close(f);
    }
    tiny_net_close(&t);
    return st;
}

TEST(language_lists_are_checked)
{
    static const char *const bad[] = {
        "de", "de\t1", "de\n", "\t1\n", "de\t\n", "de\t-1\n", "de\t1x\n",
        "de\t310\n", "de\t9999999999\n", "de\t1\nde\t2\n", "d e\t1\n",
        "a_code_that_is_long\t1\n", "de\t1\n\n",
    };
    struct languages l;
    struct err e;

    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT(read_list(bad[i], &l, &e), ST_FORMAT);
        CHECK(strstr(e.msg, "m.skmt: the list of languages is damaged"));
        CHECK(!l.at);
    }
    REQUIRE_OK(read_list(list_text, &l, &e), &e);
    CHECK_INT(l.n, 6);
    CHECK_STR(l.at[3].code, "zho_Hant");
    CHECK_INT(l.at[3].id, 23);
    languages_release(&l);
}

static void check_code(const struct languages *l, const char *code,
                       const char *want)
{
    const struct language_entry *x;
    struct err e;
    enum status st = languages_find(&x, l, code, "to", &e);

    if (st) CHECK(strstr(e.msg, want));
    else CHECK_STR(x->code, want);
    CHECK_INT(st, *want == 't' && want[1] == 'o' ? ST_ARGUMENT : ST_OK);
}

TEST(codes_of_languages_are_found)
{
    struct languages l;
    struct err e;

    REQUIRE_OK(read_list(list_text, &l, &e), &e);
    check_code(&l, "deu_Latn", "deu_Latn");
    check_code(&l, "de", "deu_Latn");
    check_code(&l, "DE-AT", "deu_Latn");
    check_code(&l, "pt-BR", "por_Latn");
    check_code(&l, "zh-TW", "zho_Hant");
    check_code(&l, "xx_odd", "xx_odd");
    check_code(&l, "zh", "to: \"zh\" can be several languages of the model: "
               "zho_Hans, zho_Hant");
    check_code(&l, "fr", "to: the model does not have the language \"fr\"; it "
               "has: deu_Latn, eng_Latn, zho_Hans, zho_Hant, por_Latn, xx_odd");
    check_code(&l, "german", "to: the model does not have");
    check_code(&l, "", "to: the model does not have");
    languages_release(&l);
}

/* ---- models ---- */

static skmt_status open_with(skmt_model **m, const struct tiny_net *t,
                             const char *from, const char *to, skmt_error *e)
{
    skmt_options *o;
    skmt_status st = skmt_options_new(&o, e);

    *m = NULL;
    if (!st && from) st = skmt_options_set(o, "from", from, e);
    if (!st && to) st = skmt_options_set(o, "to", to, e);
    if (!st) st = skmt_model_open_with(m, tiny_net_file(t, "m.skmt"), o, e);
    skmt_options_free(o);
    return st;
}

/* Translate a text with a model that is opened for a pair. */
static char *translate(const struct tiny_net *t, const char *from,
                       const char *to, skmt_error *e)
{
    skmt_model *m;
    char *text = NULL;

    if (!open_with(&m, t, from, to, e))
        text = skmt_translate(m, "the man is in the house", e);
    skmt_model_close(m);
    return text;
}

static void check_facts(const struct tiny_net *t)
{
    skmt_model *m;
    skmt_error e;

    if (!CHECK(!open_with(&m, t, "de", "en", &e))) return;
    CHECK_STR(skmt_model_get(m, "source_lang"), "deu_Latn");
    CHECK_STR(skmt_model_get(m, "target_lang"), "eng_Latn");
    CHECK_STR(skmt_model_get(m, "languages"),
              "deu_Latn,eng_Latn,zho_Hans,zho_Hant,por_Latn,xx_odd");
    CHECK_STR(skmt_model_get(m, "license"), "CC-BY-4.0");
    CHECK_STR(skmt_model_get(m, "origin"), "somewhere");
    CHECK_STR(skmt_model_get(m, "beam"), "6");
    CHECK_STR(skmt_model_get(m, "length_penalty"), "1.5");
    skmt_model_close(m);
}

static void check_recommended(const struct tiny_net *t)
{
    skmt_options *o;
    skmt_model *m;
    skmt_error e;

    if (!CHECK(!open_with(&m, t, "de", "en", &e))) return;
    if (!CHECK(!skmt_options_new(&o, &e))) return;
    CHECK_STR(skmt_options_in_force(o, m, 0, "beam"), "6");
    CHECK_STR(skmt_options_in_force(o, m, 0, "lenpen"), "1.5");
    CHECK_STR(skmt_options_in_force(o, m, 0, "lenpen-type"), "fairseq");
    CHECK_STR(skmt_options_in_force(o, m, 0, "to"), "eng_Latn");
    CHECK(!skmt_options_set(o, "beam", "2", &e));
    CHECK_STR(skmt_options_in_force(o, m, 0, "beam"), "2");
    skmt_options_free(o);
    skmt_model_close(m);
}

/* The languages are tokens of the source and the target, so each pair gives a
 * translation of its own. */
TEST(multilingual_models_are_opened_for_a_pair)
{
    struct tiny_net t;
    skmt_error e;
    char *a, *b, *c;

    REQUIRE(make_model(&t, list_text, two_tokens));
    a = translate(&t, "de", "en", &e);
    b = translate(&t, "deu_Latn", "eng_Latn", &e);
    c = translate(&t, "de", "pt", &e);
    if (CHECK(a && b && c)) {
        CHECK_STR(a, b);
        CHECK(strcmp(a, c) != 0);
    }
    skmt_free(a);
    skmt_free(b);
    skmt_free(c);
    check_facts(&t);
    check_recommended(&t);
    tiny_net_close(&t);
}

TEST(multilingual_models_ask_for_languages)
{
    struct tiny_net t;
    skmt_model *m;
    skmt_error e;

    REQUIRE(make_model(&t, list_text, two_tokens));
    CHECK(!translate(&t, NULL, NULL, &e));
    CHECK_INT(e.status, SKMT_ERR_ARGUMENT);
    CHECK(!strncmp(e.message, "from: choose the source and the target", 38));
    CHECK(!translate(&t, "de", NULL, &e));
    CHECK(!strncmp(e.message, "to: choose the target language", 30));
    CHECK_INT(open_with(&m, &t, "de", "fr", &e), SKMT_ERR_ARGUMENT);
    CHECK(!strncmp(e.message, "to: the model does not have", 27));
    tiny_net_close(&t);
    REQUIRE(make_model(&t, NULL, two_tokens));
    CHECK_INT(open_with(&m, &t, NULL, NULL, &e), SKMT_ERR_FORMAT);
    tiny_net_close(&t);
}

/* The file has a default for the target; the source may be in any language. */
TEST(models_with_one_token_have_a_default)
{
    struct tiny_net t;
    skmt_error e;
    char *a, *b;

    REQUIRE(make_model(&t, list_text, one_token));
    a = translate(&t, NULL, NULL, &e);
    b = translate(&t, "fr", "de", &e);
    if (CHECK(a && b)) CHECK_STR(a, b);
    skmt_free(a);
    skmt_free(b);
    tiny_net_close(&t);
}

TEST(models_of_one_pair_are_checked)
{
    struct tiny_net t;
    struct tiny o = TINY_DEFAULT;
    skmt_model *m;
    skmt_error e;

    REQUIRE(tiny_net_write(&t, &o, DT_F32));
    CHECK(!open_with(&m, &t, "xx", "yy", &e));
    skmt_model_close(m);
    tiny_net_close(&t);
}

TEST(models_of_one_pair_refuse_other_languages)
{
    struct config c = { .source_lang = "de", .target_lang = "" };
    struct languages none = { 0 };
    struct err e;

    CHECK_INT(languages_choose(&c, &none, "fr", "", "m.skmt", &e),
              ST_ARGUMENT);
    CHECK_STR(e.msg, "from: the model m.skmt translates from \"de\", not "
              "\"fr\"");
    CHECK_INT(languages_choose(&c, &none, "deu", "en", "m.skmt", &e), ST_OK);
    CHECK_STR(c.source_lang, "de");
    CHECK_STR(c.target_lang, "en");
}
