/* kok_policy.c - makes the keys and values of KoK's policy store, keeps them in
 * blocks, and computes lambda from the nearest ones. The token store is not
 * here: its neighbors are given. kok_policy.h has the formulas. */
#include "knn/kok_policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"

/* ---- options ------------------------------------------------------------- */

struct kok_options kok_options_defaults(void)
{
    return (struct kok_options){ .k = 8, .temperature = 10,
                                 .policy_temperature = 10, .weight = 0.5,
                                 .sure = 0.99, .sure_lambda = 0.9999,
                                 .farthest = 100 };
}

static bool is_positive(double x) { return x > 0 && x <= 1e30; }
static bool is_share(double x) { return x >= 0 && x <= 1; }

enum status kok_options_check(const struct kok_options *o, struct err *e)
{
    if (o->k < 1 || o->k > KOK_MOST)
        return err_set(e, ST_ARGUMENT, "kok: the number of neighbors must be "
                       "1 to %d", KOK_MOST);
    if (!is_positive(o->temperature) || !is_positive(o->policy_temperature))
        return err_set(e, ST_ARGUMENT, "kok: a temperature must be above 0");
    if (!is_positive(o->weight))
        return err_set(e, ST_ARGUMENT, "kok: the weight of the keys must be "
                       "above 0");
    if (!is_share(o->sure) || !is_share(o->sure_lambda))
        return err_set(e, ST_ARGUMENT, "kok: a weight of the memory must be 0 "
                       "to 1");
    if (!(o->farthest >= 0))
        return err_set(e, ST_ARGUMENT, "kok: the largest distance must not be "
                       "negative");
    return ST_OK;
}

/* ---- the formulas -------------------------------------------------------- */

void kok_weights(const struct kok_options *o, double *w)
{
    double part = 1;

    for (int j = 0; j < o->k - 1; j++) w[j] = o->weight * (part /= 2);
    w[o->k - 1] = o->weight * part;
}

bool kok_key(const struct kok_options *o, const struct neighbor *nb, int n,
             float *key)
{
    double w[KOK_MOST];
    int k = o->k, distinct = 0;

    assert(k >= 1 && k <= KOK_MOST && n >= 0 && n <= k);
    if (n < k) return false;
    kok_weights(o, w);
    for (int j = 0; j < k; j++) {
        if (!isfinite(nb[j].d2)) return false;
        if (neighbor_has_new_token(nb, j)) distinct++;
        key[j] = (float)(w[j] * (double)nb[j].d2);
        key[k + j] = (float)(w[k - 1 - j] * distinct);
    }
    return true;
}

/* p_tok, mixed with a weight of lambda */
static void mix_tokens(const struct kok_options *o, const struct neighbor *nb,
                       int n, double lambda, struct knn_mixture *out)
{
    struct weigh_options how = { o->temperature, ADAPTER_FIXED, lambda };

    assert(n >= 0 && n <= o->k);
    weigh(nb, n, &how, out);
}

double kok_token_prob(const struct kok_options *o, const struct neighbor *nb,
                      int n, int32_t token)
{
    struct knn_mixture v;

    mix_tokens(o, nb, n, 1, &v);
    for (int i = 0; i < v.n; i++)
        if (v.token[i] == token) return (double)v.add[i];
    return 0;
}

/* ---- blocks -------------------------------------------------------------- */

/* Entries are compared with a key in groups of KOK_PANEL. The keys of a group
 * are stored by dimension, so that the compiler can use vector
 * instructions. */
enum { KOK_PANEL = 16 };

struct kok_block {
    atomic_int holders;
    int n, most, k;
    float *keys;                /* [most padded / KOK_PANEL][2 k][KOK_PANEL] */
    bool *value;                /* [most] */
};

enum status kok_block_new(struct kok_block **out, int most, int k,
                          struct err *e)
{
    struct kok_block *b = calloc(1, sizeof *b);
    size_t padded = ((size_t)most + KOK_PANEL - 1) / KOK_PANEL * KOK_PANEL;

    assert(most >= 0 && k >= 1 && k <= KOK_MOST);
    *out = NULL;
    if (!b) return err_nomem(e, "KoK");
    atomic_init(&b->holders, 1);
    b->most = most;
    b->k = k;
    b->keys = mem_zalloc(padded + 1, 2 * (size_t)k * sizeof *b->keys);
    b->value = calloc((size_t)most + 1, sizeof *b->value);
    if (!b->keys || !b->value) {
        kok_block_drop(b);
        return err_nomem(e, "KoK");
    }
    *out = b;
    return ST_OK;
}

void kok_block_drop(struct kok_block *b)
{
    if (!b || atomic_fetch_sub(&b->holders, 1) != 1) return;
    mem_free(b->keys);
    free(b->value);
    free(b);
}

int kok_block_count(const struct kok_block *b) { return b->n; }

/* The keys of entries i - i % KOK_PANEL and the following. */
static float *panel_of(const struct kok_block *b, int i)
{
    return b->keys + (size_t)(i / KOK_PANEL) * 2 * (size_t)b->k * KOK_PANEL;
}

void kok_block_put(struct kok_block *b, const struct kok_options *o,
                   const struct neighbor *nb, int n, int32_t right,
                   double model)
{
    float key[2 * KOK_MOST], *to = panel_of(b, b->n);

    assert(b->n < b->most && o->k == b->k && atomic_load(&b->holders) == 1);
    if (!kok_key(o, nb, n, key)) return;
    for (int i = 0; i < 2 * b->k; i++)
        to[i * KOK_PANEL + b->n % KOK_PANEL] = key[i];
    b->value[b->n++] = model < kok_token_prob(o, nb, n, right);
}

/* ---- the store ----------------------------------------------------------- */

void kok_policy_init(struct kok_policy *p)
{
    memset(p, 0, sizeof *p);
}

void kok_policy_release(struct kok_policy *p)
{
    for (int i = 0; i < p->n_blocks; i++) kok_block_drop(p->blocks[i]);
    free(p->blocks);
    kok_policy_init(p);
}

static enum status policy_reserve(struct kok_policy *p, int n_blocks,
                                  struct err *e)
{
    return mem_grow(&p->blocks, &p->cap, (size_t)n_blocks, sizeof *p->blocks)
           ? ST_OK : err_nomem(e, "KoK");
}

/* Append a block; there is room. */
static void policy_append(struct kok_policy *p, struct kok_block *b)
{
    assert((size_t)p->n_blocks < p->cap);
    assert(!p->n_blocks || p->blocks[0]->k == b->k);
    atomic_fetch_add(&b->holders, 1);
    p->blocks[p->n_blocks++] = b;
    p->n += (size_t)b->n;
}

enum status kok_policy_add(struct kok_policy *p, struct kok_block *b,
                           struct err *e)
{
    enum status st = policy_reserve(p, p->n_blocks + 1, e);

    if (!st) policy_append(p, b);
    return st;
}

enum status kok_policy_copy(struct kok_policy *to, const struct kok_policy *p,
                            struct err *e)
{
    enum status st = policy_reserve(to, p->n_blocks, e);

    assert(!to->n_blocks);
    for (int i = 0; !st && i < p->n_blocks; i++)
        policy_append(to, p->blocks[i]);
    return st;
}

/* ---- search -------------------------------------------------------------- */

/* Squared distances of a key to the KOK_PANEL entries of a group. */
static void panel_distances(const float *panel, const float *key, int size,
                            double *d2)
{
    for (int j = 0; j < KOK_PANEL; j++) d2[j] = 0;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < KOK_PANEL; j++) {
            double diff = (double)panel[i * KOK_PANEL + j] - (double)key[i];

            d2[j] += diff * diff;
        }
}

/* Insert an entry into the sorted list of n of at most k. Of equal distances
 * the one inserted first stays first. Returns the new number. */
static int insert_found(struct kok_found *list, int n, int k,
                        struct kok_found it)
{
    int at = n;

    if (n == k && !(it.d2 < list[k - 1].d2)) return n;
    if (n < k) n++;
    else at = k - 1;
    for (; at > 0 && it.d2 < list[at - 1].d2; at--) list[at] = list[at - 1];
    list[at] = it;
    return n;
}

int kok_policy_nearest(const struct kok_policy *p, int k, const float *key,
                       struct kok_found *out)
{
    double d2[KOK_PANEL];
    int found = 0;

    for (int i = 0; i < p->n_blocks; i++) {
        const struct kok_block *b = p->blocks[i];

        assert(b->k == k);
        for (int j = 0; j < b->n; j++) {
            if (j % KOK_PANEL == 0)
                panel_distances(panel_of(b, j), key, 2 * k, d2);
            found = insert_found(out, found, k, (struct kok_found){
                                 d2[j % KOK_PANEL], b->value[j] });
        }
    }
    return found;
}

/* ---- a step -------------------------------------------------------------- */

/* The share of the entries whose value is 1. */
static double share_of_better(const struct kok_found *it, int n, double t)
{
    double sum = 0, better = 0;

    for (int i = 0; i < n; i++) {
        double w = exp((it[0].d2 - it[i].d2) / t);

        sum += w;
        if (it[i].value) better += w;
    }
    return better / sum;
}

float kok_policy_lambda(const struct kok_policy *p,
                        const struct kok_options *o,
                        const struct neighbor *nb, int n)
{
    struct kok_found it[KOK_MOST];
    float key[2 * KOK_MOST];
    double lambda;

    if (!kok_key(o, nb, n, key) || (double)nb[0].d2 > o->farthest) return 0;
    if (kok_policy_nearest(p, o->k, key, it) < o->k) return 0;
    lambda = share_of_better(it, o->k, o->policy_temperature);
    assert(lambda >= 0 && lambda <= 1 + 1e-9);
    return (float)(lambda > o->sure ? o->sure_lambda : lambda);
}

void kok_policy_decide(const struct kok_policy *p, const struct kok_options *o,
                       const struct neighbor *nb, int n,
                       struct knn_mixture *out)
{
    mix_tokens(o, nb, n, (double)kok_policy_lambda(p, o, nb, n), out);
}
