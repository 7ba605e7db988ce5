/* test_service.c - tests services through include/skmt.h: a batch that mixes
 * requests with different options and memories, and many threads that submit
 * and cancel at random.
 *
 * A session with the options of a request translates it alone; the service must
 * give the same result. REQUEST_SECONDS is the time that the random test takes
 * (2). tests/long/requests_tsan.sh runs it for a minute with ThreadSanitizer,
 * and with AddressSanitizer to find leaks. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "tiny_net.h"
#include "use_tm.h"

/* ---- a model and two memories -------------------------------------------- */

enum { MEMORIES = 2 };

struct shop {
    struct scratch dir;
    struct tiny_net net;
    skmt_model *model;
    skmt_tm *tm[MEMORIES];
};

static const char *const stored[MEMORIES][6][2] = {
    { { "the and in of", "in the of and" }, { "the and on", "on the and" },
      { "and of the", "the of and" }, { "in the end", "the end in" },
      { "this is it", "it is this" }, { "of the on", "Zugegeben" } },
    { { "the and in on", "re re on in" }, { "the of", "of of re" },
      { "and and in", "in in and the" }, { "this is on", "on this on" },
      { "in the of", "on the re of" }, { "the end", "Ende" } },
};

static void shop_open(struct shop *d)
{
    struct tiny o = TINY_DEFAULT;
    skmt_error err;

    memset(d, 0, sizeof *d);
    o.seed = 18;                /* it says the end at times */
    REQUIRE(scratch_make(&d->dir));
    REQUIRE(tiny_net_write(&d->net, &o, DT_F32));
    OK(skmt_model_open(&d->model, tiny_net_file(&d->net, "m.skmt"), &err));
    for (int i = 0; i < MEMORIES; i++) {
        OK(skmt_tm_open(&d->tm[i], scratch_path(&d->dir, i ? "1.tm" : "0.tm"),
                        SKMT_TM_CREATE, &err));
        skmt_tm_set_relaxed(d->tm[i], 1);
        for (size_t k = 0; k < COUNT(stored[i]); k++)
            add(d->tm[i], NULL, stored[i][k][0], stored[i][k][1]);
    }
}

static void shop_close(struct shop *d)
{
    for (int i = 0; i < MEMORIES; i++) skmt_tm_close(d->tm[i]);
    skmt_model_close(d->model);
    tiny_net_close(&d->net);
    scratch_remove(&d->dir);
}

/* "name=value name=value". */
static skmt_options *options(const char *list)
{
    skmt_options *o;
    char name[64], value[64];
    skmt_error err;
    int n;

    OK(skmt_options_new(&o, &err));
    OK(skmt_options_set(o, "max-len-b", "8", &err));
    /* Distances of this model are large. */
    OK(skmt_options_set(o, "tau", "200", &err));
    for (; sscanf(list, " %63[^=]=%63s%n", name, value, &n) == 2; list += n)
        OK(skmt_options_set(o, name, value, &err));
    return o;
}

/* ---- what is asked ------------------------------------------------------- */

/* Everything that a request may have. */
struct order {
    const char *text, *prefix;
    const char *options;
    int memory;                 /* -1: none */
    const skmt_similar *pairs;  /* [n_pairs], or NULL */
    int n_pairs;
};

static const skmt_similar given[] = {
    { sizeof *given, "the and in", "of the in and", 0.5 },
    { sizeof *given, "and of", "the an", 0.25 } };

static const struct order orders[] = {
    { "the and in of this. And on the!", NULL, "", -1, NULL, 0 },
    { "the and in", NULL, "beam=1 preset=sk1 explain=1", 0, NULL, 0 },
    { "the and in", NULL, "beam=9 nbest=9 preset=sk2", 1, NULL, 0 },
    { "in the of it", "the", "beam=5 nbest=3 preset=paper-sk1 explain=1", 1,
      NULL, 0 },
    { "and of the in", NULL, "beam=3 nbest=2 preset=paper-sk2 key-type=f32 "
      "attention=1 lenpen-type=fairseq", 0, NULL, 0 },
    { "of the on. In the end", NULL, "lenpen=0 max-len-b=5 prune=3", 0, NULL,
      0 },
    { "this is", NULL, "beam=17 nbest=4 adapter=fixed lambda=0.9 explain=1",
      -1, given, 2 },
    { "the and in of this", NULL, "beam=2 early-stop=0 max-source=3 draft=0 "
      "preset=sk1 exact=steer", 1, NULL, 0 },
};
enum { ORDERS = COUNT(orders) };

static skmt_request *request_for(struct shop *d, const struct order *w)
{
    skmt_options *o = options(w->options);
    skmt_request *q = NULL;
    skmt_error err;

    OK(skmt_request_new(&q, w->text, &err));
    skmt_request_set_options(q, o);
    if (w->prefix) OK(skmt_request_set_prefix(q, w->prefix, &err));
    if (w->pairs) OK(skmt_request_set_pairs(q, w->pairs, w->n_pairs, &err));
    if (w->memory >= 0) skmt_request_use(q, d->tm[w->memory], NULL);
    skmt_options_free(o);
    return q;
}

/* The result of a session that does nothing else. *passes is its work. */
static skmt_result *result_alone(struct shop *d, const struct order *w,
                                 int64_t *passes)
{
    skmt_options *o = options(w->options);
    skmt_session *s = NULL;
    skmt_result *r = NULL;
    skmt_error err;
    int64_t n = 0;

    OK(skmt_session_new(&s, d->model, o, &err));
    if (w->memory >= 0) OK(skmt_session_use(s, d->tm[w->memory], NULL, &err));
    if (w->pairs)
        OK(skmt_session_translate_with(s, w->text, w->prefix,
                                       w->pairs, w->n_pairs, &r, &err));
    else
        OK(skmt_session_translate(s, w->text, w->prefix, &r, &err));
    CHECK_STR(skmt_session_stat(s, 0, &n), "passes");
    if (passes) *passes = n;
    skmt_session_free(s);
    skmt_options_free(o);
    return r;
}

/* ---- comparing results --------------------------------------------------- */

static void same_pairs(const skmt_result *a, const skmt_result *b, int seg)
{
    CHECK_INT(skmt_result_pairs(a, seg), skmt_result_pairs(b, seg));
    for (int i = 0; i < skmt_result_pairs(b, seg); i++) {
        skmt_found_pair x = SKMT_INIT(skmt_found_pair), y = x;

        skmt_result_pair(a, seg, i, &x);
        skmt_result_pair(b, seg, i, &y);
        CHECK_STR(x.source, y.source);
        CHECK_STR(x.target, y.target);
        CHECK(x.similarity == y.similarity && x.exact == y.exact);
    }
}

/* Target piece i of a sentence: id, probability, votes and attention. */
static void same_piece(const skmt_result *a, const skmt_result *b, int hyp,
                       int seg, int i)
{
    int n, m, columns;
    const float *u = skmt_result_attention(a, hyp, seg, i, &columns);
    const float *v = skmt_result_attention(b, hyp, seg, i, NULL);
    skmt_piece x = SKMT_INIT(skmt_piece), y = x;

    skmt_result_target_piece(a, hyp, seg, i, &x);
    skmt_result_target_piece(b, hyp, seg, i, &y);
    CHECK(x.id == y.id && x.logprob == y.logprob && x.end == y.end);
    CHECK(skmt_result_weight(a, hyp, seg, i, &n) ==
          skmt_result_weight(b, hyp, seg, i, &m) && n == m);
    CHECK((u != NULL) == (v != NULL));
    if (u && v) CHECK_MEM(u, v, (size_t)columns * sizeof *u);
}

static void same_result(const skmt_result *a, const skmt_result *b)
{
    REQUIRE(a && b);
    CHECK_INT(skmt_result_hyps(a), skmt_result_hyps(b));
    CHECK_INT(skmt_result_sentences(a), skmt_result_sentences(b));
    for (int s = 0; s < skmt_result_sentences(b); s++) same_pairs(a, b, s);
    for (int h = 0; h < skmt_result_hyps(b); h++) {
        CHECK_STR(skmt_result_text(a, h), skmt_result_text(b, h));
        CHECK(skmt_result_score(a, h) == skmt_result_score(b, h));
        for (int s = 0; s < skmt_result_sentences(b); s++) {
            CHECK_INT(skmt_result_target_pieces(a, h, s),
                      skmt_result_target_pieces(b, h, s));
            for (int i = 0; i < skmt_result_target_pieces(b, h, s); i++)
                same_piece(a, b, h, s, i);
        }
    }
}

/* ---- a batch of different requests --------------------------------------- */

static int64_t service_stat(skmt_service *s, const char *what)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_service_stat(s, i, &n)); i++)
        if (!strcmp(name, what)) return n;
    test_fail(__FILE__, __LINE__, "there is no statistic %s", what);
    return -1;
}

struct gate { pthread_mutex_t lock; atomic_bool reached; };

static void wait_at_gate(void *user, skmt_request *q)
{
    struct gate *g = user;

    (void)q;
    atomic_store(&g->reached, true);
    pthread_mutex_lock(&g->lock);
    pthread_mutex_unlock(&g->lock);
}

/* Keep the only thread of the service in a callback until the lock of the gate
 * is released. */
static skmt_request *hold_thread(skmt_service *s, struct gate *g)
{
    skmt_request *q = NULL;
    skmt_error err;

    pthread_mutex_lock(&g->lock);
    OK(skmt_request_new(&q, "the", &err));
    OK(skmt_request_on_answer(q, wait_at_gate, g, &err));
    OK(skmt_service_submit(s, q, 0, &err));
    while (!atomic_load(&g->reached)) usleep(500);
    return q;
}

/* All requests wait when the thread continues, so it decodes them together. */
TEST(a_mixed_batch_gives_each_request_what_it_gets_alone)
{
    struct gate g = { PTHREAD_MUTEX_INITIALIZER, false };
    skmt_options *o = options("batch=16 threads=1");
    skmt_request *q[ORDERS], *first;
    skmt_service *s = NULL;
    int64_t before, most = 0, sum = 0, passes;
    skmt_error err;
    struct shop d;

    shop_open(&d);
    OK(skmt_service_new(&s, d.model, o, &err));
    first = hold_thread(s, &g);
    for (int i = 0; i < ORDERS; i++) {
        q[i] = request_for(&d, &orders[i]);
        OK(skmt_service_submit(s, q[i], 0, &err));
    }
    CHECK(service_stat(s, "queued") > ORDERS);
    before = service_stat(s, "passes");
    pthread_mutex_unlock(&g.lock);
    for (int i = 0; i < ORDERS; i++) {
        skmt_result *want = result_alone(&d, &orders[i], &passes);

        OK(skmt_request_wait(q[i], &err));
        same_result(skmt_request_result(q[i]), want);
        CHECK_INT(skmt_request_error(q[i], NULL), SKMT_OK);
        skmt_result_free(want);
        sum += passes;
        if (passes > most) most = passes;
    }
    /* One batch, not one after the other. */
    passes = service_stat(s, "passes") - before;
    printf("     %d requests in %d passes, alone %d\n", ORDERS, (int)passes,
           (int)sum);
    CHECK(passes >= most && passes < 2 * most && passes < sum / 2);
    for (int i = 0; i < ORDERS; i++) skmt_request_free(q[i]);
    skmt_request_free(first);
    skmt_service_free(s);
    skmt_options_free(o);
    shop_close(&d);
}

TEST(a_request_has_the_options_of_the_service_by_default)
{
    skmt_options *o = options("beam=3 nbest=3");
    skmt_service *s = NULL;
    skmt_request *q = NULL;
    skmt_error err;
    struct shop d;

    shop_open(&d);
    OK(skmt_service_new(&s, d.model, o, &err));
    OK(skmt_request_new(&q, "the and in", &err));
    CHECK(skmt_request_result(q) == NULL);
    CHECK_INT(skmt_request_error(q, &err), SKMT_OK);
    CHECK_INT(skmt_request_wait(q, &err), SKMT_ERR_ARGUMENT);
    OK(skmt_service_submit(s, q, SKMT_NO_WAIT, &err));
    OK(skmt_request_wait(q, &err));
    CHECK_INT(skmt_result_hyps(skmt_request_result(q)), 3);
    CHECK_INT(skmt_service_submit(s, q, 0, &err), SKMT_ERR_ARGUMENT);
    skmt_service_free(s);
    /* The result outlives the service. */
    CHECK(strlen(skmt_result_text(skmt_request_result(q), 0)) > 0);
    skmt_request_free(q);
    skmt_request_free(NULL);
    skmt_service_free(NULL);
    skmt_options_free(o);
    shop_close(&d);
}

/* Setters have no effect after a request was submitted. */
TEST(a_submitted_request_does_not_change)
{
    skmt_options *o = options("nbest=2");
    skmt_service *s = NULL;
    skmt_request *q = NULL;
    skmt_error err;
    struct shop d;

    shop_open(&d);
    OK(skmt_service_new(&s, d.model, NULL, &err));
    OK(skmt_request_new(&q, "the and in", &err));
    skmt_request_set_priority(q, 3);
    skmt_request_set_deadline(q, 1000000);
    OK(skmt_service_submit(s, q, 0, &err));
    skmt_request_set_options(q, o);
    skmt_request_set_deadline(q, -5);
    skmt_request_set_priority(q, 1);
    skmt_request_use(q, d.tm[0], NULL);
    OK(skmt_request_set_prefix(q, "Never", &err));
    OK(skmt_request_set_pairs(q, given, 2, &err));
    OK(skmt_request_on_answer(q, NULL, NULL, &err));
    OK(skmt_request_wait(q, &err));
    CHECK_INT(skmt_result_hyps(skmt_request_result(q)), 1);
    skmt_request_free(q);
    skmt_service_free(s);
    skmt_options_free(o);
    shop_close(&d);
}

TEST(bad_requests_are_answered_with_errors)
{
    static const skmt_similar bad = { sizeof bad, "\xff", "x", 0 };
    skmt_options *o = options("max-source=31 max-len-b=1000");
    skmt_options *f32 = options("key-type=f32");
    skmt_service *s = NULL;
    skmt_keys *keys = NULL;
    skmt_request *q[5];
    skmt_error err;
    struct shop d;

    shop_open(&d);
    OK(skmt_service_new(&s, d.model, NULL, &err));
    OK(skmt_keys_new(&keys, d.model, f32, NULL, &err));
    for (size_t i = 0; i < COUNT(q); i++)
        OK(skmt_request_new(&q[i], i ? "the" : "\xff", &err));
    skmt_request_set_deadline(q[1], -1);
    skmt_request_cancel(q[2]);
    skmt_request_set_options(q[3], o);
    skmt_request_use(q[4], d.tm[0], keys);
    CHECK_INT(skmt_request_set_pairs(q[1], &bad, 1, &err), SKMT_ERR_TEXT);
    CHECK_INT(skmt_request_set_pairs(q[1], given, -1, &err), SKMT_ERR_ARGUMENT);
    for (size_t i = 0; i < COUNT(q); i++)
        OK(skmt_service_submit(s, q[i], 0, &err));
    CHECK_INT(skmt_request_wait(q[0], &err), SKMT_ERR_TEXT);
    CHECK_INT(err.status, SKMT_ERR_TEXT);
    CHECK_INT(skmt_request_wait(q[1], NULL), SKMT_ERR_DEADLINE);
    CHECK_INT(skmt_request_wait(q[2], NULL), SKMT_ERR_CANCELED);
    skmt_request_wait(q[3], NULL);
    CHECK_INT(skmt_request_wait(q[4], &err), SKMT_ERR_ARGUMENT);
    CHECK(strstr(err.message, "key-type") != NULL);
    CHECK_INT(service_stat(s, "late"), 1);
    CHECK_INT(service_stat(s, "canceled"), 1);
    CHECK_INT(service_stat(s, "answered"), COUNT(q));
    for (size_t i = 0; i < COUNT(q); i++) skmt_request_free(q[i]);
    skmt_service_free(s);
    skmt_keys_free(keys);
    skmt_options_free(o);
    skmt_options_free(f32);
    shop_close(&d);
}

/* The first search after an import finds a file of the index missing and makes
 * it. That is no error. */
TEST(an_imported_memory_can_be_searched_at_once)
{
    const skmt_tm_info imported = { .size = sizeof imported,
                                    .name = "imported" };
    const char *path;
    skmt_service *s = NULL;
    skmt_request *q = NULL;
    skmt_error err;
    struct shop d;

    shop_open(&d);
    path = scratch_path(&d.dir, "in.tsv");
    REQUIRE(scratch_write(&d.dir, "in.tsv", "the and in\tZugegeben\n"
                          "of the\tin the of\nand this\tthis and\n"));
    OK(skmt_tm_create(d.tm[0], &imported, &err));
    OK(skmt_tm_import(d.tm[0], "imported", &path, 1, NULL, &err));
    OK(skmt_service_new(&s, d.model, NULL, &err));
    OK(skmt_request_new(&q, "the and in", &err));
    skmt_request_use(q, d.tm[0], NULL);
    OK(skmt_service_submit(s, q, 0, &err));
    OK(skmt_request_wait(q, &err));
    if (skmt_request_result(q))
        CHECK_STR(skmt_result_text(skmt_request_result(q), 0),
                  "Zugegeben");
    skmt_request_free(q);
    skmt_service_free(s);
    shop_close(&d);
}

/* Without a translation in another thread there is nothing to cancel. */
TEST(canceling_an_idle_session_does_nothing)
{
    skmt_result *a = NULL, *b = NULL;
    skmt_session *s = NULL;
    skmt_error err;
    struct shop d;

    shop_open(&d);
    OK(skmt_session_new(&s, d.model, NULL, &err));
    skmt_session_cancel(s);
    OK(skmt_session_translate(s, "the and in", NULL, &a, &err));
    skmt_session_cancel(s);
    OK(skmt_session_translate(s, "the and in", NULL, &b, &err));
    same_result(a, b);
    skmt_result_free(a);
    skmt_result_free(b);
    skmt_session_free(s);
    shop_close(&d);
}

/* ---- random -------------------------------------------------------------- */

enum { THREADS = 16, SLOTS = 8 };

/* A request that a thread lends to the others, which may cancel it. */
struct slot { pthread_mutex_t lock; skmt_request *q; };

struct crowd {
    struct shop *d;
    skmt_service *s;
    char *want[ORDERS];
    struct slot slot[SLOTS];
    double end;
    atomic_long submitted, called, done, canceled, late, thread_no;
};

static double now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct waiter { struct crowd *c; int order; bool frees; };

static void check_text(struct crowd *c, int order, skmt_request *q)
{
    skmt_result *r = skmt_request_result(q);
    skmt_status st = skmt_request_error(q, NULL);

    CHECK((r != NULL) == (st == SKMT_OK));
    if (r) CHECK_STR(skmt_result_text(r, 0), c->want[order]);
    else CHECK(st == SKMT_ERR_CANCELED || st == SKMT_ERR_DEADLINE);
    atomic_fetch_add(st == SKMT_OK ? &c->done
                     : st == SKMT_ERR_CANCELED ? &c->canceled : &c->late, 1);
}

static void answered(void *user, skmt_request *q)
{
    struct waiter *w = user;

    check_text(w->c, w->order, q);
    atomic_fetch_add(&w->c->called, 1);
    if (w->frees) skmt_request_free(q);
    free(w);
}

/* Lend the request to other threads, and cancel what was there before. */
static void lend(struct crowd *c, int i, skmt_request *q)
{
    struct slot *s = &c->slot[i];

    pthread_mutex_lock(&s->lock);
    if (s->q) skmt_request_cancel(s->q);
    s->q = q;
    pthread_mutex_unlock(&s->lock);
}

static void take_back(struct crowd *c, int i, skmt_request *q)
{
    struct slot *s = &c->slot[i];

    pthread_mutex_lock(&s->lock);
    if (s->q == q) s->q = NULL;
    pthread_mutex_unlock(&s->lock);
}

/* One request: submitted, and then waited for, canceled or forgotten. */
static void random_request(struct crowd *c, uint64_t *seed)
{
    int order = (int)(tiny_next(seed) % ORDERS), way = tiny_next(seed) % 6;
    int at = (int)(tiny_next(seed) % SLOTS);
    struct waiter *w = malloc(sizeof *w);
    skmt_request *q = request_for(c->d, &orders[order]);
    skmt_error err;
    skmt_status st;

    *w = (struct waiter){ c, order, way == 0 };
    OK(skmt_request_on_answer(q, answered, w, &err));
    skmt_request_set_priority(q, (int)(tiny_next(seed) % 3));
    if (tiny_next(seed) % 4 == 0)
        skmt_request_set_deadline(q, (int64_t)(tiny_next(seed) % 30));
    if (way == 1) lend(c, at, q);
    st = skmt_service_submit(c->s, q, way == 2 ? SKMT_NO_WAIT : 0, &err);
    if (st) {
        CHECK(st == SKMT_ERR_LIMIT && way == 2);
        free(w);
        skmt_request_free(q);
        return;
    }
    atomic_fetch_add(&c->submitted, 1);
    if (way == 0) return;       /* its callback frees it */
    if (way == 3) {
        usleep((useconds_t)(tiny_next(seed) % 2000));
        skmt_request_cancel(q);
    }
    if (way != 4) skmt_request_wait(q, NULL);
    if (way == 1) take_back(c, at, q);
    skmt_request_free(q);       /* way 4: cancels it */
}

static void *submit_at_random(void *arg)
{
    struct crowd *c = arg;
    uint64_t seed = 77 + (uint64_t)atomic_fetch_add(&c->thread_no, 1);
    int64_t n;

    while (now_seconds() < c->end) {
        random_request(c, &seed);
        if (tiny_next(&seed) % 8 == 0) skmt_service_stat(c->s, 0, &n);
    }
    return NULL;
}

TEST(threads_submit_and_cancel_at_random)
{
    const char *seconds = getenv("REQUEST_SECONDS");
    skmt_options *o = options("batch=6 threads=3 max-source=32");
    static struct crowd c;
    pthread_t thread[THREADS];
    skmt_error err;
    struct shop d;

    shop_open(&d);
    memset(&c, 0, sizeof c);
    c.d = &d;
    for (int i = 0; i < SLOTS; i++) pthread_mutex_init(&c.slot[i].lock, NULL);
    for (int i = 0; i < ORDERS; i++) {
        skmt_result *r = result_alone(&d, &orders[i], NULL);

        c.want[i] = strdup(skmt_result_text(r, 0));
        skmt_result_free(r);
    }
    OK(skmt_service_new(&c.s, d.model, o, &err));
    c.end = now_seconds() + (seconds ? atof(seconds) : 2);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, submit_at_random, &c));
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    skmt_service_free(c.s);
    printf("     %ld requests: %ld done, %ld canceled, %ld late\n",
           atomic_load(&c.submitted), atomic_load(&c.done),
           atomic_load(&c.canceled), atomic_load(&c.late));
    CHECK_INT(atomic_load(&c.called), atomic_load(&c.submitted));
    CHECK(atomic_load(&c.done) > 0 && atomic_load(&c.canceled) > 0);
    for (int i = 0; i < ORDERS; i++) free(c.want[i]);
    skmt_options_free(o);
    shop_close(&d);
}
