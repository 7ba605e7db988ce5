/* key_fix.h - makes keys of pairs that can be recognized by their number. */
#ifndef KEY_FIX_H
#define KEY_FIX_H

#include "knn/pair_keys.h"
#include "scratch_dir.h"

enum {
    KEY_D = 20,                 /* not a multiple of 16, so keys are padded */
    KEY_VOCAB = 1 << 30
};

static inline struct key_id key_of(int number)
{
    return key_id_of(&number, sizeof number);
}

static inline float key_number(int number, int i, int j)
{
    uint32_t x = (uint32_t)number * 2654435761u + (uint32_t)i * 40503u +
                 (uint32_t)j * 2246822519u;

    x ^= x >> 15;
    x *= 2246822519u;
    return (float)(int32_t)(x ^ x >> 13) / (1 << 28);
}

/* Make n keys that are different for each number. */
static inline struct pair_keys *key_block(enum key_type type, int number, int n)
{
    struct pair_keys *b = NULL;
    float key[KEY_D];

    if (pair_keys_new(&b, type, n, KEY_D, NULL)) return NULL;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < KEY_D; j++) key[j] = key_number(number, i, j);
        pair_keys_put(b, i, key, number * 1000 + i);
        pair_keys_put_from(b, i, (number * 7919 + i * 257) & UINT16_MAX);
    }
    return b;
}

/* Whether the keys are equal bit for bit. The padding must be equal too,
 * because search reads it. */
static inline bool key_same(const struct pair_keys *a,
                            const struct pair_keys *b)
{
    size_t words = (size_t)a->n * 4;
    size_t all = (size_t)a->n * a->ld * (a->type == KEY_INT8 ? 1 : 4);

    return a->type == b->type && a->n == b->n && a->d == b->d &&
           a->ld == b->ld && !memcmp(a->token, b->token, words) &&
           !memcmp(a->scale, b->scale, words) &&
           !memcmp(a->from, b->from, words / 2) &&
           !memcmp(a->keys, b->keys, all);
}

/* Whether b has the keys of this number. Drops b. */
static inline bool key_is(struct pair_keys *b, int number)
{
    struct pair_keys *want = b ? key_block(b->type, number, b->n) : NULL;
    bool same = want && key_same(b, want);

    pair_keys_drop(want);
    pair_keys_drop(b);
    return same;
}

#endif
