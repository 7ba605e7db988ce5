/* stream.c - a queue of sentences, workers that decode them, and delivery of
 * whole texts in the order in which they were pushed.
 *
 * One lock guards the queue of jobs, the list of texts and the counts. Decoding
 * and callbacks run without it. A worker, push or flush delivers a text when it
 * finds the first text of the list complete and no other thread is delivering.
 *
 * Invariants, while the lock is held:
 *   - `queued` is the length of the queue; `undelivered` is the length of the
 *     list of texts, plus one while a callback runs.
 *   - A text's `pending` is the number of its jobs that are queued or being
 *     decoded. It is 0 when the text may be delivered.
 *   - At most one thread delivers, so callbacks come one at a time, in order.
 *   - `busy` is the number of workers that hold jobs. */
#include "engine/stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/pool.h"
#include "engine/steered_batch.h"

struct worker {
    struct stream *s;
    pthread_t thread;
    struct steered_batch *steered_batch;
    struct batch *batch;        /* inside steered_batch */
    struct job **taken;         /* [lanes] scratch */
    bool started;
};

struct stream {
    const struct engine *engine;
    struct options o;
    struct search_options so;
    stream_fn *fn;
    void *user;
    struct pool *pool;          /* used by a worker while it works alone */
    struct worker *workers;     /* [o.threads] */
    struct pairfinder *pairfinder;  /* used by push; NULL: no memory */
    struct shared_keys *own_keys;   /* used when the caller gave no keys */

    pthread_mutex_t lock;
    pthread_cond_t work;        /* workers wait for jobs or for the end */
    pthread_cond_t room;        /* push and flush wait for a delivery */
    struct shared_keys *keys;   /* used by the workers */
    struct job *queue, **queue_end;     /* jobs that no worker has taken */
    long queued;                /* length of the queue */
    struct result *first, **last;       /* texts in order, not delivered */
    long undelivered;
    int busy;                   /* workers that hold jobs */
    bool delivering, canceled;
    struct err failure;         /* the first error of a worker */
    uint64_t n_pushed;          /* the number of the next text */
    uint64_t texts, sentences, tokens;  /* delivered */
};

/* ---- delivering ------------------------------------------------------ */

/* Called with the lock held; releases it while the callback runs. */
static void deliver_one(struct stream *s, struct result *r)
{
    int stop;

    assert(s->delivering && r == s->first && r->pending == 0);
    s->first = r->next;
    if (!s->first) s->last = &s->first;
    pthread_mutex_unlock(&s->lock);
    if (!r->err.status) result_finish(r, s->o.nbest, &r->err);
    stop = s->fn(s->user, r->number, r->err.status ? NULL : r, &r->err);
    pthread_mutex_lock(&s->lock);
    s->texts++;
    s->sentences += (uint64_t)r->n_sentences;
    s->tokens += (uint64_t)r->tokens;
    assert(s->undelivered > 0);
    s->undelivered--;
    result_free(r);
    if (stop) s->canceled = true;
    pthread_cond_broadcast(&s->room);
}

static void deliver(struct stream *s)
{
    if (s->delivering) return;
    s->delivering = true;
    while (s->first && s->first->pending == 0 && !s->canceled)
        deliver_one(s, s->first);
    s->delivering = false;
    pthread_cond_broadcast(&s->room);
    if (s->canceled) pthread_cond_broadcast(&s->work);
}

/* ---- working --------------------------------------------------------- */

/* How many jobs this worker should take now. Filling lanes one by one would
 * encode one sentence at a time; waiting until all lanes are free would leave
 * lanes empty. */
static int stream_jobs_wanted(const struct stream *s, const struct worker *w)
{
    int room = batch_count_idle_lanes(w->batch), lanes = s->so.lanes;
    long share = (s->queued + s->o.threads - 1) / s->o.threads;

    if (batch_busy_lanes(w->batch) && room < (lanes + 3) / 4) return 0;
    /* When the queue is shorter than all lanes, workers share it evenly. */
    return share < room ? (int)share : room;
}

static int take_jobs(struct stream *s, struct worker *w)
{
    int n = 0, most = stream_jobs_wanted(s, w);

    while (n < most && s->queue) {
        struct job *j = s->queue;

        s->queue = j->next;
        if (!s->queue) s->queue_end = &s->queue;
        s->queued--;
        assert(((struct sentence *)j->owner)->job == j);
        w->taken[n++] = j;
    }
    assert(s->queued >= 0 && !s->queued == !s->queue);
    return n;
}

static void finish_jobs(struct stream *s, struct job *done)
{
    for (struct job *next; done; done = next) {
        struct sentence *s_done = done->owner;

        next = done->next;
        assert(s_done->owner->pending > 0);
        s_done->owner->pending--;
    }
    deliver(s);
}

static void stream_fail(struct stream *s, const struct err *e)
{
    if (!s->failure.status) s->failure = *e;
    s->canceled = true;
    pthread_cond_broadcast(&s->room);
    pthread_cond_broadcast(&s->work);
}

/* Wait for jobs; false when the stream ends. Called with the lock held. */
static bool await_jobs(struct stream *s, struct worker *w)
{
    while (!s->canceled && !s->queue && !batch_busy_lanes(w->batch))
        pthread_cond_wait(&s->work, &s->lock);
    return !s->canceled && (s->queue || batch_busy_lanes(w->batch));
}

static void *stream_worker_main(void *arg)
{
    struct worker *w = arg;
    struct stream *s = w->s;
    struct err e;

    pthread_mutex_lock(&s->lock);
    while (await_jobs(s, w)) {
        int was = batch_busy_lanes(w->batch) > 0;
        int n = take_jobs(s, w);
        struct job *done = NULL;
        enum status st = ST_OK;
        struct shared_keys *keys = s->keys;
        bool alone;

        s->busy += !was && n > 0;
        alone = s->busy == 1 && !s->queue;
        pthread_mutex_unlock(&s->lock);
        steered_batch_set_pool(w->steered_batch, alone);
        steered_batch_set_keys(w->steered_batch, keys);
        if (n) st = steered_batch_add(w->steered_batch, w->taken, n, &e);
        if (!st) done = batch_step(w->batch);
        pthread_mutex_lock(&s->lock);
        if (st) stream_fail(s, &e);
        s->busy -= (was || n > 0) && !batch_busy_lanes(w->batch);
        assert(s->busy >= 0 && s->busy <= s->o.threads);
        finish_jobs(s, done);
    }
    batch_abandon(w->batch);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- pushing --------------------------------------------------------- */

static enum status start_worker(struct stream *s, struct worker *w,
                                struct err *e)
{
    enum status st;

    w->s = s;
    w->taken = calloc((size_t)s->so.lanes, sizeof *w->taken);
    if (!w->taken) return err_nomem(e, "a worker");
    st = steered_batch_new(&w->steered_batch, s->engine, &s->o, &s->so,
                           s->pool, e);
    if (st) return st;
    w->batch = steered_batch_batch(w->steered_batch);
    if (pthread_create(&w->thread, NULL, stream_worker_main, w))
        return err_set(e, ST_NOMEM, "cannot start %d threads", s->o.threads);
    w->started = true;
    return ST_OK;
}

enum status stream_new(struct stream **out, const struct engine *en,
                       const struct options *o, stream_fn *fn, void *user,
                       struct err *e)
{
    struct stream *s = calloc(1, sizeof *s);
    enum status st;

    *out = NULL;
    if (!s) return err_nomem(e, "stream");
    s->engine = en;
    s->o = *o;
    s->fn = fn;
    s->user = user;
    s->queue_end = &s->queue;
    s->last = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->room, NULL);
    s->workers = calloc((size_t)o->threads, sizeof *s->workers);
    st = s->workers ? engine_search_options(en, o, &s->so, e)
                    : err_nomem(e, "stream");
    if (!st) st = pool_new(&s->pool, o->threads, e);
    for (int i = 0; i < o->threads && !st; i++)
        st = start_worker(s, &s->workers[i], e);
    if (st) stream_free(s);
    else *out = s;
    return st;
}

static enum status stream_stopped(struct stream *s, struct err *e)
{
    if (s->failure.status) {
        if (e) *e = s->failure;
        return s->failure.status;
    }
    return err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
}

/* Whether enough jobs wait to keep all lanes full until the next push. */
static bool stream_is_full(const struct stream *s)
{
    long most = 4L * s->so.lanes * s->o.threads + 16;

    return s->queued >= most || s->undelivered >= 64 * most;
}

static void enqueue(struct stream *s, struct result *r)
{
    assert(!r->next);
    r->number = s->n_pushed++;
    *s->last = r;
    s->last = &r->next;
    s->undelivered++;
    for (int i = 0; i < r->n_sentences; i++) {
        struct job *j = r->sentences[i].job;

        if (!j) continue;
        j->next = NULL;
        *s->queue_end = j;
        s->queue_end = &j->next;
        s->queued++;
    }
}

enum status stream_set_memory(struct stream *s, struct pair_source *source,
                              struct shared_keys *keys, struct err *e)
{
    struct pairfinder *pf;
    enum status st = ST_OK;

    if (keys) st = shared_keys_fit(keys, s->engine, &s->o, e);
    else if (!s->own_keys)
        st = shared_keys_new(&s->own_keys, s->engine, &s->o, NULL, e);
    if (st) return st;
    if (!keys) keys = s->own_keys;
    st = pairfinder_new(&pf, s->engine, &s->o, source, keys->cache, e);
    /* Texts already pushed finish with the keys that they began with. */
    if (!st) st = stream_flush(s, e);
    if (st) {
        pairfinder_free(pf);
        return st;
    }
    pairfinder_free(s->pairfinder);
    s->pairfinder = pf;
    pthread_mutex_lock(&s->lock);
    s->keys = keys;
    pthread_mutex_unlock(&s->lock);
    return ST_OK;
}

/* Turn a text into jobs, with the pairs that the memory has for them. */
static enum status stream_prepare(struct stream *s, const char *text,
                                  size_t len, const char *prefix,
                                  const struct similar_pair *given, int n,
                                  struct result **out, struct err *e)
{
    enum status st = ST_OK;

    *out = NULL;
    if (given && !s->pairfinder) st = stream_set_memory(s, NULL, NULL, e);
    if (!st)
        st = result_prepare(out, s->engine, &s->o, &s->so, text, len, prefix,
                            e);
    if (st || !s->pairfinder) return st;
    st = pairfinder_run(s->pairfinder, *out, given, n, e);
    if (!st) return ST_OK;
    result_free(*out);
    *out = NULL;
    return st;
}

enum status stream_push(struct stream *s, const char *text, size_t len,
                        const char *prefix, struct err *e)
{
    return stream_push_with(s, text, len, prefix, NULL, 0, e);
}

enum status stream_push_with(struct stream *s, const char *text, size_t len,
                             const char *prefix,
                             const struct similar_pair *given, int n,
                             struct err *e)
{
    struct result *r;
    struct err why = { 0 };
    enum status st;

    if (stream_prepare(s, text, len, prefix, given, n, &r, &why)) {
        /* A text that cannot be translated still has a place in the order. */
        r = calloc(1, sizeof *r);
        if (!r) return err_nomem(e, "a text");
        r->engine = s->engine;
        r->err = why;
    }
    pthread_mutex_lock(&s->lock);
    while (!s->canceled && stream_is_full(s))
        pthread_cond_wait(&s->room, &s->lock);
    if (s->canceled) {
        st = stream_stopped(s, e);
        result_free(r);
    } else {
        enqueue(s, r);
        st = ST_OK;
        pthread_cond_broadcast(&s->work);
        /* No worker will deliver a text without jobs. */
        if (!s->busy && !s->queue) deliver(s);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

enum status stream_flush(struct stream *s, struct err *e)
{
    enum status st = ST_OK;

    pthread_mutex_lock(&s->lock);
    deliver(s);
    /* When this returns no callback runs, even if the stream was canceled. */
    while ((s->undelivered && !s->canceled) || s->delivering)
        pthread_cond_wait(&s->room, &s->lock);
    if (s->canceled) st = stream_stopped(s, e);
    pthread_mutex_unlock(&s->lock);
    return st;
}

void stream_cancel(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->canceled = true;
    pthread_cond_broadcast(&s->work);
    pthread_cond_broadcast(&s->room);
    pthread_mutex_unlock(&s->lock);
}

void stream_counts(struct stream *s, uint64_t *texts, uint64_t *sentences,
                   uint64_t *tokens)
{
    pthread_mutex_lock(&s->lock);
    if (texts) *texts = s->texts;
    if (sentences) *sentences = s->sentences;
    if (tokens) *tokens = s->tokens;
    pthread_mutex_unlock(&s->lock);
}

struct batch_counts stream_work(struct stream *s)
{
    struct batch_counts sum = { 0 };

    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < s->o.threads; i++) {
        struct batch_counts c = batch_counts(s->workers[i].batch);

        sum.passes += c.passes;
        sum.rows += c.rows;
        sum.steps += c.steps;
        sum.drafted += c.drafted;
        sum.drafts_used += c.drafts_used;
    }
    pthread_mutex_unlock(&s->lock);
    return sum;
}

void stream_free(struct stream *s)
{
    if (!s) return;
    stream_cancel(s);
    for (int i = 0; s->workers && i < s->o.threads; i++) {
        if (s->workers[i].started) pthread_join(s->workers[i].thread, NULL);
        steered_batch_free(s->workers[i].steered_batch);
        free(s->workers[i].taken);
    }
    for (struct result *r = s->first, *next; r; r = next) {
        next = r->next;
        result_free(r);
    }
    pairfinder_free(s->pairfinder);
    shared_keys_free(s->own_keys);
    pool_free(s->pool);
    free(s->workers);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->room);
    free(s);
}
