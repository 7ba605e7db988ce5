/* key_builder.h - compute the keys of stored pairs with the model.
 *
 * This is teacher forcing without the output projection (method 0.3). The
 * tokens of many pairs go through encoder and decoder in one pass. The keys of
 * a pair do not depend on the other pairs of its pass. */
#ifndef KNN_KEY_BUILDER_H
#define KNN_KEY_BUILDER_H

#include "knn/pair_keys.h"
#include "nn/backend.h"

struct key_pair {
    const int32_t *src;         /* [n_src] with special tokens */
    int n_src;
    const int32_t *tgt;         /* [n_tgt] without EOS */
    int n_tgt;
    struct pair_keys *keys;     /* out: owned by the caller; NULL on error */
};

struct key_builder;

struct key_builder_options {
    int rows;                   /* tokens of one pass; raised when a pair needs
                                   more */
    enum key_type type;
    bool with_eos;              /* make an entry for EOS too */
    enum state_kind kind;       /* which state is the key: STATE_FINAL or
                                   STATE_FFN */
    bool no_attention;          /* pair_keys.from is not needed, and stays 0 */
    bool with_sources;          /* set pair_keys.sources */
};

/* backend and pool are borrowed. pool may be NULL. */
enum status key_builder_new(struct key_builder **out,
                            const struct backend *backend, struct pool *pool,
                            const struct key_builder_options *o,
                            struct err *e);
void key_builder_free(struct key_builder *kb);  /* NULL is fine */

/* Turn the use of the pool on or off. It is on at first. */
void key_builder_set_pool(struct key_builder *kb, bool use);

/* Compute the keys of n pairs. Returns ST_LIMIT when a pair is longer than the
 * model can read. After an error the keys of all pairs are NULL. */
enum status key_builder_run(struct key_builder *kb, struct key_pair *pairs,
                            int n, struct err *e);

#endif
