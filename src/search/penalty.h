/* penalty.h - the length penalty of a score.
 *
 * score = log-probability / penalty(n), where n counts the tokens with EOS and
 * with the token of the target language if translations begin with one.
 *   gnmt:    ((5 + n) / 6)^alpha    (Wu et al. 2016)
 *   fairseq: n^alpha
 * Both grow with n, and log-probabilities only fall. So log-probability /
 * penalty(longest) is an upper bound for what an unfinished hypothesis can
 * still reach. */
#ifndef SEARCH_PENALTY_H
#define SEARCH_PENALTY_H

#include <math.h>

#include "base/enumlist.h"

#define LENPENS(X)                                                          \
    X(LENPEN_GNMT, "gnmt")                                                  \
    X(LENPEN_FAIRSEQ, "fairseq")
enum lenpen { LENPENS(ENUM_CONSTANT) };

static inline double penalty(enum lenpen type, double alpha, int n)
{
    return pow(type == LENPEN_GNMT ? (5.0 + n) / 6.0 : (double)n, alpha);
}

#endif
