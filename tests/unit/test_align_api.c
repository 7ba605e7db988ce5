/* test_align_api.c - tests of the functions of skmt_tools.h that align words,
 * read pairs and compare links: what they refuse, and in which order they can
 * be called. */
#include "scratch_dir.h"
#include "skmt_tools.h"

#define CHECK_DONE(call) do {                                             \
    if ((call) != SKMT_OK)                                                \
        test_fail(__FILE__, __LINE__, "%s", err.message); } while (0)
#define CHECK_SAYS(call, status, text) do {                               \
    CHECK_INT(call, status);                                              \
    if (!strstr(err.message, text))                                       \
        test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", err.message, \
                  text); } while (0)

static skmt_error err;

static void add_two(skmt_aligner *a)
{
    CHECK_DONE(skmt_aligner_add(a, "das Haus", 8, "the house", 9, &err));
    CHECK_DONE(skmt_aligner_add(a, "das Buch", 8, "the book", 8, &err));
}

TEST(settings_of_an_aligner_are_checked)
{
    static const char *const bad[][2] = {
        { "iterations", "0" }, { "iterations", "1.5" }, { "alpha", "-1" },
        { "alpha", "nan" }, { "null-prob", "1" }, { "tension", "99" },
        { "threads", "0" }, { "method", "" }, { "split", "pieces" },
        { "case", "upper" }, { "color", "red" } };
    skmt_aligner *a;

    CHECK_DONE(skmt_aligner_new(&a, NULL, &err));
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK_SAYS(skmt_aligner_set(a, bad[i][0], bad[i][1], &err),
                   SKMT_ERR_ARGUMENT, bad[i][0]);
    CHECK_SAYS(skmt_aligner_set(a, NULL, "x", &err), SKMT_ERR_ARGUMENT, "NULL");
    CHECK_DONE(skmt_aligner_set(a, "split", "spaces", &err));
    CHECK_DONE(skmt_aligner_set(a, "split", "words", &err));
    add_two(a);
    CHECK_SAYS(skmt_aligner_set(a, "split", "spaces", &err), SKMT_ERR_ARGUMENT,
               "cannot be changed");
    CHECK_DONE(skmt_aligner_set(a, "iterations", "3", &err));
    skmt_aligner_free(a);
    skmt_aligner_free(NULL);
}

TEST(an_aligner_needs_parameters_before_it_aligns)
{
    const skmt_link *links;
    skmt_aligner *a;
    size_t n;

    CHECK_DONE(skmt_aligner_new(&a, NULL, &err));
    CHECK_SAYS(skmt_aligner_train(a, &err), SKMT_ERR_ARGUMENT, "no pair");
    add_two(a);
    CHECK_SAYS(skmt_aligner_links(a, 0, &links, &n, &err), SKMT_ERR_ARGUMENT,
               "no parameters");
    CHECK_SAYS(skmt_aligner_align(a, "a", 1, "b", 1, &links, &n, &err),
               SKMT_ERR_ARGUMENT, "no parameters");
    CHECK_SAYS(skmt_aligner_save(a, "x", &err), SKMT_ERR_ARGUMENT,
               "no parameters");
    CHECK_DONE(skmt_aligner_train(a, &err));
    CHECK_SAYS(skmt_aligner_train(a, &err), SKMT_ERR_ARGUMENT, "already");
    CHECK_SAYS(skmt_aligner_load(a, "x", &err), SKMT_ERR_ARGUMENT, "already");
    CHECK_SAYS(skmt_aligner_add(a, "a", 1, "b", 1, &err), SKMT_ERR_ARGUMENT,
               "after the training");
    CHECK_INT(skmt_aligner_size(a), 2);
    CHECK_DONE(skmt_aligner_links(a, 1, &links, &n, &err));
    CHECK(n == 2 && links[1].source == 1 && links[1].target == 1);
    CHECK_STR(skmt_aligner_pharaoh(a), "0-0 1-1");
    CHECK_SAYS(skmt_aligner_links(a, 2, &links, &n, &err), SKMT_ERR_ARGUMENT,
               "no pair 2");
    skmt_aligner_free(a);
}

TEST(texts_of_a_pair_are_checked)
{
    skmt_aligner *a;

    CHECK_DONE(skmt_aligner_new(&a, NULL, &err));
    CHECK_SAYS(skmt_aligner_add(a, "a\xff", 2, "b", 1, &err), SKMT_ERR_TEXT,
               "the source is not valid UTF-8: byte 1 is 0xFF");
    CHECK_SAYS(skmt_aligner_add(a, "a", 1, NULL, 3, &err), SKMT_ERR_ARGUMENT,
               "the target is NULL");
    CHECK_DONE(skmt_aligner_add(a, NULL, 0, "b", 1, &err));
    CHECK_INT(skmt_aligner_size(a), 1);
    skmt_aligner_free(a);
}

static int stop_training(void *user, const char *what, uint64_t done,
                         uint64_t total, uint64_t units)
{
    (void)user;
    CHECK_STR(what, "training");
    CHECK(done <= total && units == done);
    return done > 0;
}

TEST(a_training_that_was_stopped_can_be_repeated)
{
    skmt_aligner *a;

    CHECK_DONE(skmt_aligner_new(&a, NULL, &err));
    for (int i = 0; i < 50; i++) add_two(a);
    skmt_aligner_on_progress(a, stop_training, NULL);
    CHECK_SAYS(skmt_aligner_train(a, &err), SKMT_ERR_CANCELED, "stopped");
    CHECK_SAYS(skmt_aligner_add(a, "a", 1, "b", 1, &err), SKMT_ERR_ARGUMENT,
               "after the training");
    skmt_aligner_on_progress(a, NULL, NULL);
    CHECK_DONE(skmt_aligner_train(a, &err));
    skmt_aligner_free(a);
}

TEST(the_words_of_a_pair_can_be_shown)
{
    skmt_aligner *a;
    const char *word;
    size_t n;

    CHECK_DONE(skmt_aligner_new(&a, NULL, &err));
    CHECK_DONE(skmt_aligner_split(a, "Ja, 2,5!", 8, "Yes", 3, &err));
    word = skmt_aligner_word(a, 0, 2, &n);
    CHECK(word && n == 3 && !memcmp(word, "2,5", 3));
    CHECK(skmt_aligner_word(a, 0, 3, &n) && !skmt_aligner_word(a, 0, 4, &n));
    CHECK(skmt_aligner_word(a, 1, 0, &n) && !skmt_aligner_word(a, 1, 1, &n));
    CHECK(!skmt_aligner_word(a, 2, 0, &n) && !skmt_aligner_word(a, -1, 0, &n));
    CHECK_INT(skmt_aligner_split(a, "a", 1, "\xff", 1, &err), SKMT_ERR_TEXT);
    CHECK(!skmt_aligner_word(a, 0, 0, &n));
    skmt_aligner_free(a);
}

static double gold_value(const skmt_gold *g, const char *wanted)
{
    const char *name;
    double value;

    for (int i = 0; (name = skmt_gold_stat(g, i, &value)); i++)
        if (!strcmp(name, wanted)) return value;
    return -1;
}

TEST(links_are_compared_with_the_next_line_of_a_reference)
{
    const skmt_link *links;
    struct scratch dir;
    skmt_aligner *a;
    skmt_gold *g;
    size_t n;

    REQUIRE(scratch_make(&dir));
    REQUIRE(scratch_write(&dir, "gold", "0-0 1?1\n1-1\n"));
    CHECK_DONE(skmt_aligner_new(&a, NULL, &err));
    add_two(a);
    CHECK_DONE(skmt_aligner_train(a, &err));
    CHECK_DONE(skmt_gold_open(&g, scratch_path(&dir, "gold"), &err));
    CHECK(isnan(gold_value(g, "aer")));
    for (size_t i = 0; i < 2; i++) {
        CHECK_DONE(skmt_aligner_links(a, i, &links, &n, &err));
        CHECK_DONE(skmt_gold_compare(g, a, &err));
    }
    CHECK_DONE(skmt_gold_finish(g, &err));
    CHECK_NEAR(gold_value(g, "links"), 4, 0);
    CHECK_NEAR(gold_value(g, "precision"), 75, 1e-9);
    CHECK_NEAR(gold_value(g, "recall"), 100, 1e-9);
    CHECK_SAYS(skmt_gold_compare(g, a, &err), SKMT_ERR_FORMAT,
               "ends after 2 lines");
    skmt_gold_close(g);
    CHECK_INT(skmt_gold_open(&g, scratch_path(&dir, "none"), &err),
              SKMT_ERR_IO);
    CHECK(g == NULL);
    skmt_gold_close(NULL);
    skmt_aligner_free(a);
    scratch_remove(&dir);
}

TEST(empty_units_are_pairs_of_empty_texts)
{
    static const char *const want[] = { "a", "", "", "b", "" };
    const char *source, *target;
    struct scratch dir;
    skmt_pairs *p;
    uint64_t total;
    size_t n, m, k = 0;

    REQUIRE(scratch_make(&dir));
    REQUIRE(scratch_write(&dir, "t.tsv", "a\tx\n\nq\t\nb\ty\n\tz\n"));
    CHECK_DONE(skmt_pairs_open(&p, scratch_path(&dir, "t.tsv"), NULL, &err));
    for (;; k++) {
        CHECK_DONE(skmt_pairs_next(p, &source, &n, &target, &m, &err));
        if (!source || !CHECK(k < COUNT(want))) break;
        CHECK(n == strlen(want[k]) && !memcmp(source, want[k], n));
        CHECK(target && !m == !n);
    }
    CHECK_INT(k, COUNT(want));
    CHECK_INT(skmt_pairs_done(p, &total), 15);
    CHECK_INT(total, 15);
    skmt_pairs_close(p);
    CHECK_INT(skmt_pairs_open(&p, scratch_path(&dir, "no"), NULL, &err),
              SKMT_ERR_IO);
    skmt_pairs_close(NULL);
    scratch_remove(&dir);
}
