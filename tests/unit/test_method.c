/* test_method.c - computes the worked examples of docs/method.md.
 *
 * If you change a number here, change it in the document, too. */
#include "open_subword.h"
#include "test.h"

#include "knn/weigh.h"
#include "search/penalty.h"
#include "tm/bm25.h"
#include "tm/length_byte.h"
#include "tm/similar.h"

static const char *const sources[] = {
    "Die Datei wurde nicht gefunden.",
    "Die Datei ist leer.",
    "Der Ordner wurde gel\xC3\xB6scht.",
};
static const char query[] = "Die Datei wurde nicht gespeichert.";

static const struct analyzer standard = { 0 };

/* 1.3: three stored sources, one query. */
TEST(bm25_scores_of_the_document)
{
    static const double want[] = { 1.022399, 0.441159, 0.220579 };
    struct terms t = { 0 };
    struct tail tail = { 0 };
    struct bm25_parts parts = { .tail = &tail };
    struct segment *damaged;
    struct hit hits[8];
    struct bm25 *b;
    struct err e;
    size_t n;

    for (size_t i = 0; i < COUNT(sources); i++) {
        REQUIRE(!analyze(&standard, str_of(sources[i]), &t, &e));
        REQUIRE(!tail_add(&tail, (int64_t)i + 1, &t, &e));
        parts.words += t.n;
        parts.n_docs++;
    }
    CHECK_INT(parts.words, 13);
    REQUIRE(!analyze(&standard, str_of(query), &t, &e));
    CHECK_INT(t.n, 5);
    REQUIRE(!bm25_new(&b, &e));
    REQUIRE(!bm25_search(b, &parts, &t, COUNT(hits), hits, &n, &damaged, &e));
    CHECK_INT(n, 3);
    for (size_t i = 0; i < n && i < COUNT(want); i++) {
        CHECK_INT(hits[i].text, (int)i + 1);
        CHECK(fabs(hits[i].score - want[i]) < 1e-6);
    }
    bm25_free(b);
    tail_release(&tail);
    terms_release(&t);
}

/* 1.3: lengths as they are stored in one byte. */
TEST(length_bytes_of_the_document)
{
    static const uint32_t length[][2] = {
        { 39, 39 }, { 41, 40 }, { 55, 54 }, { 87, 84 }, { 100, 96 },
        { 500, 472 },
    };

    for (size_t i = 0; i < COUNT(length); i++)
        CHECK_INT(length_of_byte(length_to_byte(length[i][0])), length[i][1]);
}

/* 1.5: the similarity of the query and a source. */
struct compared { size_t distance; double token, authors; };

static void compare_sources(const struct subword *sw, size_t n, size_t chars,
                            const struct compared *want)
{
    struct symbols q = { 0 }, s = { 0 };
    struct similar *sim;
    struct err e;

    REQUIRE(!similar_new(&sim, &e));
    REQUIRE(!symbols_of(sw, str_of(query), &q, &e));
    REQUIRE(!similar_set(sim, q.at, q.n, &e));
    CHECK_INT(q.n, n);
    CHECK_INT(q.chars, chars);
    for (size_t i = 0; i < COUNT(sources); i++) {
        size_t d;

        REQUIRE(!symbols_of(sw, str_of(sources[i]), &s, &e));
        d = similar_distance(sim, s.at, s.n);
        CHECK_INT(d, want[i].distance);
        CHECK(fabs(similarity(d, q.n, s.n) - want[i].token) < 1e-6);
        CHECK(fabs(similarity(d, q.chars, s.chars) - want[i].authors) < 1e-6);
    }
    similar_free(sim);
    symbols_release(&q);
    symbols_release(&s);
}

TEST(similarities_in_words)
{
    static const struct compared want[] = {
        { 1, 0.833333, 0.971429 }, { 3, 0.5, 0.914286 },
        { 4, 0.333333, 0.885714 },
    };

    compare_sources(NULL, 6, 35, want);
}

TEST(similarities_in_pieces)
{
    static const struct compared want[] = {
        { 3, 0.7, 0.931818 }, { 5, 0.5, 0.886364 }, { 6, 0.4, 0.863636 },
    };
    struct test_subword t;

    if (!open_test_subword(&t)) SKIP("there is no de-en tokenizer");
    compare_sources(t.sw, 10, 44, want);
    close_test_subword(&t);
}

enum { A = 10, B = 11, C = 12 };

static double mixed(const struct knn_mixture *v, int32_t token, double p)
{
    double sum = (1 - (double)v->lambda) * p;

    for (int i = 0; i < v->n; i++)
        if (v->token[i] == token) sum += (double)v->add[i];
    return sum;
}

/* 1.8: two neighbors at squared distances 20 and 60. */
TEST(mixture_of_the_document)
{
    static const struct neighbor nb[] = { { .d2 = 20, .token = A },
                                           { .d2 = 60, .token = B } };
    struct weigh_options o = { .tau = 100 };
    struct knn_mixture v;

    weigh(nb, 2, &o, &v);
    CHECK(fabs((double)v.lambda - 0.8) < 1e-6);
    CHECK(fabs((double)v.share[0] - 0.598688) < 1e-6);
    CHECK(fabs((double)v.share[1] - 0.401312) < 1e-6);
    CHECK(fabs(mixed(&v, A, 0.1) - 0.498950) < 1e-6);
    CHECK(fabs(mixed(&v, B, 0.6) - 0.441050) < 1e-6);
    CHECK(fabs(mixed(&v, C, 0.3) - 0.06) < 1e-6);

    weigh(&nb[1], 1, &o, &v);                   /* only the far neighbor */
    CHECK(fabs((double)v.lambda - 0.4) < 1e-6);
    o.tau = 60;
    weigh(&nb[1], 1, &o, &v);           /* at distance tau, lambda is 0 */
    CHECK_INT(v.n, 0);
    CHECK((double)v.lambda == 0);
}

/* 5.1: a fixed lambda. The second entry may stand for two. */
TEST(fixed_lambda_of_the_document)
{
    struct neighbor nb[] = { { .d2 = 20, .token = A },
                             { .d2 = 30, .token = B } };
    struct weigh_options o = { 10, ADAPTER_FIXED, 0.7 };
    struct knn_mixture v;

    weigh(nb, 2, &o, &v);
    CHECK(fabs((double)v.share[0] - 0.731059) < 1e-6);
    CHECK(fabs((double)v.share[1] - 0.268941) < 1e-6);
    CHECK(fabs(mixed(&v, A, 0) - 0.511741) < 1e-6);
    CHECK(fabs(mixed(&v, B, 0.1) - 0.188259 - 0.03) < 1e-6);
    nb[1].log_weight = 0.693147181f;
    weigh(nb, 2, &o, &v);
    CHECK(fabs((double)v.share[1] - 2 / (2 + exp(1))) < 1e-6);
}

/* 0.4: the same log-probability at two lengths, with both penalties. */
TEST(scores_of_the_document)
{
    CHECK(fabs(penalty(LENPEN_GNMT, 0.6, 10) - 1.732862) < 1e-6);
    CHECK(fabs(penalty(LENPEN_GNMT, 0.6, 40) - 3.349938) < 1e-6);
    CHECK(fabs(penalty(LENPEN_FAIRSEQ, 0.6, 10) - 3.981072) < 1e-6);
    CHECK(fabs(penalty(LENPEN_FAIRSEQ, 0.6, 40) - 9.146101) < 1e-6);
}
