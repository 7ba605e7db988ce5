/* stream.h - translate a corpus: texts in, translations out in the same order,
 * on several threads.
 *
 * A stream is a thin layer on a service (service.h): it numbers the texts, and
 * the thread that completes the oldest text delivers it. */
#ifndef ENGINE_STREAM_H
#define ENGINE_STREAM_H

#include "engine/service.h"

struct stream;                  /* opaque */

/* Called in input order, one call at a time, by a worker or by push. The
 * result is freed after the call; it is NULL when the text failed. A non-zero
 * return value cancels the stream. */
typedef int stream_fn(void *user, uint64_t number, struct result *r,
                      const struct err *e);

enum status stream_new(struct stream **out, const struct engine *en,
                       const struct options *o, stream_fn *fn, void *user,
                       struct err *e);
/* Use this source from now on, as session_set_memory does. Called by the thread
 * that pushes; waits until all texts pushed before are delivered. */
enum status stream_set_memory(struct stream *s, const struct request_memory *m,
                              struct err *e);
/* The same for a datastore, for the corrections so far, and for an alignment
 * (session.h). */
enum status stream_set_entries(struct stream *s, struct entries *entries,
                               struct err *e);
enum status stream_set_online(struct stream *s, struct online_store *online,
                              struct err *e);
enum status stream_set_alignment(struct stream *s, const struct align_model *m,
                                 struct err *e);
enum status stream_push(struct stream *s, const char *text, size_t len,
                        const char *prefix, struct err *e);
/* The same with n pairs to use instead of a search in the memory. */
enum status stream_push_with(struct stream *s, const char *text, size_t len,
                             const char *prefix,
                             const struct similar_pair *given, int n,
                             struct err *e);
enum status stream_flush(struct stream *s, struct err *e);
/* May be called by any thread. A stream may be freed while another thread is in
 * this function, but not before that thread calls it. */
void stream_cancel(struct stream *s);
void stream_counts(struct stream *s, uint64_t *texts, uint64_t *sentences,
                   uint64_t *tokens);
/* The counts of all workers. */
struct batch_counts stream_work(struct stream *s);
void stream_free(struct stream *s);             /* cancels; NULL is fine */

#endif
