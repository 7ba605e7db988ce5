/* test_executor.c - the operations of an executor, one by one.
 *
 * Forced decoding (nn/forced.h) runs a whole translation without slots and
 * gives the expected numbers. The states and logits of an executor must be
 * equal to them, bit for bit, whatever rows share a pass. naive.h gives the
 * expected attention. */
#include "base/pool.h"
#include "knn/pair_keys.h"
#include "naive.h"
#include "nn/forced.h"
#include "nn/topk.h"

enum { N_TEXTS = 4, MAX_IDS = 40, MAX_SLOTS = 128 };

/* Known translations, with the numbers that forced decoding gives. */
struct known {
    int32_t src[MAX_IDS], tgt[MAX_IDS];
    int n_src, n;               /* n: rows, the start token and the target */
    float *hidden;              /* [n, d] */
    float *logits;              /* [n, vocab] */
    struct row_stats stats[MAX_IDS];
    int vocab;
};

static void keep_logits(void *user, int t, const float *x, struct row_stats s)
{
    struct known *k = user;

    memcpy(k->logits + (size_t)t * (size_t)k->vocab, x,
           (size_t)k->vocab * sizeof *x);
    k->stats[t] = s;
}

static bool known_init(struct known *k, const struct tiny_net *m,
                       const struct net *net, int i)
{
    static const int n_src[N_TEXTS] = { 7, 33, 1, 12 };
    static const int n_tgt[N_TEXTS] = { 9, 4, 0, 30 };
    uint64_t seed = 31 + (uint64_t)i;
    struct forced f = { .src = k->src, .tgt = k->tgt, .n_tgt = n_tgt[i],
                        .logits = keep_logits, .user = k };
    struct err e;

    k->n_src = f.n_src = tiny_source(m, &seed, n_src[i], k->src);
    tiny_source(m, &seed, n_tgt[i] + 1, k->tgt);
    k->n = n_tgt[i] + 1;
    k->vocab = net->vocab;
    k->hidden = calloc((size_t)(k->n * net->d), sizeof *k->hidden);
    k->logits = calloc((size_t)(k->n * k->vocab), sizeof *k->logits);
    f.hidden = k->hidden;
    return CHECK_OK(forced_run(net, NULL, &f, &e), &e);
}

/* A model, a backend and the known translations. */
struct desk {
    struct tiny_net m;
    struct net *net;            /* with kernels of its own */
    struct backend *b;
    struct known text[N_TEXTS];
};

static bool desk_open_model(struct desk *d, const struct tiny *o,
                            enum dtype type, const struct kernels *k)
{
    struct err e;

    if (!tiny_net_open(&d->m, o, type, NULL) ||
        !CHECK_OK(net_open(&d->net, d->m.w, k, &e), &e) ||
        !CHECK_OK(cpu_backend_new(&d->b, d->net, &e), &e))
        return false;
    for (int i = 0; i < N_TEXTS; i++)
        if (!known_init(&d->text[i], &d->m, d->net, i)) return false;
    return true;
}

static bool desk_open(struct desk *d, enum dtype type, const struct kernels *k)
{
    struct tiny o = TINY_DEFAULT;

    return desk_open_model(d, &o, type, k);
}

static void desk_close(struct desk *d)
{
    for (int i = 0; i < N_TEXTS; i++) {
        free(d->text[i].hidden);
        free(d->text[i].logits);
    }
    backend_close(d->b);
    net_close(d->net);
    tiny_net_close(&d->m);
}

static struct executor *executor_for(const struct backend *b, int rows,
                                     int slots, struct pool *pool)
{
    struct executor_limits l = { .lanes = slots ? N_TEXTS : 0,
        .max_source = MAX_IDS, .rows = rows, .max_len = MAX_IDS,
        .slots = slots };
    struct executor *x = NULL;
    struct err e;

    CHECK_OK(b->ops->executor_new(b, &l, pool, &x, &e), &e);
    return x;
}

/* Encode the source of each text into the lane of its number. */
static void encode_all(struct executor *x, const struct known *t)
{
    struct source src[N_TEXTS];
    static const int lane[N_TEXTS] = { 0, 1, 2, 3 };
    struct err e;

    for (int i = 0; i < N_TEXTS; i++)
        src[i] = (struct source){ t[i].src, t[i].n_src };
    CHECK_OK(x->ops->encode(x, src, lane, N_TEXTS, &e), &e);
}

/* ---- comparison of the last pass ----------------------------------------- */

/* Row r of the last pass must have the state of row t of a text. */
static void check_state(struct executor *x, int r, const struct known *k,
                        int t)
{
    const float *state = NULL;
    size_t ld, d = (size_t)x->backend->d;
    struct err e;

    REQUIRE_OK(x->ops->read(x, STATE_FINAL, r, 1, &state, &ld, &e), &e);
    CHECK(ld >= d);
    CHECK_MEM(state, k->hidden + (size_t)t * d, d * sizeof *state);
}

static int by_logit(const void *a, const void *b)
{
    const struct token_logit *x = a, *y = b;

    if (x->logit != y->logit) return x->logit < y->logit ? 1 : -1;
    return x->token - y->token;
}

/* The result of a projection must be that of row t of a text. */
static void check_projection(const struct projection *p, const struct known *k,
                             int t)
{
    const float *logits = k->logits + (size_t)t * (size_t)k->vocab;
    struct token_logit all[400];

    REQUIRE(k->vocab <= (int)COUNT(all));
    for (int v = 0; v < k->vocab; v++)
        all[v] = (struct token_logit){ logits[v], v };
    qsort(all, (size_t)k->vocab, sizeof *all, by_logit);
    CHECK_MEM(&p->max, &k->stats[t].max, sizeof p->max);
    CHECK_MEM(&p->sum, &k->stats[t].sum, sizeof p->sum);
    CHECK_INT(p->n_found, p->n_best);
    for (int i = 0; i < p->n_best; i++)
        CHECK(p->best[i].token == all[i].token &&
              p->best[i].logit == all[i].logit);
    for (int i = 0; i < p->n_listed; i++)
        CHECK(p->listed_logit[i] == logits[p->listed[i]]);
}

/* Ask for different numbers of tokens in each row, and check what comes. */
static void check_projections(struct executor *x, const struct known *const *k,
                              const int *t, int n)
{
    static const int n_best[] = { 0, 1, 11, PROJECT_BEST, 0 };
    static const int n_listed[] = { PROJECT_LISTED, 0, 3, 1, 0 };
    struct projection *p = calloc((size_t)n, sizeof *p);
    struct token_logit *best = calloc((size_t)n * PROJECT_BEST, sizeof *best);
    int32_t listed[PROJECT_LISTED];
    float *logit = calloc((size_t)n * PROJECT_LISTED, sizeof *logit);
    struct err e;

    for (int i = 0; i < PROJECT_LISTED; i++)
        listed[i] = (i * 37 + 5) % x->backend->vocab;
    for (int i = 0; i < n; i++)
        p[i] = (struct projection){ .n_best = n_best[i % 5],
            .best = best + i * PROJECT_BEST, .n_listed = n_listed[i % 5],
            .listed = listed, .listed_logit = logit + i * PROJECT_LISTED };
    CHECK_OK(x->ops->project(x, 0, n, p, &e), &e);
    for (int i = 0; i < n; i++) check_projection(&p[i], k[i], t[i]);
    for (int row = 1; row < n; row += 5) {      /* the rows from `row` on */
        CHECK_OK(x->ops->project(x, row, n - row, p, &e), &e);
        for (int i = 0; i < n - row; i++)
            check_projection(&p[i], k[row + i], t[row + i]);
    }
    free(p);
    free(best);
    free(logit);
}

/* The paths of one hypothesis for each text. */
struct paths { int32_t slot[N_TEXTS][MAX_IDS]; };

/* Take the slot of row t of text i, and make this row. */
static struct pass_row next_row(struct executor *x, struct paths *p,
                                const struct known *k, int i, int t)
{
    int32_t *path = p->slot[i];

    path[t] = x->ops->slot_new(x, t ? path[t - 1] : -1);
    CHECK(path[t] >= 0);
    if (t) x->ops->slot_drop(x, path[t - 1]);  /* the new slot follows it */
    return (struct pass_row){ i, t ? k[i].tgt[t - 1]
                                   : x->backend->cfg->start_id, t, path };
}

static void run_and_check(struct executor *x, const struct pass_row *rows,
                          const struct known *const *k, int n)
{
    int t[MAX_SLOTS];
    struct err e;

    REQUIRE(n > 0 && n <= MAX_SLOTS);
    for (int i = 0; i < n; i++) t[i] = rows[i].pos;
    REQUIRE_OK(x->ops->run(x, rows, n, 0, &e), &e);
    for (int i = 0; i < n; i++) check_state(x, i, k[i], t[i]);
    check_projections(x, k, t, n);
}

/* ---- encode, run, project ------------------------------------------------ */

/* Run all texts at the same time, `chunk` rows of each in a pass. */
static void run_together(struct executor *x, const struct known *k, int chunk)
{
    const struct known *of[MAX_SLOTS];
    struct pass_row rows[MAX_SLOTS];
    struct paths p;

    for (int at = 0, n = 1; n; at += chunk) {
        n = 0;
        for (int i = 0; i < N_TEXTS; i++)
            for (int t = at; t < at + chunk && t < k[i].n; t++, n++) {
                rows[n] = next_row(x, &p, k, i, t);
                of[n] = &k[i];
            }
        if (n) run_and_check(x, rows, of, n);
    }
    for (int i = 0; i < N_TEXTS; i++)
        x->ops->slot_drop(x, p.slot[i][k[i].n - 1]);
}

static void check_running(enum dtype type)
{
    for (enum isa isa = ISA_REF; isa <= cpu_best_isa(); isa++) {
        struct executor *x;
        struct desk d;

        if (!kernels_for(isa)) continue;
        REQUIRE(desk_open(&d, type, kernels_for(isa)));
        REQUIRE((x = executor_for(d.b, 64, MAX_SLOTS, NULL)));
        for (int chunk = 1; chunk <= MAX_IDS; chunk = chunk * 3 + 1) {
            encode_all(x, d.text);
            run_together(x, d.text, chunk);
        }
        executor_free(x);
        desk_close(&d);
    }
}

TEST(f32_rows_are_those_of_forced_decoding) { check_running(DT_F32); }
TEST(bf16_rows_are_those_of_forced_decoding) { check_running(DT_BF16); }
TEST(int8_rows_are_those_of_forced_decoding) { check_running(DT_I8); }

TEST(a_backend_says_what_it_runs)
{
    struct desk d;

    REQUIRE(desk_open(&d, DT_F32, NULL));
    CHECK_STR(d.b->ops->name, "cpu");
    CHECK(d.b->cfg == &d.m.w->cfg);
    CHECK_INT(d.b->d, d.net->d);
    CHECK_INT(d.b->vocab, d.net->vocab);
    CHECK_INT(d.b->max_pos, d.net->max_pos);
    desk_close(&d);
    backend_close(NULL);
    executor_free(NULL);
}

/* The probabilities of a row sum to 1, and are those of the plain
 * transformer. */
TEST(projections_are_distributions)
{
    struct executor *x;
    struct naive nv;
    struct naive_pass want;
    struct pass_row row;
    struct paths p;
    struct desk d;
    double sum = 0;
    struct err e;

    REQUIRE(desk_open(&d, DT_F32, NULL));
    REQUIRE(naive_open(&nv, &d.m));
    REQUIRE((x = executor_for(d.b, 8, MAX_SLOTS, NULL)));
    encode_all(x, d.text);
    want = naive_run(&nv, d.text[0].src, d.text[0].n_src, NULL, 0);
    row = next_row(x, &p, d.text, 0, 0);
    CHECK_OK(x->ops->run(x, &row, 1, 0, &e), &e);
    for (int32_t v = 0; v < d.b->vocab; v++) {
        float logit;
        struct projection q = { .n_listed = 1, .listed = &v,
                                .listed_logit = &logit };
        double prob;

        CHECK_OK(x->ops->project(x, 0, 1, &q, &e), &e);
        prob = exp((double)logit - (double)q.max) / (double)q.sum;
        CHECK_NEAR(prob, exp(want.logprob[v]), 1e-5);
        sum += prob;
    }
    CHECK_NEAR(sum, 1, 1e-5);
    naive_pass_release(&want);
    executor_free(x);
    naive_close(&nv);
    desk_close(&d);
}

/* The sources have more tokens than a pass of the encoder has rows. A lane that
 * is encoded again forgets its source. */
TEST(lanes_are_filled_in_any_order)
{
    static const int order[] = { 2, 0, 3, 1 };
    struct executor *x;
    struct paths p;
    struct desk d;
    struct err e;

    REQUIRE(desk_open(&d, DT_I8, NULL));
    REQUIRE((x = executor_for(d.b, 1, MAX_SLOTS, NULL)));
    for (int turn = 0; turn < 2; turn++) {
        struct source src[N_TEXTS];

        for (int i = 0; i < N_TEXTS; i++) {
            const struct known *k = &d.text[turn ? i : order[i]];

            src[i] = (struct source){ k->src, k->n_src };
        }
        CHECK_OK(x->ops->encode(x, src, order, N_TEXTS, &e), &e);
        for (int i = 0; i < N_TEXTS; i++) {
            const struct known *k = &d.text[turn ? i : order[i]];
            struct pass_row row = next_row(x, &p, d.text, i, 0);

            row.lane = order[i];
            run_and_check(x, &row, &k, 1);
            x->ops->slot_drop(x, p.slot[i][0]);
        }
    }
    executor_free(x);
    desk_close(&d);
}

/* Row r of the last pass must attend as row t of a text. */
static void check_weights(struct executor *x, int r,
                          const struct naive_pass *want, int t)
{
    const float *got = NULL;
    size_t ld;
    struct err e;

    REQUIRE_OK(x->ops->attention(x, r, 1, &got, &ld, &e), &e);
    CHECK(ld >= (size_t)want->n_src);
    for (int s = 0; s < want->n_src; s++)
        CHECK_NEAR((double)got[s], want->attention[t * want->n_src + s],
                   1e-4);
}

static void run_attending(struct executor *x, const struct known *texts,
                          const struct naive_pass *want)
{
    struct err e;

    encode_all(x, texts);
    for (int i = 0; i < N_TEXTS; i++) {
        const struct known *k = &texts[i];
        struct pass_row rows[MAX_IDS];
        struct paths p;

        for (int t = 0; t < k->n; t++) rows[t] = next_row(x, &p, texts, i, t);
        CHECK_OK(x->ops->run(x, rows, k->n, WANT_ATTENTION, &e), &e);
        for (int t = 0; t < k->n; t++) {
            check_state(x, t, k, t);
            check_weights(x, t, &want[i], t);
        }
        x->ops->slot_drop(x, p.slot[i][k->n - 1]);
    }
}

static void force_attending(struct executor *x, const struct known *texts,
                            const struct naive_pass *want)
{
    struct source src[N_TEXTS];
    struct forced_text text[N_TEXTS];
    struct err e;

    for (int i = 0; i < N_TEXTS; i++) {
        src[i] = (struct source){ texts[i].src, texts[i].n_src };
        text[i] = (struct forced_text){ i, texts[i].tgt, texts[i].n };
    }
    REQUIRE_OK(x->ops->force(x, src, N_TEXTS, text, N_TEXTS, WANT_ATTENTION,
                             &e), &e);
    for (int i = 0, r = 0; i < N_TEXTS; i++)
        for (int t = 0; t < texts[i].n; t++, r++) {
            check_state(x, r, &texts[i], t);
            check_weights(x, r, &want[i], t);
        }
}

/* Of the attention layer of a model with three layers: the default, which is
 * the middle one, and each of the others. */
TEST(attention_is_the_plain_transformers)
{
    for (int layer = -1; layer < 3; layer++) {
        struct tiny o = TINY_DEFAULT;
        struct naive_pass want[N_TEXTS];
        struct executor *x;
        struct naive nv;
        struct desk d;

        o.dec_layers = 3;
        o.attention_layer = layer;
        REQUIRE(desk_open_model(&d, &o, DT_F32, NULL));
        CHECK_INT(d.b->cfg->attention_layer, layer < 0 ? 1 : layer);
        REQUIRE(naive_open(&nv, &d.m));
        for (int i = 0; i < N_TEXTS; i++)
            want[i] = naive_run(&nv, d.text[i].src, d.text[i].n_src,
                                d.text[i].tgt, d.text[i].n - 1);
        REQUIRE((x = executor_for(d.b, MAX_IDS, MAX_SLOTS, NULL)));
        run_attending(x, d.text, want);
        executor_free(x);
        REQUIRE((x = executor_for(d.b, 64, 0, NULL)));
        force_attending(x, d.text, want);
        executor_free(x);
        for (int i = 0; i < N_TEXTS; i++) naive_pass_release(&want[i]);
        naive_close(&nv);
        desk_close(&d);
    }
}

/* Rows [row, row + n) of the last pass must have these states [n, d]. */
static void check_kind(struct executor *x, enum state_kind kind, int row,
                       int n, const double *want)
{
    int d = x->backend->d;
    const float *got = NULL;
    size_t ld;
    struct err e;

    REQUIRE_OK(x->ops->read(x, kind, row, n, &got, &ld, &e), &e);
    for (int t = 0; t < n; t++)
        for (int i = 0; i < d; i++)
            CHECK_NEAR((double)got[(size_t)t * ld + (size_t)i],
                       want[t * d + i], 1e-4);
}

static void check_kinds(const struct desk *d, const struct naive *nv)
{
    unsigned all = WANT_FFN | WANT_SOURCE | WANT_ATTENTION;
    struct source src[N_TEXTS];
    struct forced_text text[N_TEXTS];
    struct executor *x = executor_for(d->b, 64, 0, NULL);
    struct err e;

    for (int i = 0; i < N_TEXTS; i++) {
        src[i] = (struct source){ d->text[i].src, d->text[i].n_src };
        text[i] = (struct forced_text){ i, d->text[i].tgt, d->text[i].n };
    }
    REQUIRE_OK(x->ops->force(x, src, N_TEXTS, text, N_TEXTS, all, &e), &e);
    for (int i = 0, row = 0, at = 0; i < N_TEXTS; i++) {
        const struct known *k = &d->text[i];
        struct naive_pass want = naive_run(nv, k->src, k->n_src, k->tgt,
                                           k->n - 1);

        for (int t = 0; t < k->n; t++) check_state(x, row + t, k, t);
        check_kind(x, STATE_FFN, row, k->n, want.ffn);
        check_kind(x, STATE_SOURCE, at, k->n_src, want.source);
        row += k->n;
        at += k->n_src;
        naive_pass_release(&want);
    }
    executor_free(x);
}

/* The states that are not the final ones, in pre-norm and post-norm models. */
TEST(other_states_are_the_plain_transformers)
{
    for (int post = 0; post < 2; post++) {
        struct tiny o = TINY_DEFAULT;
        struct naive nv;
        struct desk d;

        o.post = post;
        REQUIRE(desk_open_model(&d, &o, DT_F32, NULL));
        REQUIRE(naive_open(&nv, &d.m));
        check_kinds(&d, &nv);
        naive_close(&nv);
        desk_close(&d);
    }
}

/* A pass of search can keep the input of the feed-forward block, too. */
TEST(ffn_inputs_of_a_search_pass)
{
    struct paths p = { 0 };
    struct executor *x;
    struct naive nv;
    struct desk d;
    struct err e;

    REQUIRE(desk_open(&d, DT_F32, NULL) && naive_open(&nv, &d.m));
    REQUIRE((x = executor_for(d.b, MAX_IDS, MAX_SLOTS, NULL)));
    encode_all(x, d.text);
    for (int i = 0; i < N_TEXTS; i++) {
        const struct known *k = &d.text[i];
        struct naive_pass want = naive_run(&nv, k->src, k->n_src, k->tgt,
                                           k->n - 1);

        for (int t = 0; t < k->n; t++) {
            struct pass_row row = next_row(x, &p, d.text, i, t);

            REQUIRE_OK(x->ops->run(x, &row, 1, WANT_FFN, &e), &e);
            check_state(x, 0, k, t);
            check_kind(x, STATE_FFN, 0, 1, want.ffn + t * d.b->d);
        }
        x->ops->slot_drop(x, p.slot[i][k->n - 1]);
        naive_pass_release(&want);
    }
    executor_free(x);
    naive_close(&nv);
    desk_close(&d);
}

enum { WEIGHTS = 3 * MAX_IDS * MAX_IDS };

/* Copy the attention of all texts to out, `chunk` rows of each in a pass.
 * Returns how many weights there are. */
static int collect_attention(struct executor *x, const struct known *k,
                             int chunk, float *out)
{
    int start[N_TEXTS], n = 0;
    struct paths p;
    struct err e;

    for (int i = 0; i < N_TEXTS; n += k[i].n * k[i].n_src, i++) start[i] = n;
    for (int at = 0, rows_left = 1; rows_left; at += chunk) {
        struct pass_row rows[MAX_SLOTS];

        rows_left = 0;
        for (int i = 0; i < N_TEXTS; i++)
            for (int t = at; t < at + chunk && t < k[i].n; t++)
                rows[rows_left++] = next_row(x, &p, k, i, t);
        if (rows_left)
            CHECK_OK(x->ops->run(x, rows, rows_left, WANT_ATTENTION, &e), &e);
        for (int r = 0; r < rows_left; r++) {
            int i = rows[r].lane, n_src = k[i].n_src;
            const float *got;
            size_t ld;

            CHECK_OK(x->ops->attention(x, r, 1, &got, &ld, &e), &e);
            memcpy(out + start[i] + rows[r].pos * n_src, got,
                   (size_t)n_src * sizeof *out);
        }
    }
    for (int i = 0; i < N_TEXTS; i++)
        x->ops->slot_drop(x, p.slot[i][k[i].n - 1]);
    return n;
}

/* With any number of threads and of rows in a pass, bit for bit. A pass may
 * have more rows of a sentence than weights are kept of at a time. */
TEST(attention_does_not_depend_on_threads_or_other_rows)
{
    static const int chunks[] = { 1, 4, 13, 40 };

    for (enum isa isa = ISA_REF; isa <= cpu_best_isa(); isa++) {
        static float want[WEIGHTS], got[WEIGHTS];
        struct desk d;
        int n = 0;

        if (!kernels_for(isa)) continue;
        REQUIRE(desk_open(&d, DT_I8, kernels_for(isa)));
        for (int threads = 1; threads <= 3; threads++) {
            struct pool *pool = NULL;
            struct executor *x;
            struct err e;

            if (threads > 1) REQUIRE_OK(pool_new(&pool, threads, &e), &e);
            REQUIRE((x = executor_for(d.b, 64, MAX_SLOTS, pool)));
            encode_all(x, d.text);
            for (size_t c = 0; c < COUNT(chunks); c++) {
                bool first = threads == 1 && !c;

                n = collect_attention(x, d.text, chunks[c],
                                      first ? want : got);
                CHECK(n > 0 && n <= WEIGHTS);
                if (!first) CHECK_MEM(got, want, (size_t)n * sizeof *got);
            }
            executor_free(x);
            pool_free(pool);
        }
        desk_close(&d);
    }
}

/* ---- slots --------------------------------------------------------------- */

/* A slot is in use as long as it is held or has children. It is used again
 * after that, and the rows there are computed like any others. */
TEST(slots_that_are_dropped_are_used_again)
{
    struct executor *x;
    struct desk d;
    int32_t a, b, c, e, fork;

    REQUIRE(desk_open(&d, DT_F32, NULL));
    REQUIRE((x = executor_for(d.b, 64, 4, NULL)));
    x->ops->slot_drop(x, -1);
    a = x->ops->slot_new(x, -1);
    b = x->ops->slot_new(x, a);
    c = x->ops->slot_new(x, b);
    fork = x->ops->slot_new(x, a);
    CHECK(a >= 0 && b >= 0 && c >= 0 && fork >= 0);
    CHECK(a != b && b != c && a != c && fork != a && fork != b && fork != c);
    CHECK(a < 4 && b < 4 && c < 4 && fork < 4);
    CHECK_INT(x->ops->slot_new(x, c), -1);     /* all are in use */
    x->ops->slot_drop(x, a);                   /* has children */
    x->ops->slot_drop(x, b);                   /* has a child */
    CHECK_INT(x->ops->slot_new(x, c), -1);
    x->ops->slot_drop(x, c);                   /* b and c are free now */
    e = x->ops->slot_new(x, fork);
    CHECK(e == b || e == c);
    x->ops->slot_drop(x, e);
    x->ops->slot_drop(x, fork);                /* and so are all others */
    executor_free(x);

    /* The longest text needs 31 slots. With 62 it can be run any number of
     * times. */
    REQUIRE((x = executor_for(d.b, 64, 62, NULL)));
    encode_all(x, d.text);
    for (int turn = 0; turn < 5; turn++)
        run_together(x, d.text, 1 + turn * 4);
    executor_free(x);
    desk_close(&d);
}

/* Two hypotheses share their first tokens and then differ. Each row sees its
 * own path only. */
TEST(hypotheses_share_slots)
{
    enum { SHARED = 5 };
    struct executor *x;
    struct pass_row rows[2];
    int32_t path[2][MAX_IDS];
    struct known fork, *k;
    struct desk d;
    struct forced f = { .n_tgt = SHARED + 1 };
    const struct known *of[2];
    struct err e;

    REQUIRE(desk_open(&d, DT_F32, NULL));
    k = &d.text[0];
    fork = *k;
    fork.hidden = calloc((size_t)(k->n * d.net->d), sizeof *fork.hidden);
    fork.logits = calloc((size_t)(k->n * k->vocab), sizeof *fork.logits);
    fork.tgt[SHARED] = k->tgt[SHARED] == 9 ? 10 : 9;
    f = (struct forced){ .src = fork.src, .n_src = fork.n_src,
        .tgt = fork.tgt, .n_tgt = SHARED + 1, .hidden = fork.hidden,
        .logits = keep_logits, .user = &fork };
    REQUIRE_OK(forced_run(d.net, NULL, &f, &e), &e);
    REQUIRE((x = executor_for(d.b, 8, MAX_SLOTS, NULL)));
    encode_all(x, d.text);
    for (int t = 0; t <= SHARED; t++) {
        path[0][t] = x->ops->slot_new(x, t ? path[0][t - 1] : -1);
        path[1][t] = path[0][t];
        rows[0] = (struct pass_row){ 0, t ? k->tgt[t - 1]
                                          : d.b->cfg->start_id, t, path[0] };
        of[0] = k;
        run_and_check(x, rows, of, 1);
    }
    for (int h = 0; h < 2; h++) {
        path[h][SHARED + 1] = x->ops->slot_new(x, path[h][SHARED]);
        of[h] = h ? &fork : k;
        rows[h] = (struct pass_row){ 0, of[h]->tgt[SHARED], SHARED + 1,
                                     path[h] };
    }
    run_and_check(x, rows, of, 2);
    executor_free(x);
    free(fork.hidden);
    free(fork.logits);
    desk_close(&d);
}

/* ---- force --------------------------------------------------------------- */

/* Texts 0, 3, 1, 0, 2 and 3 in one pass; two of them come twice, and their
 * sources are encoded once. The second executor has room for exactly these
 * rows, which are more than the CPU projects at a time. */
TEST(forced_rows_are_those_of_forced_decoding)
{
    static const enum dtype types[] = { DT_F32, DT_BF16, DT_I8 };
    static const int order[] = { 0, 3, 1, 0, 2, 3 };

    for (size_t c = 0; c < 2 * COUNT(types); c++) {
        struct source src[N_TEXTS];
        struct forced_text text[COUNT(order)];
        const struct known *of[MAX_SLOTS];
        struct executor *x;
        struct desk d;
        int t[MAX_SLOTS], n = 0;
        struct err e;

        REQUIRE(desk_open(&d, types[c / 2], NULL));
        for (int i = 0; i < N_TEXTS; i++)
            src[i] = (struct source){ d.text[i].src, d.text[i].n_src };
        for (size_t i = 0; i < COUNT(order); i++) {
            const struct known *k = &d.text[order[i]];

            text[i] = (struct forced_text){ order[i], k->tgt, k->n };
            for (int r = 0; r < k->n; r++, n++) of[n] = k, t[n] = r;
        }
        CHECK(n > 64 && n <= MAX_SLOTS);
        REQUIRE((x = executor_for(d.b, c % 2 ? n : 200, 0, NULL)));
        for (int turn = 0; turn < 2; turn++) {
            REQUIRE_OK(x->ops->force(x, src, N_TEXTS, text, COUNT(order),
                                     turn, &e), &e);
            for (int r = 0; r < n; r++) check_state(x, r, of[r], t[r]);
            check_projections(x, of, t, n);
        }
        executor_free(x);
        desk_close(&d);
    }
}

/* A text may end before its last token, and may have no rows. */
TEST(forced_texts_may_be_cut)
{
    struct executor *x;
    struct desk d;
    struct err e;

    REQUIRE(desk_open(&d, DT_F32, NULL));
    REQUIRE((x = executor_for(d.b, 64, 0, NULL)));
    for (int rows = 0; rows < 5; rows++) {
        struct source src = { d.text[3].src, d.text[3].n_src };
        struct forced_text text[] = { { 0, d.text[3].tgt, rows },
                                      { 0, d.text[3].tgt, 3 } };

        CHECK_OK(x->ops->force(x, &src, 1, text, 2, 0, &e), &e);
        for (int r = 0; r < rows; r++) check_state(x, r, &d.text[3], r);
        for (int r = 0; r < 3; r++) check_state(x, rows + r, &d.text[3], r);
    }
    executor_free(x);
    desk_close(&d);
}

/* ---- reading and distances ----------------------------------------------- */

/* Run text 3 in one pass. Returns its rows. */
static int run_text(struct executor *x, const struct known *k)
{
    struct pass_row rows[MAX_IDS];
    struct paths p;
    struct err e;

    encode_all(x, k);
    for (int t = 0; t < k[3].n; t++) rows[t] = next_row(x, &p, k, 3, t);
    CHECK_OK(x->ops->run(x, rows, k[3].n, 0, &e), &e);
    return k[3].n;
}

TEST(any_rows_can_be_read)
{
    struct executor *x;
    struct desk d;
    int n;
    struct err e;

    REQUIRE(desk_open(&d, DT_F32, NULL));
    REQUIRE((x = executor_for(d.b, 64, MAX_SLOTS, NULL)));
    n = run_text(x, d.text);
    for (int row = 0; row <= n; row += 3)
        for (int some = 0; row + some <= n; some += 5) {
            const float *states = NULL;
            size_t ld, size = (size_t)d.b->d;

            CHECK_OK(x->ops->read(x, STATE_FINAL, row, some, &states,
                                  &ld, &e), &e);
            for (int r = 0; r < some; r++)
                CHECK_MEM(states + (size_t)r * ld, d.text[3].hidden +
                          (size_t)(row + r) * size, size * sizeof *states);
        }
    executor_free(x);
    desk_close(&d);
}

/* Make n keys that are near some of the states. */
static struct pair_keys *keys_near(const struct known *k, enum key_type type,
                                   int n, int d)
{
    struct pair_keys *b = NULL;
    uint64_t s = 77;
    float key[64];
    struct err e;

    if (!CHECK(d <= 64) || !CHECK_OK(pair_keys_new(&b, type, n, d, &e), &e))
        return NULL;
    for (int i = 0; i < n; i++) {
        const float *near = k->hidden + (size_t)(i % k->n) * (size_t)d;

        for (int j = 0; j < d; j++)
            key[j] = near[j] + (i % 5) * 0.3f * tiny_random(&s);
        pair_keys_put(b, i, key, 5 + i);
    }
    return b;
}

static double distance_to(const struct pair_keys *b, int i, const float *state)
{
    float key[64];
    double sum = 0;

    pair_keys_get(b, i, key);
    for (int j = 0; j < b->d; j++)
        sum += ((double)state[j] - (double)key[j]) *
               ((double)state[j] - (double)key[j]);
    return sum;
}

/* Compare some rows with some keys. Nothing else of `out` may change. */
static void check_distances(struct executor *x, const struct known *k,
                            const struct pair_keys *b, const int *range)
{
    enum { LD = 80 };
    int row = range[0], n = range[1], from = range[2], n_keys = range[3];
    struct key_rows keys = pair_keys_rows(b);
    float out[MAX_IDS * LD];
    struct err e;

    for (size_t i = 0; i < COUNT(out); i++) out[i] = -1;
    CHECK_OK(x->ops->distances(x, row, n, &keys, from, n_keys, out, LD, &e),
             &e);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < LD; j++) {
            double got = (double)out[i * LD + j];

            if (j < n_keys) {
                double want = distance_to(b, from + j, k->hidden +
                                          (row + i) * b->d);

                CHECK_NEAR(got, want, 1e-5 * want + 1e-4);
            } else {
                CHECK(got == -1);
            }
        }
}

TEST(distances_are_the_definition)
{
    static const int ranges[][4] = { { 0, 31, 0, 70 }, { 0, 1, 0, 1 },
        { 5, 9, 13, 40 }, { 30, 1, 69, 1 }, { 7, 8, 64, 6 } };

    for (enum isa isa = ISA_REF; isa <= cpu_best_isa(); isa++)
        for (int type = KEY_INT8; type <= KEY_F32; type++) {
            struct pair_keys *b;
            struct executor *x;
            struct desk d;

            if (!kernels_for(isa)) continue;
            REQUIRE(desk_open(&d, DT_F32, kernels_for(isa)));
            REQUIRE((x = executor_for(d.b, 64, MAX_SLOTS, NULL)));
            CHECK_INT(run_text(x, d.text), 31);
            REQUIRE((b = keys_near(&d.text[3], (enum key_type)type, 70,
                                   d.b->d)));
            for (size_t i = 0; i < COUNT(ranges); i++)
                check_distances(x, &d.text[3], b, ranges[i]);
            pair_keys_drop(b);
            executor_free(x);
            desk_close(&d);
        }
}

/* Each set of keys has its own serial number, also if it has the same size and
 * the same place in memory as one before. */
TEST(serial_numbers_of_keys_are_unique)
{
    uint64_t seen[50];
    struct err e;

    for (int i = 0; i < 50; i++) {
        struct pair_keys *b;

        REQUIRE_OK(pair_keys_new(&b, KEY_INT8, 3, 16, &e), &e);
        seen[i] = pair_keys_rows(b).serial;
        CHECK(pair_keys_rows(b).keys == b->keys);
        CHECK(pair_keys_rows(b).n == 3 && pair_keys_rows(b).d == 16);
        for (int k = 0; k < i; k++) CHECK(seen[k] != seen[i]);
        pair_keys_drop(b);
    }
}

/* ---- several executors --------------------------------------------------- */

/* Executors share their backend and nothing else. A pool, used or not, changes
 * no result. */
TEST(executors_do_not_disturb_each_other)
{
    struct executor *x, *other;
    struct pool *pool;
    struct desk d;
    struct err e;

    REQUIRE(desk_open(&d, DT_I8, NULL));
    REQUIRE_OK(pool_new(&pool, 3, &e), &e);
    REQUIRE((x = executor_for(d.b, 64, MAX_SLOTS, pool)));
    REQUIRE((other = executor_for(d.b, 5, MAX_SLOTS, NULL)));
    encode_all(x, d.text);
    encode_all(other, d.text);
    run_together(x, d.text, 3);
    run_together(other, d.text, 1);
    x->ops->use_pool(x, false);
    other->ops->use_pool(other, true);          /* it has none */
    encode_all(x, d.text);
    run_together(x, d.text, 5);
    x->ops->use_pool(x, true);
    run_together(x, d.text, 7);
    executor_free(x);
    run_together(other, d.text, 1);
    executor_free(other);
    pool_free(pool);
    desk_close(&d);
}
