/* clock.h - elapsed time, and the peak memory use of this process. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_seconds(void);             /* monotonic, from an arbitrary start */
double peak_rss_mb(void);               /* MiB; 0 if /proc does not say */

#endif
