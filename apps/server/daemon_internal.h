/* daemon_internal.h - the inside of the daemon.
 *
 * There are three kinds of threads: the one of libmicrohttpd, which reads and
 * writes all connections and never waits; the handlers, which run the functions
 * of the routes; and the watcher, which looks four times a second for clients
 * that are too slow or gone.
 *
 * While a call is in a handler, its connection is suspended: libmicrohttpd
 * leaves it alone. The handler resumes it when there is something to send.
 *
 * Also for: fuzz_http_path, test_call.
 *
 * Order of locks: that of the daemon, then that of a call, then those of
 * libmicrohttpd. No lock is held when a function of a route runs. */
#ifndef SERVER_DAEMON_INTERNAL_H
#define SERVER_DAEMON_INTERNAL_H

#include <microhttpd.h>
#include <pthread.h>

#include "server/call_internal.h"
#include "server/daemon.h"
#include "server/server.h"
#include "server/settings.h"

/* What the client of a connection has to do before its deadline. */
enum conn_state {
    CONN_HEADERS,               /* send the headers */
    CONN_BODY,                  /* send the body */
    CONN_WORK,                  /* nothing: it waits for the answer */
    CONN_ANSWER,                /* take the answer */
    CONN_IDLE                   /* send the next request, or go */
};

struct conn {                   /* a connection; under the lock of the daemon */
    struct conn *next, *prev;
    struct daemon *daemon;
    struct MHD_Connection *mhd;
    int fd;
    struct sockaddr_storage peer;
    enum conn_state state;
    double deadline;            /* monotonic seconds; 0: none */
    uint64_t acked;             /* bytes that the client has taken */
    int requests;
    struct call *call;          /* NULL between requests */
};

/* Handlers, and the calls that wait for one. Calls of routes with ROUTE_OPEN
 * have a lane of their own: whether the server is alive can be asked even when
 * all others are busy. */
struct call_lane {
    pthread_cond_t work;
    struct call *first, *last;
    int waiting, idle, threads, max;
    pthread_t *ids;             /* [threads] of [max] */
};
enum { LANE_OPEN, LANE_OTHERS, N_LANES };

/* A connection that was refused before its body had arrived. Closing it at once
 * would reset it, and the client could lose the answer. So a copy of its socket
 * is read until the client closes. */
struct lingerer { int fd; double until; };
enum { MAX_LINGER = 64 };

struct daemon {
    struct server *server;
    const struct settings *settings;
    struct MHD_Daemon *mhd;
    char temp[64];              /* folder of temporary files */
    int temp_lock;              /* descriptor of the folder, locked */
    pthread_mutex_t lock;
    struct conn *conns;
    int n_conns, n_calls;
    struct call_lane lanes[N_LANES];
    bool quiesced, stopping, watching, ended;
    pthread_t watcher;
    pthread_cond_t tick;
    struct lingerer lingering[MAX_LINGER];
    int n_lingering;
    double warned;              /* when a full table was last logged */
};

/* ---- daemon_check.c ----------------------------------------------------- */

/* Reads what the headers tell: method, path, route. Answers the call if it can
 * be answered without its body. */
void daemon_check(struct daemon *d, struct call *c, const char *method);
/* Adds the headers that allow pages of other origins to read an answer. */
void daemon_allow_origin(struct daemon *d, struct call *c);
/* Decodes a request target. False if it is malformed. */
bool daemon_split_target(struct call *c, const char *target);
/* Whether a name in the header Host is one of this server. */
bool daemon_host_is_ours(const struct settings *s, const char *host);
/* Finds the account. Returns false after it has failed the call. */
bool daemon_enter(struct daemon *d, struct call *c, bool body_is_there);
/* Whether the rate limit of a trusted address does not apply, and whether its
 * X-Forwarded-For counts. */
bool daemon_is_loopback(const struct sockaddr_storage *a);
bool daemon_trusts(const struct settings *s, const struct sockaddr_storage *a);
/* Whether two addresses count as one: equal, or in the same /64. */
bool daemon_same_peer(const struct sockaddr_storage *a,
                      const struct sockaddr_storage *b);

/* ---- daemon_run.c ------------------------------------------------------- */

bool lanes_start(struct daemon *d);
/* Gives a call to a handler. The connection must be suspended. False if there
 * is none, because the daemon stops or the system has no threads. */
bool lanes_push(struct daemon *d, struct call *c);
bool lanes_full(struct daemon *d, const struct call *c);
/* Waits until no call is left, and ends the threads. */
void lanes_stop(struct daemon *d);
/* Resumes the connection of a call, with the lock of the call held. */
void daemon_wake(struct call *c);

/* ---- daemon_watch.c ----------------------------------------------------- */

bool watch_start(struct daemon *d);
void watch_stop(struct daemon *d);
/* Reads what is left of a refused connection. Called with the lock held. */
void watch_linger(struct daemon *d, int fd);
/* Sets what the client has to do next. Called with the lock held. */
void conn_expect(struct conn *x, enum conn_state state, double seconds);

#endif
