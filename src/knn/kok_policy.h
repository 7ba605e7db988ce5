/* kok_policy.h - the policy of KoK (Wang et al. 2022): the weight of the memory
 * is learned from earlier corrections, by a second nearest-neighbor search
 * (method 6).
 *
 * The token store has the states of the corrections so far, and its K nearest
 * entries vote as in kNN-MT. The policy store has one entry for each token of a
 * correction. Its key describes what the search in the token store had found
 * before the token, and its value says whether the memory was better than the
 * model there:
 *
 *   w     = weight * (1/2, 1/4, .., 2^-(K-1), 2^-(K-1))
 *   key   = (w_1 d2_1, .., w_K d2_K, w_K c_1, w_(K-1) c_2, .., w_1 c_K)
 *   value = p_model(y) < p_tok(y)
 *
 * d2_j is the squared distance of neighbor j, c_j the number of distinct tokens
 * among the first j, y the right token, and p_tok the distribution of the
 * neighbors. For a step of a translation, the key is made in the same way, and
 * the K nearest entries of the policy store are found:
 *
 *   lambda = sum of softmax(-D2 / T_p) over those whose value is 1
 *
 * lambda is 0 if one of the stores has fewer than K entries, or if the nearest
 * token entry is too far. */
#ifndef KNN_KOK_POLICY_H
#define KNN_KOK_POLICY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "knn/weigh.h"

enum { KOK_MOST = 32 };         /* the largest K */

struct kok_options {
    int k;                      /* of both searches, 1 .. KOK_MOST */
    double temperature;         /* of p_tok */
    double policy_temperature;  /* T_p */
    double weight;              /* the sum of w */
    double sure, sure_lambda;   /* a lambda above `sure` becomes sure_lambda */
    double farthest;            /* lambda is 0 if d2_1 is above this */
};
/* The published values: 8, 10, 10, 0.5, 0.99 and 0.9999, 100. */
struct kok_options kok_options_defaults(void);
/* Fails with ST_ARGUMENT, and says which value is out of range. */
enum status kok_options_check(const struct kok_options *o, struct err *e);

/* ---- the formulas -------------------------------------------------------- */

/* In all functions, nb are n neighbors from the token store, nearest first, and
 * n is at most k. */

/* w [k] */
void kok_weights(const struct kok_options *o, double *w);
/* Make the key [2 k]. Returns false if fewer than k neighbors have a finite
 * distance; then there is no key. */
bool kok_key(const struct kok_options *o, const struct neighbor *nb, int n,
             float *key);
/* p_tok(token) */
double kok_token_prob(const struct kok_options *o, const struct neighbor *nb,
                      int n, int32_t token);

/* ---- the policy store ---------------------------------------------------- */

/* The entries of one corrected sentence.
 *
 * Invariants:
 *   - The creator puts all entries before it shares the object. After that they
 *     never change, so any number of threads may read them.
 *   - holders counts the owners: policies, and the creator. The last
 *     kok_block_drop frees the object. */
struct kok_block;               /* opaque */

/* Allocate room for `most` entries. The caller is the first holder. */
enum status kok_block_new(struct kok_block **out, int most, int k,
                          struct err *e);
/* Append the entry of a step. The neighbors are those in the token store as it
 * was before the sentence. `model` is the model's probability of the right
 * token. Nothing is appended if the neighbors give no key. */
void kok_block_put(struct kok_block *b, const struct kok_options *o,
                   const struct neighbor *nb, int n, int32_t right,
                   double model);
int kok_block_count(const struct kok_block *b);
void kok_block_drop(struct kok_block *b);       /* NULL is fine */

/* A policy store: the blocks of the corrections so far. It grows by whole
 * blocks. A reader makes a copy, which shares the blocks and does not change
 * when the original grows.
 *
 * Invariants:
 *   - The policy holds each of its blocks, and all of them have the same k.
 *   - n is the number of entries of all blocks. */
struct kok_policy {
    struct kok_block **blocks;  /* [n_blocks] held */
    int n_blocks;
    size_t cap;
    size_t n;
};
void kok_policy_init(struct kok_policy *p);     /* empty */
void kok_policy_release(struct kok_policy *p);  /* it is empty then */
/* Append a block. The policy holds it. */
enum status kok_policy_add(struct kok_policy *p, struct kok_block *b,
                           struct err *e);
/* Make *to, which is empty, a copy. On failure it stays empty. */
enum status kok_policy_copy(struct kok_policy *to, const struct kok_policy *p,
                            struct err *e);

/* ---- a step of a translation --------------------------------------------- */

/* An entry of the policy store that was found. */
struct kok_found { double d2; bool value; };
/* Find the k nearest entries of a key, nearest first, equal ones in the order
 * in which they were added. Returns their number, which is less than k if there
 * are fewer. Allocates nothing. */
int kok_policy_nearest(const struct kok_policy *p, int k, const float *key,
                       struct kok_found *out);
/* lambda of a step */
float kok_policy_lambda(const struct kok_policy *p,
                        const struct kok_options *o,
                        const struct neighbor *nb, int n);
/* The same as a mixture: p = lambda p_tok + (1 - lambda) p_model. */
void kok_policy_decide(const struct kok_policy *p, const struct kok_options *o,
                       const struct neighbor *nb, int n,
                       struct knn_mixture *out);

#endif
