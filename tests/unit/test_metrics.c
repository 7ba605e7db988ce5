/* test_metrics.c - compares scores with known values.
 *
 *   - A small corpus must get exactly the scores of the reference scorer.
 *   - Edit rates (TER) were computed by hand, and those of whole sets by a
 *     script with the same rules (sacrebleu itself was not available).
 *   - Scores can be computed by document and for a selection of documents.
 *   - With the full sets in ../shared: BLEU and chrF2 of each published output,
 *     and BLEU and the R-indicator by the length of documents. */
#include <unistd.h>

#include "formats/input.h"
#include "metrics/bleu.h"
#include "metrics/bootstrap.h"
#include "metrics/chrf.h"
#include "metrics/metric.h"
#include "metrics/ter.h"
#include "metrics/tok13a.h"
#include "skmt_tools.h"
#include "test.h"

/* ---- tokens ------------------------------------------------------------- */

/* Returns the tokens of a text, separated by single spaces. The result is valid
 * until the next call. */
static const char *tokens(const char *text)
{
    static char joined[400];
    struct fields words = { 0 };
    struct strbuf out, spare;
    size_t at = 0;

    strbuf_init(&out, 0);
    strbuf_init(&spare, 0);
    CHECK(tok13a(&out, &spare, str_of(text)));
    CHECK(fields_split(&words, strbuf_view(&out)));
    joined[0] = 0;
    for (size_t i = 0; i < words.n; i++)
        at += (size_t)snprintf(joined + at, sizeof joined - at, "%s%.*s",
                               i ? " " : "", (int)words.at[i].n,
                               words.at[i].p);
    fields_release(&words);
    strbuf_release(&out);
    strbuf_release(&spare);
    return joined;
}

TEST(tokens_are_those_of_mteval)
{
    static const char *const known[][2] = {
        { "It costs 1,234.56 EUR (approx.) - 3-4 days...",
          "It costs 1,234.56 EUR ( approx . ) - 3 - 4 days . . ." },
        { "a..b,c", "a . . b , c" },
        { "5.", "5 ." },
        { "A 2008-09 ’quote’ «x» 1.a", "A 2008 - 09 ’quote’ «x» 1 . a" },
        { "", "" }, { " \t\n", "" }, { ".", "." }, { ",5", ", 5" },
        { "don't", "don't" }, { "x-\ny z-", "xy z-" }, { "a-\n", "a-" },
        { "a\nb", "a b" },
        { "<skipped>a&quot;b&amp;lt;", "a \" b <" },
        { "ä.ö,ü", "ä . ö , ü" },
        { "a\xC2\xA0" "b\xE3\x80\x80" "c\x1C" "d", "a b c d" },
        { "zero\xE2\x80\x8Bwidth", "zero\xE2\x80\x8Bwidth" }
    };

    for (size_t i = 0; i < COUNT(known); i++)
        CHECK_STR(tokens(known[i][0]), known[i][1]);
}

/* ---- small corpora ------------------------------------------------------ */

static void sum_pair(const struct metric *m, const char *hyp, const char *ref,
                     int64_t *sums)
{
    int64_t stats[METRIC_STATS_MAX];
    struct tally s;

    tally_init(&s);
    REQUIRE(m->count(&s, str_of(hyp), str_of(ref), stats));
    for (int k = 0; k < m->n_stats; k++) sums[k] += stats[k];
    tally_release(&s);
}

static double score_pair(const char *metric, const char *hyp, const char *ref)
{
    const struct metric *m = metric_find(str_of(metric));
    int64_t sums[METRIC_STATS_MAX] = { 0 };

    sum_pair(m, hyp, ref, sums);
    return m->score(sums);
}

static const char *const small_hyp[] = {
    "The cat sat on the mat .", "Take 2 tablets daily.", "Yes" };
static const char *const small_ref[] = {
    "The cat is on the mat.", "Take two tablets a day.", "Yes, please." };

static void sum_small(const char *metric, int64_t *sums)
{
    memset(sums, 0, METRIC_STATS_MAX * sizeof *sums);
    for (size_t i = 0; i < COUNT(small_hyp); i++)
        sum_pair(metric_find(str_of(metric)), small_hyp[i], small_ref[i],
                 sums);
}

TEST(small_corpus_has_the_known_bleu)
{
    static const int correct[] = { 10, 4, 2, 1 }, total[] = { 13, 10, 8, 6 };
    int64_t sums[METRIC_STATS_MAX];
    struct bleu b;

    sum_small("bleu", sums);
    bleu_of(sums, &b);
    for (int i = 0; i < BLEU_ORDERS; i++) {
        CHECK_INT(sums[BLEU_CORRECT + i], correct[i]);
        CHECK_INT(sums[BLEU_TOTAL + i], total[i]);
        CHECK_NEAR(b.precision[i], 100.0 * correct[i] / total[i], 1e-12);
    }
    CHECK_INT(sums[BLEU_HYP_LEN], 13);
    CHECK_INT(sums[BLEU_REF_LEN], 17);
    CHECK_NEAR(b.bp, 0.735141, 5e-7);
    CHECK_NEAR(b.score, 24.737014, 5e-7);
}

TEST(bleu_of_edge_cases)
{
    CHECK_NEAR(score_pair("bleu", "a b c d e", "a b x d e"), 30.213754, 5e-7);
    CHECK_NEAR(score_pair("bleu", "a b c d", "a b c d"), 100, 1e-10);
    CHECK(score_pair("bleu", "c d", "a b") == 0);
    CHECK(score_pair("bleu", "a b c", "a b c") == 0);   /* no 4-gram */
    CHECK(score_pair("bleu", "", "") == 0);
    CHECK(score_pair("bleu", "", "a b c d") == 0);
    CHECK(score_pair("bleu", "a b c d", "") == 0);
    /* The reference has one "the", so only one match counts. */
    CHECK_NEAR(score_pair("bleu", "the the the the", "the cat sat down"),
               pow(25.0 * (100.0 / 6) * (100.0 / 8) * (100.0 / 8), 0.25),
               1e-9);
}

TEST(small_corpus_has_the_known_chrf)
{
    int64_t sums[METRIC_STATS_MAX];

    sum_small("chrf", sums);
    CHECK_NEAR(chrf_score(sums), 45.899305, 5e-7);
    CHECK_NEAR(chrf_score_eps(sums), 45.897448, 5e-7);
}

TEST(chrf_of_edge_cases)
{
    CHECK(score_pair("chrf", "c d", "a b") == 0);
    CHECK(score_pair("chrf", "", "") == 0);
    CHECK_NEAR(score_pair("chrf", "über", "ü b e r"), 100, 1e-10);
    CHECK_NEAR(score_pair("chrf", "ab", "ab"), 100, 1e-10);
    CHECK(score_pair("chrf", "AB", "ab") == 0);
    /* One character of two matches and no bigram: P = R = (1/2 + 0) / 2. */
    CHECK_NEAR(score_pair("chrf", "ab", "ac"), 25, 1e-10);
}

/* ---- edit rate ---------------------------------------------------------- */

static void check_edits(const char *hyp, const char *ref, int edits, int len)
{
    int64_t sums[METRIC_STATS_MAX] = { 0 };

    sum_pair(metric_find(str_of("ter")), hyp, ref, sums);
    if (sums[TER_EDITS] != edits || sums[TER_REF_LEN] != len)
        test_fail(__FILE__, __LINE__, "\"%s\" to \"%s\": %d edits of %d, "
                  "want %d of %d", hyp, ref, (int)sums[TER_EDITS],
                  (int)sums[TER_REF_LEN], edits, len);
}

TEST(edits_are_counted)
{
    check_edits("", "", 0, 0);
    check_edits("a b", "", 2, 0);
    check_edits("", "a b", 2, 2);
    check_edits("a b c", "a b c", 0, 3);
    check_edits("a x c", "a b c", 1, 3);
    check_edits("a c", "a b c", 1, 3);
    check_edits("a b b c", "a b c", 1, 3);
    check_edits("Ein HAUS \xC3\x84", "ein haus \xC3\xA4", 0, 3);
    check_edits("mat.", "mat .", 2, 2);         /* punctuation stays */
    check_edits("\xC4\xB0", "i\xCC\x87", 0, 1);
}

TEST(a_shift_is_one_edit)
{
    check_edits("b a", "a b", 1, 2);
    check_edits("d e f a b c", "a b c d e f", 1, 6);
    check_edits("on the mat the cat sat", "the cat sat on the mat", 1, 6);
    check_edits("c d a b x", "a b c d y", 2, 5);
    /* Two shifts would be enough, but the first alone gains nothing. The search
     * is greedy and replaces four words instead. */
    check_edits("e f c d a b", "a b c d e f", 4, 6);
}

TEST(rates_are_per_word_of_the_reference)
{
    CHECK_NEAR(score_pair("ter", "b a x", "a b c"), 200.0 / 3, 1e-12);
    CHECK(score_pair("ter", "a", "") == 100);
    CHECK(score_pair("ter", "", "") == 0);
}

/* ---- resampling --------------------------------------------------------- */

static double first_of_two(const int64_t *sums)
{
    return 100.0 * (double)sums[0] / (double)sums[1];
}

enum { N_LINES = 400 };
struct lines { int64_t at[N_LINES][3]; };

/* Each line has one word; it is wrong where i % every is 0. */
static struct sample fill(struct lines *l, int every)
{
    for (int i = 0; i < N_LINES; i++) {
        l->at[i][0] = i % every == 0;
        l->at[i][1] = 1;
        l->at[i][2] = -1000000;         /* another metric's; must not count */
    }
    return (struct sample){ l->at[0], N_LINES, 3, 2, first_of_two };
}

TEST(intervals_match_the_standard_error_of_a_proportion)
{
    struct resampling how = { 1000, 12345 };
    struct interval one, again, other;
    struct lines l;
    struct sample s = fill(&l, 4);
    struct err e;

    REQUIRE_OK(bootstrap_interval(&s, how, &one, &e), &e);
    REQUIRE_OK(bootstrap_interval(&s, how, &again, &e), &e);
    CHECK_MEM(&one, &again, sizeof one);
    /* 25 % of 400: the standard error is 2.165, the interval 1.96 times it. */
    CHECK_NEAR(one.mean, 25, 0.3);
    CHECK_NEAR(one.low, 25 - 4.24, 0.6);
    CHECK_NEAR(one.high, 25 + 4.24, 0.6);
    how.seed++;
    REQUIRE_OK(bootstrap_interval(&s, how, &other, &e), &e);
    CHECK(memcmp(&one, &other, sizeof one));
}

TEST(comparisons_distinguish_chance_from_difference)
{
    struct resampling how = { 1000, 12345 };
    struct lines a, b, c;
    struct sample sa = fill(&a, 4), sb = fill(&b, 4), sc = fill(&c, 2);
    double p, q;
    struct err e;

    REQUIRE_OK(bootstrap_compare(&sa, &sb, how, &p, &e), &e);
    CHECK(p == 1);
    REQUIRE_OK(bootstrap_compare(&sa, &sc, how, &p, &e), &e);
    REQUIRE_OK(bootstrap_compare(&sc, &sa, how, &q, &e), &e);
    CHECK_NEAR(p, 1.0 / 1001, 1e-12);
    CHECK(p == q);
    /* One better line of 400 may well be chance. */
    b.at[1][0] = 1;
    REQUIRE_OK(bootstrap_compare(&sa, &sb, how, &p, &e), &e);
    CHECK(p > 0.05 && p < 1);
}

TEST(resampling_refuses_zero_resamples_and_zero_lines)
{
    struct resampling how = { 0, 1 };
    struct lines a;
    struct sample s = fill(&a, 4), none = s;
    struct interval i;
    struct err e;
    double p;

    none.n = 0;
    CHECK_INT(bootstrap_interval(&s, how, &i, &e), ST_ARGUMENT);
    how.times = 1;
    CHECK_INT(bootstrap_interval(&none, how, &i, &e), ST_ARGUMENT);
    CHECK_INT(bootstrap_compare(&s, &none, how, &p, &e), ST_ARGUMENT);
    REQUIRE_OK(bootstrap_interval(&s, how, &i, &e), &e);
    CHECK(i.low == i.high && i.low == i.mean);
}

/* ---- the public functions ----------------------------------------------- */

static skmt_score *score_small(const char *const *hyp)
{
    skmt_score *s = NULL;
    skmt_error err;

    CHECK_INT(skmt_score_new(&s, "bleu,chrf,ter,chrf-eps", &err), SKMT_OK);
    for (size_t i = 0; s && i < COUNT(small_ref); i++)
        CHECK_INT(skmt_score_add(s, hyp[i], strlen(hyp[i]), small_ref[i],
                                 strlen(small_ref[i]), &err), SKMT_OK);
    return s;
}

TEST(score_handles_return_scores)
{
    skmt_score *s = score_small(small_hyp);
    const char *title, *signature;
    double v = 0, low = -1, high = -1;
    skmt_error err;

    REQUIRE(s);
    CHECK_INT(skmt_score_get(s, "bleu", &v, &err), SKMT_OK);
    CHECK_NEAR(v, 24.737014, 5e-7);
    CHECK_INT(skmt_score_get(s, "chrf", &v, &err), SKMT_OK);
    CHECK_NEAR(v, 45.899305, 5e-7);
    CHECK_INT(skmt_score_get(s, "chrf-eps", &v, &err), SKMT_OK);
    CHECK_NEAR(v, 45.897448, 5e-7);
    CHECK_STR(skmt_score_metric(s, 1, &title, &signature), "chrf");
    CHECK_STR(title, "chrF2");
    CHECK(strstr(signature, "|nc:6|nw:0|space:no|skmt:"));
    CHECK(!skmt_score_metric(s, 4, NULL, NULL));
    CHECK(!skmt_score_metric(s, -1, NULL, NULL));
    CHECK_STR(skmt_score_detail(s, "bleu", 14, &v), "bp");
    CHECK_NEAR(v, 0.735141, 5e-7);
    CHECK_STR(skmt_score_detail(s, "bleu", 1, &v), "correct2");
    CHECK_NEAR(v, 4, 0);
    CHECK(!skmt_score_detail(s, "bleu", 15, &v));
    CHECK(!skmt_score_detail(s, "chrf", 0, &v));
    CHECK_INT(skmt_score_interval(s, "ter", 100, 1, &low, &high, &err),
              SKMT_OK);
    CHECK(low >= 0 && low <= high);
    skmt_score_free(s);
}

TEST(score_handles_report_errors)
{
    skmt_score *s = NULL, *other;
    skmt_error err;
    double v;

    CHECK_INT(skmt_score_new(&s, "bleu,meteor", &err), SKMT_ERR_ARGUMENT);
    CHECK(!s);
    CHECK_STR(err.message, "metrics: \"meteor\" is not one of bleu, chrf, "
              "chrf-eps, ter, r, r-all");
    CHECK_INT(skmt_score_new(&s, "ter,ter", &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_score_new(&s, "", &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_score_new(&s, NULL, &err), SKMT_ERR_ARGUMENT);
    REQUIRE(skmt_score_new(&s, "bleu", &err) == SKMT_OK);
    CHECK_INT(skmt_score_add(s, "\xFF", 1, "a", 1, &err), SKMT_ERR_TEXT);
    CHECK_INT(skmt_score_add(s, "a", 1, "a\xFF", 2, &err), SKMT_ERR_TEXT);
    CHECK_STR(err.message, "the reference is not valid UTF-8: byte 1 is 0xFF");
    CHECK_INT(skmt_score_add(s, NULL, 1, "a", 1, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_score_get(s, "ter", &v, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_score_get(s, "bleu", &v, &err), SKMT_OK);
    CHECK(v == 0);
    CHECK_INT(skmt_score_interval(s, "bleu", 10, 1, &v, &v, &err),
              SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_score_add(s, NULL, 0, NULL, 0, &err), SKMT_OK);
    other = score_small(small_ref);
    CHECK_INT(skmt_score_compare(s, other, "bleu", 10, 1, &v, &err),
              SKMT_ERR_ARGUMENT);
    CHECK_STR(err.message, "cannot compare systems that have different "
              "numbers of lines, 1 and 3");
    skmt_score_free(s);
    skmt_score_free(other);
    skmt_score_free(NULL);
}

TEST(score_handles_compare_systems)
{
    skmt_score *a = score_small(small_hyp), *b = score_small(small_ref);
    skmt_score *c = NULL;
    skmt_error err;
    double p = -1;

    REQUIRE(a && b);
    CHECK_INT(skmt_score_compare(a, b, "chrf", 1000, 7, &p, &err), SKMT_OK);
    CHECK(p > 0 && p <= 1);
    REQUIRE(skmt_score_new(&c, "chrf", &err) == SKMT_OK);
    for (int i = 0; i < 3; i++) skmt_score_add(c, "a", 1, "b", 1, &err);
    CHECK_INT(skmt_score_compare(a, c, "chrf", 10, 7, &p, &err),
              SKMT_ERR_ARGUMENT);
    CHECK(strstr(err.message, "different references"));
    skmt_score_free(a);
    skmt_score_free(b);
    skmt_score_free(c);
}

/* ---- documents ---------------------------------------------------------- */

/* Documents of 3, 1, 2 and 3 lines; line i is correct if i % 3 is 1. */
static const int doc_lines[] = { 3, 1, 2, 3 };

static skmt_score *score_documents(void)
{
    skmt_score *s = NULL;
    skmt_error err;
    int line = 0;

    CHECK_INT(skmt_score_new(&s, "r,ter,r-all", &err), SKMT_OK);
    if (!s) return NULL;
    for (size_t d = 0; d < COUNT(doc_lines); d++) {
        skmt_score_document(s);
        skmt_score_document(s);         /* empty documents do not count */
        for (int i = 0; i < doc_lines[d]; i++, line++) {
            const char *hyp = line % 3 == 1 ? "the zinc" : "gold";

            CHECK_INT(skmt_score_add(s, hyp, strlen(hyp), "the zinc", 8, &err),
                      SKMT_OK);
        }
    }
    return s;
}

static double detail(const skmt_score *s, const char *metric, int i)
{
    double v = -1;

    CHECK(skmt_score_detail(s, metric, i, &v));
    return v;
}

static double score_of(const skmt_score *s, const char *metric)
{
    skmt_error err;
    double v = -1;

    CHECK_INT(skmt_score_get(s, metric, &v, &err), SKMT_OK);
    return v;
}

TEST(documents_are_counted_separately)
{
    skmt_score *s = score_documents();
    size_t docs = 0;

    REQUIRE(s);
    CHECK_INT(skmt_score_size(s, &docs), 9);
    CHECK_INT(docs, 4);
    /* The first line of each document is in r0. Correct are the lines 1 (second
     * of its document), 4 (first of the third) and 7 (second of the last). */
    CHECK_NEAR(detail(s, "r", 0), 25, 1e-12);
    CHECK_NEAR(detail(s, "r", 1), 200.0 / 3, 1e-12);
    CHECK_NEAR(detail(s, "r", 2), 0, 0);
    CHECK_NEAR(detail(s, "r", 10), 4, 0);
    CHECK_NEAR(detail(s, "r", 11), 3, 0);
    CHECK_NEAR(detail(s, "r", 12), 2, 0);
    CHECK_NEAR(detail(s, "r-all", 10), 8, 0);
    CHECK_NEAR(score_of(s, "r"), 100.0 / 3, 1e-12);
    skmt_score_free(s);
}

static skmt_score *select_lines(const skmt_score *s, size_t min, size_t max,
                                int lines, int documents)
{
    skmt_score *some = NULL;
    skmt_error err;
    size_t docs = 0;

    CHECK_INT(skmt_score_select(&some, s, min, max, &err), SKMT_OK);
    if (!some) return NULL;
    CHECK_INT(skmt_score_size(some, &docs), lines);
    CHECK_INT(docs, documents);
    return some;
}

TEST(documents_are_selected_by_length)
{
    skmt_score *s = score_documents(), *some;
    double low, high, p = -1;
    skmt_error err;

    REQUIRE(s);
    skmt_score_free(select_lines(s, 0, 0, 0, 0));
    skmt_score_free(select_lines(s, 4, 1000, 0, 0));
    skmt_score_free(select_lines(s, 1, 1, 1, 1));
    skmt_score_free(select_lines(s, 1, 2, 3, 2));
    skmt_score_free(select_lines(s, 0, SIZE_MAX, 9, 4));
    some = select_lines(s, 3, 3, 6, 2);
    REQUIRE(some);
    CHECK_NEAR(score_of(some, "r"), 100.0 / 3, 1e-12);
    CHECK_NEAR(detail(some, "r", 0), 0, 0);
    CHECK_NEAR(detail(some, "r", 1), 100, 1e-12);
    CHECK_NEAR(detail(some, "ter", TER_EDITS), 8, 0);
    CHECK_INT(skmt_score_interval(some, "ter", 10, 1, &low, &high, &err),
              SKMT_OK);
    CHECK_INT(skmt_score_compare(some, some, "r", 10, 1, &p, &err), SKMT_OK);
    CHECK(p == 1);
    CHECK_INT(skmt_score_compare(some, s, "r", 10, 1, &p, &err),
              SKMT_ERR_ARGUMENT);
    /* A line that is added to a selection begins a new document. */
    CHECK_INT(skmt_score_add(some, "zinc", 4, "zinc", 4, &err), SKMT_OK);
    CHECK_NEAR(detail(some, "r", 10), 3, 0);
    skmt_score_free(some);
    skmt_score_free(s);
}

TEST(lines_without_documents_form_one_document)
{
    skmt_score *s = NULL;
    size_t docs = 9;
    skmt_error err;

    REQUIRE(skmt_score_new(&s, "r", &err) == SKMT_OK);
    CHECK_INT(skmt_score_size(s, &docs), 0);
    CHECK_INT(docs, 0);
    for (int i = 0; i < 2; i++) skmt_score_add(s, "", 0, "zinc", 4, &err);
    CHECK_INT(skmt_score_size(s, NULL), 2);
    CHECK_NEAR(detail(s, "r", 11), 1, 0);
    skmt_score_free(s);
}

/* ---- word frequencies, and lines of files ------------------------------- */

TEST(word_handles_return_accuracy_by_frequency)
{
    skmt_words_info info = SKMT_INIT(skmt_words_info);
    skmt_words *w = NULL;
    skmt_error err;
    int n = 0;

    REQUIRE(skmt_words_new(&w, &err) == SKMT_OK);
    CHECK_INT(skmt_words_learn(w, "a b b", 5, &err), SKMT_OK);
    CHECK_INT(skmt_words_add(w, "b b", 3, "b c", 3, &err), SKMT_OK);
    CHECK_INT(skmt_words_get(w, 2, &info), 1);
    CHECK_STR(info.frequency, "2");
    CHECK_INT(info.matched, 1);
    CHECK_INT(info.hyp_words, 2);
    CHECK_INT(info.ref_words, 1);
    CHECK_NEAR(info.precision, 50, 1e-12);
    CHECK_NEAR(info.recall, 100, 1e-12);
    CHECK_NEAR(info.f1, 200.0 / 3, 1e-12);
    while (skmt_words_get(w, n, &info)) n++;
    CHECK_INT(n, 9);
    CHECK(!skmt_words_get(w, -1, &info));
    skmt_words_reset(w);
    CHECK(skmt_words_get(w, 2, &info) && !info.hyp_words);
    CHECK_INT(skmt_words_learn(w, "\xFF", 1, &err), SKMT_ERR_TEXT);
    CHECK_STR(err.message, "the text is not valid UTF-8: byte 0 is 0xFF");
    CHECK_INT(skmt_words_add(w, "a\xFF", 2, "", 0, &err), SKMT_ERR_TEXT);
    CHECK_INT(skmt_words_add(w, NULL, 0, NULL, 1, &err), SKMT_ERR_ARGUMENT);
    CHECK_INT(skmt_words_add(w, NULL, 0, NULL, 0, &err), SKMT_OK);
    CHECK(strstr(skmt_words_signature(), "tok:moses-en|skmt:"));
    skmt_words_free(w);
    skmt_words_free(NULL);
}

TEST(files_are_read_line_by_line)
{
    static const char bytes[] = "\xEF\xBB\xBF" "one\r\n\ntwo";
    static const char *const want[] = { "one", "", "two" };
    char path[] = "/tmp/skmt-lines-XXXXXX";
    int fd = mkstemp(path);
    skmt_lines *l = NULL;
    const char *text;
    skmt_error err;
    size_t n;

    REQUIRE(fd >= 0);
    CHECK_INT(write(fd, bytes, sizeof bytes - 1), sizeof bytes - 1);
    close(fd);
    CHECK_INT(skmt_lines_open(&l, path, &err), SKMT_OK);
    for (size_t i = 0; l && i < COUNT(want); i++) {
        CHECK_INT(skmt_lines_next(l, &text, &n, &err), SKMT_OK);
        CHECK(text && n == strlen(want[i]) && !memcmp(text, want[i], n));
    }
    CHECK(l && !skmt_lines_next(l, &text, &n, &err) && !text);
    skmt_lines_close(l);
    unlink(path);
    CHECK_INT(skmt_lines_open(&l, path, &err), SKMT_ERR_IO);
    CHECK(!l && strstr(err.message, path));
    skmt_lines_close(NULL);
}

/* ---- whole sets --------------------------------------------------------- */

static bool read_all(const char *path, struct strbuf *out)
{
    const char *bytes;
    struct input *in;
    struct err e;
    size_t n = 1;

    strbuf_init(out, 0);
    if (!CHECK_OK(input_open(&in, path, &e), &e)) return false;
    while (n && CHECK_OK(input_peek(in, &bytes, &n, &e), &e)) {
        if (!CHECK(strbuf_add(out, bytes, n))) break;
        input_take(in, n);
    }
    input_close(in);
    return n == 0;
}

/* Returns the next line of *rest, without its newline, and advances *rest. */
static struct str next_line(struct str *rest)
{
    const char *nl = memchr(rest->p, '\n', rest->n);
    struct str line = { rest->p, nl ? (size_t)(nl - rest->p) : rest->n };
    size_t taken = line.n + (nl != NULL);

    rest->p += taken;
    rest->n -= taken;
    return line;
}

static struct str last_field(struct str line)
{
    const char *tab = memrchr(line.p, '\t', line.n);

    if (!tab) return line;
    return (struct str){ tab + 1, line.n - (size_t)(tab + 1 - line.p) };
}

struct figure {
    const char *refs, *hyps;
    double bleu, chrf;
    int edits, words;           /* of TER; 0 if not known */
};

static void score_lines(skmt_score *s, struct str hyps, struct str refs)
{
    skmt_error err;

    while (refs.n) {
        struct str ref = last_field(next_line(&refs));
        struct str hyp = next_line(&hyps);

        if (skmt_score_add(s, hyp.p, hyp.n, ref.p, ref.n, &err)) {
            test_fail(__FILE__, __LINE__, "%s", err.message);
            return;
        }
    }
    CHECK_INT(hyps.n, 0);
}

/* The expected numbers were counted by another program with the same rules. */
static void check_total_edits(const struct figure *f, const skmt_score *s)
{
    double edits = 0, words = 0;

    if (!f->words) return;
    skmt_score_detail(s, "ter", TER_EDITS, &edits);
    skmt_score_detail(s, "ter", TER_REF_LEN, &words);
    CHECK_INT((int)edits, f->edits);
    CHECK_INT((int)words, f->words);
}

static void check_figure(const struct figure *f, const char *refs,
                         const char *hyps)
{
    struct strbuf ref, hyp;
    skmt_score *s = NULL;
    skmt_error err;
    double bleu = -1, chrf = -1;
    bool both = read_all(refs, &ref);

    if (!read_all(hyps, &hyp)) both = false;
    if (both
        && CHECK(!skmt_score_new(&s, f->words ? "bleu,chrf,ter" : "bleu,chrf",
                                 &err))) {
        score_lines(s, strbuf_view(&hyp), strbuf_view(&ref));
        skmt_score_get(s, "bleu", &bleu, &err);
        skmt_score_get(s, "chrf", &chrf, &err);
        check_total_edits(f, s);
    }
    /* The published scores have two decimals. */
    if (!(fabs(bleu - f->bleu) <= 0.00501 && fabs(chrf - f->chrf) <= 0.00501))
        test_fail(__FILE__, __LINE__, "%s: %.4f / %.4f, want %.2f / %.2f",
                  f->hyps, bleu, chrf, f->bleu, f->chrf);
    skmt_score_free(s);
    strbuf_release(&ref);
    strbuf_release(&hyp);
}

TEST(whole_sets_score_as_published)
{
    static const struct figure figures[] = {
        { "koran/test.tsv", "koran.test.nmt", 8.18, 31.30,
          32070, 39005 },
        { "koran/test.tsv", "koran.test.2_1_100", 12.92, 35.29, 0, 0 },
        { "koran/test.tsv", "koran.test.16_2_100", 14.40, 36.45, 0, 0 },
        { "koran/test.tsv", "koran.test.knn_8_10_0.6", 14.59, 34.56, 0, 0 },
        { "koran/test.tsv", "koran.test.knn_8_100_0.7", 14.49, 33.58, 0, 0 },
        { "it/test.tsv", "it.test.nmt", 29.55, 52.04, 12193, 18856 },
        { "it/test.tsv", "it.test.2_1_100", 35.70, 55.78, 0, 0 },
        { "it/test.tsv", "it.test.16_2_100", 35.78, 55.82, 0, 0 },
        { "law/test.tsv", "law.test.nmt", 35.40, 58.06, 0, 0 },
        { "law/test.tsv", "law.test.2_1_100", 38.09, 59.73, 0, 0 },
        { "law/test.tsv", "law.test.16_2_100", 39.00, 60.15, 0, 0 },
        { "emea/docs.tsv.xz", "emea.nmt", 27.24, 52.22, 0, 0 },
        { "emea/docs.tsv.xz", "emea.2_1_100", 36.58, 57.84, 0, 0 },
        { "emea/docs.tsv.xz", "emea.16_2_100", 37.12, 58.32, 0, 0 },
        { "news/newstest2014.tsv", "newstest2014.nmt", 27.32, 54.94, 0, 0 },
        { "news/flores-devtest.tsv", "flores.nmt", 33.74, 61.53, 0, 0 },
        { "medical/test.tsv", "medical.test.nmt", 28.85, 51.97, 0, 0 }
    };
    char name[200];

    for (size_t i = 0; i < COUNT(figures); i++) {
        const char *refs, *hyps;

        snprintf(name, sizeof name, "corpora/%s", figures[i].refs);
        refs = test_shared(name);
        snprintf(name, sizeof name, "golden/hyp/%s.hyp.xz", figures[i].hyps);
        hyps = test_shared(name);
        if (!refs || !hyps) SKIP("no reference sets");
        check_figure(&figures[i], refs, hyps);
    }
}

struct by_length {
    const char *hyps;
    double bleu[5];
};

/* The first field of each line of refs names its document. */
static void score_by_document(skmt_score *s, struct str hyps, struct str refs)
{
    struct str doc = { "", 0 };
    skmt_error err;

    while (refs.n) {
        struct str line = next_line(&refs), ref = last_field(line);
        struct str hyp = next_line(&hyps);
        const char *tab = memchr(line.p, '\t', line.n);
        struct str id = { line.p, tab ? (size_t)(tab - line.p) : 0 };

        if (!str_eq(id, doc)) skmt_score_document(s);
        doc = id;
        CHECK(!skmt_score_add(s, hyp.p, hyp.n, ref.p, ref.n, &err));
    }
}

static void check_by_length(const struct by_length *want, const skmt_score *s)
{
    static const size_t most[] = { 50, 100, 200, 500, 1000 };
    static const int lines[] = { 844, 1022, 1105, 1571, 3796 };
    static const int docs[] = { 22, 14, 7, 4, 5 };

    for (size_t b = 0; b < COUNT(most); b++) {
        skmt_score *some = select_lines(s, b ? most[b - 1] + 1 : 1, most[b],
                                        lines[b], docs[b]);

        if (!some) return;
        if (fabs(score_of(some, "bleu") - want->bleu[b]) > 0.00501)
            test_fail(__FILE__, __LINE__, "%s, up to %zu lines: %.4f, want "
                      "%.2f", want->hyps, most[b], score_of(some, "bleu"),
                      want->bleu[b]);
        skmt_score_free(some);
    }
}

/* The expected numbers for emea.16_2_100 were counted by a script with another
 * implementation of the tokenizer. */
static void check_recall(const skmt_score *s)
{
    static const double r[] = { 39.23, 51.10, 59.17, 66.33, 73.46 };
    static const int words[] = { 23988, 9508, 12281, 3763, 7115 };
    static const double all[] = { 41.46, 52.58, 59.67, 66.04, 73.39 };
    static const int all_words[] = { 33222, 14541, 21804, 8568, 26098 };

    for (int i = 0; i < 5; i++) {
        CHECK_NEAR(detail(s, "r", i), r[i], 0.00501);
        CHECK_NEAR(detail(s, "r", 10 + i), words[i], 0);
        CHECK_NEAR(detail(s, "r-all", i), all[i], 0.00501);
        CHECK_NEAR(detail(s, "r-all", 10 + i), all_words[i], 0);
    }
}

TEST(documents_score_by_length_as_published)
{
    static const struct by_length figures[] = {
        { "emea.nmt", { 31.26, 29.95, 28.12, 27.54, 25.13 } },
        { "emea.2_1_100", { 32.75, 31.56, 33.79, 33.11, 40.39 } },
        { "emea.16_2_100", { 33.61, 32.39, 34.41, 34.20, 40.60 } }
    };
    const char *refs = test_shared("corpora/emea/docs.tsv.xz");
    struct strbuf ref;
    char name[200];

    if (!refs) SKIP("no reference sets");
    REQUIRE(read_all(refs, &ref));
    for (size_t i = 0; i < COUNT(figures); i++) {
        skmt_score *s = NULL;
        struct strbuf hyp;
        skmt_error err;
        const char *hyps;

        snprintf(name, sizeof name, "golden/hyp/%s.hyp.xz", figures[i].hyps);
        hyps = test_shared(name);
        if (hyps && read_all(hyps, &hyp)) {
            CHECK(!skmt_score_new(&s, "bleu,r,r-all", &err));
            if (s) score_by_document(s, strbuf_view(&hyp), strbuf_view(&ref));
            if (s) check_by_length(&figures[i], s);
            if (s && i == 2) check_recall(s);
            skmt_score_free(s);
            strbuf_release(&hyp);
        }
    }
    strbuf_release(&ref);
}
