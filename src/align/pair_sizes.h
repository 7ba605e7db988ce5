/* pair_sizes.h - groups the pairs of a bitext by the lengths of their texts.
 *
 * What depends only on the lengths and on a position, such as the sum of the
 * diagonal prior, is computed once for all pairs of a group. Each group has a
 * place for every position of its made text. */
#ifndef ALIGN_PAIR_SIZES_H
#define ALIGN_PAIR_SIZES_H

#include "align/bitext.h"

struct pair_size {
    uint32_t given, made;       /* the lengths; at least 1 */
    size_t place;               /* of position 1; position i is place + i - 1 */
};

struct pair_sizes {             /* initialize with zeros */
    struct pair_size *at;       /* [n] in the order in which they appear */
    size_t n, cap;
    size_t n_places;
    uint32_t *of_pair;          /* [n_pairs] index of the group; of a pair
                                   without words it has no meaning */
    double *sum;                /* [n_places] of the prior */
    double *linked;             /* [n_places] expected number of words that are
                                   linked, not made by the null word */
};

enum status pair_sizes_init(struct pair_sizes *s, size_t n_pairs,
                            const struct bitext_side *given,
                            const struct bitext_side *made, struct err *e);
void pair_sizes_release(struct pair_sizes *s);

/* Sets `sum` for this tension, and `linked` to zero. */
void pair_sizes_begin(struct pair_sizes *s, double tension);
/* The expected sum of h (diagonal.h) over the linked words under the prior. */
double pair_sizes_expect(const struct pair_sizes *s, double tension);

#endif
