/* mem.h - memory whose size comes from a product, and aligned memory.
 *
 * Sizes are multiplied in size_t with an overflow check; aligned blocks start
 * on a cache line so that vector loads never split one. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

#define MEM_ALIGN 64

void *mem_alloc(size_t n, size_t size);         /* aligned, not cleared */
void *mem_zalloc(size_t n, size_t size);        /* aligned, zeroed */
void mem_free(void *p);                         /* NULL is fine */

/* Make room for `need` items of `size` in *p (plain malloc memory, freed by
 * free()), at least doubling. false: no memory, and *p is as it was. */
bool mem_grow(void *p, size_t *cap, size_t need, size_t size);

#endif
