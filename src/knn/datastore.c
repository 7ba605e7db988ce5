/* datastore.c - collects the keys of a sentence's pairs and finds the entries
 * nearest to a decoder state, by comparing it with all of them. What neighbors
 * mean for the translation is decided in weigh.c. */
#include "knn/datastore.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"

/* How many distances one call of the kernel computes. */
enum { KEYS = 64, QUERIES = 8 };

void datastore_release(struct datastore *ks)
{
    for (int i = 0; i < ks->n_pairs; i++) pair_keys_drop(ks->pairs[i]);
    free(ks->pairs);
    memset(ks, 0, sizeof *ks);
}

enum status datastore_add(struct datastore *ks, struct pair_keys *b,
                          struct err *e)
{
    assert(!ks->n_pairs || (b->type == ks->pairs[0]->type &&
                            b->d == ks->pairs[0]->d));
    if (!mem_grow(&ks->pairs, &ks->cap, (size_t)ks->n_pairs + 1,
                  sizeof *ks->pairs))
        return err_nomem(e, "neighbor search");
    ks->pairs[ks->n_pairs++] = pair_keys_hold(b);
    ks->n += b->n;
    PARANOID_CHECK(datastore_sound(ks));
    return ST_OK;
}

bool datastore_sound(const struct datastore *ks)
{
    int n = 0;

    for (int i = 0; i < ks->n_pairs; i++) {
        const struct pair_keys *b = ks->pairs[i];

        if (atomic_load(&b->refs) < 1 || b->type != ks->pairs[0]->type ||
            b->d != ks->pairs[0]->d)
            return false;
        n += b->n;
    }
    return n == ks->n && (size_t)ks->n_pairs <= ks->cap;
}

/* Insert a neighbor into the sorted list of one query, which has n of at most k
 * entries. Of equal distances the one inserted first stays first. Returns the
 * new number of entries. */
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

struct datastore_scan {         /* up to QUERIES queries over all entries */
    const struct kernels *kn;
    const float *q;
    size_t ldq;
    int n_q, k;
    struct neighbor *out;       /* [n_q, k] */
    int found;                  /* neighbors of each query so far */
};

/* Compare the queries with keys [from, from + n) of a pair. */
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

    assert(n > 0 && n <= KEYS && s->n_q > 0 && s->n_q <= QUERIES);
    assert(from >= 0 && from + n <= b->n);
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

/* Whether the neighbors of a query are sorted by distance. */
static inline bool neighbors_sorted(const struct neighbor *nb, int n)
{
    for (int i = 1; i < n; i++)
        if (nb[i].d2 < nb[i - 1].d2) return false;
    return true;
}

static int scan_store(const struct datastore *ks, struct datastore_scan *s)
{
    for (int p = 0; p < ks->n_pairs; p++) {
        const struct pair_keys *b = ks->pairs[p];

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

    assert(k >= 1 && n_q >= 0);
    for (int q = 0; q < n_q; q += QUERIES) {
        struct datastore_scan s = {
            kn, queries + (size_t)q * ldq, ldq,
            n_q - q < QUERIES ? n_q - q : QUERIES, k,
            out + (size_t)q * (size_t)k, 0 };

        found = scan_store(ks, &s);
        assert(found == (k < ks->n ? k : ks->n));
        assert(neighbors_sorted(s.out, found));
    }
    return found;
}

int datastore_ahead(const struct datastore *ks, const struct neighbor *nb,
                    const int32_t **tokens)
{
    const struct pair_keys *b = ks->pairs[nb->pair];

    assert(nb->pair >= 0 && nb->pair < ks->n_pairs);
    assert(nb->pos >= -1 && nb->pos < b->n);    /* -1: before the first */
    *tokens = b->token + nb->pos + 1;
    return b->n - nb->pos - 1;
}
