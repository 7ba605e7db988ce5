/* call_internal.h - the inside of a call.
 *
 * Also for: daemon, fuzz_http_path, test_call, test_translate_call.
 *
 * A call has two owners: the thread of the connections, and the thread that
 * runs the function of the route. The first fills in the request, passes the
 * call to the second and gets it back with the answer. Only the members under
 * `lock` are used by both at the same time. */
#ifndef SERVER_CALL_INTERNAL_H
#define SERVER_CALL_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "server/body.h"
#include "server/call.h"
#include "server/route.h"

struct call_pair { char *name, *value; };       /* a header */
struct call_headers { struct call_pair *list; int n, cap; };

struct conn;                    /* daemon_internal.h */

/* Where the call is: headers and body arrive, it waits for a handler, is in
 * one, has left it, or its answer is being sent. */
enum call_stage { CALL_HEADERS, CALL_BODY, CALL_QUEUED, CALL_RUNS, CALL_ENDED,
                  CALL_SENT };

/* What the answer is. */
enum call_answer { ANSWER_NONE, ANSWER_BYTES, ANSWER_FILE, ANSWER_STREAM };

struct call {
    struct server *server;
    atomic_int owners;

    /* the request */
    char id[65];
    char *path;                 /* percent-decoded, without the query */
    char *query;                /* as it was sent, without '?'; "" if none */
    const char *method;         /* static; HEAD is "GET" */
    bool http_head;
    struct call_headers in;
    struct routing routing;
    struct route_part parts[ROUTE_PARTS];       /* copied from the path */
    int n_parts;
    const char *rest;
    struct sockaddr_storage peer;
    struct account *account;    /* NULL until the key was found */

    /* its body */
    char *body;                 /* [body_n + 1], NUL-terminated; NULL if it is
                                   in body_file */
    size_t body_n, body_cap;
    int body_fd;                /* -1: none */
    char *body_file;
    int64_t received;           /* bytes */
    json_t *json;               /* a JSON body */
    json_t *body_args, *query_args, *args;      /* objects; args: both */
    struct upload *uploads;     /* [n_uploads]; strings are in `kept` */
    int n_uploads;
    char **kept;                /* strings that live as long as the call */
    int n_kept, cap_kept;
    const char *temp;           /* the folder of temporary files */

    /* the answer */
    enum call_answer answer;
    int status;
    const char *why;            /* a word for the log; NULL: no failure */
    struct call_headers out;
    char *bytes;
    size_t bytes_n;
    int file_fd;
    bool gzip;                  /* the client accepts it */
    bool close;                 /* the connection ends with this answer */
    int failed;                 /* enum fail_kind; -1: not */

    /* counts */
    double began;               /* seconds of the monotonic clock */
    int texts, source_tokens, target_tokens;
    double queue_ms;
    int64_t sent;

    pthread_mutex_t lock;
    pthread_cond_t changed;     /* of the stream */
    atomic_bool canceled;       /* set under lock */
    bool gone;                  /* canceled because the client has gone */
    double deadline;            /* monotonic seconds; 0: none */
    void (*on_cancel)(void *user);
    void *on_cancel_user;
    /* the stream */
    char *stream;               /* [stream_cap], bytes [stream_at,
                                   stream_n) wait to be sent */
    size_t stream_at, stream_n, stream_cap;
    bool stream_ended, stream_broken;
    void (*wake)(struct call *c);       /* of the daemon: the stream has begun
                                   or has more; called with lock held */
    struct conn *conn;          /* of the daemon; NULL: closed */
    struct call *next;          /* in its queue of calls */
    atomic_int stage;           /* enum call_stage */
    bool suspended;             /* the connection is; under lock */
};

/* NULL if out of memory. It has one owner. */
struct call *call_new(struct server *s);
void call_keep(struct call *c);                 /* one more owner */
void call_release(struct call *c);              /* one less */
/* Adds a header; false if out of memory. */
bool call_headers_add(struct call_headers *h, const char *name,
                      const char *value);
const char *call_headers_find(const struct call_headers *h, const char *name);
/* Copies a string that lives as long as the call; NULL if out of memory. */
char *call_copy(struct call *c, const char *s, size_t n);
/* Sets the id: that of X-Request-Id if it is acceptable, else a new one. */
void call_choose_id(struct call *c);
/* Takes the names of the path from a route that fits. */
bool call_take_parts(struct call *c);
/* Adds n bytes of the body; those of a large body of a route with ROUTE_FILE go
 * to a file. Returns false, after it has failed the call, if the body is too
 * long or cannot be stored. */
bool call_add_body(struct call *c, const char *bytes, size_t n);
/* Makes query_args and args from the query. Returns false after it has failed
 * the call. */
bool call_read_query(struct call *c);
/* The largest body of the route. As long as a key is needed and was not found,
 * it is not that of files: strangers could fill the disk. */
int64_t call_body_limit(const struct call *c);
/* Fails because the body is larger. */
void call_fail_too_big(struct call *c);
/* Makes the arguments from body and query. Returns false after it has failed
 * the call. */
bool call_read_body(struct call *c);
/* Removes the temporary files. */
void call_clean(struct call *c);
/* Cancels the call, once. gone: because its client has gone. */
void call_cancel(struct call *c, bool gone);
/* Ends a stream: no more parts. */
void call_stream_end(struct call *c);
double call_now(void);          /* seconds of the monotonic clock */

#endif
