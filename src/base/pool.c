/* pool.c - threads that wait for the next piece of one product.
 *
 * A generation counter says that there is work. Workers watch it for some
 * microseconds (the next product of a decoder step comes within that), then
 * sleep on a condition; the caller wakes sleepers only when there are any.
 * `done` counts workers that finished the current generation. */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define RELAX() __builtin_ia32_pause()
#else
#define RELAX() ((void)0)
#endif

enum { SPINS = 4000 };

struct worker {
    struct pool *pool;
    int part;
    pthread_t thread;
};

struct pool {
    int n;                      /* threads, the caller included */
    pool_fn *fn;
    void *arg;
    atomic_uint generation;
    atomic_int done;
    atomic_int sleeping;
    atomic_bool quit;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct worker worker[];     /* [n - 1] */
};

/* Wait until the generation is no longer `seen`. */
static void await_work(struct pool *p, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&p->generation, memory_order_acquire) != seen)
            return;
        RELAX();
    }
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->sleeping, 1);
    while (atomic_load(&p->generation) == seen)
        pthread_cond_wait(&p->wake, &p->lock);
    atomic_fetch_sub(&p->sleeping, 1);
    pthread_mutex_unlock(&p->lock);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct pool *p = w->pool;
    unsigned seen = 0;

    for (;;) {
        await_work(p, seen);
        seen++;
        if (atomic_load(&p->quit)) return NULL;
        p->fn(p->arg, w->part, p->n);
        atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
    }
}

static void publish(struct pool *p)
{
    atomic_fetch_add(&p->generation, 1);
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
    p = calloc(1, sizeof *p + (size_t)(n_threads - 1) * sizeof p->worker[0]);
    if (!p) return err_nomem(e, "threads");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    for (p->n = 1; p->n < n_threads; p->n++) {
        struct worker *w = &p->worker[p->n - 1];
        w->pool = p;
        w->part = p->n;
        if (pthread_create(&w->thread, NULL, work, w)) {
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
    publish(p);
    for (int i = 0; i < p->n - 1; i++) pthread_join(p->worker[i].thread, NULL);
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
    p->fn = fn;
    p->arg = arg;
    atomic_store_explicit(&p->done, 0, memory_order_relaxed);
    publish(p);
    fn(arg, 0, p->n);
    while (atomic_load_explicit(&p->done, memory_order_acquire) < p->n - 1)
        RELAX();
}
