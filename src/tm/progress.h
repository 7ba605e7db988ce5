/* progress.h - the function that long operations call to report how far they
 * have come. */
#ifndef TM_PROGRESS_H
#define TM_PROGRESS_H

#include <stdint.h>

/* `what` names the operation, done and total are its progress (total 0: not
 * known), units is the number of pairs so far. A non-zero result stops the
 * operation, which then returns ST_CANCELED. */
typedef int tm_progress_fn(void *user, const char *what, uint64_t done,
                           uint64_t total, uint64_t units);

#endif
