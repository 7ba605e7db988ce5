/* string_ids.c - a hash table with linear probing.
 *
 * Invariants: mask + 1 is a power of two and at least twice n; every string has
 * exactly one slot. */
#include "text/string_ids.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"

void string_ids_release(struct string_ids *t)
{
    if (t->bytes.data) strbuf_release(&t->bytes);
    free(t->end);
    free(t->slot);
    *t = (struct string_ids){ 0 };
}

struct str string_ids_text(const struct string_ids *t, int32_t id)
{
    uint32_t begin = id > 0 ? t->end[id - 1] : 0;

    assert(id >= 0 && (size_t)id < t->n);
    return (struct str){ t->bytes.data + begin, t->end[id] - begin };
}

/* The slot of a string, or the empty one where it belongs. */
static size_t slot_of(const struct string_ids *t, struct str s)
{
    size_t i = XXH3_64bits(s.p, s.n) & t->mask;

    while (t->slot[i]
           && !str_eq(string_ids_text(t, (int32_t)t->slot[i] - 1), s))
        i = (i + 1) & t->mask;
    return i;
}

static bool string_ids_grow(struct string_ids *t)
{
    size_t size = t->slot ? 2 * (t->mask + 1) : 64;
    uint32_t *slot = calloc(size, sizeof *slot);

    if (!slot) return false;
    free(t->slot);
    t->slot = slot;
    t->mask = size - 1;
    for (size_t id = 0; id < t->n; id++)
        t->slot[slot_of(t, string_ids_text(t, (int32_t)id))] =
            (uint32_t)id + 1;
    return true;
}

int32_t string_ids_find(const struct string_ids *t, struct str s)
{
    if (!t->slot) return -1;
    return (int32_t)t->slot[slot_of(t, s)] - 1;
}

int32_t string_ids_add(struct string_ids *t, struct str s)
{
    int32_t id = string_ids_find(t, s);

    if (id >= 0) return id;
    if (!t->bytes.data) strbuf_init(&t->bytes, UINT32_MAX);
    if ((!t->slot || 2 * (t->n + 1) > t->mask + 1) && !string_ids_grow(t))
        return -1;
    if (t->n == INT32_MAX
        || !mem_grow(&t->end, &t->cap, t->n + 1, sizeof *t->end)
        || !strbuf_add(&t->bytes, s.p, s.n)) return -1;
    t->slot[slot_of(t, s)] = (uint32_t)t->n + 1;
    t->end[t->n] = (uint32_t)t->bytes.len;
    return (int32_t)t->n++;
}
