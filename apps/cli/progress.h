/* progress.h - one line on a terminal: how much is done, how fast, how long.
 *
 *     42%  1234 lines  118 lines/s  0:31 left
 *
 * Shown only when stderr is a terminal, redrawn a few times a second. Belongs
 * to one thread at a time. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown;                 /* false: all calls do nothing */
    const char *what;           /* "reading", shown first; NULL: nothing */
    const char *unit;           /* "lines" */
    uint64_t total;             /* of what is measured; 0: not known */
    double begin, drawn;        /* seconds, wall_seconds() */
    bool dirty;                 /* something is on the terminal's line */
};

double wall_seconds(void);      /* monotonic */

void progress_begin(struct progress *p, const char *unit, uint64_t total,
                    bool wanted);
/* `done` of `total`, and the count of units so far (0 is not shown). */
void progress_update(struct progress *p, uint64_t done, uint64_t units);
void progress_end(struct progress *p);          /* clears the line */

#endif
