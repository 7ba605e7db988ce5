/* keystore.c - see keystore.h. */
#include "knn/keystore.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define LANES 16                /* sums side by side; keys are padded to it */

void keystore_init(struct keystore *ks, int d)
{
    memset(ks, 0, sizeof *ks);
    ks->d = d;
    ks->ld = ((size_t)d + LANES - 1) / LANES * LANES;
}

void keystore_release(struct keystore *ks)
{
    mem_free(ks->keys);
    free(ks->entries);
    keystore_init(ks, ks->d);
}

void keystore_reset(struct keystore *ks) { ks->n = 0; }

static bool grow_keys(struct keystore *ks, size_t need)
{
    size_t cap = ks->cap_keys ? ks->cap_keys : 64;
    float *keys;

    if (need <= ks->cap_keys) return true;
    while (cap < need) cap *= 2;
    keys = mem_zalloc(cap, ks->ld * sizeof *keys);      /* padding is zero */
    if (!keys) return false;
    if (ks->n) memcpy(keys, ks->keys, ks->n * ks->ld * sizeof *keys);
    mem_free(ks->keys);
    ks->keys = keys;
    ks->cap_keys = cap;
    return true;
}

enum status keystore_reserve(struct keystore *ks, size_t n, struct err *e)
{
    size_t need = ks->n + n;

    if (!grow_keys(ks, need) ||
        !mem_grow(&ks->entries, &ks->cap_entries, need, sizeof *ks->entries))
        return err_nomem(e, "memory keys");
    return ST_OK;
}

/* Differences are taken before squaring: |h|^2 + |k|^2 - 2 h k would lose the
 * small distances, which are those that matter, to rounding. */
static float distance2(const float *a, const float *b, int d)
{
    float sum[LANES] = { 0 };
    int i = 0;

    for (; i + LANES <= d; i += LANES)
        for (int l = 0; l < LANES; l++) {
            float x = a[i + l] - b[i + l];

            sum[l] += x * x;
        }
    for (int l = 0; i + l < d; l++) {
        float x = a[i + l] - b[i + l];

        sum[l] += x * x;
    }
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) sum[l] += sum[l + half];
    return sum[0];
}

int keystore_nearest(const struct keystore *ks, const float *query, int k,
                     struct neighbour *out)
{
    int n = 0;

    for (size_t i = 0; i < ks->n; i++) {
        struct neighbour nb = { distance2(query, ks->keys + i * ks->ld,
                                          ks->d), (int32_t)i };
        int at = n;

        if (n == k && !(nb.d2 < out[k - 1].d2)) continue;
        if (n < k) n++;
        else at = k - 1;
        for (; at > 0 && nb.d2 < out[at - 1].d2; at--) out[at] = out[at - 1];
        out[at] = nb;
    }
    return n;
}
