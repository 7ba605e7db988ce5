/* workers.c - submits, cancels and answers requests, watches their deadlines,
 * and makes and frees the workers. The turns of a worker are in worker.c, and
 * the invariants of both files are in worker.h. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/pool.h"
#include "engine/worker.h"

/* Whether a request must wait for room; workers.h has the rule. */
static bool queue_is_full(const struct workers *ws, const struct request *q)
{
    if (ws->queue.n < ws->most_queued) return false;
    if (ws->queue.n / 2 >= ws->most_queued) return true;
    return !in_worker_thread() && q->priority <= ws->queue.last->priority;
}

/* ---- outboxes ------------------------------------------------------------ */

/* The outboxes that this thread is emptying: a callback may submit or cancel
 * requests, of the same workers or of others. Requests of the same workers are
 * answered when that callback has returned. So callbacks are nested at most as
 * deep as there are services. */
struct emptying {
    const struct workers *ws;
    struct outbox *out;
    struct emptying *outer;
};
static _Thread_local struct emptying *innermost;

bool workers_in_callback(void) { return innermost != NULL; }

/* The outbox of ws that this thread is emptying, or NULL. */
static struct outbox *outer_outbox(const struct workers *ws)
{
    struct emptying *x = innermost;

    while (x && x->ws != ws) x = x->outer;
    return x ? x->out : NULL;
}

static void outbox_add_answer(struct outbox *out, struct request *q)
{
    q->link = NULL;
    if (!out->answers) out->last = &out->answers;
    *out->last = q;
    out->last = &q->link;
}

static void outbox_add_drop(struct outbox *out, struct request *q)
{
    q->link = out->drops;
    out->drops = q;
}

static struct request *outbox_take(struct request **list)
{
    struct request *q = *list;

    *list = q->link;
    q->link = NULL;
    return q;
}

static void outbox_move(struct outbox *to, struct outbox *from)
{
    while (from->answers) outbox_add_answer(to, outbox_take(&from->answers));
    while (from->drops) outbox_add_drop(to, outbox_take(&from->drops));
}

/* ---- answers ------------------------------------------------------------- */

static void live_add(struct workers *ws, struct request *q)
{
    q->prev = NULL;
    q->next = ws->live;
    if (q->next) q->next->prev = q;
    ws->live = q;
    ws->stats.live++;
    if (q->deadline < ws->earliest) ws->earliest = q->deadline;
}

static void live_remove(struct workers *ws, struct request *q)
{
    if (q->prev) q->prev->next = q->next;
    else ws->live = q->next;
    if (q->next) q->next->prev = q->prev;
    q->prev = q->next = NULL;
    ws->stats.live--;
}

static bool is_live(const struct request *q)
{
    return q->state == REQUEST_PREPARING || q->state == REQUEST_WAITING;
}

void workers_claim(struct workers *ws, struct request *q,
                   const struct err *why, struct outbox *out)
{
    assert(is_live(q) && (why || !q->n_pending));
    q->state = REQUEST_ANSWERING;
    if (why) q->err = *why;
    live_remove(ws, q);
    job_queue_remove(&ws->queue, q);
    if (q->n_pending) ws->n_early++;
    outbox_add_answer(out, q);
    ws->answering++;
    /* It may be waiting for room. */
    pthread_cond_broadcast(&ws->room);
}

static void claim_as(struct workers *ws, struct request *q, enum status st,
                     struct outbox *out)
{
    struct err e = { 0 };

    err_set(&e, st, "%s", status_text(st));
    workers_claim(ws, q, &e, out);
}

/* Answer this request if its deadline has passed. Only workers answer all late
 * requests: the callback of a request should not run in a thread that has
 * nothing to do with it. */
static void claim_if_late(struct workers *ws, struct request *q,
                          struct outbox *out)
{
    if (is_live(q) && !isinf(q->deadline) && q->deadline <= clock_seconds())
        claim_as(ws, q, ST_DEADLINE, out);
}

void workers_claim_late(struct workers *ws, struct outbox *out)
{
    double now;

    if (isinf(ws->earliest)) return;
    now = clock_seconds();
    if (now < ws->earliest) return;
    ws->earliest = INFINITY;
    for (struct request *q = ws->live, *next; q; q = next) {
        next = q->next;
        if (q->deadline <= now) claim_as(ws, q, ST_DEADLINE, out);
        else if (q->deadline < ws->earliest) ws->earliest = q->deadline;
    }
}

void workers_claim_all(struct workers *ws, const struct err *why,
                       struct outbox *out)
{
    while (ws->live) workers_claim(ws, ws->live, why, out);
    ws->earliest = INFINITY;
}

static void count_answer(struct workers_stats *s, enum status st)
{
    s->answered++;
    s->canceled += st == ST_CANCELED;
    s->late += st == ST_DEADLINE;
    s->failed += st && st != ST_CANCELED && st != ST_DEADLINE;
}

/* Called without the lock. The outbox gets the request if the workers do not
 * need it anymore. */
static void answer_one(struct workers *ws, struct request *q,
                       struct outbox *out)
{
    if (!q->err.status && !result_finish(q->result, q->o.nbest, &q->err))
        err_clear(&q->err);
    atomic_store(&q->ready, true);
    if (q->fn) q->fn(q->user, q);
    pthread_mutex_lock(&ws->lock);
    assert(q->state == REQUEST_ANSWERING);
    q->state = REQUEST_ANSWERED;
    count_answer(&ws->stats, q->err.status);
    pthread_cond_broadcast(&q->answered);
    if (!q->n_pending) outbox_add_drop(out, q);
    if (!--ws->answering) pthread_cond_broadcast(&ws->quiet);
    pthread_mutex_unlock(&ws->lock);
}

/* Called without the lock. A callback may put more into the outbox. */
static void answer_all(struct workers *ws, struct outbox *out)
{
    while (out->answers || out->drops) {
        if (out->answers) answer_one(ws, outbox_take(&out->answers), out);
        else request_drop(outbox_take(&out->drops));
    }
}

void workers_empty(struct workers *ws, struct outbox *out)
{
    struct emptying mine = { ws, out, innermost };
    struct outbox *outer = outer_outbox(ws);

    if (!out->answers && !out->drops) return;
    if (outer) {
        outbox_move(outer, out);
        return;
    }
    pthread_mutex_unlock(&ws->lock);
    innermost = &mine;
    answer_all(ws, out);
    innermost = mine.outer;
    pthread_mutex_lock(&ws->lock);
}

/* In a callback that waits: answer what would be answered when it has returned.
 * Returns false if there is nothing. Called with the lock held. */
static bool answer_outer(struct workers *ws)
{
    struct outbox *outer = outer_outbox(ws);

    if (!outer || !outer->answers) return false;
    pthread_mutex_unlock(&ws->lock);
    answer_all(ws, outer);
    pthread_mutex_lock(&ws->lock);
    return true;
}

void workers_job_left(struct job *j, struct outbox *out)
{
    struct request *q = job_request(j);

    assert(q->n_pending > q->n_queued);
    q->n_pending--;
    if (!q->n_pending && q->state == REQUEST_ANSWERED)
        outbox_add_drop(out, q);
}

bool workers_turn(struct workers *ws)
{
    struct worker *w = ws->at;
    bool more;

    pthread_mutex_lock(&ws->lock);
    assert(ws->n == 1 && !w->started);
    if (ws->live || w->n_held) worker_turn(w);
    more = ws->live || w->n_held;
    pthread_mutex_unlock(&ws->lock);
    return more;
}

/* ---- making and freeing -------------------------------------------------- */

enum status workers_new(struct workers **out, const struct engine *en,
                        const struct batch_limits *limits, int threads,
                        enum workers_mode mode, struct err *e)
{
    bool start = mode == WORKERS_WITH_THREADS;
    struct workers *ws = calloc(1, sizeof *ws);
    enum status st;

    *out = NULL;
    if (!ws) return err_nomem(e, "workers");
    ws->engine = engine_hold(en);
    ws->limits = *limits;
    ws->n = start ? threads : 1;
    /* Enough to keep all lanes full until the next text is submitted. */
    ws->most_queued = start ? 4L * limits->lanes * threads + 16 : LONG_MAX;
    ws->earliest = INFINITY;
    atomic_init(&ws->holders, 1);
    pthread_mutex_init(&ws->lock, NULL);
    clock_cond_init(&ws->work);
    clock_cond_init(&ws->room);
    clock_cond_init(&ws->quiet);
    ws->at = calloc((size_t)ws->n, sizeof *ws->at);
    st = ws->at ? pool_new(&ws->pool, threads, e) : err_nomem(e, "workers");
    for (int i = 0; i < ws->n && !st; i++) st = worker_init(&ws->at[i], ws, e);
    for (int i = 0; i < ws->n && !st && start; i++)
        st = worker_start(&ws->at[i], e);
    if (st) workers_free(ws);
    else *out = ws;
    return st;
}

void workers_free(struct workers *ws)
{
    struct outbox out = { 0 };
    struct err e = { 0 };

    if (!ws) return;
    err_set(&e, ST_CANCELED, "%s", status_text(ST_CANCELED));
    pthread_mutex_lock(&ws->lock);
    ws->closing = true;
    workers_claim_all(ws, &e, &out);
    pthread_cond_broadcast(&ws->work);
    workers_empty(ws, &out);
    while (ws->submitting || ws->answering)
        pthread_cond_wait(&ws->quiet, &ws->lock);
    if (ws->at && ws->at[0].batch && !ws->at[0].started)
        worker_abandon(&ws->at[0], &e, &out);
    workers_empty(ws, &out);
    pthread_mutex_unlock(&ws->lock);
    for (int i = 0; ws->at && i < ws->n; i++) worker_release(&ws->at[i]);
    free(ws->at);
    pool_free(ws->pool);
    assert(!ws->queue.first && !ws->live);
    workers_drop(ws);
}

void workers_drop(struct workers *ws)
{
    if (!ws || atomic_fetch_sub(&ws->holders, 1) > 1) return;
    pthread_mutex_destroy(&ws->lock);
    pthread_cond_destroy(&ws->work);
    pthread_cond_destroy(&ws->room);
    pthread_cond_destroy(&ws->quiet);
    engine_close(ws->engine);
    free(ws);
}

/* ---- submitting, canceling, waiting -------------------------------------- */

enum status workers_begin(struct workers *ws, struct request *q, bool wait,
                          struct err *e)
{
    struct workers *none = NULL;
    enum status st = ST_OK;

    pthread_mutex_lock(&ws->lock);
    if (ws->closing) {
        st = err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
    } else if (ws->n_failed == ws->n) {
        st = ws->failure.status;
        if (e) *e = ws->failure;
    } else if ((!wait || in_worker_thread()) && queue_is_full(ws, q)) {
        st = err_set(e, ST_LIMIT, "the queue is full");
    } else if (!atomic_compare_exchange_strong(&q->workers, &none, ws)) {
        st = err_set(e, ST_ARGUMENT, "the request was submitted before");
    } else {
        atomic_fetch_add(&ws->holders, 1);
        request_hold(q);
        q->state = REQUEST_PREPARING;
        live_add(ws, q);
        ws->submitting++;
        /* An idle worker may have to wake up at its deadline. */
        if (!isinf(q->deadline)) pthread_cond_broadcast(&ws->work);
    }
    pthread_mutex_unlock(&ws->lock);
    return st;
}

/* Wait for room in the queue. The request may be answered meanwhile. */
static void await_room(struct workers *ws, struct request *q,
                       struct outbox *out)
{
    while (q->state == REQUEST_PREPARING && queue_is_full(ws, q)) {
        clock_wait(&ws->room, &ws->lock, q->deadline);
        claim_if_late(ws, q, out);
    }
}

void workers_enter(struct workers *ws, struct request *q, struct result *r,
                   const struct err *why, bool wait)
{
    struct outbox out = { 0 };

    pthread_mutex_lock(&ws->lock);
    if (wait && !why->status && !in_worker_thread())
        await_room(ws, q, &out);
    if (q->state == REQUEST_PREPARING && atomic_load(&q->canceled))
        claim_as(ws, q, ST_CANCELED, &out);
    claim_if_late(ws, q, &out);
    if (q->state == REQUEST_PREPARING && why->status) {
        workers_claim(ws, q, why, &out);
    } else if (q->state == REQUEST_PREPARING) {
        q->result = r;
        r->request = q;
        r = NULL;
        q->state = REQUEST_WAITING;
        job_queue_add(&ws->queue, q);
        if (!q->n_pending) workers_claim(ws, q, NULL, &out);
        pthread_cond_broadcast(&ws->work);
    }
    ws->submitting--;
    pthread_cond_broadcast(&ws->quiet);
    workers_empty(ws, &out);
    pthread_mutex_unlock(&ws->lock);
    result_free(r);
}

void workers_cancel(struct workers *ws, struct request *q)
{
    struct outbox out = { 0 };

    /* Its callback may free the request, which may be the last one to hold the
     * workers. */
    request_hold(q);
    pthread_mutex_lock(&ws->lock);
    if (is_live(q)) claim_as(ws, q, ST_CANCELED, &out);
    workers_empty(ws, &out);
    pthread_mutex_unlock(&ws->lock);
    request_drop(q);
}

void workers_cancel_all(struct workers *ws)
{
    struct outbox out = { 0 };
    struct err e = { 0 };

    err_set(&e, ST_CANCELED, "%s", status_text(ST_CANCELED));
    pthread_mutex_lock(&ws->lock);
    workers_claim_all(ws, &e, &out);
    workers_empty(ws, &out);
    pthread_mutex_unlock(&ws->lock);
}

void workers_wait(struct workers *ws, struct request *q)
{
    struct outbox out = { 0 };

    request_hold(q);
    pthread_mutex_lock(&ws->lock);
    while (q->state != REQUEST_ANSWERED) {
        if (answer_outer(ws)) continue;
        clock_wait(&q->answered, &ws->lock, is_live(q) ? q->deadline
                                                       : INFINITY);
        claim_if_late(ws, q, &out);
        workers_empty(ws, &out);
    }
    pthread_mutex_unlock(&ws->lock);
    request_drop(q);
}

bool workers_failed(struct workers *ws, struct err *e)
{
    bool failed;

    pthread_mutex_lock(&ws->lock);
    failed = ws->n_failed == ws->n;
    if (failed) *e = ws->failure;
    pthread_mutex_unlock(&ws->lock);
    return failed;
}

const struct batch_limits *workers_limits(const struct workers *ws)
{
    return &ws->limits;
}

static void add_counts(struct batch_counts *sum, const struct batch_counts *c)
{
    sum->passes += c->passes;
    sum->rows += c->rows;
    sum->steps += c->steps;
    sum->drafted += c->drafted;
    sum->drafts_used += c->drafts_used;
}

struct workers_stats workers_stats(struct workers *ws)
{
    struct workers_stats s;

    pthread_mutex_lock(&ws->lock);
    s = ws->stats;
    s.queued = (uint64_t)ws->queue.n;
    for (int i = 0; i < ws->n; i++) {
        add_counts(&s.work, &ws->at[i].counts);
        s.decoding += (uint64_t)ws->at[i].n_held;
    }
    pthread_mutex_unlock(&ws->lock);
    return s;
}
