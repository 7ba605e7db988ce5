/* translation_pieces.h - the steering system of Zhang et al. (NAACL 2018):
 * tokens that complete n-grams of similar pairs get a reward. */
#ifndef KNN_TRANSLATION_PIECES_H
#define KNN_TRANSLATION_PIECES_H

#include "knn/system.h"

extern const struct steering_system translation_pieces_system;

#endif
