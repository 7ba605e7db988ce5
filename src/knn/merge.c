/* merge.c - decides which entries of a datastore are merged into others. The
 * searches are made in the random order in which entries are visited, many at a
 * time, and not for entries that are gone by then.
 *
 * Invariants:
 *   - The sum of all weights is always the same.
 *   - An entry that was taken over has the weight 0 for good, and one that took
 *     over others is never taken over. */
#include "knn/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/splitmix.h"
#include "knn/entry_numbers.h"
#include "knn/entry_range.h"
#include "knn/pca.h"

/* Entries that are searched at a time. An exact search reads all keys once for
 * them. */
enum { MERGE_BATCH = 1024 };

struct merging {
    const struct entries *s;
    const struct merge_search *search;
    const struct merge_options *o;
    struct merge_result *r;
    struct entry_numbers numbers;
    uint32_t *order;            /* [r->before] entries, as they are visited */
    uint32_t batch[MERGE_BATCH];        /* entries that are searched */
    int n_batch;
    float *q;                   /* [MERGE_BATCH, s->d_model] their states */
    float *key;                 /* [s->d] */
    struct neighbor *nb;        /* [MERGE_BATCH, o->k] */
};

struct merge_options merge_options_defaults(void)
{
    return (struct merge_options){ .k = 2, .seed = 1 };
}

void merge_result_release(struct merge_result *r)
{
    free(r->weight);
    *r = (struct merge_result){ 0 };
}

/* ---- preparation --------------------------------------------------------- */

static void merging_release(struct merging *m)
{
    entry_numbers_release(&m->numbers);
    free(m->order);
    mem_free(m->q);
    mem_free(m->key);
    free(m->nb);
}

static enum status merging_init(struct merging *m, struct err *e)
{
    int64_t n;
    enum status st = entry_numbers_init(&m->numbers, m->s, e);

    if (st) return st;
    n = m->r->n = entry_numbers_total(&m->numbers);
    if (n > UINT32_MAX)
        return err_set(e, ST_LIMIT, "a datastore of %lld entries is too large "
                       "to be merged; the limit is %lu", (long long)n,
                       (unsigned long)UINT32_MAX);
    m->r->weight = calloc((size_t)n + 1, sizeof *m->r->weight);
    m->order = calloc((size_t)n + 1, sizeof *m->order);
    m->q = mem_alloc((size_t)MERGE_BATCH * (size_t)m->s->d_model,
                     sizeof *m->q);
    m->key = mem_alloc((size_t)m->s->d, sizeof *m->key);
    m->nb = calloc((size_t)MERGE_BATCH * (size_t)m->o->k, sizeof *m->nb);
    if (!m->r->weight || !m->order || !m->q || !m->key || !m->nb)
        return err_nomem(e, "merging entries");
    return ST_OK;
}

/* List the entries that can be found, with their weights so far. */
static void merging_list(struct merging *m)
{
    uint32_t number = 0;

    for (int i = 0; i < m->s->n_blocks; i++) {
        const struct entry_block *b = &m->s->blocks[i];

        for (int k = 0; k < b->n; k++, number++) {
            if (entry_is_deleted(b, k)) continue;
            m->order[m->r->before++] = number;
            m->r->weight[number] = b->log_weight
                ? (uint32_t)lrintf(expf(b->log_weight[k])) : 1;
        }
    }
    m->r->after = m->r->before;
}

/* Fisher and Yates: the last one is swapped with a random one, and so on. */
static void merging_shuffle(struct merging *m)
{
    uint64_t seed = m->o->seed;

    for (int64_t i = m->r->before - 1; i > 0; i--) {
        uint64_t k = splitmix_below(&seed, (uint64_t)i + 1);
        uint32_t kept = m->order[i];

        m->order[i] = m->order[k];
        m->order[k] = kept;
    }
}

/* ---- visits -------------------------------------------------------------- */

/* Add an entry to the batch. The search wants states; the state of a key that
 * was made shorter is the nearest point that has this key. */
static void batch_entry(struct merging *m, uint32_t number)
{
    float *q = m->q + (size_t)m->n_batch * (size_t)m->s->d_model;
    int index;
    const struct entry_block *b = entry_numbers_find(&m->numbers, number,
                                                     &index);

    entries_key(m->s, b, index, m->key);
    if (m->s->map) pca_unmap(m->s->map, m->key, q);
    else memcpy(q, m->key, (size_t)m->s->d * sizeof *q);
    m->batch[m->n_batch++] = number;
}

static int32_t token_of(const struct merging *m, uint32_t number)
{
    int index;
    const struct entry_block *b = entry_numbers_find(&m->numbers, number,
                                                     &index);

    return b->token[index];
}

/* The number of the entry of a pair at a position, or -1 if there is none. */
static int64_t number_at(const struct merging *m, int32_t pair, int pos)
{
    struct entry_range r = entry_range_of(m->s, pair, pos, pos + 1);

    return r.n ? m->numbers.first[r.block - m->s->blocks] + r.first : -1;
}

/* Let an entry take over neighbors. */
static void visit_entry(struct merging *m, uint32_t number,
                        const struct neighbor *nb, int n)
{
    uint32_t *weight = m->r->weight;
    int32_t token = token_of(m, number);

    if (!weight[number]) return;
    for (int i = 0; i < n; i++) {
        int64_t other;

        if (nb[i].token != token) continue;
        other = number_at(m, nb[i].pair, nb[i].pos);
        if (other < 0 || other == number || weight[other] != 1) continue;
        weight[other] = 0;
        weight[number]++;
        m->r->after--;
    }
}

static enum status visit_batch(struct merging *m, struct err *e)
{
    int k = m->o->k, found = 0;
    enum status st = ST_OK;

    if (m->n_batch)
        st = m->search->nearest(m->search->search, m->q,
                                (size_t)m->s->d_model, m->n_batch, k, m->nb,
                                &found, e);
    assert(st || found <= k);
    for (int i = 0; !st && i < m->n_batch; i++)
        visit_entry(m, m->batch[i], m->nb + (size_t)i * (size_t)k, found);
    m->n_batch = 0;
    return st;
}

static enum status merging_run(struct merging *m, struct err *e)
{
    int64_t total = m->r->before;
    enum status st = ST_OK;

    for (int64_t at = 0; !st && at < total;) {
        for (; at < total && m->n_batch < MERGE_BATCH; at++)
            if (m->r->weight[m->order[at]]) batch_entry(m, m->order[at]);
        st = visit_batch(m, e);
        if (!st && m->o->progress &&
            m->o->progress(m->o->user, at, total, m->r->after))
            st = err_set(e, ST_CANCELED, "stopped");
    }
    return st;
}

enum status merge_entries(struct merge_result *out, const struct entries *s,
                          const struct merge_search *search,
                          const struct merge_options *o, struct err *e)
{
    struct merging m = { .s = s, .search = search, .o = o, .r = out };
    enum status st;

    *out = (struct merge_result){ 0 };
    if (o->k < 1 || o->k > KNN_MAX_K)
        return err_set(e, ST_ARGUMENT, "entries can be compared with 1 to %d "
                       "neighbors, not with %d", KNN_MAX_K, o->k);
    st = merging_init(&m, e);
    if (!st) {
        merging_list(&m);
        merging_shuffle(&m);
        st = merging_run(&m, e);
    }
    merging_release(&m);
    return st;
}
