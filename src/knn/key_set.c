/* key_set.c - a hash table with open addressing. The ids are hashes already, so
 * their low bits choose the slot. At most half of the slots are in use. */
#include "knn/key_set.h"

#include <stdlib.h>

#include "base/invariant.h"

static bool is_empty(struct key_id id) { return !id.hi && !id.lo; }

/* The slot that has the id, or the empty slot where it belongs. */
static size_t key_set_slot(const struct key_set *s, struct key_id id)
{
    size_t at = (size_t)id.lo & s->mask;

    while (!is_empty(s->slots[at]) && key_id_compare(&s->slots[at], &id))
        at = (at + 1) & s->mask;
    return at;
}

void key_set_release(struct key_set *s)
{
    free(s->slots);
    *s = (struct key_set){ 0 };
}

bool key_set_has(const struct key_set *s, struct key_id id)
{
    if (is_empty(id)) return s->has_zeros;
    return s->slots && !is_empty(s->slots[key_set_slot(s, id)]);
}

static bool key_set_grow(struct key_set *s)
{
    struct key_set bigger = { .mask = s->slots ? 2 * s->mask + 1 : 63 };

    bigger.slots = calloc(bigger.mask + 1, sizeof *bigger.slots);
    if (!bigger.slots) return false;
    for (size_t i = 0; s->slots && i <= s->mask; i++)
        if (!is_empty(s->slots[i]))
            bigger.slots[key_set_slot(&bigger, s->slots[i])] = s->slots[i];
    free(s->slots);
    s->slots = bigger.slots;
    s->mask = bigger.mask;
    return true;
}

bool key_set_add(struct key_set *s, struct key_id id)
{
    if (is_empty(id)) {
        s->has_zeros = true;
        return true;
    }
    if ((!s->slots || 2 * (s->n + 1) > s->mask + 1) && !key_set_grow(s))
        return false;
    if (!is_empty(s->slots[key_set_slot(s, id)])) return true;
    s->slots[key_set_slot(s, id)] = id;
    s->n++;
    assert(2 * s->n <= s->mask + 1);
    return true;
}
