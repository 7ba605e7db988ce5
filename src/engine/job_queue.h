/* job_queue.h - the jobs that no worker has taken yet.
 *
 * The queue is sorted by descending priority of the requests; jobs of equal
 * priority are in the order in which they were added. It does not own the jobs.
 * Its users hold the lock of the workers.
 *
 * Invariants:
 *   - n is the number of jobs.
 *   - Every job belongs to a request whose n_queued counts it. */
#ifndef ENGINE_JOB_QUEUE_H
#define ENGINE_JOB_QUEUE_H

#include "engine/request.h"

struct job_queue {
    struct job *first, *last;   /* linked by next */
    long n;
};

static inline struct request *job_request(const struct job *j)
{
    return j->sentence->owner->request;
}

/* Add all jobs of a request, which are then queued and pending. */
void job_queue_add(struct job_queue *jq, struct request *q);
/* Take the first job. The queue may not be empty. */
struct job *job_queue_take(struct job_queue *jq);
/* Remove the jobs of a request; they are no longer pending. */
void job_queue_remove(struct job_queue *jq, struct request *q);

#endif
