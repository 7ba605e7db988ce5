/* mill.h - one worker's machinery: the keys of sentences, then their search.
 *
 * Jobs come from result_prepare (their owner is a segment) and, when a memory
 * is in use, went through a recaller. One thread's. */
#ifndef ENGINE_MILL_H
#define ENGINE_MILL_H

#include "engine/keys.h"
#include "engine/result.h"
#include "search/batch.h"

struct mill;

/* pool may be NULL. All but o and so is borrowed. */
enum status mill_new(struct mill **out, const struct engine *en,
                     const struct options *o, const struct search_options *so,
                     struct pool *pool, struct err *e);
void mill_free(struct mill *m);                 /* NULL is fine */
/* Where keys come from and go to; needed before a sentence that has pairs. */
void mill_use_keys(struct mill *m, struct keys *keys);
void mill_use_pool(struct mill *m, bool use);

/* As batch_add; may fail where keys cannot be made. */
enum status mill_add(struct mill *m, struct job **jobs, int n,
                     struct err *e);
struct batch *mill_batch(struct mill *m);       /* to step it */

#endif
