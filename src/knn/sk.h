/* sk.h - the steering system SK-MT: at each step the entries of the sentence's
 * datastore that are nearest to the decoder state vote for the next token.
 *
 * A sentence without entries costs no more than plain decoding, and neither
 * does a step at which all neighbors are too far away. The votes for a row
 * depend only on its state and on the tokens that led to it, not on other
 * rows. */
#ifndef KNN_SK_H
#define KNN_SK_H

#include "knn/system.h"

extern const struct steering_system sk_system;

#endif
