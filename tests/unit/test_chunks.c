/* test_chunks.c - the schedule of searches, and the local store of a sentence.
 * tools/check_chunks.py computes the golden numbers. */
#include "golden_lines.h"
#include "knn/chunks.h"
#include "knn/weigh.h"
#include "made_entries.h"

/* The sizes of tools/check_chunks.py. */
enum { PAIRS = 12, TOKENS = 9, ROWS = 2, STEPS = 20, SOURCE = 10, K = 3,
       STATE = 6, W = 4, DELETED = 7 };

static const struct chunk_options options = { .size = 3, .first_gap = 1,
                                              .longest_gap = 4, .dims = 2 };
static const struct chunk_limits limits = { ROWS, 2, STEPS, SOURCE };

/* ---- the schedule -------------------------------------------------------- */

TEST(searches_follow_the_schedule)
{
    static const int of[][4] = { { 2, 8, 30, 60 }, { 1, 4, 10, 20 },
        { 2, 8, 7, 40 }, { 3, 3, 5, 20 }, { 1, 64, 100, 300 },
        { 5, 9, 1, 40 } };

    for (size_t i = 0; i < COUNT(of); i++) {
        struct chunk_options o = { 16, of[i][0], of[i][1], 64 };
        double want[64];
        char name[40];
        int n, k = 0;

        snprintf(name, sizeof name, "schedule_%d_%d_%d", of[i][0], of[i][1],
                 of[i][2]);
        n = golden_line("chunks.txt", name, want, 64);
        for (int t = 0; t < of[i][3]; t = chunks_next(&o, of[i][2], t), k++)
            if (k < n) CHECK_INT(t, (int)want[k]);
        CHECK_INT(k, n);
    }
}

/* ---- the local store ----------------------------------------------------- */

/* The map picks four of six numbers, and subtracts 1/4. */
static const float map_mean[STATE] = { 0.25f, 0.25f, 0.25f, 0.25f, 0.25f,
                                       0.25f };
static const float map_rows[W * STATE] = {
    0, 0, 0, 0, 0, 1,  1, 0, 0, 0, 0, 0,  0, 0, 0, 1, 0, 0,  0, 0, 1, 0, 0, 0 };
static const struct entry_map map = { STATE, W, map_mean, map_rows };

/* Without the map, states have four numbers. Pair 3 lacks positions. */
static struct entries *make_store(bool mapped)
{
    static const int gaps[] = { 0, 1, 2, 4, 5, 8 };
    static float keys[PAIRS][TOKENS * W], shorter[COUNT(gaps) * W];
    static int32_t tokens[PAIRS][TOKENS];
    struct made_pair p[PAIRS];

    for (int i = 0; i < PAIRS * TOKENS; i++) {
        tokens[i / TOKENS][i % TOKENS] = i;
        for (int j = 0; j < W; j++)
            keys[i / TOKENS][i % TOKENS * W + j] = made_number(41, i, j);
    }
    for (size_t i = 0; i < COUNT(gaps); i++)
        memcpy(shorter + i * W, keys[3] + gaps[i] * W, sizeof(float) * W);
    for (int i = 0; i < PAIRS; i++)
        p[i] = (struct made_pair){ .n = TOKENS, .token = tokens[i],
                                   .key = keys[i], .deleted = i == DELETED };
    p[3].n = COUNT(gaps);
    p[3].pos = gaps;
    p[3].key = shorter;
    return made_entries(&(struct made_options){ ENTRY_F16, mapped ? STATE : W,
                        mapped ? &map : NULL, 5 }, p, PAIRS);
}

static struct chunks *open_chunks(struct entries *s)
{
    struct chunks *c = NULL;
    struct err e;

    CHECK_OK(chunks_new(&c, s, &options, &limits, &e), &e);
    return c;
}

/* Add what row `row` of a search has found. */
static void add_row(struct chunks *c, int t, int row)
{
    struct neighbor nb[2] = { { 0 } };

    for (int i = 0; i < 2; i++) {
        nb[i].pair = (5 * t + 3 * row + 7 * i) % PAIRS;
        nb[i].pair += nb[i].pair == DELETED;
        nb[i].pos = (2 * t + row + i) % TOKENS;
    }
    chunks_add(c, t, nb, 2);
}

/* Compare what a row of a step sees with the golden numbers. */
static void check_row(struct chunks *c, const char *store, int t, int row)
{
    struct neighbor nb[K];
    struct knn_mixture mix;
    float q[STATE];
    double want[4 * K];
    char name[40];
    int n;

    for (int j = 0; j < STATE; j++) q[j] = made_number(44, t * ROWS + row, j);
    snprintf(name, sizeof name, "%s_%d_%d", store, t, row);
    REQUIRE(golden_line("chunks.txt", name, want, 4 * K) == 4 * K);
    n = chunks_nearest(c, t, q, K, nb);
    CHECK_INT(n, K);
    weigh(nb, n, &(struct weigh_options){ 0.5, ADAPTER_FIXED, 1 }, &mix);
    for (int i = 0; i < n; i++) {
        CHECK_INT(nb[i].pair, (int)want[2 * i]);
        CHECK_INT(nb[i].pos, (int)want[2 * i + 1]);
        CHECK_NEAR(nb[i].d2, want[2 * K + i], 1e-6);
        CHECK_NEAR(mix.share[i], want[3 * K + i], 1e-6);
        CHECK(nb[i].pair == 3 || nb[i].token == nb[i].pair * TOKENS +
                                                 nb[i].pos);
    }
}

static void run_sentence(const char *name, bool mapped, bool backwards)
{
    struct entries *s = make_store(mapped);
    struct chunks *c = open_chunks(s);
    double want = 0;

    REQUIRE(c);
    for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < ROWS; i++) {
            int row = backwards ? ROWS - 1 - i : i;

            if (chunks_searches(c, t)) add_row(c, t, row);
            else check_row(c, name, t, row);
        }
    golden_line("chunks.txt", mapped ? "mapped_size" : "plain_size", &want, 1);
    CHECK_INT(chunks_count(c, STEPS), (int)want);
    for (int t = STEPS - 1; t >= 0; t--)        /* explanations */
        for (int row = 0; row < ROWS; row++)
            if (!chunks_searches(c, t)) check_row(c, name, t, row);
    chunks_free(c);
    entries_drop(s);
}

TEST(neighbors_agree_with_a_second_program)
{
    for (int backwards = 0; backwards < 2; backwards++) {
        run_sentence("plain", false, backwards);
        run_sentence("mapped", true, backwards);
    }
}

TEST(a_step_sees_what_earlier_steps_added)
{
    struct entries *s = make_store(false);
    struct chunks *c = open_chunks(s);
    struct neighbor nb[K];
    float q[W] = { 0 };

    REQUIRE(c);
    CHECK_INT(chunks_nearest(c, 0, q, K, nb), 0);
    chunks_add(c, 0, &(struct neighbor){ .pair = 2, .pos = 7 }, 1);
    CHECK_INT(chunks_count(c, 0), 0);
    CHECK_INT(chunks_count(c, 1), 2);           /* the end of the pair */
    CHECK_INT(chunks_nearest(c, 1, q, K, nb), 2);
    chunks_add(c, 2, &(struct neighbor){ .pair = 2, .pos = 6 }, 1);
    CHECK_INT(chunks_count(c, 2), 2);
    CHECK_INT(chunks_count(c, 3), 3);           /* two were there */
    chunks_add(c, 2, &(struct neighbor){ .pair = 3, .pos = 2 }, 1);
    CHECK_INT(chunks_count(c, 3), 5);           /* positions 2 and 4 */
    chunks_free(c);
    entries_drop(s);
}

/* Equal keys: the order is that of pair and position, not of adding. Weights of
 * entries are passed on. */
TEST(equal_distances_are_ordered_by_pair_and_position)
{
    static const float keys[6] = { 0 };
    static const int32_t token[6] = { 1, 2, 3, 4, 5, 6 };
    static const int weight[6] = { 1, 2, 3, 4, 5, 6 };
    struct made_pair p[2] = {
        { .n = 6, .token = token, .key = keys, .weight = weight },
        { .n = 6, .token = token, .key = keys } };
    struct entries *s = made_entries(&(struct made_options){ ENTRY_INT8, 1,
                                     NULL, 1 }, p, 2);
    struct chunks *c = open_chunks(s);
    struct neighbor nb[5];
    float q = 3;

    REQUIRE(c);
    chunks_add(c, 0, &(struct neighbor){ .pair = 1, .pos = 4 }, 1);
    chunks_add(c, 0, &(struct neighbor){ .pair = 1, .pos = 0 }, 1);
    chunks_add(c, 0, &(struct neighbor){ .pair = 0, .pos = 3 }, 1);
    CHECK_INT(chunks_nearest(c, 1, &q, 5, nb), 5);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(nb[i].pair, i >= 3);
        CHECK_INT(nb[i].pos, i < 3 ? 3 + i : i - 3);
        CHECK_NEAR(nb[i].log_weight, i < 3 ? log(4 + i) : 0, 1e-6);
        CHECK_NEAR(nb[i].d2, 3, 0);
    }
    chunks_free(c);
    entries_drop(s);
}

/* All queries find different neighbors at all steps, and all chunks are
 * complete. */
TEST(the_local_store_has_room_for_all_chunks)
{
    enum { LONG = 640, SIDE = 2 };
    static float keys[LONG];
    static int32_t token[LONG];
    struct chunk_options o = { 4, 2, 3, 64 };
    struct chunk_limits l = { 3, 2, 30, 10 };
    struct made_pair p = { .n = LONG, .token = token, .key = keys };
    struct entries *s = made_entries(&(struct made_options){ ENTRY_F16, 1,
                                     NULL, 1 }, &p, 1);
    struct chunks *c;
    struct neighbor nb[SIDE] = { { 0 } };
    struct err e;
    int at = 0;

    REQUIRE_OK(chunks_new(&c, s, &o, &l, &e), &e);
    for (int t = 0; t < l.steps; t++)
        for (int row = 0; chunks_searches(c, t) && row < l.rows; row++) {
            for (int i = 0; i < SIDE; i++, at += o.size) nb[i].pos = at;
            chunks_add(c, t, nb, SIDE);
        }
    CHECK(at > 200 && at <= LONG);
    CHECK_INT(chunks_count(c, l.steps), at);
    chunks_free(c);
    entries_drop(s);
}

/* A small datastore fits as a whole, however many chunks there may be. */
TEST(the_local_store_is_no_larger_than_the_datastore)
{
    struct entries *s = make_store(false);
    struct chunk_limits l = { 64, 64, 1 << 20, 1 << 20 };
    struct chunk_options o = { 1024, 1, 1, 64 };
    struct chunks *c;
    struct err e;

    REQUIRE_OK(chunks_new(&c, s, &o, &l, &e), &e);
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < PAIRS; i++)
            chunks_add(c, t, &(struct neighbor){ .pair = i }, 1);
    CHECK_INT(chunks_count(c, 3), s->n);
    chunks_free(c);
    entries_drop(s);
}

TEST(bad_chunk_options_are_refused)
{
    static const struct chunk_options bad[] = { { 0, 2, 8, 64 },
        { 1025, 2, 8, 64 }, { 16, 0, 8, 64 }, { 16, 9, 8, 64 },
        { 16, 2, 1025, 64 }, { 16, 2, 8, 0 } };
    struct entries *s = make_store(false);

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct chunks *c;
        struct err e;

        CHECK_INT(chunks_new(&c, s, &bad[i], &limits, &e), ST_ARGUMENT);
        CHECK(!c);
    }
    CHECK_INT(atomic_load(&s->holders), 1);
    entries_drop(s);
}
