/* session.h - translate single texts, or a few together, in the calling thread.
 *
 * A session is used by one thread at a time. Option threads gives it a pool,
 * which shares its matrix products. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/engine.h"
#include "engine/shared_keys.h"
#include "engine/pairfinder.h"
#include "engine/result.h"
#include "search/batch.h"

struct session;                 /* opaque */

struct request {
    const char *text;
    size_t len;
    const char *prefix;         /* forced beginning, or NULL */
    struct result *result;      /* out: owned by the caller; NULL on error */
    struct err err;             /* out: why it failed */
    const struct similar_pair *given;   /* pairs to use instead of a search, or
                                           NULL */
    int n_given;
};

enum status session_new(struct session **out, const struct engine *en,
                        const struct options *o, struct err *e);
void session_free(struct session *s);           /* NULL is fine */

/* Steer by the pairs of this source from now on. source may be NULL: then only
 * given pairs steer. keys may be NULL: then the session uses keys of its own.
 * Both are borrowed. */
enum status session_set_memory(struct session *s, struct pair_source *source,
                               struct shared_keys *keys, struct err *e);

struct batch_counts session_counts(const struct session *s);

/* Translate n requests. Returns the first error; the other requests are
 * translated all the same. */
enum status session_run(struct session *s, struct request *q, size_t n,
                        struct err *e);

#endif
