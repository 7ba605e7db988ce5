/* keybuild.h - memory pairs through the model: their keys.
 *
 * Teacher forcing without the output projection (method 0.3): all tokens of
 * all pairs go through encoder and decoder together, as many as there is room
 * for at a time. What a pair's keys are does not depend on its neighbours. */
#ifndef KNN_KEYBUILD_H
#define KNN_KEYBUILD_H

#include "knn/keyblock.h"
#include "nn/decoder.h"

struct key_pair {
    const int32_t *src;         /* [n_src] with the model's marks */
    int n_src;
    const int32_t *tgt;         /* [n_tgt] without the end mark */
    int n_tgt;
    struct keyblock *block;     /* out: held for the caller, NULL on error */
};

struct keybuild;

struct keybuild_options {
    int rows;                   /* tokens of one pass; at least what the longest
                                   pair needs is made room for */
    enum key_type type;
    bool with_eos;              /* the end mark is a value too */
};

/* pool may be NULL; it is borrowed. */
enum status keybuild_new(struct keybuild **out, const struct net *net,
                         struct pool *pool, const struct keybuild_options *o,
                         struct err *e);
void keybuild_free(struct keybuild *kb);        /* NULL is fine */

/* Whether that pool is used from now on (it is at first). */
void keybuild_use_pool(struct keybuild *kb, bool use);

/* ST_LIMIT: a pair is longer than the model can read. On an error no pair has
 * a block. */
enum status keybuild_run(struct keybuild *kb, struct key_pair *pairs, int n,
                         struct err *e);

#endif
