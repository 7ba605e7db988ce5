/* key_builder.c - runs pairs through encoder and decoder, in groups that fill a
 * workspace, and stores the decoder states as keys. It neither looks keys up
 * nor caches them.
 *
 * Invariants:
 *   - ws, encoded, row and hidden are allocated for `rows` rows when `ready`.
 *   - A group has at most `rows` distinct source tokens and at most `rows`
 *     target rows. */
#include "knn/key_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"

struct key_builder {
    const struct net *net;
    struct pool *pool;          /* borrowed; ws.pool when use_pool is set */
    struct key_builder_options o;
    int rows;                   /* size of the workspace */
    struct workspace ws;
    bool ready;                 /* ws and encoded are initialized */
    bool use_pool;
    struct crosskv encoded;     /* all distinct sources of a group */
    struct crosskv *crosskvs;   /* [pairs of the group] its part of encoded */
    struct source *sources;     /* the distinct sources of the group */
    struct decoder_row *row;    /* [rows] */
    float *hidden;              /* [rows, ws.ld] */
    size_t cap_crosskvs, cap_sources;
};

enum status key_builder_new(struct key_builder **out, const struct net *net,
                            struct pool *pool,
                            const struct key_builder_options *o, struct err *e)
{
    struct key_builder *kb = calloc(1, sizeof *kb);

    *out = kb;
    if (!kb) return err_nomem(e, "key cache");
    kb->net = net;
    kb->pool = pool;
    kb->o = *o;
    kb->rows = o->rows > 0 ? o->rows : 1;
    kb->use_pool = true;
    return ST_OK;
}

static void key_builder_release_room(struct key_builder *kb)
{
    if (kb->ready) {
        workspace_release(&kb->ws);
        crosskv_release(&kb->encoded);
    }
    kb->ready = false;
    free(kb->row);
    mem_free(kb->hidden);
    kb->row = NULL;
    kb->hidden = NULL;
}

void key_builder_free(struct key_builder *kb)
{
    if (!kb) return;
    key_builder_release_room(kb);
    free(kb->crosskvs);
    free(kb->sources);
    free(kb);
}

/* ---- workspace ----------------------------------------------------------- */

/* Decoder rows of a pair: the start token and the target without its last
 * token. The last token is included when EOS gets an entry. */
static int target_rows(const struct key_builder *kb, const struct key_pair *p)
{
    return p->n_tgt + (kb->o.with_eos ? 1 : 0);
}

static int key_builder_widest(const struct key_builder *kb,
                              const struct key_pair *p)
{
    int t = target_rows(kb, p);

    return t > p->n_src ? t : p->n_src;
}

static enum status key_builder_init_workspace(struct key_builder *kb,
                                              struct err *e)
{
    const struct net *net = kb->net;
    enum status st = workspace_init(&kb->ws, net, kb->pool, kb->rows,
                                    net->max_pos, e);

    if (st) return st;
    st = crosskv_init(&kb->encoded, net, kb->rows, e);
    if (st) workspace_release(&kb->ws);
    kb->ready = !st;
    return st;
}

static enum status key_builder_make_room(struct key_builder *kb, int rows,
                                         struct err *e)
{
    enum status st;

    if (kb->ready && rows <= kb->rows) return ST_OK;
    key_builder_release_room(kb);
    if (rows > kb->rows) kb->rows = rows;
    st = key_builder_init_workspace(kb, e);
    if (st) return st;
    kb->row = calloc((size_t)kb->rows, sizeof *kb->row);
    kb->hidden = mem_zalloc((size_t)kb->rows * kb->ws.ld, sizeof(float));
    if (kb->row && kb->hidden) return ST_OK;
    key_builder_release_room(kb);
    return err_nomem(e, "key cache");
}

/* ---- one group ----------------------------------------------------------- */

/* The first of n pairs that has the same source as p; n when none has. */
static int find_source(const struct key_pair *pairs, int n,
                       const struct key_pair *p)
{
    int i = 0;

    while (i < n && (pairs[i].n_src != p->n_src ||
                     memcmp(pairs[i].src, p->src,
                            (size_t)p->n_src * sizeof *p->src)))
        i++;
    return i;
}

/* Encode the sources of a group. A source that several pairs share is encoded
 * once: memories often have several translations of one text. */
static void key_builder_encode(struct key_builder *kb,
                               const struct key_pair *pairs, int n)
{
    int rows = 0, sources = 0;

    for (int i = 0; i < n; i++) {
        if (find_source(pairs, i, &pairs[i]) < i) continue;
        kb->sources[sources++] = (struct source){ pairs[i].src,
                                                  pairs[i].n_src };
        rows += pairs[i].n_src;
    }
    assert(rows <= kb->rows);
    encoder_run(&kb->ws, kb->sources, sources, NULL, NULL);
    crosskv_fill(&kb->encoded, &kb->ws, kb->ws.x, rows);
    rows = 0;
    for (int i = 0; i < n; i++) {
        int first = find_source(pairs, i, &pairs[i]);

        if (first < i) {
            kb->crosskvs[i] = kb->crosskvs[first];
            continue;
        }
        kb->crosskvs[i] = crosskv_part(&kb->encoded, kb->net, rows,
                                       pairs[i].n_src);
        rows += pairs[i].n_src;
    }
}

static void key_builder_decode(struct key_builder *kb,
                               const struct key_pair *pairs, int n)
{
    struct decoder_pass pass = { .rows = kb->row, .hidden = kb->hidden };
    int at = 0;

    for (int i = 0; i < n; i++) {
        int rows = target_rows(kb, &pairs[i]);

        for (int t = 0; t < rows; t++)
            kb->row[at + t] = (struct decoder_row){ &kb->crosskvs[i],
                t ? pairs[i].tgt[t - 1] : kb->net->w->cfg.start_id, t, NULL };
        at += rows;
        assert(at <= kb->rows);
    }
    pass.n = at;
    if (at) decoder_run(&kb->ws, NULL, &pass);
}

static void fill_keys(const struct key_builder *kb, struct key_pair *p,
                      const float *hidden)
{
    const struct workspace *ws = &kb->ws;
    int rows = target_rows(kb, p), d = kb->net->d;
    size_t bytes = (size_t)pad_to(d, 4);
    bool quantized = kb->o.type == KEY_INT8;

    if (quantized)
        kb->net->k->quantize(hidden, ws->ld, rows, d, ws->xq, ws->xs);
    for (int t = 0; t < rows; t++) {
        int32_t token = t < p->n_tgt ? p->tgt[t] : kb->net->w->cfg.eos_id;

        if (quantized)
            pair_keys_put_bytes(p->keys, t, ws->xq + (size_t)t * bytes,
                                ws->xs[t], token);
        else
            pair_keys_put(p->keys, t, hidden + (size_t)t * ws->ld, token);
    }
}

/* Make the keys of a pair from the decoder states before its tokens. */
static enum status key_builder_make_keys(const struct key_builder *kb,
                                         struct key_pair *p,
                                         const float *hidden, struct err *e)
{
    enum status st = pair_keys_new(&p->keys, kb->o.type, target_rows(kb, p),
                                   kb->net->d, e);

    if (!st) fill_keys(kb, p, hidden);
    return st;
}

static enum status run_group(struct key_builder *kb, struct key_pair *pairs,
                             int n, struct err *e)
{
    const float *hidden;
    enum status st = ST_OK;

    if (!mem_grow(&kb->crosskvs, &kb->cap_crosskvs, (size_t)n,
                  sizeof *kb->crosskvs) ||
        !mem_grow(&kb->sources, &kb->cap_sources, (size_t)n,
                  sizeof *kb->sources))
        return err_nomem(e, "key cache");
    key_builder_encode(kb, pairs, n);
    key_builder_decode(kb, pairs, n);
    hidden = kb->hidden;
    for (int i = 0; !st && i < n; i++) {
        st = key_builder_make_keys(kb, &pairs[i], hidden, e);
        hidden += (size_t)target_rows(kb, &pairs[i]) * kb->ws.ld;
    }
    return st;
}

/* Encoder rows, counting each distinct source once, and decoder rows. */
struct key_builder_rows { int src, tgt; };

static void count_pair(const struct key_builder *kb,
                       const struct key_pair *pairs, int i,
                       struct key_builder_rows *n)
{
    if (find_source(pairs, i, &pairs[i]) == i) n->src += pairs[i].n_src;
    n->tgt += target_rows(kb, &pairs[i]);
}

/* How many of the n pairs make up the next group: it ends when it has `enough`
 * encoder or decoder rows. */
static int group_size(const struct key_builder *kb,
                      const struct key_pair *pairs, int n, int enough)
{
    struct key_builder_rows r = { 0, 0 };
    int i = 0;

    while (i < n && r.src < enough && r.tgt < enough)
        count_pair(kb, pairs, i++, &r);
    return r.src > kb->rows || r.tgt > kb->rows ? i - 1 : i;
}

/* The number of rows a group should have, so that there are as few groups as
 * possible and all have about the same size. Each group reads all weights of
 * the model. */
static int group_target(const struct key_builder *kb,
                        const struct key_pair *pairs, int n)
{
    struct key_builder_rows r = { 0, 0 };
    int most, groups;

    for (int i = 0; i < n; i++) count_pair(kb, pairs, i, &r);
    most = r.src > r.tgt ? r.src : r.tgt;
    groups = (most + kb->rows - 1) / kb->rows;
    return groups ? (most + groups - 1) / groups : 1;
}

static enum status run_all(struct key_builder *kb, struct key_pair *pairs,
                           int n, struct err *e)
{
    enum status st = ST_OK;
    int enough = group_target(kb, pairs, n);

    while (!st && n > 0) {
        int k = group_size(kb, pairs, n, enough);

        assert(k > 0 && k <= n);
        st = run_group(kb, pairs, k, e);
        pairs += k;
        n -= k;
    }
    return st;
}

enum status key_builder_run(struct key_builder *kb, struct key_pair *pairs,
                            int n, struct err *e)
{
    int most = kb->rows;
    enum status st;

    for (int i = 0; i < n; i++) pairs[i].keys = NULL;
    for (int i = 0; i < n; i++) {
        if (key_builder_widest(kb, &pairs[i]) > kb->net->max_pos)
            return err_set(e, ST_LIMIT, "a pair has more than %d pieces, the "
                           "most that this model can read", kb->net->max_pos);
        if (key_builder_widest(kb, &pairs[i]) > most)
            most = key_builder_widest(kb, &pairs[i]);
    }
    st = key_builder_make_room(kb, most, e);
    if (st) return st;
    kb->ws.pool = kb->use_pool ? kb->pool : NULL;
    st = run_all(kb, pairs, n, e);
    for (int i = 0; st && i < n; i++) {
        pair_keys_drop(pairs[i].keys);
        pairs[i].keys = NULL;
    }
    return st;
}

void key_builder_set_pool(struct key_builder *kb, bool use)
{
    kb->use_pool = use;
}
