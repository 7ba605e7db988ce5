/* encoder.c - runs the tokens of several source sentences through the encoder
 * layers. Products cover the rows of all sentences; attention stays within a
 * sentence. */
#include "nn/encoder.h"

#include <assert.h>
#include <math.h>

/* Self-attention of every sentence; threads split the rows. */
struct self_attention {
    struct workspace *ws;
    const struct source *src;
    int n, rows;
};

/* Attention of rows [r0, r1) of the sentence whose first row is `base`. */
static void attend_rows(struct workspace *ws, int part, int base, int n_keys,
                        int r0, int r1)
{
    const struct net *net = ws->net;
    const float *qkv = ws->qkv + (size_t)base * ws->ld_qkv;
    size_t from = (size_t)(r0 - base);
    struct attention a = {
        .n_q = r1 - r0, .n_k = n_keys, .heads = net->heads,
        .head_dim = net->head_dim,
        .q = qkv + from * ws->ld_qkv, .ldq = ws->ld_qkv,
        .k = qkv + net->d, .v = qkv + 2 * net->d,
        .ldk = ws->ld_qkv, .ldv = ws->ld_qkv,
        .scale = 1.0f / sqrtf((float)net->head_dim),
        .out = ws->att + (size_t)r0 * ws->ld, .ldo = ws->ld,
        .scratch = ws->scratch + (size_t)part * ws->scratch_ld,
    };

    net->k->attention(&a);
}

static void attend_part(void *arg, int part, int n_parts)
{
    const struct self_attention *s = arg;
    int lo = (int)((long)s->rows * part / n_parts);
    int hi = (int)((long)s->rows * (part + 1) / n_parts);
    int base = 0;

    for (int i = 0; i < s->n; i++) {
        int end = base + s->src[i].n;
        int r0 = lo > base ? lo : base, r1 = hi < end ? hi : end;

        if (r0 < r1) attend_rows(s->ws, part, base, s->src[i].n, r0, r1);
        base = end;
    }
}

static int embed_all(struct workspace *ws, const struct source *src, int n)
{
    const struct net *net = ws->net;
    int row = 0;

    for (int i = 0; i < n; i++) {
        assert(src[i].n > 0 && src[i].n <= net->max_pos);
        assert(row + src[i].n <= ws->rows);
        for (int p = 0; p < src[i].n; p++, row++)
            net_embed(net, &net->w->src_emb, net->src_pos, src[i].ids[p], p,
                      ws->x + (size_t)row * ws->ld);
    }
    return row;
}

static void encoder_run_layer(struct workspace *ws,
                              const struct encoder_layer *l,
                              struct self_attention *s)
{
    const float *in = sublayer_in(ws, &l->self_norm, s->rows);

    net_linear(ws, &l->qkv, in, ws->ld, s->rows, ws->qkv, ws->ld_qkv,
               ACT_NONE, 0);
    pool_run(ws->pool, attend_part, s);
    net_linear(ws, &l->out, ws->att, ws->ld, s->rows, ws->x, ws->ld,
               ACT_NONE, 1);
    sublayer_out(ws, &l->self_norm, s->rows);
    net_ffn(ws, &l->ffn_norm, &l->up, &l->down, s->rows);
}

void encoder_run(struct workspace *ws, const struct source *src, int n,
                 layer_probe *probe, void *user)
{
    const struct weights *w = ws->net->w;
    struct self_attention s = { ws, src, n, embed_all(ws, src, n) };
    int layers = w->cfg.encoder_layers;

    if (probe) probe(user, -1, ws->x, ws->ld, s.rows);
    for (int i = 0; i < layers; i++) {
        encoder_run_layer(ws, &w->enc[i], &s);
        if (probe) probe(user, i, ws->x, ws->ld, s.rows);
    }
    if (w->cfg.final_norm) net_norm(ws, &w->enc_norm, ws->x, s.rows, ws->x);
    if (probe) probe(user, layers, ws->x, ws->ld, s.rows);
}
