/* kvcache.c - see kvcache.h. */
#include "nn/kvcache.h"

#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "tensor/tensor.h"

static size_t kv_bytes(const struct kvcache *c)
{
    return (size_t)c->slots * c->ld * sizeof *c->kv;
}

enum status kvcache_init(struct kvcache *c, int slots, int layers, int d,
                         struct err *e)
{
    size_t total;
    void *p;

    memset(c, 0, sizeof *c);
    c->slots = slots;
    c->d = d;
    c->layer_ld = 2 * (size_t)d;
    c->ld = c->layer_ld * (size_t)layers + CACHE_SKEW;
    c->parent = mem_alloc((size_t)slots, sizeof *c->parent);
    c->refs = mem_alloc((size_t)slots, sizeof *c->refs);
    c->free_list = mem_alloc((size_t)slots, sizeof *c->free_list);
    if (c->parent && c->refs && c->free_list &&
        !__builtin_mul_overflow((size_t)slots, c->ld * sizeof *c->kv, &total)) {
        /* Reserved, not committed: most sentences use a small part. */
        p = mmap(NULL, total, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED) {
            c->kv = p;
            return ST_OK;
        }
    }
    kvcache_release(c);
    return err_nomem(e, "key/value cache; try a smaller batch or beam");
}

void kvcache_release(struct kvcache *c)
{
    if (c->kv) munmap(c->kv, kv_bytes(c));
    mem_free(c->parent);
    mem_free(c->refs);
    mem_free(c->free_list);
    memset(c, 0, sizeof *c);
}

int32_t kvcache_take(struct kvcache *c, int32_t parent)
{
    int32_t s;

    if (c->n_free > 0) s = c->free_list[--c->n_free];
    else if (c->used < c->slots) s = c->used++;
    else return -1;
    c->parent[s] = parent;
    c->refs[s] = 1;
    if (parent >= 0) c->refs[parent]++;
    return s;
}

void kvcache_hold(struct kvcache *c, int32_t slot)
{
    c->refs[slot]++;
}

void kvcache_drop(struct kvcache *c, int32_t slot)
{
    while (slot >= 0 && --c->refs[slot] == 0) {
        c->free_list[c->n_free++] = slot;
        slot = c->parent[slot];
    }
}
