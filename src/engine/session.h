/* session.h - translate texts one after the other, or a few together.
 *
 * One thread's. Its products are shared among `threads` threads. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/engine.h"
#include "engine/shared_keys.h"
#include "engine/pairfinder.h"
#include "engine/result.h"
#include "search/batch.h"

struct session;

struct request {                /* and its answer */
    const char *text;
    size_t len;
    const char *prefix;         /* or NULL */
    struct result *result;      /* the caller's; NULL when it failed */
    struct err err;             /* why */
    const struct similar_pair *given;   /* pairs to steer by, or NULL */
    int n_given;
};

enum status session_new(struct session **out, const struct engine *en,
                        const struct options *o, struct err *e);
void session_free(struct session *s);           /* NULL is fine */

/* Steer by this memory from now on (NULL: by given pairs only), with these keys
 * (NULL: the session's own). Both borrowed. */
enum status session_set_memory(struct session *s, struct tmfile *tm,
                               struct shared_keys *keys, struct err *e);

struct batch_counts session_counts(const struct session *s);

/* Returns the first failure, if any; the others are answered all the same. */
enum status session_run(struct session *s, struct request *q, size_t n,
                        struct err *e);

#endif
