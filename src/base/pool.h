/* pool.h - a few threads that work on one task at a time.
 *
 * pool_run() calls fn once for each part 0 .. n-1 and returns when all parts
 * are done. The caller and the threads of the pool each take the next part when
 * they are free, so a thread that is not scheduled delays nobody. Between calls
 * the threads spin for some microseconds (a decoder pass has about fifty
 * calls), then sleep. A pool serves one caller at a time. NULL is a pool of one
 * thread. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/err.h"

struct pool;
typedef void pool_fn(void *arg, int part, int n_parts);

enum status pool_new(struct pool **out, int n_threads, struct err *e);
void pool_free(struct pool *p);                 /* NULL is fine */
int pool_threads(const struct pool *p);         /* = parts of a run */
void pool_run(struct pool *p, pool_fn *fn, void *arg);

#endif
