/* tm_pool.h - lends open memory files.
 *
 * A skmt_tm serves one thread at a time. A pool belongs to one memory file. It
 * keeps files open that were lent before, because opening one and reading its
 * index takes longer than a search. Each is lent again for the same memories.
 * One more is open for changes. The number of idle ones is limited; the least
 * recently used is closed.
 *
 * All functions may be called by any thread. */
#ifndef SERVER_TM_POOL_H
#define SERVER_TM_POOL_H

#include <stdbool.h>

#include "skmt.h"

struct tm_pool;                 /* opaque */

enum { TM_POOL_IDLE = 8 };      /* idle files of one pool, at most */

/* The path is copied. NULL if out of memory. */
struct tm_pool *tm_pool_new(const char *path);
/* Everything must be returned. */
void tm_pool_free(struct tm_pool *p);
const char *tm_pool_path(const struct tm_pool *p);

/* Borrows the file for reading, restricted to n memories (0: all). If it does
 * not exist and `create` is set, it is created. */
skmt_status tm_pool_borrow(struct tm_pool *p, const char *const *names, int n,
                           bool create, skmt_tm **out, skmt_error *err);
void tm_pool_return(struct tm_pool *p, skmt_tm *tm);
/* Borrows it for changes. Waits until no other thread has it. */
skmt_status tm_pool_edit(struct tm_pool *p, skmt_tm **out, skmt_error *err);
void tm_pool_edit_end(struct tm_pool *p);
/* Closes the idle ones: the file was replaced or is to be closed. */
void tm_pool_close_idle(struct tm_pool *p);

/* Removes the name of the memory file from a message, because clients must not
 * see paths. */
void tm_pool_hide_path(const struct tm_pool *p, skmt_error *err);

#endif
