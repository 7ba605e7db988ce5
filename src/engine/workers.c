/* workers.c - the queue of jobs, the turns of the workers, and the answers of
 * the requests.
 *
 * One lock guards everything that threads share. Decoding, joining the results
 * and callbacks run without it: while a thread has the lock, it puts the
 * requests to be answered into an outbox, which it empties afterwards.
 *
 * Invariants, while the lock is held:
 *   - The queue is sorted by descending priority; jobs of equal priority are in
 *     the order of submission. `queued` is its length.
 *   - Every job in the queue belongs to a waiting request. A job in a batch may
 *     belong to a request that was answered early, until its worker has seen
 *     that `n_early` has changed.
 *   - n_queued and n_pending of a request count its jobs. A waiting request has
 *     at least one job pending.
 *   - The list of live requests has those that are prepared or waiting, and
 *     `earliest` is not later than the deadline of any of them.
 *   - The workers hold a request from workers_begin until it is answered and
 *     has no job pending.
 *   - `busy` is the number of workers whose batches have jobs. */
#include "engine/workers.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/pool.h"
#include "engine/steered_batch.h"

struct worker {
    struct workers *ws;
    pthread_t thread;
    bool started;
    struct steered_batch *steered_batch;
    struct batch *batch;        /* inside steered_batch */
    struct job **taken;         /* [lanes] scratch */
    struct job **held;          /* [n_held] the jobs in the batch */
    int n_held;
    bool busy;                  /* counted in ws->busy */
    bool failed;                /* it takes no more jobs */
    uint64_t seen_early;        /* n_early when it last looked for jobs of
                                   requests that were answered early */
    struct batch_counts counts; /* after its last turn */
};

struct workers {
    const struct engine *engine;
    struct batch_limits limits;
    struct pool *pool;          /* used by a worker while it works alone */
    struct worker *at;          /* [n] */
    int n;
    long most_queued;           /* above it the queue is full */
    atomic_int holders;         /* the owner, and the submitted requests */

    pthread_mutex_t lock;
    pthread_cond_t work;        /* workers wait for jobs or for the end */
    pthread_cond_t room;        /* submitters wait for room in the queue */
    pthread_cond_t quiet;       /* workers_free waits for other threads */
    struct job *queue, *queue_last;
    long queued;
    struct request *live;
    double earliest;            /* deadline; INFINITY: none */
    uint64_t n_early;           /* requests answered while in a batch */
    int busy;
    int n_failed;               /* workers that failed */
    struct err failure;         /* of the last worker that failed */
    int submitting, answering;  /* threads */
    bool closing;
    struct workers_stats stats; /* the counts of requests */
};

/* The workers whose thread this is. */
static _Thread_local const struct workers *thread_of;

/* What a thread has to do when it has released the lock. */
struct outbox {
    struct request *answers, **last;    /* claimed by this thread */
    struct request *drops;      /* no longer held by the workers */
};

static struct request *job_request(const struct job *j)
{
    return j->sentence->owner->request;
}

/* ---- the queue ----------------------------------------------------------- */

/* Whether the invariants of the queue hold; for PARANOID_CHECK. */
static inline bool queue_sound(const struct workers *ws)
{
    const struct job *last = NULL;
    long n = 0;

    for (const struct job *j = ws->queue; j; last = j, j = j->next, n++) {
        const struct request *q = job_request(j);

        if (q->state != REQUEST_WAITING || !q->n_queued) return false;
        if (last && job_request(last)->priority < q->priority) return false;
    }
    return n == ws->queued && last == ws->queue_last;
}

static bool queue_is_full(const struct workers *ws)
{
    return ws->queued >= ws->most_queued;
}

/* Put a list of jobs with the same priority into the queue. */
static void queue_insert(struct workers *ws, struct job *first,
                         struct job *last, int priority)
{
    struct job **at = &ws->queue;

    if (ws->queue && job_request(ws->queue_last)->priority >= priority)
        at = &ws->queue_last->next;
    while (*at && job_request(*at)->priority >= priority) at = &(*at)->next;
    last->next = *at;
    *at = first;
    if (!last->next) ws->queue_last = last;
}

static void queue_add_jobs(struct workers *ws, struct request *q)
{
    struct job *first = NULL, *last = NULL;

    for (int i = 0; i < q->result->n_sentences; i++) {
        struct job *j = q->result->sentences[i].job;

        if (!j) continue;
        assert(batch_can_hold(ws->at[0].batch, j) && job_request(j) == q);
        if (last) last->next = j;
        else first = j;
        last = j;
        q->n_queued++;
    }
    q->n_pending = q->n_queued;
    ws->queued += q->n_queued;
    if (first) queue_insert(ws, first, last, q->priority);
    PARANOID_CHECK(queue_sound(ws));
}

static struct job *queue_take(struct workers *ws)
{
    struct job *j = ws->queue;

    ws->queue = j->next;
    if (!ws->queue) ws->queue_last = NULL;
    ws->queued--;
    job_request(j)->n_queued--;
    assert(ws->queued >= 0 && !ws->queued == !ws->queue);
    return j;
}

/* Remove the jobs of a request that nobody has taken. */
static void queue_remove_jobs(struct workers *ws, struct request *q)
{
    struct job **at = &ws->queue, *last = NULL;

    if (!q->n_queued) return;
    while (*at) {
        if (job_request(*at) == q) {
            *at = (*at)->next;
        } else {
            last = *at;
            at = &last->next;
        }
    }
    ws->queue_last = last;
    ws->queued -= q->n_queued;
    q->n_pending -= q->n_queued;
    q->n_queued = 0;
    assert(ws->queued >= 0 && !ws->queued == !ws->queue);
    pthread_cond_broadcast(&ws->room);
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

/* Make this thread answer the request, with the error `why` unless it is NULL.
 * Its jobs leave the queue. Called with the lock held. */
static void claim(struct workers *ws, struct request *q, const struct err *why,
                  struct outbox *out)
{
    assert(q->state == REQUEST_PREPARING || q->state == REQUEST_WAITING);
    assert(why || !q->n_pending);
    q->state = REQUEST_ANSWERING;
    if (why) q->err = *why;
    live_remove(ws, q);
    queue_remove_jobs(ws, q);
    if (q->n_pending) ws->n_early++;
    q->link = NULL;
    if (!out->answers) out->last = &out->answers;
    *out->last = q;
    out->last = &q->link;
    ws->answering++;
    /* It may be waiting for room. */
    pthread_cond_broadcast(&ws->room);
}

static void claim_as(struct workers *ws, struct request *q, enum status st,
                     struct outbox *out)
{
    struct err e = { 0 };

    err_set(&e, st, "%s", status_text(st));
    claim(ws, q, &e, out);
}

/* Answer the requests whose deadline has passed. */
static void claim_late(struct workers *ws, struct outbox *out)
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

static void claim_all(struct workers *ws, const struct err *why,
                      struct outbox *out)
{
    while (ws->live) claim(ws, ws->live, why, out);
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
    if (!q->err.status) result_finish(q->result, q->o.nbest, &q->err);
    atomic_store(&q->ready, true);
    if (q->fn) q->fn(q->user, q);
    pthread_mutex_lock(&ws->lock);
    assert(q->state == REQUEST_ANSWERING);
    q->state = REQUEST_ANSWERED;
    count_answer(&ws->stats, q->err.status);
    pthread_cond_broadcast(&q->answered);
    if (!q->n_pending) {
        q->link = out->drops;
        out->drops = q;
    }
    if (!--ws->answering) pthread_cond_broadcast(&ws->quiet);
    pthread_mutex_unlock(&ws->lock);
}

/* Do what is in the outbox. Called with the lock held, which is released
 * meanwhile. */
static void empty_outbox(struct workers *ws, struct outbox *out)
{
    if (!out->answers && !out->drops) return;
    pthread_mutex_unlock(&ws->lock);
    while (out->answers) {
        struct request *q = out->answers;

        out->answers = q->link;
        answer_one(ws, q, out);
    }
    while (out->drops) {
        struct request *q = out->drops;

        out->drops = q->link;
        request_drop(q);
    }
    pthread_mutex_lock(&ws->lock);
}

/* ---- turns --------------------------------------------------------------- */

/* A job has left the batch of a worker. */
static void job_left(struct job *j, struct outbox *out)
{
    struct request *q = job_request(j);

    assert(q->n_pending > q->n_queued);
    q->n_pending--;
    if (q->n_pending || q->state != REQUEST_ANSWERED) return;
    q->link = out->drops;
    out->drops = q;
}

static void worker_update_busy(struct worker *w)
{
    bool busy = w->n_held > 0;

    w->ws->busy += (int)busy - (int)w->busy;
    w->busy = busy;
    assert(w->n_held == batch_busy_lanes(w->batch));
    assert(w->ws->busy >= 0 && w->ws->busy <= w->ws->n);
}

/* Remove the jobs of requests that were answered early. */
static void leave_early(struct worker *w, struct outbox *out)
{
    int kept = 0;

    if (w->seen_early == w->ws->n_early) return;
    w->seen_early = w->ws->n_early;
    for (int i = 0; i < w->n_held; i++) {
        struct job *j = w->held[i];

        if (job_request(j)->state == REQUEST_WAITING) {
            w->held[kept++] = j;
        } else {
            batch_remove(w->batch, j);
            job_left(j, out);
        }
    }
    w->n_held = kept;
}

/* How many jobs this worker should take now. Filling lanes one by one would
 * encode one sentence at a time; waiting until all lanes are free would leave
 * lanes empty. */
static int jobs_wanted(const struct workers *ws, const struct worker *w)
{
    int room = batch_count_idle_lanes(w->batch), lanes = ws->limits.lanes;
    int working = ws->n - ws->n_failed, most = 0;
    long share = (ws->queued + working - 1) / working;

    if (w->n_held && room < (lanes + 3) / 4) return 0;
    if (ws->queue) most = batch_fitting(w->batch, ws->queue);
    assert(w->n_held || !ws->queue || most > 0);
    /* When the queue is shorter than all lanes, workers share it evenly. */
    return share < most ? (int)share : most;
}

static int take_jobs(struct worker *w)
{
    int n = jobs_wanted(w->ws, w);

    for (int i = 0; i < n; i++) w->taken[i] = queue_take(w->ws);
    if (n) pthread_cond_broadcast(&w->ws->room);
    return n;
}

/* The jobs that were taken could not be added. */
static void fail_taken(struct worker *w, int n, const struct err *e,
                       struct outbox *out)
{
    for (int i = 0; i < n; i++) {
        struct request *q = job_request(w->taken[i]);

        if (q->state == REQUEST_WAITING) claim(w->ws, q, e, out);
        job_left(w->taken[i], out);
    }
}

static void forget_held(struct worker *w, const struct job *j)
{
    int i = 0;

    while (w->held[i] != j) i++;
    assert(i < w->n_held);
    w->held[i] = w->held[--w->n_held];
}

static void finish_jobs(struct worker *w, struct job *done, struct outbox *out)
{
    for (struct job *next; done; done = next) {
        struct request *q = job_request(done);

        next = done->next;
        forget_held(w, done);
        job_left(done, out);
        if (q->state == REQUEST_WAITING && !q->n_pending)
            claim(w->ws, q, NULL, out);
    }
}

/* Take all jobs out of the batch, and answer those of waiting requests with the
 * error `why` if it is not NULL. */
static void worker_abandon(struct worker *w, const struct err *why,
                           struct outbox *out)
{
    batch_abandon(w->batch);
    for (int i = 0; i < w->n_held; i++) {
        struct request *q = job_request(w->held[i]);

        if (q->state == REQUEST_WAITING) claim(w->ws, q, why, out);
        job_left(w->held[i], out);
    }
    w->n_held = 0;
    worker_update_busy(w);
}

/* The device of the worker has failed. The other workers continue; when none is
 * left, no request can be decoded. */
static void worker_fail(struct worker *w, const struct err *e,
                        struct outbox *out)
{
    struct workers *ws = w->ws;

    worker_abandon(w, e, out);
    w->failed = true;
    ws->failure = *e;
    if (++ws->n_failed == ws->n) claim_all(ws, e, out);
}

/* Add n taken jobs to the batch. Called without the lock. */
static enum status add_jobs(struct worker *w, int n, bool alone, struct err *e)
{
    steered_batch_set_pool(w->steered_batch, alone);
    return n ? steered_batch_add(w->steered_batch, w->taken, n, e) : ST_OK;
}

/* Take jobs and put them into the batch. */
static void begin_turn(struct worker *w, struct outbox *out)
{
    struct workers *ws = w->ws;
    struct err e = { 0 };
    enum status st;
    bool alone;
    int n;

    claim_late(ws, out);
    leave_early(w, out);
    n = take_jobs(w);
    ws->busy += !w->busy && n > 0;
    w->busy |= n > 0;
    alone = ws->n == 1 || (ws->busy == 1 && !ws->queue);
    pthread_mutex_unlock(&ws->lock);
    st = add_jobs(w, n, alone, &e);
    pthread_mutex_lock(&ws->lock);
    if (st) fail_taken(w, n, &e, out);
    for (int i = 0; i < n && !st; i++) w->held[w->n_held++] = w->taken[i];
    worker_update_busy(w);
    /* Computing keys may have taken long. */
    if (n) claim_late(ws, out);
}

/* One turn, and the answers that it gives. Called with the lock held, which is
 * released meanwhile. */
static void worker_turn(struct worker *w)
{
    struct workers *ws = w->ws;
    struct outbox out = { 0 };
    struct job *done = NULL;
    struct err e = { 0 };
    enum status st;

    begin_turn(w, &out);
    empty_outbox(ws, &out);
    if (!w->n_held) return;
    pthread_mutex_unlock(&ws->lock);
    st = batch_step(w->batch, &done, &e);
    pthread_mutex_lock(&ws->lock);
    w->counts = batch_counts(w->batch);
    if (st) worker_fail(w, &e, &out);
    else finish_jobs(w, done, &out);
    worker_update_busy(w);
    empty_outbox(ws, &out);
}

/* Wait for jobs or a deadline; false when the thread should end. Called with
 * the lock held. */
static bool await_work(struct worker *w)
{
    struct workers *ws = w->ws;

    while (!ws->closing && !w->failed && !ws->queue && !w->n_held &&
           !(ws->earliest <= clock_seconds()))
        clock_wait(&ws->work, &ws->lock, ws->earliest);
    return !ws->closing && !w->failed;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct workers *ws = w->ws;
    struct outbox out = { 0 };

    thread_of = ws;
    pthread_mutex_lock(&ws->lock);
    while (await_work(w)) worker_turn(w);
    worker_abandon(w, NULL, &out);
    empty_outbox(ws, &out);
    pthread_mutex_unlock(&ws->lock);
    return NULL;
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

static enum status worker_init(struct workers *ws, struct worker *w,
                               struct err *e)
{
    size_t lanes = (size_t)ws->limits.lanes;
    enum status st;

    w->ws = ws;
    w->taken = calloc(lanes, sizeof *w->taken);
    w->held = calloc(lanes, sizeof *w->held);
    if (!w->taken || !w->held) return err_nomem(e, "a worker");
    st = steered_batch_new(&w->steered_batch, ws->engine, &ws->limits,
                           ws->pool, e);
    if (!st) w->batch = steered_batch_batch(w->steered_batch);
    return st;
}

static enum status worker_start(struct worker *w, struct err *e)
{
    if (pthread_create(&w->thread, NULL, worker_main, w))
        return err_set(e, ST_NOMEM, "cannot start %d threads", w->ws->n);
    w->started = true;
    return ST_OK;
}

enum status workers_new(struct workers **out, const struct engine *en,
                        const struct batch_limits *limits, int threads,
                        enum workers_mode mode, struct err *e)
{
    bool start = mode == WORKERS_WITH_THREADS;
    struct workers *ws = calloc(1, sizeof *ws);
    enum status st;

    *out = NULL;
    if (!ws) return err_nomem(e, "workers");
    ws->engine = en;
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
    for (int i = 0; i < ws->n && !st; i++) st = worker_init(ws, &ws->at[i], e);
    for (int i = 0; i < ws->n && !st && start; i++)
        st = worker_start(&ws->at[i], e);
    if (st) workers_free(ws);
    else *out = ws;
    return st;
}

static void worker_release(struct worker *w)
{
    if (w->started) pthread_join(w->thread, NULL);
    steered_batch_free(w->steered_batch);
    free(w->taken);
    free(w->held);
}

void workers_free(struct workers *ws)
{
    struct outbox out = { 0 };
    struct err e = { 0 };

    if (!ws) return;
    err_set(&e, ST_CANCELED, "%s", status_text(ST_CANCELED));
    pthread_mutex_lock(&ws->lock);
    ws->closing = true;
    claim_all(ws, &e, &out);
    pthread_cond_broadcast(&ws->work);
    empty_outbox(ws, &out);
    while (ws->submitting || ws->answering)
        pthread_cond_wait(&ws->quiet, &ws->lock);
    if (ws->at && ws->at[0].batch && !ws->at[0].started)
        worker_abandon(&ws->at[0], &e, &out);
    empty_outbox(ws, &out);
    pthread_mutex_unlock(&ws->lock);
    for (int i = 0; ws->at && i < ws->n; i++) worker_release(&ws->at[i]);
    free(ws->at);
    pool_free(ws->pool);
    assert(!ws->queue && !ws->live);
    workers_drop(ws);
}

void workers_drop(struct workers *ws)
{
    if (!ws || atomic_fetch_sub(&ws->holders, 1) > 1) return;
    pthread_mutex_destroy(&ws->lock);
    pthread_cond_destroy(&ws->work);
    pthread_cond_destroy(&ws->room);
    pthread_cond_destroy(&ws->quiet);
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
    } else if (!wait && queue_is_full(ws)) {
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
    while (q->state == REQUEST_PREPARING && queue_is_full(ws)) {
        claim_late(ws, out);
        empty_outbox(ws, out);
        if (q->state == REQUEST_PREPARING && queue_is_full(ws))
            clock_wait(&ws->room, &ws->lock, q->deadline);
    }
}

void workers_enter(struct workers *ws, struct request *q, struct result *r,
                   const struct err *why, bool wait)
{
    struct outbox out = { 0 };

    pthread_mutex_lock(&ws->lock);
    if (wait && thread_of != ws && !why->status) await_room(ws, q, &out);
    if (q->state == REQUEST_PREPARING && atomic_load(&q->canceled))
        claim_as(ws, q, ST_CANCELED, &out);
    claim_late(ws, &out);
    if (q->state == REQUEST_PREPARING && why->status) {
        claim(ws, q, why, &out);
    } else if (q->state == REQUEST_PREPARING) {
        q->result = r;
        r->request = q;
        r = NULL;
        q->state = REQUEST_WAITING;
        queue_add_jobs(ws, q);
        if (!q->n_pending) claim(ws, q, NULL, &out);
        pthread_cond_broadcast(&ws->work);
    }
    ws->submitting--;
    pthread_cond_broadcast(&ws->quiet);
    empty_outbox(ws, &out);
    pthread_mutex_unlock(&ws->lock);
    result_free(r);
}

void workers_cancel(struct workers *ws, struct request *q)
{
    struct outbox out = { 0 };

    pthread_mutex_lock(&ws->lock);
    if (q->state == REQUEST_PREPARING || q->state == REQUEST_WAITING)
        claim_as(ws, q, ST_CANCELED, &out);
    empty_outbox(ws, &out);
    pthread_mutex_unlock(&ws->lock);
}

void workers_cancel_all(struct workers *ws)
{
    struct outbox out = { 0 };
    struct err e = { 0 };

    err_set(&e, ST_CANCELED, "%s", status_text(ST_CANCELED));
    pthread_mutex_lock(&ws->lock);
    claim_all(ws, &e, &out);
    empty_outbox(ws, &out);
    pthread_mutex_unlock(&ws->lock);
}

void workers_wait(struct workers *ws, struct request *q)
{
    struct outbox out = { 0 };

    request_hold(q);
    pthread_mutex_lock(&ws->lock);
    while (q->state != REQUEST_ANSWERED) {
        bool live = q->state != REQUEST_ANSWERING;

        clock_wait(&q->answered, &ws->lock, live ? q->deadline : INFINITY);
        claim_late(ws, &out);
        empty_outbox(ws, &out);
    }
    pthread_mutex_unlock(&ws->lock);
    request_drop(q);
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
    s.queued = (uint64_t)ws->queued;
    for (int i = 0; i < ws->n; i++) {
        add_counts(&s.work, &ws->at[i].counts);
        s.decoding += (uint64_t)ws->at[i].n_held;
    }
    pthread_mutex_unlock(&ws->lock);
    return s;
}
