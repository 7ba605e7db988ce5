/* route.h - the routes of all APIs, and how a path finds its route.
 *
 * An API is a table of routes and a function that writes its errors. Each API
 * is served under its own prefix, and at the root by the rule of
 * docs/server.md ("Which API is meant"). A new API is a file api_NAME.c with a
 * `const struct api`, and a line in the list `apis` in route.c. */
#ifndef SERVER_ROUTE_H
#define SERVER_ROUTE_H

#include <stdbool.h>

#include "call.h"

enum route_flag {
    ROUTE_OPEN = 1,             /* needs no key, has no rate limit */
    ROUTE_WRITES = 2,           /* changes something: never for other origins */
    ROUTE_FILE = 4,             /* large bodies; the whole body is an upload if
                                   it is neither JSON, a form nor multipart, or
                                   has no media type; with ROUTE_RAW always */
    ROUTE_RAW = 8,              /* the body is bytes (call_body) */
    ROUTE_ANY_JSON = 16,        /* the JSON body may be an array or a value */
    ROUTE_TRANSLATES = 32,      /* other origins may call it if CORS is on */
    ROUTE_TEXT_PATH = 64,       /* "*" is a text: a final slash belongs to it */
    ROUTE_QUIET = 128           /* no line in the log unless it fails */
};

typedef void route_fn(struct call *c);

struct route {
    const char *methods;        /* "GET", or several: "GET POST" */
    const char *path;           /* after the prefix: "/memories/:id/content",
                                   "/:src/:tgt/unit/" and then "*" */
    route_fn *run;
    unsigned flags;
    const char *name;           /* label in logs and metrics; NULL: path */
};

struct api {
    const char *name;           /* "libretranslate"; label in logs, metrics */
    const char *prefix;         /* "/libretranslate"; "" for the own API */
    const struct route *routes; /* ends with a NULL path */
    /* Answers with an error, using call_set_header and call_reply_*. The
     * headers Retry-After and Allow are set already. */
    void (*fail)(struct call *c, const struct failure *f);
    int wait_ms;                /* longest time a text may wait in the queue */
};

extern const struct api api_own, api_page, api_libre, api_mmt, api_deepl,
    api_tmserver, api_amagama, api_apertium, api_opuscat;

/* API i, from 0; NULL after the last. */
const struct api *route_api(int i);

/* What a request asks for. */
struct routing {
    const struct api *api;      /* never NULL; that of the errors */
    const struct route *route;  /* NULL: see `why` */
    enum fail_kind why;         /* FAIL_PATH or FAIL_METHOD */
    const char *method;         /* static: the one that was asked for, in
                                   ModernMT's API perhaps by a header; HEAD is
                                   "GET" */
    const char *path;           /* after the prefix; in the path that was
                                   given, or static */
    char allow[64];             /* with FAIL_METHOD: the methods of the path */
};
/* Finds the route of a percent-decoded path. `header` returns a header of the
 * request or NULL; a name such as "MMT-*" means any that begins so. `langpair`
 * says whether the query has that argument. */
struct routing route_find(const char *method, const char *path, bool langpair,
                          const char *(*header)(void *user, const char *name),
                          void *user);

/* Cuts the path of a routing with a route, which is a copy, at the places of
 * the template. *rest gets what "*" matched, or "". Returns the number of
 * parts. The strings are in `path`. */
enum { ROUTE_PARTS = 8 };
struct route_part { const char *name, *value; };
int route_split(const struct route *r, char *path,
                struct route_part parts[ROUTE_PARTS], const char **rest);

#endif
