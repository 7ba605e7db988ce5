/* call.h - one HTTP request, from its arguments to its answer.
 *
 * The daemon (daemon.h) reads a request completely, finds its route (route.h)
 * and runs the function of the route in a thread of its own pool. This function
 * may take long: it reads the arguments, works, and gives exactly one answer
 * with call_reply_*, call_fail or a stream (call_stream_*). If it returns
 * without an answer, the daemon answers with FAIL_INTERNAL.
 *
 * A call belongs to the thread that runs the function. Only call_canceled may
 * be called by other threads. Strings and arguments are valid until the
 * function returns. */
#ifndef SERVER_CALL_H
#define SERVER_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "skmt.h"

struct call;                    /* opaque */
struct account;                 /* account.h */
struct api;                     /* route.h */
struct route;                   /* route.h */
struct server;                  /* server.h: everything that calls share */

/* ---- the request ------------------------------------------------------ */

struct server *call_server(const struct call *c);
const struct route *call_route(const struct call *c);
/* The API of the route (route.h). */
const struct api *call_api(const struct call *c);
/* "GET", "POST", ..; that of X-HTTP-Method-Override in ModernMT's API. HEAD is
 * "GET". */
const char *call_method(const struct call *c);
/* What ":name" in the path of the route matched, percent-decoded. "" if the
 * route has no such name. */
const char *call_path_part(const struct call *c, const char *name);
/* What a final "*" in the path of the route matched, with its slashes. */
const char *call_path_rest(const struct call *c);
/* A header, compared without case; NULL if it is not there. A name such as
 * "MMT-*" means any that begins so. */
const char *call_header(const struct call *c, const char *name);
/* Whether the client is a program on this machine. A request that came through
 * a proxy is never local. */
bool call_is_local(const struct call *c);
/* The id of the request, for logs and errors. */
const char *call_id(const struct call *c);
/* Who asks. NULL only in the function of a route with ROUTE_OPEN, if the server
 * needs keys and the request has none that is valid. */
struct account *call_account(const struct call *c);
/* Whether the work is no longer wanted: the client is gone or the deadline has
 * passed. Long work asks from time to time and then returns; no answer is
 * needed then. May be called by any thread. */
bool call_canceled(const struct call *c);
/* Calls fn once, at once or later, when the call is canceled. It runs in
 * another thread and must be short. fn NULL: no longer. When this returns, the
 * former function is not running. */
void call_on_cancel(struct call *c, void (*fn)(void *user), void *user);

/* ---- arguments -------------------------------------------------------- */

/* All arguments as one object. They come from the JSON body, from a form, from
 * the fields of a multipart body that are not files, and from the query; a name
 * of the body hides one of the query. In forms and queries, values are strings,
 * and a name that occurs several times is an array of strings. If the JSON body
 * is not an object, the route must have ROUTE_ANY_JSON, and call_json is the
 * only way to get it. Borrowed. */
const json_t *call_args(const struct call *c);
/* The JSON body, whatever it is; NULL if the body is not JSON. */
const json_t *call_json(const struct call *c);
/* The bytes of the body, for routes with ROUTE_RAW. NUL-terminated. *n may be
 * NULL. */
const char *call_body(const struct call *c, size_t *n);

/* A string argument; NULL if it is absent, null or not a string. Numbers are
 * returned as they were written. */
const char *call_arg(const struct call *c, const char *name);
/* "true", "1", true, 1 and "yes" are true; `fallback` if absent. */
bool call_arg_bool(const struct call *c, const char *name, bool fallback);
/* A number, or a string that is one. Sets *out and returns 1; returns 0 and
 * leaves *out if absent; returns -1 if it is something else or not in
 * [low, high]. */
int call_arg_int(const struct call *c, const char *name, int64_t low,
                 int64_t high, int64_t *out);
/* A list of strings: an array, or one string, which is a list of one. If
 * `commas`, strings are split at commas and blanks around the parts are
 * removed. Returns a new array of strings, empty if absent; NULL if an element
 * is not a string. */
json_t *call_arg_list(const struct call *c, const char *name, bool commas);

/* A file of a multipart body, or the whole body of a route with ROUTE_FILE. */
struct upload {
    const char *field;          /* name of its part; "" for the whole body */
    const char *name;           /* file name without folders; "" if unknown */
    const char *type;           /* media type in lower case; "" if unknown */
    const char *path;           /* where it is while the function runs */
    uint64_t bytes;
};
/* The file with this field name; any file if `field` is NULL. NULL: none. */
const struct upload *call_upload(const struct call *c, const char *field);
/* The folder for temporary files. */
const char *call_temp_folder(const struct call *c);

/* ---- answers ---------------------------------------------------------- */

/* Adds a header to the answer. Call it before the answer. Content-Type,
 * X-Request-Id, X-Content-Type-Options, Cache-Control: no-store are set by the
 * call; a header given here takes their place. */
void call_set_header(struct call *c, const char *name, const char *value);
/* Answers with JSON. Frees `json`. NULL: out of memory, FAIL_INTERNAL. */
void call_reply_json(struct call *c, int status, json_t *json);
/* Answers with bytes, which are copied. type: such as "text/plain;
 * charset=utf-8". */
void call_reply_bytes(struct call *c, int status, const char *type,
                      const void *bytes, size_t n);
/* Answers with a file that is then removed, as a download with this name. */
void call_reply_file(struct call *c, const char *type, const char *path,
                     const char *name);
/* Answers without a body (204). */
void call_reply_empty(struct call *c, int status);

/* An answer that is written in parts, with status 200. A part waits while the
 * client is slow. call_stream_write returns false when the client is gone. The
 * stream ends when the function of the route returns. */
bool call_stream_begin(struct call *c, const char *type);
bool call_stream_write(struct call *c, const char *bytes, size_t n);

/* Why a call fails. Each API says it in its own form (struct api). */
enum fail_kind {
    FAIL_ARGUMENT,              /* 400: an argument is missing or wrong */
    FAIL_JSON,                  /* 400: the body cannot be read */
    FAIL_LANGUAGE,              /* 400: language or pair not served */
    FAIL_NO_KEY,                /* 401: a key is needed */
    FAIL_WRONG_KEY,             /* 403: the key is unknown */
    FAIL_FORBIDDEN,             /* 403: this key may not do this */
    FAIL_NOT_FOUND,             /* 404: a thing with this name or id */
    FAIL_PATH,                  /* 404: no such path */
    FAIL_METHOD,                /* 405 */
    FAIL_CONFLICT,              /* 409: exists already */
    FAIL_TOO_BIG,               /* 413: the body or a file */
    FAIL_TEXT_LIMIT,            /* 413: a text, or too many texts */
    FAIL_TYPE,                  /* 415: media type of the body */
    FAIL_UNSUPPORTED,           /* 501: known, but not offered here */
    FAIL_BUSY,                  /* 429: the queue is full; retry_after */
    FAIL_RATE,                  /* 429: more than this key may; retry_after */
    FAIL_NOT_READY,             /* 503: starting or stopping */
    FAIL_STORAGE,               /* 507: the disk is full, or a file failed */
    FAIL_INTERNAL               /* 500 */
};
struct failure {
    enum fail_kind kind;
    int status;                 /* the HTTP status; 0: that of the kind */
    int retry_after;            /* seconds; 0: none */
    char field[64];             /* the argument at fault; "" if none */
    char message[500];          /* a sentence without a final period */
};
/* The HTTP status of a kind, as listed above. */
int fail_status(enum fail_kind kind);

/* Answers with an error in the form of the API of the call. */
__attribute__((format(printf, 3, 4)))
void call_fail(struct call *c, enum fail_kind kind, const char *fmt, ...);
/* The same about an argument. */
__attribute__((format(printf, 3, 4)))
void call_fail_field(struct call *c, const char *field, const char *fmt, ...);
void call_fail_with(struct call *c, const struct failure *f);
/* An error of the library, as the kind that fits its status. Messages of
 * SKMT_ERR_ARGUMENT, _TEXT and _LIMIT are passed on; others are logged and the
 * client is told the id of the request only, because they can contain paths. */
void call_fail_error(struct call *c, const skmt_error *err);
/* What call_fail_error would answer, for streams that have begun. Logs what it
 * does not tell. */
void call_describe_error(struct call *c, const skmt_error *err,
                         struct failure *out);

/* ---- what the log and the metrics tell --------------------------------- */

/* Adds to the counts of this call. Never text. */
void call_count(struct call *c, int texts, int source_tokens,
                int target_tokens, double queue_ms);

#endif
