/* test_knn.c - keys, neighbors, votes and lambda, compared with their
 * definitions and with results of PyTorch. */
#include "fixed_rows.h"
#include "golden.h"
#include "key_fix.h"

#include "knn/key_builder.h"
#include "knn/repeat.h"
#include "knn/sk.h"
#include "knn/weigh.h"
#include "naive.h"
#include "nn/forced.h"
#include "search/batch.h"
#include "text/subword.h"

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

    datastore_init(ks);
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

/* The k nearest of the first n rows. Returns how many each of them has. */
static int nearest(const struct datastore *ks, struct executor *x, int n,
                   int k, struct neighbor *out)
{
    struct finder_query q = { x, 0, n };
    int found = -1;
    struct err e;

    CHECK_OK(finder_nearest(&ks->finder, &q, k, out, &found, &e), &e);
    return found;
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
    struct fixed_rows f = fixed_rows(query, 512, 11);

    for (size_t c = 0; c < 2 * COUNT(dims); c++) {
        struct neighbor nb[11 * 200], few[11 * 6];
        int d = dims[c / 2], n;
        struct datastore ks;

        fill_store(&ks, c % 2 ? KEY_INT8 : KEY_F32, d, 150);
        CHECK_INT(ks.n, 150);
        for (int j = 0; j < 11 * 512; j++)
            query[j] = (float)(j * 7 % 13) / 3 - 2;
        n = nearest(&ks, &f.x, 11, 200, nb);
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
            CHECK_INT(nearest(&ks, &f.x, 11, k, few), k);
            for (int q = 0; q < 11; q++)
                CHECK_MEM(few + q * k, nb + q * 200,
                          (size_t)k * sizeof *few);
        }
        CHECK_INT(nearest(&ks, &f.x, 0, 3, few), 0);
        CHECK(datastore_sound(&ks));
        datastore_release(&ks);
        CHECK_INT(nearest(&ks, &f.x, 11, 3, few), 0);
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

TEST(equal_distances_keep_the_order_of_entries)
{
    static _Alignas(64) float query[16];
    struct fixed_rows f = fixed_rows(query, 16, 1);
    struct neighbor nb[3];
    struct datastore ks;
    struct pair_keys *b;
    struct err e;

    datastore_init(&ks);
    for (int i = 0; i < 5; i++) {
        REQUIRE_OK(pair_keys_new(&b, KEY_F32, 1, 16, &e), &e);
        pair_keys_put(b, 0, query, i);
        add_block(&ks, b);
    }
    CHECK_INT(nearest(&ks, &f.x, 1, 3, nb), 3);
    for (int i = 0; i < 3; i++)
        CHECK(nb[i].token == i && nb[i].pair == i && nb[i].pos == 0);
    datastore_release(&ks);
}

TEST(trust_falls_with_distance)
{
    struct weigh_options o = { .tau = 100 };
    struct knn_mixture v;

    weigh((struct neighbor[]){ { 25, 7, 0, 0, 0 } }, 1, &o, &v);
    CHECK_NEAR(v.lambda, 0.75, 1e-6);
    CHECK_INT(v.n, 1);
    CHECK_NEAR(v.add[0], 0.75, 1e-6);
    weigh((struct neighbor[]){ { 100, 7, 0, 0, 0 } }, 1, &o, &v);
    CHECK(v.lambda == 0 && v.n == 0);
    weigh((struct neighbor[]){ { 1e6f, 7, 0, 0, 0 } }, 1, &o, &v);
    CHECK(v.lambda == 0 && v.n == 0);
    weigh(NULL, 0, &o, &v);
    CHECK(v.lambda == 0 && v.n == 0);
    /* The distances differ by 0.4 tau, so the first share is
     * 1 / (1 + e^-0.4). */
    weigh((struct neighbor[]){ { 20, 7, 0, 0, 0 }, { 60, 8, 0, 1, 0 } }, 2,
          &o, &v);
    CHECK_INT(v.n, 2);
    CHECK_NEAR(v.add[0] / v.lambda, 0.598688, 1e-6);
    CHECK_NEAR(v.add[1] / v.lambda, 0.401312, 1e-6);
    CHECK_NEAR(v.share[0], 0.598688, 1e-6);
    CHECK_NEAR(v.share[1], 0.401312, 1e-6);
    /* The votes of two neighbors for the same token are added. */
    weigh((struct neighbor[]){ { 20, 7, 0, 0, 0 }, { 60, 7, 0, 2, 0 } }, 2,
          &o, &v);
    CHECK_INT(v.n, 1);
    CHECK_NEAR(v.add[0], 0.8, 1e-6);
    /* The second one stands for three entries. */
    weigh((struct neighbor[]){ { 20, 7, 0, 0, 0 },
                               { 20, 8, 0, 2, logf(3) } }, 2, &o, &v);
    CHECK_NEAR(v.share[0], 0.25, 1e-6);
    CHECK_NEAR(v.share[1], 0.75, 1e-6);
}

TEST(trust_may_be_fixed_or_none)
{
    struct weigh_options o = { .tau = 10, .adapter = ADAPTER_FIXED,
                               .lambda = 0.3 };
    struct neighbor far[] = { { 5000, 7, 0, 0, 0 } };
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

/* The piece that row t attends to most, counted from the first one that is not
 * special. The last token is EOS. */
static int most_attended(const struct naive_pass *p, int t, int first)
{
    const double *w = p->attention + t * p->n_src;
    int best = first;

    for (int i = first; i < p->n_src - 1; i++)
        if (w[i] > w[best]) best = i;
    return best - first;
}

/* Check that each key is the state of forced decoding before a token, that its
 * value is this token, and which piece it attends to. `rows` limits how many
 * pairs one pass takes; it must not change the result. */
static void check_keys(const struct tiny_net *m, const struct naive *nv,
                       int rows, bool with_eos, enum key_type type)
{
    struct key_builder_options o = { .rows = rows, .type = type,
                                     .with_eos = with_eos };
    struct tiny_pairs t;
    struct key_builder *kb;
    struct err e;

    make_pairs(m, &t);
    REQUIRE_OK(key_builder_new(&kb, m->backend, NULL, &o, &e), &e);
    REQUIRE_OK(key_builder_run(kb, t.p, TINY_PAIRS, &e), &e);
    for (int i = 0; i < TINY_PAIRS; i++) {
        const struct key_pair *p = &t.p[i];
        const struct pair_keys *b = p->keys;
        struct naive_pass pass;
        struct pair_keys *want;
        float hidden[17 * 64];
        struct forced fc = { .src = p->src, .n_src = p->n_src, .tgt = p->tgt,
                             .n_tgt = p->n_tgt, .hidden = hidden };

        REQUIRE(m->net->d <= 64);
        REQUIRE_OK(forced_run(m->net, NULL, &fc, &e), &e);
        CHECK_INT(b->n, p->n_tgt + with_eos);
        REQUIRE_OK(pair_keys_new(&want, type, b->n, m->net->d, &e), &e);
        pass = naive_run(nv, p->src, p->n_src, p->tgt, p->n_tgt);
        for (int k = 0; k < b->n; k++) {
            pair_keys_put(want, k, hidden + k * m->net->d,
                          k < p->n_tgt ? p->tgt[k] : m->w->cfg.eos_id);
            pair_keys_put_from(want, k, most_attended(&pass, k,
                               m->w->cfg.prefix_id >= 0));
        }
        naive_pass_release(&pass);
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
    struct naive nv;

    for (int prefix = -1; prefix < 8; prefix += 8) {
        o.prefix_id = prefix;
        REQUIRE(tiny_net_open(&m, &o, DT_F32, NULL));
        REQUIRE(naive_open(&nv, &m));
        for (int rows = 1; rows <= 64; rows *= 4)
            for (int way = 0; way < 4; way++)
                check_keys(&m, &nv, rows, way & 1,
                           way & 2 ? KEY_INT8 : KEY_F32);
        naive_close(&nv);
        tiny_net_close(&m);
    }
}

TEST(the_attended_piece_is_no_special_token)
{
    static const float w[] = { 0.3f, 0.1f, 0.2f, 0.2f, 0.4f };
    struct config none = { .prefix_id = -1, .suffix_id = -1 };
    struct config after = { .prefix_id = -1, .suffix_id = 3 };
    struct config before = { .prefix_id = 7, .suffix_id = -1 };
    struct config both = { .prefix_id = 7, .suffix_id = 3 };

    CHECK_INT(attended_piece(&none, w, 5), 4);
    CHECK_INT(attended_piece(&after, w, 5), 0);
    CHECK_INT(attended_piece(&before, w, 5), 3);
    CHECK_INT(attended_piece(&both, w, 5), 1);          /* the first of two */
    CHECK_INT(attended_piece(&both, w, 3), 0);
    CHECK_INT(attended_piece(&both, w, 2), 0);          /* no pieces */
    CHECK_INT(attended_piece(&after, w, 1), 0);
}

/* The pairs fit into one pass only if their common source is encoded once. Each
 * must get the keys that it gets alone, also with int8 weights and two
 * threads. */
TEST(a_source_that_pairs_share_is_read_once)
{
    enum { N = 6, SRC = 12 };
    struct key_builder_options o = { .rows = SRC + 1, .type = KEY_F32 };
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
    REQUIRE_OK(key_builder_new(&kb, m.backend, pool, &o, &e), &e);
    REQUIRE_OK(key_builder_new(&alone, m.backend, NULL, &o, &e), &e);
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
        struct key_builder_options o = { .rows = room[c][0], .type = KEY_F32 };
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
        REQUIRE_OK(key_builder_new(&kb, m.backend, NULL, &o, &e), &e);
        REQUIRE_OK(key_builder_run(kb, p, N, &e), &e);
        CHECK_INT(times, room[c][1]);
        CHECK_INT(fewest, room[c][2]);
        for (int i = 0; i < N; i++) pair_keys_drop(p[i].keys);
        key_builder_free(kb);
    }
    tiny_net_close(&m);
}

/* ---- the mixer of SK-MT -------------------------------------------------- */

/* The mixer of a sentence of two rows, with room to explain one translation of
 * four tokens. */
static struct mixer *sk_mixer(const struct system_options *o)
{
    static const struct system_sentence s = { .rows = 2, .nbest = 1,
                                              .max_len = 4, .explain = true };
    struct mixer *m = NULL;
    struct err e;

    CHECK_OK(sk_system.sentence_new(&m, o, &s, &e), &e);
    return m;
}

/* Give the keys of one pair to a mixer. */
static void give_keys(struct mixer *m, struct pair_keys *b)
{
    struct system_pair pair = { .keys = b, .similarity = 0.4f };
    struct err e;

    CHECK_OK(sk_system.prepare(m, NULL, &pair, 1, &e), &e);
    pair_keys_drop(b);
}

/* Let a mixer name the tokens of the rows. */
static void list_rows(struct mixer *m, const struct mixer_rows *in,
                      struct mixture *out)
{
    struct err e;

    for (int r = 0; r < in->n; r++) out[r] = (struct mixture){ .keep = 1 };
    CHECK_OK(m->ops->list(m, in, out, &e), &e);
}

/* Rows 1 and 2 belong to the sentence. Row 1 is near two of its keys, row 2 is
 * far from all. Another sentence has no pairs. */
TEST(votes_reach_the_rows_of_their_sentence)
{
    static _Alignas(64) float hidden[3 * 16];
    struct fixed_rows f = fixed_rows(hidden, 16, 3);
    struct system_options o = { .k = 2, .weigh = { .tau = 100 } };
    const int n_tokens[2] = { 0 };
    struct mixer_rows in = { .x = &f.x, .row = 1, .n = 2,
                             .n_tokens = n_tokens };
    float key[16] = { 5 };              /* squared distance 25 to row 1 */
    static const int32_t said[] = { 1, 2, 70, 3 };
    struct mixer *m = sk_mixer(&o), *other = sk_mixer(&o);
    struct mixture out[2];
    struct explanation why;
    struct pair_keys *b;
    struct err e;

    REQUIRE(m && other);
    CHECK(!m->ops->mix);                /* the weights are set by list */
    REQUIRE_OK(pair_keys_new(&b, KEY_F32, 2, 16, &e), &e);
    pair_keys_put(b, 0, key, 70);
    key[0] = 6;
    pair_keys_put(b, 1, key, 80);
    give_keys(m, b);
    hidden[2 * 16] = -50;               /* lambda is 0 at this distance */
    for (int turn = 0; turn < 2; turn++) {
        list_rows(m, &in, out);
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
        list_rows(other, &in, out);
        CHECK(out[0].keep == 1 && !out[0].n);
        CHECK_OK(m->ops->explain(m, &(struct mixer_reading){ &f.x, 1, 2, 0, 2,
                                                             said }, &e), &e);
        m->ops->end(m);
    }
    /* Tokens 2 and 3 were explained. Token 3 has no votes: its state is far
     * from all keys. */
    CHECK_INT(m->ops->explanation(m, 0, 0).n, 0);
    why = m->ops->explanation(m, 0, 3);
    CHECK(why.n == 0 && why.weight == 0);
    why = m->ops->explanation(m, 0, 2);
    CHECK_INT(why.n, 2);
    CHECK_NEAR(why.weight, 0.75, 1e-6);
    CHECK_INT(why.votes[0].token, 70);
    CHECK_NEAR(why.votes[0].distance, 25, 1e-4);
    CHECK(why.votes[1].pair == 0 && why.votes[1].pos == 1);
    CHECK_NEAR(why.votes[0].share + why.votes[1].share, 1, 1e-6);
    /* No such token, no such translation. */
    CHECK_INT(m->ops->explanation(m, 0, 4).n, 0);
    CHECK_INT(m->ops->explanation(m, 1, 0).n, 0);
    CHECK_INT(other->ops->explanation(other, 0, 2).n, 0);
    m->ops->free(m);
    other->ops->free(other);
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
    static const int n_tokens[] = { 1, 1 };
    struct fixed_rows f = fixed_rows(hidden, 16, 2);
    struct mixer_rows in = { .x = &f.x, .n = 2, .n_tokens = n_tokens,
                             .path = path, .slot_token = tokens };
    struct system_options o = { .k = 2, .repeat_votes = 1,
                                .weigh = { .tau = 100 } };
    static const int32_t said[] = { 70, 70 };
    float key[16] = { 5 };
    struct mixer *m = sk_mixer(&o);
    struct mixture out[2];
    struct explanation why;
    struct pair_keys *b;
    struct err e;

    REQUIRE(m);
    REQUIRE_OK(pair_keys_new(&b, KEY_F32, 2, 16, &e), &e);
    pair_keys_put(b, 0, key, 70);
    pair_keys_put(b, 1, key, 80);
    give_keys(m, b);
    list_rows(m, &in, out);
    CHECK_INT(out[0].n, 1);
    CHECK_INT(out[0].token[0], 80);
    CHECK_NEAR(out[0].add[0], 0.375, 1e-6);
    CHECK_NEAR(out[0].keep, 0.625, 1e-6);
    CHECK(out[0].n_guesses == 1 && out[0].guesses[0].token == 80);
    CHECK_INT(out[1].n, 2);                     /* row 1 ends with 60 */
    CHECK_NEAR(out[1].keep, 0.25, 1e-6);
    CHECK_OK(m->ops->explain(m, &(struct mixer_reading){ &f.x, 0, 2, 0, 0,
                                                         said }, &e), &e);
    CHECK_INT(m->ops->explanation(m, 0, 0).n, 2);
    why = m->ops->explanation(m, 0, 1);
    CHECK_INT(why.n, 1);                        /* explain drops it, too */
    CHECK_NEAR(why.weight, 0.375, 1e-6);
    CHECK_INT(why.votes[0].token, 80);
    CHECK_NEAR(why.votes[0].share, 1, 1e-6);
    m->ops->end(m);
    m->ops->free(m);
}

/* The nearest key has the value EOS. With eos_abstains its vote does not count,
 * and the model decides alone. */
TEST(a_vote_for_the_end_may_abstain)
{
    static _Alignas(64) float hidden[16];
    struct fixed_rows f = fixed_rows(hidden, 16, 1);
    const int n_tokens[1] = { 0 };
    struct mixer_rows in = { .x = &f.x, .n = 1, .n_tokens = n_tokens };
    const float key[16] = { 5 };

    for (int abstains = 0; abstains < 2; abstains++) {
        struct system_options o = { .k = 1, .weigh = { .tau = 100 }, .eos = 3,
                                    .eos_abstains = abstains };
        struct mixer *m = sk_mixer(&o);
        struct mixture out;
        struct pair_keys *b;
        struct err e;

        REQUIRE(m);
        REQUIRE_OK(pair_keys_new(&b, KEY_F32, 1, 16, &e), &e);
        pair_keys_put(b, 0, key, 3);
        give_keys(m, b);
        list_rows(m, &in, &out);
        CHECK_INT(out.n, !abstains);
        CHECK_NEAR(out.keep, abstains ? 1 : 0.25, 1e-6);
        CHECK(!abstains || !out.n_guesses);
        m->ops->free(m);                /* without end */
    }
}

/* Keys at the squared distances 0, 1, 4 .. of the state 0, with the tokens
 * `first`, first + 1 .. */
static struct pair_keys *keys_in_a_row(int n, int32_t first)
{
    struct pair_keys *b = NULL;
    struct err e;

    CHECK_OK(pair_keys_new(&b, KEY_F32, n, 16, &e), &e);
    for (int i = 0; b && i < n; i++) {
        const float key[16] = { (float)i };

        pair_keys_put(b, i, key, first + i);
    }
    return b;
}

/* Each voted token has one guess: what follows in the pair of its nearest
 * neighbor. The first guess is the best pair from its beginning. */
TEST(guesses_are_what_follows_in_the_pairs)
{
    enum { N = 7 };
    static _Alignas(64) float hidden[2 * 16];
    struct fixed_rows f = fixed_rows(hidden, 16, 2);
    const int n_tokens[2] = { 0 };
    struct mixer_rows in = { .x = &f.x, .n = 2, .n_tokens = n_tokens };
    struct system_options o = { .k = 8, .weigh = { .tau = 1000 } };
    struct system_pair pairs[] = {
        { .keys = keys_in_a_row(N, 40), .similarity = 0.9f },
        { .keys = keys_in_a_row(2, 40), .similarity = 0.3f } };
    struct mixer *m = sk_mixer(&o);
    struct guess first = { 0 };
    struct mixture out[2];
    struct err e;

    REQUIRE(m && pairs[0].keys && pairs[1].keys);
    hidden[16] = N - 1;                 /* row 1 is near the end of pair 0 */
    m->ops->first(m, &first);
    CHECK(!first.n && !first.ahead);    /* there are no pairs yet */
    CHECK_OK(sk_system.prepare(m, NULL, pairs, 2, &e), &e);
    m->ops->first(m, &first);
    CHECK_INT(first.n, N);
    CHECK(first.ahead == pairs[0].keys->token && first.likely > 0.5f);
    list_rows(m, &in, out);
    CHECK_INT(out[0].n_guesses, MIXTURE_GUESSES);
    for (int i = 0; i < MIXTURE_GUESSES; i++) {
        const struct guess *g = &out[0].guesses[i];

        CHECK_INT(g->token, 40 + i);    /* the first pair wins */
        CHECK_INT(g->n, N - 1 - i);
        CHECK(g->ahead == pairs[0].keys->token + i + 1);
        CHECK(g->likely > 0.5f && g->likely <= 1);
    }
    CHECK(out[1].guesses[0].token == 46 && out[1].guesses[0].n == 0);
    CHECK(out[1].guesses[1].token == 45 && out[1].guesses[1].n == 1);
    for (int i = 0; i < 2; i++) pair_keys_drop(pairs[i].keys);
    m->ops->free(m);
}

/* ---- systems ------------------------------------------------------------- */

/* Every system has a name of its own and what its interface requires. */
TEST(systems_are_found_by_name)
{
    int n = 0;

    for (; system_at(n); n++) {
        const struct steering_system *s = system_at(n);

        CHECK(system_named(s->name) == s);
        CHECK(*s->title && *s->paper && s->options);
        CHECK(!s->sentence_new == !s->prepare);
        CHECK(!s->worker_new == !s->worker_free);
    }
    CHECK(n >= 1 && n <= MOST_SYSTEMS);
    CHECK(system_named("sk") == &sk_system);
    CHECK(!system_named("no such system") && !system_named(""));
    CHECK(!system_at(-1));
}

TEST(a_system_refuses_what_it_cannot_do)
{
    struct system_options good = { .k = 1, .weigh = { .tau = 100 } };
    struct system_sentence s = { .rows = 4, .nbest = 1, .max_len = 10 };

    for (int i = 0; i < 5; i++) {
        struct system_options o = good;
        struct mixer *m;
        struct err e;
        enum status st;

        if (i == 1) o.k = 0;
        if (i == 2) o.k = KNN_MAX_K + 1;
        if (i == 3) o.repeat_votes = REPEAT_MAX_LIMIT + 1;
        if (i == 4) o.weigh.tau = 0;
        st = sk_system.sentence_new(&m, &o, &s, &e);
        CHECK_INT(st, i ? ST_ARGUMENT : ST_OK);
        CHECK(!m == !!i);
        if (m) m->ops->free(m);
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
    bool ok = CHECK_OK(subword_encode(f->w->src_subword, text, strlen(text), &p,
                                      &e), &e);

    *n = 0;
    for (size_t i = 0; ok && i < p.n && *n < most; i++)
        out[(*n)++] = p.at[i].id;
    pieces_release(&p);
    return ok;
}

/* The keys of the pairs of a sentence. */
struct pair_list { struct pair_keys *keys[64]; int n; };

static void pair_list_drop(struct pair_list *l)
{
    for (int i = 0; i < l->n; i++) pair_keys_drop(l->keys[i]);
}

static bool build(const struct fixture *f, const json_t *tm, int rows,
                  struct pair_list *out)
{
    size_t n = json_array_size(tm);
    struct sides *s = calloc(n + 1, sizeof *s);
    struct key_pair *p = calloc(n + 1, sizeof *p);
    struct key_builder_options o = { .rows = rows, .type = KEY_F32 };
    struct key_builder *kb = NULL;
    struct err e;
    bool ok = s && p && CHECK(n <= COUNT(out->keys)) &&
              CHECK_OK(key_builder_new(&kb, f->backend, NULL, &o, &e), &e);

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
    for (size_t i = 0; ok && i < n; i++) out->keys[out->n++] = p[i].keys;
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

/* Compare the neighbors and lambda of one step, which is row t of the last
 * pass, with the reference. Returns the largest relative difference of a
 * distance. */
static double check_step(const struct datastore *ks, struct executor *x, int t,
                         const json_t *step, int k, double tau)
{
    const json_t *d2 = json_object_get(step, "d2");
    const json_t *at = json_object_get(step, "at");
    struct weigh_options o = { .tau = tau };
    struct finder_query q = { x, t, 1 };
    struct neighbor nb[KNN_MAX_K];
    struct knn_mixture v;
    double worst = 0;
    int n = 0;
    struct err e;

    CHECK_OK(finder_nearest(&ks->finder, &q, k, nb, &n, &e), &e);
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

/* Run the translation of a line through the decoder. */
static struct executor *run_line(const struct fixture *f, const int32_t *src,
                                 int n_src, const int32_t *out, int n_out)
{
    struct source source = { src, n_src };
    struct forced_text text = { 0, out, n_out + 1 };
    struct executor_limits l = { .max_source = n_src, .max_len = n_out + 1,
        .rows = n_src > n_out + 1 ? n_src : n_out + 1 };
    struct executor *x = NULL;
    struct err e;

    if (CHECK_OK(f->backend->ops->executor_new(f->backend, &l, NULL, &x, &e),
                 &e))
        CHECK_OK(x->ops->force(x, &source, 1, &text, 1, 0, &e), &e);
    return x;
}

/* Put the keys of a line's pairs into a datastore. They are computed twice: the
 * keys do not depend on how many pairs share a pass. */
static bool build_store(const struct fixture *f, const json_t *j,
                        struct datastore *ks)
{
    struct pair_list some = { .n = 0 }, again = { .n = 0 };
    struct err e;

    if (!build(f, json_object_get(j, "tm"), 1024, &some)
        || !build(f, json_object_get(j, "tm"), 1, &again))
        return false;
    for (int i = 0; i < some.n; i++) {
        CHECK(key_same(some.keys[i], again.keys[i]));
        CHECK_OK(datastore_add(ks, some.keys[i], &e), &e);
    }
    pair_list_drop(&some);
    pair_list_drop(&again);
    return true;
}

static double check_line(const struct fixture *f, const json_t *j)
{
    const json_t *steps = json_object_get(j, "steps");
    int32_t src[MOST], out[MOST];
    int n_src = 0, n_out = ids_of(json_object_get(j, "out_ids"), out);
    int k = (int)json_integer_value(json_object_get(j, "k"));
    double tau = json_number_value(json_object_get(j, "tau"));
    struct datastore ks;
    struct executor *x;
    double worst = 0;

    datastore_init(&ks);
    if (!build_store(f, j, &ks)
        || !encode(f, json_string_value(json_object_get(j, "src")), 250,
                   src, &n_src))
        return 1;
    CHECK_INT(ks.n, json_integer_value(json_object_get(j, "entries")));
    src[n_src++] = f->w->cfg.eos_id;
    x = run_line(f, src, n_src, out, n_out);
    for (size_t t = 0; x && t < json_array_size(steps); t++)
        worst = fmax(worst, check_step(&ks, x, (int)t,
                                       json_array_get(steps, t), k, tau));
    executor_free(x);
    datastore_release(&ks);
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
    return (struct search_options){ .beam = 4, .nbest = 1, .lenpen = 0.6,
        .max_len_a = 1.2, .max_len_b = 64, .early_stop = true };
}

/* Make a job and its mixer, which gets the keys. */
static struct job *steered_job(const struct fixture *f, const json_t *j,
                               const int32_t *src, int n_src,
                               const struct pair_list *pairs)
{
    struct search_options o = beam_options();
    struct system_options so = {
        .k = (int)json_integer_value(json_object_get(j, "k")),
        .weigh = { .tau = json_number_value(json_object_get(j, "tau")) } };
    struct system_sentence s = { .rows = o.beam, .nbest = 1 };
    struct system_pair give[COUNT(pairs->keys)];
    struct job *job = NULL;
    struct err e;

    if (!CHECK_OK(job_new(&job, &o, f->backend->max_pos, src, n_src, NULL, 0,
                          &e), &e))
        return NULL;
    s.max_len = job->max_len;
    for (int i = 0; i < pairs->n; i++)
        give[i] = (struct system_pair){ .keys = pairs->keys[i],
                                        .similarity = 0.5f };
    CHECK_OK(sk_system.sentence_new(&job->mixer, &so, &s, &e), &e);
    CHECK_OK(sk_system.prepare(job->mixer, NULL, give, pairs->n, &e), &e);
    return job;
}

/* Decode a job, alone. */
static bool decode_job(const struct fixture *f, struct job *job)
{
    struct batch_limits limits = { .lanes = 1, .rows = job->o.beam,
        .max_beam = job->o.beam, .max_source = 251, .max_len = job->max_len };
    struct batch *b = NULL;
    struct job *done = NULL;
    struct err e;
    bool ok = CHECK_OK(batch_new(&b, f->backend, &limits, NULL, &e), &e) &&
              CHECK_OK(batch_add(b, &job, 1, &e), &e);

    while (ok && !done) ok = CHECK_OK(batch_step(b, &done, &e), &e);
    batch_free(b);
    return ok && done == job;
}

/* Translate a line with its pairs. Returns whether the tokens are those of the
 * reference. */
static bool translate_line(const struct fixture *f, const json_t *j)
{
    int32_t src[MOST], want[MOST];
    int n_src = 0, n_want = ids_of(json_object_get(j, "out_ids"), want);
    struct pair_list pairs = { .n = 0 };
    const struct hypothesis *h;
    struct job *job;
    bool same;

    if (!build(f, json_object_get(j, "tm"), 1024, &pairs)
        || !encode(f, json_string_value(json_object_get(j, "src")), 250, src,
                   &n_src))
        return false;
    src[n_src++] = f->w->cfg.eos_id;
    job = steered_job(f, j, src, n_src, &pairs);
    pair_list_drop(&pairs);
    if (!job) return false;
    /* out_ids of the reference has no EOS. */
    h = &job->hyps[0];
    same = decode_job(f, job) && job->n_hyps && h->n - h->ended == n_want
           && !memcmp(h->tokens, want, (size_t)n_want * sizeof *want);
    job->mixer->ops->free(job->mixer);
    job_free(job);
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
