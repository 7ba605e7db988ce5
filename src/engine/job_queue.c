/* job_queue.c - keeps a list of jobs in the order in which workers take
 * them. */
#include "engine/job_queue.h"

#include "base/invariant.h"

/* Whether the jobs of a request are linked to those of the next one. */
static inline bool queued_jobs_sound(const struct request *q)
{
    const struct job *j = q->first_queued;
    int n = 1;

    for (; j && j != q->last_queued; j = j->next, n++)
        if (job_request(j) != q) return false;
    return j && job_request(j) == q && n == q->n_queued &&
           j->next == (q->later ? q->later->first_queued : NULL);
}

/* Whether the invariants hold; for PARANOID_CHECK. */
static inline bool job_queue_sound(const struct job_queue *jq)
{
    const struct request *last = NULL;
    long n = 0;

    for (const struct request *q = jq->first; q; last = q, q = q->later) {
        if (q->state != REQUEST_WAITING || q->earlier != last) return false;
        if (last && last->priority < q->priority) return false;
        if (!queued_jobs_sound(q)) return false;
        n += q->n_queued;
    }
    return n == jq->n && last == jq->last;
}

/* Insert a request after those with the same or a higher priority. */
static void insert_request(struct job_queue *jq, struct request *q)
{
    struct request *before = jq->last;

    while (before && before->priority < q->priority) before = before->earlier;
    q->earlier = before;
    q->later = before ? before->later : jq->first;
    if (before) before->last_queued->next = q->first_queued;
    if (before) before->later = q;
    else jq->first = q;
    q->last_queued->next = q->later ? q->later->first_queued : NULL;
    if (q->later) q->later->earlier = q;
    else jq->last = q;
}

/* Take a request out of the list. Its jobs are not changed. */
static void unlink_request(struct job_queue *jq, struct request *q)
{
    if (q->earlier) q->earlier->later = q->later;
    else jq->first = q->later;
    if (q->later) q->later->earlier = q->earlier;
    else jq->last = q->earlier;
    q->earlier = q->later = NULL;
    q->first_queued = q->last_queued = NULL;
}

void job_queue_add(struct job_queue *jq, struct request *q)
{
    assert(!q->n_queued && !q->n_pending);
    for (int i = 0; i < q->result->n_sentences; i++) {
        struct job *j = q->result->sentences[i].job;

        if (!j) continue;
        assert(job_request(j) == q);
        if (q->last_queued) q->last_queued->next = j;
        else q->first_queued = j;
        q->last_queued = j;
        q->n_queued++;
    }
    q->n_pending = q->n_queued;
    jq->n += q->n_queued;
    if (q->n_queued) insert_request(jq, q);
    PARANOID_CHECK(job_queue_sound(jq));
}

struct job *job_queue_take(struct job_queue *jq)
{
    struct request *q = jq->first;
    struct job *j = q->first_queued;

    q->first_queued = j->next;
    jq->n--;
    if (!--q->n_queued) unlink_request(jq, q);
    assert(jq->n >= 0 && !jq->n == !jq->first);
    PARANOID_CHECK(job_queue_sound(jq));
    return j;
}

void job_queue_remove(struct job_queue *jq, struct request *q)
{
    if (!q->n_queued) return;
    if (q->earlier) q->earlier->last_queued->next = q->last_queued->next;
    unlink_request(jq, q);
    jq->n -= q->n_queued;
    q->n_pending -= q->n_queued;
    q->n_queued = 0;
    assert(jq->n >= 0 && !jq->n == !jq->first);
    PARANOID_CHECK(job_queue_sound(jq));
}
