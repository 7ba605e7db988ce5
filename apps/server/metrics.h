/* metrics.h - counts what the server does, and prints the counts for
 * Prometheus.
 *
 * Counting is cheap: an atomic addition, and for a route a lookup by the
 * addresses of two strings. All functions may be called by any thread, and do
 * nothing if m is NULL. No label contains what a client has chosen: routes are
 * those of the tables, and a memory is labeled by the number of its account. */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include <stdint.h>

#include "common/textbuf.h"

struct metrics;                 /* opaque */
struct accounts;                /* access.h */

/* NULL if out of memory. The times are in seconds, `started` since 1970. */
struct metrics *metrics_new(double started);
void metrics_free(struct metrics *m);

/* ---- calls (daemon) ----------------------------------------------------- */

/* A request was answered. api and route: static strings (struct api, struct
 * route); seconds: from its first byte to the end of its answer. */
void metrics_request(struct metrics *m, const char *api, const char *route,
                     int status, double seconds);
void metrics_in_flight(struct metrics *m, int change);   /* 1 or -1 */
enum metrics_reject { REJECT_QUEUE, REJECT_RATE, REJECT_SIZE, REJECT_AUTH,
                      REJECT_DRAINING };
void metrics_rejected(struct metrics *m, enum metrics_reject why);
void metrics_abandoned(struct metrics *m);      /* the client went away */
/* A document was translated or refused. format: a static string. */
void metrics_document(struct metrics *m, const char *format, int status);

/* ---- translation (core) ------------------------------------------------- */

void metrics_queue_wait(struct metrics *m, double seconds);     /* of a text */
void metrics_tokens(struct metrics *m, int64_t source, int64_t target);
/* Time in which a text was in work. */
void metrics_translated(struct metrics *m, double seconds);
enum metrics_lookup { LOOKUP_EXACT, LOOKUP_FUZZY, LOOKUP_NONE };
void metrics_looked_up(struct metrics *m, enum metrics_lookup result);

/* Values that others keep. The function is called when the metrics are printed,
 * and sets what it knows; several are added up. */
struct metrics_values {
    int64_t queue_texts, queue_bytes;
    int64_t decoder_passes;
    int64_t key_cache_bytes, key_cache_hits, key_cache_misses;
};
typedef void metrics_values_fn(void *user, struct metrics_values *out);
/* At most METRICS_READERS functions, before calls run. */
enum { METRICS_READERS = 8 };
void metrics_add_reader(struct metrics *m, metrics_values_fn *fn, void *user);
/* The labels of skmt_build_info. One line for each name of a model; the strings
 * are copied. */
void metrics_add_model(struct metrics *m, const char *version,
                       const char *isa, const char *model);

/* ---- memories (account) ------------------------------------------------- */

/* n pairs were stored. from: a static string, the name of an API. */
void metrics_added(struct metrics *m, const char *from, int64_t n);

/* ---- output ------------------------------------------------------------- */

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
/* accounts may be NULL. */
void metrics_print(struct metrics *m, struct accounts *accounts,
                   struct textbuf *out);

#endif
