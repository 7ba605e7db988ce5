/* merger.c - a background thread with a list of merge jobs.
 *
 * A poke starts the thread if none is running, and the thread ends when the
 * list is empty. `running` and the list change together under the lock, so a
 * poke either reaches the running thread or starts a new one.
 *
 * Invariants, while the lock is held: if `running` is false, the list is empty
 * and no thread will look at it. If it is true, the thread exists or
 * merger_poke is about to create it; jobs[0] is the one being done. thread_made
 * belongs to the caller's thread and is read without the lock. */
#include "tm/merger.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"

struct merger {
    char *path;
    pthread_mutex_t lock;
    pthread_t thread;
    bool thread_made;           /* there is a thread to join */
    bool running;               /* it will look at the list again */
    struct merge_job *jobs;     /* [n_jobs] */
    size_t n_jobs, cap_jobs;
};

enum status merger_new(struct merger **out, const char *path, struct err *e)
{
    struct merger *m = calloc(1, sizeof *m);

    *out = NULL;
    if (m) m->path = strdup(path);
    if (!m || !m->path) {
        free(m);
        return err_nomem(e, "an index");
    }
    pthread_mutex_init(&m->lock, NULL);
    *out = m;
    return ST_OK;
}

static void merge_one(const char *path, const struct merge_job *job)
{
    struct store *s = NULL;
    struct index *ix = NULL;
    struct err e;
    enum status st = store_open(&s, path, STORE_WRITE, &e);

    if (!st) st = index_open(&ix, s, job->memory, &job->analyzer, NULL, &e);
    if (!st) st = index_refresh(ix, &e);
    if (!st && job->sw)
        st = index_use_symbols(ix, job->sw, job->tokenizer, &e);
    if (!st && index_wants_merge(ix)) index_merge(ix, false, &e);
    index_close(ix);
    store_close(s);
}

static void job_release(const struct merge_job *job)
{
    subword_close(job->analyzer.subword);
    subword_close(job->sw);
}

static void *merger_work(void *arg)
{
    struct merger *m = arg;

    pthread_mutex_lock(&m->lock);
    assert(m->running && m->n_jobs > 0);
    while (m->n_jobs) {
        struct merge_job job = m->jobs[0];

        pthread_mutex_unlock(&m->lock);
        merge_one(m->path, &job);
        job_release(&job);
        pthread_mutex_lock(&m->lock);
        assert(m->running && m->n_jobs > 0);
        m->n_jobs--;
        memmove(m->jobs, m->jobs + 1, m->n_jobs * sizeof *m->jobs);
    }
    m->running = false;
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* All signals are blocked in the new thread: they are for the threads of the
 * program. */
static bool merger_start_thread(struct merger *m)
{
    sigset_t all, old;
    int rc;

    if (m->thread_made) pthread_join(m->thread, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&m->thread, NULL, merger_work, m);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    m->thread_made = !rc;
    return m->thread_made;
}

static bool merger_listed(const struct merger *m, const struct merge_job *job)
{
    for (size_t i = 0; i < m->n_jobs; i++)
        if (m->jobs[i].memory == job->memory &&
            m->jobs[i].analyzer.id == job->analyzer.id)
            return true;
    return false;
}

void merger_poke(struct merger *m, const struct merge_job *job)
{
    bool idle;

    pthread_mutex_lock(&m->lock);
    if (!merger_listed(m, job) &&
        mem_grow(&m->jobs, &m->cap_jobs, m->n_jobs + 1, sizeof *m->jobs)) {
        m->jobs[m->n_jobs++] = *job;
        subword_hold(job->analyzer.subword);
        subword_hold(job->sw);
    }
    idle = m->n_jobs && !m->running;
    m->running = m->running || idle;
    pthread_mutex_unlock(&m->lock);
    if (idle && !merger_start_thread(m)) {
        m->running = false;
        while (m->n_jobs) job_release(&m->jobs[--m->n_jobs]);
    }
}

void merger_free(struct merger *m)
{
    if (!m) return;
    if (m->thread_made) pthread_join(m->thread, NULL);
    assert(!m->running && !m->n_jobs);
    pthread_mutex_destroy(&m->lock);
    free(m->jobs);
    free(m->path);
    free(m);
}
