/* session.c - translates a few texts in the calling thread: submits them to a
 * service without threads, runs its turns until all are answered, and returns
 * the results. For many texts on several threads see stream.c. */
#include "engine/session.h"

#include <stdlib.h>

#include "base/invariant.h"

struct session {
    struct options o;
    struct service *service;
    struct request_memory memory;
    pthread_mutex_t lock;       /* guards the following */
    bool running;               /* a thread is in session_run */
    bool canceled;              /* this run */
};

enum status session_new(struct session **out, const struct engine *en,
                        const struct options *o, struct err *e)
{
    struct session *s = calloc(1, sizeof *s);
    struct batch_limits limits = engine_batch_limits(en, o);
    enum status st;

    *out = NULL;
    if (!s) return err_nomem(e, "session");
    s->o = *o;
    pthread_mutex_init(&s->lock, NULL);
    st = service_new(&s->service, en, o, &limits, WORKERS_WITHOUT_THREADS, e);
    if (st) session_free(s);
    else *out = s;
    return st;
}

void session_free(struct session *s)
{
    if (!s) return;
    pthread_mutex_lock(&s->lock);       /* for a thread in session_cancel */
    pthread_mutex_unlock(&s->lock);
    service_free(s->service);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

enum status session_set_memory(struct session *s,
                               const struct request_memory *m, struct err *e)
{
    enum status st = service_check_memory(s->service, m, &s->o, e);

    if (!st) request_memory_set(&s->memory, m);
    return st;
}

void session_set_entries(struct session *s, struct entries *entries)
{
    s->memory.entries = entries;
}

void session_set_online(struct session *s, struct online_store *online)
{
    s->memory.online = online;
}

void session_set_alignment(struct session *s, const struct align_model *m)
{
    s->memory.alignment = m;
}

struct batch_counts session_counts(struct session *s)
{
    return workers_stats(service_workers(s->service)).work;
}

/* ---- a run --------------------------------------------------------------- */

static void session_set_running(struct session *s, bool running)
{
    pthread_mutex_lock(&s->lock);
    assert(s->running != running);
    s->running = running;
    s->canceled = false;
    pthread_mutex_unlock(&s->lock);
}

static bool session_is_canceled(struct session *s)
{
    bool canceled;

    pthread_mutex_lock(&s->lock);
    canceled = s->canceled;
    pthread_mutex_unlock(&s->lock);
    return canceled;
}

/* The lock is held all the time, so that this run cannot end and the next one
 * begin meanwhile, and the session cannot be freed. The requests of a session
 * have no callbacks, which could need the lock. */
void session_cancel(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    s->canceled = s->running;
    if (s->running) workers_cancel_all(service_workers(s->service));
    pthread_mutex_unlock(&s->lock);
}

/* Make the request of a text and submit it. */
static enum status session_submit(struct session *s,
                                  const struct session_text *t,
                                  struct request **out, struct err *e)
{
    struct request *q;
    enum status st;

    *out = NULL;
    if (session_is_canceled(s))
        return err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
    st = request_new(&q, t->text, t->len, e);
    if (st) return st;
    q->memory = s->memory;
    st = request_set_prefix(q, t->prefix, e);
    if (!st && t->given) st = request_set_given(q, t->given, t->n_given, e);
    /* If the run is canceled from now on, the request is live already. */
    if (!st) st = service_submit(s->service, q, SUBMIT_WAIT, e);
    if (!st && session_is_canceled(s)) request_cancel(q);
    if (st) request_free(q);
    else *out = q;
    return st;
}

static void session_collect(struct session_text *t, struct request *q)
{
    if (!q) return;
    request_wait(q);            /* for a thread that cancels it right now */
    t->err = request_error(q);
    t->result = request_take_result(q);
    request_free(q);
}

enum status session_run(struct session *s, struct session_text *t, size_t n,
                        struct err *e)
{
    struct request **q = calloc(n ? n : 1, sizeof *q);
    enum status first = ST_OK;

    for (size_t i = 0; i < n; i++) {
        t[i].result = NULL;
        err_clear(&t[i].err);
    }
    if (!q) return err_nomem(e, "texts");
    session_set_running(s, true);
    for (size_t i = 0; i < n; i++)
        session_submit(s, &t[i], &q[i], &t[i].err);
    while (workers_turn(service_workers(s->service))) continue;
    for (size_t i = 0; i < n; i++) {
        session_collect(&t[i], q[i]);
        if (first || !t[i].err.status) continue;
        first = t[i].err.status;
        if (e) *e = t[i].err;
    }
    session_set_running(s, false);
    free(q);
    return first;
}
