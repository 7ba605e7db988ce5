/* test_workers.c - tests requests, workers and services: the order of jobs,
 * canceling, deadlines, full queues, many submitters, and failing devices.
 *
 * Most tests use a service without threads and run its turns themselves, so
 * that they decide what happens when. tests/long/requests_tsan.sh runs this
 * test with ThreadSanitizer. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "engine/service.h"
#include "engine/session.h"
#include "tiny_net.h"

/* ---- an office: a model, a service, and requests that record answers ----- */

enum { MOST = 64 };

struct office {
    struct tiny_net net;
    struct engine *en;
    struct options o;
    struct service *s;
    struct request *q[MOST];    /* NULL: freed */
    pthread_mutex_t lock;       /* guards the following */
    int order[MOST], n_order;   /* indices in the order of the answers */
    int n_calls[MOST];
    enum status status[MOST];
    char *text[MOST];
};

struct tag { struct office *f; int i; };

static struct options tiny_options(int batch)
{
    struct options o;

    options_defaults(&o);
    o.beam = 2;
    o.batch = batch;
    o.max_len_a = 0;
    o.max_len_b = 6;
    return o;
}

/* threads 0: the test runs the turns. */
static bool office_open(struct office *f, int batch, int threads)
{
    enum workers_mode mode = threads ? WORKERS_WITH_THREADS
                                     : WORKERS_WITHOUT_THREADS;
    struct tiny o = TINY_DEFAULT;
    struct batch_limits l;
    struct err e;

    memset(f, 0, sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    o.enc_layers = o.dec_layers = 1;
    f->o = tiny_options(batch);
    f->o.threads = threads ? threads : 1;
    if (!tiny_net_write(&f->net, &o, DT_I8) ||
        !CHECK_OK(engine_open(&f->en, tiny_net_file(&f->net, "m.skmt"), &e),
                  &e))
        return false;
    l = service_limits(f->en, &f->o);
    return CHECK_OK(service_new(&f->s, f->en, &f->o, &l, mode, &e), &e);
}

static void office_close(struct office *f)
{
    service_free(f->s);
    for (int i = 0; i < MOST; i++) {
        request_free(f->q[i]);
        free(f->text[i]);
    }
    engine_close(f->en);
    tiny_net_close(&f->net);
    pthread_mutex_destroy(&f->lock);
}

static void record(void *user, struct request *q)
{
    struct tag *t = user;
    struct office *f = t->f;
    struct result *r = request_result(q);
    struct err e = request_error(q);

    CHECK((r != NULL) == (e.status == ST_OK));
    CHECK(!e.status || e.msg[0]);
    pthread_mutex_lock(&f->lock);
    CHECK(f->n_order < MOST);
    f->order[f->n_order++] = t->i;
    f->n_calls[t->i]++;
    f->status[t->i] = e.status;
    free(f->text[t->i]);
    f->text[t->i] = strdup(r ? r->hyps[0].text : e.msg);
    pthread_mutex_unlock(&f->lock);
}

/* Make request i. It is submitted later. */
static struct request *make(struct office *f, int i, const char *text)
{
    struct tag *t = malloc(sizeof *t);
    struct err e;

    *t = (struct tag){ f, i };
    CHECK_OK(request_new(&f->q[i], text, strlen(text), &e), &e);
    request_set_callback(f->q[i], record, t, free);
    return f->q[i];
}

static void submit(struct office *f, int i)
{
    struct err e;

    CHECK_OK(service_submit(f->s, f->q[i], SUBMIT_WAIT, &e), &e);
}

static void ask(struct office *f, int i, const char *text, int priority)
{
    make(f, i, text)->priority = priority;
    submit(f, i);
}

static void turn(struct office *f, int n)
{
    while (n-- > 0) workers_turn(service_workers(f->s));
}

static void finish(struct office *f)
{
    while (workers_turn(service_workers(f->s))) continue;
}

static struct workers_stats stats(struct office *f)
{
    return workers_stats(service_workers(f->s));
}

/* What a session says. */
static char *alone(struct office *f, const char *text)
{
    struct session_text t = { .text = text, .len = strlen(text) };
    struct session *s;
    struct err e;
    char *out;

    if (!CHECK_OK(session_new(&s, f->en, &f->o, &e), &e)) return NULL;
    CHECK_OK(session_run(s, &t, 1, &e), &e);
    out = strdup(t.result ? t.result->hyps[0].text : "");
    result_free(t.result);
    session_free(s);
    return out;
}

static void check_answer(struct office *f, int i, enum status want)
{
    CHECK_INT(f->n_calls[i], 1);
    CHECK_INT(f->status[i], want);
    if (f->q[i]) CHECK_INT(request_error(f->q[i]).status, want);
    if (f->q[i]) CHECK_INT(request_result(f->q[i]) != NULL, !want);
}

/* ---- order --------------------------------------------------------------- */

TEST(a_request_says_what_a_session_says)
{
    static const char *const text[] = { "the and in. Then of the!", "the",
                                        "", " \n", "and of" };
    struct office f;

    REQUIRE(office_open(&f, 2, 0));
    for (size_t i = 0; i < COUNT(text); i++) ask(&f, (int)i, text[i], 0);
    finish(&f);
    for (size_t i = 0; i < COUNT(text); i++) {
        char *want = alone(&f, text[i]);

        check_answer(&f, (int)i, ST_OK);
        CHECK_STR(f.text[i], want);
        free(want);
    }
    CHECK_INT(stats(&f).answered, COUNT(text));
    CHECK_INT(stats(&f).failed + stats(&f).live + stats(&f).queued, 0);
    CHECK(stats(&f).work.passes > 0);
    office_close(&f);
}

/* One lane, so that one request is decoded at a time. */
TEST(higher_priorities_come_first_then_the_order_of_submission)
{
    static const int priority[] = { 0, 5, 0, -3, 5, 9, 0 };
    static const int want[] = { 5, 1, 4, 0, 2, 6, 3 };
    struct office f;

    REQUIRE(office_open(&f, 1, 0));
    for (int i = 0; i < 7; i++) ask(&f, i, "the and in. Of the!", priority[i]);
    CHECK_INT(stats(&f).queued, 14);
    finish(&f);
    CHECK_INT(f.n_order, 7);
    for (int i = 0; i < 7; i++) CHECK_INT(f.order[i], want[i]);
    office_close(&f);
}

/* A job that has begun is not interrupted; those that wait are overtaken. */
TEST(a_late_comer_with_priority_overtakes)
{
    struct office f;

    REQUIRE(office_open(&f, 1, 0));
    for (int i = 0; i < 3; i++) ask(&f, i, "the and in", 0);
    turn(&f, 2);
    ask(&f, 3, "of the", 1);
    finish(&f);
    CHECK_INT(f.order[0], 0);
    CHECK_INT(f.order[1], 3);
    office_close(&f);
}

/* Requests of different lengths are answered when they are finished. */
TEST(answers_come_in_any_order)
{
    struct office f;

    REQUIRE(office_open(&f, 4, 0));
    make(&f, 0, "the and in of the");
    f.o.max_len_b = 6;
    request_set_options(f.q[0], &f.o);
    make(&f, 1, "the and in of the");
    f.o.max_len_b = 2;
    request_set_options(f.q[1], &f.o);
    submit(&f, 0);
    submit(&f, 1);
    finish(&f);
    CHECK_INT(f.order[0], 1);
    CHECK_INT(f.order[1], 0);
    office_close(&f);
}

/* ---- cancel -------------------------------------------------------------- */

TEST(cancel_in_the_queue)
{
    struct office f;

    REQUIRE(office_open(&f, 1, 0));
    for (int i = 0; i < 3; i++) ask(&f, i, "the and in. Of the!", 0);
    CHECK_INT(stats(&f).queued, 6);
    request_cancel(f.q[1]);
    check_answer(&f, 1, ST_CANCELED);   /* at once */
    CHECK_INT(stats(&f).queued, 4);
    request_cancel(f.q[1]);             /* again: nothing */
    request_cancel(f.q[2]);             /* the last of the queue */
    ask(&f, 3, "and", 0);
    finish(&f);
    check_answer(&f, 0, ST_OK);
    check_answer(&f, 1, ST_CANCELED);
    check_answer(&f, 2, ST_CANCELED);
    check_answer(&f, 3, ST_OK);
    request_cancel(f.q[0]);             /* too late */
    check_answer(&f, 0, ST_OK);
    CHECK_INT(stats(&f).canceled, 2);
    office_close(&f);
}

TEST(cancel_in_the_batch)
{
    struct office f;
    char *want;

    REQUIRE(office_open(&f, 4, 0));
    ask(&f, 0, "the and in. Of the! And is. On it. This and that.", 0);
    ask(&f, 1, "the in", 0);
    turn(&f, 1);
    CHECK_INT(stats(&f).decoding, 4);
    CHECK_INT(stats(&f).queued, 2);
    request_cancel(f.q[0]);
    check_answer(&f, 0, ST_CANCELED);   /* at once; its jobs are still there */
    CHECK_INT(stats(&f).decoding, 4);
    CHECK_INT(stats(&f).queued, 1);
    turn(&f, 1);                        /* now they have left */
    CHECK_INT(stats(&f).decoding, 1);
    finish(&f);
    want = alone(&f, "the in");
    CHECK_STR(f.text[1], want);
    CHECK_INT(stats(&f).decoding, 0);
    free(want);
    office_close(&f);
}

TEST(a_request_can_be_canceled_before_it_is_submitted)
{
    struct office f;

    REQUIRE(office_open(&f, 1, 0));
    request_cancel(make(&f, 0, "the"));
    CHECK_INT(f.n_calls[0], 0);
    submit(&f, 0);
    check_answer(&f, 0, ST_CANCELED);
    /* One that is never submitted is not answered. */
    request_cancel(make(&f, 1, "the"));
    request_free(make(&f, 2, "the"));
    f.q[2] = NULL;
    CHECK_INT(f.n_calls[1] + f.n_calls[2], 0);
    office_close(&f);
}

TEST(a_freed_request_is_canceled)
{
    struct office f;

    REQUIRE(office_open(&f, 1, 0));
    ask(&f, 0, "the and", 0);
    ask(&f, 1, "the and", 0);
    turn(&f, 1);
    for (int i = 0; i < 2; i++) {       /* in the batch, in the queue */
        request_free(f.q[i]);
        f.q[i] = NULL;
        check_answer(&f, i, ST_CANCELED);
    }
    finish(&f);
    CHECK_INT(stats(&f).decoding, 0);
    office_close(&f);
}

TEST(a_service_that_is_freed_answers_its_requests)
{
    struct office f;

    for (int mode = 0; mode < 2; mode++) {
        REQUIRE(office_open(&f, 1, mode));
        for (int i = 0; i < 10; i++) ask(&f, i, "the and in of the", 0);
        if (!mode) turn(&f, 1);
        service_free(f.s);
        f.s = NULL;
        for (int i = 0; i < 10; i++) {
            CHECK_INT(f.n_calls[i], 1);
            request_wait(f.q[i]);       /* does not need the service */
            request_cancel(f.q[i]);
            if (!mode) check_answer(&f, i, ST_CANCELED);
        }
        office_close(&f);
    }
}

/* ---- deadlines ----------------------------------------------------------- */

TEST(deadlines_in_the_queue_and_in_the_batch)
{
    struct office f;
    uint64_t before;

    REQUIRE(office_open(&f, 1, 0));
    for (int i = 0; i < 3; i++) make(&f, i, "the and in of the");
    f.q[0]->deadline = f.q[1]->deadline = clock_seconds() + 0.05;
    f.q[2]->deadline = clock_seconds() + 1e6;
    for (int i = 0; i < 3; i++) submit(&f, i);
    turn(&f, 1);                /* 0 is in the batch, 1 in the queue */
    usleep(60000);
    before = stats(&f).work.passes;
    turn(&f, 1);
    CHECK(stats(&f).work.passes <= before + 1);
    check_answer(&f, 0, ST_DEADLINE);
    check_answer(&f, 1, ST_DEADLINE);
    CHECK_STR(f.text[0], "the deadline has passed");
    finish(&f);
    check_answer(&f, 2, ST_OK);
    CHECK_INT(stats(&f).late, 2);
    office_close(&f);
}

TEST(a_deadline_may_have_passed_already)
{
    struct office f;

    REQUIRE(office_open(&f, 1, 0));
    make(&f, 0, "the and")->deadline = clock_seconds() - 1;
    submit(&f, 0);
    check_answer(&f, 0, ST_DEADLINE);
    CHECK_INT(stats(&f).queued, 0);
    office_close(&f);
}

/* Nobody runs turns: the thread that waits for a request answers it. */
TEST(who_waits_answers_late_requests)
{
    struct office f;

    REQUIRE(office_open(&f, 1, 0));
    for (int i = 0; i < 2; i++)
        make(&f, i, "the and")->deadline = clock_seconds() + 0.02 * (i + 1);
    for (int i = 0; i < 2; i++) submit(&f, i);
    for (int i = 1; i >= 0; i--) {
        request_wait(f.q[i]);
        check_answer(&f, i, ST_DEADLINE);
    }
    office_close(&f);
}

struct door { pthread_mutex_t lock; atomic_bool reached; };

static void wait_at_door(void *user, struct request *q)
{
    struct door *d = user;

    (void)q;
    atomic_store(&d->reached, true);
    pthread_mutex_lock(&d->lock);
    pthread_mutex_unlock(&d->lock);
}

/* Keep the only worker of an office in a callback until the door is opened. */
static void close_door(struct office *f, struct door *d, struct request **q)
{
    struct err e;

    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_lock(&d->lock);
    atomic_init(&d->reached, false);
    CHECK_OK(request_new(q, "the", 3, &e), &e);
    request_set_callback(*q, wait_at_door, d, NULL);
    CHECK_OK(service_submit(f->s, *q, SUBMIT_WAIT, &e), &e);
    while (!atomic_load(&d->reached)) usleep(500);
}

static void open_door(struct door *d, struct request *q)
{
    pthread_mutex_unlock(&d->lock);
    request_wait(q);
    request_free(q);
    pthread_mutex_destroy(&d->lock);
}

/* One worker is busy and the other one is idle; it must wake up for a deadline.
 * The request is not in the queue yet, so nothing else wakes it up. */
TEST(an_idle_worker_answers_late_requests)
{
    struct result *r = calloc(1, sizeof *r);
    struct err e, none = { 0 };
    struct request *busy;
    struct office f;
    struct door d;
    int calls = 0;

    REQUIRE(office_open(&f, 1, 2));
    close_door(&f, &d, &busy);
    make(&f, 0, "the and")->deadline = clock_seconds() + 0.02;
    CHECK_OK(workers_begin(service_workers(f.s), f.q[0], true, &e), &e);
    while (!calls) {
        usleep(1000);
        pthread_mutex_lock(&f.lock);
        calls = f.n_calls[0];
        pthread_mutex_unlock(&f.lock);
    }
    workers_enter(service_workers(f.s), f.q[0], r, &none, true);
    open_door(&d, busy);
    request_wait(f.q[0]);
    check_answer(&f, 0, ST_DEADLINE);
    office_close(&f);
}

/* ---- a full queue -------------------------------------------------------- */

enum { MOST_FILL = 200 };

/* Fill the queue of an office whose worker is at the door. Returns the number
 * of requests. */
static int fill_queue(struct office *f, struct request **list)
{
    enum status st = ST_OK;
    struct err e;
    int n = 0;

    while (!st && n < MOST_FILL) {
        CHECK_OK(request_new(&list[n], "the and", 7, &e), &e);
        st = service_submit(f->s, list[n], SUBMIT_NO_WAIT, &e);
        if (!st) n++;
        else request_free(list[n]);
    }
    CHECK_INT(st, ST_LIMIT);
    CHECK_STR(e.msg, "the queue is full");
    return n;
}

static void *submit_first(void *arg)
{
    submit(arg, 0);
    return NULL;
}

/* Submit request 0 in another thread, which has to wait for room. */
static void submit_elsewhere(struct office *f, pthread_t *thread)
{
    uint64_t live = stats(f).live;

    CHECK(!pthread_create(thread, NULL, submit_first, f));
    while (stats(f).live == live) usleep(500);
    usleep(2000);
}

TEST(submit_waits_while_the_queue_is_full)
{
    static struct request *list[MOST_FILL];

    /* What ends the waiting: room, a deadline, or somebody who cancels. */
    for (int how = 0; how < 3; how++) {
        struct request *busy;
        struct office f;
        struct door d;
        pthread_t thread;
        int n;

        REQUIRE(office_open(&f, 2, 1));
        close_door(&f, &d, &busy);
        n = fill_queue(&f, list);
        CHECK_INT(n, 4 * 2 + 16);
        make(&f, 0, "in the and");
        if (how == 1) f.q[0]->deadline = clock_seconds() + 0.05;
        submit_elsewhere(&f, &thread);
        CHECK_INT(stats(&f).queued, n);
        if (how == 0) open_door(&d, busy);
        if (how == 2) request_cancel(f.q[0]);
        pthread_join(thread, NULL);
        request_wait(f.q[0]);
        check_answer(&f, 0, how == 0 ? ST_OK
                            : how == 1 ? ST_DEADLINE : ST_CANCELED);
        if (how) open_door(&d, busy);
        for (int i = 0; i < n; i++) {
            request_wait(list[i]);
            CHECK_INT(request_error(list[i]).status, ST_OK);
            request_free(list[i]);
        }
        office_close(&f);
    }
}

/* Submit request i with this priority; it must not wait. */
static enum status try_priority(struct service *s, struct request **list,
                                int i, int priority)
{
    enum status st;
    struct err e;

    CHECK_OK(request_new(&list[i], "the and", 7, &e), &e);
    list[i]->priority = priority;
    st = service_submit(s, list[i], SUBMIT_NO_WAIT, &e);
    if (st) request_free(list[i]);
    return st;
}

/* A higher priority than that of some job finds room until the queue has twice
 * as many jobs. */
TEST(a_full_queue_has_room_for_higher_priorities)
{
    static struct request *list[MOST_FILL];
    struct request *busy;
    struct office f;
    struct door d;
    int n, most;

    REQUIRE(office_open(&f, 2, 1));
    close_door(&f, &d, &busy);
    most = n = fill_queue(&f, list);
    CHECK_INT(try_priority(f.s, list, n, -1), ST_LIMIT);
    CHECK_INT(try_priority(f.s, list, n, 0), ST_LIMIT);
    while (n < MOST_FILL && !try_priority(f.s, list, n, 1)) n++;
    CHECK_INT(n, 2 * most);
    CHECK_INT(try_priority(f.s, list, n, 2), ST_LIMIT);
    open_door(&d, busy);
    for (int i = 0; i < n; i++) {
        request_wait(list[i]);
        CHECK_INT(request_error(list[i]).status, ST_OK);
        request_free(list[i]);
    }
    office_close(&f);
}

/* The request of a service, and what its callback submits to another one. */
struct relay {
    struct service *to;
    atomic_int status;          /* of that submission; -1: none yet */
};

static void submit_there(void *user, struct request *q)
{
    struct relay *r = user;
    struct request *next;
    struct err e;

    (void)q;
    CHECK_OK(request_new(&next, "the", 3, &e), &e);
    atomic_store(&r->status, service_submit(r->to, next, SUBMIT_WAIT, &e));
    request_free(next);
}

/* Two services that wait for each other would wait forever. */
TEST(a_callback_does_not_wait_for_another_service)
{
    static struct request *list[MOST_FILL];
    struct office f[2];
    struct relay r;
    struct request *busy, *q;
    struct door d;
    struct err e;
    int n;

    REQUIRE(office_open(&f[0], 1, 1) && office_open(&f[1], 1, 1));
    close_door(&f[1], &d, &busy);
    n = fill_queue(&f[1], list);
    while (n < MOST_FILL && !try_priority(f[1].s, list, n, 1)) n++;
    r = (struct relay){ f[1].s, -1 };
    REQUIRE_OK(request_new(&q, "the", 3, &e), &e);
    request_set_callback(q, submit_there, &r, NULL);
    CHECK_OK(service_submit(f[0].s, q, SUBMIT_WAIT, &e), &e);
    for (int i = 0; i < 5000 && atomic_load(&r.status) < 0; i++) usleep(1000);
    CHECK_INT(atomic_load(&r.status), ST_LIMIT);
    open_door(&d, busy);
    request_free(q);
    for (int i = 0; i < n; i++) request_free(list[i]);
    office_close(&f[0]);
    office_close(&f[1]);
}

/* ---- callbacks ----------------------------------------------------------- */

struct chain {
    struct office *f;
    const char *text;
    int each;                   /* requests to submit for each answer */
    atomic_int left;
    atomic_int answered, refused;
};

static void submit_more(void *user, struct request *q);

static void submit_link(struct chain *c)
{
    struct request *q;
    enum status st;
    struct err e;

    CHECK_OK(request_new(&q, c->text, strlen(c->text), &e), &e);
    request_set_callback(q, submit_more, c, NULL);
    st = service_submit(c->f->s, q, SUBMIT_WAIT, &e);
    if (!st) return;
    CHECK_INT(st, ST_LIMIT);
    request_free(q);
    atomic_fetch_add(&c->refused, 1);
}

/* Submits more requests for each answer, as long as some are left, and frees
 * the one that was answered. If the queue is full, the worker that runs this
 * must not wait for room. */
static void submit_more(void *user, struct request *q)
{
    struct chain *c = user;

    CHECK(request_result(q) != NULL);
    request_free(q);
    for (int i = 0; i < c->each && atomic_fetch_sub(&c->left, 1) > 0; i++)
        submit_link(c);
    atomic_fetch_add(&c->answered, 1);
}

/* Follow a chain of n requests to its end. Returns how many were refused. */
static int run_chain(const char *text, int each, int n)
{
    struct office f;
    struct chain c = { &f, text, each, n - 1, 0, 0 };

    if (!CHECK(office_open(&f, 1, 1))) return -1;
    submit_link(&c);
    while (atomic_load(&c.answered) + atomic_load(&c.refused) < n)
        usleep(1000);
    office_close(&f);
    return atomic_load(&c.refused);
}

/* With one request for each answer there is always room; with two, the queue
 * is soon full. */
TEST(a_callback_can_submit_and_free)
{
    CHECK_INT(run_chain("the and", 1, 100), 0);
    CHECK(run_chain("the and", 2, 400) > 0);
}

/* A blank text is answered when it is submitted. If its callback were called
 * at once, the stack would overflow. */
TEST(callbacks_are_not_nested)
{
    CHECK_INT(run_chain("", 1, 200000), 0);
}

enum { DOMINOES = 50000 };
struct dominoes { struct request *q[DOMINOES]; int at; };

static void cancel_next(void *user, struct request *q)
{
    struct dominoes *d = user;

    CHECK(q == d->q[d->at]);
    if (++d->at < DOMINOES) request_cancel(d->q[d->at]);
}

TEST(a_callback_can_cancel_other_requests)
{
    static struct dominoes d;
    struct office f;
    struct err e;

    REQUIRE(office_open(&f, 1, 0));
    for (int i = 0; i < DOMINOES; i++) {
        CHECK_OK(request_new(&d.q[i], "the", 3, &e), &e);
        request_set_callback(d.q[i], cancel_next, &d, NULL);
        CHECK_OK(service_submit(f.s, d.q[i], SUBMIT_WAIT, &e), &e);
    }
    request_cancel(d.q[0]);
    CHECK_INT(d.at, DOMINOES);
    CHECK_INT(stats(&f).live + stats(&f).queued, 0);
    for (int i = 0; i < DOMINOES; i++) request_free(d.q[i]);
    office_close(&f);
}

static void wait_for_blank(void *user, struct request *q)
{
    struct office *f = user;

    (void)q;
    ask(f, 1, "", 0);
    CHECK_INT(f->n_calls[1], 0);
    request_wait(f->q[1]);
    check_answer(f, 1, ST_OK);
}

/* The answer that it waits for is to be given by its own thread. */
TEST(a_callback_can_wait_for_what_is_answered_at_once)
{
    struct office f;
    struct err e;

    REQUIRE(office_open(&f, 1, 0));
    REQUIRE_OK(request_new(&f.q[0], "", 0, &e), &e);
    request_set_callback(f.q[0], wait_for_blank, &f, NULL);
    submit(&f, 0);
    CHECK_INT(f.n_calls[1], 1);
    office_close(&f);
}

/* ---- freeing ------------------------------------------------------------- */

struct freer { struct request *q; atomic_bool done; };

static void *free_elsewhere(void *arg)
{
    struct freer *r = arg;

    request_free(r->q);
    atomic_store(&r->done, true);
    return NULL;
}

/* The callback of a request runs in a worker while another thread frees it. */
TEST(free_waits_for_a_callback_that_runs)
{
    struct freer r = { NULL, false };
    struct office f;
    struct door d;
    pthread_t thread;

    REQUIRE(office_open(&f, 1, 1));
    close_door(&f, &d, &r.q);
    REQUIRE(!pthread_create(&thread, NULL, free_elsewhere, &r));
    usleep(20000);
    CHECK(!atomic_load(&r.done));
    pthread_mutex_unlock(&d.lock);
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&d.lock);
    office_close(&f);
}

struct leaver { atomic_bool reached, go; };

static void free_own(void *user, struct request *q)
{
    (void)user;
    request_free(q);
}

static void wait_until_told(void *user)
{
    struct leaver *l = user;

    atomic_store(&l->reached, true);
    while (!atomic_load(&l->go)) usleep(500);
}

static void *cancel_elsewhere(void *arg)
{
    request_cancel(arg);
    return NULL;
}

/* A thread cancels a request whose callback frees it. Before that thread is
 * done, the service is freed, and the request was the last to need the
 * workers. ThreadSanitizer sees if they are used. */
TEST(who_cancels_may_be_the_last_to_use_the_workers)
{
    struct leaver l = { false, false };
    struct request *q;
    struct office f;
    pthread_t thread;
    struct err e;

    REQUIRE(office_open(&f, 1, 0));
    REQUIRE_OK(request_new(&q, "the", 3, &e), &e);
    request_set_callback(q, free_own, &l, wait_until_told);
    CHECK_OK(service_submit(f.s, q, SUBMIT_WAIT, &e), &e);
    REQUIRE(!pthread_create(&thread, NULL, cancel_elsewhere, q));
    while (!atomic_load(&l.reached)) usleep(500);
    service_free(f.s);
    f.s = NULL;
    atomic_store(&l.go, true);
    pthread_join(thread, NULL);
    office_close(&f);
}

/* The time to cancel n requests of a queue, by the time to submit them. */
TEST(a_long_queue_is_canceled_in_one_pass)
{
    enum { N = 20000 };
    static struct request *q[N];

    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        double start = clock_seconds(), submitted, canceled;
        struct office f;
        struct err e;

        REQUIRE(office_open(&f, 1, 0));
        for (int i = 0; i < N; i++) {
            CHECK_OK(request_new(&q[i], "the", 3, &e), &e);
            CHECK_OK(service_submit(f.s, q[i], SUBMIT_WAIT, &e), &e);
        }
        submitted = clock_seconds() - start;
        start = clock_seconds();
        if (!one_by_one) workers_cancel_all(service_workers(f.s));
        for (int i = N - 1; i >= 0; i--) request_cancel(q[i]);
        canceled = clock_seconds() - start;
        CHECK_INT(stats(&f).canceled, N);
        if (canceled > 5 * submitted)
            test_fail(__FILE__, __LINE__, "%g s to cancel, %g s to submit",
                      canceled, submitted);
        for (int i = 0; i < N; i++) request_free(q[i]);
        office_close(&f);
    }
}

/* ---- many threads -------------------------------------------------------- */

enum { SUBMITTERS = 6, EACH = 30, TEXTS = 4 };

static const char *const crowd_text[TEXTS] = { "the and in. Of the!", "",
                                               "and of the in", "this is it" };

struct crowd { struct office *f; char *want[TEXTS]; };

static void *submit_many(void *arg)
{
    struct crowd *c = arg;
    struct request *q[EACH];
    struct err e;

    for (int i = 0; i < EACH; i++) {
        const char *text = crowd_text[i % TEXTS];

        CHECK_OK(request_new(&q[i], text, strlen(text), &e), &e);
        q[i]->priority = i % 3;
        CHECK_OK(service_submit(c->f->s, q[i], SUBMIT_WAIT, &e), &e);
        if (i % 5 == 4) request_cancel(q[i]);
    }
    for (int i = 0; i < EACH; i++) {
        struct result *r;

        request_wait(q[i]);
        r = request_result(q[i]);
        if (i % 5 != 4) CHECK(r != NULL);
        if (r) CHECK_STR(r->hyps[0].text, c->want[i % TEXTS]);
        request_free(q[i]);
    }
    return NULL;
}

TEST(many_threads_submit)
{
    struct office f;
    struct crowd c = { &f, { NULL } };
    pthread_t thread[SUBMITTERS];

    REQUIRE(office_open(&f, 3, 3));
    for (int i = 0; i < TEXTS; i++) c.want[i] = alone(&f, crowd_text[i]);
    for (int i = 0; i < SUBMITTERS; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, submit_many, &c));
    for (int i = 0; i < SUBMITTERS; i++) pthread_join(thread[i], NULL);
    CHECK_INT(stats(&f).answered, SUBMITTERS * EACH);
    CHECK_INT(stats(&f).live, 0);
    for (int i = 0; i < TEXTS; i++) free(c.want[i]);
    office_close(&f);
}

static void *wait_for_first(void *arg)
{
    struct office *f = arg;

    request_wait(f->q[0]);
    return NULL;
}

/* Another thread waits for a request when its service is freed. */
TEST(who_waits_when_the_service_is_freed_returns)
{
    struct office f;
    pthread_t thread;

    REQUIRE(office_open(&f, 1, 0));
    ask(&f, 0, "the and", 0);
    REQUIRE(!pthread_create(&thread, NULL, wait_for_first, &f));
    usleep(2000);
    service_free(f.s);
    f.s = NULL;
    pthread_join(thread, NULL);
    check_answer(&f, 0, ST_CANCELED);
    office_close(&f);
}

/* ---- sessions ------------------------------------------------------------ */

struct stopper { struct session *s; atomic_bool done; };

static void *cancel_often(void *arg)
{
    struct stopper *c = arg;

    while (!atomic_load(&c->done)) {
        session_cancel(c->s);
        usleep(300);
    }
    return NULL;
}

/* A canceled run leaves a session that works. */
TEST(a_session_can_be_canceled)
{
    static struct session_text t[200];
    struct stopper c = { NULL, false };
    struct office f;
    pthread_t thread;
    struct err e;
    int canceled = 0;

    REQUIRE(office_open(&f, 4, 0));
    REQUIRE_OK(session_new(&c.s, f.en, &f.o, &e), &e);
    session_cancel(c.s);                /* nothing is running */
    for (size_t i = 0; i < COUNT(t); i++)
        t[i] = (struct session_text){ .text = "the and in of", .len = 13 };
    CHECK_OK(session_run(c.s, t, 3, &e), &e);
    for (int i = 0; i < 3; i++) result_free(t[i].result);
    REQUIRE(!pthread_create(&thread, NULL, cancel_often, &c));
    while (!canceled) {
        enum status st = session_run(c.s, t, COUNT(t), &e);

        CHECK(st == ST_OK || st == ST_CANCELED);
        for (size_t i = 0; i < COUNT(t); i++) {
            CHECK((t[i].result != NULL) == (t[i].err.status == ST_OK));
            canceled += t[i].err.status == ST_CANCELED;
            result_free(t[i].result);
        }
    }
    atomic_store(&c.done, true);
    pthread_join(thread, NULL);
    CHECK_OK(session_run(c.s, t, 1, &e), &e);
    result_free(t[0].result);
    session_free(c.s);
    office_close(&f);
}

struct one_shot {
    struct session *s;
    atomic_int running, returned;       /* the number of the attempt */
    atomic_bool done;
};

static void *cancel_once(void *arg)
{
    struct one_shot *c = arg;
    int n = 0;

    while (!atomic_load(&c->done)) {
        if (atomic_load(&c->running) == n) {
            usleep(50);
            continue;
        }
        n = atomic_load(&c->running);
        session_cancel(c->s);
        atomic_store(&c->returned, n);
    }
    return NULL;
}

/* Run a text. Returns 1 if it was canceled. */
static int run_one(struct session *s)
{
    struct session_text t = { .text = "the and", .len = 7 };
    struct err e;
    enum status st = session_run(s, &t, 1, &e);

    CHECK(st == ST_OK || st == ST_CANCELED);
    result_free(t.result);
    return st == ST_CANCELED;
}

/* A run that is about to end is canceled, and the next one begins at once. */
TEST(a_call_cancels_one_run)
{
    struct one_shot c = { NULL, 0, 0, false };
    struct office f;
    pthread_t thread;
    struct err e;
    int canceled = 0;

    REQUIRE(office_open(&f, 1, 0));
    REQUIRE_OK(session_new(&c.s, f.en, &f.o, &e), &e);
    REQUIRE(!pthread_create(&thread, NULL, cancel_once, &c));
    for (int i = 1; i <= 300; i++) {
        int n = 0;

        atomic_store(&c.running, i);
        while (atomic_load(&c.returned) != i) n += run_one(c.s);
        n += run_one(c.s);
        CHECK(n <= 1);
        canceled += n;
    }
    CHECK(canceled > 0);
    atomic_store(&c.done, true);
    pthread_join(thread, NULL);
    session_free(c.s);
    office_close(&f);
}

/* ---- errors -------------------------------------------------------------- */

TEST(a_request_is_submitted_once)
{
    struct office f;
    struct err e;

    REQUIRE(office_open(&f, 1, 0));
    ask(&f, 0, "the", 0);
    CHECK_INT(service_submit(f.s, f.q[0], SUBMIT_WAIT, &e), ST_ARGUMENT);
    CHECK_STR(e.msg, "the request was submitted before");
    finish(&f);
    CHECK_INT(service_submit(f.s, f.q[0], SUBMIT_WAIT, &e), ST_ARGUMENT);
    check_answer(&f, 0, ST_OK);
    office_close(&f);
}

TEST(what_is_wrong_with_a_request_is_its_answer)
{
    static const struct { const char *option, *value, *says; } bad[] = {
        { "nbest", "9", "nbest" },
        { "max-source", "40", "max-source: 40 is too large; this service "
                              "allows at most 32 pieces" },
        { "max-source", "63", "this model allows at most" },
        { "max-len-b", "20", "max-len-a and max-len-b: 20 pieces for the "
                             "longest sentence are too many; this service "
                             "allows at most 6" },
    };
    struct office f;

    REQUIRE(office_open(&f, 1, 0));
    make(&f, 0, "in the \xff of");
    submit(&f, 0);
    check_answer(&f, 0, ST_TEXT);
    CHECK_STR(f.text[0], "byte 8 is not valid UTF-8 (0xFF)");
    for (size_t i = 0; i < COUNT(bad); i++) {
        int at = (int)i + 1;
        struct options o = f.o;
        struct err e;

        make(&f, at, "the and");
        CHECK_OK(options_set(&o, bad[i].option, bad[i].value, &e), &e);
        request_set_options(f.q[at], &o);
        submit(&f, at);
        check_answer(&f, at, ST_ARGUMENT);
        if (!strstr(f.text[at], bad[i].says))
            test_fail(__FILE__, __LINE__, "%s", f.text[at]);
    }
    CHECK_INT(stats(&f).failed, 1 + COUNT(bad));
    finish(&f);
    office_close(&f);
}

TEST(streams_and_sessions_limit_the_beam)
{
    struct batch_limits l;
    struct service *s;
    struct office f;
    struct err e;

    REQUIRE(office_open(&f, 1, 0));
    l = engine_batch_limits(f.en, &f.o);
    REQUIRE_OK(service_new(&s, f.en, &f.o, &l, WORKERS_WITHOUT_THREADS, &e),
               &e);
    make(&f, 0, "the and");
    f.o.beam = 3;
    request_set_options(f.q[0], &f.o);
    CHECK_OK(service_submit(s, f.q[0], SUBMIT_WAIT, &e), &e);
    check_answer(&f, 0, ST_ARGUMENT);
    CHECK_STR(f.text[0], "beam: 3 is too large; this service allows at most "
              "2");
    service_free(s);
    office_close(&f);
}

/* ---- a device that fails ------------------------------------------------- */

/* A backend whose executors are those of another one until fail_at passes have
 * been run. */
static struct executor_ops weak_ops;
static const struct backend *strong;
static enum status (*strong_run)(struct executor *x,
                                 const struct pass_row *rows, int n,
                                 unsigned want, struct err *e);
static enum status (*strong_force)(struct executor *x, const struct source *src,
                                   int n_src, const struct forced_text *text,
                                   int n, unsigned want, struct err *e);
static atomic_int passes_left;

static enum status weak_run(struct executor *x, const struct pass_row *rows,
                            int n, unsigned want, struct err *e)
{
    if (atomic_fetch_sub(&passes_left, 1) == 1)
        return err_set(e, ST_IO, "the device has failed");
    return strong_run(x, rows, n, want, e);
}

/* How computing keys fails. */
static struct {
    int most_rows;              /* no memory for more, unless 0 */
    bool broken;                /* it always fails */
    int slow_us;
    atomic_int calls;
} keys_fail;

static enum status weak_force(struct executor *x, const struct source *src,
                              int n_src, const struct forced_text *text,
                              int n, unsigned want, struct err *e)
{
    int rows = 0;

    for (int i = 0; i < n; i++) rows += text[i].rows;
    atomic_fetch_add(&keys_fail.calls, 1);
    if (keys_fail.broken)
        return err_set(e, ST_IO, "the device has failed");
    if (keys_fail.most_rows && rows > keys_fail.most_rows)
        return err_nomem(e, "keys");
    if (keys_fail.slow_us) usleep((useconds_t)keys_fail.slow_us);
    return strong_force(x, src, n_src, text, n, want, e);
}

static enum status weak_executor_new(const struct backend *b,
                                     const struct executor_limits *l,
                                     struct pool *pool, struct executor **out,
                                     struct err *e)
{
    enum status st = strong->ops->executor_new(strong, l, pool, out, e);

    (void)b;
    if (st) return st;
    weak_ops = *(*out)->ops;
    strong_run = weak_ops.run;
    weak_ops.run = weak_run;
    strong_force = weak_ops.force;
    weak_ops.force = weak_force;
    (*out)->ops = &weak_ops;
    return ST_OK;
}

/* One worker of two fails: its requests are answered with the error, and the
 * other worker continues. Then the other one fails, too. */
TEST(a_failed_device_fails_its_requests)
{
    static const struct backend_ops ops = { "weak", NULL, weak_executor_new };
    enum { N = 40 };

    for (int threads = 1; threads <= 2; threads++) {
        struct batch_limits l;
        struct backend weak, *was;
        struct service *s;
        struct office f;
        struct err e;
        int failed = 0;

        REQUIRE(office_open(&f, 2, 0));
        strong = was = f.en->backend;
        weak = *was;
        weak.ops = &ops;
        f.en->backend = &weak;
        f.o.threads = threads;
        atomic_store(&passes_left, 20);
        l = service_limits(f.en, &f.o);
        REQUIRE_OK(service_new(&s, f.en, &f.o, &l, WORKERS_WITH_THREADS, &e),
                   &e);
        for (int i = 0; i < N; i++) {
            enum status st;

            make(&f, i, "the and in of the");
            st = service_submit(s, f.q[i], SUBMIT_WAIT, &e);
            if (st) CHECK(st == ST_IO && threads == 1);
            if (st) f.status[i] = st;
        }
        for (int i = 0; i < N; i++)
            if (request_submitted(f.q[i])) request_wait(f.q[i]);
        for (int i = 0; i < N; i++) {
            CHECK(f.status[i] == ST_OK || f.status[i] == ST_IO);
            failed += f.status[i] == ST_IO;
        }
        CHECK(failed >= 1 && failed < N);
        if (threads == 2) CHECK(failed <= 2);
        atomic_store(&passes_left, 1);
        make(&f, N, "the and");
        if (!service_submit(s, f.q[N], SUBMIT_WAIT, &e)) request_wait(f.q[N]);
        make(&f, N + 1, "the and");
        CHECK_INT(service_submit(s, f.q[N + 1], SUBMIT_WAIT, &e), ST_IO);
        CHECK_STR(e.msg, "the device has failed");
        service_free(s);
        f.en->backend = was;
        office_close(&f);
    }
}

/* ---- errors of keys ------------------------------------------------------ */

/* Open an office whose test runs the turns, with a weak backend. */
static bool office_open_weak(struct office *f, int batch, struct backend *weak)
{
    static const struct backend_ops ops = { "weak", NULL, weak_executor_new };
    struct batch_limits l;
    struct err e;

    memset(&keys_fail, 0, sizeof keys_fail);
    atomic_store(&passes_left, 1000000);
    if (!office_open(f, batch, 0)) return false;
    service_free(f->s);
    strong = f->en->backend;
    *weak = *strong;
    weak->ops = &ops;
    f->en->backend = weak;
    f->o.matches = 64;
    l = service_limits(f->en, &f->o);
    return CHECK_OK(service_new(&f->s, f->en, &f->o, &l,
                                WORKERS_WITHOUT_THREADS, &e), &e);
}

static void office_close_weak(struct office *f)
{
    service_free(f->s);
    f->s = NULL;
    f->en->backend = (struct backend *)strong;
    office_close(f);
}

/* Make request i with n pairs whose texts have this many words. */
static void make_steered(struct office *f, int i, int n, int words)
{
    static const char *const word[] = { "the", "in", "and", "of" };
    struct similar_pair pairs[64];
    char text[64][400];
    struct err e;

    for (int k = 0; k < n; k++) {
        char *at = text[k];

        at += sprintf(at, "%d%d", i, k);
        for (int w = 0; w < words; w++)
            at += sprintf(at, " %s", word[(i + k + w) % 4]);
        pairs[k] = (struct similar_pair){ str_of(text[k]), str_of(text[k]),
                                          0.5 };
    }
    make(f, i, "the and in of");
    CHECK_OK(request_set_given(f->q[i], pairs, n, &e), &e);
}

static enum status refuse_sentence(struct mixer *m, void *worker,
                                   const struct system_pair *pairs, int n,
                                   struct err *e)
{
    (void)m;
    (void)worker;
    (void)pairs;
    (void)n;
    return err_set(e, ST_FORMAT, "not this sentence");
}

/* A steering system that cannot prepare a sentence fails that request only. */
TEST(an_error_of_a_sentence_fails_its_request)
{
    struct steering_system bad = *system_named("sk");
    struct backend weak;
    struct office f;

    bad.prepare = refuse_sentence;
    REQUIRE(office_open_weak(&f, 4, &weak));
    for (int i = 0; i < 3; i++) {
        make_steered(&f, i, 2, 4);
        submit(&f, i);
    }
    REQUIRE(f.q[1]->result->sentences[0].pairset->mixer != NULL);
    f.q[1]->result->sentences[0].pairset->system = &bad;
    finish(&f);
    ask(&f, 3, "and", 0);
    finish(&f);
    for (int i = 0; i < 4; i++)
        check_answer(&f, i, i == 1 ? ST_FORMAT : ST_OK);
    office_close_weak(&f);
}

/* The keys of all jobs together need too much memory, and those of one of them
 * alone, too. */
TEST(requests_without_memory_for_keys_fail)
{
    struct backend weak;
    struct office f;

    REQUIRE(office_open_weak(&f, 4, &weak));
    keys_fail.most_rows = 15;
    for (int i = 0; i < 3; i++) {
        make_steered(&f, i, 1, i == 1 ? 20 : 4);
        submit(&f, i);
    }
    finish(&f);
    for (int i = 0; i < 3; i++)
        check_answer(&f, i, i == 1 ? ST_NOMEM : ST_OK);
    office_close_weak(&f);
}

TEST(a_device_that_fails_to_make_keys_fails_all_requests)
{
    struct backend weak;
    struct office f;
    struct err e;

    REQUIRE(office_open_weak(&f, 2, &weak));
    keys_fail.broken = true;
    for (int i = 0; i < 4; i++) {
        make_steered(&f, i, 1, 4);
        submit(&f, i);
    }
    finish(&f);
    for (int i = 0; i < 4; i++) check_answer(&f, i, ST_IO);
    make(&f, 4, "the");
    CHECK_INT(service_submit(f.s, f.q[4], SUBMIT_WAIT, &e), ST_IO);
    office_close_weak(&f);
}

static void note_calls(void *user, struct request *q)
{
    CHECK_INT(request_error(q).status, ST_DEADLINE);
    atomic_store((atomic_int *)user, atomic_load(&keys_fail.calls));
}

/* The only worker computes many keys. */
TEST(late_requests_are_answered_while_keys_are_computed)
{
    struct backend weak;
    struct office f;
    atomic_int calls = 0;
    struct err e;

    REQUIRE(office_open_weak(&f, 1, &weak));
    keys_fail.slow_us = 5000;
    make_steered(&f, 0, 64, 40);
    submit(&f, 0);
    REQUIRE_OK(request_new(&f.q[1], "the", 3, &e), &e);
    request_set_callback(f.q[1], note_calls, &calls, NULL);
    f.q[1]->deadline = clock_seconds() + 0.001;
    submit(&f, 1);
    finish(&f);
    check_answer(&f, 0, ST_OK);
    CHECK(atomic_load(&calls) > 0);
    CHECK(atomic_load(&calls) <= atomic_load(&keys_fail.calls) / 2);
    office_close_weak(&f);
}
