/* work.h - the queue of texts in front of the services.
 *
 * Each text has a class: those that somebody waits for come before those of
 * documents and long requests. A request is admitted or refused at once: it is
 * refused if the queue is full, or if the texts before it would take longer
 * than it may wait. How long they take is computed from the speed of the last
 * seconds. An admitted request enters its lines a few at a time, so that a
 * short request does not wait until a long one is finished. */
#ifndef SERVER_WORK_H
#define SERVER_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "flight.h"
#include "skmt.h"

struct work;                    /* opaque; in struct server */

enum work_class { WORK_INTERACTIVE, WORK_BACKGROUND, WORK_CLASSES };

struct work_limits {
    int max_texts;              /* texts of a call */
    int64_t max_text;           /* bytes of a text */
    int64_t queue_bytes;        /* admitted and not finished, of a class */
    int queue_texts;            /* the same in lines */
    int64_t large_bytes;        /* a call with more is of the background */
    int lines_at_once;          /* lines that the services have at a time; 0:
                                   from the number of threads */
    int64_t deadline_ms;        /* of a call without its own */
};
/* The limits of the settings of the server. */
struct settings;
struct work_limits work_limits_of(const struct settings *s);

skmt_status work_new(struct work **out, const struct work_limits *limits,
                     int threads, skmt_error *err);
void work_free(struct work *w);
const struct work_limits *work_get_limits(const struct work *w);
/* The lines that are being translated (flight.h). */
struct flights *work_flights(struct work *w);

/* A request that was admitted. */
struct work_ticket {
    enum work_class class;
    int64_t bytes, lines;       /* not finished yet */
    int entered;                /* lines in the services */
    double admitted;            /* seconds of the monotonic clock */
    double first;               /* when the first line entered; 0: not yet */
};
/* Admits lines of this many bytes in all, or refuses them: then *f says why,
 * with the seconds after which it is worth trying again. budget_ms: how long
 * they may wait. */
bool work_admit(struct work *w, enum work_class class, int64_t lines,
                int64_t bytes, int64_t budget_ms, struct work_ticket *t,
                struct failure *f);
/* Waits until the services have room for one more line of the ticket. Returns
 * false if *stop became true; call work_wake after setting it. */
bool work_enter(struct work *w, struct work_ticket *t, const atomic_bool *stop);
void work_wake(struct work *w);
/* A line that entered has left the services. translated: its bytes count for
 * the speed. */
void work_leave(struct work *w, struct work_ticket *t, int64_t bytes,
                bool translated);
/* Gives up what is left of a ticket; its lines must have left. */
void work_end(struct work *w, struct work_ticket *t);

/* What the metrics tell. */
struct work_state {
    int64_t texts, bytes;       /* lines and bytes admitted, not finished */
    int64_t refused;            /* calls, since the server began */
    double bytes_per_second;    /* 0: not measured yet */
};
struct work_state work_get_state(struct work *w);
/* How long a new interactive text would wait, in seconds. */
double work_expected_wait(struct work *w, enum work_class class);

#endif
