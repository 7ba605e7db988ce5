/* clock.h - elapsed time, waiting until a point in time, and the peak memory
 * use of this process. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <pthread.h>

double clock_seconds(void);             /* monotonic, from an arbitrary start */

/* Initialize a condition variable for clock_wait. */
void clock_cond_init(pthread_cond_t *c);
/* Wait as pthread_cond_wait does, but at most until clock_seconds returns
 * `until`; INFINITY: without a limit. */
void clock_wait(pthread_cond_t *c, pthread_mutex_t *lock, double until);

double peak_rss_mb(void);               /* MiB; 0 if /proc does not say */

#endif
