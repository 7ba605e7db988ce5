/* test_batch.c - a batch translates each sentence as if it were alone.
 *
 * Tiny random models produce nonsense, but always the same nonsense. Each
 * sentence is decoded alone once. Every batch size, order, thread count and way
 * of refilling lanes must then give results that are equal bit for bit. naive.h
 * computes the expected numbers. */
#include "base/mem.h"
#include "base/pool.h"
#include "naive.h"
#include "nn/decoder.h"
#include "search/batch.h"

enum { MAX_TEXTS = 40, MAX_SRC = 33 };

struct texts {
    int32_t ids[MAX_TEXTS][MAX_SRC];
    int n_ids[MAX_TEXTS];
    int n;
};

static void make_texts(struct texts *t, const struct tiny_net *m, int n)
{
    uint64_t s = 17;

    t->n = n;
    for (int i = 0; i < n; i++)
        t->n_ids[i] = tiny_source(m, &s, 1 + (int)(tiny_next(&s) % MAX_SRC),
                                  t->ids[i]);
}

/* Few random models ever produce EOS. With this seed some translations end. */
static struct tiny tiny_that_ends(void)
{
    struct tiny o = TINY_DEFAULT;

    o.seed = 18;
    return o;
}

static struct search_options options(int lanes, int beam)
{
    return (struct search_options){ .beam = beam, .nbest = beam > 1 ? 2 : 1,
        .lanes = lanes, .lenpen = 0.6, .max_len_a = 1.2, .max_len_b = 12,
        .early_stop = true, .max_source = MAX_SRC, .attention = true };
}

/* How jobs are added to a batch, and by how many threads they are decoded. */
struct way {
    int threads;
    bool backwards;
    int together;               /* jobs added at a time; 0: as many as fit */
};

static void add_some(struct batch *b, struct job **jobs, int n, int *at,
                     const struct way *w)
{
    struct job *some[MAX_TEXTS];
    int room = batch_count_idle_lanes(b), k = 0;
    struct err e;

    if (w->together && w->together < room) room = w->together;
    while (k < room && *at < n) {
        some[k++] = jobs[w->backwards ? n - 1 - *at : *at];
        ++*at;
    }
    if (k) CHECK_OK(batch_add(b, some, k, &e), &e);
}

static void run_jobs(struct batch *b, struct job **jobs, int n,
                     const struct way *w)
{
    int at = 0, done = 0;

    while (done < n) {
        add_some(b, jobs, n, &at, w);
        for (struct job *j = batch_step(b); j; j = j->next) done++;
    }
    CHECK_INT(batch_busy_lanes(b), 0);
    CHECK(batch_step(b) == NULL);
}

static void new_jobs(struct job **jobs, const struct texts *t,
                     const struct net *net, const struct search_options *o)
{
    struct err e;

    for (int i = 0; i < t->n; i++)
        CHECK_OK(job_new(&jobs[i], o, net, t->ids[i], t->n_ids[i], NULL, 0,
                         &e), &e);
}

static void free_jobs(struct job **jobs, int n)
{
    for (int i = 0; i < n; i++) job_free(jobs[i]);
}

/* Decode all of t in a new batch. */
static void decode(struct job **jobs, const struct texts *t,
                   const struct net *net, const struct search_options *o,
                   const struct way *w, struct mixer *mx)
{
    struct pool *pool;
    struct batch *b;
    struct err e;

    new_jobs(jobs, t, net, o);
    REQUIRE_OK(pool_new(&pool, w->threads, &e), &e);
    REQUIRE_OK(batch_new(&b, net, o, pool, mx, &e), &e);
    run_jobs(b, jobs, t->n, w);
    batch_free(b);
    pool_free(pool);
}

static bool same_hyp(const struct hypothesis *a, const struct hypothesis *b,
                     int n_src)
{
    size_t n = (size_t)a->n;

    return a->n == b->n && a->ended == b->ended &&
           !memcmp(a->tokens, b->tokens, n * sizeof *a->tokens) &&
           !memcmp(a->logprobs, b->logprobs, n * sizeof *a->logprobs) &&
           !memcmp(&a->score, &b->score, sizeof a->score) &&
           !memcmp(&a->logprob, &b->logprob, sizeof a->logprob) &&
           (!a->attention || !memcmp(a->attention, b->attention,
                                     n * (size_t)n_src * sizeof(float)));
}

static bool same_job(const struct job *a, const struct job *b)
{
    bool ok = a->n_hyps == b->n_hyps && a->n_hyps > 0 &&
              a->n_passes == b->n_passes;

    for (int i = 0; ok && i < a->n_hyps; i++)
        ok = same_hyp(&a->hyps[i], &b->hyps[i], a->n_src);
    return ok;
}

static int count_other(struct job **a, struct job **b, int n)
{
    int other = 0;

    for (int i = 0; i < n; i++) other += !same_job(a[i], b[i]);
    return other;
}

/* ---- results do not depend on the batch ------------------------------ */

/* One thread adds jobs in both orders, all together and one by one. Two threads
 * do only some of this, because threads that wait for each other are slow on a
 * busy machine. */
static const struct way ways[] = {
    { 2, false, 0 }, { 2, true, 1 }, { 1, false, 0 }, { 1, true, 0 },
    { 1, true, 1 }, { 1, false, 3 },
};

static void check_way(const struct net *net, const struct texts *t,
                      const struct search_options *o, const struct way *w,
                      struct job **want)
{
    struct job *got[MAX_TEXTS];
    int other;

    decode(got, t, net, o, w, NULL);
    other = count_other(want, got, t->n);
    if (other)
        test_fail(__FILE__, __LINE__, "batch %d, beam %d, %d threads%s, %d "
                  "added at a time: %d sentences differ", o->lanes, o->beam,
                  w->threads, w->backwards ? ", backwards" : "", w->together,
                  other);
    free_jobs(got, t->n);
}

static void check_same_bytes(const struct net *net, const struct texts *t,
                             struct search_options o, const int *lanes,
                             int n_lanes)
{
    static const struct way alone = { 1, false, 1 };
    struct job *want[MAX_TEXTS];

    o.lanes = 1;
    decode(want, t, net, &o, &alone, NULL);
    for (int i = 0; i < n_lanes; i++) {
        struct texts some = *t;

        o.lanes = lanes[i];
        if (lanes[i] == 1 && some.n > 8) some.n = 8;
        for (size_t k = 0; k < (lanes[i] == 1 ? 1 : COUNT(ways)); k++)
            check_way(net, &some, &o, &ways[k], want);
    }
    free_jobs(want, t->n);
}

static void check_type(enum dtype type, const char *act)
{
    static const int lanes[] = { 1, 7, 32 };
    struct tiny o = tiny_that_ends();
    struct tiny_net m;
    struct texts t;

    o.act = act;
    REQUIRE(tiny_net_open(&m, &o, type, NULL));
    make_texts(&t, &m, 34);
    for (int beam = 1; beam <= 4; beam += 3) {
        struct search_options so = options(1, beam);

        so.max_len_a = 0.2;
        so.max_len_b = 6;
        check_same_bytes(m.net, &t, so, lanes, 3);
    }
    tiny_net_close(&m);
}

TEST(int8_bytes_do_not_depend_on_the_batch) { check_type(DT_I8, "relu"); }
TEST(f32_bytes_do_not_depend_on_the_batch) { check_type(DT_F32, "gelu"); }
TEST(bf16_bytes_do_not_depend_on_the_batch) { check_type(DT_BF16, "silu"); }

/* The matrices of the shipped model are much wider than those of tiny
 * models. */
TEST(the_shipped_models_bytes_do_not_depend_on_the_batch)
{
    static const char *const lines[] = { "Guten Morgen!", "Ja.",
        "Das Haus, in dem ich wohne, ist alt.",
        "Die Sitzung wurde um drei Uhr geschlossen.", "Wer war das?",
        "Wir treffen uns am Montag vor dem Bahnhof." };
    static const int lanes[] = { 4 };
    struct search_options o = options(4, 4);
    struct weights *w;
    struct net *net;
    struct texts t = { .n = COUNT(lines) };
    const char *under = getenv("RUN");  /* set by scripts/check */
    struct err e;

    if (access("models/de-en.skmt", R_OK)) SKIP("models/de-en.skmt is missing");
    if (under && *under) SKIP("takes minutes under an emulator");
    REQUIRE_OK(weights_open(&w, "models/de-en.skmt", &e), &e);
    REQUIRE_OK(net_open(&net, w, NULL, &e), &e);
    for (int i = 0; i < t.n; i++) {
        struct pieces p = { 0 };

        CHECK_OK(subword_encode(w->subword, lines[i], strlen(lines[i]), &p,
                                &e), &e);
        for (size_t k = 0; k < p.n; k++) t.ids[i][k] = p.at[k].id;
        t.ids[i][p.n] = w->cfg.eos_id;
        t.n_ids[i] = (int)p.n + 1;
        pieces_release(&p);
    }
    o.max_len_a = 0.2;
    o.max_len_b = 4;
    check_same_bytes(net, &t, o, lanes, 1);
    net_close(net);
    weights_close(w);
}

/* ---- comparison with the plain transformer --------------------------- */

/* Compute the states, probabilities and attention of a hypothesis again, with
 * naive.h. */
static struct naive_pass read_again(const struct naive *m, const struct job *j,
                                    const struct hypothesis *h)
{
    return naive_run(m, j->src, j->n_src, h->tokens, h->n - 1);
}

static void check_logprobs(const struct naive *m, const struct job *j,
                           const struct hypothesis *h)
{
    struct naive_pass p = read_again(m, j, h);
    double sum = 0;

    for (int t = 0; t < h->n; t++) {
        CHECK_NEAR((double)h->logprobs[t],
                   p.logprob[t * m->o->vocab + h->tokens[t]], 1e-4);
        sum += (double)h->logprobs[t];
    }
    CHECK_NEAR(h->logprob, sum, 1e-9 * fabs(sum));
    CHECK_NEAR(h->score, sum / pow((5 + h->n) / 6.0, 0.6), 1e-9 * fabs(sum));
    naive_pass_release(&p);
}

/* Padding (0) and BOS (2) never occur. EOS (3) is only the last token, and
 * never the first. */
static void check_tokens(const struct hypothesis *h)
{
    for (int i = 0; i < h->n; i++) {
        CHECK(h->tokens[i] != 0 && h->tokens[i] != 2);
        CHECK(h->tokens[i] != 3 || (i == h->n - 1 && i > 0));
    }
    CHECK_INT(h->ended, h->tokens[h->n - 1] == 3);
}

static void check_attention(const struct naive *m, const struct job *j,
                            const struct hypothesis *h)
{
    struct naive_pass p = read_again(m, j, h);

    for (int t = 0; t < h->n; t++) {
        double sum = 0;

        for (int k = 0; k < j->n_src; k++) {
            double a = (double)h->attention[t * j->n_src + k];

            CHECK_NEAR(a, p.attention[t * j->n_src + k], 1e-4);
            sum += a;
        }
        CHECK_NEAR(sum, 1, 1e-5);
    }
    naive_pass_release(&p);
}

TEST(scores_and_attention_are_the_plain_transformers)
{
    static const struct way w = { 1, false, 0 };
    struct search_options o = options(3, 4);
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct naive nv;
    struct texts t;
    struct job *jobs[MAX_TEXTS];
    int ended = 0;

    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    REQUIRE(naive_open(&nv, &m));
    make_texts(&t, &m, 12);
    decode(jobs, &t, m.net, &o, &w, NULL);
    for (int i = 0; i < t.n; i++)
        for (int k = 0; k < jobs[i]->n_hyps; k++) {
            check_tokens(&jobs[i]->hyps[k]);
            check_logprobs(&nv, jobs[i], &jobs[i]->hyps[k]);
            check_attention(&nv, jobs[i], &jobs[i]->hyps[k]);
            ended += jobs[i]->hyps[k].ended;
        }
    CHECK(ended > 0 && ended < 2 * t.n);
    free_jobs(jobs, t.n);
    naive_close(&nv);
    tiny_net_close(&m);
}

/* Beam search with the plain transformer. It has no cache and computes all
 * tokens of a hypothesis again at each step. The search under test must find
 * the same translations. */
struct plain { int32_t id[64]; int n; double total, score; };

static int by_total(const void *a, const void *b)
{
    const struct plain *x = a, *y = b;

    return x->total < y->total ? 1 : x->total > y->total ? -1 : 0;
}

static int plain_candidates(const struct naive *m, const int32_t *src,
                            int n_src, const struct plain *live, int n_live,
                            struct plain *cand)
{
    int n = 0;

    for (int i = 0; i < n_live; i++) {
        struct naive_pass p = naive_run(m, src, n_src, live[i].id, live[i].n);
        const double *lp = p.logprob + live[i].n * m->o->vocab;

        for (int v = 0; v < m->o->vocab; v++) {
            if (v == 0 || v == 2 || (v == 3 && !live[i].n)) continue;
            cand[n] = live[i];
            cand[n].id[cand[n].n++] = v;
            cand[n++].total += log(exp(lp[v]) + 1e-9);
        }
        naive_pass_release(&p);
    }
    qsort(cand, (size_t)n, sizeof *cand, by_total);
    return n;
}

static struct plain plain_beam(const struct naive *m, const int32_t *src,
                               int n_src, int beam, int max_len)
{
    struct plain *cand = calloc((size_t)(beam * m->o->vocab), sizeof *cand);
    struct plain live[8] = { { .n = 0 } }, best = { .score = -INFINITY };
    int n_live = 1;

    for (int t = 1; t <= max_len; t++) {
        int n = plain_candidates(m, src, n_src, live, n_live, cand);

        n_live = 0;
        for (int i = 0; i < n && i < 2 * beam; i++) {
            struct plain *c = &cand[i];

            c->score = c->total / pow((5 + t) / 6.0, 0.6);
            if (c->id[t - 1] != 3 && n_live < beam) live[n_live++] = *c;
            if (c->id[t - 1] == 3 && c->score > best.score) best = *c;
        }
    }
    free(cand);
    return best.n ? best : live[0];
}

TEST(batches_find_what_a_plain_search_finds)
{
    static const struct way w = { 1, false, 0 };
    struct search_options o = options(4, 3);
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct naive nv;
    struct texts t;
    struct job *jobs[MAX_TEXTS];

    o.max_len_a = 0;
    o.max_len_b = 9;
    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    REQUIRE(naive_open(&nv, &m));
    make_texts(&t, &m, 6);
    decode(jobs, &t, m.net, &o, &w, NULL);
    for (int i = 0; i < t.n; i++) {
        struct plain p = plain_beam(&nv, t.ids[i], t.n_ids[i], 3, 9);
        const struct hypothesis *h = &jobs[i]->hyps[0];

        CHECK_INT(h->n, p.n);
        CHECK_MEM(h->tokens, p.id, (size_t)p.n * sizeof *p.id);
        CHECK_NEAR(h->logprob, p.total, 1e-3);
    }
    free_jobs(jobs, t.n);
    naive_close(&nv);
    tiny_net_close(&m);
}

/* ---- limits and prefixes --------------------------------------------- */

TEST(max_len_is_the_rule_and_the_models)
{
    struct search_options o = options(1, 1);
    struct tiny to = tiny_that_ends();
    struct tiny_net m;

    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    CHECK_INT(search_max_len(&o, m.net, 4), 16);        /* floor(4.8) + 12 */
    CHECK_INT(search_max_len(&o, m.net, 5), 18);
    o.max_len_b = 64;
    CHECK_INT(search_max_len(&o, m.net, 5), 64);        /* max_positions */
    tiny_net_close(&m);
}

static struct job *decode_prefix(const struct net *net,
                                 const struct search_options *o,
                                 const int32_t *prefix, int n)
{
    int32_t src[] = { 70, 71, 72, 3 };
    static const struct way w = { 1, false, 0 };
    struct job *j = NULL;
    struct batch *b;
    struct err e;

    CHECK_OK(job_new(&j, o, net, src, 4, prefix, n, &e), &e);
    if (CHECK_OK(batch_new(&b, net, o, NULL, NULL, &e), &e))
        run_jobs(b, &j, 1, &w);
    batch_free(b);
    return j;
}

TEST(a_prefix_is_kept)
{
    int32_t prefix[100];
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct naive nv;

    for (int i = 0; i < 100; i++) prefix[i] = 20 + i;
    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    REQUIRE(naive_open(&nv, &m));
    for (int beam = 1; beam <= 4; beam += 3)
        for (int type = 0; type < 2; type++) {
            struct search_options o = options(1, beam);
            static const int lengths[] = { 1, 5, 15, 16, 17, 100 };

            o.lenpen_type = (enum lenpen)type;
            for (size_t i = 0; i < COUNT(lengths); i++) {
                struct job *j = decode_prefix(m.net, &o, prefix, lengths[i]);
                int n = lengths[i] < 15 ? lengths[i] : 15;

                CHECK(j->n_hyps >= 1);
                CHECK_INT(j->n_prefix, n);      /* one token stays free */
                CHECK(j->hyps[0].n > n && j->hyps[0].n <= 16);
                CHECK_MEM(j->hyps[0].tokens, prefix,
                          (size_t)n * sizeof *prefix);
                check_tokens(&j->hyps[0]);
                if (type == LENPEN_GNMT) check_logprobs(&nv, j, &j->hyps[0]);
                job_free(j);
            }
        }
    naive_close(&nv);
    tiny_net_close(&m);
}

/* With the rules of fairseq, a translation that reaches the length limit gets
 * EOS there. */
TEST(fairseq_translations_always_end)
{
    static const struct way w = { 1, false, 0 };
    struct search_options o = options(4, 4);
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct texts t;
    struct job *jobs[MAX_TEXTS];

    o.lenpen_type = LENPEN_FAIRSEQ;
    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    make_texts(&t, &m, 10);
    decode(jobs, &t, m.net, &o, &w, NULL);
    for (int i = 0; i < t.n; i++) {
        CHECK(jobs[i]->hyps[0].ended);
        check_tokens(&jobs[i]->hyps[0]);
    }
    free_jobs(jobs, t.n);
    tiny_net_close(&m);
}

/* ---- mixers ---------------------------------------------------------- */

enum { MAX_ROWS = 256, MAX_SEEN = 60000, MAX_STATES = 16384, N_LIGHT = 5 };
enum mode { ALONE, FORCE, LIGHT };

/* A row of a pass: the row that it continues, the number of tokens before it,
 * and enough of its state to recognize it. */
struct seen { int lane, parent, depth; float state[4]; };

/* A mixer that records the rows that it gets. */
struct fake {
    struct mixer mx;
    enum mode mode;
    void *data[MAX_ROWS];       /* by lane: its sentence; NULL: none */
    int begins, steps, ends;
    int fail_at;                /* number of the begin that fails; 0: none */
    int began[MAX_ROWS];        /* by lane: n_seen at its begin */
    struct seen seen[MAX_SEEN]; /* all rows so far */
    int n_seen;
    int row_of[MAX_STATES];     /* by state: its latest row in seen */
    const struct naive *nv;     /* to check the translations */
    int32_t token[MAX_ROWS][N_LIGHT];
    float add[MAX_ROWS][N_LIGHT];
};

static enum status fake_begin(struct mixer *mx, int lane, void *mixer_data,
                              struct err *e)
{
    struct fake *f = (struct fake *)mx;

    if (++f->begins == f->fail_at)
        return err_set(e, ST_LIMIT, "the mixer refuses");
    CHECK(f->data[lane] == NULL && mixer_data != NULL);
    f->data[lane] = mixer_data;
    f->began[lane] = f->n_seen;
    return ST_OK;
}

static bool is_state(const struct seen *s, const double *want)
{
    bool same = true;

    for (int i = 0; i < 4; i++)
        same &= fabs((double)s->state[i] - want[i]) < 1e-3;
    return same;
}

/* Find the last row of the best translation and follow the parents back. The
 * rows must have the states of this translation. */
static void check_parents(const struct fake *f, int lane, const struct job *j)
{
    const struct hypothesis *h = &j->hyps[0];
    struct naive_pass p = read_again(f->nv, j, h);
    int d = f->nv->o->d, row = -1;

    for (int r = f->began[lane]; r < f->n_seen && row < 0; r++)
        if (f->seen[r].lane == lane && f->seen[r].depth == h->n - 1 &&
            is_state(&f->seen[r], p.hidden + (h->n - 1) * d))
            row = r;
    CHECK(row >= 0);
    for (int t = h->n - 1; t >= 0 && row >= 0; t--) {
        const struct seen *s = &f->seen[row];

        CHECK(s->lane == lane && is_state(s, p.hidden + t * d));
        row = s->parent;
    }
    CHECK_INT(row, -1);
    naive_pass_release(&p);
}

static void fake_end(struct mixer *mx, int lane)
{
    struct fake *f = (struct fake *)mx;

    if (CHECK(f->data[lane] != NULL) && f->nv)
        check_parents(f, lane, *(struct job **)f->data[lane]);
    f->data[lane] = NULL;
    f->ends++;
}

/* Record row r. Its parent must belong to the same lane, and must have come
 * earlier: in a pass before, or before it in this pass. */
static void remember(struct fake *f, const struct mixer_step *in, int r)
{
    int lane = in->lane[r], before = in->parent[r];
    struct seen *s = &f->seen[f->n_seen];

    CHECK(f->data[lane] != NULL);
    *s = (struct seen){ lane, -1, 0, { 0 } };
    if (before >= 0 && CHECK(before < MAX_STATES)) {
        s->parent = f->row_of[before];
        CHECK(s->parent >= f->began[lane]);
        CHECK_INT(f->seen[s->parent].lane, lane);
        s->depth = f->seen[s->parent].depth + 1;
    }
    memcpy(s->state, in->hidden + (size_t)r * in->ld_hidden, sizeof s->state);
    if (CHECK(in->state[r] >= 0 && in->state[r] < MAX_STATES))
        f->row_of[in->state[r]] = f->n_seen;
    if (CHECK(f->n_seen < MAX_SEEN - 1)) f->n_seen++;
}

static void check_distribution(const struct mixer_step *in, int r)
{
    const float *x = in->logits + (size_t)r * in->ld_logits;
    double sum = 0;

    for (int v = 0; v < in->vocab; v++)
        sum += exp((double)x[v] - (double)in->stats[r].max) /
               (double)in->stats[r].sum;
    CHECK_NEAR(sum, 1, 1e-5);
}

/* The token to which LIGHT adds 0.15: the best token of the row, or 21 if the
 * best is special or is 20. */
static int32_t preferred(int32_t best)
{
    return best == 0 || best == 2 || best == 3 || best == 20 ? 21 : best;
}

static int32_t best_of(const float *x, int n)
{
    int32_t best = 0;

    for (int v = 1; v < n; v++)
        if (x[v] > x[best]) best = v;
    return best;
}

/* FORCE gives probability 1 to the tokens 10, 11, 12 and EOS in turn; with
 * `brief`, EOS follows 10. LIGHT adds 0.1 to token 20, 0.15 to the preferred
 * token, and 0.2 each to EOS, padding and BOS. Search must never choose the
 * last two. */
static void answer(struct fake *f, int r, int depth, bool brief, int32_t best,
                   struct mix *out)
{
    static const int32_t forced[] = { 10, 11, 12, 3 };
    static const int32_t light[N_LIGHT] = { 20, 0, 21, 3, 2 };
    static const float add[N_LIGHT] = { 0.1f, 0.2f, 0.15f, 0.2f, 0.2f };

    if (f->mode == ALONE) return;
    out->token = f->token[r];
    out->add = f->add[r];
    if (f->mode == FORCE) {
        out->keep = 0;
        out->n = 1;
        f->token[r][0] = forced[depth < 3 && !(brief && depth) ? depth : 3];
        f->add[r][0] = 1;
    } else {
        out->keep = 0.15f;
        out->n = N_LIGHT;
        memcpy(f->token[r], light, sizeof light);
        memcpy(f->add[r], add, sizeof add);
        f->token[r][2] = preferred(best);
    }
}

/* Sentences of odd length are brief. */
static bool is_brief(const struct job *j) { return j->n_src % 2; }

static void fake_step(struct mixer *mx, const struct mixer_step *in,
                      struct mix *out)
{
    struct fake *f = (struct fake *)mx;

    REQUIRE(in->rows <= MAX_ROWS);
    for (int r = 0; r < in->rows; r++) {
        const float *x = in->logits + (size_t)r * in->ld_logits;
        const struct job *j = *(struct job **)f->data[in->lane[r]];

        CHECK(out[r].keep == 1 && out[r].n == 0);
        remember(f, in, r);
        check_distribution(in, r);
        answer(f, r, f->seen[f->n_seen - 1].depth, is_brief(j),
               best_of(x, in->vocab), &out[r]);
    }
    f->steps++;
}

static struct fake *fake_new(enum mode mode)
{
    struct fake *f = calloc(1, sizeof *f);

    f->mx = (struct mixer){ fake_begin, NULL, fake_step, NULL,
                              fake_end };
    f->mode = mode;
    return f;
}

/* The results of translating twelve sentences in five lanes with a mixer. */
struct mixed {
    struct tiny_net m;
    struct texts t;
    struct job *jobs[MAX_TEXTS];
    struct fake *f;
    struct naive nv;
};

static bool mixed_run(struct mixed *x, enum mode mode)
{
    struct search_options o = options(5, 4);
    struct tiny to = tiny_that_ends();
    static const struct way w = { 1, false, 0 };
    struct batch *b;
    struct err e;

    x->f = fake_new(mode);
    if (!tiny_net_open(&x->m, &to, DT_F32, NULL) ||
        !naive_open(&x->nv, &x->m))
        return false;
    x->f->nv = &x->nv;
    make_texts(&x->t, &x->m, 12);
    new_jobs(x->jobs, &x->t, x->m.net, &o);
    for (int i = 0; i < x->t.n; i++) x->jobs[i]->mixer_data = &x->jobs[i];
    if (!CHECK_OK(batch_new(&b, x->m.net, &o, NULL, &x->f->mx, &e), &e))
        return false;
    run_jobs(b, x->jobs, x->t.n, &w);
    batch_free(b);
    CHECK_INT(x->f->begins, x->t.n);
    CHECK_INT(x->f->ends, x->t.n);
    return true;
}

static void mixed_free(struct mixed *x)
{
    free_jobs(x->jobs, x->t.n);
    naive_close(&x->nv);
    tiny_net_close(&x->m);
    free(x->f);
}

TEST(a_mixer_that_does_nothing_changes_nothing)
{
    struct search_options o = options(5, 4);
    static const struct way w = { 1, false, 0 };
    struct job *want[MAX_TEXTS];
    struct mixed x;

    REQUIRE(mixed_run(&x, ALONE));
    decode(want, &x.t, x.m.net, &o, &w, NULL);
    CHECK_INT(count_other(want, x.jobs, x.t.n), 0);
    free_jobs(want, x.t.n);
    mixed_free(&x);
}

TEST(a_mixer_can_force_tokens)
{
    static const int32_t full[] = { 10, 11, 12, 3 }, brief[] = { 10, 3 };
    struct mixed x;

    REQUIRE(mixed_run(&x, FORCE));
    for (int i = 0; i < x.t.n; i++) {
        const struct hypothesis *h = &x.jobs[i]->hyps[0];
        bool b = is_brief(x.jobs[i]);

        CHECK_INT(h->n, b ? 2 : 4);
        CHECK_MEM(h->tokens, b ? brief : full, (size_t)h->n * sizeof *full);
        CHECK_NEAR(h->logprob, 0, 1e-7);
        /* Any other hypothesis has one token of probability 0, for which search
         * uses the minimum of 1e-9. */
        if (CHECK(x.jobs[i]->n_hyps == 2))
            CHECK_NEAR(x.jobs[i]->hyps[1].logprob, log(1e-9), 1e-4);
    }
    mixed_free(&x);
}

/* log(keep * p + add + 1e-9), where p comes from the plain transformer. */
static double mixed_log(const double *lp, int vocab, int32_t token)
{
    int32_t best = 0;
    double add;

    for (int v = 1; v < vocab; v++)
        if (lp[v] > lp[best]) best = v;
    add = token == 20 ? 0.1 : token == 3 ? 0.2
        : token == preferred(best) ? 0.15 : 0;
    return log(0.15 * exp(lp[token]) + add + 1e-9);
}

static int check_mixed(const struct naive *nv, const struct job *j,
                       const struct hypothesis *h)
{
    struct naive_pass p = read_again(nv, j, h);
    int vocab = nv->o->vocab, listed = 0;

    check_tokens(h);
    for (int t = 0; t < h->n; t++) {
        CHECK_NEAR((double)h->logprobs[t],
                   mixed_log(p.logprob + t * vocab, vocab, h->tokens[t]),
                   1e-4);
        listed += h->tokens[t] == 20 || h->tokens[t] == 3;
    }
    naive_pass_release(&p);
    return listed;
}

TEST(a_mixer_adds_to_probabilities)
{
    struct mixed x;
    int listed = 0;

    REQUIRE(mixed_run(&x, LIGHT));
    for (int i = 0; i < x.t.n; i++) {
        const struct hypothesis *h = x.jobs[i]->hyps;

        for (int k = 0; k < x.jobs[i]->n_hyps; k++)
            listed += check_mixed(&x.nv, x.jobs[i], &h[k]);
        /* A listed token that is also the best of the model must not become two
         * candidates. */
        if (x.jobs[i]->n_hyps == 2)
            CHECK(h[0].n != h[1].n ||
                  memcmp(h[0].tokens, h[1].tokens,
                         (size_t)h[0].n * sizeof *h[0].tokens));
    }
    CHECK(listed >= x.t.n);
    mixed_free(&x);
}

/* The third begin fails. The two jobs before it stay in the batch and can be
 * abandoned. */
TEST(a_mixer_may_refuse_a_sentence)
{
    struct search_options o = options(5, 2);
    struct tiny to = tiny_that_ends();
    struct fake *f = fake_new(ALONE);
    struct tiny_net m;
    struct texts t;
    struct job *jobs[MAX_TEXTS], *given_up;
    struct batch *b;
    struct err e;

    REQUIRE(tiny_net_open(&m, &to, DT_F32, NULL));
    make_texts(&t, &m, 5);
    new_jobs(jobs, &t, m.net, &o);
    for (int i = 0; i < t.n; i++) jobs[i]->mixer_data = &jobs[i];
    REQUIRE_OK(batch_new(&b, m.net, &o, NULL, &f->mx, &e), &e);
    f->fail_at = 3;
    CHECK_INT(batch_add(b, jobs, 5, &e), ST_LIMIT);
    CHECK_STR(e.msg, "the mixer refuses");
    CHECK_INT(batch_busy_lanes(b), 2);
    given_up = batch_abandon(b);
    CHECK(given_up && given_up->next && !given_up->next->next);
    CHECK_INT(f->ends, 2);
    CHECK_INT(batch_busy_lanes(b), 0);
    batch_free(b);
    free_jobs(jobs, t.n);
    tiny_net_close(&m);
    free(f);
}

/* ---- abandoned jobs -------------------------------------------------- */

/* Abandon jobs many times after a few steps. If slots of the cache were lost,
 * it would run out of them. After that, the batch must work like a new one. */
TEST(giving_up_leaves_nothing_behind)
{
    struct search_options o = options(4, 4);
    static const struct way w = { 1, false, 0 };
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct texts t;
    struct job *want[MAX_TEXTS], *got[MAX_TEXTS];
    struct batch *b;
    struct err e;
    struct batch_counts c;

    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    make_texts(&t, &m, 8);
    decode(want, &t, m.net, &o, &w, NULL);
    new_jobs(got, &t, m.net, &o);
    REQUIRE_OK(batch_new(&b, m.net, &o, NULL, NULL, &e), &e);
    for (int turn = 0; turn < 60; turn++) {
        int n = 0;

        CHECK_OK(batch_add(b, got, 4, &e), &e);
        for (int i = 0; i < turn % 7; i++)
            for (struct job *j = batch_step(b); j; j = j->next) n++;
        for (struct job *j = batch_abandon(b); j; j = j->next) n++;
        CHECK_INT(n, 4);
        CHECK_INT(batch_count_idle_lanes(b), 4);
    }
    CHECK(batch_abandon(b) == NULL);
    run_jobs(b, got, t.n, &w);
    CHECK_INT(count_other(want, got, t.n), 0);
    c = batch_counts(b);
    CHECK(c.passes > 60 && c.rows > c.passes && c.rows <= 16 * c.passes);
    CHECK(c.steps > c.passes && !c.drafted && !c.drafts_used);
    batch_free(b);
    free_jobs(got, t.n);
    free_jobs(want, t.n);
    tiny_net_close(&m);
}

/* ---- drafts ------------------------------------------------------------ */

/* A mixer that only guesses. It knows the translation that is found without it
 * (job.mixer_data) and guesses its tokens, except for every `lies`-th token,
 * which it guesses wrong. */
struct prophet {
    struct mixer mx;
    const struct job *of[MAX_ROWS];     /* by lane */
    int depth[MAX_STATES];
    int lies;                   /* 0: never */
    int told;                   /* explained tokens of best translations */
    int32_t wrong[200][64];     /* by position: guesses for what follows */
};

static enum status prophet_begin(struct mixer *mx, int lane, void *mixer_data,
                                 struct err *e)
{
    (void)e;
    ((struct prophet *)mx)->of[lane] = mixer_data;
    return ST_OK;
}

/* Guess the tokens from position `at` on. */
static struct guess prophecy(struct prophet *p, int lane, int at)
{
    const struct hypothesis *h = &p->of[lane]->hyps[0];
    struct guess g = { .likely = 0.9f };

    if (at < h->n) g.token = h->tokens[at];
    if (at + 1 >= h->n) return g;
    g.n = h->n - at - 1 < 64 ? h->n - at - 1 : 64;
    for (int i = 0; i < g.n; i++) {
        p->wrong[at][i] = h->tokens[at + 1 + i];
        if (p->lies && (at + i) % p->lies == 0) p->wrong[at][i] = 7;
    }
    g.ahead = p->wrong[at];
    return g;
}

static void prophet_first(struct mixer *mx, int lane, struct guess *out)
{
    *out = prophecy((struct prophet *)mx, lane, -1);
}

static void prophet_step(struct mixer *mx, const struct mixer_step *in,
                         struct mix *out)
{
    struct prophet *p = (struct prophet *)mx;

    for (int r = 0; r < in->rows; r++) {
        int depth = in->parent[r] < 0 ? 0 : p->depth[in->parent[r]] + 1;

        p->depth[in->state[r]] = depth;
        out[r].n_guesses = 1;
        out[r].guesses[0] = prophecy(p, in->lane[r], depth);
    }
}

static void prophet_tell(struct mixer *mx, int lane,
                         const struct mixer_reading *in)
{
    struct prophet *p = (struct prophet *)mx;

    (void)lane;
    CHECK(in->hidden[(size_t)(in->n - 1) * in->ld_hidden] != 0);
    CHECK(in->tokens[in->from + in->n - 1] >= 0);
    if (in->hyp == 0) p->told += in->n;
}

/* Translate all of t with drafts. The results must be those of want. */
static struct batch_counts check_drafts(const struct tiny_net *m,
                                        const struct texts *t,
                                        struct job **want,
                                        struct search_options o, int lies)
{
    static const struct way w = { 1, false, 0 };
    struct prophet *p = calloc(1, sizeof *p);
    struct job *got[MAX_TEXTS];
    struct batch_counts c;
    struct batch *b;
    int tokens = 0;
    struct err e;

    p->mx = (struct mixer){ prophet_begin, prophet_first, prophet_step,
                            prophet_tell, NULL };
    p->lies = lies;
    o.draft = 8;
    o.explain = true;
    new_jobs(got, t, m->net, &o);
    for (int i = 0; i < t->n; i++) got[i]->mixer_data = want[i];
    CHECK_OK(batch_new(&b, m->net, &o, NULL, &p->mx, &e), &e);
    run_jobs(b, got, t->n, &w);
    for (int i = 0; i < t->n; i++) {
        CHECK_INT(got[i]->n_hyps, want[i]->n_hyps);
        for (int k = 0; k < want[i]->n_hyps; k++)
            CHECK(same_hyp(&got[i]->hyps[k], &want[i]->hyps[k],
                           want[i]->n_src));
        CHECK(got[i]->n_passes <= want[i]->n_passes);
        tokens += want[i]->hyps[0].n;
    }
    CHECK_INT(p->told, tokens);
    c = batch_counts(b);
    CHECK(c.drafts_used <= c.drafted && c.drafted < c.rows);
    batch_free(b);
    free_jobs(got, t->n);
    free(p);
    return c;
}

TEST(drafts_change_nothing_but_the_passes)
{
    static const int lanes[] = { 1, 5 }, beams[] = { 1, 2, 4 };
    static const double prunes[] = { 0, 0.5, 3 };
    static const struct way w = { 1, false, 0 };
    struct tiny to = tiny_that_ends();
    struct job *want[MAX_TEXTS];
    struct tiny_net m;
    struct texts t;

    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    make_texts(&t, &m, 10);
    for (size_t c = 0; c < 3 * 3 * 2; c++) {
        struct search_options o = options(lanes[c % 2], beams[c / 2 % 3]);
        struct batch_counts right, wrong, some;

        o.attention = false;
        o.prune = o.prune_steered = prunes[c / 6];
        decode(want, &t, m.net, &o, &w, NULL);
        right = check_drafts(&m, &t, want, o, 0);
        some = check_drafts(&m, &t, want, o, 3);
        wrong = check_drafts(&m, &t, want, o, 1);
        CHECK_INT(right.steps, wrong.steps);
        CHECK(right.drafts_used > 0 && some.drafts_used > 0);
        if (o.lanes == 1 && o.beam == 1) {
            /* Greedy search reaches one state per step. Each of them is a row,
             * drafted or not. */
            CHECK(right.passes * 3 < right.steps);
            CHECK(some.passes < some.steps);
            CHECK_INT(wrong.drafts_used, 0);
            CHECK_INT(wrong.passes, wrong.steps);
            CHECK_INT(right.rows - right.drafted + right.drafts_used,
                      right.steps);
        }
        free_jobs(want, t.n);
    }
    tiny_net_close(&m);
}

/* The number of cache slots does not fit into 32 bits. The error must come
 * before any memory is allocated. */
TEST(sizes_whose_product_does_not_fit_are_refused)
{
    struct search_options o = options(1 << 20, 64);
    struct tiny to = TINY_DEFAULT;
    struct tiny_net m;
    struct batch *b = (struct batch *)(void *)&o;
    struct err e;

    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    REQUIRE((double)o.lanes * o.beam *
            search_max_len(&o, m.net, o.max_source) > INT32_MAX);
    CHECK_INT(batch_new(&b, m.net, &o, NULL, NULL, &e), ST_LIMIT);
    CHECK(b == NULL && strstr(e.msg, "too much memory together"));
    tiny_net_close(&m);
}

static int count_ended(struct job **jobs, int n)
{
    int ended = 0;

    for (int i = 0; i < n; i++) ended += jobs[i]->hyps[0].ended;
    return ended;
}

/* ---- rows of one pass ------------------------------------------------ */

/* Two hypotheses of one sentence have three and four tokens. Their last tokens,
 * at positions 2 and 3, must give the same states in one pass as in two. */
TEST(rows_of_two_paths_keep_their_own_tokens)
{
    enum { LEN = 4 };
    static const int32_t tokens[2][LEN] = { { 0, 7, 8, 9 }, { 0, 10, 11, 12 } };
    struct tiny o = TINY_DEFAULT;
    struct decoder_pass p = { 0 };
    struct workspace ws;
    struct kvcache cache;
    struct crosskv mem;
    struct tiny_net m;
    int32_t src[16], path[2][LEN];
    float hidden[2 * LEN * PANEL], want[2][PANEL];
    struct decoder_row rows[2];
    uint64_t seed = 3;
    struct err e;
    int n;

    REQUIRE(tiny_net_open(&m, &o, DT_F32, NULL));
    REQUIRE(m.net->d <= PANEL);
    n = tiny_source(&m, &seed, 5, src);
    REQUIRE_OK(workspace_init(&ws, m.net, NULL, 16, 16, &e), &e);
    REQUIRE_OK(kvcache_init(&cache, 16, m.w->cfg.decoder_layers, m.net->d,
                            &e), &e);
    REQUIRE_OK(crosskv_init(&mem, m.net, n, &e), &e);
    encoder_run(&ws, &(struct source){ src, n }, 1, NULL, NULL);
    crosskv_fill(&mem, &ws, ws.x, n);
    p.hidden = hidden;
    for (int h = 0; h < 2; h++) {       /* one row per pass */
        for (int t = 0; t < 3 + h; t++) {
            path[h][t] = kvcache_take(&cache, t ? path[h][t - 1] : -1);
            rows[0] = (struct decoder_row){ &mem, t ? tokens[h][t]
                                            : m.w->cfg.start_id, t, path[h] };
            p.rows = rows;
            p.n = 1;
            decoder_run(&ws, &cache, &p);
        }
        memcpy(want[h], hidden, sizeof(float) * (size_t)m.net->d);
    }
    rows[0] = (struct decoder_row){ &mem, tokens[0][2], 2, path[0] };
    rows[1] = (struct decoder_row){ &mem, tokens[1][3], 3, path[1] };
    p.n = 2;
    decoder_run(&ws, &cache, &p);
    for (int h = 0; h < 2; h++)
        CHECK_MEM(hidden + (size_t)h * ws.ld, want[h],
                  sizeof(float) * (size_t)m.net->d);
    crosskv_release(&mem);
    kvcache_release(&cache);
    workspace_release(&ws);
    tiny_net_close(&m);
}

/* The rows of two complete translations are computed with and without a cache,
 * by one thread and by three. All states must be equal bit for bit. */
TEST(a_translation_known_whole_needs_no_cache)
{
    enum { A = 9, B = 14, N = A + B };
    struct tiny o = TINY_DEFAULT;
    struct pool *pool;
    struct kvcache cache;
    struct crosskv mem[2];
    struct tiny_net m;
    float hidden[N * PANEL], want[N * PANEL];
    int32_t src[16], path[N];
    struct decoder_row rows[N];
    uint64_t seed = 5;
    struct err e;

    REQUIRE(tiny_net_open(&m, &o, DT_F32, NULL));
    REQUIRE(m.net->d <= PANEL);
    REQUIRE_OK(pool_new(&pool, 3, &e), &e);
    for (int way = 0; way < 4; way++) {   /* bit 0: no cache; 1: pool */
        struct workspace ws;
        struct decoder_pass p = { .rows = rows, .n = N, .hidden = hidden };
        int at = 0;

        REQUIRE_OK(workspace_init(&ws, m.net, way & 2 ? pool : NULL, 32, 32,
                                  &e), &e);
        REQUIRE_OK(kvcache_init(&cache, N, m.w->cfg.decoder_layers, m.net->d,
                                &e), &e);
        for (int i = 0; i < 2; i++) {
            uint64_t own = seed + (uint64_t)i;
            int n = tiny_source(&m, &own, 5 + i, src);

            REQUIRE_OK(crosskv_init(&mem[i], m.net, n, &e), &e);
            encoder_run(&ws, &(struct source){ src, n }, 1, NULL, NULL);
            crosskv_fill(&mem[i], &ws, ws.x, n);
            for (int t = 0; t < (i ? B : A); t++, at++) {
                path[at] = kvcache_take(&cache, t ? path[at - 1] : -1);
                rows[at] = (struct decoder_row){ &mem[i], t ? 6 + t
                    : m.w->cfg.start_id, t, way & 1 ? NULL : path + at - t };
            }
        }
        decoder_run(&ws, way & 1 ? NULL : &cache, &p);
        if (!way) memcpy(want, hidden, sizeof want);
        for (int i = 0; i < N; i++)
            CHECK_MEM(hidden + (size_t)i * ws.ld, want + (size_t)i * ws.ld,
                      sizeof(float) * (size_t)m.net->d);
        for (int i = 0; i < 2; i++) crosskv_release(&mem[i]);
        kvcache_release(&cache);
        workspace_release(&ws);
    }
    pool_free(pool);
    tiny_net_close(&m);
}

/* The states of a source are quantized once for all decoder layers. The keys
 * and values must be the same as if each layer quantized them again. */
TEST(every_layer_reads_the_same_states)
{
    static const enum dtype types[] = { DT_I8, DT_F32, DT_BF16 };
    struct tiny o = TINY_DEFAULT;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct workspace ws;
        struct crosskv mem;
        struct tiny_net m;
        float *states, *want;
        int32_t src[16];
        uint64_t seed = 8;
        struct err e;
        int n;

        REQUIRE(tiny_net_open(&m, &o, types[i], NULL));
        n = tiny_source(&m, &seed, 9, src);
        REQUIRE_OK(workspace_init(&ws, m.net, NULL, 16, 16, &e), &e);
        REQUIRE_OK(crosskv_init(&mem, m.net, n, &e), &e);
        encoder_run(&ws, &(struct source){ src, n }, 1, NULL, NULL);
        states = mem_alloc((size_t)n * ws.ld, sizeof *states);
        want = mem_alloc((size_t)n * ws.ld_qkv, sizeof *want);
        REQUIRE(states && want);
        memcpy(states, ws.x, (size_t)n * ws.ld * sizeof *states);
        crosskv_fill(&mem, &ws, ws.x, n);
        for (int l = 0; l < m.w->cfg.decoder_layers; l++) {
            size_t ld = mem.layer_ld / (size_t)n;
            const float *got = mem.kv + (size_t)l * mem.layer_ld;

            net_linear(&ws, &m.w->dec[l].cross_kv, states, ws.ld, n, want,
                       ws.ld_qkv, ACT_NONE, 0);
            for (int r = 0; r < n; r++)
                CHECK_MEM(got + (size_t)r * ld, want + (size_t)r * ws.ld_qkv,
                          2 * (size_t)m.net->d * sizeof *want);
        }
        mem_free(states);
        mem_free(want);
        crosskv_release(&mem);
        workspace_release(&ws);
        tiny_net_close(&m);
    }
}

/* Some models use EOS as padding. Search forbids the padding token, but must
 * allow EOS. */
TEST(a_model_that_pads_with_its_end_can_end)
{
    struct search_options o = options(4, 4);
    static const struct way w = { 1, false, 0 };
    struct tiny to = tiny_that_ends();
    struct tiny_net m;
    struct texts t;
    struct job *jobs[MAX_TEXTS];

    REQUIRE(tiny_net_open(&m, &to, DT_I8, NULL));
    m.w->cfg.pad_id = m.w->cfg.eos_id;
    make_texts(&t, &m, MAX_TEXTS);
    decode(jobs, &t, m.net, &o, &w, NULL);
    CHECK(count_ended(jobs, t.n) > 0);
    free_jobs(jobs, t.n);
    tiny_net_close(&m);
}
