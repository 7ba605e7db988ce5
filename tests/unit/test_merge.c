/* test_merge.c - greedy merging of entries, and finding entries by position.
 * tools/check_merge.py computes the golden weights. */
#include "base/splitmix.h"
#include "golden_lines.h"
#include "knn/entry_range.h"
#include "knn/merge.h"
#include "knn/pca.h"
#include "made_entries.h"

/* ---- stores -------------------------------------------------------------- */

enum { MOST = 3000, PER_PAIR = 5, W = 3 };

struct made_store {
    struct entries *s;
    float key[MOST * W];
    int32_t token[MOST];
    int calls, most;            /* searches so far; entries of the largest */
};

/* Pairs of 5 entries with the keys and tokens of tools/check_merge.py. Pair 4
 * is deleted. */
static void make_store(struct made_store *m, int n, enum entry_type type)
{
    struct made_pair p[MOST / PER_PAIR] = { 0 };

    *m = (struct made_store){ 0 };
    made_numbers(21, n, W, m->key);
    for (int i = 0; i < n; i++) m->token[i] = i * 7 % 11 % 3;
    for (int i = 0; i < n / PER_PAIR; i++)
        p[i] = (struct made_pair){ .n = PER_PAIR,
                                   .token = m->token + i * PER_PAIR,
                                   .key = m->key + i * PER_PAIR * W,
                                   .deleted = i == 4 };
    m->s = made_entries(&(struct made_options){ type, W, NULL, 7 }, p,
                        n / PER_PAIR);
}

/* Insert a neighbor into the sorted list out, which has n of at most k. Returns
 * the new number. */
static int put_nearest(struct neighbor *out, int n, int k, struct neighbor nb)
{
    int at;

    if (n == k && !(nb.d2 < out[k - 1].d2)) return n;
    if (n < k) n++;
    for (at = n - 1; at > 0 && nb.d2 < out[at - 1].d2; at--)
        out[at] = out[at - 1];
    out[at] = nb;
    return n;
}

/* The k entries nearest to q, by comparing all. */
static int nearest_of(const struct entries *s, const float *q, int k,
                      struct neighbor *out)
{
    float key[W];
    int found = 0;

    for (int i = 0; i < s->n_blocks; i++)
        for (int j = 0; j < s->blocks[i].n; j++) {
            const struct entry_block *b = &s->blocks[i];
            struct neighbor nb = { 0, b->token[j], b->pair[j] + b->first_pair,
                                   b->pos[j], 0 };

            if (!isfinite(b->norm[j])) continue;
            entries_key(s, b, j, key);
            for (int c = 0; c < s->d; c++)
                nb.d2 += (q[c] - key[c]) * (q[c] - key[c]);
            found = put_nearest(out, found, k, nb);
        }
    return found;
}

static enum status search_all(void *search, const float *q, size_t ldq, int n,
                              int k, struct neighbor *out, int *found,
                              struct err *e)
{
    struct made_store *m = search;

    (void)e;
    m->calls++;
    if (n > m->most) m->most = n;
    for (int i = 0; i < n; i++)
        *found = nearest_of(m->s, q + (size_t)i * ldq, k, out + i * k);
    return ST_OK;
}

static bool merge_store(struct made_store *m, int k, uint64_t seed,
                        struct merge_result *r)
{
    struct merge_search search = { search_all, m };
    struct merge_options o = { .k = k, .seed = seed };
    struct err e;

    return CHECK_OK(merge_entries(r, m->s, &search, &o, &e), &e);
}

static void check_weights(const struct merge_result *r, const char *name)
{
    static double want[MOST];

    CHECK_INT(r->n, golden_line("merge.txt", name, want, MOST));
    for (int i = 0; i < r->n; i++) CHECK_INT(r->weight[i], (int)want[i]);
}

/* ---- merging ------------------------------------------------------------- */

TEST(weights_of_the_example_in_the_document)
{
    static const float key[] = { 0, 1, 2, 4, 8, 9 };
    static const int32_t token[] = { 65, 65, 65, 66, 65, 65 };
    struct made_store m = { 0 };
    struct made_pair p = { .n = 6, .token = token, .key = key };
    struct merge_result r;

    m.s = made_entries(&(struct made_options){ ENTRY_F16, 1, NULL, 1 }, &p, 1);
    REQUIRE(merge_store(&m, 3, 1, &r));
    check_weights(&r, "line_weight");
    CHECK(r.weight[2] == 3 && r.weight[3] == 1 && r.weight[4] == 2);
    CHECK(r.before == 6 && r.after == 3);
    merge_result_release(&r);
    entries_drop(m.s);
}

TEST(weights_agree_with_a_second_program)
{
    static const int k[] = { 2, 5, 20 };
    static struct made_store m;

    make_store(&m, 150, ENTRY_F16);
    for (size_t i = 0; i < COUNT(k); i++) {
        struct merge_result r;
        char name[24];
        int sum = 0, after = 0;

        REQUIRE(merge_store(&m, k[i], 9, &r));
        snprintf(name, sizeof name, "made%d_weight", k[i]);
        check_weights(&r, name);
        for (int j = 0; j < r.n; j++) sum += (int)r.weight[j];
        for (int j = 0; j < r.n; j++) after += r.weight[j] > 0;
        CHECK(sum == 145 && r.before == 145);
        CHECK_INT(r.after, after);
        merge_result_release(&r);
    }
    entries_drop(m.s);
}

/* The same, entry by entry. weight has 0 for deleted ones and 1 for others. */
static void merge_naively(const struct made_store *m, int k, uint64_t seed,
                          uint32_t *weight, int n)
{
    static int order[MOST];
    struct neighbor nb[KNN_MAX_K];
    int live = 0;

    for (int i = 0; i < n; i++)
        if (weight[i]) order[live++] = i;
    for (int i = live - 1; i > 0; i--) {
        int j = (int)splitmix_below(&seed, (uint64_t)i + 1), kept = order[i];

        order[i] = order[j];
        order[j] = kept;
    }
    for (int i = 0; i < live; i++) {
        int at = order[i], found = nearest_of(m->s, m->key + at * W, k, nb);

        for (int j = 0; weight[at] && j < found; j++) {
            int other = nb[j].pair * PER_PAIR + nb[j].pos;

            if (other == at || m->token[other] != m->token[at] ||
                weight[other] != 1)
                continue;
            weight[other] = 0;
            weight[at]++;
        }
    }
}

TEST(many_entries_are_searched_together)
{
    static struct made_store m;
    static uint32_t want[MOST];
    struct merge_result r;

    make_store(&m, 2500, ENTRY_F16);
    REQUIRE(merge_store(&m, 4, 2, &r));
    CHECK(m.calls >= 2 && m.calls <= 3 && m.most <= 1024);
    for (int i = 0; i < 2500; i++) want[i] = i / PER_PAIR != 4;
    merge_naively(&m, 4, 2, want, 2500);
    CHECK_MEM(r.weight, want, 2500 * sizeof *want);
    CHECK(r.after < r.before * 3 / 4);
    merge_result_release(&r);
    entries_drop(m.s);
}

TEST(the_order_depends_on_the_seed_only)
{
    static struct made_store m;
    struct merge_result a, b, c;

    make_store(&m, 400, ENTRY_INT8);
    REQUIRE(merge_store(&m, 3, 5, &a));
    REQUIRE(merge_store(&m, 3, 5, &b));
    REQUIRE(merge_store(&m, 3, 6, &c));
    CHECK_MEM(a.weight, b.weight, 400 * sizeof *a.weight);
    CHECK(memcmp(a.weight, c.weight, 400 * sizeof *a.weight));
    merge_result_release(&a);
    merge_result_release(&b);
    merge_result_release(&c);
    entries_drop(m.s);
}

/* With k = 1 an entry finds itself, or an earlier one with an equal key. */
TEST(equal_keys_are_merged_with_one_neighbor)
{
    static const float key[] = { 1, 2, 1, 1, 5 };
    static const int32_t token[] = { 7, 7, 7, 8, 7 };
    struct made_store m = { 0 };
    struct made_pair p = { .n = 5, .token = token, .key = key };
    struct merge_result r;

    m.s = made_entries(&(struct made_options){ ENTRY_F16, 1, NULL, 1 }, &p, 1);
    REQUIRE(merge_store(&m, 1, 1, &r));
    CHECK_INT(r.after, 4);
    CHECK(r.weight[0] == 0 && r.weight[2] == 2);
    CHECK(r.weight[1] == 1 && r.weight[3] == 1 && r.weight[4] == 1);
    merge_result_release(&r);
    entries_drop(m.s);
}

/* Entries that stand for several already are not taken over. */
TEST(merging_again_keeps_weights)
{
    static const float key[] = { 1, 1, 1, 1 };
    static const int32_t token[] = { 7, 7, 7, 7 };
    static const int weight[] = { 3, 1, 1, 20 };
    struct made_store m = { 0 };
    struct made_pair p = { .n = 4, .token = token, .key = key,
                           .weight = weight };
    struct merge_result r;

    m.s = made_entries(&(struct made_options){ ENTRY_F16, 1, NULL, 1 }, &p, 1);
    REQUIRE(merge_store(&m, 4, 1, &r));
    CHECK_INT(r.weight[0] + r.weight[1] + r.weight[2] + r.weight[3], 25);
    CHECK(r.weight[0] >= 3 && r.weight[3] >= 20);
    CHECK_INT(r.after, 2 + (r.weight[1] > 0) + (r.weight[2] > 0));
    CHECK(r.after < 4);
    merge_result_release(&r);
    entries_drop(m.s);
}

/* ---- keys that were made shorter ----------------------------------------- */

static const float map_mean[] = { 1, 2, 3 };
static const float map_rows[] = { 0, 1, 0, 0.6f, 0, 0.8f };
static const struct entry_map map = { 3, 2, map_mean, map_rows };

/* Checks that the image of each state is the key of an entry. */
static enum status search_mapped(void *search, const float *q, size_t ldq,
                                 int n, int k, struct neighbor *out,
                                 int *found, struct err *e)
{
    struct made_store *m = search;

    (void)e;
    CHECK_INT(ldq, 3);
    for (int i = 0; i < n; i++) {
        float y[2];

        pca_map(&map, q + (size_t)i * ldq, y);
        *found = nearest_of(m->s, y, k, out + i * k);
        CHECK(out[i * k].d2 < 1e-10f);
    }
    return ST_OK;
}

TEST(shorter_keys_are_searched_as_states)
{
    static const float key[] = { 1, 2, 1, 2.0625f, -4, 1, 3, 3 };
    static const int32_t token[] = { 7, 7, 7, 7 };
    struct made_store m = { 0 };
    struct made_pair p = { .n = 4, .token = token, .key = key };
    struct merge_search search = { search_mapped, &m };
    struct merge_options o = merge_options_defaults();
    struct merge_result r;
    struct err e;

    m.s = made_entries(&(struct made_options){ ENTRY_F16, 3, &map, 1 }, &p, 1);
    REQUIRE_OK(merge_entries(&r, m.s, &search, &o, &e), &e);
    CHECK_INT(r.weight[0] + r.weight[1] + r.weight[2] + r.weight[3], 4);
    CHECK(r.after < 4);
    merge_result_release(&r);
    entries_drop(m.s);
}

/* ---- stopping and failing ------------------------------------------------ */

struct seen { int calls; int64_t done, total, left; int stop; };

static int see(void *user, int64_t done, int64_t total, int64_t left)
{
    struct seen *s = user;

    s->calls++;
    s->done = done;
    s->total = total;
    s->left = left;
    return s->stop;
}

static enum status search_fails(void *search, const float *q, size_t ldq,
                                int n, int k, struct neighbor *out, int *found,
                                struct err *e)
{
    (void)search, (void)q, (void)ldq, (void)n, (void)k, (void)out, (void)found;
    return err_set(e, ST_DEVICE, "no device");
}

TEST(merging_reports_and_stops)
{
    static struct made_store m;
    struct merge_search search = { search_all, &m };
    struct seen seen = { 0 };
    struct merge_options o = { 2, 1, see, &seen };
    struct merge_result r;
    struct err e;

    make_store(&m, 1500, ENTRY_F16);
    REQUIRE_OK(merge_entries(&r, m.s, &search, &o, &e), &e);
    CHECK(seen.calls >= 2 && seen.done == 1495 && seen.total == 1495);
    CHECK_INT(seen.left, r.after);
    merge_result_release(&r);
    seen = (struct seen){ .stop = 1 };
    CHECK_INT(merge_entries(&r, m.s, &search, &o, &e), ST_CANCELED);
    CHECK_INT(seen.calls, 1);
    merge_result_release(&r);
    search.nearest = search_fails;
    CHECK_INT(merge_entries(&r, m.s, &search, &o, &e), ST_DEVICE);
    merge_result_release(&r);
    o.k = KNN_MAX_K + 1;
    CHECK_INT(merge_entries(&r, m.s, &search, &o, &e), ST_ARGUMENT);
    CHECK_STR(e.msg, "entries can be compared with 1 to 64 neighbors, not with "
              "65");
    merge_result_release(&r);
    entries_drop(m.s);
}

TEST(an_empty_datastore_has_nothing_to_merge)
{
    struct made_store m = { 0 };
    struct merge_result r;

    m.s = made_entries(&(struct made_options){ ENTRY_F16, 1, NULL, 1 }, NULL,
                       0);
    REQUIRE(merge_store(&m, 2, 1, &r));
    CHECK(r.n == 0 && r.before == 0 && r.after == 0 && m.calls == 0);
    merge_result_release(&r);
    entries_drop(m.s);
}

/* ---- positions of entries ------------------------------------------------ */

TEST(entries_are_found_by_pair_and_position)
{
    static const float key[5] = { 0 };
    static const int32_t token[5] = { 0 };
    static const int gaps[] = { 0, 2, 3, 7, 9 };
    struct made_pair p[] = {
        { .n = 5, .token = token, .key = key },
        { .n = 5, .token = token, .key = key, .pos = gaps },
        { .n = 0 },
        { .n = 3, .token = token, .key = key, .deleted = true },
        { .n = 2, .token = token, .key = key } };
    struct entries *s = made_entries(&(struct made_options){ ENTRY_F16, 1,
                                     NULL, 2 }, p, COUNT(p));
    static const int at[][4] = {        /* pair, position, block, index */
        { 0, 4, 0, 4 }, { 0, 5, -1, 0 }, { 1, 0, 0, 5 }, { 1, 1, -1, 0 },
        { 1, 9, 0, 9 }, { 2, 0, -1, 0 }, { 3, 0, -1, 0 }, { 4, 1, 2, 1 } };
    struct entry_range r;

    for (size_t i = 0; i < COUNT(at); i++) {
        r = entry_range_of(s, at[i][0], at[i][1], at[i][1] + 1);
        CHECK_INT(r.n, at[i][2] >= 0);
        if (!r.n) continue;
        CHECK(r.block == &s->blocks[at[i][2]]);
        CHECK_INT(r.first, at[i][3]);
    }
    r = entry_range_of(s, 1, 1, 8);
    CHECK(r.block == &s->blocks[0] && r.first == 6 && r.n == 3);
    r = entry_range_of(s, 1, 4, 7);
    CHECK_INT(r.n, 0);
    r = entry_range_of(s, 3, 0, 100);
    CHECK_INT(r.n, 0);
    entries_drop(s);
}
