/* test_analyze.c - tests terms and units, and that BM25 over these terms ranks
 * like the search engine of the paper's authors. */
#include <jansson.h>

#include "naive_bm25.h"
#include "open_subword.h"
#include "test.h"
#include "tm/analyze.h"

static const struct analyzer standard;

static void analyze_text(const struct analyzer *a, const char *text,
                         struct terms *t)
{
    struct err e;

    CHECK_OK(analyze(a, str_of(text), t, &e), &e);
}

/* Whether two texts have the same terms in the same order. */
static bool same_terms(const char *a, const char *b)
{
    struct terms x = { 0 }, y = { 0 };
    bool same;

    analyze_text(&standard, a, &x);
    analyze_text(&standard, b, &y);
    same = x.n == y.n && (!x.n || !memcmp(x.at, y.at, x.n * sizeof *x.at));
    terms_release(&x);
    terms_release(&y);
    return same;
}

static size_t n_terms(const char *text)
{
    struct terms t = { 0 };
    size_t n;

    analyze_text(&standard, text, &t);
    n = t.n;
    terms_release(&t);
    return n;
}

TEST(terms_are_words_in_lower_case)
{
    CHECK(same_terms("Nehmen Sie 2 Tab@@ letten , 2,5 mg !",
                     "nehmen sie 2 tab letten 2,5 mg"));
    CHECK(same_terms("T\xC3\x84GLICH \xE1\xBA\x9E", "t\xC3\xA4glich \xC3\x9F"));
    CHECK(!same_terms("a b", "b a"));
    CHECK(!same_terms("2,5", "2 5"));
    CHECK(!same_terms("a", "a a"));
    CHECK(!same_terms("Stra\xC3\x9F" "e", "Strasse"));
    CHECK_INT(n_terms("Nehmen Sie 2 Tab@@ letten , 2,5 mg !"), 7);
    CHECK_INT(n_terms("@@ @-@ , _ __ !"), 0);
    CHECK_INT(n_terms(""), 0);
    CHECK_INT(n_terms("na na na"), 3);
}

/* Index files contain these numbers. If they change, existing files are wrong
 * and SEGMENT_VERSION must be raised. */
TEST(terms_never_change)
{
    struct terms t = { 0 };

    analyze_text(&standard, "Der T\xC3\x84GLICHE 2,5", &t);
    if (CHECK(t.n == 3)) {
        CHECK(t.at[0] == UINT64_C(0xAD1CAADE2EF2DB5D));
        CHECK(t.at[1] == UINT64_C(0x4C810D3020E23D9E));
        CHECK(t.at[2] == UINT64_C(0xB20FC534756EDB47));
    }
    terms_release(&t);
}

TEST(terms_are_replaced)
{
    struct terms t = { 0 };

    analyze_text(&standard, "one two three", &t);
    CHECK_INT(t.n, 3);
    analyze_text(&standard, "four", &t);
    CHECK_INT(t.n, 1);
    analyze_text(&standard, "", &t);
    CHECK_INT(t.n, 0);
    terms_release(&t);
    CHECK(t.at == NULL && t.n == 0);
    terms_release(&t);
}

TEST(terms_of_long_words_are_cut)
{
    char text[1001];

    memset(text, 'x', 1000);
    text[1000] = '\0';
    CHECK_INT(n_terms(text), 4);
    text[255] = '\0';
    CHECK_INT(n_terms(text), 1);
}

TEST(terms_of_pieces)
{
    static const char text[] = "Die Katze, die Katze!";
    struct test_subword ts;
    struct analyzer a = { .subword = open_test_subword(&ts), .id = 1 };
    struct pieces p = { 0 };
    struct terms t = { 0 };
    struct err e;

    if (!a.subword) SKIP("there is no tokenizer");
    REQUIRE_OK(subword_encode(a.subword, text, strlen(text), &p, &e), &e);
    analyze_text(&a, text, &t);
    REQUIRE(t.n == p.n && p.n > 5);
    for (size_t i = 0; i < p.n; i++)
        for (size_t k = 0; k < p.n; k++)
            CHECK((t.at[i] == t.at[k]) == (p.at[i].id == p.at[k].id));
    analyze_text(&a, "", &t);
    CHECK_INT(t.n, 0);
    terms_release(&t);
    pieces_release(&p);
    close_test_subword(&ts);
}

/* ---- units --------------------------------------------------------------- */

TEST(symbols_are_words_and_marks)
{
    struct symbols s = { 0 };
    struct err e;

    REQUIRE_OK(symbols_of(NULL, str_of("Ja, ja  ... T\xC3\xA4g"), &s, &e), &e);
    REQUIRE(s.n == 7);          /* Ja , ja . . . Taeg */
    CHECK(s.at[0] != s.at[2]);  /* case counts */
    CHECK(s.at[3] == s.at[4] && s.at[4] == s.at[5]);
    CHECK(s.at[1] != s.at[3]);
    CHECK_INT(s.chars, 2 + 1 + 2 + 3 + 3 + 6);
    REQUIRE_OK(symbols_of(NULL, str_of(" \t\n"), &s, &e), &e);
    CHECK(s.n == 0 && s.chars == 0);
    symbols_release(&s);
    CHECK(s.at == NULL);
}

TEST(symbols_are_pieces)
{
    static const char text[] = "Die Katze, 2,5 \xE2\x98\x83 mg.";
    struct test_subword ts;
    struct subword *sw = open_test_subword(&ts);
    struct symbols s = { 0 };
    struct pieces p = { 0 };
    struct err e;
    uint32_t chars = 0;

    if (!sw) SKIP("there is no tokenizer");
    REQUIRE_OK(subword_encode(sw, text, strlen(text), &p, &e), &e);
    REQUIRE_OK(symbols_of(sw, str_of(text), &s, &e), &e);
    REQUIRE(s.n == p.n && p.n > 4);
    for (size_t i = 0; i < p.n; i++) {
        size_t len;
        const char *piece = subword_piece(sw, p.at[i].id, &len);

        CHECK_INT(s.at[i], p.at[i].id);
        for (size_t k = 0; k < len; k++)
            chars += (piece[k] & 0xC0) != 0x80;
    }
    CHECK_INT(s.chars, chars + p.n - 1);
    CHECK_INT(symbols_chars(sw, s.at, s.n), s.chars);
    CHECK_INT(symbols_chars(sw, s.at, 0), 0);
    symbols_release(&s);
    pieces_release(&p);
    close_test_subword(&ts);
}

/* ---- BM25 over the terms ------------------------------------------------- */

static void add_text(struct naive_bm25 *b, const char *text)
{
    struct terms t = { 0 };

    analyze_text(&standard, text, &t);
    naive_add(b, t.at, t.n);
    terms_release(&t);
}

static double *scores_of(const struct naive_bm25 *b, const char *query)
{
    struct terms t = { 0 };
    double *score;

    analyze_text(&standard, query, &t);
    score = naive_scores(b, t.at, t.n);
    terms_release(&t);
    return score;
}

TEST(bm25_length_byte)
{
    static const int pair[][2] = {
        { 0, 0 }, { 1, 1 }, { 23, 23 }, { 24, 24 }, { 39, 39 }, { 40, 40 },
        { 41, 40 }, { 55, 54 }, { 57, 56 }, { 87, 84 }, { 88, 88 },
        { 100, 96 }, { 150, 144 }, { 200, 200 }, { 300, 280 }, { 500, 472 },
        { 1000, 984 }
    };

    for (size_t i = 0; i < COUNT(pair); i++)
        CHECK_NEAR(naive_length((size_t)pair[i][0]), pair[i][1], 0);
}

TEST(bm25_worked_example)
{
    static const char *const doc[] = {
        "Nehmen Sie t\xC3\xA4glich 2 Tab@@ letten ein .",
        "Tab@@ letten mit 5 mg",
        "Nicht schlucken .",
        "Sie nehmen 2,5 mg der Tab@@ letten ; Tab@@ letten nicht kau@@ en"
    };
    static const double want[] = { 1.455831, 0.705964, 0, 1.468823 };
    struct naive_bm25 b = { 0 };
    double *score;

    for (size_t i = 0; i < COUNT(doc); i++) add_text(&b, doc[i]);
    CHECK_NEAR(naive_average(&b), 6.5, 1e-12);
    score = scores_of(&b, "Nehmen Sie 2 Tab@@ letten , 2,5 mg !");
    for (size_t i = 0; i < COUNT(want); i++)
        CHECK_NEAR(score[i], want[i], 5e-7);
    free(score);
    naive_release(&b);
}

/* Counts of lines where the rankings of a file (tests/golden/README.md) agree
 * with ours. */
struct agreement {
    int lines, hits;            /* all lines, lines with hits */
    int first;                  /* the first hit has our best score */
    int order;                  /* scores never rise from hit to hit */
    int same_set;               /* the number of hits is ours */
};

#define EQUAL 1e-5

static void compare_line(const double *score, size_t n, const json_t *ranked,
                         struct agreement *a)
{
    size_t n_ranked = json_array_size(ranked), found = 0;
    double best = 0, before = INFINITY;
    bool order = true;

    for (size_t i = 0; i < n; i++) {
        found += score[i] > 0;
        if (score[i] > best) best = score[i];
    }
    a->lines++;
    a->same_set += n_ranked == (found < 64 ? found : 64);
    if (!n_ranked) return;
    a->hits++;
    for (size_t i = 0; i < n_ranked; i++) {
        size_t at = (size_t)json_integer_value(json_array_get(ranked, i));

        if (!CHECK(at < n)) return;
        if (i == 0) a->first += score[at] >= best - EQUAL;
        if (score[at] > before + EQUAL) order = false;
        before = score[at];
    }
    a->order += order;
}

static void read_line(const char *line, struct naive_bm25 *b, char *doc,
                      size_t size, struct agreement *a)
{
    json_t *o = json_loads(line, 0, NULL);
    const char *query = json_string_value(json_object_get(o, "query"));
    const char *name = json_string_value(json_object_get(o, "doc"));
    double *score;

    if (CHECK(query && name)) {
        if (strcmp(name, doc)) naive_release(b);
        snprintf(doc, size, "%s", name);
        CHECK_INT(json_integer_value(json_object_get(o, "n")), b->n);
        score = scores_of(b, query);
        compare_line(score, b->n, json_object_get(o, "ranked"), a);
        free(score);
        add_text(b, query);
    }
    json_decref(o);
}

static struct agreement read_rankings(FILE *in)
{
    struct agreement a = { 0 };
    struct naive_bm25 b = { 0 };
    char *line = NULL, doc[200] = "";
    size_t cap = 0;

    while (getline(&line, &cap, in) > 0)
        read_line(line, &b, doc, sizeof doc, &a);
    naive_release(&b);
    free(line);
    return a;
}

TEST(bm25_ranks_as_the_authors_did)
{
    FILE *in = fopen(test_data("retrieval.jsonl"), "r");
    struct agreement a;

    REQUIRE(in != NULL);
    a = read_rankings(in);
    fclose(in);
    CHECK_INT(a.lines, 61);
    CHECK_INT(a.first, a.hits);
    CHECK_INT(a.order, a.hits);
    CHECK_INT(a.same_set, a.lines);
}

static struct agreement read_packed(const char *path)
{
    struct agreement a = { 0 };
    char command[4200];
    FILE *in;

    snprintf(command, sizeof command, "xz -dc '%s'", path);
    in = popen(command, "r");
    if (!CHECK(in != NULL)) return a;
    a = read_rankings(in);
    CHECK_INT(pclose(in), 0);
    return a;
}

/* An independent program with the same rules reached the same numbers. */
TEST(bm25_ranks_as_the_authors_did_all_lines)
{
    static const struct { const char *name; int lines, hits, order; } set[] = {
        { "golden/retrieval/emea-50.jsonl.xz", 844, 767, 753 },
        { "golden/retrieval/emea-100.jsonl.xz", 1022, 941, 918 }
    };

    for (size_t i = 0; i < COUNT(set); i++) {
        const char *path = test_shared(set[i].name);
        struct agreement a;

        if (!path) SKIP("the full rankings are not there");
        a = read_packed(path);
        CHECK_INT(a.lines, set[i].lines);
        CHECK_INT(a.hits, set[i].hits);
        CHECK_INT(a.first, a.hits);
        CHECK_INT(a.same_set, a.lines);
        CHECK_INT(a.order, set[i].order);
    }
}
