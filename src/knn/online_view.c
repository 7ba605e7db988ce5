/* online_view.c - makes and counts views of the corrections so far. Computing
 * keys and policy entries is the job of engine/online_store.c. */
#include "knn/online_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

enum status online_pair_new(struct online_pair **out, struct pair_keys *keys,
                            struct str source, struct str target, int64_t id,
                            struct err *e)
{
    struct online_pair *p = malloc(sizeof *p + source.n + target.n + 2);

    *out = p;
    if (!p) return err_nomem(e, "corrections");
    atomic_init(&p->holders, 1);
    p->keys = pair_keys_hold(keys);
    p->id = id;
    p->source = (char *)(p + 1);
    p->target = p->source + source.n + 1;
    if (source.n) memcpy(p->source, source.p, source.n);
    if (target.n) memcpy(p->target, target.p, target.n);
    p->source[source.n] = p->target[target.n] = 0;
    return ST_OK;
}

void online_pair_drop(struct online_pair *p)
{
    if (!p || atomic_fetch_sub(&p->holders, 1) > 1) return;
    pair_keys_drop(p->keys);
    free(p);
}

static enum status view_alloc(struct online_view **out, int n, struct err *e)
{
    struct online_view *v = calloc(1, sizeof *v);

    *out = NULL;
    if (v) v->pairs = calloc((size_t)n + 1, sizeof *v->pairs);
    if (!v || !v->pairs) {
        free(v);
        return err_nomem(e, "corrections");
    }
    atomic_init(&v->holders, 1);
    kok_policy_init(&v->policy);
    *out = v;
    return ST_OK;
}

enum status online_view_new(struct online_view **out, struct err *e)
{
    return view_alloc(out, 0, e);
}

static void view_append(struct online_view *v, struct online_pair *p)
{
    atomic_fetch_add(&p->holders, 1);
    v->pairs[v->n++] = p;
}

enum status online_view_add(struct online_view **out,
                            const struct online_view *old,
                            struct online_pair *pair, struct kok_block *policy,
                            struct err *e)
{
    struct online_view *v;
    enum status st = view_alloc(&v, old->n + 1, e);

    *out = NULL;
    if (st) return st;
    for (int i = 0; i < old->n; i++) view_append(v, old->pairs[i]);
    view_append(v, pair);
    st = kok_policy_copy(&v->policy, &old->policy, e);
    if (!st && policy) st = kok_policy_add(&v->policy, policy, e);
    if (st) online_view_drop(v);
    else *out = v;
    return st;
}

struct online_view *online_view_hold(struct online_view *v)
{
    assert(atomic_load(&v->holders) > 0);
    atomic_fetch_add(&v->holders, 1);
    return v;
}

void online_view_drop(struct online_view *v)
{
    if (!v || atomic_fetch_sub(&v->holders, 1) > 1) return;
    for (int i = 0; i < v->n; i++) online_pair_drop(v->pairs[i]);
    kok_policy_release(&v->policy);
    free(v->pairs);
    free(v);
}
