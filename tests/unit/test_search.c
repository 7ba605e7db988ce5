/* test_search.c - beam search without a network.
 *
 * An artificial language gives every prefix a distribution of its own. The beam
 * is compared with a simple search that keeps and sorts whole lists and follows
 * method 0.4 (or the rules of fairseq) literally. */
#include "nn/kvcache.h"
#include "nn/topk.h"
#include "search/beam.h"
#include "tensor/tensor.h"
#include "test.h"
#include "tiny_net.h"            /* for random numbers */

/* ---- topk ------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    const struct token_logit *x = a, *y = b;

    if (x->logit != y->logit) return x->logit < y->logit ? 1 : -1;
    return x->token - y->token;
}

static void check_topk(const float *x, int n, int k)
{
    float block_max[32];
    struct token_logit got[PROJECT_BEST], want[1024];
    int blocks = (n + PANEL - 1) / PANEL, most = k < n ? k : n;

    for (int b = 0; b < blocks; b++) {
        block_max[b] = -INFINITY;
        for (int i = b * PANEL; i < n && i < (b + 1) * PANEL; i++)
            block_max[b] = fmaxf(block_max[b], x[i]);
    }
    for (int i = 0; i < n; i++) want[i] = (struct token_logit){ x[i], i };
    qsort(want, (size_t)n, sizeof *want, by_value);
    CHECK_INT(topk(x, n, block_max, k, got), most);
    for (int i = 0; i < most; i++)
        if (got[i].token != want[i].token || got[i].logit != want[i].logit)
            test_fail(__FILE__, __LINE__, "n %d, k %d: entry %d is %d (%g), "
                      "want %d (%g)", n, k, i, got[i].token,
                      (double)got[i].logit, want[i].token,
                      (double)want[i].logit);
}

/* Fill x with random values, of which `levels` are different. A small number
 * gives many ties. */
static void fill(float *x, int n, int levels, uint64_t *s)
{
    for (int i = 0; i < n; i++) {
        x[i] = (float)(tiny_next(s) % (uint64_t)levels) - 3;
        if (tiny_next(s) % 50 == 0) x[i] = -INFINITY;
    }
}

TEST(topk_is_the_head_of_the_sorted_row)
{
    static const int sizes[] = { 1, 2, 5, 63, 64, 65, 127, 128, 129, 310,
                                 1000 };
    static const int ks[] = { 1, 2, 5, 8, 11, 64, 131, PROJECT_BEST };
    static const int levels[] = { 1, 2, 7, 100, 1000000 };
    uint64_t s = 5;
    float x[1000];

    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < COUNT(ks); k++)
            for (size_t l = 0; l < COUNT(levels); l++)
                for (int turn = 0; turn < 5; turn++) {
                    fill(x, sizes[i], levels[l], &s);
                    check_topk(x, sizes[i], ks[k]);
                }
}

/* The largest values are at the first and last positions of runs, or all in one
 * run. */
TEST(topk_looks_at_the_borders_of_runs)
{
    float x[256];

    for (int i = 0; i < 256; i++) x[i] = -(float)(i % 64) - 100;
    x[63] = x[64] = x[127] = x[128] = x[255] = 1;
    check_topk(x, 256, 4);
    check_topk(x, 256, 6);
    for (int i = 0; i < 256; i++) x[i] = i / 64 == 2 ? 1 : 0;
    check_topk(x, 256, 8);
}

/* ---- penalty --------------------------------------------------------- */

TEST(penalty_is_the_published_one)
{
    CHECK_NEAR(penalty(LENPEN_GNMT, 0.6, 1), 1.0, 1e-12);
    CHECK_NEAR(penalty(LENPEN_GNMT, 0.6, 10), 1.732862, 1e-6);
    CHECK_NEAR(penalty(LENPEN_GNMT, 0.6, 40), 3.349938, 1e-6);
    CHECK_NEAR(penalty(LENPEN_FAIRSEQ, 0.6, 40), 9.146101, 1e-6);
    CHECK_NEAR(penalty(LENPEN_FAIRSEQ, 1, 7), 7, 1e-12);
    CHECK_NEAR(penalty(LENPEN_GNMT, 0, 40), 1, 1e-12);
    CHECK_NEAR(penalty(LENPEN_FAIRSEQ, 0, 40), 1, 1e-12);
}

/* ---- an artificial language ------------------------------------------ */

enum { MAX_VOCAB = 12, MAX_LEN = 24, MAX_BEAM = 6 };

struct language {
    uint64_t seed;
    int vocab;                  /* EOS is token 0 */
    double end;                 /* added to the score of EOS */
    double sharp;               /* spread of the scores */
    int given;                  /* tokens before each text */
    double reward;              /* the largest one of a token; 0: none */
    double claimed;             /* what the beam is told */
};

struct text { int32_t id[MAX_LEN]; float lp[MAX_LEN]; int n; };

/* The log-probabilities of the tokens after t. EOS cannot be the first
 * token. */
static void row_of(const struct language *g, const struct text *t, float *lp)
{
    uint64_t s = g->seed;
    double x[MAX_VOCAB], sum = 0;

    for (int i = 0; i < t->n; i++)
        s = s * 31 + tiny_next(&(uint64_t){ s ^ (uint64_t)t->id[i] });
    for (int v = 0; v < g->vocab; v++) {
        x[v] = g->sharp * (double)tiny_random(&s) + (v ? 0 : g->end);
        sum += exp(x[v]);
    }
    for (int v = 0; v < g->vocab; v++) lp[v] = (float)(x[v] - log(sum));
    if (t->n == 0) lp[0] = -INFINITY;
}

static struct text with(const struct text *t, int32_t id, float lp)
{
    struct text u = *t;

    u.id[u.n] = id;
    u.lp[u.n++] = lp;
    return u;
}

/* ---- a simple search, by the definition ------------------------------ */

struct entry { struct text t; double total, score; };

struct answer {
    struct entry best[MAX_BEAM];
    int n, steps;
    bool ended;                 /* false: best[0] has no EOS */
};

struct book {
    const struct language *g;
    const struct search_options *o;
    int max_len;
    struct entry alive[MAX_BEAM], done[MAX_BEAM + 1];
    struct entry cand[MAX_BEAM * MAX_VOCAB];
    int n_alive, n_done, n_cand, t;
};

static int by_total(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->total < y->total ? 1 : x->total > y->total ? -1 : 0;
}

static double book_score(const struct book *k, double total, int n)
{
    double a = k->o->lenpen;

    n += k->g->given;
    return total / (k->o->lenpen_type == LENPEN_GNMT ? pow((5 + n) / 6.0, a)
                                                     : pow(n, a));
}

static void book_candidates(struct book *k)
{
    bool last = k->o->lenpen_type == LENPEN_FAIRSEQ && k->t + 1 == k->max_len;

    k->n_cand = 0;
    for (int i = 0; i < k->n_alive; i++) {
        float lp[MAX_VOCAB];

        row_of(k->g, &k->alive[i].t, lp);
        for (int v = 0; v < (last ? 1 : k->g->vocab); v++)
            if (lp[v] > -INFINITY)
                k->cand[k->n_cand++] = (struct entry){
                    with(&k->alive[i].t, v, lp[v]),
                    k->alive[i].total + (double)lp[v], 0 };
    }
    qsort(k->cand, (size_t)k->n_cand, sizeof *k->cand, by_total);
}

/* Add a finished hypothesis. GNMT keeps the best B of them, fairseq the first
 * B. */
static void book_finish(struct book *k, const struct entry *c)
{
    int b = k->o->beam, i;
    struct entry e = *c;

    e.score = book_score(k, e.total, e.t.n);
    if (k->o->lenpen_type == LENPEN_FAIRSEQ && k->n_done == b) return;
    for (i = k->n_done; i > 0 && k->done[i - 1].score < e.score; i--)
        k->done[i] = k->done[i - 1];
    k->done[i] = e;
    if (++k->n_done > b) k->n_done = b;
}

static bool book_behind(const struct book *k, double total, double best)
{
    return k->o->prune > 0 && best - total > k->o->prune;
}

static void book_step(struct book *k)
{
    int b = k->o->beam, top = b == 1 ? 1 : 2 * b, n = 0;

    book_candidates(k);
    k->t++;
    for (int i = 0; i < top && i < k->n_cand; i++) {
        bool end = k->cand[i].t.id[k->t - 1] == 0;

        if (!end && n < b) k->alive[n++] = k->cand[i];
        if (end && (k->o->lenpen_type == LENPEN_GNMT || i < b) &&
            !book_behind(k, k->cand[i].total,
                         k->cand[0].total - 2.5 * k->o->prune))
            book_finish(k, &k->cand[i]);
    }
    k->n_alive = n;
    for (n = 0; n < k->n_alive; n++)
        if (book_behind(k, k->alive[n].total, k->alive[0].total)) break;
    k->n_alive = n;
}

/* Whether the search is over. If `bound` is false, GNMT search continues to the
 * length limit even when no live hypothesis can win. */
static bool book_stops(const struct book *k, bool bound)
{
    int b = k->o->beam;

    if (!k->n_alive || k->t == k->max_len) return true;
    if (b == 1) return k->n_done > 0;
    if (k->o->lenpen_type == LENPEN_FAIRSEQ) return k->n_done == b;
    return bound && k->n_done == b && k->done[b - 1].score >
           book_score(k, k->alive[0].total, k->max_len);
}

static struct answer by_the_book(const struct language *g,
                                 const struct search_options *o, int max_len,
                                 bool bound)
{
    static struct book k;
    struct answer a;

    memset(&k, 0, sizeof k);
    memset(&a, 0, sizeof a);
    k.g = g;
    k.o = o;
    k.max_len = max_len;
    k.n_alive = 1;
    do book_step(&k);
    while (!book_stops(&k, bound));
    a.steps = k.t;
    a.ended = k.n_done > 0;
    a.n = k.n_done < o->nbest ? k.n_done : o->nbest;
    for (int i = 0; i < a.n; i++) a.best[i] = k.done[i];
    if (!a.n && k.n_alive) {
        a.best[a.n++] = k.alive[0];
        a.best[0].score = book_score(&k, k.alive[0].total, k.t);
    }
    return a;
}

/* ---- the beam under test --------------------------------------------- */

/* The reward of a token, which depends on the text before it. */
static float reward_of(const struct language *g, const struct text *t, int v)
{
    int last = t->n ? t->id[t->n - 1] : 1;

    return v ? (float)(g->reward * ((v * 5 + last * 3 + t->n) % 4) / 3) : 0;
}

/* Offer the tokens of one row to the beam, best first, until it takes no
 * more. */
static void offer_row(struct beam *b, int from, const struct text *t,
                      const struct language *g)
{
    float lp[MAX_VOCAB];
    bool given[MAX_VOCAB] = { false };

    row_of(g, t, lp);
    if (b->o->lenpen_type == LENPEN_FAIRSEQ && b->t + 1 == b->max_len) {
        beam_offer(b, from, 0, lp[0]);
        return;
    }
    for (int k = 0; k < beam_width(b) && k < g->vocab; k++) {
        int best = -1;

        for (int v = 0; v < g->vocab; v++)
            if (!given[v] &&
                (best < 0 || lp[v] + reward_of(g, t, v) >
                             lp[best] + reward_of(g, t, best)))
                best = v;
        given[best] = true;
        if (lp[best] == -INFINITY) return;
        if (!beam_offer_rewarded(b, from, best, lp[best],
                                 reward_of(g, t, best)))
            return;
    }
}

/* Make a job with room for the results of the beam. */
static struct job *job_for(const struct search_options *o)
{
    struct job *j = calloc(1, sizeof *j);

    j->hyps = calloc((size_t)o->nbest, sizeof *j->hyps);
    for (int i = 0; i < o->nbest; i++) {
        j->hyps[i].tokens = calloc(MAX_LEN, sizeof(int32_t));
        j->hyps[i].logprobs = calloc(MAX_LEN, sizeof(float));
    }
    return j;
}

static void job_drop(struct job *j, const struct search_options *o)
{
    for (int i = 0; i < o->nbest; i++) {
        free(j->hyps[i].tokens);
        free(j->hyps[i].logprobs);
    }
    free(j->hyps);
    free(j);
}

static void read_job(const struct job *j, struct answer *a)
{
    a->n = j->n_hyps;
    a->ended = j->n_hyps && j->hyps[0].ended;
    for (int i = 0; i < j->n_hyps; i++) {
        const struct hypothesis *h = &j->hyps[i];
        struct entry *e = &a->best[i];

        e->t.n = h->n;
        memcpy(e->t.id, h->tokens, (size_t)h->n * sizeof *h->tokens);
        memcpy(e->t.lp, h->logprobs, (size_t)h->n * sizeof *h->logprobs);
        e->total = h->logprob;
        e->score = h->score;
    }
}

/* Update the texts of the live hypotheses after a step of the beam. */
static void follow(const struct beam *b, struct text *live,
                   const struct language *g)
{
    struct text before[MAX_BEAM];
    float lp[MAX_VOCAB];

    memcpy(before, live, sizeof before);
    for (int i = 0; i < b->n_live; i++) {
        int32_t id = beam_token(b, i);

        row_of(g, &before[b->live[i].from], lp);
        live[i] = with(&before[b->live[i].from], id, lp[id]);
    }
}

/* Search with a beam that may have served other searches before. */
static struct answer by_this_beam(struct beam *b, const struct language *g,
                                  const struct search_options *o, int max_len)
{
    struct text live[MAX_BEAM];
    struct answer a;
    struct job *j = job_for(o);
    bool decided = false;

    memset(&a, 0, sizeof a);
    memset(live, 0, sizeof live);
    b->given = g->given;
    beam_begin(b, o, max_len);
    b->most_reward = g->claimed;
    for (; !decided; a.steps++) {
        for (int i = 0; i < b->n_live; i++) offer_row(b, i, &live[i], g);
        decided = beam_advance(b);
        follow(b, live, g);
    }
    beam_results(b, j);
    read_job(j, &a);
    job_drop(j, o);
    return a;
}

static struct answer by_the_beam(const struct language *g,
                                 const struct search_options *o, int max_len)
{
    struct answer a;
    struct beam b;
    struct err e;

    CHECK_OK(beam_init(&b, o->beam, max_len, 0, &e), &e);
    a = by_this_beam(&b, g, o, max_len);
    beam_release(&b);
    return a;
}

/* Whether two answers are equal. Tokens and log-probabilities must be equal bit
 * for bit. */
static bool same(const struct answer *x, const struct answer *y)
{
    bool ok = x->n == y->n && x->ended == y->ended;

    for (int i = 0; ok && i < x->n; i++) {
        const struct entry *p = &x->best[i], *q = &y->best[i];
        size_t n = (size_t)p->t.n;

        ok = p->t.n == q->t.n && p->total == q->total &&
             fabs(p->score - q->score) < 1e-12 &&
             !memcmp(p->t.id, q->t.id, n * sizeof *p->t.id) &&
             !memcmp(p->t.lp, q->t.lp, n * sizeof *p->t.lp);
    }
    return ok;
}

/* Make the language and the options of case i. Returns the length limit. */
static int make_case(uint64_t i, struct language *g, struct search_options *o,
                     enum lenpen type)
{
    static const double ends[] = { -6, -3, -1, 0, 1, 3 };
    static const double alphas[] = { 0, 0.3, 0.6, 1, 2 };
    uint64_t s = i * 977 + 13;

    *g = (struct language){ .seed = tiny_next(&s),
        .vocab = 3 + (int)(tiny_next(&s) % (MAX_VOCAB - 2)),
        .end = ends[tiny_next(&s) % COUNT(ends)],
        .sharp = 0.5 + (double)(tiny_next(&s) % 6), .given = i % 3 == 1 };
    *o = (struct search_options){ .nbest = 1, .lenpen_type = type,
        .beam = 1 + (int)(tiny_next(&s) % MAX_BEAM),
        .lenpen = alphas[tiny_next(&s) % COUNT(alphas)] };
    if (tiny_next(&s) % 2) o->nbest = 1 + (int)tiny_next(&s) % 3;
    if (o->nbest < 1) o->nbest = 1;
    if (o->nbest > o->beam) o->nbest = o->beam;
    if (tiny_next(&s) % 4 == 0) o->prune = 0.5 + (double)(tiny_next(&s) % 5);
    return 2 + (int)(tiny_next(&s) % (MAX_LEN - 2));
}

enum { CASES = 6000 };

static void check_rules(enum lenpen type)
{
    int ended = 0, cut = 0;

    for (uint64_t i = 0; i < CASES; i++) {
        struct language g;
        struct search_options o;
        int max_len = make_case(i, &g, &o, type);
        struct answer want = by_the_book(&g, &o, max_len, true);
        struct answer got = by_the_beam(&g, &o, max_len);

        if (!same(&got, &want) || got.steps != want.steps)
            test_fail(__FILE__, __LINE__, "case %llu: beam %d, limit %d: got "
                      "%d in %d steps, want %d in %d", (unsigned long long)i,
                      o.beam, max_len, got.n, got.steps, want.n, want.steps);
        ended += want.ended;
        cut += !want.ended;
    }
    /* Both cases must occur often enough: searches that end with EOS and
     * searches that reach the limit. With the rules of fairseq all end with
     * EOS. */
    CHECK(ended > CASES / 4);
    CHECK(type == LENPEN_FAIRSEQ ? cut == 0 : cut > CASES / 100);
}

TEST(beam_follows_the_gnmt_rules) { check_rules(LENPEN_GNMT); }
TEST(beam_follows_the_fairseq_rules) { check_rules(LENPEN_FAIRSEQ); }

/* Early stopping must give the answers of a search that runs to the limit. It
 * never takes more steps, and takes fewer in total. */
static void check_early(enum lenpen type)
{
    long with_it = 0, without = 0;

    for (uint64_t i = 0; i < CASES; i++) {
        struct language g;
        struct search_options o;
        int max_len = make_case(i, &g, &o, type);
        struct answer full = by_the_book(&g, &o, max_len, false), got, plain;

        plain = by_the_beam(&g, &o, max_len);
        o.early_stop = true;
        got = by_the_beam(&g, &o, max_len);
        if (!same(&got, &full) || !same(&got, &plain))
            test_fail(__FILE__, __LINE__, "case %llu: beam %d, %d-best: "
                      "the answer differs", (unsigned long long)i, o.beam,
                      o.nbest);
        if (got.steps > plain.steps || plain.steps > full.steps)
            test_fail(__FILE__, __LINE__, "case %llu: %d steps, without "
                      "early stopping %d", (unsigned long long)i, got.steps,
                      plain.steps);
        with_it += got.steps;
        without += plain.steps;
    }
    CHECK(with_it * 100 < without * 97);
    printf("     steps with early stopping: %.0f %% of those without\n",
           100.0 * (double)with_it / (double)without);
}

TEST(early_stop_changes_no_answer_gnmt) { check_early(LENPEN_GNMT); }
TEST(early_stop_changes_no_answer_fairseq) { check_early(LENPEN_FAIRSEQ); }

/* With rewards, a hypothesis can gain by growing. A beam that knows how large
 * they are must give the answers of one that never stops. */
TEST(early_stop_with_rewards_changes_no_answer)
{
    static const double rewards[] = { 0.05, 0.3, 1, 4 };
    long stopped = 0, above = 0;

    for (uint64_t i = 0; i < CASES; i++) {
        struct language g;
        struct search_options o;
        int max_len = make_case(i, &g, &o, LENPEN_GNMT);
        struct answer want, got;

        g.reward = rewards[i % COUNT(rewards)];
        g.claimed = 1e9;
        want = by_the_beam(&g, &o, max_len);
        o.early_stop = true;
        g.claimed = (double)(float)g.reward;
        got = by_the_beam(&g, &o, max_len);
        if (!same(&got, &want))
            test_fail(__FILE__, __LINE__, "case %llu: beam %d, %d-best: the "
                      "answer differs", (unsigned long long)i, o.beam, o.nbest);
        stopped += got.steps < want.steps;
        above += got.n && got.best[0].score > 0;
    }
    CHECK(stopped > CASES / 20 && above > CASES / 20);
}

/* A beam that has room for more serves searches of any size, one after the
 * other, with the options of each. */
TEST(a_beam_may_have_more_room_than_a_search_needs)
{
    struct beam b;
    struct err e;

    REQUIRE_OK(beam_init(&b, MAX_BEAM, MAX_LEN, 0, &e), &e);
    for (uint64_t i = 0; i < 1000; i++) {
        struct language g;
        struct search_options o;
        int max_len = make_case(i, &g, &o, i % 3 ? LENPEN_GNMT
                                                 : LENPEN_FAIRSEQ);
        struct answer want = by_the_beam(&g, &o, max_len);
        struct answer got = by_this_beam(&b, &g, &o, max_len);

        if (!same(&got, &want) || got.steps != want.steps)
            test_fail(__FILE__, __LINE__, "case %llu: the answer differs",
                      (unsigned long long)i);
    }
    beam_release(&b);
}

/* ---- single rules ---------------------------------------------------- */

static struct search_options plain_options(int beam)
{
    return (struct search_options){ .beam = beam, .nbest = beam,
                                    .lenpen = 0.6 };
}

/* Begin a search with pruning. EOS is token 0. The beam keeps a pointer to
 * o. */
static bool begin_pruned(struct beam *b, struct search_options *o)
{
    struct err e;

    *o = plain_options(4);
    o->prune = 2;
    if (!CHECK_OK(beam_init(b, o->beam, 8, 0, &e), &e)) return false;
    beam_begin(b, o, 8);
    return true;
}

/* A hypothesis is kept if it is exactly `prune` behind the best one, and
 * dropped if it is further behind. */
TEST(prune_drops_what_is_more_than_delta_behind)
{
    struct search_options o;
    struct beam b;

    REQUIRE(begin_pruned(&b, &o));
    beam_offer(&b, 0, 1, -1);
    beam_offer(&b, 0, 2, -2.5f);
    beam_offer(&b, 0, 3, -3);
    beam_offer(&b, 0, 4, -3.001f);
    CHECK(!beam_advance(&b));
    CHECK_INT(b.n_live, 3);
    CHECK_INT(beam_token(&b, 2), 3);
    beam_offer(&b, 0, 5, -20);
    beam_offer(&b, 1, 6, -20);
    CHECK(!beam_advance(&b));
    CHECK_INT(b.n_live, 2);
    CHECK_INT(beam_token(&b, 0), 5);
    beam_release(&b);
}

/* A finished hypothesis is dropped if it is more than 3.5 * `prune` behind the
 * best candidate. It would be too short, but could still win. */
TEST(prune_drops_ends_that_are_behind)
{
    struct search_options o;
    struct beam b;

    REQUIRE(begin_pruned(&b, &o));
    beam_offer(&b, 0, 1, -1);
    beam_offer(&b, 0, 0, -8.001f);
    CHECK(!beam_advance(&b));
    CHECK(b.n_live == 1 && b.n_done == 0);
    beam_offer(&b, 0, 1, -1);
    beam_offer(&b, 0, 0, -8);
    CHECK(!beam_advance(&b));
    CHECK(b.n_live == 1 && b.n_done == 1);
    beam_release(&b);
}

/* Greedy search takes the best token at each step and stops when that is
 * EOS. */
TEST(greedy_takes_the_best)
{
    for (uint64_t i = 0; i < 500; i++) {
        struct language g;
        struct search_options o;
        struct text t = { .n = 0 };
        struct answer a;
        float lp[MAX_VOCAB];
        int max_len = make_case(i, &g, &o, LENPEN_GNMT), best;

        o.beam = o.nbest = 1;
        do {
            row_of(&g, &t, lp);
            best = t.n == 0;
            for (int v = 0; v < g.vocab; v++)
                if (lp[v] > lp[best]) best = v;
            t = with(&t, best, lp[best]);
        } while (best && t.n < max_len);
        a = by_the_beam(&g, &o, max_len);
        CHECK_INT(a.n, 1);
        CHECK_INT(a.best[0].t.n, t.n);
        CHECK_MEM(a.best[0].t.id, t.id, (size_t)t.n * sizeof *t.id);
        CHECK_INT(a.ended, best == 0);
        CHECK_INT(a.steps, t.n);
    }
}

/* If no hypothesis is finished at the length limit, the best live one is the
 * answer. */
TEST(the_limit_cuts_the_best_live_one)
{
    struct language g = { .seed = 4, .vocab = 5, .end = -50, .sharp = 1 };
    struct search_options o = plain_options(3);
    struct answer a;

    o.nbest = 2;
    a = by_the_beam(&g, &o, 6);
    CHECK_INT(a.n, 1);
    CHECK(!a.ended);
    CHECK_INT(a.best[0].t.n, 6);
    CHECK_NEAR(a.best[0].score,
               a.best[0].total / penalty(LENPEN_GNMT, 0.6, 6), 1e-12);
}

/* Candidates with equal scores stay in the order in which they were offered. */
TEST(ties_keep_their_order)
{
    struct search_options o = plain_options(2);
    struct beam b;
    struct err e;

    REQUIRE_OK(beam_init(&b, o.beam, 8, 0, &e), &e);
    beam_begin(&b, &o, 8);
    for (int i = 1; i < 9; i++)
        CHECK_INT(beam_offer(&b, 0, i, -1), i <= 4);
    beam_advance(&b);
    CHECK_INT(b.n_live, 2);
    CHECK_INT(beam_token(&b, 0), 1);
    CHECK_INT(beam_token(&b, 1), 2);
    beam_release(&b);
}

/* ---- kvcache --------------------------------------------------------- */

enum { SLOTS = 40 };

/* A simple model of the cache. It finds out which slots are needed by looking
 * at all of them. */
struct tree { int parent[SLOTS], held[SLOTS]; bool used[SLOTS]; };

static bool needed(const struct tree *t, int slot)
{
    if (t->held[slot]) return true;
    for (int i = 0; i < SLOTS; i++)
        if (t->used[i] && t->parent[i] == slot && needed(t, i)) return true;
    return false;
}

static int count_used(struct tree *t)
{
    int n = 0;

    for (int i = 0; i < SLOTS; i++)
        if (t->used[i]) n += t->used[i] = needed(t, i);
    return n;
}

/* A random slot that is held, or -1. */
static int pick_held(const struct tree *t, uint64_t *s)
{
    int at = (int)(tiny_next(s) % SLOTS);

    for (int i = 0; i < SLOTS; i++, at = (at + 1) % SLOTS)
        if (t->used[at] && t->held[at]) return at;
    return -1;
}

static void take_one(struct kvcache *c, struct tree *t, uint64_t *s)
{
    int parent = tiny_next(s) % 5 ? pick_held(t, s) : -1;
    int used = count_used(t);
    int32_t slot = kvcache_take(c, parent);

    CHECK_INT(slot < 0, used == SLOTS);
    if (slot < 0) return;
    CHECK(slot < SLOTS && !t->used[slot]);
    t->used[slot] = true;
    t->parent[slot] = parent;
    t->held[slot] = 1;
}

TEST(kvcache_counts_what_is_needed)
{
    struct kvcache c;
    struct tree t;
    struct err e;
    uint64_t s = 3;

    memset(&t, 0, sizeof t);
    REQUIRE_OK(kvcache_init(&c, SLOTS, 2, 4, &e), &e);
    for (int i = 0; i < 20000; i++) {
        int what = (int)(tiny_next(&s) % 10), at = pick_held(&t, &s);

        if (what < 5 || at < 0) {
            take_one(&c, &t, &s);
        } else {
            kvcache_drop(&c, at);
            t.held[at]--;
        }
        CHECK_INT(c.used - c.n_free, count_used(&t));
    }
    kvcache_drop(&c, -1);
    for (int i = 0; i < SLOTS; i++)
        for (; t.used[i] && t.held[i]; t.held[i]--) kvcache_drop(&c, i);
    CHECK_INT(c.used, c.n_free);
    kvcache_release(&c);
}

/* The keys and values of different slots and layers do not overlap. */
TEST(kvcache_slots_are_apart)
{
    struct kvcache c;
    struct err e;

    REQUIRE_OK(kvcache_init(&c, 3, 2, 5, &e), &e);
    for (int s = 0; s < 3; s++)
        for (int l = 0; l < 2; l++)
            for (int i = 0; i < 5; i++) {
                kvcache_keys(&c, l)[(size_t)s * c.ld + (size_t)i] =
                    (float)(s * 100 + l * 20 + i);
                kvcache_values(&c, l)[(size_t)s * c.ld + (size_t)i] =
                    (float)(s * 100 + l * 20 + 10 + i);
            }
    CHECK(c.ld >= 20);
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 20; i++)
            CHECK_INT((int)c.kv[(size_t)s * c.ld + (size_t)i],
                      s * 100 + i / 10 * 20 + i % 10 / 5 * 10 + i % 5);
    kvcache_release(&c);
}
