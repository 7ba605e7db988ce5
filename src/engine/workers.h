/* workers.h - a queue of jobs, and workers that decode them.
 *
 * A worker is a batch with its scratch memory. In a turn it takes jobs from the
 * queue, runs one decoder pass over its batch, and hands the finished jobs
 * back. A request is answered when its last job is finished, so requests are
 * answered in any order. Jobs with a higher priority are taken first, equal
 * ones in the order in which they were submitted. The jobs of a batch may
 * belong to requests with different options.
 *
 * Each worker has a thread that runs its turns. Workers without threads have
 * one worker, and the owner calls workers_turn itself. When only one worker has
 * jobs, the other threads help with its matrix products (base/pool.h).
 *
 * The queue has a bound. It is full for a request when it has so many jobs and
 * none of them has a lower priority. A request with a higher priority than some
 * job may enter until there are twice as many. A thread that submits waits
 * while the queue is full, or gets ST_LIMIT. The thread of a worker never
 * waits, because callbacks of two services could wait for each other; it may
 * also enter until there are twice as many jobs, and gets ST_LIMIT then. A
 * request enters with all its jobs, and threads that are preparing requests do
 * not reserve room, so the queue can become longer than that by the jobs of
 * these requests.
 *
 * Callbacks run in the thread that answers. A callback that submits or cancels
 * requests of the same workers does not call their callbacks: they are called
 * when it has returned. So callbacks may submit requests that are answered at
 * once, as often as they like.
 *
 * A canceled request is answered by the thread that cancels it. Every turn
 * first answers the requests whose deadline has passed, whichever worker has
 * their jobs; so does a worker that waits for jobs. A thread that submits a
 * request or waits for it answers it if it is late. Otherwise, if all workers
 * are busy, the answer comes when the first of them has done one of these:
 *   - a turn without new jobs: one decoder pass; and for each job that it
 *     finishes and that wants attention or an explanation, the passes that
 *     decode its translations again;
 *   - encoding the jobs that enter;
 *   - computing a group of missing keys (KEY_GROUP_ROWS in
 *     datastore_builder.h), about four passes of 256 rows;
 *   - callbacks, which it calls one after the other.
 *
 * An error of one job, such as no memory for its keys or an error of its
 * steering system, fails its request only. If the device of a worker fails, the
 * requests that have jobs in its batch fail, and the worker ends. It is not
 * replaced: the other workers do its work, and a service whose devices have
 * failed must be made again. When no worker is left, all requests fail, those
 * that are submitted later, too.
 *
 * All functions may be called by any thread, except workers_turn and
 * workers_free. Submitting takes two calls, because the request is prepared
 * between them. */
#ifndef ENGINE_WORKERS_H
#define ENGINE_WORKERS_H

#include "engine/request.h"
#include "search/batch.h"

struct workers;

enum workers_mode { WORKERS_WITH_THREADS, WORKERS_WITHOUT_THREADS };

/* Make the workers, and start `threads` threads. Without threads, the products
 * of the one worker are shared among `threads` threads of a pool. The
 * workers hold en. */
enum status workers_new(struct workers **out, const struct engine *en,
                        const struct batch_limits *limits, int threads,
                        enum workers_mode mode, struct err *e);
/* Cancel all requests, end the threads and wait until no callback runs. Must
 * not be called by a callback. The struct itself is freed when no request
 * refers to it. NULL is fine. */
void workers_free(struct workers *ws);
void workers_drop(struct workers *ws);          /* for request.c */

/* Begin to submit a request. Fails with ST_ARGUMENT if it was submitted before,
 * with ST_LIMIT if the queue is full for it and wait is false or this is the
 * thread of a worker, and with ST_CANCELED or the error of the workers if no
 * worker can run. If it succeeds, the request will be answered. */
enum status workers_begin(struct workers *ws, struct request *q, bool wait,
                          struct err *e);
/* Submit the jobs of r, which becomes the result of the request; or answer the
 * request with the error `why`. Waits while the queue is full for the request
 * if `wait` is set, except in the thread of a worker. r is freed if the request
 * has been answered meanwhile. */
void workers_enter(struct workers *ws, struct request *q, struct result *r,
                   const struct err *why, bool wait);

/* Answer this request, or all requests, with ST_CANCELED, if they have no
 * answer yet. */
void workers_cancel(struct workers *ws, struct request *q);
void workers_cancel_all(struct workers *ws);
/* Wait until the request is answered and its callback has returned. */
void workers_wait(struct workers *ws, struct request *q);

/* Run one turn of the only worker. Returns false when there is nothing left to
 * do. */
bool workers_turn(struct workers *ws);

/* Whether no worker can run anymore; *e is the reason then. */
bool workers_failed(struct workers *ws, struct err *e);

/* Whether a callback of any workers is running in this thread. */
bool workers_in_callback(void);

const struct batch_limits *workers_limits(const struct workers *ws);

struct workers_stats {
    struct batch_counts work;   /* of all turns that have ended */
    uint64_t answered;          /* requests: all of them, */
    uint64_t failed, canceled, late;    /* and those without a result */
    uint64_t live;              /* requests without an answer */
    uint64_t queued, decoding;  /* jobs */
};
struct workers_stats workers_stats(struct workers *ws);

#endif
