/* test_noalloc.c - tests that decoding does not allocate memory, and that every
 * failed allocation is reported as an error.
 *
 * The program is linked with --wrap, so that calls of allocation functions from
 * our object files arrive here first (calls inside the C library and jansson do
 * not). After arm(), one given call fails, or all calls from a given one on. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "align/aligner.h"
#include "align_fix.h"
#include "base/pool.h"
#include "engine/engine.h"
#include "engine/session.h"
#include "engine/stream.h"
#include "entries_fix.h"
#include "knn/entry_search.h"
#include "knn/key_builder.h"
#include "knn/learned.h"
#include "knn/sk.h"
#include "scratch_dir.h"
#include "search/batch.h"
#include "skmt_tools.h"
#include "tiny_net.h"

/* ---- the allocator --------------------------------------------------- */

enum { NEVER = 1 << 30 };

static atomic_int calls;                /* since arm() */
static atomic_int fails_at = NEVER;     /* this call fails */
static atomic_int fails_from = NEVER;   /* this call and all later ones fail */

static bool refuse(void)
{
    int n = atomic_fetch_add(&calls, 1);

    if (n != atomic_load(&fails_at) && n < atomic_load(&fails_from))
        return false;
    errno = ENOMEM;
    return true;
}

static void arm(int at, int from)
{
    atomic_store(&calls, 0);
    atomic_store(&fails_at, at);
    atomic_store(&fails_from, from);
}

static int disarm(void)
{
    int n = atomic_load(&calls);

    arm(NEVER, NEVER);
    return n;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_posix_memalign(void **p, size_t align, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
char *__real_strdup(const char *s);
void *__real_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
char *__wrap_strdup(const char *s);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);

void *__wrap_malloc(size_t n)
{
    return refuse() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return refuse() ? NULL : __real_realloc(p, n);
}

int __wrap_posix_memalign(void **p, size_t align, size_t n)
{
    return refuse() ? ENOMEM : __real_posix_memalign(p, align, n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return refuse() ? NULL : __real_aligned_alloc(align, n);
}

char *__wrap_strdup(const char *s)
{
    return refuse() ? NULL : __real_strdup(s);
}

void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    return refuse() ? MAP_FAILED : __real_mmap(p, n, prot, flags, fd, at);
}

/* Returns whether the program was linked with --wrap. Without it every test
 * here would pass without testing anything. */
static bool wrapped(void)
{
    void *volatile p;

    arm(NEVER, NEVER);
    p = malloc(1);
    free(p);
    return atomic_load(&calls) == 1;
}

/* ---- decoding -------------------------------------------------------- */

enum { N_JOBS = 9 };

static void decode_all(struct batch *b, struct job **jobs)
{
    int at = 0, done = 0;
    struct job *list;
    struct err e;

    while (done < N_JOBS) {
        int k = batch_count_idle_lanes(b);

        if (k > N_JOBS - at) k = N_JOBS - at;
        if (k) CHECK_OK(batch_add(b, jobs + at, k, &e), &e);
        at += k;
        REQUIRE_OK(batch_step(b, &list, &e), &e);
        for (; list; list = list->next) done++;
    }
}

/* Steer a job by a pair: its own source, and some tokens. */
static void steer(const struct tiny_net *m, struct job *j,
                  const struct steering_system *system, enum key_type type)
{
    /* A network whose weight is never tiny. */
    static const struct trust trust = { .w = { [TRUST_AT_H] = 1,
                                               [TRUST_AT_O] = 1 } };
    static const int32_t tgt[] = { 40, 41, 42, 43, 44, 45 };
    struct key_builder_options ko = { .rows = 64, .type = type,
                                      .with_eos = true };
    struct key_pair p = { j->src, j->n_src, tgt, COUNT(tgt), NULL };
    struct system_options so = { .k = 4, .weigh = { .tau = 1000 },
                                 .repeat_votes = 2, .trust = &trust,
                                 .model_tau = 1000 };
    struct system_sentence s = {
        .rows = j->o.beam + j->o.draft, .nbest = j->o.nbest,
        .max_len = j->max_len, .explain = j->o.explain,
        .source = j->src, .n_source = j->n_src, .n_suffix = 1 };
    static int32_t match[32];           /* the sources are equal */
    static float same_word[32];
    struct system_pair pair;
    struct key_builder *kb;
    struct err e;

    for (int i = 0; i < 32; i++) match[i] = i, same_word[i] = 1;
    REQUIRE_OK(key_builder_new(&kb, m->backend, NULL, &ko, &e), &e);
    CHECK_OK(key_builder_run(kb, &p, 1, &e), &e);
    CHECK_OK(system->sentence_new(&j->mixer, &so, &s, &e), &e);
    pair = (struct system_pair){ .keys = p.keys, .similarity = 0.9f,
                                 .match = match, .same_word = same_word,
                                 .n_match = j->n_src - 1 };
    CHECK_OK(system->prepare(j->mixer, NULL, &pair, 1, &e), &e);
    pair_keys_drop(p.keys);
    key_builder_free(kb);
}

/* The jobs have different options. Every third one is steered and explained,
 * and may have drafts; the systems differ. */
static bool make_jobs(const struct tiny_net *m, bool attention,
                      struct job **jobs)
{
    uint64_t s = 4;
    struct err e;

    for (int i = 0; i < N_JOBS; i++) {
        struct search_options o = { .beam = i % 2 ? 2 : 4, .nbest = 2,
            .lenpen = 0.6, .max_len_a = 1.2, .max_len_b = 10,
            .early_stop = true, .attention = attention,
            .explain = i % 3 == 2, .prune = i % 4 == 3 ? 3 : 0,
            .draft = i % 3 == 2 ? 4 : 0 };
        int32_t ids[32], n = tiny_source(m, &s, 1 + i * 31 / N_JOBS, ids);

        if (!CHECK_OK(job_new(&jobs[i], &o, m->backend->max_pos, ids, n, ids,
                              i % 3, &e), &e))
            return false;
        if (i % 3 == 2)
            steer(m, jobs[i], i == 8 ? &sk_system : &learned_system,
                  i == 2 ? KEY_F32 : KEY_INT8);
    }
    return true;
}

static void check_jobs(struct job **jobs)
{
    for (int i = 0; i < N_JOBS; i++) {
        struct job *j = jobs[i];

        CHECK(j->n_hyps > 0 && j->hyps[0].n > 0);
        if (j->mixer) {
            CHECK(j->mixer->ops->explanation(j->mixer, 0, 0).n > 0);
            j->mixer->ops->free(j->mixer);
        }
        job_free(j);
    }
}

static void check_decoding(enum dtype type, int threads, bool attention)
{
    struct batch_limits limits = { .lanes = 3, .rows = 12, .drafts = 6,
                                   .max_beam = 4, .max_source = 32,
                                   .max_len = 48 };
    struct tiny to = TINY_DEFAULT;
    struct tiny_net m;
    struct job *jobs[N_JOBS];
    struct pool *pool;
    struct batch *b;
    struct err e;

    REQUIRE(tiny_net_open(&m, &to, type, NULL));
    REQUIRE_OK(pool_new(&pool, threads, &e), &e);
    REQUIRE_OK(batch_new(&b, m.backend, &limits, pool, &e), &e);
    REQUIRE(make_jobs(&m, attention, jobs));
    arm(NEVER, 0);
    decode_all(b, jobs);
    CHECK_INT(disarm(), 0);
    CHECK(batch_counts(b).drafted > 0);
    check_jobs(jobs);
    batch_free(b);
    pool_free(pool);
    tiny_net_close(&m);
}

TEST(decoding_allocates_nothing)
{
#ifdef PARANOID
    SKIP("the checks of this build allocate memory");
#endif
    REQUIRE(wrapped());
    check_decoding(DT_F32, 1, false);
    check_decoding(DT_BF16, 1, false);
    check_decoding(DT_I8, 1, true);
    check_decoding(DT_I8, 2, false);
}

/* A steering system aligns pairs while a sentence is decoded. */
TEST(aligning_allocates_nothing)
{
    struct align_settings s = align_settings_defaults();
    struct bitext b = { 0 };
    struct align_model *m = NULL;
    struct aligner *a = NULL;
    size_t links = 0;
    struct err e;

    REQUIRE(wrapped());
    add_made_up(&b, 50);
    REQUIRE_OK(train_words(&m, &b, &s, 1, &e), &e);
    REQUIRE_OK(aligner_new(&a, m, &e), &e);
    arm(NEVER, 0);
    for (size_t i = 0; i < b.n_pairs; i++) {
        struct bitext_text x = bitext_text(&b.side[BITEXT_SOURCE], i);
        struct bitext_text y = bitext_text(&b.side[BITEXT_TARGET], i);

        for (int k = 0; k < ALIGN_METHOD_COUNT; k++)
            links += aligner_run(a, (enum align_method)k, x.at, x.n, y.at,
                                 y.n).n;
    }
    CHECK_INT(disarm(), 0);
    CHECK(links > 0);
    aligner_free(a);
    align_model_free(m);
    bitext_release(&b);
}

/* Make a search; each allocation fails in turn until one is enough. */
static struct entry_search *new_search(struct entries *s, struct pool *pool)
{
    struct entry_search *es = NULL;
    enum status st = ST_NOMEM;
    struct err e;

    for (int k = 0; st && k < 100; k++) {
        arm(k, NEVER);
        st = entry_search_new(&es, s, NULL, pool, &e);
        disarm();
        CHECK(st == ST_OK ? es && k > 5 : !es && st == ST_NOMEM);
        CHECK_INT(atomic_load(&s->holders), st ? 1 : 2);
    }
    return es;
}

TEST(searching_entries_allocates_nothing)
{
    enum { N = 2500, D = 8, FROM = 12, NQ = 300, K = 5 };
    static float x[N * FROM];
    static struct neighbor nb[NQ * K];
    struct entry_map map = { FROM, D, x, x };
    struct pool *pool;
    struct err e;

    REQUIRE(wrapped());
    REQUIRE_OK(pool_new(&pool, 2, &e), &e);
    for (int i = 0; i < N * FROM; i++) x[i] = (float)(i * 7919 % 1009);
    for (int i = 0; i < 4; i++) {
        struct made_entries m = { .n = N, .d = D, .keys = x, .block = 700,
            .type = i % 2 ? ENTRY_F16 : ENTRY_INT8,
            .map = i < 2 ? NULL : &map };
        struct entries *s = make_entries(&m);
        struct entry_search *es = new_search(s, i ? pool : NULL);
        int found = 0;

        REQUIRE(es);
        arm(NEVER, 0);
        CHECK_OK(entry_search_states(es, x, FROM, NQ, K, nb, &found, &e), &e);
        CHECK_INT(disarm(), 0);
        CHECK_INT(found, K);
        entry_search_free(es);
        entries_drop(s);
    }
    pool_free(pool);
}

/* ---- each allocation fails in turn ----------------------------------- */

#define TEXT "the and in. And of the bad \xff byte, in 3 years\nis this it"
static const char *const long_text =
    "the th an in re on the \xff and of the, in the on an and ing ed is to; "
    "and so on and so on and so on and so on and so on and so on and so on.";

/* Opens a model, translates and closes it, as a program does. */
static enum status use_session(const char *path, struct err *e)
{
    struct session_text q[3] = { { .text = TEXT, .len = strlen(TEXT) },
        { .text = long_text, .len = strlen(long_text), .prefix = "the" },
        { .text = "", .len = 0 } };
    struct engine *en = NULL;
    struct session *s = NULL;
    struct options o;
    enum status st;

    options_defaults(&o);
    o.beam = o.nbest = 2;
    o.batch = 2;
    o.max_len_b = 4;
    o.max_len_a = 0.2;
    o.invalid = INVALID_REPLACE;
    o.attention = true;
    st = engine_open(&en, path, e);
    if (!st) st = session_new(&s, en, &o, e);
    if (!st) st = session_run(s, q, COUNT(q), e);
    for (size_t i = 0; i < COUNT(q); i++) {
        if (!st && q[i].result) CHECK(q[i].result->n_hyps > 0);
        if (!st) CHECK(q[i].result != NULL);
        result_free(q[i].result);
    }
    session_free(s);
    engine_close(en);
    return st;
}

/* The same with pairs that steer the translation, and with explanations. */
static bool learns_trust;       /* steer by a network (knn/trust.h) */

static enum status use_pairs(const char *path, struct err *e)
{
    static const struct similar_pair given[] = {
        { { "the and in", 10 }, { "of the in and", 13 }, 0.5 },
        { { "and of", 6 }, { "the an", 6 }, 0.2 },
        { { "and", 3 }, { "", 0 }, 0.1 } };
    struct session_text q[2] = {
        { .text = "the and of", .len = 10, .given = given, .n_given = 3 },
        { .text = "in the and", .len = 10, .given = given, .n_given = 1 } };
    struct engine *en = NULL;
    struct session *s = NULL;
    struct options o;
    enum status st;

    options_defaults(&o);
    o.beam = o.nbest = 2;
    o.batch = 2;
    o.max_len_b = 4;
    o.max_len_a = 0.2;
    o.explain = true;
    o.trust.is_set = learns_trust;
    st = engine_open(&en, path, e);
    if (!st) st = session_new(&s, en, &o, e);
    if (!st) st = session_run(s, q, COUNT(q), e);
    for (size_t i = 0; i < COUNT(q); i++) {
        if (!st) CHECK(q[i].result && q[i].result->n_hyps > 0);
        if (!st) CHECK_INT(pairset_count(q[i].result->sentences[0].pairset),
                           i ? 1 : 2);
        result_free(q[i].result);
    }
    session_free(s);
    engine_close(en);
    return st;
}

struct told { int texts, failed; };

static int tell(void *user, uint64_t number, struct result *r,
                const struct err *e)
{
    struct told *t = user;

    CHECK_INT(number, t->texts);
    CHECK((r != NULL) == (e->status == ST_OK));
    if (r) CHECK(r->n_hyps > 0 && r->hyps[0].text != NULL);
    t->texts++;
    t->failed += !r;
    return 0;
}

/* A stream delivers an error for each text that fails; here that counts as a
 * failure of the whole run. */
static enum status use_stream(const char *path, struct err *e)
{
    struct told t = { 0, 0 };
    struct engine *en = NULL;
    struct stream *s = NULL;
    struct options o;
    enum status st;

    options_defaults(&o);
    o.beam = o.batch = 2;
    o.max_len_b = 3;
    o.max_len_a = 0;
    st = engine_open(&en, path, e);
    if (!st) st = stream_new(&s, en, &o, tell, &t, e);
    for (int i = 0; i < 3 && !st; i++)
        st = stream_push(s, "the and in", 10, i == 1 ? "th" : NULL, e);
    if (!st) st = stream_flush(s, e);
    if (!st) CHECK_INT(t.texts, 3);
    stream_free(s);
    engine_close(en);
    return !st && t.failed ? err_set(e, ST_NOMEM, "out of memory (told)") : st;
}

/* Requests with different options, one of them steered, on one thread. Here a
 * request that fails counts as a failure of the whole run. */
static enum status use_service(const char *path, struct err *e)
{
    static const struct similar_pair given = { { "the and in", 10 },
                                               { "of the in and", 13 }, 0.5 };
    struct request *q[3] = { NULL, NULL, NULL };
    struct engine *en = NULL;
    struct service *s = NULL;
    struct batch_limits limits;
    struct options o;
    enum status st;

    options_defaults(&o);
    o.batch = 2;
    o.max_len_b = 3;
    o.max_len_a = 0;
    st = engine_open(&en, path, e);
    if (!st) limits = service_limits(en, &o);
    if (!st)
        st = service_new(&s, en, &o, &limits, WORKERS_WITH_THREADS, e);
    for (int i = 0; i < 3 && !st; i++) {
        st = request_new(&q[i], "the and in", 10, e);
        o.beam = i + 1;
        if (!st) request_set_options(q[i], &o);
        if (!st && i == 1) st = request_set_prefix(q[i], "th", e);
        if (!st && i == 2) st = request_set_given(q[i], &given, 1, e);
        if (!st) st = service_submit(s, q[i], SUBMIT_WAIT, e);
    }
    for (int i = 0; i < 3 && !st; i++) {
        request_wait(q[i]);
        *e = request_error(q[i]);
        st = e->status;
        CHECK((request_result(q[i]) != NULL) == !st);
    }
    service_free(s);
    for (int i = 0; i < 3; i++) request_free(q[i]);
    engine_close(en);
    return st;
}

/* Learns an alignment of pieces, saves it, reads it again and uses it. */
static enum status use_aligner(const char *path, struct err *e)
{
    static const char *const texts[] = { "the and in", "of the in and", "re on",
                                         "an in the", "and so on", "", "in" };
    skmt_error *err = (skmt_error *)(void *)e;
    skmt_aligner *a = NULL, *b = NULL;
    skmt_model *model = NULL;
    const skmt_link *links;
    size_t n = 0;
    char file[300];
    skmt_status st = skmt_model_open(&model, path, err);

    snprintf(file, sizeof file, "%s.align", path);
    if (!st) st = skmt_aligner_new(&a, model, err);
    if (!st) st = skmt_aligner_set(a, "threads", "2", err);
    for (size_t i = 0; !st && i + 1 < COUNT(texts); i++)
        st = skmt_aligner_add(a, texts[i], strlen(texts[i]), texts[i + 1],
                              strlen(texts[i + 1]), err);
    if (!st) st = skmt_aligner_train(a, err);
    if (!st) st = skmt_aligner_save(a, file, err);
    if (!st) st = skmt_aligner_links(a, 0, &links, &n, err);
    if (!st && !skmt_aligner_pharaoh(a))
        st = (skmt_status)err_nomem(e, "links");
    if (!st) st = skmt_aligner_new(&b, model, err);
    skmt_model_close(model);
    if (!st) st = skmt_aligner_load(b, file, err);
    if (!st) st = skmt_aligner_align(b, "the in", 6, "in the", 6, &links, &n,
                                     err);
    if (!st) CHECK(n > 0);
    if (!st) st = skmt_aligner_split(b, "the in", 6, "in", 2, err);
    skmt_aligner_free(a);
    skmt_aligner_free(b);
    unlink(file);
    return (enum status)st;
}

/* An error must be "out of memory" or, if a file could not be mapped, an I/O
 * error, and its message must mention memory. A run may also succeed, if the
 * failed allocation was not necessary. */
static void check_status(enum status st, const struct err *e, int k)
{
    if (!st) return;
    if (st != ST_NOMEM && st != ST_IO)
        test_fail(__FILE__, __LINE__, "allocation %d: status %d, \"%s\"", k,
                  st, e->msg);
    CHECK(e->status == st);
    if (!strstr(e->msg, "memory"))
        test_fail(__FILE__, __LINE__, "allocation %d: \"%s\"", k, e->msg);
}

static void sweep(enum status (*use)(const char *path, struct err *e))
{
    struct tiny o = TINY_DEFAULT;
    struct tiny_net m;
    struct err e;
    int n, good = 0;

    o.enc_layers = o.dec_layers = 1;
    REQUIRE(tiny_net_write(&m, &o, DT_I8));
    arm(NEVER, NEVER);
    CHECK_OK(use(tiny_net_file(&m, "m.skmt"), &e), &e);
    n = disarm();
    CHECK(n > 40);
    for (int k = 0; k < n; k++)
        for (int all = 0; all < 2; all++) {
            enum status st;

            err_clear(&e);
            arm(all ? NEVER : k, all ? k : NEVER);
            st = use(tiny_net_file(&m, "m.skmt"), &e);
            disarm();
            check_status(st, &e, k);
            good += st == ST_OK;
        }
    CHECK(good < n / 4);
    printf("     %d allocations, each failed in turn\n", n);
    tiny_net_close(&m);
}

TEST(no_failed_allocation_ends_a_session_badly)
{
    REQUIRE(wrapped());
    sweep(use_session);
}

TEST(no_failed_allocation_ends_steering_badly)
{
    REQUIRE(wrapped());
    sweep(use_pairs);
}

TEST(no_failed_allocation_ends_alignment_badly)
{
    REQUIRE(wrapped());
    sweep(use_aligner);
}

TEST(no_failed_allocation_ends_learned_trust_badly)
{
    REQUIRE(wrapped());
    learns_trust = true;
    sweep(use_pairs);
    learns_trust = false;
}

TEST(no_failed_allocation_ends_a_stream_badly)
{
    REQUIRE(wrapped());
    sweep(use_stream);
}

TEST(no_failed_allocation_ends_a_service_badly)
{
    REQUIRE(wrapped());
    sweep(use_service);
}

/* ---- scores ---------------------------------------------------------- */

static skmt_status use_scores(skmt_error *e)
{
    static const char hyp[] = "The mat on: the cat sat 1.5 times",
                      ref[] = "The cat sat on the mat, twice.";
    skmt_score *s = NULL, *some = NULL;
    skmt_status st = skmt_score_new(&s, "bleu,chrf,ter,r,r-all", e);
    double low, high;

    CHECK((s != NULL) == (st == SKMT_OK));
    for (int i = 0; !st && i < 3; i++) {
        st = skmt_score_add(s, hyp, strlen(hyp), ref, strlen(ref), e);
        if (i == 1) skmt_score_document(s);
    }
    if (!st) st = skmt_score_select(&some, s, 1, 1, e);
    CHECK(!some || skmt_score_size(some, NULL) == 1);
    skmt_score_free(some);
    if (!st) st = skmt_score_interval(s, "ter", 10, 1, &low, &high, e);
    if (!st) st = skmt_score_compare(s, s, "bleu", 10, 1, &low, e);
    skmt_score_free(s);
    return st;
}

static skmt_status use_words(skmt_error *e)
{
    static const char hyp[] = "The mat on: the cat can't sit, 1.5 times",
                      ref[] = "The cat's on the mat...";
    skmt_words *w = NULL;
    skmt_status st = skmt_words_new(&w, e);

    CHECK((w != NULL) == (st == SKMT_OK));
    if (!st) st = skmt_words_learn(w, ref, strlen(ref), e);
    if (!st) st = skmt_words_add(w, hyp, strlen(hyp), ref, strlen(ref), e);
    skmt_words_free(w);
    return st;
}

static skmt_status use_lines(skmt_error *e)
{
    const char *text = "";
    skmt_lines *l = NULL;
    skmt_status st = skmt_lines_open(&l, "Makefile", e);
    size_t n;

    CHECK((l != NULL) == (st == SKMT_OK));
    while (!st && text) st = skmt_lines_next(l, &text, &n, e);
    skmt_lines_close(l);
    return st;
}

static void sweep_calls(skmt_status (*use)(skmt_error *), int least)
{
    skmt_error e;
    int n;

    REQUIRE(wrapped());
    arm(NEVER, NEVER);
    CHECK_INT(use(&e), SKMT_OK);
    n = disarm();
    CHECK(n >= least);
    for (int k = 0; k < n; k++)
        for (int all = 0; all < 2; all++) {
            skmt_status st;

            arm(all ? NEVER : k, all ? k : NEVER);
            st = use(&e);
            disarm();
            CHECK_INT(st, SKMT_ERR_NOMEM);
            check_status((enum status)st, (struct err *)(void *)&e, k);
        }
}

TEST(no_failed_allocation_spoils_a_score) { sweep_calls(use_scores, 40); }

TEST(no_failed_allocation_spoils_words) { sweep_calls(use_words, 8); }

TEST(no_failed_allocation_spoils_lines) { sweep_calls(use_lines, 3); }

/* ---- translation memories -------------------------------------------- */

static skmt_status look_for(skmt_tm *tm, const char *text, skmt_error *e)
{
    skmt_matches *m = NULL;
    skmt_status st = skmt_tm_search(tm, text, NULL, NULL, &m, e);
    size_t begin, end;
    char kind;

    CHECK((m != NULL) == (st == SKMT_OK));
    if (m) skmt_matches_edit(m, 0, 0, &kind, &begin, &end);
    skmt_matches_free(m);
    return st;
}

/* Adds, imports, searches, replaces, lists and exports pairs. */
static skmt_status use_memory(const struct scratch *s, skmt_error *e)
{
    const char *tsv = scratch_path(s, "in.tsv");
    skmt_import *how = NULL;
    skmt_tm_cursor *c = NULL;
    skmt_tm *tm = NULL;
    skmt_status st;
    skmt_pair p = SKMT_INIT(skmt_pair);
    int64_t id;
    int more = 1;

    st = skmt_import_new(&how, e);
    if (!st)
        st = skmt_tm_open(&tm, scratch_path(s, "a.tm"), SKMT_TM_CREATE, e);
    if (!st) skmt_tm_set_relaxed(tm, 1);
    if (!st) st = skmt_tm_add(tm, NULL, "Guten Tag", "Good day", &id, e);
    if (!st) st = look_for(tm, "Guten Abend", e);
    if (!st) st = skmt_import_set(how, "source-lang", "de", e);
    if (!st) st = skmt_tm_import(tm, NULL, &tsv, 1, how, e);
    if (!st) st = skmt_tm_begin(tm, e);
    if (!st) st = skmt_tm_replace(tm, id, "Guten Morgen", NULL, e);
    if (!st) st = look_for(tm, "Guten Morgen", e);
    if (!st) st = skmt_tm_commit(tm, e);
    if (!st) st = skmt_tm_cursor_open(&c, tm, NULL, e);
    while (!st && more) st = skmt_tm_cursor_next(c, &p, &more, e);
    skmt_tm_cursor_close(c);
    if (!st) st = skmt_tm_export(tm, NULL, scratch_path(s, "out.tsv"), NULL,
                                 NULL, NULL, e);
    if (!st) st = skmt_tm_compact(tm, e);
    skmt_tm_close(tm);
    skmt_import_free(how);
    return st;
}

/* Whatever failed, the file must be sound and an import must be complete or
 * absent. */
static void check_left(const struct scratch *s)
{
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    skmt_tm *tm = NULL;
    skmt_error e;
    int n = 0, problems = -1;

    if (access(scratch_path(s, "a.tm"), F_OK)) return;
    if (skmt_tm_open(&tm, scratch_path(s, "a.tm"), SKMT_TM_WRITE, &e) ||
        skmt_tm_check(tm, NULL, NULL, &problems, &e) ||
        skmt_tm_count(tm, &n, &e) ||
        (n && skmt_tm_get_info(tm, 0, &info, &e)))
        test_fail(__FILE__, __LINE__, "%s", e.message);
    CHECK_INT(problems, 0);
    if (n) CHECK(info.pairs == 1 || info.pairs == 4);
    skmt_tm_close(tm);
}

static skmt_status use_new_memory(int at, int from, int *calls_made,
                                  skmt_error *e)
{
    struct scratch s;
    skmt_status st;

    if (!scratch_make_small(&s) ||
        !scratch_write(&s, "in.tsv", "eins\tone\nzwei\ttwo\ndrei\tthree\n"))
        return SKMT_ERR_IO;
    memset(e, 0, sizeof *e);
    arm(at, from);
    st = use_memory(&s, e);
    *calls_made = disarm();
    check_left(&s);
    scratch_remove(&s);
    return st;
}

TEST(no_failed_allocation_spoils_a_memory)
{
    const char *under = getenv("RUN");  /* scripts/check: valgrind, qemu */
    skmt_error e;
    int n, ignored, good = 0;

    REQUIRE(wrapped());
    /* In a static program the allocations of SQLite fail too; there are 9,500
     * of them. */
    if (under && *under) SKIP("takes minutes under an emulator");
    if (use_new_memory(NEVER, NEVER, &n, &e))
        test_fail(__FILE__, __LINE__, "%s", e.message);
    CHECK(n > 40);
    for (int k = 0; k < n; k++)
        for (int all = 0; all < 2; all++) {
            skmt_status st = use_new_memory(all ? NEVER : k, all ? k : NEVER,
                                            &ignored, &e);

            check_status((enum status)st, (struct err *)(void *)&e, k);
            good += st == SKMT_OK;
        }
    CHECK(good < n / 4);
    printf("     %d allocations, each failed in turn\n", n);
}
