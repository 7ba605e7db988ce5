/* net.c - position tables, scratch memory, and the operations shared by encoder
 * and decoder layers: products, norms, the feed-forward block. */
#include "nn/net.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/sinusoid.h"

static enum status make_positions(struct net *net, struct err *e)
{
    const struct config *c = &net->w->cfg;
    size_t skip = (size_t)c->position_offset * (size_t)net->d;

    if (c->positions == POS_LEARNED) {
        net->src_pos = net->w->src_pos + skip;
        net->tgt_pos = net->w->tgt_pos + skip;
        return ST_OK;
    }
    net->table = mem_zalloc((size_t)net->max_pos * (size_t)net->d,
                            sizeof *net->table);
    if (!net->table) return err_nomem(e, "position table");
    for (int p = 0; p < net->max_pos; p++)
        sinusoid_row(net->table + (size_t)p * (size_t)net->d,
                     p + c->position_offset, net->d, c->positions);
    net->src_pos = net->tgt_pos = net->table;
    return ST_OK;
}

enum status net_open(struct net **out, const struct weights *w,
                     const struct kernels *k, struct err *e)
{
    const struct config *c = &w->cfg;
    struct net *net = calloc(1, sizeof *net);
    enum status st;
    int longest;

    *out = NULL;
    if (!net) return err_nomem(e, "network");
    net->w = w;
    net->k = k ? k : kernels_pick(NULL);
    net->d = c->d_model;
    net->heads = c->heads;
    net->head_dim = c->d_model / c->heads;
    net->vocab = c->vocab_size;
    /* Computing some thousand rows takes milliseconds. When a model allows
     * many more positions, make twice its longest source. */
    longest = 2 * c->max_source + 256;
    if (longest < 2048) longest = 2048;
    net->max_pos = c->max_positions - c->position_offset;
    if (c->positions != POS_LEARNED && longest < net->max_pos)
        net->max_pos = longest;
    st = make_positions(net, e);
    if (st) net_close(net);
    else *out = net;
    return st;
}

void net_close(struct net *net)
{
    if (!net) return;
    mem_free(net->table);
    free(net);
}

static int net_widest(const struct config *c)
{
    int f = c->ffn > c->ffn_decoder ? c->ffn : c->ffn_decoder;

    return f > c->d_model ? f : c->d_model;
}

static int ffn_rows(const struct workspace *ws)
{
    return ws->rows < FFN_ROWS ? ws->rows : FFN_ROWS;
}

/* Allocate the lists of nonzero inputs of the feed-forward block. */
static bool alloc_lists(struct workspace *ws)
{
    size_t n = (size_t)ffn_rows(ws);
    size_t width = (size_t)pad_to(net_widest(&ws->net->w->cfg), 4);

    ws->nz = mem_alloc(n, sizeof *ws->nz);
    ws->nz_at = mem_alloc(n * width, sizeof *ws->nz_at);
    ws->nz_value = mem_alloc(n * width, sizeof *ws->nz_value);
    if (!ws->nz || !ws->nz_at || !ws->nz_value) return false;
    for (size_t i = 0; i < n; i++)
        ws->nz[i] = (struct nonzero){ 0, ws->nz_at + i * width,
                                      ws->nz_value + i * width };
    return true;
}

/* Bytes of quantized inputs: all rows at the width of the model, or the rows of
 * the feed-forward block at its width. */
static size_t quantized_bytes(const struct workspace *ws)
{
    const struct config *c = &ws->net->w->cfg;
    size_t all = (size_t)ws->rows * (size_t)pad_to(c->d_model, 4);
    size_t wide = (size_t)ffn_rows(ws) * (size_t)pad_to(net_widest(c), 4);

    return all > wide ? all : wide;
}

enum status workspace_init(struct workspace *ws, const struct net *net,
                           struct pool *pool, int rows, int max_keys,
                           struct err *e)
{
    const struct config *c = &net->w->cfg;
    size_t n = (size_t)rows;
    int threads = pool_threads(pool);

    assert(rows > 0 && max_keys > 0);
    memset(ws, 0, sizeof *ws);
    ws->net = net;
    ws->pool = pool;
    ws->rows = rows;
    ws->ld = (size_t)pad_to(c->d_model, PANEL);
    ws->ld_qkv = (size_t)pad_to(3 * c->d_model, PANEL) + CACHE_SKEW;
    ws->ld_ffn = (size_t)pad_to(net_widest(c), PANEL);
    ws->ld_vocab = (size_t)pad_to(c->vocab_size, PANEL);
    ws->scratch_ld = ATTENTION_SCRATCH(max_keys);
    ws->x = mem_zalloc(n * ws->ld, sizeof(float));
    ws->y = mem_zalloc(n * ws->ld, sizeof(float));
    ws->att = mem_zalloc(n * ws->ld, sizeof(float));
    ws->qkv = mem_zalloc(n * ws->ld_qkv, sizeof(float));
    ws->up = mem_zalloc((size_t)ffn_rows(ws) * ws->ld_ffn, sizeof(float));
    ws->xq = mem_zalloc(quantized_bytes(ws), 1);
    ws->xs = mem_zalloc(n, sizeof(float));
    ws->scratch = mem_zalloc((size_t)threads * ws->scratch_ld, sizeof(float));
    if (ws->x && ws->y && ws->att && ws->qkv && ws->up && ws->xq && ws->xs &&
        ws->scratch && alloc_lists(ws))
        return ST_OK;
    workspace_release(ws);
    return err_nomem(e, "activations");
}

void workspace_release(struct workspace *ws)
{
    mem_free(ws->x);
    mem_free(ws->y);
    mem_free(ws->att);
    mem_free(ws->qkv);
    mem_free(ws->up);
    mem_free(ws->xq);
    mem_free(ws->xs);
    mem_free(ws->nz);
    mem_free(ws->nz_at);
    mem_free(ws->nz_value);
    mem_free(ws->scratch);
    memset(ws, 0, sizeof *ws);
}

void net_embed(const struct net *net, const struct linear *emb,
               const float *table, int32_t id, int pos, float *out)
{
    const float *p = table + (size_t)pos * (size_t)net->d;
    float scale = (float)net->w->cfg.embedding_scale;

    assert(id >= 0 && id < net->vocab && pos >= 0 && pos < net->max_pos);
    linear_row(emb, id, out);
    for (int i = 0; i < net->d; i++) out[i] = out[i] * scale + p[i];
}

/* One product; threads split its panels. */
struct product {
    const struct kernels *k;
    struct gemm g;
};

static void product_part(void *arg, int part, int n_parts)
{
    const struct product *p = arg;
    int panels = linear_panels(p->g.l);
    int p0 = (int)((long)panels * part / n_parts);
    int p1 = (int)((long)panels * (part + 1) / n_parts);

    switch (p->g.l->type) {
    case DT_I8:
        if (p->g.l->by_input) p->k->gemm_sparse(&p->g, p0, p1);
        else p->k->gemm_i8(&p->g, p0, p1);
        break;
    case DT_BF16: p->k->gemm_bf16(&p->g, p0, p1); break;
    default: p->k->gemm_f32(&p->g, p0, p1); break;
    }
}

static void multiply(struct workspace *ws, const struct linear *l,
                     const float *x, size_t ldx, int rows, float *y,
                     size_t ldy, enum act act, int add)
{
    struct product p = { ws->net->k, { .l = l, .rows = rows, .x = x,
        .ldx = ldx, .xq = ws->xq, .xs = ws->xs, .nz = ws->nz, .y = y,
        .ldy = ldy, .act = act, .add = add } };

    pool_run(ws->pool, product_part, &p);
}

void net_linear(struct workspace *ws, const struct linear *l, const float *x,
                size_t ldx, int rows, float *y, size_t ldy, enum act act,
                int add)
{
    assert(rows > 0 && rows <= ws->rows);
    assert(rows <= FFN_ROWS || (l->k <= ws->net->d && !l->by_input));
    if (l->type == DT_I8)
        ws->net->k->quantize(x, ldx, rows, l->k, ws->xq, ws->xs);
    if (l->by_input)
        ws->net->k->list_nonzero(ws->xq, rows, l->k, ws->nz);
    multiply(ws, l, x, ldx, rows, y, ldy, act, add);
}

void net_linear_again(struct workspace *ws, const struct linear *before,
                      const struct linear *l, const float *x, size_t ldx,
                      int rows, float *y, size_t ldy)
{
    if (before->type != l->type || before->k != l->k || l->by_input)
        net_linear(ws, l, x, ldx, rows, y, ldy, ACT_NONE, 0);
    else
        multiply(ws, l, x, ldx, rows, y, ldy, ACT_NONE, 0);
}

void net_norm(struct workspace *ws, const struct norm *n, const float *x,
              int rows, float *y)
{
    const struct net *net = ws->net;

    net->k->layer_norm(x, ws->ld, rows, net->d, n->gain, n->bias,
                       (float)net->w->cfg.layer_norm_eps, y, ws->ld);
}

const float *sublayer_in(struct workspace *ws, const struct norm *n, int rows)
{
    if (ws->net->w->cfg.norm == NORM_POST) return ws->x;
    net_norm(ws, n, ws->x, rows, ws->y);
    return ws->y;
}

void sublayer_out(struct workspace *ws, const struct norm *n, int rows)
{
    if (ws->net->w->cfg.norm == NORM_POST)
        net_norm(ws, n, ws->x, rows, ws->x);
}

void net_ffn(struct workspace *ws, const struct norm *n,
             const struct linear *up, const struct linear *down, int rows)
{
    const float *in = sublayer_in(ws, n, rows);
    enum act act = (enum act)ws->net->w->cfg.activation;

    for (int at = 0; at < rows; at += FFN_ROWS) {
        int some = rows - at < FFN_ROWS ? rows - at : FFN_ROWS;
        size_t skip = (size_t)at * ws->ld;

        net_linear(ws, up, in + skip, ws->ld, some, ws->up, ws->ld_ffn, act,
                   0);
        net_linear(ws, down, ws->up, ws->ld_ffn, some, ws->x + skip, ws->ld,
                   ACT_NONE, 1);
    }
    sublayer_out(ws, n, rows);
}
