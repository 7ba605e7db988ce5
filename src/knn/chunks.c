/* chunks.c - the schedule of searches, and the local store of a sentence: keys
 * are copied from the datastore, each entry once.
 *
 * Invariants:
 *   - Entries are in the order of the steps that added them.
 *   - slots contains the index of each entry exactly once. It has at least
 *     twice as many slots as there can be entries, so a free one is always
 *     found. */
#include "knn/chunks.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/entry_numbers.h"
#include "knn/entry_range.h"
#include "knn/nearest.h"
#include "knn/pca.h"
#include "tensor/kernels.h"

/* How many distances one call of the kernel computes. */
enum { CHUNK_KEYS = 64 };

struct chunk_entry {
    int32_t token, pair;
    int pos, step;
    float log_weight;
};

struct chunks {
    struct entries *s;          /* held */
    struct entry_map map;       /* from states to the keys of the local store,
                                   if s has a map */
    struct chunk_options o;
    struct chunk_limits limits;
    const struct kernels *kernels;
    bool *searches;             /* [limits.steps] the schedule */
    size_t most;                /* entries for which there is room */
    int d;                      /* numbers of a key in the local store */
    size_t ld;                  /* d padded */
    float *keys;                /* [most, ld] the padding is zeros */
    struct chunk_entry *at;     /* [most] */
    int n;
    uint32_t *slots;            /* [mask + 1] a hash table: index + 1, or 0 */
    size_t mask;
    float *key;                 /* [s->d] of the entry that is added */
    float *q;                   /* [ld] the image of the query */
};

/* ---- the schedule -------------------------------------------------------- */

struct chunk_options chunk_options_defaults(void)
{
    return (struct chunk_options){ .size = 16, .first_gap = 2,
                                   .longest_gap = 8, .dims = 64 };
}

int chunks_next(const struct chunk_options *o, int n_source, int t)
{
    double growth = exp2(0.5 * o->longest_gap * t / n_source);

    return t + (int)fmin(o->longest_gap, floor(o->first_gap * growth));
}

/* Fill in the schedule. Returns the number of searches. */
static size_t plan_searches(struct chunks *c)
{
    size_t n = 0;

    for (int t = 0; t < c->limits.steps;
         t = chunks_next(&c->o, c->limits.n_source, t), n++)
        c->searches[t] = true;
    return n;
}

bool chunks_searches(const struct chunks *c, int step)
{
    assert(step >= 0 && step < c->limits.steps);
    return c->searches[step];
}

/* ---- creation and destruction -------------------------------------------- */

void chunks_free(struct chunks *c)
{
    if (!c) return;
    entries_drop(c->s);
    free(c->searches);
    mem_free(c->keys);
    mem_free(c->at);
    free(c->slots);
    mem_free(c->key);
    mem_free(c->q);
    free(c);
}

/* Make room for the entries of all chunks. Memory that is never written costs
 * nothing, so keys are not cleared. */
static bool chunks_alloc(struct chunks *c)
{
    size_t slots = 64;

    c->searches = calloc((size_t)c->limits.steps, sizeof *c->searches);
    if (!c->searches) return false;
    c->most = plan_searches(c) * (size_t)c->limits.rows *
              (size_t)c->limits.k * (size_t)c->o.size;
    if (c->most > (size_t)c->s->n) c->most = (size_t)c->s->n;
    if (c->most > INT_MAX) return false;
    while (slots < 2 * c->most) slots *= 2;
    c->mask = slots - 1;
    c->keys = mem_alloc(c->most * c->ld, sizeof *c->keys);
    c->at = mem_alloc(c->most, sizeof *c->at);
    c->slots = calloc(slots, sizeof *c->slots);
    c->key = mem_alloc((size_t)c->s->d, sizeof *c->key);
    c->q = mem_zalloc(c->ld, sizeof *c->q);
    return c->keys && c->at && c->slots && c->key && c->q;
}

static enum status check_chunk_options(const struct chunk_options *o,
                                       struct err *e)
{
    if (o->size >= 1 && o->size <= 1024 && o->first_gap >= 1 &&
        o->longest_gap >= o->first_gap && o->longest_gap <= 1024 &&
        o->dims >= 1)
        return ST_OK;
    return err_set(e, ST_ARGUMENT, "a chunk has 1 to 1024 tokens, the gaps "
                   "between searches are from 1 to 1024, the first no longer "
                   "than the longest, and there is at least one dimension");
}

enum status chunks_new(struct chunks **out, struct entries *s,
                       const struct chunk_options *o,
                       const struct chunk_limits *l, struct err *e)
{
    enum status st = check_chunk_options(o, e);
    struct chunks *c;

    assert(l->rows > 0 && l->k > 0 && l->steps > 0 && l->n_source > 0);
    *out = NULL;
    if (st) return st;
    c = calloc(1, sizeof *c);
    if (!c) return err_nomem(e, "local store");
    c->s = entries_hold(s);
    c->o = *o;
    c->limits = *l;
    c->kernels = kernels_pick(NULL);
    c->d = s->d;
    if (s->map) {
        c->map = *s->map;
        if (o->dims < s->d) c->d = c->map.to = o->dims;
    }
    c->ld = (size_t)pad_to(c->d, 16);
    if (!chunks_alloc(c)) {
        chunks_free(c);
        return err_nomem(e, "local store");
    }
    *out = c;
    return ST_OK;
}

/* ---- adding chunks ------------------------------------------------------- */

/* The slot of an entry: the one that has its index, or the free one where it
 * belongs. */
static uint32_t *chunk_slot(const struct chunks *c, int32_t pair, int pos)
{
    uint64_t hash = ((uint64_t)(uint32_t)pair << 16 ^ (uint64_t)pos) *
                    UINT64_C(0x9E3779B97F4A7C15);
    size_t i = (size_t)(hash >> 32) & c->mask;

    for (; c->slots[i]; i = (i + 1) & c->mask) {
        const struct chunk_entry *at = &c->at[c->slots[i] - 1];

        if (at->pair == pair && at->pos == pos) break;
    }
    return &c->slots[i];
}

/* Add entry i of block b, unless it is there already or was deleted. */
static void add_chunk_entry(struct chunks *c, int step,
                            const struct entry_block *b, int i)
{
    int32_t pair = b->first_pair + b->pair[i];
    uint32_t *slot = chunk_slot(c, pair, b->pos[i]);
    float *to = c->keys + (size_t)c->n * c->ld;
    size_t d = (size_t)c->d;

    if (*slot || entry_is_deleted(b, i)) return;
    assert((size_t)c->n < c->most);
    entries_key(c->s, b, i, c->key);
    memcpy(to, c->key, d * sizeof *to);
    memset(to + d, 0, (c->ld - d) * sizeof *to);
    c->at[c->n++] = (struct chunk_entry){ b->token[i], pair, b->pos[i], step,
        b->log_weight ? b->log_weight[i] : 0 };
    *slot = (uint32_t)c->n;
}

void chunks_add(struct chunks *c, int step, const struct neighbor *nb, int n)
{
    assert(chunks_searches(c, step) && n <= c->limits.k);
    assert(!c->n || c->at[c->n - 1].step <= step);
    for (int i = 0; i < n; i++) {
        struct entry_range r = entry_range_of(c->s, nb[i].pair, nb[i].pos,
                                              nb[i].pos + c->o.size);

        for (int k = 0; k < r.n && k < c->o.size; k++)
            add_chunk_entry(c, step, r.block, r.first + k);
    }
}

/* ---- looking up ---------------------------------------------------------- */

int chunks_count(const struct chunks *c, int step)
{
    int low = 0, high = c->n;

    while (low < high) {
        int mid = low + (high - low) / 2;

        if (c->at[mid].step < step) low = mid + 1;
        else high = mid;
    }
    return low;
}

/* Compare the query with entries [from, from + n). Returns the new number of
 * neighbors in the list. */
static int compare_chunk_keys(const struct chunks *c, int from, int n, int k,
                              struct neighbor *out, int found)
{
    float d2[CHUNK_KEYS];

    c->kernels->distances_f32(&(struct distances){
        .q = c->q, .ldq = c->ld, .n_q = 1,
        .keys = c->keys + (size_t)from * c->ld, .ldk = c->ld, .n = n,
        .d = c->d, .out = d2, .ldo = CHUNK_KEYS });
    for (int i = 0; i < n; i++) {
        const struct chunk_entry *at = &c->at[from + i];

        found = nearest_insert(out, found, k, (struct neighbor){
            sqrtf(d2[i]), at->token, at->pair, at->pos, at->log_weight });
    }
    return found;
}

int chunks_nearest(struct chunks *c, int step, const float *q, int k,
                   struct neighbor *out)
{
    int n = chunks_count(c, step), found = 0;

    assert(k > 0);
    if (!n) return 0;
    if (c->s->map) pca_map(&c->map, q, c->q);
    else memcpy(c->q, q, (size_t)c->d * sizeof *q);
    for (int from = 0; from < n; from += CHUNK_KEYS)
        found = compare_chunk_keys(c, from,
                                   n - from < CHUNK_KEYS ? n - from
                                                         : CHUNK_KEYS,
                                   k, out, found);
    return found;
}
