/* test_api.c - tests the library through its public header, include/skmt.h.
 *
 * skmt_tools.h is used only for the tiny model of these tests and trainers. */
#include "skmt.h"

#include <unistd.h>

#include "../../tools/tiny_model.h"
#include "scratch_dir.h"
#include "skmt_tools.h"
#include "test.h"

/* ---- a model --------------------------------------------------------- */

struct fixture {
    char dir[32], path[48];
    skmt_model *model;
};

static skmt_status fixture_convert(struct fixture *f, skmt_error *e)
{
    skmt_conversion *c;
    skmt_status st = skmt_conversion_new(&c, e);

    if (!st) st = skmt_conversion_open(c, f->dir, e);
    if (!st) st = skmt_conversion_write(c, f->path, NULL, NULL, e);
    skmt_conversion_free(c);
    return st;
}

static bool fixture_make(struct fixture *f, const struct tiny *o)
{
    skmt_error e;

    memset(f, 0, sizeof *f);
    strcpy(f->dir, "/tmp/skmt-api-XXXXXX");
    if (!CHECK(mkdtemp(f->dir) != NULL) || !CHECK(tiny_write(f->dir, o)))
        return false;
    snprintf(f->path, sizeof f->path, "%s/m.skmt", f->dir);
    if (fixture_convert(f, &e) ||
        skmt_model_open(&f->model, f->path, &e))
        return test_fail(__FILE__, __LINE__, "%s", e.message);
    return true;
}

static bool fixture_open(struct fixture *f)
{
    struct tiny o = TINY_DEFAULT;

    o.seed = 18;        /* with most other seeds the model never emits EOS */
    return fixture_make(f, &o);
}

static void fixture_close(struct fixture *f)
{
    static const char *const names[] = { "m.skmt", "spm.model",
        "config.json", "model.safetensors" };
    char path[64];

    skmt_model_close(f->model);
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", f->dir, names[i]);
        unlink(path);
    }
    rmdir(f->dir);
}

/* A list of options: names and values in turn, then NULL. */
static skmt_options *options(const char *const *set)
{
    skmt_options *o;
    skmt_error e;

    CHECK(!skmt_options_new(&o, &e));
    for (; *set; set += 2)
        if (skmt_options_set(o, set[0], set[1], &e))
            test_fail(__FILE__, __LINE__, "%s", e.message);
    return o;
}

#define OPTIONS(...) options((const char *const []){ __VA_ARGS__, NULL })

/* Creates a session; takes ownership of the options. */
static skmt_session *session(const struct fixture *f, skmt_options *o)
{
    skmt_session *s = NULL;
    skmt_error e;

    if (skmt_session_new(&s, f->model, o, &e))
        test_fail(__FILE__, __LINE__, "%s", e.message);
    skmt_options_free(o);
    return s;
}

static skmt_result *translate(skmt_session *s, const char *text,
                              const char *prefix)
{
    skmt_result *r = NULL;
    skmt_error e;

    if (skmt_session_translate(s, text, prefix, &r, &e))
        test_fail(__FILE__, __LINE__, "\"%.60s\": %s", text, e.message);
    return r;
}

/* ---- translate, session and stream ----------------------------------- */

static int same_text(void *user, uint64_t number, skmt_result *r,
                     const skmt_error *e)
{
    CHECK_INT(number, 0);
    CHECK_INT(e->status, SKMT_OK);
    if (CHECK(r != NULL)) CHECK_STR(skmt_result_text(r, 0), user);
    return 0;
}

/* -1 if there is no such count. */
static int64_t stream_count(skmt_stream *s, const char *what)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_stream_stat(s, i, &n)); i++)
        if (!strcmp(name, what)) return n;
    return -1;
}

TEST(translate_session_and_stream_agree)
{
    static const char text[] = "in the and of. The schein is on!";
    struct fixture f;
    skmt_session *s;
    skmt_stream *stream;
    skmt_result *r;
    skmt_error e;
    char *want;
    int64_t n;

    REQUIRE(fixture_open(&f));
    want = skmt_translate(f.model, text, &e);
    REQUIRE(want != NULL);
    CHECK(strlen(want) > 0);
    REQUIRE(skmt_session_new(&s, f.model, NULL, &e) == SKMT_OK);
    r = translate(s, text, NULL);
    CHECK_STR(skmt_result_text(r, 0), want);
    skmt_result_free(r);
    skmt_session_free(s);
    REQUIRE(skmt_stream_new(&stream, f.model, NULL, same_text, want, &e) ==
            SKMT_OK);
    CHECK_INT(skmt_stream_push(stream, text, NULL, &e), SKMT_OK);
    CHECK_INT(skmt_stream_flush(stream, &e), SKMT_OK);
    CHECK_INT(stream_count(stream, "texts"), 1);
    CHECK_INT(stream_count(stream, "sentences"), 2);
    CHECK(stream_count(stream, "tokens") > 0);
    CHECK(stream_count(stream, "passes") > 0);
    CHECK_INT(stream_count(stream, "words"), -1);
    CHECK(skmt_stream_stat(stream, -1, &n) == NULL && n == 0);
    skmt_stream_free(stream);
    skmt_free(want);
    fixture_close(&f);
}

TEST(models_have_facts)
{
    struct fixture f;
    const char *name, *value;
    int n = 0;

    REQUIRE(fixture_open(&f));
    for (; (name = skmt_model_fact(f.model, n, &value)); n++)
        CHECK_STR(skmt_model_get(f.model, name), value);
    CHECK(n > 10 && value == NULL);
    CHECK_STR(skmt_model_get(f.model, "name"), "tiny");
    CHECK_STR(skmt_model_get(f.model, "type"), "int8");
    CHECK_STR(skmt_model_get(f.model, "d_model"), "32");
    CHECK_STR(skmt_model_get(f.model, "source_lang"), "xx");
    CHECK_INT(strlen(skmt_model_get(f.model, "checksum")), 16);
    CHECK(skmt_model_get(f.model, "color") == NULL);
    CHECK(skmt_model_fact(f.model, -1, &value) == NULL);
    CHECK(strlen(skmt_version()) >= 5 && strlen(skmt_isa()) >= 3);
    CHECK(strlen(skmt_cpu()) > 0);
    fixture_close(&f);
}

/* A model that is opened with options translates like any other. */
TEST(models_are_opened_with_options)
{
    skmt_options *o = OPTIONS("device", "cpu", "beam", "1");
    skmt_model *m = (skmt_model *)(void *)&m;
    struct fixture f;
    skmt_error e;
    char *want, *got;

    REQUIRE(fixture_open(&f));
    want = skmt_translate(f.model, "the and in", &e);
    for (int i = 0; i < 2; i++) {
        REQUIRE(!skmt_model_open_with(&m, f.path, i ? o : NULL, &e));
        got = skmt_translate(m, "the and in", &e);
        CHECK_STR(got, want);
        skmt_free(got);
        skmt_model_close(m);
    }
    CHECK_INT(skmt_model_open_with(&m, "/no/such/model", o, &e), SKMT_ERR_IO);
    CHECK(m == NULL);
    skmt_free(want);
    skmt_options_free(o);
    fixture_close(&f);
}

/* skmt_options_in_force() returns the value that the library chooses where an
 * option leaves the choice to it. */
TEST(options_in_force_are_resolved)
{
    skmt_options *o;
    struct fixture f;
    skmt_error e;

    REQUIRE(!skmt_options_new(&o, &e) && fixture_open(&f));
    CHECK_STR(skmt_options_get(o, "k"), "0");
    CHECK_STR(skmt_options_in_force(o, f.model, 1, "k"), "2");
    CHECK_STR(skmt_options_in_force(o, f.model, 1, "matches"), "16");
    CHECK_STR(skmt_options_in_force(o, f.model, 1, "prune"), "2.5");
    CHECK_STR(skmt_options_in_force(o, f.model, 0, "prune"), "0");
    CHECK(atof(skmt_options_in_force(o, f.model, 1, "tau")) > 0);
    CHECK(atoi(skmt_options_in_force(o, f.model, 0, "max-source")) > 0);
    CHECK_STR(skmt_options_in_force(o, NULL, 0, "max-source"), "0");
    CHECK(!skmt_options_set(o, "preset", "sk1", &e));
    CHECK_STR(skmt_options_in_force(o, f.model, 1, "k"), "1");
    CHECK_STR(skmt_options_in_force(o, f.model, 1, "matches"), "2");
    CHECK_STR(skmt_options_in_force(o, f.model, 0, "matches"), "16");
    CHECK(!skmt_options_set(o, "tau", "12.5", &e));
    CHECK(!skmt_options_set(o, "prune", "1", &e));
    CHECK_STR(skmt_options_in_force(o, f.model, 1, "tau"), "12.5");
    CHECK_STR(skmt_options_in_force(o, f.model, 0, "prune"), "1");
    CHECK(skmt_options_in_force(o, f.model, 0, "no-such") == NULL);
    skmt_options_free(o);
    fixture_close(&f);
}

/* ---- n-best ---------------------------------------------------------- */

static double seg_sum(const skmt_result *r, int hyp)
{
    double sum = 0;

    for (int i = 0; i < skmt_result_sentences(r); i++)
        sum += skmt_result_sentence_score(r, hyp, i);
    return sum;
}

static double piece_sum(const skmt_result *r, int hyp)
{
    double sum = 0;

    for (int s = 0; s < skmt_result_sentences(r); s++)
        for (int i = 0; i < skmt_result_target_pieces(r, hyp, s); i++) {
            skmt_piece p = SKMT_INIT(skmt_piece);

            skmt_result_target_piece(r, hyp, s, i, &p);
            sum += (double)p.logprob;
        }
    return sum;
}

/* The best comes first, and it is the result of a search for one. */
TEST(nbest_lists_are_sorted_by_score)
{
    static const char *const texts[] = { "the", "the an in of.",
        "Is the an. In the of! The ing is a, on to." };
    struct fixture f;
    skmt_session *one, *many;

    REQUIRE(fixture_open(&f));
    one = session(&f, OPTIONS("nbest", "1", "beam", "5"));
    many = session(&f, OPTIONS("nbest", "5", "beam", "5"));
    for (size_t i = 0; i < COUNT(texts); i++) {
        skmt_result *a = translate(one, texts[i], NULL);
        skmt_result *b = translate(many, texts[i], NULL);
        int n = skmt_result_hyps(b);

        CHECK_INT(skmt_result_hyps(a), 1);
        CHECK(n >= 1 && n <= 5);
        CHECK_STR(skmt_result_text(a, 0), skmt_result_text(b, 0));
        CHECK_NEAR(skmt_result_score(a, 0), skmt_result_score(b, 0), 0);
        for (int h = 0; h < n; h++) {
            CHECK_NEAR(skmt_result_score(b, h), seg_sum(b, h), 1e-9);
            CHECK_NEAR(skmt_result_logprob(b, h), piece_sum(b, h), 1e-4);
            if (h)
                CHECK(skmt_result_score(b, h) <= skmt_result_score(b, h - 1));
        }
        skmt_result_free(a);
        skmt_result_free(b);
    }
    skmt_session_free(one);
    skmt_session_free(many);
    fixture_close(&f);
}

/* ---- spans ----------------------------------------------------------- */

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The source spans of a sentence ascend and lie inside it; the sentences ascend
 * in the text. Together the spans contain every byte that is not white
 * space. */
static void check_source(const skmt_result *r, const char *text)
{
    size_t len = strlen(text), at = 0, begin, end;

    for (int s = 0; s < skmt_result_sentences(r); s++) {
        skmt_result_sentence_span(r, s, &begin, &end);
        CHECK(begin >= at && begin <= end && end <= len);
        for (int i = 0; i < skmt_result_source_pieces(r, s); i++) {
            skmt_piece p = SKMT_INIT(skmt_piece);

            skmt_result_source_piece(r, s, i, &p);
            CHECK(p.begin >= at && p.begin <= p.end && p.end <= len);
            CHECK(p.begin >= begin && p.end <= end);
            CHECK(p.logprob == 0 && p.text != NULL);
            for (; at < p.begin; at++)
                if (!blank(text[at]))
                    test_fail(__FILE__, __LINE__, "byte %zu is in no piece",
                              at);
            at = p.end;
        }
    }
    for (; at < len; at++)
        if (!blank(text[at]))
            test_fail(__FILE__, __LINE__, "byte %zu is in no piece", at);
}

/* The target spans of a sentence follow each other without gaps; between
 * sentences there is only white space. */
static void check_target(const skmt_result *r, int hyp)
{
    const char *text = skmt_result_text(r, hyp);
    size_t len = strlen(text), at = 0;

    for (int s = 0; s < skmt_result_sentences(r); s++)
        for (int i = 0; i < skmt_result_target_pieces(r, hyp, s); i++) {
            skmt_piece p = SKMT_INIT(skmt_piece);

            skmt_result_target_piece(r, hyp, s, i, &p);
            if (i) CHECK_INT(p.begin, at);
            for (; at < p.begin; at++) CHECK(blank(text[at]));
            CHECK(p.begin >= at && p.begin <= p.end && p.end <= len);
            CHECK(p.logprob < 1e-6f);
            at = p.end;
        }
    CHECK_INT(at, len);
}

TEST(spans_cover_the_text)
{
    static const char *const texts[] = {
        "the", "  the an   in of. ", "Is the an. In the of! The ing.",
        "Sch\xc3\xb6ne Gr\xc3\xbc\xc3\x9fle, 12 \xe2\x82\xac!",
        "eins\r\nzwei\r\n", "a\n\nthe\n\n\nof", "\tin\tthe\t",
        "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "a.b.c.d?!...",
    };
    struct fixture f;
    skmt_session *s;

    REQUIRE(fixture_open(&f));
    s = session(&f, OPTIONS("nbest", "3", "max-len-b", "20"));
    for (size_t i = 0; i < COUNT(texts); i++) {
        skmt_result *r = translate(s, texts[i], NULL);

        check_source(r, texts[i]);
        for (int h = 0; h < skmt_result_hyps(r); h++) check_target(r, h);
        skmt_result_free(r);
    }
    skmt_session_free(s);
    fixture_close(&f);
}

/* ---- several sentences, long ones ------------------------------------ */

/* Each sentence is translated as if it were alone, and the white space between
 * sentences is kept. */
TEST(sentences_are_joined_again)
{
    static const char *const alone[] = { "The in an.", "Of the is!",
                                         "And the on?" };
    static const char text[] = "The in an. Of the is!\nAnd the on?";
    struct fixture f;
    skmt_session *s, *whole;
    skmt_result *r;
    char want[4096] = "";

    REQUIRE(fixture_open(&f));
    s = session(&f, OPTIONS("beam", "2"));
    for (int i = 0; i < 3; i++) {
        r = translate(s, alone[i], NULL);
        CHECK_INT(skmt_result_sentences(r), 1);
        strcat(want, skmt_result_text(r, 0));
        strcat(want, i == 0 ? " " : i == 1 ? "\n" : "");
        skmt_result_free(r);
    }
    r = translate(s, text, NULL);
    CHECK_INT(skmt_result_sentences(r), 3);
    CHECK_STR(skmt_result_text(r, 0), want);
    skmt_result_free(r);
    whole = session(&f, OPTIONS("beam", "2", "split", "none"));
    r = translate(whole, text, NULL);
    CHECK_INT(skmt_result_sentences(r), 1);
    check_source(r, text);
    skmt_result_free(r);
    skmt_session_free(whole);
    skmt_session_free(s);
    fixture_close(&f);
}

/* 3,000 numbered words on one line are many times what the model can take. */
TEST(long_texts_are_split_and_nothing_is_dropped)
{
    struct fixture f;
    skmt_session *s;
    skmt_result *r;
    char *text = calloc(1, 3000 * 12), *at = text;

    for (int i = 0; i < 3000; i++)
        at += sprintf(at, "%sw%d%s", i ? " " : "", i, i % 17 ? "" : ",");
    REQUIRE(fixture_open(&f));
    s = session(&f, OPTIONS("beam", "1", "max-len-a", "0", "max-len-b", "3"));
    r = translate(s, text, NULL);
    REQUIRE(r != NULL);
    CHECK(skmt_result_sentences(r) > 3000 * 4 / 32);
    for (int i = 0; i < skmt_result_sentences(r); i++)
        CHECK(skmt_result_source_pieces(r, i) <= 32 &&
              skmt_result_source_pieces(r, i) > 0 &&
              skmt_result_target_pieces(r, 0, i) > 0);
    check_source(r, text);
    check_target(r, 0);
    skmt_result_free(r);
    skmt_session_free(s);
    free(text);
    fixture_close(&f);
}

/* So is a single word that is longer than what the model can take. */
TEST(overlong_words_are_split)
{
    struct fixture f;
    skmt_session *s;
    skmt_result *r;
    char text[2001];

    for (int i = 0; i < 2000; i++) text[i] = (char)('a' + i % 26);
    text[2000] = '\0';
    REQUIRE(fixture_open(&f));
    s = session(&f, OPTIONS("beam", "1", "max-len-a", "0", "max-len-b", "3",
                            "max-source", "5"));
    r = translate(s, text, NULL);
    CHECK(skmt_result_sentences(r) >= 2000 / 3 / 5);
    for (int i = 0; i < skmt_result_sentences(r); i++)
        CHECK(skmt_result_source_pieces(r, i) <= 5);
    check_source(r, text);
    skmt_result_free(r);
    skmt_session_free(s);
    fixture_close(&f);
}

TEST(blank_texts_stay_blank)
{
    static const char *const texts[] = { "", " ", "\r\n", " \t\n \r\n " };
    struct fixture f;
    skmt_session *s;

    REQUIRE(fixture_open(&f));
    s = session(&f, OPTIONS("beam", "2"));
    for (size_t i = 0; i < COUNT(texts); i++) {
        skmt_result *r = translate(s, texts[i], NULL);

        CHECK_INT(skmt_result_hyps(r), 1);
        CHECK_STR(skmt_result_text(r, 0), "");
        CHECK_NEAR(skmt_result_score(r, 0), 0, 0);
        skmt_result_free(r);
    }
    skmt_session_free(s);
    fixture_close(&f);
}

/* ---- bad input ------------------------------------------------------- */

static void check_invalid(skmt_session *s, const char *text,
                          const char *message)
{
    skmt_result *r = (skmt_result *)(void *)s;
    skmt_error e;

    CHECK_INT(skmt_session_translate(s, text, NULL, &r, &e), SKMT_ERR_TEXT);
    CHECK(r == NULL);
    CHECK_INT(e.status, SKMT_ERR_TEXT);
    CHECK_STR(e.message, message);
    CHECK_INT(skmt_session_translate(s, text, NULL, &r, NULL), SKMT_ERR_TEXT);
}

TEST(invalid_bytes_are_reported_or_replaced)
{
    static const char bad[] = "the \xc3( an", over[] = "\xf5";
    static const char cut[] = "x\xe2\x82";
    struct fixture f;
    skmt_session *strict, *lax;
    skmt_result *r, *clean;

    REQUIRE(fixture_open(&f));
    strict = session(&f, OPTIONS("beam", "1"));
    lax = session(&f, OPTIONS("beam", "1", "invalid", "replace"));
    check_invalid(strict, bad, "byte 5 is not valid UTF-8 (0xC3)");
    check_invalid(strict, over, "byte 1 is not valid UTF-8 (0xF5)");
    check_invalid(strict, cut, "byte 2 is not valid UTF-8 (0xE2)");
    r = translate(lax, bad, NULL);
    clean = translate(lax, "the \xef\xbf\xbd( an", NULL);
    CHECK_STR(skmt_result_text(r, 0), skmt_result_text(clean, 0));
    skmt_result_free(r);
    skmt_result_free(clean);
    r = translate(strict, "the", NULL);         /* the session still works */
    CHECK(r != NULL);
    skmt_result_free(r);
    skmt_session_free(strict);
    skmt_session_free(lax);
    fixture_close(&f);
}

/* If one of several texts fails, the others are still translated. */
TEST(translate_many_translates_all_valid_texts)
{
    static const char *const texts[] = { "the in", "\xff", "", "of the. An!" };
    static const char *const prefixes[] = { NULL, NULL, NULL, "on" };
    struct fixture f;
    skmt_session *s;
    skmt_result *r[4], *one;
    skmt_error e;

    REQUIRE(fixture_open(&f));
    s = session(&f, OPTIONS("beam", "2", "batch", "2"));
    CHECK_INT(skmt_session_translate_many(s, texts, prefixes, 4, r, &e),
              SKMT_ERR_TEXT);
    CHECK_STR(e.message, "byte 1 is not valid UTF-8 (0xFF)");
    CHECK(r[0] && !r[1] && r[2] && r[3]);
    for (int i = 0; i < 4; i++) {
        if (!r[i]) continue;
        one = translate(s, texts[i], prefixes[i]);
        CHECK_STR(skmt_result_text(r[i], 0),
                  skmt_result_text(one, 0));
        skmt_result_free(one);
        skmt_result_free(r[i]);
    }
    CHECK_INT(skmt_session_translate_many(s, texts, NULL, 1, r, NULL),
              SKMT_OK);
    skmt_result_free(r[0]);
    CHECK_INT(skmt_session_translate_many(s, NULL, NULL, 0, NULL, &e),
              SKMT_OK);
    skmt_session_free(s);
    fixture_close(&f);
}

TEST(files_that_are_not_models_are_refused)
{
    skmt_model *m = (skmt_model *)(void *)&m;
    skmt_error e;

    CHECK_INT(skmt_model_open(&m, "/no/such/model.skmt", &e), SKMT_ERR_IO);
    CHECK(m == NULL && strstr(e.message, "/no/such/model.skmt"));
    CHECK_INT(skmt_model_open(&m, NULL, &e), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_model_open(&m, "Makefile", NULL), SKMT_ERR_FORMAT);
    CHECK_INT(skmt_model_open(&m, ".", &e), SKMT_ERR_IO);
}

TEST(options_that_do_not_fit_are_refused)
{
    struct fixture f;
    skmt_options *o;
    skmt_session *s = (skmt_session *)(void *)&s;
    skmt_stream *st;
    skmt_error e;

    REQUIRE(fixture_open(&f));
    o = OPTIONS("nbest", "5", "beam", "4");
    CHECK_INT(skmt_session_new(&s, f.model, o, &e), SKMT_ERR_ARGUMENT);
    CHECK(s == NULL);
    CHECK_STR(e.message,
              "nbest: 5 translations need a beam of at least 5, but beam is "
              "4");
    CHECK_INT(skmt_stream_new(&st, f.model, o, same_text, NULL, &e),
              SKMT_ERR_ARGUMENT);
    CHECK(st == NULL);
    CHECK_INT(skmt_options_set(o, "nbest", "1", &e), SKMT_OK);
    CHECK_INT(skmt_options_set(o, "max-source", "63", &e), SKMT_OK);
    CHECK_INT(skmt_session_new(&s, f.model, o, &e), SKMT_ERR_ARGUMENT);
    CHECK(strstr(e.message, "max-source: 63 is too large; this model allows "
                 "at most 62 pieces"));
    CHECK_INT(skmt_options_set(o, "max-source", "62", &e), SKMT_OK);
    CHECK_INT(skmt_session_new(&s, f.model, o, NULL), SKMT_OK);
    skmt_session_free(s);
    skmt_options_free(o);
    fixture_close(&f);
}

/* Returns how many ids of the results have no piece. Some training programs pad
 * the embeddings, so that there are more ids than pieces. An id without a piece
 * must give no text. */
static int ids_past(const struct fixture *f, const char *text)
{
    skmt_session *s = session(f, OPTIONS("beam", "4", "nbest", "4"));
    skmt_result *r = translate(s, text, NULL);
    int past = 0;

    for (int h = 0; r && h < skmt_result_hyps(r); h++)
        for (int i = 0; i < skmt_result_target_pieces(r, h, 0); i++) {
            skmt_piece p = SKMT_INIT(skmt_piece);

            skmt_result_target_piece(r, h, 0, i, &p);
            if (p.id < TINY_PIECES) continue;
            CHECK(p.begin == p.end && p.text[0] == '\0');
            past++;
        }
    CHECK(r != NULL);
    skmt_result_free(r);
    skmt_session_free(s);
    return past;
}

TEST(ids_without_a_piece_give_no_text)
{
    struct tiny o = TINY_DEFAULT;
    int past = 0;

    o.vocab = TINY_PIECES + 90;
    for (o.seed = 1; o.seed <= 6; o.seed++) {
        struct fixture f;

        REQUIRE(fixture_make(&f, &o));
        past += ids_past(&f, "ein Haus") + ids_past(&f, "the cat in a");
        fixture_close(&f);
    }
    CHECK(past > 0);            /* otherwise nothing was tested */
}

/* ---- mistakes of the caller ------------------------------------------ */

TEST(a_null_text_is_an_argument_error)
{
    static const char *const texts[] = { "ein Haus", NULL };
    struct fixture f;
    skmt_session *s;
    skmt_result *r, *two[2];
    skmt_request *q;
    skmt_stream *st;
    skmt_error e;

    REQUIRE(fixture_open(&f));
    CHECK(skmt_translate(f.model, NULL, &e) == NULL);
    CHECK_INT(e.status, SKMT_ERR_ARGUMENT);
    s = session(&f, OPTIONS("beam", "2"));
    CHECK_INT(skmt_session_translate(s, NULL, NULL, &r, &e),
              SKMT_ERR_ARGUMENT);
    CHECK(r == NULL);
    CHECK_STR(e.message, "the text is NULL");
    CHECK_INT(skmt_session_translate_many(s, texts, NULL, 2, two, &e),
              SKMT_ERR_ARGUMENT);
    CHECK(two[0] != NULL && two[1] == NULL);
    skmt_result_free(two[0]);
    CHECK_INT(skmt_stream_new(&st, f.model, NULL, NULL, NULL, &e),
              SKMT_ERR_ARGUMENT);
    CHECK(st == NULL);
    CHECK_INT(skmt_stream_new(&st, f.model, NULL, same_text, NULL, &e),
              SKMT_OK);
    CHECK_INT(skmt_stream_push(st, NULL, NULL, &e), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_request_new(&q, NULL, &e), SKMT_ERR_ARGUMENT);
    CHECK(q == NULL);
    skmt_stream_free(st);
    skmt_session_free(s);
    fixture_close(&f);
}

TEST(indices_out_of_range_give_nothing)
{
    static const int odd[] = { -1, 7, 1 << 30 };
    struct fixture f;
    skmt_session *s;
    skmt_result *r;

    REQUIRE(fixture_open(&f));
    s = session(&f, OPTIONS("beam", "2", "attention", "1"));
    r = translate(s, "ein Haus", NULL);
    REQUIRE(r != NULL);
    for (size_t i = 0; i < COUNT(odd); i++) {
        size_t begin = 5, end = 5;
        skmt_piece p = SKMT_INIT(skmt_piece);
        int n = 5;

        CHECK_STR(skmt_result_text(r, odd[i]), "");
        skmt_result_sentence_span(r, odd[i], &begin, &end);
        CHECK(begin == 0 && end == 0);
        CHECK(skmt_result_score(r, odd[i]) == 0);
        CHECK(skmt_result_logprob(r, odd[i]) == 0);
        CHECK(skmt_result_sentence_score(r, 0, odd[i]) == 0);
        CHECK_INT(skmt_result_source_pieces(r, odd[i]), 0);
        CHECK_INT(skmt_result_target_pieces(r, odd[i], 0), 0);
        skmt_result_source_piece(r, 0, i ? 1 << 20 : -1, &p);
        CHECK(p.id == -1 && p.text[0] == '\0');
        skmt_result_target_piece(r, 0, odd[i], 0, &p);
        CHECK_INT(p.id, -1);
        CHECK(skmt_result_attention(r, 0, 0, i ? 1 << 20 : -1, &n) == NULL);
        CHECK_INT(n, 0);
    }
    CHECK(skmt_result_attention(r, 0, 0, 0, NULL) != NULL);
    skmt_result_free(r);
    skmt_session_free(s);
    fixture_close(&f);
}

/* ---- prefix and attention -------------------------------------------- */

TEST(a_prefix_that_cannot_be_kept_is_refused)
{
    struct fixture f;
    skmt_session *s;
    skmt_result *r;
    skmt_error e;

    REQUIRE(fixture_open(&f));
    s = session(&f, OPTIONS("beam", "2", "max-len-a", "0", "max-len-b", "4"));
    CHECK_INT(skmt_session_translate(s, "ein Haus", "a b c d e f g h", &r,
                                     &e), SKMT_ERR_LIMIT);
    CHECK(strstr(e.message, "the prefix has") && strstr(e.message, "max-len"));
    CHECK_INT(skmt_session_translate(s, "ein Haus", "a \xFF", &r, &e),
              SKMT_ERR_TEXT);
    CHECK(strstr(e.message, "byte 3 of the prefix"));
    skmt_session_free(s);
    s = session(&f, OPTIONS("invalid", "replace"));
    CHECK_INT(skmt_session_translate(s, "ein Haus", "a \xFF", &r, &e),
              SKMT_OK);
    skmt_result_free(r);
    skmt_session_free(s);
    fixture_close(&f);
}

TEST(a_prefix_begins_the_translation)
{
    static const char *const prefixes[] = { "the", "the in and",
                                            "x1 \xc3\xa4" };
    struct fixture f;
    skmt_session *s;
    skmt_result *r, *plain;

    REQUIRE(fixture_open(&f));
    s = session(&f, OPTIONS("beam", "3"));
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        r = translate(s, "In the an. Of is!", prefixes[i]);
        if (strncmp(skmt_result_text(r, 0), prefixes[i],
                    strlen(prefixes[i])))
            test_fail(__FILE__, __LINE__, "\"%s\" does not begin with %s",
                      skmt_result_text(r, 0), prefixes[i]);
        CHECK_INT(skmt_result_sentences(r), 1);     /* it was not split */
        check_target(r, 0);
        skmt_result_free(r);
    }
    plain = translate(s, "In the an.", NULL);
    r = translate(s, "In the an.", "");
    CHECK_STR(skmt_result_text(r, 0), skmt_result_text(plain, 0));
    skmt_result_free(r);
    skmt_result_free(plain);
    skmt_session_free(s);
    fixture_close(&f);
}

TEST(attention_is_returned_if_requested)
{
    struct fixture f;
    skmt_session *with, *without;
    skmt_result *r;
    int n = -1;

    REQUIRE(fixture_open(&f));
    with = session(&f, OPTIONS("attention", "1", "nbest", "2"));
    without = session(&f, OPTIONS("nbest", "2"));
    r = translate(with, "In the an. Of is!", NULL);
    for (int h = 0; h < skmt_result_hyps(r); h++)
        for (int s = 0; s < skmt_result_sentences(r); s++)
            for (int i = 0; i < skmt_result_target_pieces(r, h, s); i++) {
                const float *a = skmt_result_attention(r, h, s, i, &n);
                double sum = 0;

                REQUIRE(a != NULL);
                CHECK_INT(n, skmt_result_source_pieces(r, s) + 1);
                for (int k = 0; k < n; k++) sum += (double)a[k];
                CHECK_NEAR(sum, 1, 1e-5);
            }
    skmt_result_free(r);
    r = translate(without, "In the an.", NULL);
    CHECK(skmt_result_attention(r, 0, 0, 0, &n) == NULL);
    skmt_result_free(r);
    skmt_session_free(with);
    skmt_session_free(without);
    fixture_close(&f);
}

/* ---- NULL where the header allows it --------------------------------- */

TEST(null_is_accepted_where_the_header_allows_it)
{
    struct fixture f;
    skmt_session *s;
    skmt_options *o = OPTIONS("beam", "1");
    char *text;

    skmt_model_close(NULL);
    skmt_options_free(NULL);
    skmt_result_free(NULL);
    skmt_session_free(NULL);
    skmt_stream_free(NULL);
    skmt_free(NULL);
    CHECK_INT(skmt_options_set(o, "beam", "x", NULL), SKMT_ERR_ARGUMENT);
    skmt_options_free(o);
    REQUIRE(fixture_open(&f));
    text = skmt_translate(f.model, "the", NULL);
    CHECK(text != NULL);
    skmt_free(text);
    CHECK(skmt_translate(f.model, "\xff", NULL) == NULL);
    CHECK_INT(skmt_session_new(&s, f.model, NULL, NULL), SKMT_OK);
    skmt_session_free(s);
    fixture_close(&f);
}

/* The objects of a model need it after it was closed: they keep it. */
TEST(a_model_may_be_closed_first)
{
    skmt_matches *m = NULL;
    skmt_session *s = NULL;
    skmt_keys *keys = NULL;
    skmt_result *r;
    struct fixture f;
    struct scratch dir;
    skmt_tm *tm = NULL;
    skmt_error e;
    char *want;

    REQUIRE(fixture_open(&f) && scratch_make(&dir));
    want = skmt_translate(f.model, "ein Haus", &e);
    REQUIRE(!skmt_session_new(&s, f.model, NULL, &e));
    REQUIRE(!skmt_keys_new(&keys, f.model, NULL, NULL, &e));
    REQUIRE(!skmt_tm_open(&tm, scratch_path(&dir, "a.tm"), SKMT_TM_CREATE, &e));
    CHECK_INT(skmt_tm_add(tm, NULL, "das", "the", NULL, &e), SKMT_OK);
    CHECK_INT(skmt_tm_search(tm, "das", NULL, f.model, &m, &e), SKMT_OK);
    skmt_matches_free(m);
    skmt_model_close(f.model);
    f.model = NULL;
    r = translate(s, "ein Haus", NULL);
    CHECK_STR(skmt_result_text(r, 0), want);
    CHECK_INT(skmt_session_use(s, tm, keys, &e), SKMT_OK);
    skmt_result_free(translate(s, "das Haus", NULL));
    skmt_session_free(s);
    CHECK(skmt_result_target_pieces(r, 0, 0) > 0);
    skmt_result_free(r);
    CHECK_INT(skmt_tm_add(tm, NULL, "die", "the", NULL, &e), SKMT_OK);
    CHECK_INT(skmt_keys_warm(keys, tm, NULL, NULL, &e), SKMT_OK);
    skmt_keys_free(keys);
    /* The file merges its index when it is closed, with the pieces. */
    skmt_tm_close(tm);
    skmt_free(want);
    scratch_remove(&dir);
    fixture_close(&f);
}

/* The statistic of a trainer with this name. */
static double trainer_stat(skmt_trainer *t, const char *wanted)
{
    double value, found = NAN;
    const char *name;

    for (int i = 0; (name = skmt_trainer_stat(t, i, &value)); i++)
        if (!strcmp(name, wanted)) found = value;
    return found;
}

/* Add the same pairs to a trainer: the last is for validation. */
static bool trainer_fill(skmt_trainer *t, skmt_error *e)
{
    static const char *const text[] = { "die", "das haus", "ja", "das" };
    skmt_similar like = { .size = sizeof like, .source = "das haus ja",
                          .target = "house the", .similarity = 0.5 };
    bool ok = true;

    for (int i = 0; i < 4; i++)
        ok &= !skmt_trainer_add(t, text[i], "the house", &like, 1, i == 3, e);
    return ok;
}

/* The present network is that of option "trust". A trainer knows its loss and
 * can go on from it. */
TEST(a_trainer_goes_on_from_the_present_network)
{
    skmt_options *o = OPTIONS("beam", "1");
    skmt_trainer *t = NULL;
    struct fixture f;
    char *first = NULL;
    double loss = 0;
    skmt_error e;

    REQUIRE(fixture_open(&f));
    REQUIRE(!skmt_trainer_new(&t, f.model, o, NULL, &e));
    REQUIRE(trainer_fill(t, &e));
    CHECK_INT(skmt_trainer_set(t, "begin", "now", &e), SKMT_ERR_ARGUMENT);
    CHECK(trainer_stat(t, "present") == trainer_stat(t, "sk2"));
    CHECK_INT(skmt_trainer_set(t, "epochs", "3", &e), SKMT_OK);
    CHECK_INT(skmt_trainer_train(t, NULL, NULL, &e), SKMT_OK);
    loss = trainer_stat(t, "learned");
    first = strdup(skmt_trainer_network(t));
    REQUIRE(first && !skmt_options_set(o, "trust", first, &e));
    skmt_trainer_free(t);

    REQUIRE(!skmt_trainer_new(&t, f.model, o, NULL, &e));
    REQUIRE(trainer_fill(t, &e));
    CHECK(trainer_stat(t, "present") == loss);
    CHECK(trainer_stat(t, "model") == trainer_stat(t, "sk2"));
    CHECK_INT(skmt_trainer_set(t, "begin", "present", &e), SKMT_OK);
    CHECK_INT(skmt_trainer_set(t, "rate", "0.000001", &e), SKMT_OK);
    CHECK_INT(skmt_trainer_set(t, "epochs", "1", &e), SKMT_OK);
    CHECK_INT(skmt_trainer_train(t, NULL, NULL, &e), SKMT_OK);
    CHECK(fabs(trainer_stat(t, "learned") - loss) < 1e-3);
    CHECK(strcmp(skmt_trainer_network(t), first));
    skmt_trainer_free(t);
    free(first);
    skmt_options_free(o);
    fixture_close(&f);
}

/* Keys of other options cannot be used by a trainer. */
TEST(a_trainer_refuses_keys_that_do_not_fit)
{
    skmt_options *o = OPTIONS("knn-eos", "0");
    skmt_trainer *t = NULL;
    skmt_keys *keys = NULL;
    struct fixture f;
    skmt_error e;

    REQUIRE(fixture_open(&f));
    REQUIRE(!skmt_keys_new(&keys, f.model, o, NULL, &e));
    CHECK_INT(skmt_trainer_new(&t, f.model, NULL, keys, &e),
              SKMT_ERR_ARGUMENT);
    CHECK(!t);
    CHECK_INT(skmt_trainer_new(&t, f.model, o, keys, &e), SKMT_OK);
    skmt_trainer_free(t);
    skmt_keys_free(keys);
    skmt_options_free(o);
    fixture_close(&f);
}
