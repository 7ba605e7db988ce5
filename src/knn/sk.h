/* sk.h - SK-MT: each sentence has a key store of its own, small and searched
 * whole, and its nearest entries speak at every step.
 *
 * A job's `user` is the sentence's struct keystore, or NULL for none; it is
 * borrowed until the sentence leaves. A sentence without entries, and a step
 * whose neighbours are too far to be trusted, cost no more than plain
 * decoding does. */
#ifndef KNN_SK_H
#define KNN_SK_H

#include "knn/weigh.h"
#include "nn/mixer.h"

struct sk_options {
    int k;                      /* neighbours, 1 .. KNN_MAX_K */
    struct weigh_options weigh;
};

struct sk;

/* lanes and rows: the most the search will have. */
enum status sk_new(struct sk **out, const struct sk_options *o, int lanes,
                   int rows, struct err *e);
void sk_free(struct sk *sk);                    /* NULL is fine */
struct mixer *sk_mixer(struct sk *sk);

#endif
