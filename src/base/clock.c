/* clock.c - reads the monotonic clock, and the peak memory use of the process
 * from /proc. */
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
