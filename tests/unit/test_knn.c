/* test_knn.c - keys, neighbors, votes and lambda, compared with their
 * definitions and with results of PyTorch. */
#include "golden.h"
#include "key_fix.h"

#include "base/mem.h"
#include "knn/key_builder.h"
#include "knn/repeat.h"
#include "knn/sk.h"
#include "knn/weigh.h"
#include "search/batch.h"
#include "search/forced.h"
#include "text/subword.h"
#include "tiny_net.h"

/* ---- neighbors and lambda ------------------------------------------------ */

static void add_block(struct datastore *ks, struct pair_keys *b)
{
    struct err e;

    CHECK_OK(datastore_add(ks, b, &e), &e);
    pair_keys_drop(b);
}

/* Fill the datastore with n random keys that belong to several pairs. */
static void fill_store(struct datastore *ks, enum key_type type, int d, int n)
{
    struct err e;
    uint32_t x = 7;

    memset(ks, 0, sizeof *ks);
    for (int i = 0, some; i < n; i += some) {
        struct pair_keys *b;
        float key[600];

        some = n - i < 7 ? n - i : 7 + i * 9;
        if (some > n - i) some = n - i;
        REQUIRE_OK(pair_keys_new(&b, type, some, d, &e), &e);
        for (int r = 0; r < some; r++) {
            for (int j = 0; j < d; j++) {
                x = x * 1664525u + 1013904223u;
                key[j] = (float)(x >> 16) / 8192 - 4;
            }
            pair_keys_put(b, r, key, i + r);
        }
        add_block(ks, b);
    }
}

static double true_d2(const struct datastore *ks, const struct neighbor *nb,
                      const float *query)
{
    const struct pair_keys *b = ks->pairs[nb->pair];
    float key[600];
    double sum = 0;

    pair_keys_get(b, nb->pos, key);
    for (int j = 0; j < b->d; j++)
        sum += ((double)query[j] - key[j]) * ((double)query[j] - key[j]);
    return sum;
}

TEST(nearest_are_the_smallest_distances)
{
    static const int dims[] = { 1, 15, 16, 17, 64, 100, 512 };
    static _Alignas(64) float query[11 * 512];
    const struct kernels *kn = kernels_pick(NULL);

    for (size_t c = 0; c < 2 * COUNT(dims); c++) {
        struct neighbor nb[11 * 200], few[11 * 6];
        int d = dims[c / 2], n;
        struct datastore ks;

        fill_store(&ks, c % 2 ? KEY_INT8 : KEY_F32, d, 150);
        CHECK_INT(ks.n, 150);
        for (int j = 0; j < 11 * 512; j++)
            query[j] = (float)(j * 7 % 13) / 3 - 2;
        n = datastore_nearest(&ks, kn, query, 512, 11, 200, nb);
        CHECK_INT(n, 150);
        for (int q = 0; q < 11; q++)
            for (int i = 0; i < n; i++) {
                struct neighbor *it = nb + q * 200 + i;
                double want = true_d2(&ks, it, query + q * 512);

                CHECK_NEAR(it->d2, want, 1e-5 * want + 1e-6);
                CHECK_INT(ks.pairs[it->pair]->token[it->pos], it->token);
                if (i) CHECK(it[-1].d2 <= it->d2);
            }
        for (int k = 1; k < 6; k++) {
            CHECK_INT(datastore_nearest(&ks, kn, query, 512, 11, k, few), k);
            for (int q = 0; q < 11; q++)
                CHECK_MEM(few + q * k, nb + q * 200,
                          (size_t)k * sizeof *few);
        }
        datastore_release(&ks);
    }
}

TEST(compact_keys_are_near_the_real_ones)
{
    struct pair_keys *b;
    float key[100], back[100];
    struct err e;

    REQUIRE_OK(pair_keys_new(&b, KEY_INT8, 2, 100, &e), &e);
    for (int j = 0; j < 100; j++) key[j] = (float)(j - 50) / 10;
    pair_keys_put(b, 0, key, 5);
    memset(key, 0, sizeof key);
    pair_keys_put(b, 1, key, 6);
    pair_keys_get(b, 0, back);
    for (int j = 0; j < 100; j++)
        CHECK_NEAR(back[j], (j - 50) / 10.0, 5.0 / 127 / 2 + 1e-6);
    CHECK_NEAR(back[0], -5, 1e-5);
    pair_keys_get(b, 1, back);
    for (int j = 0; j < 100; j++) CHECK(back[j] == 0);
    pair_keys_drop(b);
}

/* The kernels quantize keys to the bytes that pair_keys_put stores. This is
 * checked with every kernel table that the machine supports. */
TEST(compact_keys_by_the_kernels_are_the_same)
{
    static const int sizes[] = { 1, 7, 37, 100, 512 };
    float key[2][512];
    uint8_t q[2 * 512];
    float scale[2];
    uint64_t seed = 9;

    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const struct kernels *kn = kernels_for((enum isa)isa);

        for (size_t i = 0; kn && i < sizeof sizes / sizeof *sizes; i++) {
            int d = sizes[i];
            struct pair_keys *a, *b;
            struct err e;

            REQUIRE_OK(pair_keys_new(&a, KEY_INT8, 2, d, &e), &e);
            REQUIRE_OK(pair_keys_new(&b, KEY_INT8, 2, d, &e), &e);
            for (int j = 0; j < d; j++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                key[0][j] = (float)(int32_t)(seed >> 32) * 1e-9f;
                key[1][j] = i % 2 ? 0 : -key[0][j] * 1e-3f;
            }
            kn->quantize(key[0], 512, 2, d, q, scale);
            for (int r = 0; r < 2; r++) {
                pair_keys_put(a, r, key[r], 70 + r);
                pair_keys_put_bytes(b, r, q + r * pad_to(d, 4), scale[r],
                                    70 + r);
            }
            CHECK_MEM(b->keys, a->keys, 2 * a->ld);
            CHECK_MEM(b->scale, a->scale, 2 * sizeof *a->scale);
            CHECK_MEM(b->token, a->token, 2 * sizeof *a->token);
            pair_keys_drop(a);
            pair_keys_drop(b);
        }
    }
}

TEST(what_comes_after_a_neighbor)
{
    const int32_t *ahead;
    struct datastore ks;
    struct neighbor nb = { .pair = 1, .pos = 3 };

    fill_store(&ks, KEY_INT8, 16, 30);
    CHECK(ks.n_pairs > 1 && ks.pairs[0]->n == 7);
    CHECK_INT(datastore_ahead(&ks, &nb, &ahead), ks.pairs[1]->n - 4);
    CHECK_INT(ahead[0], 7 + 4);
    nb.pos = ks.pairs[1]->n - 1;
    CHECK_INT(datastore_ahead(&ks, &nb, &ahead), 0);
    datastore_release(&ks);
}

TEST(equal_distances_keep_the_order_of_entries)
{
    static _Alignas(64) float query[16];
    struct neighbor nb[3];
    struct datastore ks = { 0 };
    struct pair_keys *b;
    struct err e;

    for (int i = 0; i < 5; i++) {
        REQUIRE_OK(pair_keys_new(&b, KEY_F32, 1, 16, &e), &e);
        pair_keys_put(b, 0, query, i);
        add_block(&ks, b);
    }
    CHECK_INT(datastore_nearest(&ks, kernels_pick(NULL), query, 16, 1, 3, nb),
              3);
    for (int i = 0; i < 3; i++)
        CHECK(nb[i].token == i && nb[i].pair == i && nb[i].pos == 0);
    datastore_release(&ks);
}

TEST(trust_falls_with_distance)
{
    struct weigh_options o = { .tau = 100 };
    struct knn_mixture v;

    weigh((struct neighbor[]){ { 25, 7, 0, 0 } }, 1, &o, &v);
    CHECK_NEAR(v.lambda, 0.75, 1e-6);
    CHECK_INT(v.n, 1);
    CHECK_NEAR(v.add[0], 0.75, 1e-6);
    weigh((struct neighbor[]){ { 100, 7, 0, 0 } }, 1, &o, &v);
    CHECK(v.lambda == 0 && v.n == 0);
    weigh((struct neighbor[]){ { 1e6f, 7, 0, 0 } }, 1, &o, &v);
    CHECK(v.lambda == 0 && v.n == 0);
    weigh(NULL, 0, &o, &v);
    CHECK(v.lambda == 0 && v.n == 0);
    /* The distances differ by 0.4 tau, so the first share is
     * 1 / (1 + e^-0.4). */
    weigh((struct neighbor[]){ { 20, 7, 0, 0 }, { 60, 8, 0, 1 } }, 2, &o, &v);
    CHECK_INT(v.n, 2);
    CHECK_NEAR(v.add[0] / v.lambda, 0.598688, 1e-6);
    CHECK_NEAR(v.add[1] / v.lambda, 0.401312, 1e-6);
    CHECK_NEAR(v.share[0], 0.598688, 1e-6);
    CHECK_NEAR(v.share[1], 0.401312, 1e-6);
    /* The votes of two neighbors for the same token are added. */
    weigh((struct neighbor[]){ { 20, 7, 0, 0 }, { 60, 7, 0, 2 } }, 2, &o, &v);
    CHECK_INT(v.n, 1);
    CHECK_NEAR(v.add[0], 0.8, 1e-6);
}

TEST(trust_may_be_fixed_or_none)
{
    struct weigh_options o = { .tau = 10, .adapter = ADAPTER_FIXED,
                               .lambda = 0.3 };
    struct neighbor far[] = { { 5000, 7, 0, 0 } };
    struct knn_mixture v;

    weigh(far, 1, &o, &v);
    CHECK_NEAR(v.lambda, 0.3, 1e-6);
    CHECK_NEAR(v.add[0], 0.3, 1e-6);
    weigh(far, 0, &o, &v);
    CHECK(v.lambda == 0);               /* there is no neighbor */
    o.adapter = ADAPTER_NONE;
    weigh(far, 1, &o, &v);
    CHECK(v.lambda == 0);
}

/* ---- keys of a tiny model ------------------------------------------------ */

#define TINY_PAIRS 5

struct tiny_pairs {
    int32_t src[TINY_PAIRS][16], tgt[TINY_PAIRS][16];
    struct key_pair p[TINY_PAIRS];
};

/* Pairs 1 and 3 have the same source. The source of pair 4 is different, but
 * has the same length. */
static void make_pairs(const struct tiny_net *m, struct tiny_pairs *t)
{
    uint64_t seed = 11;

    for (int i = 0; i < TINY_PAIRS; i++) {
        int n_src = tiny_source(m, &seed, 3 + i, t->src[i]);
        int n_tgt = tiny_source(m, &seed, 2 + (i * 3) % 7, t->tgt[i]) - 1;

        t->p[i] = (struct key_pair){ t->src[i], n_src, t->tgt[i], n_tgt,
                                     NULL };
    }
    memcpy(t->src[3], t->src[1], sizeof t->src[3]);
    t->p[3].n_src = t->p[1].n_src;
    t->p[4].n_src = tiny_source(m, &seed, 4, t->src[4]);
    CHECK(t->p[4].n_src == t->p[1].n_src &&
          memcmp(t->src[4], t->src[1], sizeof(int32_t) * 4));
}

/* Check that each key is the state of forced decoding before a token, and that
 * its value is this token. `rows` limits how many pairs one pass takes; it must
 * not change the result. */
static void check_keys(const struct tiny_net *m, int rows, bool with_eos,
                       enum key_type type)
{
    struct key_builder_options o = { rows, type, with_eos };
    struct tiny_pairs t;
    struct key_builder *kb;
    struct err e;

    make_pairs(m, &t);
    REQUIRE_OK(key_builder_new(&kb, m->net, NULL, &o, &e), &e);
    REQUIRE_OK(key_builder_run(kb, t.p, TINY_PAIRS, &e), &e);
    for (int i = 0; i < TINY_PAIRS; i++) {
        const struct key_pair *p = &t.p[i];
        const struct pair_keys *b = p->keys;
        struct pair_keys *want;
        float hidden[17 * 64];
        struct forced fc = { .src = p->src, .n_src = p->n_src, .tgt = p->tgt,
                             .n_tgt = p->n_tgt, .hidden = hidden };

        REQUIRE(m->net->d <= 64);
        REQUIRE_OK(forced_run(m->net, NULL, &fc, &e), &e);
        CHECK_INT(b->n, p->n_tgt + with_eos);
        REQUIRE_OK(pair_keys_new(&want, type, b->n, m->net->d, &e), &e);
        for (int k = 0; k < b->n; k++)
            pair_keys_put(want, k, hidden + k * m->net->d,
                          k < p->n_tgt ? p->tgt[k] : m->w->cfg.eos_id);
        CHECK(key_same(b, want));
        pair_keys_drop(want);
        pair_keys_drop(t.p[i].keys);
    }
    key_builder_free(kb);
}

TEST(keys_are_the_states_before_each_token)
{
    struct tiny o = TINY_DEFAULT;
    struct tiny_net m;

    REQUIRE(tiny_net_open(&m, &o, DT_F32, NULL));
    for (int rows = 1; rows <= 64; rows *= 4)
        for (int way = 0; way < 4; way++)
            check_keys(&m, rows, way & 1, way & 2 ? KEY_INT8 : KEY_F32);
    tiny_net_close(&m);
}

/* The pairs fit into one pass only if their common source is encoded once. Each
 * must get the keys that it gets alone, also with int8 weights and two
 * threads. */
TEST(a_source_that_pairs_share_is_read_once)
{
    enum { N = 6, SRC = 12 };
    struct key_builder_options o = { SRC + 1, KEY_F32, false };
    struct tiny t = TINY_DEFAULT;
    struct tiny_net m;
    struct key_builder *kb, *alone;
    struct key_pair p[N], one;
    int32_t src[16], tgt[N][16];
    uint64_t seed = 5;
    struct pool *pool;
    struct err e;
    int n_src;

    REQUIRE(tiny_net_open(&m, &t, DT_I8, NULL));
    REQUIRE_OK(pool_new(&pool, 2, &e), &e);
    REQUIRE_OK(key_builder_new(&kb, m.net, pool, &o, &e), &e);
    REQUIRE_OK(key_builder_new(&alone, m.net, NULL, &o, &e), &e);
    n_src = tiny_source(&m, &seed, SRC, src);
    for (int i = 0; i < N; i++) {
        tiny_source(&m, &seed, 2, tgt[i]);
        p[i] = (struct key_pair){ src, n_src, tgt[i], 2, NULL };
    }
    REQUIRE_OK(key_builder_run(kb, p, N, &e), &e);
    for (int i = 0; i < N; i++) {
        one = (struct key_pair){ src, n_src, tgt[i], 2, NULL };
        REQUIRE_OK(key_builder_run(alone, &one, 1, &e), &e);
        CHECK_INT(p[i].keys->n, 2);
        CHECK_MEM(p[i].keys->keys, one.keys->keys,
                  2 * one.keys->ld * sizeof(float));
        pair_keys_drop(one.keys);
        pair_keys_drop(p[i].keys);
    }
    key_builder_free(kb);
    key_builder_free(alone);
    pool_free(pool);
    tiny_net_close(&m);
}

/* The number of products with the first weights of the encoder, and the
 * smallest number of rows of such a product. */
static const struct linear *counted;
static int times, fewest;
static void (*real_product)(const struct gemm *g, int p0, int p1);

static void count_product(const struct gemm *g, int p0, int p1)
{
    if (g->l == counted) {
        times++;
        if (g->rows < fewest) fewest = g->rows;
    }
    real_product(g, p0, p1);
}

/* 12 pairs of 5 rows need 60 rows. With room for 60 rows they take one pass.
 * With room for 50 they take two passes of 30, not one of 50 and one of 10. */
TEST(pairs_are_divided_evenly)
{
    enum { N = 12 };
    static const int room[][3] = { { 50, 2, 30 }, { 60, 1, 60 }, { 25, 3, 20 },
                                   { 1, 12, 5 } };
    struct tiny t = TINY_DEFAULT;
    struct tiny_net m;
    struct kernels table;
    int32_t src[N][16], tgt[N][16];
    uint64_t seed = 9;
    struct err e;

    REQUIRE(tiny_net_open(&m, &t, DT_F32, NULL));
    table = *m.net->k;
    real_product = table.gemm_f32;
    table.gemm_f32 = count_product;
    m.net->k = &table;
    counted = &m.net->w->enc[0].qkv;
    for (size_t c = 0; c < COUNT(room); c++) {
        struct key_builder_options o = { room[c][0], KEY_F32, false };
        struct key_pair p[N];
        struct key_builder *kb;

        for (int i = 0; i < N; i++) {
            int n = tiny_source(&m, &seed, 5, src[i]);
            tiny_source(&m, &seed, 3, tgt[i]);
            CHECK_INT(n, 5);
            p[i] = (struct key_pair){ src[i], n, tgt[i], 3, NULL };
        }
        times = 0;
        fewest = 1000;
        REQUIRE_OK(key_builder_new(&kb, m.net, NULL, &o, &e), &e);
        REQUIRE_OK(key_builder_run(kb, p, N, &e), &e);
        CHECK_INT(times, room[c][1]);
        CHECK_INT(fewest, room[c][2]);
        for (int i = 0; i < N; i++) pair_keys_drop(p[i].keys);
        key_builder_free(kb);
    }
    tiny_net_close(&m);
}

/* Row 0 is near two keys of its sentence. Row 1 belongs to the same sentence
 * but is far from all keys. Row 2 belongs to a sentence without pairs. */
TEST(votes_reach_the_rows_of_their_sentence)
{
    static _Alignas(64) float hidden[3 * 16];
    struct sk_options o = { .k = 2, .weigh = { .tau = 100 } };
    int lane[3] = { 1, 1, 0 };
    struct mixer_step in = { .rows = 3, .d = 16, .hidden = hidden,
                             .ld_hidden = 16, .lane = lane };
    float key[16] = { 5 };              /* squared distance 25 to row 0 */
    static const int32_t said[] = { 1, 2, 70, 3 };
    struct sk_sentence s = { 0 };
    struct mix out[3];
    struct pair_keys *b;
    struct mixer *mx;
    struct sk *sk;
    struct err e;

    REQUIRE_OK(pair_keys_new(&b, KEY_F32, 2, 16, &e), &e);
    pair_keys_put(b, 0, key, 70);
    key[0] = 6;
    pair_keys_put(b, 1, key, 80);
    add_block(&s.store, b);
    hidden[1 * 16] = -50;               /* lambda is 0 at this distance */
    REQUIRE_OK(sk_new(&sk, &o, kernels_pick(NULL), 2, 3, &e), &e);
    REQUIRE_OK(sk_sentence_alloc_votes(&s, 1, 4, 2, &e), &e);
    mx = sk_mixer(sk);
    CHECK(!mx->begin(mx, 0, NULL, &e) && !mx->begin(mx, 1, &s, &e));
    for (int turn = 0; turn < 2; turn++) {
        for (int r = 0; r < 3; r++) out[r] = (struct mix){ .keep = 1 };
        mx->step(mx, &in, out);
        if (turn) {                     /* after the sentence has ended */
            CHECK(out[0].keep == 1 && !out[0].n);
            break;
        }
        CHECK_NEAR(out[0].keep, 0.25, 1e-6);
        CHECK_INT(out[0].n, 2);
        CHECK(out[0].token[0] == 70 && out[0].token[1] == 80);
        CHECK_NEAR(out[0].add[0] + out[0].add[1], 0.75, 1e-6);
        CHECK(out[0].add[0] > out[0].add[1]);
        CHECK(out[0].n_guesses == 2 && out[0].guesses[0].n == 1);
        CHECK(out[0].guesses[0].token == 70 && out[0].guesses[1].token == 80);
        CHECK_INT(out[0].guesses[0].ahead[0], 80);
        CHECK_INT(out[0].guesses[1].n, 0);
        CHECK(out[1].keep == 1 && !out[1].n && !out[1].n_guesses);
        CHECK(out[2].keep == 1 && !out[2].n);
        mx->explain(mx, 1,
                    &(struct mixer_reading){ 0, 2, 2, hidden, 16, said });
        mx->end(mx, 1);
    }
    /* Tokens 2 and 3 were explained. Token 3 has no votes: its state is far
     * from all keys. */
    CHECK(s.votes[0].n == 0 && s.votes[3].n == 0 && s.votes[3].lambda == 0);
    CHECK_INT(s.votes[2].n, 2);
    CHECK_NEAR(s.votes[2].lambda, 0.75, 1e-6);
    CHECK_INT(s.votes[2].votes[0].nb.token, 70);
    CHECK_INT(s.votes[2].votes[1].nb.pos, 1);
    CHECK_NEAR(s.votes[2].votes[0].share + s.votes[2].votes[1].share, 1,
               1e-6);
    sk_free(sk);
    sk_sentence_release(&s);
}

/* In this list each letter is a token. The vote is for the last letter of
 * `stored`. */
TEST(votes_that_repeat_are_found)
{
    static const struct { const char *said, *stored; int limit; bool want; }
        list[] = {
        { "", ".", 1, false },
        { "ab", "ab.", 1, false },
        { "ab.", "cd.", 1, true },              /* ". ." */
        { "ab.", "cd.", 2, false },
        { "ab..", "cd.", 2, true },
        { "ab.", "cd..", 1, false },            /* the pair has ".." */
        { "ab..", "cd..", 1, true },            /* but not "..." */
        { "ab.", "c..", 1, false },
        { "xab", "ca", 1, false },              /* "aba" is no repetition */
        { "xaba", "cab", 1, true },             /* "abab" */
        { "xaba", "xabab", 1, false },
        { "xaba", "yabab", 1, false },
        { "xabaxab", "abxa", 1, true },         /* "xabaxaba" */
        { "phrase and phras", "phrase", 1, false },
        { "one two;one two", "one two;", 1, true },
        { "one two;one two", "one two;", 2, false },
        { "one two;one two;one two", "one two;", 2, true },
        /* Repetitions of up to REPEAT_MAX_PHRASE = 16 tokens are found. */
        { "0123456789abcdef0123456789abcde", "xf", 1, true },
        { "0123456789abcdefg0123456789abcdef", "xg", 1, false },
    };

    for (size_t i = 0; i < COUNT(list); i++) {
        int32_t said[80], stored[80];
        int n = (int)strlen(list[i].said), m = (int)strlen(list[i].stored);

        for (int k = 0; k < n; k++) said[k] = list[i].said[k];
        for (int k = 0; k < m; k++) stored[k] = list[i].stored[k];
        if (!CHECK(repeats_too_often(said, n, stored, m - 1, list[i].limit)
                   == list[i].want))
            printf("     translation \"%s\", stored \"%s\", limit %d\n",
                   list[i].said, list[i].stored, list[i].limit);
    }
}

/* The translation in row 0 ends with token 70, so a vote for 70 would repeat it
 * and is dropped. The vote for 80 keeps its weight. The model gets the weight
 * of the dropped vote. */
TEST(a_repeated_vote_goes_to_the_model)
{
    static _Alignas(64) float hidden[2 * 16];
    static const int32_t tokens[] = { 0, 70, 60 }, one[] = { 0, 1 },
                         other[] = { 0, 2 };
    static const int32_t *const path[] = { one, other };
    static const int lane[] = { 0, 0 }, n_tokens[] = { 1, 1 };
    struct mixer_step in = { .rows = 2, .d = 16, .hidden = hidden,
        .ld_hidden = 16, .lane = lane, .n_tokens = n_tokens, .path = path,
        .state_token = tokens };
    struct sk_options o = { .k = 2, .repeat_votes = 1,
                            .weigh = { .tau = 100 } };
    static const int32_t said[] = { 70, 70 };
    float key[16] = { 5 };
    struct sk_sentence s = { 0 };
    struct mix out[2] = { { .keep = 1 }, { .keep = 1 } };
    struct pair_keys *b;
    struct mixer *mx;
    struct sk *sk;
    struct err e;

    REQUIRE_OK(pair_keys_new(&b, KEY_F32, 2, 16, &e), &e);
    pair_keys_put(b, 0, key, 70);
    pair_keys_put(b, 1, key, 80);
    add_block(&s.store, b);
    REQUIRE_OK(sk_new(&sk, &o, kernels_pick(NULL), 1, 2, &e), &e);
    REQUIRE_OK(sk_sentence_alloc_votes(&s, 1, 2, 2, &e), &e);
    mx = sk_mixer(sk);
    CHECK(!mx->begin(mx, 0, &s, &e));
    mx->step(mx, &in, out);
    CHECK_INT(out[0].n, 1);
    CHECK_INT(out[0].token[0], 80);
    CHECK_NEAR(out[0].add[0], 0.375, 1e-6);
    CHECK_NEAR(out[0].keep, 0.625, 1e-6);
    CHECK(out[0].n_guesses == 1 && out[0].guesses[0].token == 80);
    CHECK_INT(out[1].n, 2);                     /* row 1 ends with 60 */
    CHECK_NEAR(out[1].keep, 0.25, 1e-6);
    mx->explain(mx, 0, &(struct mixer_reading){ 0, 0, 2, hidden, 16, said });
    CHECK_INT(s.votes[0].n, 2);
    CHECK_INT(s.votes[1].n, 1);                 /* explain drops it, too */
    CHECK_NEAR(s.votes[1].lambda, 0.375, 1e-6);
    CHECK_INT(s.votes[1].votes[0].nb.token, 80);
    CHECK_NEAR(s.votes[1].votes[0].share, 1, 1e-6);
    mx->end(mx, 0);
    sk_free(sk);
    sk_sentence_release(&s);
}

/* The nearest key has the value EOS. With eos_abstains its vote does not count,
 * and the model decides alone. */
TEST(a_vote_for_the_end_may_abstain)
{
    static _Alignas(64) float hidden[16];
    static const int lane[] = { 0 };
    struct mixer_step in = { .rows = 1, .d = 16, .hidden = hidden,
                             .ld_hidden = 16, .lane = lane };
    const float key[16] = { 5 };

    for (int abstains = 0; abstains < 2; abstains++) {
        struct sk_options o = { .k = 1, .weigh = { .tau = 100 }, .eos = 3,
                                .eos_abstains = abstains };
        struct mix out = { .keep = 1 };
        struct sk_sentence s = { 0 };
        struct pair_keys *b;
        struct mixer *mx;
        struct sk *sk;
        struct err e;

        REQUIRE_OK(pair_keys_new(&b, KEY_F32, 1, 16, &e), &e);
        pair_keys_put(b, 0, key, 3);
        add_block(&s.store, b);
        REQUIRE_OK(sk_new(&sk, &o, kernels_pick(NULL), 1, 1, &e), &e);
        mx = sk_mixer(sk);
        CHECK(!mx->begin(mx, 0, &s, &e));
        mx->step(mx, &in, &out);
        CHECK_INT(out.n, !abstains);
        CHECK_NEAR(out.keep, abstains ? 1 : 0.25, 1e-6);
        CHECK(!abstains || !out.n_guesses);
        mx->end(mx, 0);
        sk_free(sk);
        sk_sentence_release(&s);
    }
}

/* ---- comparison with the reference --------------------------------------- */

#define MOST 2048

struct sides { int32_t src[MOST], tgt[MOST]; int n_src, n_tgt; };

/* Encode the first `most` pieces of a text. The reference uses the first 199
 * pieces of a stored text and the first 250 of a sentence. */
static bool encode(const struct fixture *f, const char *text, int most,
                   int32_t *out, int *n)
{
    struct pieces p = { 0 };
    struct err e;
    bool ok = CHECK_OK(subword_encode(f->w->subword, text, strlen(text), &p,
                                      &e), &e);

    *n = 0;
    for (size_t i = 0; ok && i < p.n && *n < most; i++)
        out[(*n)++] = p.at[i].id;
    pieces_release(&p);
    return ok;
}

static bool build(const struct fixture *f, const json_t *tm, int rows,
                  struct datastore *ks)
{
    size_t n = json_array_size(tm);
    struct sides *s = calloc(n + 1, sizeof *s);
    struct key_pair *p = calloc(n + 1, sizeof *p);
    struct key_builder_options o = { rows, KEY_F32, false };
    struct key_builder *kb = NULL;
    struct err e;
    bool ok =
        s && p && CHECK_OK(key_builder_new(&kb, f->net, NULL, &o, &e), &e);

    for (size_t i = 0; ok && i < n; i++) {
        const json_t *pair = json_array_get(tm, i);

        ok = encode(f, json_string_value(json_array_get(pair, 0)), 199,
                    s[i].src, &s[i].n_src)
             && encode(f, json_string_value(json_array_get(pair, 1)), 199,
                       s[i].tgt, &s[i].n_tgt);
        s[i].src[s[i].n_src++] = f->w->cfg.eos_id;
        p[i] = (struct key_pair){ s[i].src, s[i].n_src, s[i].tgt, s[i].n_tgt,
                                  NULL };
    }
    if (ok) ok = CHECK_OK(key_builder_run(kb, p, (int)n, &e), &e);
    for (size_t i = 0; ok && i < n; i++) add_block(ks, p[i].keys);
    key_builder_free(kb);
    free(s);
    free(p);
    return ok;
}

/* The number of an entry in the order of the datastore. */
static int entry_number(const struct datastore *ks, const struct neighbor *nb)
{
    int at = nb->pos;

    for (int i = 0; i < nb->pair; i++) at += ks->pairs[i]->n;
    return at;
}

/* Compare the neighbors and lambda of one step with the reference. Returns the
 * largest relative difference of a distance. */
static double check_step(const struct datastore *ks, const float *hidden,
                         const json_t *step, int k, double tau)
{
    const json_t *d2 = json_object_get(step, "d2");
    const json_t *at = json_object_get(step, "at");
    struct weigh_options o = { .tau = tau };
    struct neighbor nb[KNN_MAX_K];
    struct knn_mixture v;
    int n = datastore_nearest(ks, kernels_pick(NULL), hidden, 512, 1, k, nb);
    double worst = 0;

    CHECK_INT(n, (int)json_array_size(d2));
    for (int i = 0; i < n; i++) {
        double want = json_number_value(json_array_get(d2, (size_t)i));

        worst = fmax(worst, fabs(nb[i].d2 - want) / fmax(want, 1));
        CHECK_INT(entry_number(ks, &nb[i]),
                  json_integer_value(json_array_get(at, (size_t)i)));
        CHECK_INT(nb[i].token, json_integer_value(
            json_array_get(json_object_get(step, "val"), (size_t)i)));
    }
    weigh(nb, n, &o, &v);
    CHECK_NEAR(v.lambda, json_number_value(json_object_get(step, "lam")),
               1e-3);
    return worst;
}

static double check_line(const struct fixture *f, const json_t *j)
{
    const json_t *steps = json_object_get(j, "steps");
    int32_t src[MOST], out[MOST];
    int n_src = 0, n_out = ids_of(json_object_get(j, "out_ids"), out);
    int k = (int)json_integer_value(json_object_get(j, "k"));
    struct forced fc = { .src = src, .tgt = out, .n_tgt = n_out };
    struct datastore ks = { 0 }, again = { 0 };
    double worst = 0;
    struct err e;

    fc.hidden = mem_alloc((size_t)(n_out + 1) * (size_t)f->net->d,
                          sizeof(float));
    if (!CHECK(fc.hidden) || !build(f, json_object_get(j, "tm"), 1024, &ks)
        || !build(f, json_object_get(j, "tm"), 1, &again)
        || !encode(f, json_string_value(json_object_get(j, "src")), 250,
                   src, &n_src))
        return 1;
    CHECK_INT(ks.n, json_integer_value(json_object_get(j, "entries")));
    /* The keys do not depend on how many pairs share a pass. */
    CHECK_INT(again.n, ks.n);
    for (int i = 0; i < ks.n_pairs; i++)
        CHECK_MEM(again.pairs[i]->keys, ks.pairs[i]->keys,
                  (size_t)ks.pairs[i]->n * ks.pairs[i]->ld * sizeof(float));
    src[n_src++] = f->w->cfg.eos_id;
    fc.n_src = n_src;
    CHECK_OK(forced_run(f->net, NULL, &fc, &e), &e);
    for (size_t t = 0; t < json_array_size(steps); t++)
        worst = fmax(worst, check_step(&ks, fc.hidden + t * (size_t)f->net->d,
                                       json_array_get(steps, t), k,
                                       json_number_value(
                                           json_object_get(j, "tau"))));
    mem_free(fc.hidden);
    datastore_release(&ks);
    datastore_release(&again);
    return worst;
}

/* How many of the 48 runs to compare. With sanitizers or plain C kernels each
 * run takes seconds. */
static int run_limit(void)
{
    const char *san = getenv("SAN");

    return san && *san ? 4 : line_limit(1);
}

TEST(steps_are_the_references)
{
    const char *path = test_shared("golden/skmt.jsonl");
    int n = 0, limit = run_limit();
    struct fixture f;
    double worst = 0;
    json_t *j;
    FILE *in;

    if (!path) SKIP("needs the full golden set");
    REQUIRE((in = fopen(path, "r")));
    REQUIRE(fixture_open(&f, reference_model(), true));
    while (n < limit && (j = golden_line(in))) {
        worst = fmax(worst, check_line(&f, j));
        n++;
        json_decref(j);
    }
    printf("     steps: %d runs, worst relative error of a distance %.2g\n", n,
           worst);
    CHECK(worst <= 1e-3);
    CHECK(n >= 1);
    fclose(in);
    fixture_close(&f);
}

/* ---- whole translations -------------------------------------------------- */

static struct search_options beam_options(void)
{
    return (struct search_options){ .beam = 4, .nbest = 1, .lanes = 1,
        .lenpen = 0.6, .max_len_a = 1.2, .max_len_b = 64, .early_stop = true,
        .max_source = 251 };
}

/* Translate a line with its pairs. Returns whether the tokens are those of the
 * reference. */
static bool translate_line(const struct fixture *f, const json_t *j)
{
    struct search_options o = beam_options();
    struct sk_options so = {
        .k = (int)json_integer_value(json_object_get(j, "k")),
        .weigh = { .tau = json_number_value(json_object_get(j, "tau")) } };
    int32_t src[MOST], want[MOST];
    int n_src = 0, n_want = ids_of(json_object_get(j, "out_ids"), want);
    struct batch *b = NULL;
    struct sk *sk = NULL;
    struct job *job = NULL, *done = NULL;
    struct sk_sentence s = { 0 };
    bool same;
    struct err e;

    if (!build(f, json_object_get(j, "tm"), 1024, &s.store)
        || !encode(f, json_string_value(json_object_get(j, "src")), 250, src,
                   &n_src))
        return false;
    src[n_src++] = f->w->cfg.eos_id;
    CHECK_OK(sk_new(&sk, &so, f->net->k, o.lanes, o.lanes * o.beam, &e),
             &e);
    CHECK_OK(batch_new(&b, f->net, &o, NULL, sk_mixer(sk), &e), &e);
    CHECK_OK(job_new(&job, &o, f->net, src, n_src, NULL, 0, &e), &e);
    job->mixer_data = &s;
    CHECK_OK(batch_add(b, &job, 1, &e), &e);
    while (!done && batch_busy_lanes(b)) done = batch_step(b);
    /* out_ids of the reference has no EOS. */
    same = done && done->n_hyps
           && done->hyps[0].n - done->hyps[0].ended == n_want
           && !memcmp(done->hyps[0].tokens, want,
                      (size_t)n_want * sizeof *want);
    job_free(job);
    batch_free(b);
    sk_free(sk);
    sk_sentence_release(&s);
    return same;
}

TEST(translations_are_the_references)
{
    const char *path = test_shared("golden/skmt.jsonl");
    int n = 0, same = 0, limit = run_limit();
    struct fixture f;
    json_t *j;
    FILE *in;

    if (!path) SKIP("needs the full golden set");
    REQUIRE((in = fopen(path, "r")));
    REQUIRE(fixture_open(&f, reference_model(), true));
    while (n < limit && (j = golden_line(in))) {
        same += translate_line(&f, j);
        n++;
        json_decref(j);
    }
    printf("     with memory: %d of %d translations identical\n", same, n);
    CHECK(n >= 1 && same * 100 >= n * 98);
    fclose(in);
    fixture_close(&f);
}

TEST(a_system_refuses_what_it_cannot_do)
{
    struct sk_options o = { .k = 0, .weigh = { .tau = 100 } };
    struct sk *sk;
    struct err e;

    CHECK(sk_new(&sk, &o, kernels_pick(NULL), 1, 4, &e) == ST_ARGUMENT && !sk);
    o.k = KNN_MAX_K + 1;
    CHECK(sk_new(&sk, &o, kernels_pick(NULL), 1, 4, &e) == ST_ARGUMENT && !sk);
    o.k = 1;
    o.repeat_votes = REPEAT_MAX_LIMIT + 1;
    CHECK(sk_new(&sk, &o, kernels_pick(NULL), 1, 4, &e) == ST_ARGUMENT && !sk);
    o.repeat_votes = 0;
    o.weigh.tau = 0;
    CHECK(sk_new(&sk, &o, kernels_pick(NULL), 1, 4, &e) == ST_ARGUMENT && !sk);
}
