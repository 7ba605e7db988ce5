/* key_builder.c - runs pairs through the model, in groups that fill a pass, and
 * stores the decoder states as keys. It neither looks keys up nor caches them.
 *
 * Invariants:
 *   - x exists when `rows` rows can be run; xq and xs have room for them.
 *   - A group has at most `rows` distinct source tokens and at most `rows`
 *     target rows. */
#include "knn/key_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "tensor/kernels.h"
#include "tensor/tensor.h"

struct key_builder {
    const struct backend *backend;
    struct pool *pool;          /* borrowed */
    struct key_builder_options o;
    int rows;                   /* most rows of a pass */
    struct executor *x;         /* NULL: not made yet */
    bool use_pool;
    struct source *sources;     /* the distinct sources of the group */
    struct forced_text *texts;  /* [pairs of the group] */
    size_t cap_texts, cap_sources;
    uint8_t *xq;                /* [rows, d padded to 4] quantized states */
    float *xs;                  /* [rows] their scales */
};

enum status key_builder_new(struct key_builder **out,
                            const struct backend *backend, struct pool *pool,
                            const struct key_builder_options *o, struct err *e)
{
    struct key_builder *kb = calloc(1, sizeof *kb);

    assert(o->kind == STATE_FINAL || o->kind == STATE_FFN);
    *out = kb;
    if (!kb) return err_nomem(e, "key cache");
    kb->backend = backend;
    kb->pool = pool;
    kb->o = *o;
    kb->rows = o->rows > 0 ? o->rows : 1;
    kb->use_pool = true;
    return ST_OK;
}

static void key_builder_release_room(struct key_builder *kb)
{
    executor_free(kb->x);
    mem_free(kb->xq);
    mem_free(kb->xs);
    kb->x = NULL;
    kb->xq = NULL;
    kb->xs = NULL;
}

void key_builder_free(struct key_builder *kb)
{
    if (!kb) return;
    key_builder_release_room(kb);
    free(kb->texts);
    free(kb->sources);
    free(kb);
}

/* ---- room ---------------------------------------------------------------- */

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

static enum status key_builder_make_room(struct key_builder *kb, int rows,
                                         struct err *e)
{
    const struct backend *b = kb->backend;
    struct executor_limits l = { .max_len = b->max_pos };
    enum status st;

    if (kb->x && rows <= kb->rows) return ST_OK;
    key_builder_release_room(kb);
    if (rows > kb->rows) kb->rows = rows;
    l.rows = kb->rows;
    l.max_source = b->max_pos < kb->rows ? b->max_pos : kb->rows;
    st = backend_executor_new(b, &l, kb->pool, &kb->x, e);
    if (st) return st;
    kb->xq = mem_alloc((size_t)kb->rows * (size_t)pad_to(b->d, 4), 1);
    kb->xs = mem_alloc((size_t)kb->rows, sizeof *kb->xs);
    if (kb->xq && kb->xs) return ST_OK;
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

/* List the rows of a group. A source that several pairs share is encoded once:
 * memories often have several translations of one text. Returns the number of
 * distinct sources. */
static int list_group(struct key_builder *kb, const struct key_pair *pairs,
                      int n)
{
    int sources = 0;

    for (int i = 0; i < n; i++) {
        const struct key_pair *p = &pairs[i];
        int first = find_source(pairs, i, p);

        kb->texts[i] = (struct forced_text){
            first < i ? kb->texts[first].source : sources, p->tgt,
            target_rows(kb, p) };
        if (first == i)
            kb->sources[sources++] = (struct source){ p->src, p->n_src };
    }
    return sources;
}

/* Store the states of a pair, rows of `ld` floats, as its keys. */
static void fill_keys(struct key_builder *kb, struct key_pair *p,
                      const float *states, size_t ld)
{
    int rows = target_rows(kb, p), d = kb->backend->d;
    size_t bytes = (size_t)pad_to(d, 4);
    bool quantized = kb->o.type == KEY_INT8;

    if (quantized)
        kernels_pick(NULL)->quantize(states, ld, rows, d, kb->xq, kb->xs);
    for (int t = 0; t < rows; t++) {
        int32_t token = t < p->n_tgt ? p->tgt[t] : kb->backend->cfg->eos_id;

        if (quantized)
            pair_keys_put_bytes(p->keys, t, kb->xq + (size_t)t * bytes,
                                kb->xs[t], token);
        else
            pair_keys_put(p->keys, t, states + (size_t)t * ld, token);
    }
}

/* Store which piece of the source each state of the pair attends to. */
static enum status fill_sources(struct key_builder *kb, struct key_pair *p,
                                int row, struct err *e)
{
    int rows = target_rows(kb, p);
    const float *weights;
    size_t ld;
    enum status st = kb->x->ops->attention(kb->x, row, rows, &weights, &ld, e);

    for (int t = 0; !st && t < rows; t++)
        pair_keys_put_from(p->keys, t,
                           attended_piece(kb->backend->cfg,
                                          weights + (size_t)t * ld, p->n_src));
    return st;
}

/* The first row of a source among the encoder rows of the group. */
static int encoder_row(const struct key_builder *kb, int source)
{
    int row = 0;

    for (int i = 0; i < source; i++) row += kb->sources[i].n;
    return row;
}

/* Copy the encoder states of the source of a pair, which is the source
 * `source` of the group. */
static enum status copy_encoded(struct key_builder *kb, struct key_pair *p,
                                int source, struct err *e)
{
    const float *states;
    size_t ld;
    enum status st = pair_keys_new(&p->keys->sources, KEY_F32, p->n_src,
                                   kb->backend->d, e);

    if (st) return st;
    st = kb->x->ops->read(kb->x, STATE_SOURCE, encoder_row(kb, source),
                          p->n_src, &states, &ld, e);
    for (int i = 0; !st && i < p->n_src; i++)
        pair_keys_put(p->keys->sources, i, states + (size_t)i * ld, p->src[i]);
    return st;
}

/* Make the keys of a pair from the decoder states before its tokens, which are
 * in the rows from `row` on. */
static enum status key_builder_make_keys(struct key_builder *kb,
                                         struct key_pair *p, int row,
                                         struct err *e)
{
    size_t ld;
    const float *states;
    int rows = target_rows(kb, p);
    enum status st = pair_keys_new(&p->keys, kb->o.type, rows, kb->backend->d,
                                   e);

    if (st) return st;
    st = kb->x->ops->read(kb->x, kb->o.kind, row, rows, &states, &ld, e);
    if (st) return st;
    fill_keys(kb, p, states, ld);
    return kb->o.no_attention ? ST_OK : fill_sources(kb, p, row, e);
}

/* What the passes must keep. */
static unsigned key_builder_want(const struct key_builder *kb)
{
    return (kb->o.no_attention ? 0 : WANT_ATTENTION) |
           (kb->o.kind == STATE_FFN ? WANT_FFN : 0) |
           (kb->o.with_sources ? WANT_SOURCE : 0);
}

static enum status run_group(struct key_builder *kb, struct key_pair *pairs,
                             int n, struct err *e)
{
    int sources, row = 0;
    enum status st;

    if (!mem_grow(&kb->texts, &kb->cap_texts, (size_t)n, sizeof *kb->texts) ||
        !mem_grow(&kb->sources, &kb->cap_sources, (size_t)n,
                  sizeof *kb->sources))
        return err_nomem(e, "key cache");
    sources = list_group(kb, pairs, n);
    st = kb->x->ops->force(kb->x, kb->sources, sources, kb->texts, n,
                           key_builder_want(kb), e);
    for (int i = 0; !st && i < n; i++) {
        st = key_builder_make_keys(kb, &pairs[i], row, e);
        if (!st && kb->o.with_sources)
            st = copy_encoded(kb, &pairs[i], kb->texts[i].source, e);
        row += target_rows(kb, &pairs[i]);
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
        if (key_builder_widest(kb, &pairs[i]) > kb->backend->max_pos)
            return err_set(e, ST_LIMIT, "a pair has more than %d pieces, the "
                           "most that this model can read",
                           kb->backend->max_pos);
        if (key_builder_widest(kb, &pairs[i]) > most)
            most = key_builder_widest(kb, &pairs[i]);
    }
    st = key_builder_make_room(kb, most, e);
    if (st) return st;
    kb->x->ops->use_pool(kb->x, kb->use_pool);
    st = run_all(kb, pairs, n, e);
    for (int i = 0; st && i < n; i++) {
        pair_keys_drop(pairs[i].keys);
        pairs[i].keys = NULL;
    }
    /* An executor whose device failed can only be freed. */
    if (st == ST_DEVICE) key_builder_release_room(kb);
    return st;
}

void key_builder_set_pool(struct key_builder *kb, bool use)
{
    kb->use_pool = use;
}
