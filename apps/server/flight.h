/* flight.h - lines that are being translated, each once.
 *
 * A flight is one request of the library. Calls that want the same line with
 * the same options, memory and account share it: some clients send a request
 * again when the answer is late. It is canceled when no call waits for it any
 * more.
 *
 * Only the party that began a flight submits it. All functions may be called by
 * any thread, but not with a lock that the callback `left` needs. */
#ifndef SERVER_FLIGHT_H
#define SERVER_FLIGHT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "skmt.h"

struct flights;                 /* opaque: all flights of a server */
struct flight;                  /* opaque: one line */

/* What a flight is about. */
struct flight_plan {
    const char *key;            /* [n_key]; equal ones are shared. NULL: never
                                   shared */
    size_t n_key;
    int class;                  /* for `left` */
    int64_t bytes;
};
/* Called once when a flight that was submitted is answered, by the thread that
 * answers. translated: it has a result. */
typedef void flight_left_fn(void *user, int class, int64_t bytes,
                            bool translated);

skmt_status flights_new(struct flights **out, flight_left_fn *left,
                        void *user, skmt_error *err);
/* No flight may exist. NULL is fine. */
void flights_free(struct flights *fs);

/* A call that waits for flights. */
struct flight_party {
    pthread_cond_t changed;     /* a flight of it was answered, or it was
                                   stopped */
    atomic_bool stopped;
    bool replaced;              /* stopped by flight_party_claim */
    struct flight *submitting;  /* what its thread submits at the moment */
    const void *owner;          /* of flight_party_claim */
    const char *id;
    struct flight_party *next, *prev;   /* among those that claimed */
};
void flight_party_init(struct flight_party *p);
void flight_party_release(struct flights *fs, struct flight_party *p);
/* Takes the place of the earlier parties with this owner and id, which are
 * stopped. id must stay valid. */
void flight_party_claim(struct flights *fs, struct flight_party *p,
                        const void *owner, const char *id);
/* Makes the waiting functions of this party return. */
void flight_stop(struct flights *fs, struct flight_party *p);

/* Whether a flight with this key exists. */
bool flight_exists(struct flights *fs, const char *key, size_t n);
/* Joins the flight with this key, or begins one: then *is_new is set, and the
 * caller must call flight_submit or flight_fail. */
skmt_status flight_join(struct flights *fs, struct flight_party *p,
                        const struct flight_plan *plan, struct flight **out,
                        bool *is_new, skmt_error *err);
/* Submits the request of a new flight, which owns it from now on, also if this
 * fails; the flight is then answered with the error. */
void flight_submit(struct flight_party *p, struct flight *f, skmt_service *s,
                   skmt_request *q);
/* Answers a new flight with an error. */
void flight_fail(struct flight *f, const skmt_error *err);
/* Waits until a flight is answered, the party is stopped, or the monotonic
 * clock shows `until`. Returns whether the flight is answered. */
bool flight_wait(struct flight_party *p, struct flight *f, double until);
/* Leaves a flight, which is canceled if it has no answer and nobody else wants
 * it. p may be NULL if it was answered. */
void flight_leave(struct flight_party *p, struct flight *f);

/* The answer, once there is one. A result serves one thread at a time, so a
 * flight with a key must be locked while its result is read. */
skmt_request *flight_request(struct flight *f);         /* NULL: none */
skmt_status flight_error(const struct flight *f, skmt_error *err);
void flight_lock(struct flight *f);
void flight_unlock(struct flight *f);

/* Flights without an answer, and how often one was joined. */
int64_t flights_live(struct flights *fs);
int64_t flights_joined(struct flights *fs);

/* Seconds of the monotonic clock. */
double flight_clock(void);

#endif
