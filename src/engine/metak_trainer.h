/* metak_trainer.h - records the steps of known translations from which the
 * network of system adaptive is trained (knn/metak_train.h), and fixed settings
 * are chosen (knn/metak_grid.h).
 *
 *     metak_trainer_new(&t, en, entries, threads, &e);
 *     metak_trainer_add(t, source, target, &e);  ..
 *     metak_trainer_flush(t, &e);
 *     metak_trainer_samples(t)
 *
 * The target of a pair runs through the decoder as if it had been generated. At
 * each step the trainer records the nearest entries of the datastore, the
 * model's probabilities of their tokens, and that of the right token. Pairs are
 * computed in groups, because a search reads all keys once for many states.
 *
 * A pair of which the datastore has a copy finds itself, at distance 0. As in
 * the published programs it is used all the same: a dev set is like the texts
 * to come, and these have copies, too. The trainer counts such pairs, because
 * too many of them make the memory look better than it is.
 *
 * A trainer is used by one thread at a time. */
#ifndef ENGINE_METAK_TRAINER_H
#define ENGINE_METAK_TRAINER_H

#include "engine/engine.h"
#include "knn/entries.h"
#include "knn/metak_train.h"

struct metak_trainer;           /* opaque */

/* en and s are held. s comes from datastore_file_open, for the model of en. */
enum status metak_trainer_new(struct metak_trainer **out,
                              const struct engine *en, struct entries *s,
                              int threads, struct err *e);
void metak_trainer_free(struct metak_trainer *t);       /* NULL is fine */

/* Add a pair. A pair with an empty text, or one that is not valid UTF-8, adds
 * nothing; it is counted. Long texts are cut. */
enum status metak_trainer_add(struct metak_trainer *t, struct str source,
                              struct str target, struct err *e);
/* Compute the steps of all pairs that still wait. */
enum status metak_trainer_flush(struct metak_trainer *t, struct err *e);

struct metak_trainer_counts {
    int64_t pairs;              /* that were used */
    int64_t known;              /* those of them that the datastore has */
    int64_t empty, invalid;     /* pairs that were left out */
    int64_t cut;                /* pairs of which a text was cut */
};
struct metak_trainer_counts metak_trainer_counts(
    const struct metak_trainer *t);
/* The steps so far. A sentence is a pair. The caller may move them away. */
struct metak_samples *metak_trainer_samples(struct metak_trainer *t);

#endif
