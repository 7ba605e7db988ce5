/* pair_keys.c - allocates the keys of a pair in one block of memory, quantizes
 * them, and counts their owners. pair_keys.h states the invariants. The keys
 * themselves are computed in key_builder.c. */
#include "knn/pair_keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/mem.h"

#define ALIGN 64                /* a key begins a cache line */
#define TINY 1e-30f             /* a key with no larger number is zero */

static size_t number_size(enum key_type type)
{
    return type == KEY_INT8 ? 1 : sizeof(float);
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* The number of the next keys that are made. */
static _Atomic uint64_t next_serial = 1;

enum status pair_keys_new(struct pair_keys **out, enum key_type type, int n,
                          int d, struct err *e)
{
    size_t ld = round_up((size_t)d, ALIGN / number_size(type)),
           rows = (size_t)n;
    size_t head = round_up(sizeof(struct pair_keys), ALIGN);
    size_t words = round_up(rows * (sizeof(int32_t) + sizeof(float) +
                                    sizeof(uint16_t)), ALIGN);
    size_t bytes = head + words + rows * ld * number_size(type);
    char *at = mem_zalloc(bytes, 1);
    struct pair_keys *b = (struct pair_keys *)(void *)at;

    assert(n >= 0 && d > 0);
    *out = b;
    if (!b) return err_nomem(e, "key cache");
    atomic_init(&b->refs, 1);
    b->type = type;
    b->n = n;
    b->d = d;
    b->ld = ld;
    b->token = (int32_t *)(void *)(at + head);
    b->scale = (float *)(void *)(b->token + n);
    b->from = (uint16_t *)(void *)(b->scale + n);
    b->keys = at + head + words;
    b->bytes = bytes;
    b->serial = atomic_fetch_add(&next_serial, 1);
    return ST_OK;
}

struct key_rows pair_keys_rows(const struct pair_keys *b)
{
    return (struct key_rows){ b->type, b->n, b->d, b->ld, b->keys, b->scale,
                              b->serial };
}

void pair_keys_put(struct pair_keys *b, int i, const float *key, int32_t token)
{
    size_t row = (size_t)i * b->ld;
    float most = 0;
    int8_t *to = (int8_t *)b->keys + row;

    assert(i >= 0 && i < b->n);
    b->token[i] = token;
    b->scale[i] = 1;
    if (b->type == KEY_F32) {
        memcpy((float *)b->keys + row, key, (size_t)b->d * sizeof *key);
        return;
    }
    for (int j = 0; j < b->d; j++) most = fmaxf(most, fabsf(key[j]));
    if (!(most > TINY)) return;
    b->scale[i] = most / 127;
    for (int j = 0; j < b->d; j++)
        to[j] = (int8_t)lrintf(key[j] * (127 / most));
}

void pair_keys_put_bytes(struct pair_keys *b, int i, const uint8_t *key,
                         float scale, int32_t token)
{
    uint8_t *to = (uint8_t *)b->keys + (size_t)i * b->ld;
    size_t d = (size_t)b->d, j = 0;

    assert(i >= 0 && i < b->n && b->type == KEY_INT8);
    b->token[i] = token;
    b->scale[i] = scale;
    for (; j + 8 <= d; j += 8) {
        uint64_t eight;

        memcpy(&eight, key + j, sizeof eight);
        eight ^= UINT64_C(0x8080808080808080);  /* subtract 128 */
        memcpy(to + j, &eight, sizeof eight);
    }
    for (; j < d; j++) to[j] = key[j] ^ 0x80;
}

void pair_keys_put_from(struct pair_keys *b, int i, int from)
{
    assert(i >= 0 && i < b->n && from >= 0 && from <= UINT16_MAX);
    b->from[i] = (uint16_t)from;
}

void pair_keys_get(const struct pair_keys *b, int i, float *out)
{
    size_t row = (size_t)i * b->ld;

    assert(i >= 0 && i < b->n);
    for (int j = 0; j < b->d; j++)
        out[j] = b->type == KEY_F32
            ? ((const float *)b->keys)[row + (size_t)j]
            : b->scale[i] * (float)((const int8_t *)b->keys)[row + (size_t)j];
}

struct pair_keys *pair_keys_hold(struct pair_keys *b)
{
    int refs = atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);

    assert(refs > 0);
    (void)refs;
    return b;
}

void pair_keys_drop(struct pair_keys *b)
{
    int refs;

    if (!b) return;
    refs = atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel);
    assert(refs > 0);
    if (refs != 1) return;
    pair_keys_drop(b->sources);
    mem_free(b);
}

struct key_id key_id_of(const void *bytes, size_t n)
{
    XXH128_hash_t h = XXH3_128bits(bytes, n);

    return (struct key_id){ h.high64, h.low64 };
}

struct key_id key_id_of_pair(struct str source, struct str target)
{
    struct key_id both[] = { key_id_of(source.p, source.n),
                             key_id_of(target.p, target.n) };

    return key_id_of(both, sizeof both);
}

int key_id_compare(const void *left, const void *right)
{
    const struct key_id *a = left, *b = right;

    if (a->hi != b->hi) return a->hi < b->hi ? -1 : 1;
    return a->lo < b->lo ? -1 : a->lo > b->lo;
}
