/* merger.h - merges index segments in the background.
 *
 * A thread with a store connection of its own turns recent additions into
 * segments and merges small segments (index_merge). Searches and writes go on
 * meanwhile, and the next search uses the new files. The thread runs while
 * there are jobs, and then ends. Errors are ignored: the index is valid with or
 * without the merge, and the next poke tries again.
 *
 * merger_poke and merger_free must be called by the same thread. */
#ifndef TM_MERGER_H
#define TM_MERGER_H

#include "tm/index.h"

struct merger;                  /* opaque */

struct merge_job {
    int64_t memory;
    struct analyzer analyzer;
    const struct subword *sw;   /* write files of subword ids for this
                                   tokenizer; NULL: no such files */
    uint64_t tokenizer;         /* its id */
};

enum status merger_new(struct merger **out, const char *path, struct err *e);
/* Queue a job, and hold its tokenizers until it is done. A job for the same
 * memory and analyzer that is queued or running already is not queued again. */
void merger_poke(struct merger *m, const struct merge_job *job);
/* Waits until all jobs are done. NULL is fine. */
void merger_free(struct merger *m);

#endif
