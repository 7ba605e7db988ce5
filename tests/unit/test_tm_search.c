/* test_tm_search.c - tests searches in translation memories through the public
 * API in include/skmt.h. */
#include "../../tools/tiny_model.h"
#include "skmt_tools.h"
#include "use_tm.h"

TEST(options_choose_and_order_the_matches)
{
    struct scratch s;
    skmt_tm *tm;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    add(tm, NULL, "der rote Ball ist rund", "one-edit");
    add(tm, NULL, "der rote Ball", "two-extra-words-missing-here");
    add(tm, NULL, "Ball Ball Ball", "balls");
    add(tm, NULL, "der rote Ball ist weg", "x");
    CHECK_STR(TARGETS(tm, "der rote Ball ist weg", NULL),
              "x one-edit two-extra-words-missing-here balls ");
    CHECK_STR(TARGETS(tm, "der rote Ball ist weg", "matches", "2"),
              "x one-edit ");
    CHECK_STR(TARGETS(tm, "der rote Ball ist weg", "matches", "3",
                      "candidates", "1"),
              "x one-edit two-extra-words-missing-here ");
    CHECK_STR(TARGETS(tm, "der rote Ball ist weg", "min-similarity", "0.6"),
              "x one-edit two-extra-words-missing-here ");
    CHECK_STR(TARGETS(tm, "der rote Ball ist weg", "min-similarity", "0.7"),
              "x one-edit ");
    /* No target is between half and twice the length of its source. */
    CHECK_STR(TARGETS(tm, "der rote Ball ist weg", "length-filter", "1"), "");
    add(tm, NULL, "Ball rollt", "ball rolls");
    CHECK_STR(TARGETS(tm, "der rote Ball ist weg", "length-filter", "1"),
              "ball rolls ");
    /* BM25 prefers the short source with the rare word. */
    add(tm, NULL, "rollt weg", "rolls-away");
    CHECK_STR(TARGETS(tm, "der Ball rollt ganz weit weg", "rerank", "none",
                      "matches", "1"), "rolls-away ");
    CHECK_STR(TARGETS(tm, "?!", NULL), "");
    CHECK_STR(TARGETS(tm, "", NULL), "");
    skmt_tm_close(tm);
    scratch_remove(&s);
}

TEST(a_search_refuses_what_is_no_text)
{
    skmt_options *o;
    skmt_matches *m;
    struct scratch s;
    skmt_error err;
    skmt_tm *tm;

    OK(skmt_options_new(&o, &err));
    m = (skmt_matches *)(void *)o;
    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    add(tm, NULL, "a", "b");
    CHECK_INT(skmt_tm_search(tm, "a\xc3(", NULL, NULL, &m, &err),
              SKMT_ERR_TEXT);
    CHECK(m == NULL && strstr(err.message, "byte 1"));
    CHECK_INT(skmt_tm_search(tm, NULL, NULL, NULL, &m, &err),
              SKMT_ERR_ARGUMENT);
    OK(skmt_tm_search(tm, "", NULL, NULL, &m, &err));
    skmt_matches_free(m);
    OK(skmt_options_set(o, "analyzer", "subword", &err));
    CHECK_INT(skmt_tm_search(tm, "a", o, NULL, &m, &err), SKMT_ERR_ARGUMENT);
    CHECK(strstr(err.message, "model"));
    skmt_options_free(o);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

TEST(memories_are_merged_by_similarity_priority_and_age)
{
    const char *const some[] = { "low", "new" }, *const bad[] = { "what" };
    skmt_tm_info set = { .size = sizeof set, .name = "high", .priority = 1 };
    struct scratch s;
    skmt_error err;
    skmt_tm *tm, *other;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    OK(skmt_tm_create(tm, &set, &err));
    set = (skmt_tm_info){ .size = sizeof set, .name = "low" };
    OK(skmt_tm_create(tm, &set, &err));
    add(tm, "high", "der rote Ball", "high-far");
    add(tm, "high", "der rote Ball rollt", "high-near");
    add(tm, "low", "der rote Ball rollt", "low-near");
    add(tm, "low", "der rote Ball rollt weg", "low-exact");
    add(tm, "low", "der blaue Ball", "low-blue");
    CHECK_STR(TARGETS(tm, "der rote Ball rollt weg", NULL),
              "low-exact high-near low-near high-far low-blue ");

    /* Another handle creates a memory with the priority of low. Of equal
     * matches the newer one comes first. */
    other = open_tm(&s, SKMT_TM_WRITE);
    set = (skmt_tm_info){ .size = sizeof set, .name = "new" };
    OK(skmt_tm_create(other, &set, &err));
    add(other, "new", "der rote Ball rollt", "new-near");
    CHECK_STR(TARGETS(tm, "der rote Ball rollt weg", NULL),
              "low-exact high-near new-near low-near high-far low-blue ");
    OK(skmt_tm_use(tm, some, 2, &err));
    CHECK_STR(TARGETS(tm, "der rote Ball rollt weg", NULL),
              "low-exact new-near low-near low-blue ");
    CHECK_INT(skmt_tm_use(tm, bad, 1, &err), SKMT_ERR_ARGUMENT);
    OK(skmt_tm_set(other, "low", "priority", "5", &err));
    CHECK_STR(TARGETS(tm, "der rote Ball rollt weg", NULL),
              "low-exact low-near new-near low-blue ");
    OK(skmt_tm_drop(other, "low", &err));
    CHECK_STR(TARGETS(tm, "der rote Ball rollt weg", NULL), "new-near ");
    OK(skmt_tm_use(tm, NULL, 0, &err));
    CHECK_STR(TARGETS(tm, "der rote Ball rollt weg", NULL),
              "high-near new-near high-far ");
    skmt_tm_close(other);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

/* The stretches, put together, are both texts. */
TEST(differences_add_up_to_both_texts)
{
    const char *text = "Guten Morgen, liebe Welt!";
    char theirs[100] = "", ours[100] = "", kind;
    size_t begin, end;
    struct scratch s;
    skmt_matches *m;
    skmt_match one = SKMT_INIT(skmt_match);
    skmt_tm *tm;
    int n = 0;

    REQUIRE(scratch_make(&s));
    tm = open_tm(&s, SKMT_TM_CREATE);
    add(tm, NULL, "Guten Tag, Welt", "Good day, world");
    m = search(tm, text, NULL);
    REQUIRE(m && skmt_matches_count(m) == 1);
    skmt_matches_get(m, 0, &one);
    for (; skmt_matches_edit(m, 0, n, &kind, &begin, &end); n++) {
        REQUIRE(end > begin && strchr("=-+", kind));
        if (kind != '+')
            strncat(theirs, one.pair->source + begin, end - begin);
        if (kind == '+') strncat(ours, text + begin, end - begin);
        if (kind == '=')
            strncat(ours, one.pair->source + begin, end - begin);
    }
    CHECK_STR(theirs, "Guten Tag, Welt");
    CHECK_STR(ours, text);
    CHECK(n >= 5);
    CHECK(!skmt_matches_edit(m, 0, -1, &kind, &begin, &end));
    CHECK(!skmt_matches_edit(m, 1, 0, &kind, &begin, &end));
    skmt_matches_free(m);
    skmt_tm_close(tm);
    scratch_remove(&s);
}

struct spans { char text[100]; int n, stop_after; };

static int add_span(void *user, char kind, size_t begin, size_t end)
{
    struct spans *s = user;
    size_t used = strlen(s->text);

    snprintf(s->text + used, sizeof s->text - used, "%c%zu-%zu ", kind, begin,
             end);
    return ++s->n == s->stop_after;
}

TEST(any_two_texts_can_be_compared)
{
    struct spans s = { .n = 0 };
    skmt_error err;

    OK(skmt_compare("the red ball", "the blue ball", add_span, &s, &err));
    CHECK_STR(s.text, "=0-4 -4-7 +4-8 =7-12 ");
    s = (struct spans){ .stop_after = 2 };
    CHECK_INT(skmt_compare("the red ball", "the blue ball", add_span, &s,
                           &err), SKMT_ERR_CANCELED);
    CHECK_INT(s.n, 2);
    CHECK_INT(skmt_compare("\xff", "a", add_span, &s, &err), SKMT_ERR_TEXT);
    CHECK_INT(skmt_compare("a", NULL, add_span, &s, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(s.n, 2);
}

/* With a model, similarity counts its pieces, and so does BM25 if the option
 * analyzer is set. */
TEST(a_model_lends_its_pieces)
{
    struct tiny o = TINY_DEFAULT;
    skmt_options *so;
    char path[64];
    struct scratch s;
    skmt_conversion *c;
    skmt_model *model = NULL;
    skmt_matches *m = NULL;
    skmt_match words = SKMT_INIT(skmt_match), pieces = words;
    skmt_error err;
    skmt_tm *tm;

    OK(skmt_options_new(&so, &err));
    REQUIRE(scratch_make(&s));
    REQUIRE(tiny_write(s.dir, &o));
    snprintf(path, sizeof path, "%s/m.skmt", s.dir);
    OK(skmt_conversion_new(&c, &err));
    OK(skmt_conversion_open(c, s.dir, &err));
    OK(skmt_conversion_write(c, path, NULL, NULL, &err));
    skmt_conversion_free(c);
    OK(skmt_model_open(&model, path, &err));
    tm = open_tm(&s, SKMT_TM_CREATE);
    add(tm, NULL, "abc abd", "x");
    add(tm, NULL, "cab dab", "y");
    m = search(tm, "abc abc", NULL);
    REQUIRE(m && skmt_matches_count(m) == 1);
    skmt_matches_get(m, 0, &words);
    CHECK_NEAR(words.similarity, 0.5, 0);
    skmt_matches_free(m);
    OK(skmt_tm_search(tm, "abc abc", NULL, model, &m, &err));
    REQUIRE(m && skmt_matches_count(m) == 1);
    skmt_matches_get(m, 0, &pieces);
    CHECK(pieces.similarity > 0.5 && pieces.similarity < 1);
    CHECK_NEAR(pieces.score, words.score, 1e-12);
    skmt_matches_free(m);

    OK(skmt_options_set(so, "analyzer", "subword", &err));
    OK(skmt_tm_search(tm, "abc abc", so, model, &m, &err));
    REQUIRE(m && skmt_matches_count(m) == 2);   /* both have the letters */
    skmt_matches_get(m, 0, &pieces);
    CHECK_STR(pieces.pair->target, "x");
    skmt_matches_free(m);
    CHECK_INT(found(tm, "abc"), 1);             /* words again */
    CHECK_INT(problems(tm), 0);
    skmt_tm_close(tm);
    skmt_model_close(model);
    skmt_options_free(so);
    scratch_remove(&s);
}
