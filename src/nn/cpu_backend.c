/* cpu_backend.c - implements nn/backend.h with the encoder, the decoder and the
 * key/value cache of this folder. All data is in host memory, so `read` copies
 * nothing.
 *
 * Invariants:
 *   - hidden has the decoder states of the n_rows rows of the last pass.
 *   - cache exists if limits.slots > 0, and forced if not: an executor either
 *     has slots, or forces known translations.
 *   - Nothing is allocated after cpu_executor_new.
 *
 * If the model has a target_prefix_id, callers begin with that token at
 * position 0. The decoder reads start_id before it, so each position of a
 * caller is one higher in the decoder. The rows of start_id are run here: `run`
 * appends one to the pass in which a lane is used for the first time, and keeps
 * its slot in start_slot; `force` puts one before each text and removes its
 * results. */
#include "nn/cpu_backend.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "nn/decoder.h"
#include "nn/topk.h"

struct cpu_backend {
    struct backend b;           /* must be the first member */
    const struct net *net;
};

struct cpu_executor {
    struct executor x;          /* must be the first member */
    const struct net *net;
    struct pool *pool;          /* ws.pool is this, or NULL when turned off */
    struct workspace ws;
    struct kvcache cache;
    struct crosskv *lanes;      /* [limits.lanes] */
    struct crosskv forced;      /* all sources of a forced pass */
    struct crosskv *parts;      /* [rows] the part of each source */
    int before;                 /* 1: start_id comes before the callers' first
                                   token; else 0 */
    int all_rows;               /* limits.rows, and room for rows of start_id */
    int32_t *start_slot;        /* [limits.lanes] of start_id */
    bool *started;              /* [limits.lanes] start_slot is computed */
    int32_t *paths;             /* [limits.rows, max_len + 1] paths of the rows
                                   with start_slot in front */
    struct decoder_row *rows;   /* [all_rows] of the current pass */
    float *hidden;              /* [all_rows, ws.ld] */
    int n_rows;                 /* of the last pass */
    float *cross;               /* [all_rows, cross_ld] attention of the last
                                   pass */
    size_t cross_ld;
    float *ffn_in;              /* [all_rows, ws.ld] STATE_FFN of the last
                                   pass */
    float *encoded;             /* [rows, ws.ld] STATE_SOURCE of the last forced
                                   pass; NULL: the executor has slots */
    int n_encoded;              /* its rows */
    unsigned has;               /* what the last pass kept: enum pass_want */
    float *cross_scratch;       /* see struct decoder_pass */
    int project_rows;           /* rows that are projected together */
    float *logits;              /* [project_rows, ws.ld_vocab] */
    float *block_max;           /* [project_rows, blocks] largest logit of each
                                   block of the vocabulary */
    int blocks;
};

/* An executor that only forces translations projects few rows, if any. */
enum { FORCED_PROJECT_ROWS = 64 };

static struct cpu_executor *cpu_of(struct executor *x)
{
    return (struct cpu_executor *)(void *)x;
}

/* ---- sources and slots -------------------------------------------------- */

/* Encode the first sources, as many as fit the workspace, in one pass. Returns
 * their number. */
static int encode_group(struct cpu_executor *c, const struct source *src,
                        const int *lane, int n)
{
    int rows = 0, k = 0;

    while (k < n && rows + src[k].n <= c->ws.rows) rows += src[k++].n;
    assert(k > 0);
    encoder_run(&c->ws, src, k, NULL, NULL);
    rows = 0;
    for (int i = 0; i < k; rows += src[i++].n) {
        assert(lane[i] >= 0 && lane[i] < c->x.limits.lanes);
        crosskv_fill(&c->lanes[lane[i]], &c->ws,
                     c->ws.x + (size_t)rows * c->ws.ld, src[i].n);
        if (c->before) c->started[lane[i]] = false;
    }
    return k;
}

static enum status cpu_encode(struct executor *x, const struct source *src,
                              const int *lane, int n, struct err *e)
{
    (void)e;
    while (n > 0) {
        int k = encode_group(cpu_of(x), src, lane, n);

        src += k;
        lane += k;
        n -= k;
    }
    return ST_OK;
}

static int32_t cpu_slot_new(struct executor *x, int32_t parent)
{
    return kvcache_take(&cpu_of(x)->cache, parent);
}

static void cpu_slot_drop(struct executor *x, int32_t slot)
{
    kvcache_drop(&cpu_of(x)->cache, slot);
}

/* ---- passes ------------------------------------------------------------- */

/* A pass without rows yet. */
static struct decoder_pass cpu_pass(struct cpu_executor *c, unsigned want)
{
    c->has = want;
    return (struct decoder_pass){
        .rows = c->rows, .hidden = c->hidden,
        .cross = want & WANT_ATTENTION ? c->cross : NULL,
        .cross_ld = c->cross_ld, .cross_scratch = c->cross_scratch,
        .ffn_in = want & WANT_FFN ? c->ffn_in : NULL };
}

/* Put start_slot before the path of row i. Rows that continue the path of the
 * row before them share its copy. */
static void path_with_start(struct cpu_executor *c, const struct pass_row *rows,
                            int i)
{
    struct decoder_row *to = &c->rows[i];
    int32_t *path = c->paths + (size_t)i * ((size_t)c->x.limits.max_len + 1);

    if (i && rows[i].path == rows[i - 1].path)
        path = c->paths + (c->rows[i - 1].path - c->paths);
    path[0] = c->start_slot[rows[i].lane];
    memcpy(path + 1, rows[i].path,
           ((size_t)rows[i].pos + 1) * sizeof *path);
    to->path = path;
    to->pos++;
}

/* Append rows of start_id for the lanes that are used for the first time.
 * Returns the number of all rows. */
static int add_start_rows(struct cpu_executor *c, const struct pass_row *rows,
                          int n)
{
    int all = n;

    for (int i = 0; i < n; i++) {
        int lane = rows[i].lane;

        path_with_start(c, rows, i);
        if (c->started[lane]) continue;
        c->started[lane] = true;
        assert(all < c->all_rows);
        c->rows[all++] = (struct decoder_row){
            &c->lanes[lane], c->net->w->cfg.start_id, 0,
            &c->start_slot[lane] };
    }
    return all;
}

static enum status cpu_run(struct executor *x, const struct pass_row *rows,
                           int n, unsigned want, struct err *e)
{
    struct cpu_executor *c = cpu_of(x);
    struct decoder_pass p = cpu_pass(c, want);

    (void)e;
    assert(n > 0 && n <= x->limits.rows && !(want & WANT_SOURCE));
    for (int i = 0; i < n; i++) {
        assert(rows[i].lane >= 0 && rows[i].lane < x->limits.lanes);
        c->rows[i] = (struct decoder_row){ &c->lanes[rows[i].lane],
                                           rows[i].token, rows[i].pos,
                                           rows[i].path };
    }
    p.n = c->before ? add_start_rows(c, rows, n) : n;
    decoder_run(&c->ws, &c->cache, &p);
    c->n_rows = n;
    PARANOID_CHECK(kvcache_sound(&c->cache));
    return ST_OK;
}

static void encode_forced(struct cpu_executor *c, const struct source *src,
                          int n)
{
    int rows = 0, at = 0;

    for (int i = 0; i < n; i++) rows += src[i].n;
    assert(rows <= c->x.limits.rows);
    encoder_run(&c->ws, src, n, NULL, NULL);
    crosskv_fill(&c->forced, &c->ws, c->ws.x, rows);
    for (int i = 0; i < n; at += src[i++].n)
        c->parts[i] = crosskv_part(&c->forced, c->net, at, src[i].n);
    c->n_encoded = rows;
    if (c->has & WANT_SOURCE)
        memcpy(c->encoded, c->ws.x, (size_t)rows * c->ws.ld * sizeof(float));
}

/* Add the rows of a text to a forced pass of n rows. Returns their number. */
static int add_forced_rows(struct cpu_executor *c, const struct forced_text *t,
                           int n)
{
    const struct config *cfg = c->x.backend->cfg;
    int from = n;

    if (c->before && t->rows)
        c->rows[n++] = (struct decoder_row){ &c->parts[t->source],
                                             cfg->start_id, 0, NULL };
    for (int k = 0; k < t->rows; k++)
        c->rows[n++] = (struct decoder_row){ &c->parts[t->source],
            k ? t->tokens[k - 1] : config_first_token(cfg), k + c->before,
            NULL };
    assert(n <= c->all_rows);
    return n - from;
}

static void move_rows(float *at, size_t ld, int to, int from, int n)
{
    if (at)
        memmove(at + (size_t)to * ld, at + (size_t)from * ld,
                (size_t)n * ld * sizeof *at);
}

/* Remove the results of start_id from those of n texts. Returns the rows that
 * are left. */
static int drop_start_rows(const struct decoder_pass *p, size_t ld,
                           const struct forced_text *text, int n)
{
    int to = 0, from = 0;

    for (int i = 0; i < n; i++) {
        int rows = text[i].rows;

        if (!rows) continue;
        move_rows(p->hidden, ld, to, from + 1, rows);
        move_rows(p->ffn_in, ld, to, from + 1, rows);
        move_rows(p->cross, p->cross_ld, to, from + 1, rows);
        to += rows;
        from += rows + 1;
    }
    return to;
}

/* Run the first texts, as many as fit one pass behind the c->n_rows rows that
 * are done. Returns the number of texts. */
static int force_group(struct cpu_executor *c, const struct forced_text *text,
                       int n, unsigned want)
{
    struct decoder_pass p = cpu_pass(c, want);
    int k = 0, room = c->all_rows - c->n_rows;
    size_t at = (size_t)c->n_rows;

    for (; k < n; k++) {
        int more = text[k].rows ? text[k].rows + c->before : 0;

        if (p.n + more > room) break;
        p.n += add_forced_rows(c, &text[k], p.n);
    }
    assert(k > 0);
    p.hidden += at * c->ws.ld;
    if (p.ffn_in) p.ffn_in += at * c->ws.ld;
    if (p.cross) p.cross += at * c->cross_ld;
    if (p.n) decoder_run(&c->ws, NULL, &p);
    c->n_rows += c->before ? drop_start_rows(&p, c->ws.ld, text, k) : p.n;
    return k;
}

static enum status cpu_force(struct executor *x, const struct source *src,
                             int n_src, const struct forced_text *text, int n,
                             unsigned want, struct err *e)
{
    struct cpu_executor *c = cpu_of(x);
    int rows = 0;

    (void)e;
    assert(!x->limits.slots);
    for (int i = 0; i < n; rows += text[i++].rows) {
        assert(text[i].source >= 0 && text[i].source < n_src);
        assert(text[i].rows >= 0 && text[i].rows <= x->limits.max_len);
    }
    assert(rows <= x->limits.rows);
    c->has = want;
    encode_forced(c, src, n_src);
    c->n_rows = 0;
    for (int i = 0; i < n;)
        i += force_group(c, text + i, n - i, want);
    return ST_OK;
}

/* ---- reading the last pass ---------------------------------------------- */

struct project_work {           /* rows that are projected together */
    struct cpu_executor *c;
    struct projection *p;
    int n;
};

static void project_row(struct cpu_executor *c, int at, struct projection *p)
{
    const struct net *net = c->net;
    const float *logits = c->logits + (size_t)at * c->ws.ld_vocab;
    float *block_max = c->block_max + (size_t)at * (size_t)c->blocks;
    struct row_stats stats;

    net->k->row_stats(logits, net->vocab, block_max, &stats);
    p->max = stats.max;
    p->sum = stats.sum;
    p->zsum = stats.zsum;
    p->n_found = p->n_best
        ? topk(logits, net->vocab, block_max, p->n_best, p->best) : 0;
    for (int i = 0; i < p->n_listed; i++) {
        assert(p->listed[i] >= 0 && p->listed[i] < net->vocab);
        p->listed_logit[i] = logits[p->listed[i]];
    }
}

static void project_part(void *arg, int part, int n_parts)
{
    const struct project_work *w = arg;
    int lo = (int)((long)w->n * part / n_parts);
    int hi = (int)((long)w->n * (part + 1) / n_parts);

    for (int i = lo; i < hi; i++) project_row(w->c, i, &w->p[i]);
}

static enum status cpu_project(struct executor *x, int row, int n,
                               struct projection *p, struct err *e)
{
    struct cpu_executor *c = cpu_of(x);

    (void)e;
    assert(row >= 0 && n >= 0 && row + n <= c->n_rows);
    for (int at = 0, k; at < n; at += k) {
        struct project_work w = { c, p + at, 0 };

        k = n - at < c->project_rows ? n - at : c->project_rows;
        w.n = k;
        decoder_logits(&c->ws, c->hidden + (size_t)(row + at) * c->ws.ld, k,
                       c->logits);
        pool_run(c->ws.pool, project_part, &w);
    }
    return ST_OK;
}

static enum status cpu_distances(struct executor *x, int row, int n,
                                 const struct key_rows *keys, int from,
                                 int n_keys, float *out, size_t ldo,
                                 struct err *e)
{
    const struct cpu_executor *c = cpu_of(x);
    size_t size = keys->type == KEY_INT8 ? 1 : sizeof(float);
    struct distances a = {
        .q = c->hidden + (size_t)row * c->ws.ld, .ldq = c->ws.ld, .n_q = n,
        .keys = (const char *)keys->keys + (size_t)from * keys->ld * size,
        .ldk = keys->ld, .n = n_keys, .d = keys->d, .out = out, .ldo = ldo,
        .scale = keys->type == KEY_INT8 ? keys->scale + from : NULL,
    };

    (void)e;
    assert(row >= 0 && n > 0 && row + n <= c->n_rows);
    assert(from >= 0 && n_keys > 0 && from + n_keys <= keys->n);
    assert(keys->d == c->net->d);
    if (keys->type == KEY_INT8) c->net->k->distances_i8(&a);
    else c->net->k->distances_f32(&a);
    return ST_OK;
}

static enum status cpu_read(struct executor *x, enum state_kind kind, int row,
                            int n, const float **states, size_t *ld,
                            struct err *e)
{
    const struct cpu_executor *c = cpu_of(x);
    const float *from = kind == STATE_FINAL ? c->hidden
                      : kind == STATE_FFN ? c->ffn_in : c->encoded;

    (void)e;
    assert(kind != STATE_FFN || c->has & WANT_FFN);
    assert(kind != STATE_SOURCE || c->has & WANT_SOURCE);
    assert(row >= 0 && n >= 0 &&
           row + n <= (kind == STATE_SOURCE ? c->n_encoded : c->n_rows));
    *ld = c->ws.ld;
    *states = from + (size_t)row * c->ws.ld;
    return ST_OK;
}

static enum status cpu_attention(struct executor *x, int row, int n,
                                 const float **weights, size_t *ld,
                                 struct err *e)
{
    const struct cpu_executor *c = cpu_of(x);

    (void)e;
    assert(c->has & WANT_ATTENTION);
    assert(row >= 0 && n >= 0 && row + n <= c->n_rows);
    *ld = c->cross_ld;
    *weights = c->cross + (size_t)row * c->cross_ld;
    return ST_OK;
}

/* ---- creation and destruction ------------------------------------------- */

static void cpu_use_pool(struct executor *x, bool use)
{
    struct cpu_executor *c = cpu_of(x);

    c->ws.pool = use ? c->pool : NULL;
}

static void cpu_executor_free(struct executor *x)
{
    struct cpu_executor *c = cpu_of(x);

    for (int i = 0; c->lanes && i < x->limits.lanes; i++)
        crosskv_release(&c->lanes[i]);
    free(c->lanes);
    crosskv_release(&c->forced);
    free(c->parts);
    free(c->rows);
    free(c->start_slot);
    free(c->started);
    free(c->paths);
    mem_free(c->hidden);
    mem_free(c->ffn_in);
    mem_free(c->encoded);
    mem_free(c->cross);
    mem_free(c->cross_scratch);
    mem_free(c->logits);
    mem_free(c->block_max);
    if (c->cache.kv) kvcache_release(&c->cache);
    workspace_release(&c->ws);
    free(c);
}

static const struct executor_ops cpu_executor_ops = {
    .free = cpu_executor_free, .use_pool = cpu_use_pool,
    .encode = cpu_encode, .slot_new = cpu_slot_new,
    .slot_drop = cpu_slot_drop, .run = cpu_run, .force = cpu_force,
    .project = cpu_project, .distances = cpu_distances, .read = cpu_read,
    .attention = cpu_attention,
};

static int max_of(int a, int b) { return a > b ? a : b; }

/* What rows of start_id need. The slots are taken once. */
static enum status alloc_starts(struct cpu_executor *c, struct err *e)
{
    const struct executor_limits *l = &c->x.limits;
    size_t lanes = (size_t)l->lanes, width = (size_t)l->max_len + 1;

    if (!c->before || !lanes) return ST_OK;
    c->start_slot = calloc(lanes, sizeof *c->start_slot);
    c->started = calloc(lanes, sizeof *c->started);
    c->paths = calloc((size_t)l->rows * width, sizeof *c->paths);
    if (!c->start_slot || !c->started || !c->paths)
        return err_nomem(e, "a batch; try a smaller batch or beam");
    for (size_t i = 0; i < lanes; i++) {
        c->start_slot[i] = kvcache_take(&c->cache, -1);
        assert(c->start_slot[i] >= 0);
    }
    return ST_OK;
}

static enum status cpu_executor_alloc(struct cpu_executor *c, struct err *e)
{
    const struct executor_limits *l = &c->x.limits;
    size_t n = (size_t)c->all_rows, few = (size_t)c->project_rows;

    c->blocks = linear_panels(&c->net->w->project);
    c->lanes = calloc((size_t)l->lanes + 1, sizeof *c->lanes);
    c->parts = calloc(n, sizeof *c->parts);
    c->rows = calloc(n, sizeof *c->rows);
    c->hidden = mem_zalloc(n * c->ws.ld, sizeof *c->hidden);
    c->ffn_in = mem_alloc(n * c->ws.ld, sizeof *c->ffn_in);
    if (!l->slots) c->encoded = mem_alloc(n * c->ws.ld, sizeof *c->encoded);
    c->cross_ld = (size_t)pad_to(max_of(l->max_source, 1), 16);
    c->cross = mem_alloc(n * c->cross_ld, sizeof *c->cross);
    c->cross_scratch = mem_alloc((size_t)pool_threads(c->pool) *
                                 CROSS_QUERIES * (size_t)c->net->heads *
                                 c->cross_ld, sizeof *c->cross_scratch);
    c->logits = mem_alloc(few * c->ws.ld_vocab, sizeof *c->logits);
    c->block_max = mem_alloc(few * (size_t)c->blocks, sizeof *c->block_max);
    if (c->lanes && c->parts && c->rows && c->hidden && c->ffn_in &&
        (c->encoded || l->slots) && c->cross && c->cross_scratch &&
        c->logits && c->block_max)
        return alloc_starts(c, e);
    return err_nomem(e, "a batch; try a smaller batch or beam");
}

static enum status cpu_executor_init(struct cpu_executor *c, struct err *e)
{
    const struct executor_limits *l = &c->x.limits;
    /* All sources of a forced pass together fit its rows. A source that is
     * encoded into a lane may be longer. */
    int rows = l->slots ? max_of(c->all_rows, l->max_source) : c->all_rows;
    int starts = c->before ? l->lanes : 0;
    enum status st = workspace_init(&c->ws, c->net, c->pool, rows,
                                    max_of(l->max_source,
                                           l->max_len + c->before), e);

    if (!st && l->slots > INT_MAX - starts)
        st = err_set(e, ST_LIMIT, "a batch of %d slots is too large",
                     l->slots);
    if (!st && l->slots)
        st = kvcache_init(&c->cache, l->slots + starts,
                          c->net->w->cfg.decoder_layers, c->net->d, e);
    if (!st) st = cpu_executor_alloc(c, e);
    if (!st && !l->slots) st = crosskv_init(&c->forced, c->net, l->rows, e);
    for (int i = 0; !st && i < l->lanes; i++)
        st = crosskv_init(&c->lanes[i], c->net, l->max_source, e);
    return st;
}

static enum status cpu_executor_new(const struct backend *b,
                                    const struct executor_limits *l,
                                    struct pool *pool, struct executor **out,
                                    struct err *e)
{
    const struct cpu_backend *cb = (const struct cpu_backend *)(const void *)b;
    struct cpu_executor *c = calloc(1, sizeof *c);
    enum status st;

    *out = NULL;
    if (!c) return err_nomem(e, "a worker");
    assert(l->rows > 0 && l->lanes >= 0 && l->slots >= 0);
    assert(!l->lanes == !l->slots);
    assert(l->max_source <= b->max_pos && l->max_len <= b->max_pos);
    c->x = (struct executor){ &cpu_executor_ops, b, *l };
    c->net = cb->net;
    c->pool = pool;
    c->before = b->cfg->target_prefix_id >= 0;
    /* A lane gets one row of start_id. A forced pass has one for each text:
     * mostly, there is room for all of them, and always for one. */
    c->all_rows = l->rows + (!c->before ? 0 : l->slots ? l->lanes
                                                       : l->rows / 8 + 1);
    c->project_rows = l->slots || l->rows < FORCED_PROJECT_ROWS
        ? l->rows : FORCED_PROJECT_ROWS;
    st = cpu_executor_init(c, e);
    if (st) cpu_executor_free(&c->x);
    else *out = &c->x;
    return st;
}

static void cpu_backend_close(struct backend *b) { free(b); }

static const struct backend_ops cpu_backend_ops = {
    "cpu", cpu_backend_close, cpu_executor_new
};

enum status cpu_backend_new(struct backend **out, const struct net *net,
                            struct err *e)
{
    struct cpu_backend *c = calloc(1, sizeof *c);

    *out = NULL;
    if (!c) return err_nomem(e, "model");
    c->net = net;
    c->b = (struct backend){ &cpu_backend_ops, &net->w->cfg, net->d,
                             net->vocab, net->max_pos -
                             (net->w->cfg.target_prefix_id >= 0) };
    *out = &c->b;
    return ST_OK;
}
