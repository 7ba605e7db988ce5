/* clock.h - time that only goes forward, and what the process has used. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_seconds(void);                     /* monotonic */
double peak_rss_mb(void);                       /* 0 where unknown */

#endif
