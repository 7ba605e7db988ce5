/* penalty.h - how a score makes up for length.
 *
 * score = log-probability / penalty(n), n tokens with the end mark.
 *   gnmt:    ((5 + n) / 6)^alpha    (Wu et al. 2016)
 *   fairseq: n^alpha
 * Both grow with n, so with log-probabilities that only fall, log-probability
 * / penalty(longest) bounds what an unfinished hypothesis can still reach. */
#ifndef SEARCH_PENALTY_H
#define SEARCH_PENALTY_H

#include <math.h>

enum lenpen { LENPEN_GNMT, LENPEN_FAIRSEQ };

static inline double penalty(enum lenpen type, double alpha, int n)
{
    return pow(type == LENPEN_GNMT ? (5.0 + n) / 6.0 : (double)n, alpha);
}

#endif
