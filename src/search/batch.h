/* batch.h - decode several sentences together.
 *
 * A batch has lanes. A sentence enters an idle lane, and its source is encoded
 * then. It takes part in every decoder pass with one row per live hypothesis,
 * and leaves as soon as it is finished; the lane can be filled again at once.
 * There is no padding: the rows of all lanes are adjacent. Each job has its own
 * options, and its translation does not depend on the other jobs.
 *
 * If the mixer guesses the next tokens, their states are computed ahead of time
 * in the same pass. Such states are called drafts, and the technique is called
 * speculative decoding. A sentence whose guesses are right then takes several
 * steps with one pass. The result is the same without drafts.
 *
 * A batch is used by one thread at a time. Nothing is allocated after
 * batch_new. */
#ifndef SEARCH_BATCH_H
#define SEARCH_BATCH_H

#include "search/job.h"

struct pool;
struct batch;

/* What the jobs of a batch may need at most. */
struct batch_limits {
    int lanes;                  /* sentences at a time */
    int rows;                   /* the beams of all sentences together */
    int drafts;                 /* more rows of a pass, for drafts */
    int max_beam;               /* of one sentence, at most `rows` */
    int max_source;             /* longest source, with special tokens */
    int max_len;                /* longest translation */
};

/* backend and pool are borrowed. pool may be NULL. */
enum status batch_new(struct batch **out, const struct backend *backend,
                      const struct batch_limits *limits, struct pool *pool,
                      struct err *e);
void batch_free(struct batch *b);               /* NULL is fine */

/* Turn the use of the pool on or off. It is on at first. */
void batch_set_pool(struct batch *b, bool use);

int batch_count_idle_lanes(const struct batch *b);
int batch_busy_lanes(const struct batch *b);

/* How many of the first jobs of a list (linked by next) can enter now: each
 * needs an idle lane and as many free rows as its beam. */
int batch_fitting(const struct batch *b, const struct job *list);
/* Whether a job can ever enter: it is within the limits. */
bool batch_can_hold(const struct batch *b, const struct job *j);

/* Encode n jobs and put them into lanes. They must fit. The batch borrows the
 * jobs until it returns them. After an error none of them has entered. */
enum status batch_add(struct batch *b, struct job **jobs, int n,
                      struct err *e);

/* Run one decoder pass, and take as many steps as its states allow. *done is
 * set to the jobs that are finished, linked by next; after an error, too. After
 * an error call batch_abandon. The batch can be used again then, unless the
 * device failed: batch_add and batch_step return ST_DEVICE from then on. */
enum status batch_step(struct batch *b, struct job **done, struct err *e);

/* Take a job out of its lane before it is finished; its results stay empty.
 * Returns false if it is not in the batch. */
bool batch_remove(struct batch *b, struct job *j);

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
