/* merger.h - tidies indexes beside whoever works with them.
 *
 * A thread with a connection of its own turns what was added lately into
 * segments and joins small ones (index_merge); searches and writes go on
 * meanwhile, and the next search uses the new files. It runs while there is
 * something to do and ends then. What fails is left as it was: the index is
 * whole either way, and somebody pokes again.
 *
 * A merger is poked and freed by one thread. */
#ifndef TM_MERGER_H
#define TM_MERGER_H

#include "tm/index.h"

struct merger;

struct merge_job {
    int64_t memory;
    struct analyzer analyzer;   /* its tokenizer is borrowed until free */
    const struct subword *sw;   /* whose symbols are kept too; NULL: none */
    uint64_t tokenizer;
};

enum status merger_new(struct merger **out, const char *path, struct err *e);
/* Have it done soon; what is waiting or being done already is not repeated. */
void merger_poke(struct merger *m, const struct merge_job *job);
/* Waits until all is done. NULL is fine. */
void merger_free(struct merger *m);

#endif
