/* steered_batch.h - one worker's machinery: the keys of sentences, then their search.
 *
 * Jobs come from result_prepare (their owner is a segment) and, when a memory
 * is in use, went through a pairfinder. One thread's. */
#ifndef ENGINE_STEERED_BATCH_H
#define ENGINE_STEERED_BATCH_H

#include "engine/shared_keys.h"
#include "engine/result.h"
#include "search/batch.h"

struct steered_batch;

/* pool may be NULL. All but o and so is borrowed. */
enum status steered_batch_new(struct steered_batch **out,
                              const struct engine *en, const struct options *o,
                              const struct search_options *so,
                              struct pool *pool, struct err *e);
void steered_batch_free(struct steered_batch *m);  /* NULL is fine */
/* Where keys come from and go to; needed before a sentence that has pairs. */
void steered_batch_set_keys(struct steered_batch *m, struct shared_keys *keys);
void steered_batch_set_pool(struct steered_batch *m, bool use);

/* As batch_add; may fail where keys cannot be made. */
enum status steered_batch_add(struct steered_batch *m, struct job **jobs, int n,
                              struct err *e);
struct batch *steered_batch_batch(struct steered_batch *m);  /* to step it */

#endif
