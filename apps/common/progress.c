/* progress.c - draws and erases the progress line on stderr. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/progress.h"

#define REDRAW_SECONDS 0.2

double wall_seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

void progress_begin(struct progress *p, const char *unit, uint64_t total,
                    bool enabled)
{
    p->shown = enabled && isatty(STDERR_FILENO);
    p->stage = p->extra = NULL;
    p->unit = unit;
    p->total = total;
    p->begin_time = wall_seconds();
    p->draw_time = p->begin_time;
    p->is_drawn = false;
}

static void draw_time(double seconds)
{
    unsigned long s = (unsigned long)(seconds + 0.5);

    if (s >= 3600)
        fprintf(stderr, "  %lu:%02lu:%02lu left", s / 3600, s / 60 % 60,
                s % 60);
    else
        fprintf(stderr, "  %lu:%02lu left", s / 60, s % 60);
}

static void draw_units(const struct progress *p, uint64_t units,
                       double elapsed)
{
    double rate = (double)units / elapsed;

    if (p->stage || p->total) fputs("  ", stderr);
    fprintf(stderr, "%llu %s  %.*f %s/s", (unsigned long long)units, p->unit,
            rate < 100 ? 1 : 0, rate, p->unit);
}

void progress_update(struct progress *p, uint64_t done, uint64_t units)
{
    double now, elapsed;

    if (!p->shown) return;
    now = wall_seconds();
    if (now - p->draw_time < REDRAW_SECONDS) return;
    p->draw_time = now;
    elapsed = now - p->begin_time;
    fputs("\r\033[K", stderr);
    if (p->stage) fputs(p->stage, stderr);
    if (p->total)
        fprintf(stderr, "%s%3.0f%%", p->stage ? "  " : "",
                100.0 * (double)done / (double)p->total);
    if (units) draw_units(p, units, elapsed);
    else if (!p->total) fprintf(stderr, "  %.0f s", elapsed);
    if (p->extra) fprintf(stderr, "  %s", p->extra);
    if (p->total && done > 0 && done <= p->total)
        draw_time(elapsed * (double)(p->total - done) / (double)done);
    fflush(stderr);
    p->is_drawn = true;
}

void progress_end(struct progress *p)
{
    if (!p->shown || !p->is_drawn) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->is_drawn = false;
}
