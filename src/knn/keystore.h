/* keystore.h - what the memory says: decoder states and the token after each.
 *
 * The datastore of one sentence (SK-MT: method 1.7): for each of its memory
 * pairs, in order, one entry per target token. It is small - a few hundred
 * entries - and searched whole; all hypotheses of the sentence share it. An
 * entry knows its pair and position, so that every vote can be explained. */
#ifndef KNN_KEYSTORE_H
#define KNN_KEYSTORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct key_entry {
    int32_t token;              /* the value: what came next */
    int32_t pair, pos;          /* whose, and where in its target */
};

struct keystore {               /* keystore_init'ed, then grows */
    int d;
    size_t ld;                  /* floats of a key, padded */
    size_t n, cap_keys, cap_entries;
    float *keys;                /* [n, ld], aligned */
    struct key_entry *entries;      /* [n] */
};

void keystore_init(struct keystore *ks, int d);
void keystore_release(struct keystore *ks);
void keystore_reset(struct keystore *ks);       /* empty, keeps the memory */

/* Room for n more entries, filled by the caller from ks->n on. */
enum status keystore_reserve(struct keystore *ks, size_t n, struct err *e);

struct neighbour {
    float d2;                   /* squared L2 distance */
    int32_t at;                 /* entry */
};
/* The k nearest entries, nearest first, equal distances by lower entry.
 * Returns how many: min(k, n). */
int keystore_nearest(const struct keystore *ks, const float *query, int k,
                     struct neighbour *out);

#endif
