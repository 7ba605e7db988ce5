/* kvcache.h - keys and values of decoded tokens, stored as a tree.
 *
 * The hypotheses of a beam share their first tokens. Each decoded token has a
 * slot that holds its keys and values for all layers and the number of the slot
 * of the token before it (its parent). A hypothesis is a leaf together with its
 * path to the root. Reordering a beam copies paths, never keys. When a leaf is
 * dropped, its slot becomes free, and so do the slots before it that no other
 * hypothesis needs.
 *
 * Invariants:
 *   - refs[s] is 0 for a free slot. For a slot in use it is the number of its
 *     children, plus 1 if the caller that took it has not dropped it yet.
 *   - A slot in use has a parent that is in use, or -1.
 *   - The free list holds each free slot below `used` exactly once.
 *
 * Address space is reserved for the worst case, but memory is touched only as
 * far as slots are used, lowest first. A cache belongs to one thread. */
#ifndef NN_KVCACHE_H
#define NN_KVCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct kvcache {
    float *kv;                  /* [slots][layers][2][d], stride ld */
    size_t ld;                  /* floats from one slot to the next */
    size_t layer_ld;            /* floats of one layer in a slot: 2 * d */
    int d;
    int slots, used;            /* used: high-water mark */
    int32_t *parent;            /* [slots], -1 for a first token */
    int32_t *refs;              /* [slots] children, and the holder; 0: free */
    int32_t *free_list;         /* [slots] */
    int n_free;
};

enum status kvcache_init(struct kvcache *c, int slots, int layers, int d,
                         struct err *e);
void kvcache_release(struct kvcache *c);

/* Take a slot that follows `parent` (-1: none). The caller holds it until it
 * drops it. Returns -1 when all slots are in use, which cannot happen to a
 * caller that keeps to the number of slots it asked for. */
int32_t kvcache_take(struct kvcache *c, int32_t parent);
void kvcache_drop(struct kvcache *c, int32_t slot);     /* -1 is fine */

/* Whether the invariants above hold. Walks all slots; for PARANOID_CHECK and
 * tests. */
bool kvcache_sound(const struct kvcache *c);

static inline float *kvcache_keys(const struct kvcache *c, int layer)
{
    return c->kv + (size_t)layer * c->layer_ld;
}
static inline float *kvcache_values(const struct kvcache *c, int layer)
{
    return kvcache_keys(c, layer) + c->d;
}

#endif
