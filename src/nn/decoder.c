/* decoder.c - runs rows of target tokens through the decoder layers.
 *
 * Attention is computed sentence by sentence. While one sentence is computed,
 * the keys of the next are prefetched. Threads split the rows of a pass. */
#include "nn/decoder.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

static size_t crosskv_ld(const struct net *net)
{
    return (size_t)pad_to(2 * net->d, PANEL) + CACHE_SKEW;
}

enum status crosskv_init(struct crosskv *m, const struct net *net, int cap,
                         struct err *e)
{
    size_t layers = (size_t)net->w->cfg.decoder_layers;
    void *p;

    assert(cap > 0);
    memset(m, 0, sizeof *m);
    m->bytes = layers * (size_t)cap * crosskv_ld(net) * sizeof *m->kv;
    p = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return err_nomem(e, "encoder states");
    m->kv = p;
    m->cap = cap;
    return ST_OK;
}

void crosskv_release(struct crosskv *m)
{
    if (m->kv) munmap(m->kv, m->bytes);
    memset(m, 0, sizeof *m);
}

static float *crosskv_layer(const struct crosskv *m, int layer)
{
    return m->kv + (size_t)layer * m->layer_ld;
}

void crosskv_fill(struct crosskv *m, struct workspace *ws, const float *x,
                  int n)
{
    const struct net *net = ws->net;
    const struct decoder_layer *dec = net->w->dec;

    assert(n > 0 && n <= m->cap);
    assert(m->bytes > 0);               /* not a part of another */
    m->n = n;
    m->layer_ld = (size_t)n * crosskv_ld(net);
    net_linear(ws, &dec[0].cross_kv, x, ws->ld, n, crosskv_layer(m, 0),
               crosskv_ld(net), ACT_NONE, 0);
    for (int i = 1; i < net->w->cfg.decoder_layers; i++)
        net_linear_again(ws, &dec[i - 1].cross_kv, &dec[i].cross_kv, x,
                         ws->ld, n, crosskv_layer(m, i), crosskv_ld(net));
}

struct crosskv crosskv_part(const struct crosskv *all, const struct net *net,
                            int at, int n)
{
    assert(at >= 0 && n > 0 && at + n <= all->n);
    return (struct crosskv){ .kv = all->kv + (size_t)at * crosskv_ld(net),
                            .layer_ld = all->layer_ld, .n = n, .cap = n };
}

/* Attention of one layer over all rows; threads take groups of rows. */
struct layer_work {
    struct workspace *ws;
    struct kvcache *cache;      /* or NULL */
    const struct decoder_pass *p;
    int layer;
};

static struct attention attention_for(const struct layer_work *w, int part)
{
    struct workspace *ws = w->ws;

    return (struct attention){
        .heads = ws->net->heads, .head_dim = ws->net->head_dim,
        .scale = 1.0f / sqrtf((float)ws->net->head_dim),
        .ldo = ws->ld, .ldq = ws->ld_qkv,
        .scratch = ws->scratch + (size_t)part * ws->scratch_ld,
    };
}

/* The first row after i that belongs to another sentence, or hi. */
static int next_sentence(const struct layer_work *w, int i, int hi)
{
    const struct crosskv *mem = w->p->rows[i].crosskv;

    while (i < hi && w->p->rows[i].crosskv == mem) i++;
    return i;
}

/* The keys that cross-attention will read for row i, to prefetch them. */
static struct attention_next memory_ahead(const struct layer_work *w, int i)
{
    const struct net *net = w->ws->net;
    const struct crosskv *m = w->p->rows[i].crosskv;
    const float *kv = crosskv_layer(m, w->layer);

    return (struct attention_next){ kv, kv + net->d, crosskv_ld(net), NULL, 0,
                                    m->n };
}

/* The keys that self-attention will read for row i, to prefetch them. Rows of
 * a sentence share most of their keys, so the first row stands for all. */
static struct attention_next path_ahead(const struct layer_work *w, int i)
{
    const struct decoder_row *r = &w->p->rows[i];

    if (!w->cache) return (struct attention_next){ 0 };     /* in cache */
    return (struct attention_next){ kvcache_keys(w->cache, w->layer),
        kvcache_values(w->cache, w->layer), w->cache->ld, r->path, 0,
        r->pos + 1 };
}

/* The first row after i that does not continue the path of the row before
 * it. */
static int path_end(const struct decoder_row *rows, int i, int hi)
{
    int end = i + 1;

    while (end < hi && rows[end].path == rows[i].path &&
           rows[end].pos == rows[end - 1].pos + 1)
        end++;
    return end;
}

/* Point a at the keys of row i's path: in the slots of the cache, or, without
 * a cache, next to the queries of this pass. */
static void find_path(const struct layer_work *w, int i, struct attention *a)
{
    const struct decoder_row *r = &w->p->rows[i];
    struct workspace *ws = w->ws;

    if (w->cache) {
        a->k = kvcache_keys(w->cache, w->layer);
        a->v = kvcache_values(w->cache, w->layer);
        a->ldk = a->ldv = w->cache->ld;
        a->slot = r->path;
        return;
    }
    assert(r->pos <= i);
    a->k = ws->qkv + (size_t)(i - r->pos) * ws->ld_qkv + ws->net->d;
    a->v = a->k + ws->net->d;
    a->ldk = a->ldv = ws->ld_qkv;
}

/* Self-attention of rows [lo, hi) of one sentence. Each group of rows
 * prefetches its share of `next`. */
static void self_group(const struct layer_work *w, struct attention *a,
                       int lo, int hi, struct attention_next next)
{
    struct workspace *ws = w->ws;

    a->next = next;
    for (int i = lo, end; i < hi; i = end) {
        end = path_end(w->p->rows, i, hi);
        a->n_q = end - i;
        a->n_k = w->p->rows[end - 1].pos + 1;
        find_path(w, i, a);
        a->q = ws->qkv + (size_t)i * ws->ld_qkv;
        a->out = ws->att + (size_t)i * ws->ld;
        a->next.from = (int)((long)next.to * (i - lo) / (hi - lo));
        a->next.to = (int)((long)next.to * (end - lo) / (hi - lo));
        ws->net->k->attention(a);
    }
}

/* Each sentence prefetches the keys of the next one; the last prefetches the
 * keys that cross-attention reads first. */
static void self_part(void *arg, int part, int n_parts)
{
    const struct layer_work *w = arg;
    struct attention a = attention_for(w, part);
    int lo = (int)((long)w->p->n * part / n_parts);
    int hi = (int)((long)w->p->n * (part + 1) / n_parts);

    a.causal = 1;
    for (int i = lo, end; i < hi; i = end) {
        end = next_sentence(w, i, hi);
        self_group(w, &a, i, end,
                   end < hi ? path_ahead(w, end) : memory_ahead(w, lo));
    }
}

static void mean_over_heads(const float *weights, int heads, int n, float *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int h = 0; h < heads; h++)
        for (int j = 0; j < n; j++)
            out[j] += weights[(size_t)h * (size_t)n + (size_t)j] /
                      (float)heads;
}

/* Store the mean weights of the a->n_q rows from row i on. */
static void keep_cross(const struct layer_work *w, const struct attention *a,
                       int i)
{
    size_t n = (size_t)a->heads * (size_t)a->n_k;

    assert((size_t)a->n_k <= w->p->cross_ld);
    for (int k = 0; k < a->n_q; k++)
        mean_over_heads(a->weights + (size_t)k * n, a->heads, a->n_k,
                        w->p->cross + (size_t)(i + k) * w->p->cross_ld);
}

/* Cross-attention of rows [i, end) of one sentence. */
static void cross_group(const struct layer_work *w, struct attention *a,
                        int i, int end)
{
    struct workspace *ws = w->ws;
    const struct net *net = ws->net;
    const struct crosskv *m = w->p->rows[i].crosskv;
    float *kv = crosskv_layer(m, w->layer);
    int most = a->weights ? CROSS_QUERIES : end - i;

    a->n_k = m->n;
    a->k = kv;
    a->v = kv + net->d;
    a->ldk = a->ldv = crosskv_ld(net);
    for (; i < end; i += a->n_q) {
        a->n_q = end - i < most ? end - i : most;
        a->q = ws->qkv + (size_t)i * ws->ld_qkv;
        a->out = ws->att + (size_t)i * ws->ld;
        net->k->attention(a);
        if (a->weights) keep_cross(w, a, i);
    }
}

static void cross_part(void *arg, int part, int n_parts)
{
    const struct layer_work *w = arg;
    struct attention a = attention_for(w, part);
    int lo = (int)((long)w->p->n * part / n_parts);
    int hi = (int)((long)w->p->n * (part + 1) / n_parts);

    if (w->p->cross && w->layer == w->ws->net->w->cfg.attention_layer)
        a.weights = w->p->cross_scratch + (size_t)part * CROSS_QUERIES *
                    (size_t)a.heads * w->p->cross_ld;
    for (int i = lo, end; i < hi; i = end) {
        end = next_sentence(w, i, hi);
        a.next = end < hi ? memory_ahead(w, end)
                          : (struct attention_next){ 0 };
        cross_group(w, &a, i, end);
    }
}

/* Copy keys and values of this pass's rows into their slots. */
static void store_keys(const struct layer_work *w)
{
    int d = w->ws->net->d;
    size_t bytes = (size_t)d * sizeof(float);

    for (int i = 0; i < w->p->n; i++) {
        const struct decoder_row *r = &w->p->rows[i];
        const float *qkv = w->ws->qkv + (size_t)i * w->ws->ld_qkv;
        size_t at = (size_t)r->path[r->pos] * w->cache->ld;

        assert(r->path[r->pos] >= 0 && r->path[r->pos] < w->cache->used);
        assert(w->cache->refs[r->path[r->pos]] > 0);
        /* A slot at position 1 may have no parent: see cpu_backend.c about
         * start_id. */
        assert(w->cache->parent[r->path[r->pos]] ==
                   (r->pos ? r->path[r->pos - 1] : -1) ||
               (r->pos == 1 && w->cache->parent[r->path[r->pos]] < 0));

        memcpy(kvcache_keys(w->cache, w->layer) + at, qkv + d, bytes);
        memcpy(kvcache_values(w->cache, w->layer) + at, qkv + 2 * d, bytes);
    }
}

static void decoder_run_layer(struct layer_work *w)
{
    struct workspace *ws = w->ws;
    const struct decoder_layer *l = &ws->net->w->dec[w->layer];
    const float *in;
    int n = w->p->n;

    in = sublayer_in(ws, &l->self_norm, n);
    net_linear(ws, &l->qkv, in, ws->ld, n, ws->qkv, ws->ld_qkv, ACT_NONE, 0);
    if (w->cache) store_keys(w);
    pool_run(ws->pool, self_part, w);
    net_linear(ws, &l->out, ws->att, ws->ld, n, ws->x, ws->ld, ACT_NONE, 1);
    sublayer_out(ws, &l->self_norm, n);

    in = sublayer_in(ws, &l->cross_norm, n);
    net_linear(ws, &l->cross_q, in, ws->ld, n, ws->qkv, ws->ld_qkv, ACT_NONE,
               0);
    pool_run(ws->pool, cross_part, w);
    net_linear(ws, &l->cross_out, ws->att, ws->ld, n, ws->x, ws->ld,
               ACT_NONE, 1);
    sublayer_out(ws, &l->cross_norm, n);

    if (w->p->ffn_in && w->layer + 1 == ws->net->w->cfg.decoder_layers)
        memcpy(w->p->ffn_in, sublayer_in(ws, &l->ffn_norm, n),
               (size_t)n * ws->ld * sizeof(float));
    net_ffn(ws, &l->ffn_norm, &l->up, &l->down, n);
}

void decoder_run(struct workspace *ws, struct kvcache *cache,
                 const struct decoder_pass *p)
{
    const struct net *net = ws->net;
    const struct weights *m = net->w;
    struct layer_work w = { ws, cache, p, 0 };
    int layers = m->cfg.decoder_layers;

    assert(p->n > 0 && p->n <= ws->rows);
    for (int i = 0; i < p->n; i++) {
        assert(p->rows[i].pos >= 0 && p->rows[i].pos < net->max_pos);
        assert(p->rows[i].token >= 0 && p->rows[i].token < net->vocab);
        assert(!cache == !p->rows[i].path);
        net_embed(net, &m->tgt_emb, net->tgt_pos, p->rows[i].token,
                  p->rows[i].pos, ws->x + (size_t)i * ws->ld);
    }
    if (p->probe) p->probe(p->user, -1, ws->x, ws->ld, p->n);
    for (; w.layer < layers; w.layer++) {
        decoder_run_layer(&w);
        if (p->probe) p->probe(p->user, w.layer, ws->x, ws->ld, p->n);
    }
    if (m->cfg.final_norm)
        net_norm(ws, &m->dec_norm, ws->x, p->n, p->hidden);
    else
        memcpy(p->hidden, ws->x, (size_t)p->n * ws->ld * sizeof(float));
    if (p->probe) p->probe(p->user, layers, p->hidden, ws->ld, p->n);
}

void decoder_logits(struct workspace *ws, const float *hidden, int n,
                    float *logits)
{
    net_linear(ws, &ws->net->w->project, hidden, ws->ld, n, logits,
               ws->ld_vocab, ACT_NONE, 0);
}
