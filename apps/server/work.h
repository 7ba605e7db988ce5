/* work.h - the queue of lines in front of the services.
 *
 * Each call has a class: what somebody waits for comes before documents and
 * large calls. A call is admitted or refused at once: it is refused if the
 * queue is full, or if the other calls would take longer than it may wait. As
 * calls take turns, it waits for as many bytes of each as it has itself. How
 * long they take follows from the speed of the last seconds, which is measured
 * while the services are fully used. Until it is known, nobody is refused
 * because of it.
 *
 * Admitted lines enter the services a few at a time, calls taking turns, so
 * that a short call does not wait until a long one is finished. Lines of the
 * background get at most half the room of the batches while others wait.
 *
 * Any thread may call these functions. */
#ifndef SERVER_WORK_H
#define SERVER_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "call.h"
#include "flight.h"
#include "skmt.h"

struct work;                    /* opaque; in struct server */
struct settings;                /* settings.h */

enum work_class { WORK_INTERACTIVE, WORK_BACKGROUND, WORK_CLASSES };

struct work_limits {
    int max_texts;              /* texts of a call */
    int64_t max_text;           /* bytes of a text */
    int64_t queue_bytes;        /* admitted and not translated, of a class */
    int64_t queue_lines;        /* the same in lines; also the lines of a
                                   call */
    int64_t large_bytes;        /* a larger call belongs to the background */
    int lanes;                  /* lines that a thread decodes together */
    int64_t deadline_ms;        /* of a call without its own */
};
struct work_limits work_limits_of(const struct settings *s);

/* threads: those of a service. */
skmt_status work_new(struct work **out, const struct work_limits *limits,
                     int threads, skmt_error *err);
/* No call may be running. NULL is fine. */
void work_free(struct work *w);
const struct work_limits *work_get_limits(const struct work *w);
/* The lines that are being translated. */
struct flights *work_flights(struct work *w);

/* What a call has in the queue. */
struct work_ticket {
    enum work_class class;
    int64_t lines, bytes;       /* admitted and not entered */
    double admitted;            /* by flight_clock */
    double entered;             /* when its first line entered; 0: none has */
    struct work_ticket *next, *prev;    /* of its class */
};
/* Admits lines, or refuses them: then f says why. budget_ms: how long they may
 * wait. The ticket must stay where it is until work_end. */
bool work_admit(struct work *w, enum work_class class, int64_t lines,
                int64_t bytes, int64_t budget_ms, struct work_ticket *t,
                struct failure *f);
/* Adds lines to an admitted call, which is not refused. */
void work_add(struct work *w, struct work_ticket *t, int64_t lines,
              int64_t bytes);
/* Lets a line of the ticket enter the services if there is room. */
bool work_try_enter(struct work *w, struct work_ticket *t, int64_t bytes);
/* Waits for room. Returns false, and does not enter, if *stop is set (call
 * work_wake after setting it) or the clock shows `until`. */
bool work_enter(struct work *w, struct work_ticket *t, int64_t bytes,
                const atomic_bool *stop, double until);
void work_wake(struct work *w);
/* A line of the ticket is not needed. */
void work_skip(struct work *w, struct work_ticket *t, int64_t bytes);
/* A line that entered has left the services. */
void work_leave(struct work *w, enum work_class class, int64_t bytes,
                bool translated);
/* Gives up the lines that have not entered. */
void work_end(struct work *w, struct work_ticket *t);

/* What the metrics tell. */
struct work_state {
    int64_t texts, bytes;       /* lines admitted and not translated */
    int64_t in_services;        /* lines of them that have entered */
    int64_t refused;            /* calls, since the server began */
    int64_t joined;             /* lines that were translated for an earlier
                                   call already (flight.h) */
    double bytes_per_second;    /* 0: not known yet */
};
struct work_state work_get_state(struct work *w);
/* Seconds that a new call with this many bytes would wait for others. */
double work_expected_wait(struct work *w, enum work_class class,
                          int64_t bytes);

#endif
