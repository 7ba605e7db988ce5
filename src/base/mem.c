/* mem.c - allocates cache-line-aligned blocks and grows arrays. All sizes are
 * products that are checked for overflow. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

void *mem_alloc(size_t n, size_t size)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(n, size, &bytes) ||
        bytes > SIZE_MAX - MEM_ALIGN)
        return NULL;
    bytes = (bytes + MEM_ALIGN) / MEM_ALIGN * MEM_ALIGN;
    if (posix_memalign(&p, MEM_ALIGN, bytes)) return NULL;
    assert((uintptr_t)p % MEM_ALIGN == 0);
    return p;
}

void *mem_zalloc(size_t n, size_t size)
{
    void *p = mem_alloc(n, size);

    if (p) memset(p, 0, n * size);
    return p;
}

void mem_free(void *p)
{
    free(p);
}

bool mem_grow(void *p, size_t *cap, size_t need, size_t size)
{
    size_t want = *cap * 2 > need ? *cap * 2 : need;
    size_t bytes;
    void *old, *new;

    if (need <= *cap) return true;
    if (want < 16) want = 16;
    if (__builtin_mul_overflow(want, size, &bytes)) return false;
    memcpy(&old, p, sizeof old);        /* p points to any pointer type */
    assert(size > 0 && (old || *cap == 0));
    new = realloc(old, bytes);
    if (!new) return false;
    memcpy(p, &new, sizeof new);
    *cap = want;
    return true;
}
