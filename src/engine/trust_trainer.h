/* trust_trainer.h - makes the samples from which the network of learned trust
 * is trained (knn/trust_train.h).
 *
 * A sample is a step of a known translation: a pair of the user, with the
 * similar pairs that a search would find for its source. The target of the pair
 * runs through the decoder as if it had been generated, and at each step the
 * trainer records what the mixer would see (knn/learned.h), the model's
 * probability of the right token, and which neighbors have it. */
#ifndef ENGINE_TRUST_TRAINER_H
#define ENGINE_TRUST_TRAINER_H

#include "engine/pairfinder.h"
#include "knn/trust_train.h"

struct trust_trainer;

/* en and keys are borrowed. The options are those of the translations that the
 * network is for. */
enum status trust_trainer_new(struct trust_trainer **out,
                              const struct engine *en, const struct options *o,
                              struct shared_keys *keys, struct err *e);
void trust_trainer_free(struct trust_trainer *t);       /* NULL is fine */

/* The most similar pairs of a text that are used. Translations may use fewer,
 * so each text is read twice: with all its pairs, and with the first 1, 2 or
 * 4. */
enum { TRAINING_PAIRS = 16 };

/* Add the steps of a pair to `to`. The n similar pairs are given best first;
 * at most TRAINING_PAIRS are used. A pair that is too long, or has no tokens,
 * adds nothing. */
enum status trust_trainer_add(struct trust_trainer *t, struct str source,
                              struct str target,
                              const struct similar_pair *pairs, int n,
                              struct trust_samples *to, struct err *e);

#endif
