/* test_align.c - tests of word alignment: words, the diagonal prior, training,
 * links and symmetrization. tools/check_align.py --examples prints the numbers
 * of the worked examples; it computes them in another way. */
#include "align/aligner.h"
#include "align/diagonal.h"
#include "align/pair_sizes.h"
#include "align_fix.h"
#include "test.h"

/* ---- words -------------------------------------------------------------- */

static void check_split(const struct word_splitter *s, const char *text,
                        const char *want)
{
    struct word_keys k = { 0 };
    struct err e;
    char got[256] = "";

    REQUIRE_OK(word_keys_of(s, BITEXT_SOURCE, str_of(text), &k, &e), &e);
    for (size_t i = 0; i < k.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "[%.*s]",
                 (int)(k.at[i].end - k.at[i].begin), text + k.at[i].begin);
    CHECK_STR(got, want);
    word_keys_release(&k);
}

static uint64_t first_key(const struct word_splitter *s, const char *text)
{
    struct word_keys k = { 0 };
    uint64_t key = 0;

    if (CHECK(!word_keys_of(s, BITEXT_SOURCE, str_of(text), &k, NULL) && k.n))
        key = k.at[0].key;
    word_keys_release(&k);
    return key;
}

TEST(words_and_punctuation_marks_are_words)
{
    struct word_splitter words = { .split = SPLIT_WORDS };
    struct word_splitter spaces = { .split = SPLIT_SPACES };

    check_split(&words, "Das kostet 2,5 Euro (netto)...",
                "[Das][kostet][2,5][Euro][(][netto][)][.][.][.]");
    check_split(&words, " \t\n", "");
    check_split(&words, "", "");
    check_split(&spaces, "  don 't\tstop .\r\n", "[don]['t][stop][.]");
    check_split(&spaces, "", "");
}

TEST(the_case_of_words_can_be_kept)
{
    struct word_splitter lower = { .split = SPLIT_WORDS };
    struct word_splitter keep = { .split = SPLIT_WORDS, .keep_case = true };

    CHECK(first_key(&lower, "\xc3\x84pfel") == first_key(&lower,
                                                         "\xc3\xa4PFEL"));
    CHECK(first_key(&keep, "Haus") != first_key(&keep, "haus"));
    CHECK(first_key(&keep, "haus") == first_key(&lower, "Haus"));
    /* Keys are stored in files: this is XXH3-64 of "haus". */
    CHECK(first_key(&lower, "Haus") == 0xcf9ac3ead211dad7u);
}

TEST(a_bitext_numbers_words_by_rank_and_keeps_pairs_without_words)
{
    struct bitext b = { 0 };
    struct err e;
    char *big = malloc(4 * BITEXT_WORDS_MAX);

    REQUIRE(big != NULL);
    for (int i = 0; i <= BITEXT_WORDS_MAX; i++) memcpy(big + 2 * i, "x ", 2);
    big[2 * BITEXT_WORDS_MAX] = 0;              /* as many as are allowed */
    CHECK(add_pair(&b, "a b a", "c"));
    CHECK(add_pair(&b, "a", " "));
    CHECK(add_pair(&b, big, "d"));
    strcat(big, "x");
    CHECK(add_pair(&b, big, "d"));
    CHECK(add_pair(&b, "d", big));
    REQUIRE_OK(bitext_finish(&b, &e), &e);
    CHECK_INT(b.n_pairs, 5);
    CHECK_INT(b.n_empty, 1);
    CHECK_INT(b.n_long, 2);
    CHECK_INT(b.side[0].n_words, 3 + BITEXT_WORDS_MAX);
    CHECK_INT(b.side[0].n_keys, 3);
    for (size_t i = 1; i < b.side[0].n_keys; i++)
        CHECK(b.side[0].keys[i - 1] < b.side[0].keys[i]);
    CHECK_INT(bitext_text(&b.side[0], 0).n, 3);
    CHECK_INT(bitext_text(&b.side[0], 0).at[0],
              bitext_text(&b.side[0], 0).at[2]);
    CHECK_INT(bitext_text(&b.side[1], 1).n, 0);
    CHECK_INT(bitext_text(&b.side[1], 4).n, 0);
    bitext_release(&b);
    free(big);
}

/* ---- the diagonal prior -------------------------------------------------- */

static void check_prior(double tension, uint32_t i, uint32_t m, uint32_t n)
{
    static double weight[1000];
    double sum = 0, moment = 0, slope;

    diagonal_weights(tension, i, m, n, weight);
    for (uint32_t j = 1; j <= n; j++) {
        double h = -fabs((double)i / m - (double)j / n);

        CHECK_NEAR(weight[j - 1], exp(tension * h), 1e-12);
        sum += exp(tension * h);
        moment += h * exp(tension * h);
    }
    CHECK_NEAR(diagonal_sum(tension, i, m, n) / sum, 1, 1e-11);
    CHECK_NEAR(diagonal_mean(tension, i, m, n), moment / sum, 1e-9);
    /* The mean is the derivative of the logarithm of the sum. */
    slope = (log(diagonal_sum(tension + 1e-4, i, m, n)) -
             log(diagonal_sum(tension, i, m, n))) / 1e-4;
    CHECK_NEAR(diagonal_mean(tension + 5e-5, i, m, n), slope, 1e-7);
}

TEST(the_sum_and_the_mean_of_the_prior_have_closed_forms)
{
    static const uint32_t sizes[] = { 1, 2, 3, 7, 10, 64, 1000 };
    static const double tensions[] = { 0.1, 1, 4, 13.9 };

    for (size_t a = 0; a < COUNT(sizes); a++)
        for (size_t b = 0; b < COUNT(sizes); b++)
            for (size_t t = 0; t < COUNT(tensions); t++)
                for (uint32_t i = 1; i <= sizes[a]; i += 1 + sizes[a] / 9)
                    check_prior(tensions[t], i, sizes[a], sizes[b]);
}

TEST(the_prior_agrees_with_the_worked_examples)
{
    CHECK_NEAR(diagonal_sum(4, 2, 3, 5), 2.11496374740507, 1e-13);
    CHECK_NEAR(diagonal_mean(4, 2, 3, 5), -0.180185577626198, 1e-13);
    CHECK_NEAR(diagonal_sum(0.1, 1, 1, 7), 6.70907531686757, 1e-12);
    CHECK_NEAR(diagonal_mean(0.1, 1, 1, 7), -0.42040955124513, 1e-12);
    CHECK_NEAR(diagonal_sum(14, 9, 10, 4), 0.372862921719561, 1e-13);
    CHECK_NEAR(diagonal_mean(14, 9, 10, 4), -0.119561067345144, 1e-12);
}

/* No step of gradient ascent with rate 20 can lower the likelihood if the
 * variance of h is at most 1/10. */
TEST(the_variance_of_the_prior_is_small)
{
    for (double tension = 0.1; tension < 14; tension *= 1.5)
        for (uint32_t n = 1; n <= 40; n++)
            for (uint32_t i = 1; i <= 17; i++) {
                double variance = (diagonal_mean(tension + 1e-3, i, 17, n) -
                                   diagonal_mean(tension, i, 17, n)) / 1e-3;

                if (!(variance < 1.0 / 12 + 1e-6))
                    test_fail(__FILE__, __LINE__, "variance %g at tension %g, "
                              "%u of 17, %u", variance, tension, i, n);
            }
}

TEST(pairs_are_grouped_by_their_lengths)
{
    struct bitext b = { 0 };
    struct pair_sizes s = { 0 };
    struct err e;

    CHECK(add_pair(&b, "a b", "c d e") && add_pair(&b, "a", "c"));
    CHECK(add_pair(&b, "", "c") && add_pair(&b, "x y", "u v w"));
    REQUIRE_OK(bitext_finish(&b, &e), &e);
    REQUIRE_OK(pair_sizes_init(&s, b.n_pairs, &b.side[0], &b.side[1], &e), &e);
    CHECK_INT(s.n, 2);
    CHECK_INT(s.n_places, 4);
    CHECK_INT(s.of_pair[0], s.of_pair[3]);
    CHECK(s.of_pair[0] != s.of_pair[1]);
    pair_sizes_begin(&s, 4);
    CHECK_NEAR(s.sum[s.at[s.of_pair[0]].place + 1], diagonal_sum(4, 2, 3, 2),
               1e-15);
    CHECK_NEAR(pair_sizes_expect(&s, 4), 0, 0);
    s.linked[s.at[0].place + 2] = 2;
    CHECK_NEAR(pair_sizes_expect(&s, 4), 2 * diagonal_mean(4, 3, 3, 2), 1e-15);
    pair_sizes_release(&s);
    bitext_release(&b);
}

/* ---- training ------------------------------------------------------------ */

struct course {                 /* what training reported */
    struct align_iteration at[2][20];
    int n[2];
    int stop_at;                /* the report that stops it; 0: none */
    double progress;
};

static int note_iteration(void *user, const struct align_iteration *it)
{
    struct course *c = user;

    if (it->number <= 20) c->at[it->reverse][c->n[it->reverse]++] = *it;
    return c->stop_at && c->n[0] + c->n[1] == c->stop_at;
}

static int note_progress(void *user, double done)
{
    struct course *c = user;

    if (!(done >= c->progress && done <= 1))
        test_fail(__FILE__, __LINE__, "%g after %g", done, c->progress);
    c->progress = done;
    return 0;
}

static struct align_settings course_settings(struct course *c, double alpha,
                                             int iterations)
{
    struct align_settings s = align_settings_defaults();

    *c = (struct course){ .stop_at = c->stop_at };
    s.alpha = alpha;
    s.iterations = iterations;
    s.on_iteration = note_iteration;
    s.on_progress = note_progress;
    s.user = c;
    return s;
}

static bool two_sentences(struct bitext *b)
{
    return CHECK(add_pair(b, "das Haus", "the house") &&
                 add_pair(b, "das Buch", "the book"));
}

static double prob_of(const struct align_model *m, const char *given,
                      const char *made)
{
    size_t row = given ? word_number(m, BITEXT_SOURCE, given) + 1u : 0;

    return lexicon_prob(&m->forward.lexicon, row,
                        word_number(m, BITEXT_TARGET, made));
}

static struct align_model *train_two(struct course *c, double alpha,
                                     int iterations)
{
    struct bitext b = { 0 };
    struct align_model *m = NULL;
    struct align_settings s = course_settings(c, alpha, iterations);
    struct err e;

    if (two_sentences(&b)) CHECK_OK(train_words(&m, &b, &s, 1, &e), &e);
    bitext_release(&b);
    return m;
}

/* The numbers are those of tools/check_align.py --examples. Probabilities are
 * stored in single precision. */
TEST(one_iteration_on_two_sentences_gives_the_worked_numbers)
{
    struct course c = { 0 };
    struct align_model *m = train_two(&c, 0, 1);

    REQUIRE(m && c.n[0] == 1 && c.n[1] == 1);
    CHECK_NEAR(c.at[0][0].log_likelihood, -4.39444903546, 1e-6);
    CHECK_NEAR(c.at[0][0].perplexity, 3, 1e-6);
    CHECK_NEAR(c.at[0][0].tension, 4, 0);
    CHECK_NEAR(prob_of(m, NULL, "the"), 0.5, 1e-7);
    CHECK_NEAR(prob_of(m, NULL, "book"), 0.25, 1e-7);
    CHECK_NEAR(prob_of(m, "das", "the"), 0.880797088, 1e-7);
    CHECK_NEAR(prob_of(m, "das", "house"), 0.0596014597, 1e-8);
    CHECK_NEAR(prob_of(m, "haus", "house"), 0.880797088, 1e-7);
    CHECK_NEAR(prob_of(m, "haus", "the"), 0.119202919, 1e-8);
    CHECK_NEAR(prob_of(m, "haus", "book"), LEXICON_FLOOR, 0);
    align_model_free(m);
}

TEST(three_iterations_give_the_worked_numbers)
{
    struct course c = { 0 };
    struct align_model *m = train_two(&c, 0, 3);

    REQUIRE(m && c.n[0] == 3 && c.n[1] == 3);
    CHECK_NEAR(c.at[0][1].log_likelihood, -1.13249341647, 1e-6);
    CHECK_NEAR(c.at[0][1].tension, 7.1472347933, 1e-6);
    CHECK_NEAR(c.at[0][2].log_likelihood, -0.350635028362, 1e-6);
    CHECK_NEAR(m->forward.tension, 8.62458099054, 1e-6);
    CHECK_NEAR(prob_of(m, NULL, "the"), 0.785886586, 1e-6);
    CHECK_NEAR(prob_of(m, "das", "book"), 6.99862721e-05, 1e-10);
    CHECK_NEAR(prob_of(m, "haus", "house"), 0.999528706, 1e-6);
    /* The two sentences are the same in both directions. */
    CHECK_NEAR(m->reverse.tension, m->forward.tension, 0);
    align_model_free(m);
}

TEST(variational_bayes_gives_the_worked_numbers)
{
    struct course c = { 0 };
    struct align_model *m = train_two(&c, 0.01, 3);

    REQUIRE(m && c.n[0] == 3);
    CHECK_NEAR(c.at[0][1].log_likelihood, -1.67567391672, 1e-6);
    CHECK_NEAR(c.at[0][1].tension, 7.83786687101, 1e-5);
    CHECK_NEAR(c.at[0][2].log_likelihood, -0.470228745785, 1e-6);
    CHECK_NEAR(m->forward.tension, 9.02729648848, 1e-5);
    CHECK_NEAR(prob_of(m, "das", "the"), 0.987341642, 1e-6);
    CHECK_NEAR(prob_of(m, "haus", "house"), 0.984032691, 1e-6);
    /* Improbable pairs are left out. */
    CHECK_NEAR(prob_of(m, "haus", "the"), LEXICON_FLOOR, 0);
    CHECK_INT(m->forward.lexicon.n, 3);
    align_model_free(m);
}

TEST(the_likelihood_rises_with_each_iteration)
{
    struct bitext b = { 0 };
    struct align_model *m = NULL;
    struct course c = { 0 };
    struct align_settings s = course_settings(&c, 0, 15);
    struct err e;

    add_made_up(&b, 400);
    REQUIRE_OK(train_words(&m, &b, &s, 1, &e), &e);
    for (int d = 0; d < 2; d++) {
        REQUIRE(c.n[d] == 15);
        for (int k = 1; k < c.n[d]; k++) {
            double before = c.at[d][k - 1].log_likelihood;

            if (!(c.at[d][k].log_likelihood >= before + 1e-7 * before))
                test_fail(__FILE__, __LINE__, "%s %d: %.9g after %.9g",
                          d ? "reverse" : "forward", k + 1,
                          c.at[d][k].log_likelihood, before);
        }
        CHECK(c.at[d][14].perplexity < c.at[d][0].perplexity / 3);
    }
    CHECK(c.progress > 0.98);
    align_model_free(m);
    bitext_release(&b);
}

TEST(training_can_be_stopped)
{
    struct err e;

    for (int at = 1; at <= 6; at++) {
        struct bitext b = { 0 };
        struct align_model *m = NULL;
        struct course c = { .stop_at = at };
        struct align_settings s = course_settings(&c, 0.01, 3);

        add_made_up(&b, 20);
        CHECK_INT(train_words(&m, &b, &s, 2, &e), ST_CANCELED);
        CHECK(m == NULL && e.msg[0]);
        bitext_release(&b);
    }
}

TEST(training_needs_words)
{
    struct bitext b = { 0 };
    struct align_settings s = align_settings_defaults();
    struct align_model *m;
    struct err e;

    CHECK_INT(train_words(&m, &b, &s, 1, &e), ST_ARGUMENT);
    CHECK(add_pair(&b, "a", "") && add_pair(&b, "", "b"));
    CHECK_INT(train_words(&m, &b, &s, 1, &e), ST_ARGUMENT);
    CHECK(m == NULL);
    bitext_release(&b);
}

/* ---- links --------------------------------------------------------------- */

static void check_links(struct word_links links, const char *want)
{
    char got[256] = "";

    for (size_t i = 0; i < links.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u-%u",
                 i ? " " : "", links.at[i].source, links.at[i].target);
    CHECK_STR(got, want);
}

TEST(words_that_occur_together_are_linked)
{
    struct course c = { 0 };
    struct align_model *m = train_two(&c, 0.01, 5);
    struct aligner *a;
    uint32_t source[2], target[2];
    struct err e;

    REQUIRE(m != NULL);
    REQUIRE_OK(aligner_new(&a, m, &e), &e);
    source[0] = word_number(m, BITEXT_SOURCE, "das");
    source[1] = word_number(m, BITEXT_SOURCE, "buch");
    target[0] = word_number(m, BITEXT_TARGET, "the");
    target[1] = word_number(m, BITEXT_TARGET, "book");
    for (int method = 0; method < ALIGN_METHOD_COUNT; method++)
        check_links(aligner_run(a, (enum align_method)method, source, 2,
                                target, 2), "0-0 1-1");
    target[0] = word_number(m, BITEXT_TARGET, "book");
    target[1] = word_number(m, BITEXT_TARGET, "the");
    check_links(aligner_run(a, ALIGN_INTERSECT, source, 2, target, 2),
                "0-1 1-0");
    CHECK_INT(aligner_run(a, ALIGN_UNION, source, 2, target, 0).n, 0);
    CHECK_INT(aligner_run(a, ALIGN_UNION, NULL, 0, NULL, 0).n, 0);
    aligner_free(a);
    align_model_free(m);
}

TEST(unknown_words_are_linked_by_position)
{
    struct course c = { 0 };
    struct align_model *m = train_two(&c, 0.01, 5);
    uint32_t unknown[ALIGNER_WORDS_MAX];
    struct word_links links;
    struct aligner *a;
    struct err e;

    REQUIRE(m != NULL);
    REQUIRE_OK(aligner_new(&a, m, &e), &e);
    for (int i = 0; i < ALIGNER_WORDS_MAX; i++) unknown[i] = ALIGN_UNKNOWN;
    check_links(aligner_run(a, ALIGN_GROW_DIAG_FINAL_AND, unknown, 3, unknown,
                            3), "0-0 1-1 2-2");
    /* The most words that are allowed: each has a weight near its neighbors',
     * so that the null word is more probable. */
    links = aligner_run(a, ALIGN_UNION, unknown, ALIGNER_WORDS_MAX, unknown,
                        ALIGNER_WORDS_MAX);
    CHECK_INT(links.n, 0);
    CHECK_INT(align_model_number(m, BITEXT_SOURCE, 12345), ALIGN_UNKNOWN);
    aligner_free(a);
    align_model_free(m);
}

/* ---- symmetrization ------------------------------------------------------ */

/* Forward 0-0 1-1 1-2 3-3, reverse 0-0 1-1 2-4 3-3 4-0 5-6. 1-2 and 2-4 are
 * next to links of both directions. 5-6 is not, but neither of its words has
 * another link. 4-0 is far from the others, and target word 0 has a link
 * already. */
TEST(each_method_gives_the_worked_links)
{
    static const uint32_t forward[] = { 0, 1, 1, 3, NO_WORD, NO_WORD,
                                        NO_WORD };
    static const uint32_t reverse[] = { 0, 1, 4, 3, 0, 6 };
    static const char *const want[] = {
        "0-0 1-1 1-2 3-3",
        "0-0 1-1 2-4 3-3 4-0 5-6",
        "0-0 1-1 3-3",
        "0-0 1-1 1-2 2-4 3-3 4-0 5-6",
        "0-0 1-1 1-2 2-4 3-3",
        "0-0 1-1 1-2 2-4 3-3 5-6",
    };
    struct two_alignments a = { forward, reverse, 6, 7 };
    struct word_link links[13];
    uint8_t scratch[SYMMETRIZE_BYTES(6, 7)];

    for (int k = 0; k < ALIGN_METHOD_COUNT; k++)
        check_links((struct word_links){
            links, symmetrize((enum align_method)k, &a, links, scratch) },
            want[k]);
}

/* The definition of grow-diag-final-and with tables of all word pairs. */
struct naive_table { bool forward[9][9], reverse[9][9], chosen[9][9]; };

static bool naive_free(const struct naive_table *g, int s, int t, bool *source)
{
    bool source_free = true, target_free = true;

    for (int k = 0; k < 9; k++) {
        if (g->chosen[s][k]) source_free = false;
        if (g->chosen[k][t]) target_free = false;
    }
    *source = source_free;
    return target_free;
}

static bool naive_grow_at(struct naive_table *g, int s, int t)
{
    static const int step[8][2] = { { -1, 0 }, { 0, -1 }, { 1, 0 }, { 0, 1 },
        { -1, -1 }, { -1, 1 }, { 1, -1 }, { 1, 1 } };
    bool grown = false;

    for (int k = 0; k < 8; k++) {
        int u = t + step[k][0], v = s + step[k][1];
        bool source, target;

        if (u < 0 || v < 0 || u >= 9 || v >= 9) continue;
        if (g->chosen[v][u] || !(g->forward[v][u] || g->reverse[v][u]))
            continue;
        target = naive_free(g, v, u, &source);
        if (!source && !target) continue;
        g->chosen[v][u] = grown = true;
    }
    return grown;
}

static void naive_final(struct naive_table *g, bool link[9][9])
{
    for (int t = 0; t < 9; t++)
        for (int s = 0; s < 9; s++) {
            bool source, target = naive_free(g, s, t, &source);

            if (link[s][t] && source && target) g->chosen[s][t] = true;
        }
}

static void naive_grow(struct naive_table *g, bool final)
{
    bool grown = true;

    for (int s = 0; s < 9; s++)
        for (int t = 0; t < 9; t++)
            g->chosen[s][t] = g->forward[s][t] && g->reverse[s][t];
    while (grown) {
        grown = false;
        for (int t = 0; t < 9; t++)
            for (int s = 0; s < 9; s++)
                if (g->chosen[s][t]) grown |= naive_grow_at(g, s, t);
    }
    if (final) naive_final(g, g->forward);
    if (final) naive_final(g, g->reverse);
}

static void check_grown(const struct two_alignments *a, bool final)
{
    enum align_method method = final ? ALIGN_GROW_DIAG_FINAL_AND
                                     : ALIGN_GROW_DIAG;
    struct naive_table g = { 0 };
    struct word_link links[18];
    uint8_t scratch[SYMMETRIZE_BYTES(9, 9)];
    size_t n = symmetrize(method, a, links, scratch), want = 0;

    for (uint32_t t = 0; t < a->n_target; t++)
        if (a->forward[t] != NO_WORD) g.forward[a->forward[t]][t] = true;
    for (uint32_t s = 0; s < a->n_source; s++)
        if (a->reverse[s] != NO_WORD) g.reverse[s][a->reverse[s]] = true;
    naive_grow(&g, final);
    for (int s = 0; s < 9; s++)
        for (int t = 0; t < 9; t++) want += g.chosen[s][t];
    CHECK_INT(n, want);
    for (size_t i = 0; i < n; i++)
        CHECK(g.chosen[links[i].source][links[i].target]);
}

TEST(growing_agrees_with_its_definition)
{
    unsigned seed = 1;

    for (int round = 0; round < 3000; round++) {
        uint32_t forward[9], reverse[9];
        struct two_alignments a = { forward, reverse,
                                    1 + fix_random(&seed, 9),
                                    1 + fix_random(&seed, 9) };

        for (uint32_t t = 0; t < a.n_target; t++) {
            forward[t] = fix_random(&seed, a.n_source + 1);
            if (forward[t] == a.n_source) forward[t] = NO_WORD;
        }
        for (uint32_t s = 0; s < a.n_source; s++) {
            reverse[s] = fix_random(&seed, a.n_target + 1);
            if (reverse[s] == a.n_target) reverse[s] = NO_WORD;
        }
        check_grown(&a, round % 2);
    }
}
