/* test_pieces.c - translation pieces: unedited words, n-grams and rewards.
 * tools/check_pieces.py computes the golden numbers. */
#include "golden_lines.h"
#include "knn/ngrams.h"
#include "knn/translation_pieces.h"

enum { MOST_PAIRS = 8, MOST_WORDS = 64, MOST_NUMBERS = 4096 };

struct piece_case {             /* an example of the golden file */
    const char *name;
    int n_pairs, n_sentence, n_output;
    int32_t sentence[MOST_WORDS], output[MOST_WORDS];
    int32_t source[MOST_PAIRS][MOST_WORDS], target[MOST_PAIRS][MOST_WORDS];
    int n_source[MOST_PAIRS], n_target[MOST_PAIRS];
    struct word_link links[MOST_PAIRS][MOST_WORDS];
    int n_links[MOST_PAIRS];
    uint8_t kept[MOST_PAIRS][MOST_WORDS], fate[MOST_PAIRS][MOST_WORDS];
    struct ngram_target targets[MOST_PAIRS];
    struct ngrams *ngrams;
};

static double golden_numbers[MOST_NUMBERS];

/* Read a line of the example. at: its number, or -1. */
static int case_line(const struct piece_case *c, const char *what, int at)
{
    char name[64];

    if (at < 0) snprintf(name, sizeof name, "%s_%s", c->name, what);
    else snprintf(name, sizeof name, "%s_%s_%d", c->name, what, at);
    return golden_line("pieces.txt", name, golden_numbers, MOST_NUMBERS);
}

static int case_words(const struct piece_case *c, const char *what, int at,
                      int32_t *out)
{
    int n = case_line(c, what, at);

    CHECK(n >= 0 && n <= MOST_WORDS);
    for (int i = 0; i < n && i < MOST_WORDS; i++)
        out[i] = (int32_t)golden_numbers[i];
    return n;
}

static void case_pair(struct piece_case *c, int p)
{
    int n = case_line(c, "links", p);
    struct err e;

    for (int i = 0; i + 1 < n; i += 2)
        c->links[p][c->n_links[p]++] = (struct word_link){
            (uint32_t)golden_numbers[i], (uint32_t)golden_numbers[i + 1] };
    c->n_source[p] = case_words(c, "source", p, c->source[p]);
    c->n_target[p] = case_words(c, "target", p, c->target[p]);
    CHECK_OK(unedited_find(c->source[p], c->n_source[p], c->sentence,
                           c->n_sentence, c->kept[p], &e), &e);
    unedited_fates(c->kept[p], c->n_source[p], c->links[p], c->n_links[p],
                   c->fate[p], c->n_target[p]);
    c->targets[p] = (struct ngram_target){ c->target[p], c->fate[p],
                                           c->n_target[p], 0 };
}

static void case_open(struct piece_case *c, const char *name, int n_pairs)
{
    struct err e;

    memset(c, 0, sizeof *c);
    c->name = name;
    c->n_pairs = n_pairs;
    c->n_sentence = case_words(c, "sentence", -1, c->sentence);
    c->n_output = case_words(c, "output", -1, c->output);
    for (int p = 0; p < n_pairs; p++) case_pair(c, p);
    REQUIRE(case_line(c, "similarity", -1) == n_pairs);
    for (int p = 0; p < n_pairs; p++)
        c->targets[p].weight = (float)golden_numbers[p];
    CHECK_OK(ngrams_new(&c->ngrams, c->targets, n_pairs, &e), &e);
}

static void check_kept(const struct piece_case *c)
{
    for (int p = 0; p < c->n_pairs; p++) {
        CHECK_INT(case_line(c, "kept", p), c->n_source[p]);
        for (int i = 0; i < c->n_source[p]; i++)
            CHECK_INT(c->kept[p][i], (int)golden_numbers[i]);
    }
}

/* Whether an n-gram is where it says: its words end at pos of its pair. */
static bool found_there(const struct piece_case *c, const struct ngram *g)
{
    const struct ngram_target *t = &c->targets[g->pair];
    int begin = g->pos - g->n + 1;

    return begin >= 0 && g->pos < t->n && t->weight == g->weight &&
           !memcmp(t->token + begin, g->token,
                   (size_t)g->n * sizeof *g->token);
}

static void check_pieces(const struct piece_case *c)
{
    int n = case_line(c, "pieces", -1), at = 0, i = 0;
    const struct ngrams *g = c->ngrams;

    for (; i < g->begin[NGRAM_MOST + 1] && at < n; i++) {
        const struct ngram *x = &g->at[i];

        CHECK_INT(x->n, (int)golden_numbers[at++]);
        for (int k = 0; k < x->n; k++)
            CHECK_INT(x->token[k], (int)golden_numbers[at++]);
        CHECK_NEAR(x->weight, golden_numbers[at], 1e-6);
        at++;
        CHECK(found_there(c, x));
        CHECK_INT(g->word[x->word], x->token[x->n - 1]);
    }
    CHECK_INT(at, n);
    CHECK_INT(i, g->begin[NGRAM_MOST + 1]);
}

/* The n-grams that a word completes have the weights of its reward. */
static void check_completed(const struct ngrams *g, const int32_t *last,
                            int n_last, int32_t word, double reward)
{
    const struct ngram *found[NGRAM_MOST];
    int n = ngrams_completed(g, last, n_last, word, found);
    double sum = 0;

    for (int i = 0; i < n; i++) {
        sum += (double)found[i]->weight;
        CHECK(!i || found[i]->n < found[i - 1]->n);
        CHECK_INT(found[i]->token[found[i]->n - 1], word);
    }
    CHECK_NEAR(sum, reward, 1e-6);
}

static void check_rewards(const struct piece_case *c)
{
    float reward[MOST_WORDS], most = ngrams_most_reward(c->ngrams);

    CHECK_INT(case_line(c, "most", -1), 1);
    CHECK_NEAR(most, golden_numbers[0], 1e-6);
    for (int t = 0; t <= c->n_output; t++) {
        int n_last = t < NGRAM_MOST - 1 ? t : NGRAM_MOST - 1;
        const int32_t *last = c->output + t - n_last;

        CHECK_INT(case_line(c, "step", t), 2 * c->ngrams->n_words);
        ngrams_rewards(c->ngrams, last, n_last, reward);
        for (int i = 0; i < c->ngrams->n_words; i++) {
            int32_t word = c->ngrams->word[i];

            CHECK_INT(word, (int)golden_numbers[2 * i]);
            CHECK_NEAR(reward[i], golden_numbers[2 * i + 1], 1e-6);
            CHECK(reward[i] <= most);
            check_completed(c->ngrams, last, n_last, word,
                            golden_numbers[2 * i + 1]);
        }
        check_completed(c->ngrams, last, n_last, 99, 0);
    }
}

static void check_case(const char *name, int n_pairs)
{
    struct piece_case c;

    case_open(&c, name, n_pairs);
    check_kept(&c);
    check_pieces(&c);
    check_rewards(&c);
    ngrams_free(c.ngrams);
}

TEST(the_worked_example_agrees) { check_case("worked", 3); }

TEST(a_made_example_agrees) { check_case("made", 6); }

/* A set without pieces gives no rewards. */
TEST(no_pieces_no_rewards)
{
    static const int32_t word[] = { 7, 8 };
    static const uint8_t edited[] = { FATE_EDITED, FATE_UNALIGNED };
    static const uint8_t kept[] = { FATE_KEPT, FATE_KEPT };
    struct ngram_target t[] = { { word, edited, 2, 1 }, { word, kept, 2, 0 },
                                { word, kept, 0, 1 } };
    const struct ngram *found[NGRAM_MOST];
    struct ngrams *g;
    struct err e;

    for (int n = 0; n <= 3; n++) {
        if (!CHECK_OK(ngrams_new(&g, t, n, &e), &e)) continue;
        CHECK_INT(g->n_words, 0);
        CHECK(ngrams_most_reward(g) == 0);
        CHECK_INT(ngrams_completed(g, word, 1, 8, found), 0);
        ngrams_rewards(g, word, 1, NULL);
        ngrams_free(g);
    }
}

/* There is room for NGRAM_WORDS words. Those of the more similar pair are kept,
 * and n-grams that end in another word are dropped. */
TEST(the_best_words_are_kept)
{
    enum { EACH = NGRAM_WORDS - 10 };
    int32_t token[2][EACH];
    uint8_t fate[EACH];
    struct ngram_target t[2];
    struct ngrams *g;
    struct err e;

    memset(fate, FATE_KEPT, sizeof fate);
    for (int i = 0; i < 2 * EACH; i++) token[i / EACH][i % EACH] = i;
    for (int i = 0; i < 2; i++)
        t[i] = (struct ngram_target){ token[i], fate, EACH,
                                      i ? 0.75f : 0.5f };
    REQUIRE(CHECK_OK(ngrams_new(&g, t, 2, &e), &e));
    CHECK_INT(g->n_words, NGRAM_WORDS);
    for (int i = 0; i < NGRAM_WORDS; i++)
        CHECK_INT(g->word[i], i < 10 ? i : EACH + i - 10);
    for (int n = 1; n <= NGRAM_MOST; n++)
        CHECK_INT(g->begin[n + 1] - g->begin[n], NGRAM_WORDS - 2 * (n - 1));
    for (int i = 0; i < g->begin[NGRAM_MOST + 1]; i++)
        CHECK_INT(g->word[g->at[i].word], g->at[i].token[g->at[i].n - 1]);
    ngrams_free(g);
}

/* Links outside of the known words do not make a word a kept one. */
TEST(links_outside_are_edited)
{
    static const uint8_t kept[] = { 1, 0 };
    static const struct word_link links[] = { { 0, 0 }, { 0, 1 }, { 1, 1 },
                                              { 2, 2 }, { 0, 9 }, { 0, 2 } };
    uint8_t fate[4];

    unedited_fates(kept, 2, links, 6, fate, 4);
    CHECK_INT(fate[0], FATE_KEPT);
    CHECK_INT(fate[1], FATE_EDITED);
    CHECK_INT(fate[2], FATE_EDITED);
    CHECK_INT(fate[3], FATE_UNALIGNED);
    unedited_fates(kept, 2, NULL, 0, fate, 4);
    CHECK_INT(fate[0], FATE_UNALIGNED);
}

/* Empty texts have no unedited words. */
TEST(empty_texts_have_no_unedited_words)
{
    static const int32_t word[] = { 7 };
    uint8_t kept[1] = { 9 };
    struct err e;

    CHECK_OK(unedited_find(word, 1, word, 0, kept, &e), &e);
    CHECK_INT(kept[0], 0);
    CHECK_OK(unedited_find(word, 0, word, 1, kept, &e), &e);
    CHECK_OK(unedited_find(word, 1, word, 1, kept, &e), &e);
    CHECK_INT(kept[0], 1);
}
