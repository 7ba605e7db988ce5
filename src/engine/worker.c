/* worker.c - the turns of one worker: it removes the jobs of requests that were
 * answered early, takes jobs from the queue, runs a decoder pass, and hands the
 * finished jobs back. The invariants are in worker.h. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "engine/steered_batch.h"
#include "engine/worker.h"

static _Thread_local bool is_worker_thread;

bool in_worker_thread(void) { return is_worker_thread; }

static void worker_update_busy(struct worker *w)
{
    bool busy = w->n_held > 0;

    w->ws->busy += (int)busy - (int)w->busy;
    w->busy = busy;
    assert(w->n_held == batch_busy_lanes(w->batch));
    assert(w->ws->busy >= 0 && w->ws->busy <= w->ws->n);
}

/* Remove the jobs of requests that were answered early. This takes little time,
 * so it is done with the lock held. */
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
            workers_job_left(j, out);
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
    int working = ws->n - ws->n_failed, most;
    long share = (ws->queue.n + working - 1) / working;

    if (w->n_held && room < (lanes + 3) / 4) return 0;
    most = batch_fitting(w->batch, job_queue_jobs(&ws->queue));
    assert(w->n_held || !ws->queue.first || most > 0);
    /* When the queue is shorter than all lanes, workers share it evenly. */
    return share < most ? (int)share : most;
}

static int take_jobs(struct worker *w)
{
    int n = jobs_wanted(w->ws, w);

    for (int i = 0; i < n; i++)
        w->taken[i] = job_queue_take(&w->ws->queue);
    if (n) pthread_cond_broadcast(&w->ws->room);
    return n;
}

/* A job that was taken could not be added. */
static void fail_taken(struct worker *w, struct job *j, const struct err *e,
                       struct outbox *out)
{
    struct request *q = job_request(j);

    if (q->state == REQUEST_WAITING) workers_claim(w->ws, q, e, out);
    workers_job_left(j, out);
}

static void forget_held(struct worker *w, const struct job *j)
{
    int i = 0;

    while (i < w->n_held && w->held[i] != j) i++;
    assert(i < w->n_held);
    w->held[i] = w->held[--w->n_held];
}

static void finish_jobs(struct worker *w, struct job *done, struct outbox *out)
{
    for (struct job *next; done; done = next) {
        struct request *q = job_request(done);

        next = done->next;
        forget_held(w, done);
        workers_job_left(done, out);
        if (q->state == REQUEST_WAITING && !q->n_pending)
            workers_claim(w->ws, q, NULL, out);
    }
}

void worker_abandon(struct worker *w, const struct err *why,
                    struct outbox *out)
{
    batch_abandon(w->batch);
    for (int i = 0; i < w->n_held; i++) {
        struct request *q = job_request(w->held[i]);

        if (q->state == REQUEST_WAITING) workers_claim(w->ws, q, why, out);
        workers_job_left(w->held[i], out);
    }
    w->n_held = 0;
    worker_update_busy(w);
}

/* The device of the worker has failed, and its batch can only be freed. The
 * other workers continue; when none is left, no request can be decoded. */
static void worker_fail(struct worker *w, const struct err *e,
                        struct outbox *out)
{
    struct workers *ws = w->ws;

    worker_abandon(w, e, out);
    w->failed = true;
    ws->failure = *e;
    if (++ws->n_failed == ws->n) workers_claim_all(ws, e, out);
}

/* Add n taken jobs to the batch. Called without the lock. */
static enum status add_jobs(struct worker *w, int n, bool alone, struct err *e)
{
    steered_batch_set_pool(w->steered_batch, alone);
    return n ? steered_batch_add(w->steered_batch, w->taken, n, w->why, e)
             : ST_OK;
}

/* Computing keys may take long: answer late requests meanwhile. Called without
 * the lock, by steered_batch_add. */
static void worker_pause(void *user)
{
    struct worker *w = user;
    struct outbox out = { 0 };

    pthread_mutex_lock(&w->ws->lock);
    workers_claim_late(w->ws, &out);
    workers_empty(w->ws, &out);
    pthread_mutex_unlock(&w->ws->lock);
}

/* Take jobs and put them into the batch. */
static void begin_turn(struct worker *w, struct outbox *out)
{
    struct workers *ws = w->ws;
    struct err e = { 0 };
    enum status st;
    bool alone;
    int n;

    workers_claim_late(ws, out);
    leave_early(w, out);
    n = take_jobs(w);
    ws->busy += !w->busy && n > 0;
    w->busy |= n > 0;
    alone = ws->n == 1 || (ws->busy == 1 && !ws->queue.first);
    pthread_mutex_unlock(&ws->lock);
    st = add_jobs(w, n, alone, &e);
    pthread_mutex_lock(&ws->lock);
    for (int i = 0; i < n; i++) {
        const struct err *why = st ? &e : &w->why[i];

        if (why->status) fail_taken(w, w->taken[i], why, out);
        else w->held[w->n_held++] = w->taken[i];
    }
    /* If the device has no memory for this, it may have some later. */
    if (st && st != ST_NOMEM) worker_fail(w, &e, out);
    worker_update_busy(w);
    /* Computing keys may have taken long. */
    if (n) workers_claim_late(ws, out);
}

void worker_turn(struct worker *w)
{
    struct workers *ws = w->ws;
    struct outbox out = { 0 };
    struct job *done = NULL;
    struct err e = { 0 };
    enum status st;

    begin_turn(w, &out);
    workers_empty(ws, &out);
    if (!w->n_held) return;
    pthread_mutex_unlock(&ws->lock);
    st = batch_step(w->batch, &done, &e);
    pthread_mutex_lock(&ws->lock);
    w->counts = batch_counts(w->batch);
    if (st) worker_fail(w, &e, &out);
    else finish_jobs(w, done, &out);
    worker_update_busy(w);
    workers_empty(ws, &out);
}

/* Wait for jobs or a deadline; false when the thread should end. Called with
 * the lock held. */
static bool await_work(struct worker *w)
{
    struct workers *ws = w->ws;

    while (!ws->closing && !w->failed && !ws->queue.first && !w->n_held &&
           !(ws->earliest <= clock_seconds()))
        clock_wait(&ws->work, &ws->lock, ws->earliest);
    return !ws->closing && !w->failed;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct workers *ws = w->ws;
    struct outbox out = { 0 };

    is_worker_thread = true;
    pthread_mutex_lock(&ws->lock);
    while (await_work(w)) worker_turn(w);
    /* All requests are answered by now. */
    worker_abandon(w, NULL, &out);
    workers_empty(ws, &out);
    pthread_mutex_unlock(&ws->lock);
    return NULL;
}

/* ---- making and freeing -------------------------------------------------- */

enum status worker_init(struct worker *w, struct workers *ws, struct err *e)
{
    size_t lanes = (size_t)ws->limits.lanes;
    enum status st;

    w->ws = ws;
    w->taken = calloc(lanes, sizeof *w->taken);
    w->held = calloc(lanes, sizeof *w->held);
    w->why = calloc(lanes, sizeof *w->why);
    if (!w->taken || !w->held || !w->why) return err_nomem(e, "a worker");
    st = steered_batch_new(&w->steered_batch, ws->engine, &ws->limits,
                           ws->pool, e);
    if (st) return st;
    w->batch = steered_batch_batch(w->steered_batch);
    steered_batch_set_pause(w->steered_batch, worker_pause, w);
    return ST_OK;
}

enum status worker_start(struct worker *w, struct err *e)
{
    if (pthread_create(&w->thread, NULL, worker_main, w))
        return err_set(e, ST_NOMEM, "cannot start %d threads", w->ws->n);
    w->started = true;
    return ST_OK;
}

void worker_release(struct worker *w)
{
    if (w->started) pthread_join(w->thread, NULL);
    steered_batch_free(w->steered_batch);
    free(w->taken);
    free(w->why);
    free(w->held);
}
