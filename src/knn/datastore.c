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
    datastore_init(ks);
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
    struct finder_query q;
    int k;
    struct neighbor *out;       /* [q.n, k] */
    int found;                  /* neighbors of each query so far */
};

/* Compare the queries with keys [from, from + n) of a pair. */
static enum status scan_keys(struct datastore_scan *s,
                             const struct pair_keys *b, int pair, int from,
                             int n, struct err *e)
{
    float d2[QUERIES * KEYS];
    struct key_rows keys = pair_keys_rows(b);
    int found = s->found;
    enum status st = s->q.x->ops->distances(s->q.x, s->q.row, s->q.n, &keys,
                                            from, n, d2, KEYS, e);

    assert(n > 0 && n <= KEYS && s->q.n > 0 && s->q.n <= QUERIES);
    if (st) return st;
    for (int q = 0; q < s->q.n; q++) {
        found = s->found;
        for (int i = 0; i < n; i++)
            found = datastore_insert(
                s->out + (size_t)q * (size_t)s->k, found, s->k,
                (struct neighbor){ d2[q * KEYS + i], b->token[from + i], pair,
                                   from + i, 0 });
    }
    s->found = found;
    return ST_OK;
}

/* Whether the neighbors of a query are sorted by distance. */
static inline bool neighbors_sorted(const struct neighbor *nb, int n)
{
    for (int i = 1; i < n; i++)
        if (nb[i].d2 < nb[i - 1].d2) return false;
    return true;
}

static enum status scan_store(const struct datastore *ks,
                              struct datastore_scan *s, struct err *e)
{
    enum status st = ST_OK;

    for (int p = 0; p < ks->n_pairs; p++) {
        const struct pair_keys *b = ks->pairs[p];

        for (int i = 0; !st && i < b->n; i += KEYS)
            st = scan_keys(s, b, p, i, b->n - i < KEYS ? b->n - i : KEYS, e);
    }
    return st;
}

static enum status datastore_nearest(const struct finder *f,
                                     const struct finder_query *query, int k,
                                     struct neighbor *out, int *found,
                                     struct err *e)
{
    const struct datastore *ks = (const struct datastore *)(const void *)f;
    enum status st = ST_OK;

    assert(k >= 1 && query->n >= 0);
    *found = 0;
    for (int q = 0; !st && q < query->n; q += QUERIES) {
        struct datastore_scan s = {
            { query->x, query->row + q,
              query->n - q < QUERIES ? query->n - q : QUERIES },
            k, out + (size_t)q * (size_t)k, 0 };

        st = scan_store(ks, &s, e);
        *found = s.found;
        assert(st || s.found == (k < ks->n ? k : ks->n));
        assert(st || neighbors_sorted(s.out, s.found));
    }
    return st;
}

void datastore_init(struct datastore *ks)
{
    static const struct finder_ops ops = { datastore_nearest };

    *ks = (struct datastore){ .finder = { &ops } };
}
