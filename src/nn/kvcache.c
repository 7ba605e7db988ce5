/* kvcache.c - slots for the keys and values of decoded tokens, with reference
 * counts. kvcache.h states the invariants. This file computes no attention. */
#include "nn/kvcache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/invariant.h"
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

    assert(slots > 0 && layers > 0 && d > 0);
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
        /* Reserve address space without committing memory: most sentences
         * use a small part of it. */
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

    assert(parent >= -1 && parent < c->used);
    assert(parent < 0 || c->refs[parent] > 0);
    if (c->n_free > 0) {
        s = c->free_list[--c->n_free];
        assert(s >= 0 && s < c->used && c->refs[s] == 0);
    } else if (c->used < c->slots) {
        s = c->used++;
    } else {
        return -1;
    }
    c->parent[s] = parent;
    c->refs[s] = 1;
    if (parent >= 0) c->refs[parent]++;
    return s;
}

void kvcache_drop(struct kvcache *c, int32_t slot)
{
    assert(slot < c->used);
    while (slot >= 0) {
        assert(c->refs[slot] > 0);
        if (--c->refs[slot] > 0) return;
        assert(c->n_free < c->used);
        c->free_list[c->n_free++] = slot;
        slot = c->parent[slot];
    }
}

/* Whether each slot has at least as many references as children, and a free
 * slot none of either. */
static bool kvcache_counts_sound(const struct kvcache *c, int32_t *children)
{
    int n_free = 0;

    for (int s = 0; s < c->used; s++) {
        if (c->refs[s] < 0) return false;
        n_free += c->refs[s] == 0;
        if (c->refs[s] == 0 || c->parent[s] < 0) continue;
        if (c->parent[s] >= c->used) return false;
        children[c->parent[s]]++;
    }
    for (int s = 0; s < c->used; s++)
        if (children[s] > c->refs[s]) return false;
    return n_free == c->n_free;
}

static bool kvcache_free_list_sound(const struct kvcache *c, int32_t *listed)
{
    for (int i = 0; i < c->n_free; i++) {
        int32_t s = c->free_list[i];

        if (s < 0 || s >= c->used || c->refs[s] || listed[s]++) return false;
    }
    return true;
}

bool kvcache_sound(const struct kvcache *c)
{
    size_t n = (size_t)c->used + 1;
    int32_t *counts = calloc(2 * n, sizeof *counts);
    bool sound;

    if (!counts) return true;           /* no memory to find out */
    sound = c->used <= c->slots && kvcache_counts_sound(c, counts) &&
            kvcache_free_list_sound(c, counts + n);
    free(counts);
    return sound;
}
