/* progress.h - a progress line on a terminal: percentage, speed, time left.
 *
 *     42%  1234 lines  118 lines/s  0:31 left
 *
 * The line is shown only if stderr is a terminal, and redrawn a few times per
 * second. A struct progress may be used by one thread at a time. */
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#define QUIET_OPTION { "quiet", 'q', NULL, "do not show progress" }

struct progress {
    bool shown;                 /* false: all calls do nothing */
    const char *stage;          /* "reading", shown first; may be NULL */
    const char *unit;           /* "lines" */
    const char *extra;          /* shown after the rate; may be NULL */
    uint64_t total;             /* `done` at the end; 0 if unknown */
    double begin_time;          /* wall_seconds() of progress_begin() */
    double draw_time;           /* wall_seconds() of the last drawing */
    bool is_drawn;              /* the line is on the terminal */
};

double wall_seconds(void);      /* a monotonic clock */

/* enabled: false if the user wants no progress. */
void progress_begin(struct progress *p, const char *unit, uint64_t total,
                    bool enabled);
/* Reports that `done` of `total` is done. units: the number to show; 0 shows
 * none. */
void progress_update(struct progress *p, uint64_t done, uint64_t units);
void progress_end(struct progress *p);          /* erases the line */

#endif
