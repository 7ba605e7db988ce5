/* steered_batch.h - a batch whose sentences may be steered by a memory: it
 * builds their datastores, then decodes them.
 *
 * The jobs come from result_prepare; a job names its struct sentence.
 * If a memory is used, a pairfinder has processed them. Each worker has a
 * steered_batch of its own; only one thread uses it at a time. */
#ifndef ENGINE_STEERED_BATCH_H
#define ENGINE_STEERED_BATCH_H

#include "engine/result.h"
#include "search/batch.h"

struct steered_batch;

/* en and pool are borrowed. pool may be NULL. */
enum status steered_batch_new(struct steered_batch **out,
                              const struct engine *en,
                              const struct batch_limits *limits,
                              struct pool *pool, struct err *e);
void steered_batch_free(struct steered_batch *m);  /* NULL is fine */
void steered_batch_set_pool(struct steered_batch *m, bool use);

/* Have steered_batch_add call this now and then while it computes keys (see
 * datastore_builder.h). */
void steered_batch_set_pause(struct steered_batch *m, void (*fn)(void *user),
                             void *user);

/* Compute the keys of n jobs and add them to the batch (see batch_add). A job
 * whose keys cannot be computed does not enter, and why[i] says why. Fails only
 * when the device fails; then no job has entered. */
enum status steered_batch_add(struct steered_batch *m, struct job **jobs, int n,
                              struct err *why, struct err *e);
/* The batch inside, for batch_step and the counts. */
struct batch *steered_batch_batch(struct steered_batch *m);

#endif
