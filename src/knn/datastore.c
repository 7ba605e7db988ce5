/* datastore.c - see datastore.h. */
#include "knn/datastore.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { KEYS = 64, QUERIES = 8 };        /* distances computed at a time */

void datastore_release(struct datastore *ks)
{
    for (int i = 0; i < ks->n_blocks; i++) pair_keys_drop(ks->blocks[i]);
    free(ks->blocks);
    memset(ks, 0, sizeof *ks);
}

enum status datastore_add(struct datastore *ks, struct pair_keys *b,
                          struct err *e)
{
    if (!mem_grow(&ks->blocks, &ks->cap, (size_t)ks->n_blocks + 1,
                  sizeof *ks->blocks))
        return err_nomem(e, "memory keys");
    ks->blocks[ks->n_blocks++] = pair_keys_hold(b);
    ks->n += b->n;
    return ST_OK;
}

/* Into the list of one query, which has n of at most k; returns how many it
 * has then. */
static int datastore_insert(struct neighbor *list, int n, int k,
                            struct neighbor nb)
{
    int at = n;

    if (n == k && !(nb.d2 < list[k - 1].d2)) return n;
    if (n < k) n++;
    else at = k - 1;
    for (; at > 0 && nb.d2 < list[at - 1].d2; at--) list[at] = list[at - 1];
    list[at] = nb;
    return n;
}

struct datastore_scan {         /* a few queries over the whole store */
    const struct kernels *kn;
    const float *q;
    size_t ldq;
    int n_q, k;
    struct neighbor *out;      /* [n_q, k] */
    int found;                  /* of each */
};

/* Keys [from, from + n) of a block. */
static void scan_keys(struct datastore_scan *s, const struct pair_keys *b,
                      int pair, int from, int n)
{
    float d2[QUERIES * KEYS];
    size_t size = b->type == KEY_INT8 ? 1 : sizeof(float);
    struct distances a = {
        .q = s->q, .ldq = s->ldq, .n_q = s->n_q, .d = b->d, .n = n,
        .keys = (const char *)b->keys + (size_t)from * b->ld * size,
        .ldk = b->ld, .scale = b->scale + from, .out = d2, .ldo = KEYS,
    };
    int found = s->found;

    if (b->type == KEY_INT8) s->kn->distances_i8(&a);
    else s->kn->distances_f32(&a);
    for (int q = 0; q < s->n_q; q++) {
        found = s->found;
        for (int i = 0; i < n; i++)
            found = datastore_insert(
                s->out + (size_t)q * (size_t)s->k, found, s->k,
                (struct neighbor){ d2[q * KEYS + i], b->token[from + i], pair,
                                   from + i });
    }
    s->found = found;
}

static int scan_store(const struct datastore *ks, struct datastore_scan *s)
{
    for (int p = 0; p < ks->n_blocks; p++) {
        const struct pair_keys *b = ks->blocks[p];

        for (int i = 0; i < b->n; i += KEYS)
            scan_keys(s, b, p, i, b->n - i < KEYS ? b->n - i : KEYS);
    }
    return s->found;
}

int datastore_nearest(const struct datastore *ks, const struct kernels *kn,
                      const float *queries, size_t ldq, int n_q, int k,
                      struct neighbor *out)
{
    int found = 0;

    for (int q = 0; q < n_q; q += QUERIES) {
        struct datastore_scan s = { kn, queries + (size_t)q * ldq, ldq,
                          n_q - q < QUERIES ? n_q - q : QUERIES, k,
                          out + (size_t)q * (size_t)k, 0 };

        found = scan_store(ks, &s);
    }
    return found;
}

int datastore_ahead(const struct datastore *ks, const struct neighbor *nb,
                    const int32_t **tokens)
{
    const struct pair_keys *b = ks->blocks[nb->pair];

    *tokens = b->token + nb->pos + 1;
    return b->n - nb->pos - 1;
}
