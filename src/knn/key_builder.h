/* key_builder.h - memory pairs through the model: their keys.
 *
 * Teacher forcing without the output projection (method 0.3): all tokens of
 * all pairs go through encoder and decoder together, as many as there is room
 * for at a time. What a pair's keys are does not depend on its neighbors. */
#ifndef KNN_KEY_BUILDER_H
#define KNN_KEY_BUILDER_H

#include "knn/pair_keys.h"
#include "nn/decoder.h"

struct key_pair {
    const int32_t *src;         /* [n_src] with the model's marks */
    int n_src;
    const int32_t *tgt;         /* [n_tgt] without the end mark */
    int n_tgt;
    struct pair_keys *block;    /* out: held for the caller, NULL on error */
};

struct key_builder;

struct key_builder_options {
    int rows;                   /* tokens of one pass; at least what the longest
                                   pair needs is made room for */
    enum key_type type;
    bool with_eos;              /* the end mark is a value too */
};

/* pool may be NULL; it is borrowed. */
enum status key_builder_new(struct key_builder **out, const struct net *net,
                            struct pool *pool,
                            const struct key_builder_options *o,
                            struct err *e);
void key_builder_free(struct key_builder *kb);  /* NULL is fine */

/* Whether that pool is used from now on (it is at first). */
void key_builder_set_pool(struct key_builder *kb, bool use);

/* ST_LIMIT: a pair is longer than the model can read. On an error no pair has
 * a block. */
enum status key_builder_run(struct key_builder *kb, struct key_pair *pairs,
                            int n, struct err *e);

#endif
