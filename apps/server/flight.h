/* flight.h - lines that are being translated, each once.
 *
 * A line in flight is one request of the library. Calls that want the same line
 * with the same options, memory and account share it (deepl-node, for example,
 * sends a request again when the answer is late). It is canceled when no call
 * waits for it any more. */
#ifndef SERVER_FLIGHT_H
#define SERVER_FLIGHT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "skmt.h"

struct flights;                 /* opaque; all lines of a server */
struct flight;                  /* opaque; one line */

skmt_status flights_new(struct flights **out, skmt_error *err);
/* No line may be in flight. NULL is fine. */
void flights_free(struct flights *fs);

/* A call that waits for lines. Its owner initializes it and releases it when it
 * has left all its lines. */
struct flight_party {
    pthread_cond_t changed;
    int pending;                /* lines that are not answered; under the lock
                                   of the flights */
    atomic_bool stopped;        /* canceled, replaced or late */
    struct flight *submitting;  /* the line that its thread submits, or NULL */
};
void flight_party_init(struct flight_party *p);
void flight_party_release(struct flight_party *p);

/* Joins the line with this key [n], or begins it: then *is_new is set, and the
 * caller must call flight_submit. key NULL: never shared. */
skmt_status flight_join(struct flights *fs, struct flight_party *p,
                        const char *key, size_t n, struct flight **out,
                        bool *is_new, skmt_error *err);
/* Submits the request of a new line. The flight owns the request from now on,
 * also if this fails; the line is then answered with the error. */
void flight_submit(struct flights *fs, struct flight_party *p,
                   struct flight *f, skmt_service *s, skmt_request *q);
/* Answers a new line with an error instead of submitting it. */
void flight_fail(struct flights *fs, struct flight *f, const skmt_error *err);
/* Waits until a line is answered or the party is stopped, at most until
 * `until` (CLOCK_MONOTONIC seconds). Returns whether the line is answered. */
bool flight_wait(struct flights *fs, struct flight_party *p, struct flight *f,
                 double until);
bool flight_answered(struct flights *fs, struct flight *f);
/* Makes flight_wait of this party return. Any thread may call it. */
void flight_stop(struct flights *fs, struct flight_party *p);
/* Leaves a line: cancels it if it has no answer and nobody else wants it. */
void flight_leave(struct flights *fs, struct flight *f);

/* The answer of a line that is answered. The result is NULL if it failed. Only
 * one thread at a time may read the result: lock it. */
skmt_request *flight_request(struct flight *f);
skmt_status flight_error(struct flight *f, skmt_error *err);
void flight_lock_result(struct flight *f);
void flight_unlock_result(struct flight *f);
/* Seconds from the submission to the answer. */
double flight_seconds(const struct flight *f);

/* Lines in flight, and how often a line was shared. */
int64_t flights_live(struct flights *fs);
int64_t flights_shared(struct flights *fs);

#endif
