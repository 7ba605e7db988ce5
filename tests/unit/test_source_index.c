/* test_source_index.c - the index of source tokens, the candidates of a
 * sentence, and the search among them. tools/check_fast.py computes the golden
 * candidates and neighbors. */
#include "fixed_rows.h"
#include "golden_lines.h"
#include "knn/candidate_set.h"
#include "knn/weigh.h"
#include "made_entries.h"

/* The sizes of tools/check_fast.py. */
enum { PAIRS = 20, SOURCE = 6, TARGET = 5, W = 8, TYPES = 5, MOST = 4, K = 3,
       DELETED = 6, QUERIES = 4, LONGEST = 10 };

/* ---- the datastore ------------------------------------------------------- */

struct made_links { int link[SOURCE * TARGET][2]; int n; };

static void links_of(int pair, struct made_links *l)
{
    l->n = 0;
    for (int i = 0; i + 1 < SOURCE; i++)
        for (int t = 0; t < TARGET; t++)
            if ((pair * 7 + i * 3 + t * 5) % 4 == 0) {
                l->link[l->n][0] = i;
                l->link[l->n++][1] = t;
            }
}

/* With `without`, the deleted pair has no entries and no source at all. */
static struct entries *make_store(enum entry_type type, bool without)
{
    static float src[PAIRS * SOURCE * W], key[PAIRS * TARGET * W];
    static int32_t src_token[PAIRS][SOURCE], token[PAIRS][TARGET];
    static struct made_links links[PAIRS];
    struct made_pair p[PAIRS];

    made_numbers(51, PAIRS * SOURCE, W, src);
    made_numbers(52, PAIRS * TARGET, W, key);
    for (int i = 0; i < PAIRS; i++) {
        for (int k = 0; k < SOURCE; k++)
            src_token[i][k] = (i * 3 + k * k + i * k) % TYPES;
        for (int k = 0; k < TARGET; k++) token[i][k] = i * TARGET + k;
        links_of(i, &links[i]);
        p[i] = (struct made_pair){ .n = TARGET, .token = token[i],
            .key = key + i * TARGET * W, .deleted = i == DELETED,
            .n_src = SOURCE, .src_token = src_token[i],
            .src_key = src + i * SOURCE * W, .n_links = links[i].n,
            .link = (const int (*)[2])links[i].link };
    }
    if (without) p[DELETED] = (struct made_pair){ 0 };
    return made_entries(&(struct made_options){ type, W, NULL, 3 }, p, PAIRS);
}

/* ---- sentences ----------------------------------------------------------- */

static const struct { const char *name; int n; int32_t token[LONGEST];
                      unsigned seed; } sentences[] = {
    { "one", 1, { 2 }, 62 },
    { "long", 10, { 0, 1, 4, 1, 9, 1, 3, 1, 1, 2 }, 175 },
    { "none", 1, { 7 }, 64 } };

/* Search for sentence i. Its states have the norm `factor` times the
 * original. */
static bool search(const struct source_index *ix, int i, float factor,
                   struct place_list *out)
{
    float states[LONGEST * W];
    struct source_states q = { sentences[i].token, states, W, sentences[i].n };
    struct err e;

    made_numbers(sentences[i].seed, q.n, W, states);
    for (int k = 0; k < q.n * W; k++) states[k] *= factor;
    return CHECK_OK(source_index_search(ix, &q, MOST, out, &e), &e);
}

/* The value of an entry is its number. */
static int32_t token_at(const struct entries *s, struct entry_place p)
{
    return s->blocks[p.block].token[p.entry];
}

static struct source_index *open_index(struct entries *s)
{
    struct source_index *ix = NULL;
    struct err e;

    CHECK_OK(source_index_new(&ix, s, &e), &e);
    return ix;
}

TEST(candidates_agree_with_a_second_program)
{
    struct place_list found = { 0 };

    for (int kind = 0; kind < 4; kind++) {
        struct entries *s = make_store(kind % 2 ? ENTRY_INT8 : ENTRY_F16,
                                       kind / 2);
        struct source_index *ix = open_index(s);

        REQUIRE(ix);
        for (int i = 0; i < (int)COUNT(sentences); i++) {
            double want[PAIRS * TARGET];

            REQUIRE(search(ix, i, kind ? 7.5f : 1, &found));
            CHECK_INT(found.n, golden_line("fast.txt", sentences[i].name, want,
                                           PAIRS * TARGET));
            for (size_t k = 0; k < found.n; k++)
                CHECK_INT(token_at(s, found.at[k]), (int)want[k]);
        }
        source_index_free(ix);
        entries_drop(s);
    }
    place_list_release(&found);
}

/* The order of the sentence's tokens does not matter. */
TEST(candidates_do_not_depend_on_the_order_of_tokens)
{
    struct entries *s = make_store(ENTRY_F16, false);
    struct source_index *ix = open_index(s);
    struct place_list a = { 0 }, b = { 0 };
    int32_t token[LONGEST];
    float states[LONGEST * W], turned[LONGEST * W];
    struct err e;

    REQUIRE(ix);
    REQUIRE(search(ix, 1, 1, &a));
    made_numbers(sentences[1].seed, LONGEST, W, states);
    for (int i = 0; i < LONGEST; i++) {
        int from = (i * 7 + 3) % LONGEST;

        token[i] = sentences[1].token[from];
        memcpy(turned + i * W, states + from * W, sizeof(float) * W);
    }
    REQUIRE_OK(source_index_search(ix, &(struct source_states){ token, turned,
                                   W, LONGEST }, MOST, &b, &e), &e);
    CHECK(a.n == b.n && a.n > 0);
    CHECK_MEM(a.at, b.at, a.n * sizeof *a.at);
    place_list_release(&a);
    place_list_release(&b);
    source_index_free(ix);
    entries_drop(s);
}

/* Tokens without links to entries that can be found are not in the index. */
TEST(the_index_counts_aligned_tokens)
{
    struct entries *s = make_store(ENTRY_F16, false);
    struct source_index *ix = open_index(s);
    size_t want[TYPES] = { 0 };

    REQUIRE(ix);
    for (int i = 0; i < PAIRS; i++) {
        bool linked[SOURCE] = { 0 };
        struct made_links l;

        links_of(i, &l);
        for (int k = 0; k < l.n; k++) linked[l.link[k][0]] = i != DELETED;
        for (int k = 0; k < SOURCE; k++)
            want[(i * 3 + k * k + i * k) % TYPES] += linked[k];
    }
    for (int t = 0; t < TYPES; t++) {
        CHECK(want[t] > 0);
        CHECK_INT(source_index_count(ix, t), want[t]);
    }
    CHECK_INT(source_index_count(ix, TYPES), 0);
    CHECK_INT(source_index_count(ix, -1), 0);
    CHECK_INT(source_index_count(ix, INT32_MAX), 0);
    source_index_free(ix);
    CHECK_INT(atomic_load(&s->holders), 1);
    entries_drop(s);
}

/* ---- many occurrences ---------------------------------------------------- */

enum { MANY = 1000, SHOW = 37 };

/* One source token for each pair, which is aligned to its only entry. Some keys
 * are equal. */
static struct entries *make_many(void)
{
    static float src[MANY * W], key[MANY];
    static int32_t token[MANY], same[1] = { 3 };
    static const int link[1][2] = { { 0, 0 } };
    static struct made_pair p[MANY];

    for (int i = 0; i < MANY; i++) {
        for (int j = 0; j < W; j++)
            src[i * W + j] = made_number(77, i % 400, j);
        key[i] = 1;
        token[i] = i;
        p[i] = (struct made_pair){ .n = 1, .token = token + i, .key = key + i,
            .n_src = 1, .src_token = same, .src_key = src + i * W,
            .n_links = 1, .link = link };
    }
    for (int i = 0; i < MANY; i++) p[i].key = src + i * W;
    return made_entries(&(struct made_options){ ENTRY_F16, W, NULL, 64 }, p,
                        MANY);
}

struct ranked { float d2; int at; };

static int by_distance(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->d2 != b->d2) return a->d2 < b->d2 ? -1 : 1;
    return a->at - b->at;
}

static int by_place(const void *left, const void *right)
{
    return ((const struct ranked *)left)->at -
           ((const struct ranked *)right)->at;
}

/* The SHOW nearest occurrences by sorting all, with the kernel of one key. */
static void rank_all(const struct entries *s, const float *unit,
                     struct ranked *r)
{
    for (int i = 0; i < MANY; i++) {
        const struct entry_block *b = &s->blocks[i / 64];
        struct distances a = { .q = unit, .ldq = 16, .n_q = 1,
            .keys = b->src_keys + (size_t)(i % 64) * 64, .ldk = 64, .n = 1,
            .scale = b->src_scale + i % 64, .d = W, .out = &r[i].d2,
            .ldo = 1 };

        kernels_pick(NULL)->distances_i8(&a);
        r[i].at = i;
    }
    qsort(r, MANY, sizeof *r, by_distance);
    qsort(r, SHOW, sizeof *r, by_place);
}

TEST(the_nearest_of_many_occurrences_are_found)
{
    struct entries *s = make_many();
    struct source_index *ix = open_index(s);
    struct place_list found = { 0 };
    static struct ranked want[MANY];
    struct err e;

    REQUIRE(ix);
    for (int i = 0; i < 20; i++) {
        static const int32_t token = 3;
        _Alignas(64) float q[16] = { 0 };
        float norm;

        made_numbers((unsigned)i, 1, W, q);
        REQUIRE_OK(source_index_search(ix, &(struct source_states){ &token, q,
                                       W, 1 }, SHOW, &found, &e), &e);
        norm = made_norm(q, W);
        for (int j = 0; j < W; j++) q[j] = (float)((double)q[j] / norm);
        rank_all(s, q, want);
        CHECK_INT(found.n, SHOW);
        for (int k = 0; k < SHOW; k++)
            CHECK_INT(token_at(s, found.at[k]), want[k].at);
        if (i) continue;
        REQUIRE_OK(source_index_search(ix, &(struct source_states){ &token, q,
                                       W, 1 }, 2 * MANY, &found, &e), &e);
        CHECK_INT(found.n, MANY);
    }
    place_list_release(&found);
    source_index_free(ix);
    entries_drop(s);
}

/* ---- searching candidates ------------------------------------------------ */

/* Queries in rows that are aligned and padded. */
struct query_rows { _Alignas(64) float x[QUERIES * 16]; };

static struct fixed_rows rows_of(struct query_rows *r, const int *order)
{
    for (int i = 0; i < QUERIES; i++)
        for (int j = 0; j < 16; j++)
            r->x[i * 16 + j] = j < W ? 3 * made_number(76, order[i], j) : 99;
    return fixed_rows(r->x, 16, QUERIES);
}

static const int in_order[QUERIES] = { 0, 1, 2, 3 };

static struct candidate_set *open_set(struct entries *s, int sentence,
                                      enum key_type type)
{
    struct source_index *ix = open_index(s);
    struct place_list found = { 0 };
    struct candidate_set *cs = NULL;
    struct err e;

    if (ix && search(ix, sentence, 1, &found))
        CHECK_OK(candidate_set_new(&cs, s, &found, type, &e), &e);
    if (cs) CHECK_INT(candidate_set_count(cs), found.n);
    place_list_release(&found);
    source_index_free(ix);
    return cs;
}

static void check_neighbors(const struct neighbor *nb, const char *name,
                            int query, double tol)
{
    struct weigh_options o = { 0.1, ADAPTER_FIXED, 1 };
    struct knn_mixture mix;
    double want[3 * K];
    char line[24];

    snprintf(line, sizeof line, "%s_%d", name, query);
    REQUIRE(golden_line("fast.txt", line, want, 3 * K) == 3 * K);
    weigh(nb, K, &o, &mix);
    for (int i = 0; i < K; i++) {
        CHECK_INT(nb[i].token, (int)want[i]);
        CHECK_INT(nb[i].pair * TARGET + nb[i].pos, nb[i].token);
        CHECK_NEAR(1 - nb[i].d2, want[K + i], tol);
        CHECK_NEAR(mix.share[i], want[2 * K + i], 10 * tol);
    }
}

static void check_set(enum entry_type stored, enum key_type type, double tol)
{
    struct entries *s = make_store(stored, false);
    struct query_rows memory;
    struct fixed_rows x = rows_of(&memory, in_order);

    for (int i = 0; i < 2; i++) {
        struct candidate_set *cs = open_set(s, i, type);
        struct neighbor nb[QUERIES * K];
        struct err e;
        int n;

        REQUIRE(cs);
        REQUIRE_OK(finder_nearest(candidate_set_finder(cs),
                   &(struct finder_query){ &x.x, 0, QUERIES }, K, nb, &n, &e),
                   &e);
        CHECK_INT(n, K);
        for (int q = 0; q < QUERIES; q++)
            check_neighbors(nb + q * K, sentences[i].name, q, tol);
        candidate_set_free(cs);
    }
    entries_drop(s);
}

TEST(neighbors_agree_with_a_second_program)
{
    check_set(ENTRY_F16, KEY_F32, 1e-6);
    check_set(ENTRY_F16, KEY_INT8, 0.01);
    check_set(ENTRY_INT8, KEY_F32, 0.01);
    check_set(ENTRY_INT8, KEY_INT8, 0.01);
}

/* The cosines of int8 keys are those of the stored keys. */
TEST(int8_keys_lose_no_precision)
{
    struct entries *s = make_store(ENTRY_INT8, false);
    struct candidate_set *a = open_set(s, 1, KEY_INT8);
    struct candidate_set *b = open_set(s, 1, KEY_F32);
    struct query_rows memory;
    struct fixed_rows x = rows_of(&memory, in_order);
    struct finder_query q = { &x.x, 0, QUERIES };
    struct neighbor na[QUERIES * 20], nb[QUERIES * 20];
    struct err e;
    int n, m;

    REQUIRE(a && b);
    REQUIRE_OK(finder_nearest(candidate_set_finder(a), &q, 20, na, &n, &e),
               &e);
    REQUIRE_OK(finder_nearest(candidate_set_finder(b), &q, 20, nb, &m, &e),
               &e);
    CHECK(n == 20 && m == 20);
    for (int i = 0; i < QUERIES * 20; i++) {
        CHECK_INT(na[i].token, nb[i].token);
        CHECK_NEAR(na[i].d2, nb[i].d2, 1e-6);
    }
    candidate_set_free(a);
    candidate_set_free(b);
    entries_drop(s);
}

/* The rows of a pass in another order, and one by one. */
TEST(neighbors_do_not_depend_on_other_rows)
{
    static const int turned[QUERIES] = { 2, 0, 3, 1 };
    struct entries *s = make_store(ENTRY_INT8, false);
    struct candidate_set *cs = open_set(s, 1, KEY_INT8);
    struct query_rows memory[2];
    struct fixed_rows x = rows_of(&memory[0], in_order);
    struct fixed_rows y = rows_of(&memory[1], turned);
    struct neighbor a[QUERIES * 20], b[QUERIES * 20], one[20];
    struct err e;
    int n;

    REQUIRE(cs);
    REQUIRE_OK(finder_nearest(candidate_set_finder(cs), &(struct finder_query){
               &x.x, 0, QUERIES }, 20, a, &n, &e), &e);
    REQUIRE_OK(finder_nearest(candidate_set_finder(cs), &(struct finder_query){
               &y.x, 0, QUERIES }, 20, b, &n, &e), &e);
    for (int i = 0; i < QUERIES; i++) {
        CHECK_MEM(b + i * 20, a + turned[i] * 20, sizeof *a * 20);
        REQUIRE_OK(finder_nearest(candidate_set_finder(cs),
                   &(struct finder_query){ &x.x, i, 1 }, 20, one, &n, &e), &e);
        CHECK_MEM(one, a + i * 20, sizeof *a * 20);
    }
    candidate_set_free(cs);
    entries_drop(s);
}

/* More rows and keys than one call of the kernel takes, many equal keys, and
 * weights. */
TEST(many_candidates_are_ordered)
{
    enum { N_Q = 19 };
    struct entries *s = make_many();
    static struct entry_place all[MANY];
    struct place_list list = { all, MANY, MANY };
    static _Alignas(64) float rows[N_Q * 16];
    static struct neighbor nb[N_Q * KNN_MAX_K];
    struct candidate_set *cs;
    struct fixed_rows x = fixed_rows(rows, 16, N_Q);
    struct err e;
    int n;

    for (int i = 0; i < MANY; i++) all[i] = (struct entry_place){ i / 64,
                                                                  i % 64 };
    ((float *)s->blocks[2].log_weight)[5] = 0.75f;
    REQUIRE_OK(candidate_set_new(&cs, s, &list, KEY_F32, &e), &e);
    for (int i = 0; i < N_Q; i++)       /* query i is key 130 + i */
        for (int j = 0; j < W; j++)
            rows[i * 16 + j] = 2 * made_number(77, 130 + i, j);
    REQUIRE_OK(finder_nearest(candidate_set_finder(cs), &(struct finder_query){
               &x.x, 0, N_Q }, KNN_MAX_K, nb, &n, &e), &e);
    CHECK_INT(n, KNN_MAX_K);
    for (int i = 0; i < N_Q; i++) {
        const struct neighbor *at = nb + i * KNN_MAX_K;

        CHECK_INT(at[0].pair, 130 + i);         /* keys repeat after 400 */
        CHECK_INT(at[1].pair, 530 + i);
        CHECK_INT(at[2].pair, 930 + i);
        CHECK_NEAR(at[1].d2, 0, 1e-7);
        CHECK(at[0].log_weight == (i == 3 ? 0.75f : 0));
        for (int k = 1; k < KNN_MAX_K; k++)
            CHECK(at[k - 1].d2 < at[k].d2 || (at[k - 1].d2 == at[k].d2 &&
                                              at[k - 1].pair < at[k].pair));
    }
    candidate_set_free(cs);
    entries_drop(s);
}

/* The images of states are compared, if keys are images. */
TEST(states_are_mapped_before_they_are_compared)
{
    static const float mean[] = { 1, 1, 1 };
    static const float matrix[] = { 0, 0, 1, 1, 0, 0 };
    static const struct entry_map map = { 3, 2, mean, matrix };
    static const float key[] = { 1, 0, 0, 2, 3, 3, 0, 0 };
    static const int32_t token[] = { 10, 11, 12, 13 };
    static const struct entry_place all[] = { { 0, 0 }, { 0, 1 }, { 0, 2 },
                                              { 0, 3 } };
    static _Alignas(64) float row[16] = { 1, 50, 5 };   /* image (4, 0) */
    struct made_pair p = { .n = 4, .token = token, .key = key };
    struct entries *s = made_entries(&(struct made_options){ ENTRY_F16, 3,
                                     &map, 1 }, &p, 1);
    struct place_list list = { (struct entry_place *)all, 4, 4 };
    struct fixed_rows x = fixed_rows(row, 16, 1);
    struct candidate_set *cs;
    struct neighbor nb[4];
    struct err e;
    int n;

    REQUIRE_OK(candidate_set_new(&cs, s, &list, KEY_F32, &e), &e);
    CHECK_INT(candidate_set_count(cs), 3);      /* one key is zero */
    REQUIRE_OK(finder_nearest(candidate_set_finder(cs), &(struct finder_query){
               &x.x, 0, 1 }, 4, nb, &n, &e), &e);
    CHECK_INT(n, 3);
    CHECK(nb[0].token == 10 && nb[1].token == 12 && nb[2].token == 11);
    CHECK_NEAR(nb[0].d2, 0, 1e-7);
    CHECK_NEAR(nb[1].d2, 1 - sqrt(0.5), 1e-6);
    CHECK_NEAR(nb[2].d2, 1, 1e-6);
    candidate_set_free(cs);
    entries_drop(s);
}

TEST(a_sentence_without_candidates_has_no_neighbors)
{
    struct entries *s = make_store(ENTRY_F16, false);
    struct candidate_set *cs = open_set(s, 2, KEY_INT8);
    struct query_rows memory;
    struct fixed_rows x = rows_of(&memory, in_order);
    struct neighbor nb[QUERIES];
    struct err e;
    int n = -1;

    REQUIRE(cs);
    CHECK_INT(candidate_set_count(cs), 0);
    REQUIRE_OK(finder_nearest(candidate_set_finder(cs), &(struct finder_query){
               &x.x, 0, QUERIES }, 1, nb, &n, &e), &e);
    CHECK_INT(n, 0);
    candidate_set_free(cs);
    entries_drop(s);
}

TEST(a_datastore_without_sources_is_refused)
{
    static const int32_t token = 1;
    static const float key = 1;
    struct made_pair p = { .n = 1, .token = &token, .key = &key };
    struct entries *s = made_entries(&(struct made_options){ ENTRY_F16, 1,
                                     NULL, 1 }, &p, 1);
    struct source_index *ix;
    struct err e;

    CHECK_INT(source_index_new(&ix, s, &e), ST_ARGUMENT);
    CHECK(!ix);
    CHECK_STR(e.msg, "the datastore has no source tokens; build it again with "
              "them");
    entries_drop(s);
}
