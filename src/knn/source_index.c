/* source_index.c - lists the occurrences of each source token by a counting
 * sort, compares encoder states with them, and follows the links to entries.
 *
 * Source tokens are numbered from 0 in the order of the blocks. States and
 * stored keys have the norm 1, so that
 *     |q - k|^2 = 2 - 2 cos(q, k)
 * and the largest cosine is the smallest distance. A key is rounded to int8, so
 * its norm is 1 up to rounding only; the distance is that to the rounded
 * key. */
#include "knn/source_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/entry_numbers.h"
#include "knn/unit_vector.h"
#include "tensor/kernels.h"

/* Keys that are compared in one call of the kernel, and states of the same
 * token that are compared with them together. */
enum { SOURCE_KEYS = 64, SOURCE_QUERIES = 4 };

struct source_index {
    struct entries *s;          /* held */
    int64_t *first;             /* [s->n_blocks + 1] the number of the first
                                   source token of each block */
    int32_t n_tokens;           /* one more than the largest token */
    uint32_t *begin;            /* [n_tokens + 1] where the occurrences of a
                                   token begin */
    uint32_t *occurrence;       /* [begin[n_tokens]] numbers of source tokens,
                                   ascending for each token */
};

/* ---- the index ----------------------------------------------------------- */

void source_index_free(struct source_index *ix)
{
    if (!ix) return;
    entries_drop(ix->s);
    free(ix->first);
    free(ix->begin);
    free(ix->occurrence);
    free(ix);
}

/* Whether source token i of a block is linked to an entry that can be found. */
static bool leads_to_entry(const struct entry_block *b, int i)
{
    for (uint32_t k = b->link_begin[i]; k < b->link_begin[i + 1]; k++)
        if (!entry_is_deleted(b, (int)b->link[k])) return true;
    return false;
}

/* Number the source tokens, and find the largest. */
static enum status number_sources(struct source_index *ix, struct err *e)
{
    const struct entries *s = ix->s;
    int32_t most = -1;

    ix->first = calloc((size_t)s->n_blocks + 1, sizeof *ix->first);
    if (!ix->first) return err_nomem(e, "index of source tokens");
    for (int i = 0; i < s->n_blocks; i++) {
        const struct entry_block *b = &s->blocks[i];

        ix->first[i + 1] = ix->first[i] + b->n_src;
        for (int k = 0; k < b->n_src; k++)
            if (b->src_token[k] > most) most = b->src_token[k];
    }
    if (ix->first[s->n_blocks] > UINT32_MAX)
        return err_set(e, ST_LIMIT, "the datastore has %lld source tokens; the "
                       "limit is %lu", (long long)ix->first[s->n_blocks],
                       (unsigned long)UINT32_MAX);
    ix->n_tokens = most + 1;
    return ST_OK;
}

/* Call with begin [n_tokens + 1] set to zeros: count the occurrences of token t
 * in begin[t + 1]. Then, with `fill`, when begin[t] is where those of t begin,
 * write them there and move begin[t] to their end. */
static void walk_sources(struct source_index *ix, bool fill)
{
    for (int i = 0; i < ix->s->n_blocks; i++) {
        const struct entry_block *b = &ix->s->blocks[i];

        for (int k = 0; k < b->n_src; k++) {
            int32_t token = b->src_token[k];

            assert(token >= 0);
            if (!leads_to_entry(b, k)) continue;
            if (fill)
                ix->occurrence[ix->begin[token]++] =
                    (uint32_t)(ix->first[i] + k);
            else
                ix->begin[token + 1]++;
        }
    }
}

static enum status sort_sources(struct source_index *ix, struct err *e)
{
    size_t n = (size_t)ix->n_tokens;

    ix->begin = calloc(n + 1, sizeof *ix->begin);
    if (!ix->begin) return err_nomem(e, "index of source tokens");
    walk_sources(ix, false);
    for (size_t t = 0; t < n; t++) ix->begin[t + 1] += ix->begin[t];
    ix->occurrence = calloc((size_t)ix->begin[n] + 1, sizeof *ix->occurrence);
    if (!ix->occurrence) return err_nomem(e, "index of source tokens");
    walk_sources(ix, true);
    /* begin[t] is the end of t now, which is the beginning of t + 1. */
    memmove(ix->begin + 1, ix->begin, n * sizeof *ix->begin);
    ix->begin[0] = 0;
    return ST_OK;
}

enum status source_index_new(struct source_index **out, struct entries *s,
                             struct err *e)
{
    struct source_index *ix;
    enum status st;

    *out = NULL;
    if (!s->has_sources)
        return err_set(e, ST_ARGUMENT, "the datastore has no source tokens; "
                       "build it again with them");
    ix = calloc(1, sizeof *ix);
    if (!ix) return err_nomem(e, "index of source tokens");
    ix->s = entries_hold(s);
    st = number_sources(ix, e);
    if (!st) st = sort_sources(ix, e);
    if (st) source_index_free(ix);
    else *out = ix;
    return st;
}

size_t source_index_count(const struct source_index *ix, int32_t token)
{
    if (token < 0 || token >= ix->n_tokens) return 0;
    return ix->begin[token + 1] - ix->begin[token];
}

/* ---- the nearest occurrences --------------------------------------------- */

struct source_hit { float d2; uint32_t number; };

/* The nearest occurrences of one state so far: a heap whose top is the
 * farthest. */
struct source_heap {
    struct source_hit *at;      /* [most] */
    int n, most;
};

/* Whether a is farther than b. */
static bool farther(struct source_hit a, struct source_hit b)
{
    return a.d2 != b.d2 ? a.d2 > b.d2 : a.number > b.number;
}

/* Put `hit` in place of the top, and restore the order. */
static void heap_replace_top(struct source_heap *h, struct source_hit hit)
{
    int at = 0;

    for (;;) {
        int child = 2 * at + 1;

        if (child + 1 < h->n && farther(h->at[child + 1], h->at[child]))
            child++;
        if (child >= h->n || !farther(h->at[child], hit)) break;
        h->at[at] = h->at[child];
        at = child;
    }
    h->at[at] = hit;
}

static void heap_offer(struct source_heap *h, struct source_hit hit)
{
    int at = h->n;

    if (isnan(hit.d2)) hit.d2 = INFINITY;
    if (h->n == h->most) {
        if (farther(h->at[0], hit)) heap_replace_top(h, hit);
        return;
    }
    h->n++;
    for (; at > 0 && farther(hit, h->at[(at - 1) / 2]); at = (at - 1) / 2)
        h->at[at] = h->at[(at - 1) / 2];
    h->at[at] = hit;
}

/* A search. */
struct source_scan {
    const struct source_index *ix;
    const struct source_states *q;
    struct place_list *out;
    const struct kernels *kernels;
    int8_t *keys;               /* [SOURCE_KEYS, ldk] copies of keys */
    size_t ldk;
    float *states;              /* [SOURCE_QUERIES, lds] with the norm 1 */
    size_t lds;
    bool *done;                 /* [q->n] */
    struct source_heap heap[SOURCE_QUERIES];
    int n;                      /* states that are compared together */
};

/* Copy the keys of n occurrences, and compare the states with them. *block is
 * the block of the first one or an earlier one, and is moved on. */
static void compare_occurrences(struct source_scan *s, const uint32_t *number,
                            int n, int *block)
{
    float scale[SOURCE_KEYS], d2[SOURCE_QUERIES * SOURCE_KEYS];
    const struct source_index *ix = s->ix;

    for (int i = 0; i < n; i++) {
        const struct entry_block *b;
        size_t at;

        while (number[i] >= ix->first[*block + 1]) ++*block;
        b = &ix->s->blocks[*block];
        at = (size_t)(number[i] - ix->first[*block]);
        memcpy(s->keys + (size_t)i * s->ldk, b->src_keys + at * s->ldk,
               s->ldk);
        scale[i] = b->src_scale[at];
    }
    s->kernels->distances_i8(&(struct distances){
        .q = s->states, .ldq = s->lds, .n_q = s->n, .keys = s->keys,
        .ldk = s->ldk, .n = n, .scale = scale, .d = ix->s->d_model, .out = d2,
        .ldo = SOURCE_KEYS });
    for (int q = 0; q < s->n; q++)
        for (int i = 0; i < n; i++)
            heap_offer(&s->heap[q], (struct source_hit){
                d2[q * SOURCE_KEYS + i], number[i] });
}

/* Compare the states with all occurrences of their token. */
static void scan_token(struct source_scan *s, int32_t token)
{
    const uint32_t *at = s->ix->occurrence + s->ix->begin[token];
    size_t n = source_index_count(s->ix, token);
    int block = 0;

    for (size_t i = 0; i < n; i += SOURCE_KEYS)
        compare_occurrences(s, at + i, n - i < SOURCE_KEYS ? (int)(n - i)
                                                       : SOURCE_KEYS, &block);
}

/* ---- candidates ---------------------------------------------------------- */

void place_list_release(struct place_list *l)
{
    free(l->at);
    *l = (struct place_list){ 0 };
}

/* Append the entries that a source token is aligned to. */
static bool add_links(struct source_scan *s, uint32_t number)
{
    const struct source_index *ix = s->ix;
    int low = 0, high = ix->s->n_blocks - 1, i;
    const struct entry_block *b;

    while (low < high) {        /* the last block that begins at or before */
        int mid = low + (high - low + 1) / 2;

        if (ix->first[mid] <= number) low = mid;
        else high = mid - 1;
    }
    b = &ix->s->blocks[low];
    i = (int)(number - ix->first[low]);
    for (uint32_t k = b->link_begin[i]; k < b->link_begin[i + 1]; k++) {
        struct place_list *l = s->out;

        assert(b->link[k] < (uint32_t)b->n);
        if (entry_is_deleted(b, (int)b->link[k])) continue;
        if (!mem_grow(&l->at, &l->cap, l->n + 1, sizeof *l->at)) return false;
        l->at[l->n++] = (struct entry_place){ low, (int32_t)b->link[k] };
    }
    return true;
}

static int candidate_order(const void *left, const void *right)
{
    const struct entry_place *a = left, *b = right;

    if (a->block != b->block) return a->block < b->block ? -1 : 1;
    return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* Sort the candidates and drop those that are there twice. */
static void unite_candidates(struct place_list *l)
{
    size_t kept = 0;

    if (!l->n) return;
    qsort(l->at, l->n, sizeof *l->at, candidate_order);
    for (size_t i = 1; i < l->n; i++)
        if (candidate_order(&l->at[kept], &l->at[i])) l->at[++kept] = l->at[i];
    l->n = kept + 1;
}

/* ---- the search ---------------------------------------------------------- */

/* Add a state to those that are compared next. */
static void take_state(struct source_scan *s, int i)
{
    unit_vector(s->q->states + (size_t)i * s->q->ld, s->ix->s->d_model,
                s->states + (size_t)s->n * s->lds);
    s->heap[s->n++].n = 0;
    s->done[i] = true;
}

/* Search for state i and up to three later ones of the same token. */
static bool search_states(struct source_scan *s, int i)
{
    int32_t token = s->q->token[i];
    bool ok = true;

    s->n = 0;
    for (int k = i; k < s->q->n && s->n < SOURCE_QUERIES; k++)
        if (!s->done[k] && s->q->token[k] == token) take_state(s, k);
    if (source_index_count(s->ix, token)) scan_token(s, token);
    for (int q = 0; q < s->n; q++)
        for (int k = 0; ok && k < s->heap[q].n; k++)
            ok = add_links(s, s->heap[q].at[k].number);
    return ok;
}

static bool source_scan_init(struct source_scan *s, int most)
{
    struct source_hit *hits = calloc((size_t)most * SOURCE_QUERIES,
                                     sizeof *hits);

    for (int i = 0; i < SOURCE_QUERIES; i++)
        s->heap[i] = (struct source_heap){
            hits ? hits + (size_t)i * (size_t)most : NULL, 0, most };
    s->kernels = kernels_pick(NULL);
    s->ldk = (size_t)pad_to(s->ix->s->d_model, 64);
    s->lds = (size_t)pad_to(s->ix->s->d_model, 16);
    s->keys = mem_alloc(SOURCE_KEYS * s->ldk, 1);
    s->states = mem_zalloc(SOURCE_QUERIES * s->lds, sizeof *s->states);
    s->done = calloc((size_t)s->q->n + 1, sizeof *s->done);
    return hits && s->keys && s->states && s->done;
}

static void source_scan_release(struct source_scan *s)
{
    free(s->heap[0].at);
    mem_free(s->keys);
    mem_free(s->states);
    free(s->done);
}

enum status source_index_search(const struct source_index *ix,
                                const struct source_states *q, int most,
                                struct place_list *out, struct err *e)
{
    struct source_scan s = { .ix = ix, .q = q, .out = out };
    bool ok;

    assert(most > 0 && q->n >= 0);
    out->n = 0;
    ok = source_scan_init(&s, most);
    for (int i = 0; ok && i < q->n; i++)
        if (!s.done[i]) ok = search_states(&s, i);
    source_scan_release(&s);
    if (!ok) return err_nomem(e, "search of source tokens");
    unite_candidates(out);
    return ST_OK;
}
