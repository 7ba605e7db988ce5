/* session.h - translate single texts, or a few together, in the calling thread.
 *
 * A session is a service without threads: session_run runs the turns of its
 * worker. It is used by one thread at a time; only session_cancel may be called
 * by any thread. Option threads gives it a pool, which shares its matrix
 * products. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/service.h"

struct session;                 /* opaque */

struct session_text {
    const char *text;
    size_t len;
    const char *prefix;         /* forced beginning, or NULL */
    const struct similar_pair *given;   /* pairs to use instead of a search, or
                                           NULL */
    int n_given;
    struct result *result;      /* out: owned by the caller; NULL on error */
    struct err err;             /* out: why it failed */
};

enum status session_new(struct session **out, const struct engine *en,
                        const struct options *o, struct err *e);
void session_free(struct session *s);           /* NULL is fine */

/* Steer by this memory from now on. Its source may be NULL: then only given
 * pairs steer. Its keys may be NULL: then the session uses keys of its own. All
 * pointers are borrowed. */
enum status session_set_memory(struct session *s,
                               const struct request_memory *m, struct err *e);

/* The same for a datastore of all pairs, and for the corrections so far. NULL:
 * none. session_set_memory does not change them. */
void session_set_entries(struct session *s, struct entries *entries);
void session_set_online(struct session *s, struct online_store *online);
/* The same for an alignment of pieces. */
void session_set_alignment(struct session *s, const struct align_model *m);

/* Translate n texts. Returns the first error; the other texts are translated
 * all the same. */
enum status session_run(struct session *s, struct session_text *t, size_t n,
                        struct err *e);
/* Make the session_run that another thread is in return soon. Texts that are
 * not finished fail with ST_CANCELED. Does nothing when none is running. One
 * call cancels at most one run. */
void session_cancel(struct session *s);

struct batch_counts session_counts(struct session *s);

#endif
