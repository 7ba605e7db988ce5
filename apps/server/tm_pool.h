/* tm_pool.h - lends open memory files.
 *
 * A skmt_tm serves one thread at a time. A pool belongs to one memory file. It
 * keeps handles open that were lent before, because opening a file and reading
 * its index takes longer than a search. A handle is lent again for the same
 * memories if possible. One more handle is for changes. The number of idle
 * handles of all pools together is limited; the least recently used is closed.
 *
 * If the file is removed or replaced by another one, handles of the old one are
 * closed when they are returned. Other processes may change the file.
 *
 * All functions may be called by any thread. */
#ifndef SERVER_TM_POOL_H
#define SERVER_TM_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "skmt.h"

struct tm_pools;                /* opaque: all pools of a server */
struct tm_pool;                 /* opaque */

/* At most max_idle handles stay open. NULL if out of memory. */
struct tm_pools *tm_pools_new(int max_idle);
void tm_pools_free(struct tm_pools *all);       /* after its pools */
/* How long tm_pool_edit waits; 20,000 ms at first. Call it before any use. */
void tm_pools_set_edit_wait(struct tm_pools *all, int ms);
/* The number of open handles, lent and idle. */
int tm_pools_open(struct tm_pools *all);

/* The path is copied. NULL if out of memory. */
struct tm_pool *tm_pool_new(struct tm_pools *all, const char *path);
/* Everything must have been returned. */
void tm_pool_free(struct tm_pool *p);

/* Borrows a handle for reading, restricted to n memories (0: all). A file that
 * does not exist is created. */
skmt_status tm_pool_borrow(struct tm_pool *p, const char *const *names, int n,
                           skmt_tm **out, skmt_error *err);
void tm_pool_return(struct tm_pool *p, skmt_tm *tm);
/* Borrows the handle for changes. Waits until no other thread has it.
 * SKMT_ERR_DEADLINE if that takes too long. */
skmt_status tm_pool_edit(struct tm_pool *p, skmt_tm **out, skmt_error *err);
void tm_pool_edit_end(struct tm_pool *p);

/* Closes the handles, the lent ones when they are returned. After an error of
 * the file, new handles may work, for example because somebody has repaired
 * it. */
void tm_pool_forget(struct tm_pool *p);

/* Takes the path out of a message: clients must not see it. Returns the
 * status. err may be NULL. */
skmt_status tm_pool_hide_path(const struct tm_pool *p, skmt_error *err,
                              skmt_status st);
/* The same for any path; `what` takes its place. */
void hide_path(skmt_error *err, const char *path, const char *what);

#endif
