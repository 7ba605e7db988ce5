/* batch.h - decode several sentences together.
 *
 * A batch has lanes. A sentence enters an idle lane, and its source is encoded
 * then. It takes part in every decoder pass with one row per live hypothesis,
 * and leaves as soon as it is finished; the lane can be filled again at once.
 * There is no padding: the rows of all lanes are adjacent, and the translation
 * of a sentence does not depend on the other sentences.
 *
 * If the mixer guesses the next tokens, their states are computed ahead of time
 * in the same pass. Such states are called drafts, and the technique is called
 * speculative decoding. A sentence whose guesses are right then takes several
 * steps with one pass. The result is the same without drafts.
 *
 * A batch is used by one thread at a time. With a pool, matrix products are
 * shared among the threads of the pool. Nothing is allocated after
 * batch_new. */
#ifndef SEARCH_BATCH_H
#define SEARCH_BATCH_H

#include "nn/mixer.h"
#include "search/job.h"

struct batch;

/* The most rows that a pass can have; a mixer needs room for them. */
int batch_max_rows(const struct search_options *o);

/* net, pool and mixer are borrowed. pool and mixer may be NULL. */
enum status batch_new(struct batch **out, const struct net *net,
                      const struct search_options *o, struct pool *pool,
                      struct mixer *mixer, struct err *e);
void batch_free(struct batch *b);               /* NULL is fine */

/* Turn the use of the pool on or off. It is on at first. */
void batch_set_pool(struct batch *b, bool use);

int batch_count_idle_lanes(const struct batch *b);
int batch_busy_lanes(const struct batch *b);

/* Encode n jobs and put them into lanes. n must be at most the number of idle
 * lanes, and no source may be longer than max_source. The batch borrows the
 * jobs until it returns them. Fails only when the mixer fails; the jobs that
 * entered before stay in their lanes. */
enum status batch_add(struct batch *b, struct job **jobs, int n,
                      struct err *e);

/* Run one decoder pass, and take as many steps as its states allow. Returns the
 * jobs that are finished, linked by next. */
struct job *batch_step(struct batch *b);

/* Remove all jobs from their lanes; their results stay empty. Returns them,
 * linked by next. */
struct job *batch_abandon(struct batch *b);

/* Work done since batch_new. */
struct batch_counts {
    uint64_t passes, rows;
    uint64_t steps;             /* of all sentences; without drafts each
                                   sentence takes one step per pass */
    uint64_t drafted;           /* rows that were drafts */
    uint64_t drafts_used;       /* drafts that a hypothesis reached */
};
struct batch_counts batch_counts(const struct batch *b);

#endif
