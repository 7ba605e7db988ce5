/* keybuild.h - memory pairs through the model, to fill key stores.
 *
 * Teacher forcing without the output projection (method 0.3): all tokens of
 * all pairs go through encoder and decoder together, as many as there is room
 * for at a time. What a pair's keys are does not depend on its neighbours. */
#ifndef KNN_KEYBUILD_H
#define KNN_KEYBUILD_H

#include "knn/keystore.h"
#include "nn/decoder.h"

struct key_pair {
    const int32_t *src;         /* [n_src] with the model's marks */
    int n_src;
    const int32_t *tgt;         /* [n_tgt] without the end mark */
    int n_tgt;
    int number;                 /* entry.pair */
    struct keystore *to;        /* entries are appended, pairs in order */
};

struct keybuild;

/* rows: tokens of one pass, at least what the longest pair needs is made
 * room for. with_eos: the end mark is a value too. */
enum status keybuild_new(struct keybuild **out, const struct net *net,
                         struct pool *pool, int rows, bool with_eos,
                         struct err *e);
void keybuild_free(struct keybuild *kb);        /* NULL is fine */

/* ST_LIMIT: a pair is longer than the model can read. */
enum status keybuild_run(struct keybuild *kb, const struct key_pair *pairs,
                         int n, struct err *e);

#endif
