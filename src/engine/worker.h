/* worker.h - the structs and functions that workers.c (requests and
 * their answers) and worker.c (the turns of one worker) share.
 *
 * One lock guards everything that threads share. Decoding, joining the results
 * and callbacks run without it: while a thread has the lock, it puts the
 * requests to be answered into an outbox, which it empties afterwards.
 *
 * Invariants, while the lock is held:
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
#ifndef ENGINE_WORKER_H
#define ENGINE_WORKER_H

#include "engine/job_queue.h"
#include "engine/workers.h"

struct worker {
    struct workers *ws;
    pthread_t thread;
    bool started;
    struct steered_batch *steered_batch;
    struct batch *batch;        /* inside steered_batch */
    struct job **taken;         /* [lanes] scratch */
    struct err *why;            /* [lanes] what is wrong with each of them */
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
    struct job_queue queue;
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

/* What a thread has to do when it has released the lock. */
struct outbox {
    struct request *answers, **last;    /* claimed by this thread */
    struct request *drops;      /* no longer held by the workers */
};

/* The following functions are called with the lock held. */

/* Make this thread answer the request, with the error `why` unless it is NULL.
 * The request must be live. Its jobs leave the queue. */
void workers_claim(struct workers *ws, struct request *q,
                   const struct err *why, struct outbox *out);
/* The same for all requests whose deadline has passed, and for all requests. */
void workers_claim_late(struct workers *ws, struct outbox *out);
void workers_claim_all(struct workers *ws, const struct err *why,
                       struct outbox *out);
/* Do what is in the outbox. The lock is released meanwhile. In a callback of
 * these workers, leave it to the function that has called the callback. */
void workers_empty(struct workers *ws, struct outbox *out);
/* A job that was taken from the queue is not pending anymore. */
void workers_job_left(struct job *j, struct outbox *out);

/* Whether this is the thread of a worker, of any workers. */
bool in_worker_thread(void);

enum status worker_init(struct worker *w, struct workers *ws, struct err *e);
enum status worker_start(struct worker *w, struct err *e);
/* Run one turn and give the answers that it makes possible. The lock is
 * released meanwhile. */
void worker_turn(struct worker *w);
/* Take all jobs out of the batch, and answer their requests with the error
 * `why` if they have no answer yet. */
void worker_abandon(struct worker *w, const struct err *why,
                    struct outbox *out);
/* Wait for the thread and free the batch. Called without the lock. */
void worker_release(struct worker *w);

#endif
