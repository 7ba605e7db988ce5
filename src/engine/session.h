/* session.h - translate texts one after the other, or a few together.
 *
 * One thread's. Its products are shared among `threads` threads. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/engine.h"
#include "engine/result.h"

struct session;

struct request {                /* and its answer */
    const char *text;
    size_t len;
    const char *prefix;         /* or NULL */
    struct result *result;      /* the caller's; NULL when it failed */
    struct err err;             /* why */
};

enum status session_new(struct session **out, const struct engine *en,
                        const struct options *o, struct err *e);
void session_free(struct session *s);           /* NULL is fine */

/* Returns the first failure, if any; the others are answered all the same. */
enum status session_run(struct session *s, struct request *q, size_t n,
                        struct err *e);

#endif
