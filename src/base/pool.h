/* pool.h - a few threads that share one product at a time.
 *
 * pool_run() has fn called once for each part 0 .. n-1 and returns when all
 * are done. Whoever is free takes the next part, the caller included: a
 * thread that the system has not woken yet, or gave to somebody else, holds
 * nobody up. The threads look out for work for some microseconds between
 * calls (a decoder step has some fifty) and sleep when nothing comes. A pool
 * serves one caller at a time; NULL is a pool of one thread. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/err.h"

struct pool;
typedef void pool_fn(void *arg, int part, int n_parts);

enum status pool_new(struct pool **out, int n_threads, struct err *e);
void pool_free(struct pool *p);                 /* NULL is fine */
int pool_threads(const struct pool *p);         /* and parts of a run */
void pool_run(struct pool *p, pool_fn *fn, void *arg);

#endif
