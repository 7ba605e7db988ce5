/* request.h - one text to translate, with everything that belongs to it, and
 * its answer.
 *
 *     new -> preparing -> waiting -> answering -> answered
 *
 * The caller makes a request, says what it wants, and submits it to a service
 * (service.h). While the request is prepared, its text is cut into sentences,
 * and its memory is searched. Then its jobs wait for workers (workers.h) and
 * are decoded.
 *
 * A request is answered exactly once: with a result, an error, ST_CANCELED or
 * ST_DEADLINE. The thread that changes the state to "answering" gives the
 * answer: it calls the callback, and then changes the state to "answered".
 * Nobody waits for the jobs of a request that was answered early; they leave
 * the queue at once, and the batches at the next turn of their workers. How
 * soon a late request is answered is said in workers.h. While a request is
 * prepared, it can be answered, but the thread that submits it continues to
 * search its memory.
 *
 * A request is counted by its holders: the caller from request_new to
 * request_free, and the workers until the request is answered and no batch has
 * a job of it. The last holder frees it.
 *
 * Only the thread that makes a request sets its properties. After it was
 * submitted, any thread may cancel it or wait for it. */
#ifndef ENGINE_REQUEST_H
#define ENGINE_REQUEST_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/online_store.h"
#include "engine/options.h"
#include "engine/pairfinder.h"
#include "engine/result.h"
#include "engine/shared_keys.h"

struct request;
struct workers;

/* Called once, by the thread that answers: a worker, a thread that submits,
 * cancels or frees this request or waits for it, or one that cancels all
 * requests. It may submit other requests, and may free its own. In the thread
 * of a worker, submitting fails with ST_LIMIT instead of waiting (workers.h).
 * Requests of the same service that it submits or cancels are answered by this
 * thread after it has returned. */
typedef void request_fn(void *user, struct request *q);

/* Where to look for pairs. All pointers are borrowed. source is used only while
 * the request is prepared; keys must exist until the service is freed. */
struct request_memory {
    struct pair_source *source; /* NULL: only given pairs are used */
    pthread_mutex_t *lock;      /* held while it is searched, or NULL */
    struct shared_keys *keys;   /* NULL: those of the service */
    struct entries *entries;    /* a datastore of all pairs, or NULL; used only
                                   while the request is prepared */
    struct online_store *online;        /* the corrections so far, likewise */
    const struct align_model *alignment;        /* of pieces, likewise */
};

/* Replace the source, its lock and the keys. The datastore, the corrections
 * and the alignment stay. */
static inline void request_memory_set(struct request_memory *to,
                                      const struct request_memory *from)
{
    to->source = from->source;
    to->lock = from->lock;
    to->keys = from->keys;
}

enum request_state {
    REQUEST_NEW, REQUEST_PREPARING, REQUEST_WAITING, REQUEST_ANSWERING,
    REQUEST_ANSWERED
};

struct request {
    /* What is wanted: set before the request is submitted. */
    char *text;
    size_t len;
    char *prefix;               /* the forced beginning, or NULL */
    struct similar_pair *given; /* [n_given] in one block with the texts; NULL:
                                   search the memory */
    int n_given;
    struct options o;
    bool has_options;           /* false: the options of the service */
    struct request_memory memory;
    int priority;               /* higher ones are decoded first */
    double deadline;            /* by clock_seconds; INFINITY: none */
    request_fn *fn;             /* may be NULL */
    void *user;
    void (*free_user)(void *user);      /* may be NULL */

    atomic_int holders;
    atomic_bool canceled;       /* request_cancel was called */
    atomic_bool ready;          /* result and err are final */
    struct workers *_Atomic workers;    /* held; NULL: not submitted */

    /* Guarded by the lock of the workers. */
    enum request_state state;
    int n_queued;               /* its jobs in the queue */
    struct job *first_queued, *last_queued;     /* NULL: none */
    struct request *earlier, *later;    /* in the queue (job_queue.h) */
    int n_pending;              /* its jobs in the queue and in batches */
    struct request *prev, *next;        /* in the list of live requests */
    struct request *link;       /* in the list of a thread that answers */
    pthread_cond_t answered;
    /* Guarded by the lock until `ready` is set; then they do not change. */
    struct result *result;
    struct err err;
};

/* The text is copied. It has no NUL bytes. Fails with ST_ARGUMENT if it is
 * NULL. */
enum status request_new(struct request **out, const char *text, size_t len,
                        struct err *e);
/* Give the request up. It is canceled if it has been submitted and has no
 * answer yet. When this returns, its callback has returned or will never be
 * called; so it must not be called with a lock that the callback needs. In a
 * callback, its own or that of another request, this does not wait: then the
 * request's callback may still run, or be called later. NULL is fine. */
void request_free(struct request *q);
void request_hold(struct request *q);
void request_drop(struct request *q);           /* undoes one request_hold */

static inline bool request_submitted(struct request *q)
{
    return atomic_load(&q->workers) != NULL;
}

/* These copy what they are given. prefix may be NULL. n pairs are used instead
 * of a search in the memory, also if n is 0. */
enum status request_set_prefix(struct request *q, const char *prefix,
                               struct err *e);
enum status request_set_given(struct request *q,
                              const struct similar_pair *pairs, int n,
                              struct err *e);
void request_set_options(struct request *q, const struct options *o);
/* free_user is called with `user` when the request is freed; it may be NULL. */
void request_set_callback(struct request *q, request_fn *fn, void *user,
                          void (*free_user)(void *user));

/* Cancel a request. If it has no answer yet, it is answered with ST_CANCELED
 * before this returns, unless another thread is about to answer it; in a
 * callback of the same service, after that callback has returned. A request
 * that is not submitted yet is answered when it is. */
void request_cancel(struct request *q);
/* Wait until the request is answered and its callback has returned. Must not be
 * called by that callback, nor for a request that was not submitted. */
void request_wait(struct request *q);

/* The answer. Before the answer exists, the result is NULL and the error is
 * ST_OK. A result belongs to the request; request_take_result makes the caller
 * its owner. */
struct result *request_result(struct request *q);
struct result *request_take_result(struct request *q);
struct err request_error(const struct request *q);

/* Free the text, the prefix and the pairs, which are not needed after the
 * request was prepared. */
void request_drop_inputs(struct request *q);

#endif
