/* job_queue.h - the jobs that no worker has taken yet.
 *
 * The queue is sorted by descending priority of the requests; jobs of equal
 * priority are in the order in which they were added. It does not own the jobs.
 * Its users hold the lock of the workers.
 *
 * The jobs of a request are adjacent, so the queue is a list of requests, each
 * with its first and last job. All jobs are linked, too, across requests. A
 * request is removed in constant time.
 *
 * Invariants:
 *   - n is the number of jobs.
 *   - A request is in the list while its n_queued is positive. It counts the
 *     jobs from first_queued to last_queued.
 *   - The last job of a request is linked to the first one of the next
 *     request. */
#ifndef ENGINE_JOB_QUEUE_H
#define ENGINE_JOB_QUEUE_H

#include "engine/request.h"

struct job_queue {
    struct request *first, *last;       /* linked by later and earlier */
    long n;
};

static inline struct request *job_request(const struct job *j)
{
    return j->sentence->owner->request;
}

/* The jobs in their order, linked by next; NULL: none. */
static inline struct job *job_queue_jobs(const struct job_queue *jq)
{
    return jq->first ? jq->first->first_queued : NULL;
}

/* Add all jobs of a request, which are then queued and pending. */
void job_queue_add(struct job_queue *jq, struct request *q);
/* Take the first job. The queue may not be empty. */
struct job *job_queue_take(struct job_queue *jq);
/* Remove the jobs of a request; they are no longer pending. */
void job_queue_remove(struct job_queue *jq, struct request *q);

#endif
