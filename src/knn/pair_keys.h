/* pair_keys.h - the keys of one stored pair: decoder states, each with the
 * token that follows it.
 *
 * Keys are stored as 8-bit integers with one scale per key (KEY_INT8), or as
 * 32-bit floats (KEY_F32). Search reads both in place.
 *
 * Invariants:
 *   - The creator fills all n keys before it shares the object. After that the
 *     keys never change, so any number of threads may read them.
 *   - refs counts the owners: the cache, the datastores of sentences, and
 *     pairs on their way to one. The last pair_keys_drop frees the object. */
#ifndef KNN_PAIR_KEYS_H
#define KNN_PAIR_KEYS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "nn/backend.h"

/* Identifies a pair: a hash of its two texts. The same pair has the same id in
 * every memory. */
struct key_id { uint64_t hi, lo; };

struct pair_keys {
    atomic_int refs;
    enum key_type type;
    int n, d;                   /* number of keys, dimensions of a key */
    size_t ld;                  /* d rounded up; the rest is zeros */
    int32_t *token;             /* [n] the values: the token after each state */
    float *scale;               /* [n] KEY_INT8: number = scale * int8 */
    uint16_t *from;             /* [n] the piece of the pair's source that the
                                   state attends to most: counted from 0,
                                   without special tokens */
    void *keys;                 /* [n, ld], aligned to 64 bytes */
    struct pair_keys *sources;  /* the states of the encoder, KEY_F32, with the
                                   tokens of the source; owned; NULL: not
                                   needed */
    size_t bytes;               /* size of the whole allocation */
    uint64_t serial;            /* unique in the process, see struct key_rows */
};

/* Allocate room for n keys. The caller owns one reference, and must put every
 * key. */
enum status pair_keys_new(struct pair_keys **out, enum key_type type, int n,
                          int d, struct err *e);
/* Store key i and its value. NaN gives an unspecified key. */
void pair_keys_put(struct pair_keys *b, int i, const float *key, int32_t token);
/* The same for a key that is quantized already (KEY_INT8 only). Each byte is
 * 128 + the number, as written by `quantize` of struct kernels. The stored
 * bytes are those that pair_keys_put would store. */
void pair_keys_put_bytes(struct pair_keys *b, int i, const uint8_t *key,
                         float scale, int32_t token);

/* Set the source position of key i. It is 0 at first. */
void pair_keys_put_from(struct pair_keys *b, int i, int from);

/* The keys in the form in which a backend reads them. */
struct key_rows pair_keys_rows(const struct pair_keys *b);

struct pair_keys *pair_keys_hold(struct pair_keys *b);  /* returns b */
void pair_keys_drop(struct pair_keys *b);       /* NULL is fine */

/* Read key i back as floats. */
void pair_keys_get(const struct pair_keys *b, int i, float *out);

/* Hash n bytes to an id of 128 bits (XXH3). The hash is not cryptographic: two
 * pairs do not get the same id by chance, but someone could construct such
 * pairs. */
struct key_id key_id_of(const void *bytes, size_t n);
/* The id of a pair with these texts, which have no tags. */
struct key_id key_id_of_pair(struct str source, struct str target);
/* Compare two ids by hi, then lo. A comparison function for qsort. */
int key_id_compare(const void *left, const void *right);

#endif
