/* pool.h - a few threads that share one product at a time.
 *
 * pool_run() calls fn once per thread with part = 0 .. n-1 and returns when
 * all are done; the caller is part 0. The threads spin briefly between calls
 * (a decoder step has some fifty) and sleep when nothing comes. A pool serves
 * one caller; NULL is a pool of one thread. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/err.h"

struct pool;
typedef void pool_fn(void *arg, int part, int n_parts);

enum status pool_new(struct pool **out, int n_threads, struct err *e);
void pool_free(struct pool *p);                 /* NULL is fine */
int pool_threads(const struct pool *p);
void pool_run(struct pool *p, pool_fn *fn, void *arg);

#endif
