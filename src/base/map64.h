/* map64.h - 64-bit keys to 32-bit numbers, open addressing.
 *
 * Keys are hashes or ids; any value will do. Zeroed struct is an empty map.
 * Nothing is ever removed but all at once. */
#ifndef BASE_MAP64_H
#define BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map64_slot { uint64_t key; uint32_t value; uint32_t used; };
struct map64 {
    struct map64_slot *slots;   /* [mask + 1], or NULL */
    size_t mask, n;
};

void map64_release(struct map64 *m);
void map64_clear(struct map64 *m);              /* keeps the memory */

/* The value's place; NULL: not there. Valid until the next put. */
uint32_t *map64_find(const struct map64 *m, uint64_t key);
/* The value's place, made with value 0 when new (*fresh). NULL: no memory. */
uint32_t *map64_put(struct map64 *m, uint64_t key, bool *fresh);

#endif
