/* kvcache.h - keys and values of decoded tokens, as a tree.
 *
 * Hypotheses of a beam share their beginnings. Each decoded token has a slot
 * holding its keys and values in all layers, and knows the slot of the token
 * before it; a hypothesis is a leaf and its path to the root. When a beam is
 * reordered nothing is copied but paths; when a leaf is dropped, its slot and
 * those before it that no other hypothesis needs become free again.
 *
 * The memory is reserved for the worst case but touched only as far as slots
 * are used, lowest first. One thread's. */
#ifndef NN_KVCACHE_H
#define NN_KVCACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct kvcache {
    float *kv;                  /* [slots][layers][2][d], slots ld apart */
    size_t ld;                  /* floats of a slot */
    size_t layer_ld;            /* floats of a layer in it: 2 * d */
    int d;
    int slots, used;            /* used: high-water mark */
    int32_t *parent;            /* [slots], -1 for a first token */
    int32_t *refs;              /* [slots] children and holders */
    int32_t *free_list;         /* [slots] */
    int n_free;
};

enum status kvcache_init(struct kvcache *c, int slots, int layers, int d,
                         struct err *e);
void kvcache_release(struct kvcache *c);

/* A slot after `parent` (-1: none), held once by the caller; -1 when all are
 * taken, which a caller that respects its own limits never sees. */
int32_t kvcache_take(struct kvcache *c, int32_t parent);
void kvcache_hold(struct kvcache *c, int32_t slot);
void kvcache_drop(struct kvcache *c, int32_t slot);     /* -1 is fine */

static inline float *kvcache_keys(const struct kvcache *c, int layer)
{
    return c->kv + (size_t)layer * c->layer_ld;
}
static inline float *kvcache_values(const struct kvcache *c, int layer)
{
    return kvcache_keys(c, layer) + c->d;
}

#endif
