/* pool.c - threads that take the parts of a task with one compare-and-swap
 * each.
 *
 * `ticket` holds the number of the run (upper half) and the next part to take
 * (lower half). Invariants:
 *   - fn and arg change only between runs, and every run has a new ticket. A
 *     thread reads fn and arg before the compare-and-swap, so a late thread
 *     cannot take a part of a run with the fn of another.
 *   - `done` counts the finished parts of the current run. pool_run returns
 *     when it equals n, so no part is running between two runs. */
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__x86_64__)
#define RELAX() __builtin_ia32_pause()
#else
#define RELAX() ((void)0)
#endif

enum { SPINS = 4000 };

struct pool {
    int n;                      /* threads, the caller included */
    _Atomic uint64_t ticket;
    _Atomic(pool_fn *) fn;
    _Atomic(void *) arg;
    atomic_int done;
    atomic_int sleeping;
    atomic_bool quit;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread[];         /* [n - 1] */
};

/* Take a part of the current run and do it. Returns false when none is left. */
static bool take_part(struct pool *p)
{
    uint64_t t = atomic_load(&p->ticket);

    while ((uint32_t)t < (uint32_t)p->n) {
        pool_fn *fn = atomic_load(&p->fn);
        void *arg = atomic_load(&p->arg);

        if (!atomic_compare_exchange_weak(&p->ticket, &t, t + 1)) continue;
        fn(arg, (int)(uint32_t)t, p->n);
        if (atomic_fetch_add(&p->done, 1) >= p->n)
            assert(!"a part of a run was done twice");
        return true;
    }
    return false;
}

/* Wait until the number of the run is no longer `last`; return the new one. */
static uint32_t await_run(struct pool *p, uint32_t last)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t run = (uint32_t)(atomic_load(&p->ticket) >> 32);

        if (run != last) return run;
        RELAX();
    }
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->sleeping, 1);
    while ((uint32_t)(atomic_load(&p->ticket) >> 32) == last)
        pthread_cond_wait(&p->wake, &p->lock);
    atomic_fetch_sub(&p->sleeping, 1);
    pthread_mutex_unlock(&p->lock);
    return (uint32_t)(atomic_load(&p->ticket) >> 32);
}

static void *pool_work(void *arg)
{
    struct pool *p = arg;
    uint32_t last = 0;

    for (;;) {
        last = await_run(p, last);
        if (atomic_load(&p->quit)) return NULL;
        while (take_part(p)) { }
    }
}

/* first: the first part to take; UINT32_MAX when there is nothing to do. */
static void next_run(struct pool *p, uint32_t first)
{
    uint64_t run = (atomic_load(&p->ticket) >> 32) + 1;

    atomic_store(&p->ticket, run << 32 | first);
    if (atomic_load(&p->sleeping)) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->wake);
        pthread_mutex_unlock(&p->lock);
    }
}

enum status pool_new(struct pool **out, int n_threads, struct err *e)
{
    struct pool *p;

    *out = NULL;
    if (n_threads <= 1) return ST_OK;
    p = calloc(1, sizeof *p + (size_t)(n_threads - 1) * sizeof p->thread[0]);
    if (!p) return err_nomem(e, "threads");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    /* Before the first run there is nothing to take. */
    atomic_store(&p->ticket, UINT32_MAX);
    for (p->n = 1; p->n < n_threads; p->n++) {
        if (pthread_create(&p->thread[p->n - 1], NULL, pool_work, p)) {
            pool_free(p);
            return err_set(e, ST_NOMEM, "cannot start %d threads", n_threads);
        }
    }
    *out = p;
    return ST_OK;
}

void pool_free(struct pool *p)
{
    if (!p) return;
    atomic_store(&p->quit, true);
    /* A thread that still looks for a part of the last run must find none:
     * the data of that run may be freed. */
    next_run(p, UINT32_MAX);
    for (int i = 0; i < p->n - 1; i++) pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int pool_threads(const struct pool *p)
{
    return p ? p->n : 1;
}

void pool_run(struct pool *p, pool_fn *fn, void *arg)
{
    if (!p) {
        fn(arg, 0, 1);
        return;
    }
    assert((uint32_t)atomic_load(&p->ticket) >= (uint32_t)p->n);
    atomic_store(&p->fn, fn);
    atomic_store(&p->arg, arg);
    atomic_store(&p->done, 0);
    next_run(p, 0);
    while (take_part(p)) { }
    while (atomic_load(&p->done) < p->n) RELAX();
}
