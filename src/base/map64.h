/* map64.h - a hash table from 64-bit keys to 32-bit values.
 *
 * Keys are hashes or ids; every value is allowed as a key. A zeroed struct is
 * an empty map. Single entries cannot be removed; map64_clear() removes all. */
#ifndef BASE_MAP64_H
#define BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map64_slot { uint64_t key; uint32_t value; uint32_t used; };
struct map64 {
    struct map64_slot *slots;   /* [mask + 1], a power of two; or NULL */
    size_t mask, n;             /* n: slots in use, at most mask */
};

void map64_release(struct map64 *m);
void map64_clear(struct map64 *m);              /* keeps the memory */

/* A pointer to the value of a key, or NULL if the map does not contain the key.
 * It is valid until the next map64_put(). */
uint32_t *map64_find(const struct map64 *m, uint64_t key);
/* The same, but a key that is not in the map is added with the value 0; *fresh
 * says whether it was. Returns NULL when out of memory. */
uint32_t *map64_put(struct map64 *m, uint64_t key, bool *fresh);

#endif
