/* work.c - admits lines, lets them enter the services in turn, and measures
 * how fast they leave.
 *
 * Invariants, under the lock:
 *   - The tickets that were admitted and not ended are in the list of their
 *     class. lines and bytes of a class are those of its tickets and those
 *     that have entered and not left.
 *   - A waiter waits only if there is no room for its class or others of its
 *     class wait before it. */
#include "work.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "settings.h"

/* Lines in the services for each line that is decoded: enough to keep the
 * batches full, and few, because a new line waits for those before it. */
enum { LINES_A_LANE = 2 };

/* A thread that waits to enter with a line. */
struct work_waiter {
    struct work_waiter *next;
    pthread_cond_t granted;
    bool may_enter;
};

struct class_queue {
    int64_t lines, bytes;
    int64_t inside;             /* lines in the services */
    struct work_ticket *tickets;
    struct work_waiter *first, *last;
};

/* The speed is measured in windows of the time in which all lanes have work. */
struct speedometer {
    double since;               /* all lanes have work since then; 0: not */
    double seconds;             /* of this window, before `since` */
    int64_t bytes, lines;       /* translated in this window */
    double bytes_per_second;    /* moving average; 0: not known */
};

struct work {
    struct work_limits limits;
    struct flights *flights;
    pthread_mutex_t lock;
    struct class_queue queues[WORK_CLASSES];
    struct speedometer speed;
    int64_t refused;
};

struct work_limits work_limits_of(const struct settings *s)
{
    const char *batch = skmt_options_get(s->options, "batch");

    return (struct work_limits){
        .max_texts = s->max_texts, .max_text = s->max_text,
        .queue_bytes = s->max_queue,
        .queue_lines = s->max_queue / 256 > 1024 ? s->max_queue / 256 : 1024,
        .large_bytes = 16384,
        .lanes = atoi(batch ? batch : "1"),
        .deadline_ms = 1000 * (int64_t)s->deadline };
}

static void work_left(void *user, int class, int64_t bytes, bool translated)
{
    work_leave(user, (enum work_class)class, bytes, translated);
}

skmt_status work_new(struct work **out, const struct work_limits *limits,
                     int threads, skmt_error *err)
{
    struct work *w = calloc(1, sizeof *w);
    skmt_status st;

    *out = NULL;
    if (!w) {
        *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                             .message = "out of memory" };
        return SKMT_ERR_NOMEM;
    }
    w->limits = *limits;
    w->limits.lanes *= threads;
    if (w->limits.lanes < 1) w->limits.lanes = 1;
    pthread_mutex_init(&w->lock, NULL);
    st = flights_new(&w->flights, work_left, w, err);
    if (st) work_free(w);
    else *out = w;
    return st;
}

void work_free(struct work *w)
{
    if (!w) return;
    flights_free(w->flights);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

const struct work_limits *work_get_limits(const struct work *w)
{
    return &w->limits;
}

struct flights *work_flights(struct work *w) { return w->flights; }

/* ---- speed ------------------------------------------------------------- */

static int64_t all_inside(const struct work *w)
{
    int64_t n = 0;

    for (int i = 0; i < WORK_CLASSES; i++) n += w->queues[i].inside;
    return n;
}

/* Call this after the number of lines in the services has changed. */
static void speed_update(struct work *w, double now)
{
    struct speedometer *s = &w->speed;
    bool busy = all_inside(w) >= w->limits.lanes;
    double rate;

    if (s->since > 0) s->seconds += now - s->since;
    s->since = busy ? now : 0;
    if (s->seconds < 1 || s->lines < w->limits.lanes) return;
    rate = (double)s->bytes / s->seconds;
    s->bytes_per_second = s->bytes_per_second > 0
                        ? 0.7 * s->bytes_per_second + 0.3 * rate : rate;
    s->seconds = 0;
    s->bytes = s->lines = 0;
}

/* Bytes that come before the end of a new call with `bytes` of the same class:
 * the lines in the services, and as much of each other call, because calls take
 * turns. */
static int64_t bytes_before(const struct class_queue *q, int64_t bytes)
{
    int64_t outside = 0, shared = 0;

    for (const struct work_ticket *t = q->tickets; t; t = t->next) {
        outside += t->bytes;
        shared += t->bytes < bytes ? t->bytes : bytes;
    }
    return q->bytes - outside + shared;
}

/* Seconds that a new call of this class waits for others. */
static double expected_wait(const struct work *w, enum work_class class,
                            int64_t bytes)
{
    int64_t before = bytes_before(&w->queues[class], bytes);

    for (int i = 0; i < (int)class; i++) before += w->queues[i].bytes;
    return w->speed.bytes_per_second > 0
           ? (double)before / w->speed.bytes_per_second : 0;
}

/* ---- admission --------------------------------------------------------- */

static bool work_refuse(struct work *w, struct failure *f, double seconds,
                        const char *why)
{
    w->refused++;
    *f = (struct failure){ .kind = FAIL_BUSY,
                           .retry_after = seconds < 1 ? 1
                                        : seconds > 600 ? 600
                                        : (int)ceil(seconds) };
    snprintf(f->message, sizeof f->message, "%s; try again in %d s", why,
             f->retry_after);
    return false;
}

static void ticket_link(struct class_queue *q, struct work_ticket *t)
{
    t->next = q->tickets;
    if (t->next) t->next->prev = t;
    q->tickets = t;
}

static void ticket_unlink(struct class_queue *q, struct work_ticket *t)
{
    if (t->prev) t->prev->next = t->next;
    else q->tickets = t->next;
    if (t->next) t->next->prev = t->prev;
}

bool work_admit(struct work *w, enum work_class class, int64_t lines,
                int64_t bytes, int64_t budget_ms, struct work_ticket *t,
                struct failure *f)
{
    struct class_queue *q = &w->queues[class];
    double wait;
    bool admitted = true;

    *t = (struct work_ticket){ .class = class };
    pthread_mutex_lock(&w->lock);
    wait = expected_wait(w, class, bytes);
    /* A call that is larger than the queue may enter when it is empty. */
    if (q->lines && (q->bytes + bytes > w->limits.queue_bytes
                     || q->lines + lines > w->limits.queue_lines))
        admitted = work_refuse(w, f, wait / 2, "the queue is full");
    else if (lines && wait > 1e-3 * (double)budget_ms)
        admitted = work_refuse(w, f, wait - 1e-3 * (double)budget_ms,
                               "the server is busy");
    if (admitted) {
        q->lines += lines;
        q->bytes += bytes;
        t->lines = lines;
        t->bytes = bytes;
        t->admitted = flight_clock();
        ticket_link(q, t);
    }
    pthread_mutex_unlock(&w->lock);
    return admitted;
}

void work_add(struct work *w, struct work_ticket *t, int64_t lines,
              int64_t bytes)
{
    pthread_mutex_lock(&w->lock);
    w->queues[t->class].lines += lines;
    w->queues[t->class].bytes += bytes;
    t->lines += lines;
    t->bytes += bytes;
    pthread_mutex_unlock(&w->lock);
}

/* Takes a line out of a ticket. */
static void ticket_take(struct work_ticket *t, int64_t bytes)
{
    assert(t->lines > 0 && t->bytes >= bytes);
    t->lines--;
    t->bytes -= bytes;
}

void work_skip(struct work *w, struct work_ticket *t, int64_t bytes)
{
    pthread_mutex_lock(&w->lock);
    ticket_take(t, bytes);
    w->queues[t->class].lines--;
    w->queues[t->class].bytes -= bytes;
    pthread_mutex_unlock(&w->lock);
}

void work_end(struct work *w, struct work_ticket *t)
{
    pthread_mutex_lock(&w->lock);
    w->queues[t->class].lines -= t->lines;
    w->queues[t->class].bytes -= t->bytes;
    t->lines = t->bytes = 0;
    ticket_unlink(&w->queues[t->class], t);
    pthread_mutex_unlock(&w->lock);
}

/* ---- entering and leaving ---------------------------------------------- */

static bool work_has_room(const struct work *w, enum work_class class)
{
    const struct class_queue *others = &w->queues[WORK_INTERACTIVE];
    int64_t most = (int64_t)LINES_A_LANE * w->limits.lanes;

    if (class == WORK_BACKGROUND && (others->inside || others->first))
        most = w->limits.lanes > 1 ? w->limits.lanes / 2 : 1;
    return w->queues[class].inside < most;
}

static void work_inside(struct work *w, enum work_class class, int by)
{
    w->queues[class].inside += by;
    speed_update(w, flight_clock());
}

static void ticket_enter(struct work *w, struct work_ticket *t, int64_t bytes)
{
    ticket_take(t, bytes);
    if (t->entered <= 0) t->entered = flight_clock();
    work_inside(w, t->class, 1);
}

bool work_try_enter(struct work *w, struct work_ticket *t, int64_t bytes)
{
    struct class_queue *q = &w->queues[t->class];
    bool enters;

    pthread_mutex_lock(&w->lock);
    enters = !q->first && work_has_room(w, t->class);
    if (enters) ticket_enter(w, t, bytes);
    pthread_mutex_unlock(&w->lock);
    return enters;
}

/* Lets those who wait enter while there is room. Their place is taken here, so
 * that nobody else takes it before they wake up. */
static void work_grant(struct work *w)
{
    for (int i = 0; i < WORK_CLASSES; i++) {
        struct class_queue *q = &w->queues[i];

        while (q->first && work_has_room(w, (enum work_class)i)) {
            struct work_waiter *x = q->first;

            q->first = x->next;
            if (!q->first) q->last = NULL;
            x->may_enter = true;
            work_inside(w, (enum work_class)i, 1);
            pthread_cond_signal(&x->granted);
        }
    }
}

static void waiter_append(struct class_queue *q, struct work_waiter *x)
{
    if (q->last) q->last->next = x;
    else q->first = x;
    q->last = x;
}

static void waiter_remove(struct class_queue *q, struct work_waiter *x)
{
    struct work_waiter **at = &q->first, *before = NULL;

    while (*at && *at != x) {
        before = *at;
        at = &(*at)->next;
    }
    if (!*at) return;
    *at = x->next;
    if (q->last == x) q->last = before;
}

static void waiter_init(struct work_waiter *x)
{
    pthread_condattr_t attr;

    *x = (struct work_waiter){ 0 };
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&x->granted, &attr);
    pthread_condattr_destroy(&attr);
}

/* Waits with the lock held. */
static bool waiter_wait(struct work *w, struct work_waiter *x,
                        const atomic_bool *stop, double until)
{
    struct timespec t = { .tv_sec = (time_t)until };
    bool late = false;

    t.tv_nsec = (long)(1e9 * (until - (double)t.tv_sec));
    while (!x->may_enter && !atomic_load(stop) && !late)
        late = pthread_cond_timedwait(&x->granted, &w->lock, &t) == ETIMEDOUT;
    return x->may_enter;
}

bool work_enter(struct work *w, struct work_ticket *t, int64_t bytes,
                const atomic_bool *stop, double until)
{
    struct class_queue *q = &w->queues[t->class];
    struct work_waiter x;
    bool enters;

    waiter_init(&x);
    pthread_mutex_lock(&w->lock);
    waiter_append(q, &x);
    work_grant(w);
    enters = waiter_wait(w, &x, stop, until);
    if (enters) {
        ticket_take(t, bytes);
        if (t->entered <= 0) t->entered = flight_clock();
    } else {
        waiter_remove(q, &x);
        /* The background may have had to wait for this one only. */
        work_grant(w);
    }
    pthread_mutex_unlock(&w->lock);
    pthread_cond_destroy(&x.granted);
    return enters;
}

void work_wake(struct work *w)
{
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < WORK_CLASSES; i++)
        for (struct work_waiter *x = w->queues[i].first; x; x = x->next)
            pthread_cond_signal(&x->granted);
    pthread_mutex_unlock(&w->lock);
}

void work_leave(struct work *w, enum work_class class, int64_t bytes,
                bool translated)
{
    struct class_queue *q = &w->queues[class];

    pthread_mutex_lock(&w->lock);
    assert(q->inside > 0);
    if (translated && w->speed.since > 0) {
        w->speed.bytes += bytes;
        w->speed.lines++;
    }
    q->lines--;
    q->bytes -= bytes;
    work_inside(w, class, -1);
    work_grant(w);
    pthread_mutex_unlock(&w->lock);
}

/* ---- what the metrics tell --------------------------------------------- */

struct work_state work_get_state(struct work *w)
{
    struct work_state s = { .joined = flights_joined(w->flights) };

    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < WORK_CLASSES; i++) {
        s.texts += w->queues[i].lines;
        s.bytes += w->queues[i].bytes;
    }
    s.in_services = all_inside(w);
    s.refused = w->refused;
    s.bytes_per_second = w->speed.bytes_per_second;
    pthread_mutex_unlock(&w->lock);
    return s;
}

double work_expected_wait(struct work *w, enum work_class class,
                          int64_t bytes)
{
    double wait;

    pthread_mutex_lock(&w->lock);
    wait = expected_wait(w, class, bytes);
    pthread_mutex_unlock(&w->lock);
    return wait;
}
