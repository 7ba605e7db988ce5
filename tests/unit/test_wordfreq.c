/* test_wordfreq.c - compares word accuracy by frequency with counts by hand. */
#include "metrics/wordfreq.h"
#include "test.h"

TEST(frequencies_fall_into_the_right_buckets)
{
    static const struct {
        uint32_t n;
        int bucket;
        const char *name;
    } cases[] = {
        { 0, 0, "<1" }, { 1, 1, "1" }, { 2, 2, "2" }, { 3, 3, "3" },
        { 4, 4, "4" }, { 5, 5, "[5,10)" }, { 9, 5, "[5,10)" },
        { 10, 6, "[10,100)" }, { 99, 6, "[10,100)" },
        { 100, 7, "[100,1000)" }, { 999, 7, "[100,1000)" },
        { 1000, 8, ">=1000" }, { UINT32_MAX, 8, ">=1000" }
    };
    struct wordfreq_figure f;
    struct wordfreq w;

    wordfreq_init(&w);
    for (size_t i = 0; i < COUNT(cases); i++) {
        CHECK_INT(wordfreq_bucket(cases[i].n), cases[i].bucket);
        wordfreq_get(&w, wordfreq_bucket(cases[i].n), &f);
        CHECK_STR(f.frequency, cases[i].name);
        CHECK(f.f1 == 0 && f.precision == 0 && f.recall == 0);
    }
    wordfreq_release(&w);
}

static void learn(struct wordfreq *w, const char *text, int times)
{
    for (int i = 0; i < times; i++) CHECK(wordfreq_learn(w, str_of(text)));
}

static void add(struct wordfreq *w, const char *hyp, const char *ref)
{
    CHECK(wordfreq_add(w, str_of(hyp), str_of(ref)));
}

static void check_bucket(const struct wordfreq *w, int b, int matched, int hyp,
                         int ref)
{
    const struct wordfreq_counts *n = &w->counts[b];

    if (n->matched != matched || n->hyp != hyp || n->ref != ref)
        test_fail(__FILE__, __LINE__, "bucket %d: %d matched, %d and %d "
                  "words, want %d, %d, %d", b, (int)n->matched, (int)n->hyp,
                  (int)n->ref, matched, hyp, ref);
}

/* Frequencies: zinc 1, iron 2, lead 5. */
static void learn_metals(struct wordfreq *w)
{
    learn(w, "zinc", 1);
    learn(w, "iron, iron", 1);
    learn(w, "lead", 5);
}

TEST(words_of_the_reference_match_once)
{
    struct wordfreq_figure f;
    struct wordfreq w;

    wordfreq_init(&w);
    learn_metals(&w);
    add(&w, "iron iron iron lead", "iron zinc iron");
    check_bucket(&w, 1, 0, 0, 1);               /* zinc */
    check_bucket(&w, 2, 2, 3, 2);               /* iron: two of three */
    check_bucket(&w, 5, 0, 1, 0);               /* lead, in its own bucket */
    wordfreq_get(&w, 2, &f);
    CHECK_NEAR(f.precision, 200.0 / 3, 1e-12);
    CHECK_NEAR(f.recall, 100, 1e-12);
    CHECK_NEAR(f.f1, 80, 1e-12);
    /* Words match only within their line. */
    add(&w, "zinc", "lead");
    add(&w, "lead", "zinc");
    check_bucket(&w, 1, 0, 1, 2);
    check_bucket(&w, 5, 0, 2, 1);
    wordfreq_release(&w);
}

TEST(unknown_words_are_in_bucket_zero)
{
    struct wordfreq w;

    wordfreq_init(&w);
    learn_metals(&w);
    add(&w, "Zinc gold", "Zinc tin");           /* case is kept */
    check_bucket(&w, 0, 1, 2, 2);
    check_bucket(&w, 1, 0, 0, 0);
    wordfreq_release(&w);
}

TEST(words_are_split_as_moses_does)
{
    struct wordfreq w;

    wordfreq_init(&w);
    learn(&w, "zinc.", 10);                     /* "zinc" and "." */
    add(&w, "(zinc)", "zinc.");
    check_bucket(&w, 6, 1, 1, 2);
    check_bucket(&w, 0, 0, 2, 0);               /* brackets */
    wordfreq_release(&w);
}

TEST(reset_keeps_the_frequencies)
{
    struct wordfreq w;

    wordfreq_init(&w);
    learn_metals(&w);
    add(&w, "zinc", "zinc");
    wordfreq_reset(&w);
    check_bucket(&w, 1, 0, 0, 0);
    add(&w, "zinc", "zinc");
    check_bucket(&w, 1, 1, 1, 1);
    learn(&w, "zinc", 1);
    add(&w, "zinc", "zinc");
    check_bucket(&w, 2, 1, 1, 1);
    wordfreq_release(&w);
}

TEST(empty_lines_add_nothing)
{
    struct wordfreq w;

    wordfreq_init(&w);
    learn(&w, "", 1);
    add(&w, "", "");
    for (int b = 0; b < WORDFREQ_BUCKETS; b++) check_bucket(&w, b, 0, 0, 0);
    wordfreq_release(&w);
}
