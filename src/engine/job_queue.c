/* job_queue.c - keeps a list of jobs in the order in which workers take
 * them. */
#include "engine/job_queue.h"

#include "base/invariant.h"

/* Whether the invariants hold; for PARANOID_CHECK. */
static inline bool job_queue_sound(const struct job_queue *jq)
{
    const struct job *last = NULL;
    long n = 0;

    for (const struct job *j = jq->first; j; last = j, j = j->next, n++) {
        const struct request *q = job_request(j);

        if (q->state != REQUEST_WAITING || !q->n_queued) return false;
        if (last && job_request(last)->priority < q->priority) return false;
    }
    return n == jq->n && last == jq->last;
}

/* Insert a list of jobs with the same priority. */
static void insert_jobs(struct job_queue *jq, struct job *first,
                        struct job *last, int priority)
{
    struct job **at = &jq->first;

    if (jq->last && job_request(jq->last)->priority >= priority)
        at = &jq->last->next;
    while (*at && job_request(*at)->priority >= priority) at = &(*at)->next;
    last->next = *at;
    *at = first;
    if (!last->next) jq->last = last;
}

void job_queue_add(struct job_queue *jq, struct request *q)
{
    struct job *first = NULL, *last = NULL;

    assert(!q->n_queued && !q->n_pending);
    for (int i = 0; i < q->result->n_sentences; i++) {
        struct job *j = q->result->sentences[i].job;

        if (!j) continue;
        assert(job_request(j) == q);
        if (last) last->next = j;
        else first = j;
        last = j;
        q->n_queued++;
    }
    q->n_pending = q->n_queued;
    jq->n += q->n_queued;
    if (first) insert_jobs(jq, first, last, q->priority);
    PARANOID_CHECK(job_queue_sound(jq));
}

struct job *job_queue_take(struct job_queue *jq)
{
    struct job *j = jq->first;

    jq->first = j->next;
    if (!jq->first) jq->last = NULL;
    jq->n--;
    job_request(j)->n_queued--;
    assert(jq->n >= 0 && !jq->n == !jq->first);
    return j;
}

void job_queue_remove(struct job_queue *jq, struct request *q)
{
    struct job **at = &jq->first, *last = NULL;

    if (!q->n_queued) return;
    while (*at) {
        if (job_request(*at) == q) {
            *at = (*at)->next;
        } else {
            last = *at;
            at = &last->next;
        }
    }
    jq->last = last;
    jq->n -= q->n_queued;
    q->n_pending -= q->n_queued;
    q->n_queued = 0;
    assert(jq->n >= 0 && !jq->n == !jq->first);
}
