/* map64.c - a hash table with linear probing.
 *
 * The number of slots is a power of two. At most two thirds of them are in use
 * after the table has grown, and one more may be taken before it grows again.
 * So there is always an unused slot, and every probe ends. */
#include "base/map64.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define FIRST_SLOTS 64

static size_t map64_place(const struct map64 *m, uint64_t key)
{
    return (size_t)((key ^ key >> 32) * 0x9E3779B97F4A7C15u >> 16) & m->mask;
}

void map64_release(struct map64 *m)
{
    free(m->slots);
    memset(m, 0, sizeof *m);
}

void map64_clear(struct map64 *m)
{
    if (m->slots) memset(m->slots, 0, (m->mask + 1) * sizeof *m->slots);
    m->n = 0;
}

/* The slot that holds the key, or the unused one where it belongs. */
static struct map64_slot *map64_slot_of(const struct map64 *m, uint64_t key)
{
    size_t i = map64_place(m, key);

    assert(m->n <= m->mask);            /* one slot is unused */
    while (m->slots[i].used && m->slots[i].key != key) i = (i + 1) & m->mask;
    return &m->slots[i];
}

uint32_t *map64_find(const struct map64 *m, uint64_t key)
{
    struct map64_slot *s = m->slots ? map64_slot_of(m, key) : NULL;

    return s && s->used ? &s->value : NULL;
}

static bool map64_grow(struct map64 *m)
{
    size_t n = m->slots ? (m->mask + 1) * 2 : FIRST_SLOTS;
    struct map64 larger = { calloc(n, sizeof *m->slots), n - 1, m->n };

    assert((n & (n - 1)) == 0 && m->n < n);
    if (!larger.slots) return false;
    for (size_t i = 0; m->slots && i <= m->mask; i++)
        if (m->slots[i].used)
            *map64_slot_of(&larger, m->slots[i].key) = m->slots[i];
    free(m->slots);
    *m = larger;
    return true;
}

uint32_t *map64_put(struct map64 *m, uint64_t key, bool *fresh)
{
    struct map64_slot *s;

    if ((!m->slots || m->n * 3 >= (m->mask + 1) * 2) && !map64_grow(m))
        return NULL;
    s = map64_slot_of(m, key);
    *fresh = !s->used;
    if (*fresh) {
        *s = (struct map64_slot){ key, 0, 1 };
        m->n++;
    }
    return &s->value;
}
