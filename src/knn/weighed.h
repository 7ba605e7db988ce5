/* weighed.h - a mixer whose weights depend on the neighbors alone, not on the
 * model's probabilities. Systems differ in where the neighbors come from, and
 * in the function that weighs them.
 *
 * A system makes the mixer with weighed_init. In its prepare it calls one of
 * the voters_prepare functions for w->v, and then weighed_ready. */
#ifndef KNN_WEIGHED_H
#define KNN_WEIGHED_H

#include "knn/voters.h"

struct weighed;

/* Compute lambda, the tokens and the shares of n neighbors, nearest first, as
 * weigh() does. n is at least 1. step is the number of tokens before the
 * row. */
typedef void weighed_fn(const struct weighed *w, int step,
                        const struct neighbor *nb, int n,
                        struct knn_mixture *out);

struct weighed {
    struct mixer mixer;         /* must be the first member */
    struct voters v;
    weighed_fn *weigh;
    struct knn_mixture *mixtures;       /* [v.rows] of the last pass */
};

static inline struct weighed *weighed_of(struct mixer *m)
{
    return (struct weighed *)(void *)m;
}

/* The functions of the mixer. A system that has more to release than a block of
 * memory, which begins with a struct weighed, has other functions for `end` and
 * `free`, which call weighed_end and weighed_free. */
#define WEIGHED_OPS(at_end, at_free) {                                      \
    .first = weighed_first, .ask = weighed_ask, .list = weighed_list,       \
    .explain = weighed_explain, .explanation = weighed_explanation,         \
    .pair = weighed_pair, .end = at_end, .free = at_free }
void weighed_first(struct mixer *m, struct guess *out);
enum status weighed_ask(struct mixer *m, const struct mixer_rows *in,
                        struct err *e);
enum status weighed_list(struct mixer *m, const struct mixer_rows *in,
                         struct mixture *out, struct err *e);
enum status weighed_explain(struct mixer *m, const struct mixer_reading *in,
                            struct err *e);
struct explanation weighed_explanation(const struct mixer *m, int hyp,
                                       int pos);
bool weighed_pair(const struct mixer *m, int i, struct mixer_pair *out);
void weighed_end(struct mixer *m);
void weighed_free(struct mixer *m);

/* k is at most most_k. *w is zeros. After an error, free the mixer. */
enum status weighed_init(struct weighed *w, weighed_fn *fn,
                         const struct system_options *o,
                         const struct system_sentence *s, int most_k,
                         struct err *e);
/* Make room for the votes, after the neighbors were prepared. */
enum status weighed_ready(struct weighed *w, struct err *e);

/* Weigh by weigh() with the options of the system. */
weighed_fn weighed_by_options;

#endif
