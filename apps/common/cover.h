/* cover.h - chooses few pairs such that every decoding step has at least one of
 * them among its neighbors.
 *
 * This is the problem of the smallest set cover. It is solved greedily: the
 * next pair is the one that the most uncovered steps have; of several, the one
 * with the lowest number. Then pairs that later choices made superfluous are
 * dropped. The result has at most 1 + ln(steps) times as many pairs as the
 * smallest set. */
#ifndef COMMON_COVER_H
#define COMMON_COVER_H

struct cover_use { int step, pair; };   /* a neighbor of a step is of a pair */

/* uses [n] are sorted by step; a step may have a pair several times. Steps are
 * below n_steps, pairs below n_pairs. A step without uses is not covered.
 * Writes the pairs to chosen [n_pairs] in the order of choice. Returns their
 * number, or -1 if out of memory. */
int cover_greedy(const struct cover_use *uses, int n, int n_steps,
                 int n_pairs, int *chosen);

#endif
