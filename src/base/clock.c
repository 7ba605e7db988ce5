/* clock.c - reads the monotonic clock, waits until a time of this clock, and
 * reads the peak memory use of the process from /proc. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

double clock_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void clock_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t a;

    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(c, &a);
    pthread_condattr_destroy(&a);
}

void clock_wait(pthread_cond_t *c, pthread_mutex_t *lock, double until)
{
    struct timespec t;

    if (!(until < 1e15)) {
        pthread_cond_wait(c, lock);
        return;
    }
    t.tv_sec = (time_t)until;
    t.tv_nsec = (long)((until - (double)t.tv_sec) * 1e9);
    pthread_cond_timedwait(c, lock, &t);
}

double peak_rss_mb(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[128];
    long kb = 0;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kb) == 1) break;
    if (f) fclose(f);
    return (double)kb / 1024;
}
