/* batch.h - several sentences decoded together, each leaving when done.
 *
 * A batch has lanes. A sentence enters a free lane (its source is encoded
 * then), takes part in every pass with one row per live hypothesis, and
 * leaves as soon as it is decided; the lane may be filled again at once.
 * There is no padding: rows of all lanes stand side by side, and what a
 * sentence becomes does not depend on its neighbors. Where the mixer has a
 * guess of what comes next, states are computed ahead of time in the same pass
 * (drafts): a sentence whose guesses were right takes several steps with it.
 * One thread's; with a
 * pool, its products are shared among the pool's threads. After batch_new
 * nothing is allocated. */
#ifndef SEARCH_BATCH_H
#define SEARCH_BATCH_H

#include "nn/mixer.h"
#include "search/job.h"

struct batch;

/* The most rows a pass may have, for whoever makes a mixer. */
int batch_max_rows(const struct search_options *o);

/* pool and mixer may be NULL; both are borrowed. */
enum status batch_new(struct batch **out, const struct net *net,
                      const struct search_options *o, struct pool *pool,
                      struct mixer *mixer, struct err *e);
void batch_free(struct batch *b);               /* NULL is fine */

/* Whether the pool given at birth is used from now on (it is at first). */
void batch_set_pool(struct batch *b, bool use);

int batch_free_lanes(const struct batch *b);
int batch_busy_lanes(const struct batch *b);

/* Encode n jobs (n <= free lanes, each source within max_source) into lanes.
 * Fails only when the mixer does; jobs entered before stay. */
enum status batch_add(struct batch *b, struct job **jobs, int n,
                      struct err *e);

/* One decoder pass, and as many steps as its states allow. Returns the jobs
 * it decided, linked by next. */
struct job *batch_step(struct batch *b);

/* Give up all jobs under way (their results stay empty), linked by next. */
struct job *batch_abandon(struct batch *b);

/* What was done so far. */
struct batch_counts {
    uint64_t passes, rows;
    uint64_t steps;             /* of all sentences: without drafts each is a
                                   part of a pass */
    uint64_t drafted, used;     /* rows that were guesses, and those that
                                   search came by */
};
struct batch_counts batch_counts(const struct batch *b);

#endif
