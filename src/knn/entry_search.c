/* entry_search.c - collects decoder states in a queue, maps them to the space
 * of the keys, searches for all of them together, and turns the entries that
 * were found into neighbors. exact_scan.c compares keys, ivfpq.c searches an
 * index.
 *
 * Invariants:
 *   - The first n states are those of asked[0] .. asked[n - 1].
 *   - Nothing is allocated after entry_search_new. */
#include "knn/entry_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/exact_scan.h"
#include "knn/ivfpq.h"
#include "tensor/pack.h"

enum { QUEUE = EXACT_SCAN_ROWS };

/* Where the neighbors of a state go. */
struct asked {
    struct neighbor *out;
    int *found;
    bool fill;                  /* up to k, if the index found fewer */
};

struct entry_search {
    struct pass_search pass;    /* must be the first member */
    struct entries *s;          /* held */
    const struct kernels *kernels;
    struct exact_scan *scan;    /* of s, or of `later`, or NULL */
    bool use_pool;

    /* With an index only. */
    struct ivfpq_scan *index;   /* NULL: there is none */
    struct entries later;       /* the blocks of s that the index does not
                                   have */

    int n;                      /* states in the queue */
    struct asked asked[QUEUE];
    int k[QUEUE];
    float *states;              /* [QUEUE, ld] */
    size_t ld;                  /* d_model padded to 16 */

    /* With a map only. */
    float *matrix;              /* in panels */
    float *mapped;              /* [QUEUE, ld_mapped] */
    size_t ld_mapped;           /* d padded to PANEL */
};

/* ---- the map ------------------------------------------------------------- */

/* Map the states of the queue. The states are changed: the mean is subtracted.
 * Each number of the result is a sum in the order of the dimensions. */
static void map_states(struct entry_search *es)
{
    const struct entry_map *map = es->s->map;
    struct linear l = { .type = DT_F32, .n = map->to, .k = map->from,
                        .w = es->matrix };
    struct gemm g = { .l = &l, .rows = es->n, .x = es->states, .ldx = es->ld,
                      .y = es->mapped, .ldy = es->ld_mapped };

    for (int i = 0; i < es->n; i++) {
        float *x = es->states + (size_t)i * es->ld;

        for (int j = 0; j < map->from; j++) x[j] -= map->mean[j];
    }
    es->kernels->gemm_f32(&g, 0, linear_panels(&l));
}

/* ---- the queue ----------------------------------------------------------- */

static struct neighbor neighbor_of(const struct entries *s,
                                   const struct scan_hit *hit)
{
    const struct entry_block *b = &s->blocks[hit->block];
    int i = hit->entry;

    assert(i >= 0 && i < pad_to(b->n, ENTRY_PANEL));
    return (struct neighbor){
        .d2 = hit->d2, .token = b->token[i], .pair = b->first_pair + b->pair[i],
        .pos = b->pos[i], .log_weight = b->log_weight ? b->log_weight[i] : 0 };
}

/* The states of the queue, in the space of the keys. */
static struct scan_queries queue_queries(const struct entry_search *es)
{
    struct scan_queries in = { es->states, es->ld, es->n, es->k };

    if (es->s->map) in.q = es->mapped, in.ldq = es->ld_mapped;
    return in;
}

/* Answer all states of the queue by comparing them with all keys. */
static void search_all_keys(struct entry_search *es)
{
    struct scan_queries in = queue_queries(es);

    exact_scan_run(es->scan, &in, es->use_pool);
    for (int i = 0; i < es->n; i++) {
        struct asked *a = &es->asked[i];
        const struct scan_hit *hits = exact_scan_hits(es->scan, i, a->found);

        for (int j = 0; j < *a->found; j++)
            a->out[j] = neighbor_of(es->s, &hits[j]);
    }
}

/* Join the neighbors of state i that the index has with those of later
 * blocks. Of two equal distances, that of the index comes first: its block is
 * before the others. */
static void join_hits(struct entry_search *es, int i)
{
    struct asked *a = &es->asked[i];
    int n, n_later = 0, at = 0, at_later = 0, found = 0;
    const struct scan_hit *hits = ivfpq_scan_hits(es->index, i, &n);
    const struct scan_hit *later = es->scan
        ? exact_scan_hits(es->scan, i, &n_later) : NULL;

    while (found < es->k[i] && (at < n || at_later < n_later)) {
        bool first = at_later == n_later ||
                     (at < n && hits[at].d2 <= later[at_later].d2);

        a->out[found++] = first ? neighbor_of(es->s, &hits[at++])
                                : neighbor_of(&es->later, &later[at_later++]);
    }
    *a->found = found;
    if (!a->fill) return;
    while (found < es->k[i] && found < es->s->n)
        a->out[found++] = (struct neighbor){ .d2 = INFINITY, .token = -1 };
    *a->found = found;
}

/* Answer all states of the queue by the index. */
static enum status search_index(struct entry_search *es, struct err *e)
{
    struct scan_queries in = queue_queries(es);
    enum status st = ivfpq_scan_run(es->index, &in, e);

    if (st) return st;
    if (es->scan) exact_scan_run(es->scan, &in, es->use_pool);
    for (int i = 0; i < es->n; i++) join_hits(es, i);
    return ST_OK;
}

/* Only a search by an index can fail. */
static enum status run_queue(struct entry_search *es, struct err *e)
{
    enum status st = ST_OK;

    if (!es->n) return ST_OK;
    if (es->s->map) map_states(es);
    if (es->index) st = search_index(es, e);
    else search_all_keys(es);
    es->n = 0;
    return st;
}

static enum status put_state(struct entry_search *es, const float *state,
                             int k, const struct asked *a, struct err *e)
{
    enum status st = es->n == QUEUE ? run_queue(es, e) : ST_OK;

    assert(k >= 1 && k <= KNN_MAX_K);
    if (st) return st;
    memcpy(es->states + (size_t)es->n * es->ld, state,
           (size_t)es->s->d_model * sizeof *state);
    es->asked[es->n] = *a;
    es->k[es->n++] = k;
    return ST_OK;
}

static enum status entry_search_run(struct pass_search *pass,
                                    struct executor *x, struct err *e)
{
    (void)x;
    return run_queue((struct entry_search *)(void *)pass, e);
}

struct pass_search *entry_search_pass(struct entry_search *es)
{
    return &es->pass;
}

enum status entry_search_ask(struct entry_search *es, struct executor *x,
                             int row, int k, struct neighbor *out, int *found,
                             struct err *e)
{
    struct asked a = { out, found, false };
    const float *state;
    size_t ld;
    enum status st = x->ops->read(x, es->s->kind, row, 1, &state, &ld, e);

    return st ? st : put_state(es, state, k, &a, e);
}

enum status entry_search_states(struct entry_search *es, const float *q,
                                size_t ldq, int n, int k, struct neighbor *out,
                                int *found, struct err *e)
{
    enum status st = ST_OK;

    *found = 0;
    for (int i = 0; !st && i < n; i++) {
        struct asked a = { out + (size_t)i * (size_t)k, found, true };

        st = put_state(es, q + (size_t)i * ldq, k, &a, e);
    }
    return st ? st : run_queue(es, e);
}

void entry_search_use_pool(struct entry_search *es, bool use)
{
    es->use_pool = use;
}

/* ---- creation ------------------------------------------------------------ */

void entry_search_free(struct entry_search *es)
{
    if (!es) return;
    exact_scan_free(es->scan);
    ivfpq_scan_free(es->index);
    mem_free(es->states);
    mem_free(es->matrix);
    mem_free(es->mapped);
    entries_drop(es->s);
    free(es);
}

static bool alloc_map(struct entry_search *es)
{
    const struct entry_map *map = es->s->map;

    assert(map->from == es->s->d_model && map->to == es->s->d);
    es->ld_mapped = (size_t)pad_to(map->to, PANEL);
    es->mapped = mem_alloc(QUEUE * es->ld_mapped, sizeof *es->mapped);
    es->matrix = mem_alloc(linear_bytes(DT_F32, map->to, map->from), 1);
    if (!es->mapped || !es->matrix) return false;
    pack_linear(DT_F32, map->matrix, map->to, map->from, es->matrix, NULL,
                NULL);
    return true;
}

/* Search by an index, and compare all keys of the blocks that it does not
 * have. */
static enum status use_index(struct entry_search *es, const struct ivfpq *index,
                             struct pool *pool, struct err *e)
{
    int n = (int)ivfpq_file_of(index)->head.blocks;
    enum status st = ivfpq_scan_new(&es->index, index, e);

    assert(n <= es->s->n_blocks);
    if (st || n == es->s->n_blocks) return st;
    es->later = *es->s;
    es->later.blocks += n;
    es->later.n_blocks -= n;
    return exact_scan_new(&es->scan, &es->later, es->kernels, pool, e);
}

enum status entry_search_new(struct entry_search **out, struct entries *s,
                             const struct ivfpq *index, struct pool *pool,
                             struct err *e)
{
    struct entry_search *es = calloc(1, sizeof *es);
    enum status st;

    *out = NULL;
    if (!es) return err_nomem(e, "neighbor search");
    es->pass.run = entry_search_run;
    es->s = entries_hold(s);
    es->kernels = kernels_pick(NULL);
    es->use_pool = true;
    es->ld = (size_t)pad_to(s->d_model, 16);
    es->states = mem_zalloc(QUEUE * es->ld, sizeof *es->states);
    st = es->states && (!s->map || alloc_map(es))
       ? ST_OK : err_nomem(e, "neighbor search");
    if (!st && index) st = use_index(es, index, pool, e);
    else if (!st) st = exact_scan_new(&es->scan, s, es->kernels, pool, e);
    if (st) entry_search_free(es);
    else *out = es;
    return st;
}
