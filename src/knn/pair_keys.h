/* pair_keys.h - the keys of one memory pair: decoder states, and the token
 * that came after each.
 *
 * A block is filled once, by whoever made it, and never changed after; it is
 * counted, so that a cache, a file's reader and any number of sentences can
 * share it. Keys are kept compact, eight bits a number with a scale for each
 * key, or as they are; either way search reads them in place. */
#ifndef KNN_PAIR_KEYS_H
#define KNN_PAIR_KEYS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum key_type { KEY_INT8, KEY_F32 };

/* Which pair: a hash of its texts, so that the same pair has the same id
 * wherever it is stored. */
struct key_id { uint64_t hi, lo; };

struct pair_keys {
    atomic_int refs;
    enum key_type type;
    int n, d;                   /* keys, numbers of each */
    size_t ld;                  /* numbers of a key, padded with zeros */
    int32_t *token;             /* [n] the values: what came next */
    float *scale;               /* [n] KEY_INT8: number = scale * int8 */
    void *keys;                 /* [n, ld], aligned to 64 bytes */
    size_t bytes;               /* of all this */
};

/* Room for n keys, held once by the caller; all must be put. */
enum status pair_keys_new(struct pair_keys **out, enum key_type type, int n,
                          int d, struct err *e);
void pair_keys_put(struct pair_keys *b, int i, const float *key, int32_t token);
/* KEY_INT8, and the numbers are there already: 128 + the number for each, as
 * struct kernels' quantize has them. The same bytes as pair_keys_put's. */
void pair_keys_put_bytes(struct pair_keys *b, int i, const uint8_t *key,
                         float scale, int32_t token);

struct pair_keys *pair_keys_hold(struct pair_keys *b);  /* returns b */
void pair_keys_drop(struct pair_keys *b);       /* NULL is fine */

/* Key i as numbers again. */
void pair_keys_get(const struct pair_keys *b, int i, float *out);

/* A hash of 128 bits (XXH3). It is not cryptographic: two pairs do not get the
 * same id by chance, but somebody could construct such pairs. */
struct key_id key_id_of(const void *bytes, size_t n);
/* By hi, then lo, as qsort wants it. */
int key_id_compare(const void *left, const void *right);

#endif
