/* sk.c - see sk.h. */
#include "knn/sk.h"

#include <stdlib.h>

struct sk {
    struct mixer mixer;         /* first */
    struct sk_options o;
    const struct keystore **stores;     /* [lanes] */
    struct vote *votes;         /* [rows] of the last step */
};

static enum status sk_begin(struct mixer *mx, int lane, void *user,
                            struct err *e)
{
    struct sk *sk = (struct sk *)(void *)mx;

    (void)e;
    sk->stores[lane] = user;
    return ST_OK;
}

static void sk_step(struct mixer *mx, const struct mixer_step *in,
                    struct mix *out)
{
    struct sk *sk = (struct sk *)(void *)mx;
    struct neighbour nb[KNN_MAX_K];

    for (int r = 0; r < in->rows; r++) {
        const struct keystore *ks = sk->stores[in->lane[r]];
        struct vote *v = &sk->votes[r];
        int n;

        if (!ks || !ks->n) continue;
        n = keystore_nearest(ks, in->hidden + (size_t)r * in->ld_hidden,
                             sk->o.k, nb);
        weigh(ks, nb, n, &sk->o.weigh, v);
        if (v->n)
            out[r] = (struct mix){ 1 - v->lambda, v->n, v->token, v->add };
    }
}

static void sk_end(struct mixer *mx, int lane)
{
    ((struct sk *)(void *)mx)->stores[lane] = NULL;
}

enum status sk_new(struct sk **out, const struct sk_options *o, int lanes,
                   int rows, struct err *e)
{
    struct sk *sk = calloc(1, sizeof *sk);

    *out = NULL;
    if (o->k < 1 || o->k > KNN_MAX_K || !(o->weigh.tau > 0)) {
        free(sk);
        return err_set(e, ST_ARGUMENT, "there must be 1 to %d neighbours and "
                       "a temperature above 0", KNN_MAX_K);
    }
    if (sk) {
        sk->mixer = (struct mixer){ sk_begin, sk_step, sk_end };
        sk->o = *o;
        sk->stores = calloc((size_t)lanes, sizeof *sk->stores);
        sk->votes = calloc((size_t)rows, sizeof *sk->votes);
    }
    if (!sk || !sk->stores || !sk->votes) {
        sk_free(sk);
        return err_nomem(e, "memory keys");
    }
    *out = sk;
    return ST_OK;
}

void sk_free(struct sk *sk)
{
    if (!sk) return;
    free(sk->stores);
    free(sk->votes);
    free(sk);
}

struct mixer *sk_mixer(struct sk *sk) { return &sk->mixer; }
