/* mem.h - aligned memory, and arrays that grow.
 *
 * The number of bytes is n * size, computed with an overflow check. An aligned
 * block starts on a cache line, so an aligned vector load never crosses one.
 * Functions return NULL or false when out of memory. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

#define MEM_ALIGN 64

void *mem_alloc(size_t n, size_t size);         /* aligned, not cleared */
void *mem_zalloc(size_t n, size_t size);        /* aligned, zeroed */
void mem_free(void *p);                         /* NULL is fine */

/* p points to a pointer to an array of *cap items of `size` bytes each, in
 * malloc memory (NULL when *cap is 0). Enlarge the array so that it has room
 * for `need` items; it at least doubles. On failure nothing changes. */
bool mem_grow(void *p, size_t *cap, size_t need, size_t size);

#endif
