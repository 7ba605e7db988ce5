/* stream.c - numbers the texts of a corpus, submits each as a request, and
 * delivers the answers in the order in which the texts were pushed.
 *
 * One lock guards the list of texts and the counts. Callbacks run without it.
 * The thread that answers a request delivers a text when it finds the first
 * text of the list answered and no other thread is delivering. The lock is
 * never held when the service is called, because the service may answer a
 * request at once.
 *
 * Invariants, while the lock is held:
 *   - `undelivered` is the length of the list of texts, plus one while a
 *     callback runs.
 *   - At most one thread delivers, so callbacks come one at a time, in order.
 *     While no thread delivers and the stream is not canceled, the first text
 *     of the list has no answer. */
#include "engine/stream.h"

#include <stdlib.h>

#include "base/invariant.h"

struct stream_text {
    struct stream *s;
    struct request *q;          /* held */
    uint64_t number;
    bool answered;
    struct stream_text *next;
};

struct stream {
    struct options o;
    struct service *service;
    struct request_memory memory;       /* of the next texts */
    stream_fn *fn;
    void *user;
    long most_undelivered;

    pthread_mutex_t lock;
    pthread_cond_t room;        /* push and flush wait for a delivery */
    struct stream_text *first, **last;  /* in order, not delivered */
    long undelivered;
    bool delivering, canceled;
    int canceling;              /* threads in stream_cancel */
    struct err failure;         /* why no more texts can be submitted */
    uint64_t n_pushed;          /* the number of the next text */
    uint64_t texts, sentences, tokens;  /* delivered */
};

/* ---- delivering ---------------------------------------------------------- */

static void text_free(struct stream_text *t)
{
    request_free(t->q);
    free(t);
}

/* Called with the lock held; releases it while the callback runs. */
static void deliver_one(struct stream *s, struct stream_text *t)
{
    struct result *r = request_result(t->q);
    struct err e = request_error(t->q);
    int sentences = r ? r->n_sentences : 0, tokens = r ? r->tokens : 0, stop;

    assert(s->delivering && t == s->first && t->answered);
    s->first = t->next;
    if (!s->first) s->last = &s->first;
    pthread_mutex_unlock(&s->lock);
    stop = s->fn(s->user, t->number, r, &e);
    text_free(t);
    pthread_mutex_lock(&s->lock);
    s->texts++;
    s->sentences += (uint64_t)sentences;
    s->tokens += (uint64_t)tokens;
    assert(s->undelivered > 0);
    s->undelivered--;
    if (stop) s->canceled = true;
    pthread_cond_broadcast(&s->room);
}

static void stream_fail(struct stream *s, const struct err *why)
{
    if (!s->failure.status && !s->canceled) s->failure = *why;
    s->canceled = true;
    pthread_cond_broadcast(&s->room);
}

/* Deliver the texts that are answered. Called with the lock held. Returns true
 * if a callback canceled the stream. */
static bool deliver(struct stream *s)
{
    if (s->delivering || s->canceled) return false;
    s->delivering = true;
    while (s->first && s->first->answered && !s->canceled)
        deliver_one(s, s->first);
    s->delivering = false;
    pthread_cond_broadcast(&s->room);
    return s->canceled;
}

/* A text that fails is delivered as such. When no worker is left, all texts
 * would fail: then the stream fails. */
static void on_answer(void *user, struct request *q)
{
    struct stream_text *t = user;
    struct stream *s = t->s;
    struct err why;
    bool failed = request_error(q).status &&
                  workers_failed(service_workers(s->service), &why);
    bool canceled;

    pthread_mutex_lock(&s->lock);
    t->answered = true;
    if (failed) stream_fail(s, &why);
    canceled = deliver(s);
    pthread_mutex_unlock(&s->lock);
    if (canceled) stream_cancel(s);
}

/* ---- making and freeing -------------------------------------------------- */

enum status stream_new(struct stream **out, const struct engine *en,
                       const struct options *o, stream_fn *fn, void *user,
                       struct err *e)
{
    struct batch_limits limits = engine_batch_limits(en, o);
    struct stream *s = calloc(1, sizeof *s);
    enum status st;

    *out = NULL;
    if (!s) return err_nomem(e, "stream");
    s->o = *o;
    s->fn = fn;
    s->user = user;
    s->last = &s->first;
    /* Many more than the queue of the service has room for: while a slow text
     * is the oldest one, the others must not have to wait for it. */
    s->most_undelivered = 64 * (4L * o->batch * o->threads + 16);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->room, NULL);
    st = service_new(&s->service, en, o, &limits, WORKERS_WITH_THREADS, e);
    if (st) stream_free(s);
    else *out = s;
    return st;
}

/* The thread that pushes may see at once that the stream is canceled, and free
 * it. stream_free waits until this is done. */
void stream_cancel(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->canceled = true;
    s->canceling++;
    pthread_cond_broadcast(&s->room);
    pthread_mutex_unlock(&s->lock);
    workers_cancel_all(service_workers(s->service));
    pthread_mutex_lock(&s->lock);
    s->canceling--;
    pthread_cond_broadcast(&s->room);
    pthread_mutex_unlock(&s->lock);
}

static void await_cancelers(struct stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->canceling) pthread_cond_wait(&s->room, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

void stream_free(struct stream *s)
{
    if (!s) return;
    if (s->service) stream_cancel(s);
    await_cancelers(s);
    service_free(s->service);
    for (struct stream_text *t = s->first, *next; t; t = next) {
        next = t->next;
        text_free(t);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->room);
    free(s);
}

/* ---- pushing ------------------------------------------------------------- */

static enum status stream_stopped(struct stream *s, struct err *e)
{
    if (s->failure.status) {
        if (e) *e = s->failure;
        return s->failure.status;
    }
    return err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
}

enum status stream_set_memory(struct stream *s, const struct request_memory *m,
                              struct err *e)
{
    enum status st = service_check_memory(s->service, m, &s->o, e);

    /* Texts already pushed finish with the keys that they began with. */
    if (!st) st = stream_flush(s, e);
    if (!st) request_memory_set(&s->memory, m);
    return st;
}

enum status stream_set_entries(struct stream *s, struct entries *entries,
                               struct err *e)
{
    enum status st = stream_flush(s, e);

    if (!st) s->memory.entries = entries;
    return st;
}

enum status stream_set_online(struct stream *s, struct online_store *online,
                              struct err *e)
{
    enum status st = stream_flush(s, e);

    if (!st) s->memory.online = online;
    return st;
}

enum status stream_set_alignment(struct stream *s, const struct align_model *m,
                                 struct err *e)
{
    enum status st = stream_flush(s, e);

    if (!st) s->memory.alignment = m;
    return st;
}

/* Make the request of a text. */
static enum status text_new(struct stream *s, const char *text, size_t len,
                            const char *prefix,
                            const struct similar_pair *given, int n,
                            struct stream_text **out, struct err *e)
{
    struct stream_text *t = calloc(1, sizeof *t);
    enum status st;

    *out = NULL;
    if (!t) return err_nomem(e, "a text");
    t->s = s;
    st = request_new(&t->q, text, len, e);
    if (!st) st = request_set_prefix(t->q, prefix, e);
    if (!st && given) st = request_set_given(t->q, given, n, e);
    if (st) {
        text_free(t);
        return st;
    }
    t->q->memory = s->memory;
    request_set_callback(t->q, on_answer, t, NULL);
    *out = t;
    return ST_OK;
}

/* Put the text at the end of the list, when there is room. */
static enum status append(struct stream *s, struct stream_text *t,
                          struct err *e)
{
    enum status st = ST_OK;

    pthread_mutex_lock(&s->lock);
    while (!s->canceled && s->undelivered >= s->most_undelivered)
        pthread_cond_wait(&s->room, &s->lock);
    if (s->canceled) {
        st = stream_stopped(s, e);
    } else {
        t->number = s->n_pushed++;
        *s->last = t;
        s->last = &t->next;
        s->undelivered++;
    }
    pthread_mutex_unlock(&s->lock);
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
    struct stream_text *t;
    struct err why = { 0 };
    enum status st = text_new(s, text, len, prefix, given, n, &t, e);

    if (st) return st;
    st = append(s, t, e);
    if (st) {
        text_free(t);
        return st;
    }
    /* From now on the text may be delivered and freed at any time. */
    st = service_submit(s->service, t->q, SUBMIT_WAIT, &why);
    if (!st) return ST_OK;
    pthread_mutex_lock(&s->lock);
    stream_fail(s, &why);
    st = stream_stopped(s, e);
    pthread_mutex_unlock(&s->lock);
    return st;
}

enum status stream_flush(struct stream *s, struct err *e)
{
    enum status st = ST_OK;

    pthread_mutex_lock(&s->lock);
    /* When this returns no callback runs, even if the stream was canceled. */
    while ((s->undelivered && !s->canceled) || s->delivering)
        pthread_cond_wait(&s->room, &s->lock);
    if (s->canceled) st = stream_stopped(s, e);
    pthread_mutex_unlock(&s->lock);
    return st;
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
    return workers_stats(service_workers(s->service)).work;
}
