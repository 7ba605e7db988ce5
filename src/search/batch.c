/* batch.c - see batch.h.
 *
 * Of a lane's hypotheses, number i has its path (the cache slots of its
 * tokens) in path + i * max_len. When the beam is reordered the paths are
 * copied to the other of two buffers: a few hundred integers at most. */
#include "search/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/decoder.h"
#include "search/beam.h"
#include "search/topk.h"

struct lane {
    struct job *job;            /* NULL: free */
    struct memory mem;
    struct beam beam;
    int32_t *path, *path_next;  /* [beam, max_len] */
    int first_row;              /* in the current pass */
};

struct batch {
    const struct net *net;
    struct search_options o;
    struct mixer *mixer;
    struct pool *pool;          /* ws.pool, or that is NULL for now */
    struct workspace ws;
    struct kvcache cache;
    struct lane *lanes;         /* [o.lanes] */
    int n_busy;
    int max_len;                /* of any sentence */
    struct source *sources;     /* [lanes] being encoded */
    int max_rows;               /* lanes * beam */
    struct row *rows;           /* [max_rows], and beside it: */
    int *row_lane;
    int32_t *row_state, *row_parent;
    float *hidden;              /* [max_rows, ws.ld] */
    float *logits;              /* [max_rows, ws.ld_vocab] */
    float *block_max;           /* [max_rows, blocks] */
    int blocks;
    struct row_stats *stats;
    struct mix *mix;
    float *cross_scratch;       /* for attention, when it is asked for */
    int n_rows;                 /* of the current pass */
    uint64_t passes, total_rows;
};

/* ---- birth and death ------------------------------------------------- */

int batch_max_rows(const struct search_options *o)
{
    return o->lanes * o->beam;
}

static enum status lane_init(struct lane *l, struct batch *b, struct err *e)
{
    size_t n = (size_t)b->o.beam * (size_t)b->max_len;
    enum status st;

    st = memory_init(&l->mem, b->net, b->o.max_source, e);
    if (!st)
        st = beam_init(&l->beam, &b->o, b->net->w->cfg.eos_id, b->max_len, e);
    if (st) return st;
    l->path = malloc(n * sizeof *l->path);
    l->path_next = malloc(n * sizeof *l->path_next);
    return l->path && l->path_next ? ST_OK : err_nomem(e, "paths");
}

static enum status alloc_rows(struct batch *b, struct err *e)
{
    size_t n = (size_t)b->max_rows;

    b->blocks = linear_panels(&b->net->w->project);
    b->rows = calloc(n, sizeof *b->rows);
    b->row_lane = calloc(n, sizeof *b->row_lane);
    b->row_state = calloc(n, sizeof *b->row_state);
    b->row_parent = calloc(n, sizeof *b->row_parent);
    b->hidden = mem_zalloc(n * b->ws.ld, sizeof *b->hidden);
    b->logits = mem_alloc(n * b->ws.ld_vocab, sizeof *b->logits);
    b->block_max = mem_alloc(n * (size_t)b->blocks, sizeof *b->block_max);
    b->stats = calloc(n, sizeof *b->stats);
    b->mix = calloc(n, sizeof *b->mix);
    b->sources = calloc((size_t)b->o.lanes, sizeof *b->sources);
    b->cross_scratch = mem_alloc((size_t)b->net->heads *
                                 (size_t)b->o.max_source, sizeof(float));
    if (b->rows && b->row_lane && b->row_state && b->row_parent && b->hidden &&
        b->logits && b->block_max && b->stats && b->mix && b->sources &&
        b->cross_scratch)
        return ST_OK;
    return err_nomem(e, "a batch; try a smaller batch or beam");
}

static enum status init(struct batch *b, struct pool *pool, struct err *e)
{
    int longest = b->o.max_source > b->max_len ? b->o.max_source : b->max_len;
    size_t slots = (size_t)b->max_rows * (size_t)b->max_len;
    int rows = b->max_rows > b->o.max_source ? b->max_rows : b->o.max_source;
    enum status st;

    if (slots > INT32_MAX)
        return err_set(e, ST_LIMIT, "batch %d, beam %d and translations of %d "
                       "pieces are too much together", b->o.lanes, b->o.beam,
                       b->max_len);
    st = workspace_init(&b->ws, b->net, pool, rows, longest, e);
    if (!st)
        st = kvcache_init(&b->cache, (int)slots, b->net->w->cfg.decoder_layers,
                          b->net->d, e);
    if (!st) st = alloc_rows(b, e);
    if (st) return st;
    b->lanes = calloc((size_t)b->o.lanes, sizeof *b->lanes);
    if (!b->lanes) return err_nomem(e, "lanes");
    for (int i = 0; i < b->o.lanes && !st; i++)
        st = lane_init(&b->lanes[i], b, e);
    return st;
}

enum status batch_new(struct batch **out, const struct net *net,
                      const struct search_options *o, struct pool *pool,
                      struct mixer *mixer, struct err *e)
{
    struct batch *b = calloc(1, sizeof *b);
    enum status st;

    *out = NULL;
    if (!b) return err_nomem(e, "a batch");
    b->net = net;
    b->o = *o;
    b->mixer = mixer;
    b->pool = pool;
    b->max_rows = batch_max_rows(o);
    b->max_len = search_max_len(o, net, o->max_source);
    st = init(b, pool, e);
    if (st) batch_free(b);
    else *out = b;
    return st;
}

void batch_free(struct batch *b)
{
    if (!b) return;
    for (int i = 0; b->lanes && i < b->o.lanes; i++) {
        memory_release(&b->lanes[i].mem);
        beam_release(&b->lanes[i].beam);
        free(b->lanes[i].path);
        free(b->lanes[i].path_next);
    }
    free(b->lanes);
    free(b->rows);
    free(b->row_lane);
    free(b->row_state);
    free(b->row_parent);
    mem_free(b->hidden);
    mem_free(b->logits);
    mem_free(b->block_max);
    mem_free(b->cross_scratch);
    free(b->stats);
    free(b->mix);
    free(b->sources);
    kvcache_release(&b->cache);
    workspace_release(&b->ws);
    free(b);
}

void batch_use_pool(struct batch *b, bool use)
{
    b->ws.pool = use ? b->pool : NULL;
}

int batch_free_lanes(const struct batch *b) { return b->o.lanes - b->n_busy; }
int batch_busy_lanes(const struct batch *b) { return b->n_busy; }

void batch_counts(const struct batch *b, uint64_t *passes, uint64_t *rows)
{
    *passes = b->passes;
    *rows = b->total_rows;
}

/* ---- entering -------------------------------------------------------- */

static struct lane *free_lane(struct batch *b)
{
    for (int i = 0; i < b->o.lanes; i++)
        if (!b->lanes[i].job) return &b->lanes[i];
    return NULL;
}

static enum status enter(struct batch *b, struct job *j, const float *x,
                         struct err *e)
{
    struct lane *l = free_lane(b);
    int at = (int)(l - b->lanes);

    if (b->mixer && b->mixer->begin) {
        enum status st = b->mixer->begin(b->mixer, at, j->user, e);
        if (st) return st;
    }
    memory_fill(&l->mem, &b->ws, x, j->n_src);
    beam_begin(&l->beam, search_max_len(&b->o, b->net, j->n_src));
    l->job = j;
    j->n_hyps = j->steps = 0;
    b->n_busy++;
    return ST_OK;
}

/* As many jobs from the front as fit the workspace, encoded in one pass. */
static int encode_some(struct batch *b, struct job **jobs, int n)
{
    int rows = 0, k = 0;

    while (k < n && rows + jobs[k]->n_src <= b->ws.rows) {
        b->sources[k] = (struct source){ jobs[k]->src, jobs[k]->n_src };
        rows += jobs[k++]->n_src;
    }
    encoder_run(&b->ws, b->sources, k, NULL, NULL);
    return k;
}

enum status batch_add(struct batch *b, struct job **jobs, int n,
                      struct err *e)
{
    while (n > 0) {
        int k = encode_some(b, jobs, n), row = 0;

        for (int i = 0; i < k; row += jobs[i++]->n_src) {
            enum status st = enter(b, jobs[i],
                                   b->ws.x + (size_t)row * b->ws.ld, e);
            if (st) return st;
        }
        jobs += k;
        n -= k;
    }
    return ST_OK;
}

/* ---- a pass ---------------------------------------------------------- */

static void lane_rows(struct batch *b, struct lane *l)
{
    struct beam *bm = &l->beam;

    l->first_row = b->n_rows;
    for (int i = 0; i < bm->n_live; i++, b->n_rows++) {
        int32_t *path = l->path + (size_t)i * (size_t)b->max_len;
        int32_t before = bm->t > 0 ? path[bm->t - 1] : -1;
        int32_t token = beam_token(bm, i);

        path[bm->t] = kvcache_take(&b->cache, before);
        kvcache_drop(&b->cache, before);        /* the new slot holds it */
        b->rows[b->n_rows] = (struct row){ &l->mem,
            token < 0 ? b->net->w->cfg.start_id : token, bm->t, path };
        b->row_lane[b->n_rows] = (int)(l - b->lanes);
        b->row_state[b->n_rows] = path[bm->t];
        b->row_parent[b->n_rows] = before;
    }
    l->job->steps++;
}

static void stats_part(void *arg, int part, int n_parts)
{
    struct batch *b = arg;
    int lo = (int)((long)b->n_rows * part / n_parts);
    int hi = (int)((long)b->n_rows * (part + 1) / n_parts);

    for (int i = lo; i < hi; i++)
        b->net->k->row_stats(b->logits + (size_t)i * b->ws.ld_vocab,
                             b->net->vocab,
                             b->block_max + (size_t)i * (size_t)b->blocks,
                             &b->stats[i]);
}

static void run_pass(struct batch *b)
{
    struct decoder_pass p = { .rows = b->rows, .n = b->n_rows,
                              .hidden = b->hidden };

    decoder_run(&b->ws, &b->cache, &p);
    decoder_logits(&b->ws, b->hidden, b->n_rows, b->logits);
    pool_run(b->ws.pool, stats_part, b);
    b->passes++;
    b->total_rows += (uint64_t)b->n_rows;
}

static void run_mixer(struct batch *b)
{
    struct mixer_step s = {
        .rows = b->n_rows, .d = b->net->d, .vocab = b->net->vocab,
        .hidden = b->hidden, .ld_hidden = b->ws.ld,
        .logits = b->logits, .ld_logits = b->ws.ld_vocab,
        .stats = b->stats, .lane = b->row_lane, .state = b->row_state,
        .parent = b->row_parent,
    };

    for (int i = 0; i < b->n_rows; i++)
        b->mix[i] = (struct mix){ .keep = 1 };
    if (b->mixer) b->mixer->step(b->mixer, &s, b->mix);
}

/* ---- candidates ------------------------------------------------------ */

/* The model's probability of a token, and the log search works with: a floor
 * of 1e-9 keeps it finite (method 0.5). */
static double row_prob(const struct batch *b, int row, int32_t token)
{
    double x = b->logits[(size_t)row * b->ws.ld_vocab + (size_t)token];

    return exp(x - (double)b->stats[row].max) / (double)b->stats[row].sum;
}

static float search_log(double p)
{
    return (float)log(fmin(p + 1e-9, 1));       /* never above zero */
}

static double listed(const struct mix *m, int32_t token)
{
    for (int i = 0; i < m->n; i++)
        if (m->token[i] == token) return (double)m->add[i];
    return -1;
}

/* Tokens that no translation has: padding, the beginning of a sentence, and
 * as its first token the end. (The end may be any of these, too.) */
static bool barred(const struct batch *b, const struct beam *bm, int32_t id)
{
    const struct config *c = &b->net->w->cfg;

    if (id == c->eos_id) return bm->t == 0;
    return id == c->pad_id || id == c->bos_id;
}

static void offer(struct batch *b, struct lane *l, int i, int32_t token)
{
    int row = l->first_row + i;
    double add = listed(&b->mix[row], token);
    double p = (double)b->mix[row].keep * row_prob(b, row, token);

    beam_offer(&l->beam, i, token, search_log(add > 0 ? p + add : p));
}

/* The model's best tokens and those the mixer lists: mixing only raises the
 * listed ones against the others, so no other token can be among the best. */
static void offer_best(struct batch *b, struct lane *l, int i)
{
    struct top top[TOPK_MAX];
    int row = l->first_row + i, width = beam_width(&l->beam), given = 0, n;
    const struct mix *m = &b->mix[row];

    n = topk(b->logits + (size_t)row * b->ws.ld_vocab, b->net->vocab,
             b->block_max + (size_t)row * (size_t)b->blocks, width + 3, top);
    for (int j = 0; j < m->n; j++)
        if (!barred(b, &l->beam, m->token[j])) offer(b, l, i, m->token[j]);
    for (int j = 0; j < n && given < width; j++) {
        if (barred(b, &l->beam, top[j].id)) continue;
        given++;
        if (m->n && listed(m, top[j].id) >= 0) continue;
        offer(b, l, i, top[j].id);
    }
}

static void offer_all(struct batch *b, struct lane *l)
{
    const struct beam *bm = &l->beam;

    for (int i = 0; i < bm->n_live; i++) {
        if (bm->t < l->job->n_prefix)
            offer(b, l, i, l->job->prefix[bm->t]);
        else if (b->o.lenpen_type == LENPEN_FAIRSEQ &&
                 bm->t + 1 == bm->max_len)
            offer(b, l, i, bm->eos);    /* fairseq ends at the limit */
        else
            offer_best(b, l, i);
    }
}

/* ---- moving on ------------------------------------------------------- */

/* Paths follow the hypotheses; slots nobody needs any more are given back. */
static void reorder(struct batch *b, struct lane *l, int rows_before)
{
    struct beam *bm = &l->beam;
    size_t ld = (size_t)b->max_len, n = (size_t)bm->t;
    int32_t *swap;

    for (int i = 0; i < bm->n_live; i++) {
        const int32_t *from = l->path + (size_t)bm->live[i].from * ld;

        memcpy(l->path_next + (size_t)i * ld, from, n * sizeof *from);
        kvcache_hold(&b->cache, from[n - 1]);
    }
    for (int i = 0; i < rows_before; i++)
        kvcache_drop(&b->cache, l->path[(size_t)i * ld + n - 1]);
    swap = l->path;
    l->path = l->path_next;
    l->path_next = swap;
}

static void drop_slots(struct batch *b, struct lane *l)
{
    if (l->beam.t == 0) return;
    for (int i = 0; i < l->beam.n_live; i++)
        kvcache_drop(&b->cache, l->path[(size_t)i * (size_t)b->max_len +
                                        (size_t)l->beam.t - 1]);
}

/* A finished translation, read again token by token in passes of as many rows
 * as there is room for: for its cross-attention, and to tell the mixer. */
static void read_again(struct batch *b, struct lane *l, int hyp)
{
    struct hyp *h = &l->job->hyps[hyp];
    int32_t *path = l->path_next, slot = -1;
    int n_src = l->job->n_src;

    for (int at = 0; at < h->n;) {
        struct decoder_pass p = { .rows = b->rows, .hidden = b->hidden,
            .cross_ld = (size_t)n_src, .cross_scratch = b->cross_scratch };

        if (h->attention)
            p.cross = h->attention + (size_t)at * (size_t)n_src;
        for (; p.n < b->max_rows && at < h->n; p.n++, at++) {
            slot = path[at] = kvcache_take(&b->cache, slot);
            /* Held by what follows it and, the last one, by us. */
            if (at) kvcache_drop(&b->cache, path[at - 1]);
            b->rows[p.n] = (struct row){ &l->mem,
                at ? h->tokens[at - 1] : b->net->w->cfg.start_id, at, path };
        }
        decoder_run(&b->ws, &b->cache, &p);
        if (b->o.tell && b->mixer && b->mixer->tell)
            b->mixer->tell(b->mixer, (int)(l - b->lanes), hyp, at - p.n,
                           b->hidden, b->ws.ld, p.n);
    }
    kvcache_drop(&b->cache, slot);
}

static struct job *leave(struct batch *b, struct lane *l)
{
    struct job *j = l->job;

    drop_slots(b, l);
    beam_results(&l->beam, j);
    for (int i = 0; (b->o.attention || b->o.tell) && i < j->n_hyps; i++)
        read_again(b, l, i);
    if (b->mixer && b->mixer->end) b->mixer->end(b->mixer, (int)(l - b->lanes));
    l->job = NULL;
    b->n_busy--;
    return j;
}

struct job *batch_step(struct batch *b)
{
    struct job *done = NULL, **tail = &done;

    b->n_rows = 0;
    for (int i = 0; i < b->o.lanes; i++)
        if (b->lanes[i].job) lane_rows(b, &b->lanes[i]);
    if (b->n_rows == 0) return NULL;
    run_pass(b);
    run_mixer(b);
    for (int i = 0; i < b->o.lanes; i++) {
        struct lane *l = &b->lanes[i];
        int before = l->beam.n_live;
        bool decided;

        if (!l->job) continue;
        offer_all(b, l);
        decided = beam_advance(&l->beam);
        reorder(b, l, before);
        if (!decided) continue;
        *tail = leave(b, l);
        (*tail)->next = NULL;
        tail = &(*tail)->next;
    }
    return done;
}

struct job *batch_abandon(struct batch *b)
{
    struct job *list = NULL;

    for (int i = 0; i < b->o.lanes; i++) {
        struct lane *l = &b->lanes[i];

        if (!l->job) continue;
        drop_slots(b, l);
        if (b->mixer && b->mixer->end) b->mixer->end(b->mixer, i);
        l->job->next = list;
        list = l->job;
        l->job = NULL;
        b->n_busy--;
    }
    return list;
}
