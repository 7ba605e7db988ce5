/* candidate_set.c - copies the keys of candidates and finds those with the
 * largest cosine to a decoder state, by comparing it with all of them.
 *
 * For vectors with the norm 1, 1 - cosine is half the squared distance. */
#include "knn/candidate_set.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/nearest.h"
#include "knn/pair_keys.h"
#include "knn/pca.h"
#include "knn/unit_vector.h"
#include "tensor/kernels.h"

/* How many distances one call of the kernel computes. */
enum { SET_KEYS = 64, SET_QUERIES = 8 };

struct set_entry { int32_t pair; int pos; float log_weight; };

struct candidate_set {
    struct finder finder;       /* must be the first member */
    struct entries *s;          /* held */
    const struct kernels *kernels;
    struct pair_keys *keys;     /* with the tokens */
    struct set_entry *at;       /* [n] */
    int n;
    float *image;               /* [s->d] a key, or the image of a state */
    uint8_t *bytes;             /* [s->d padded to 4] an int8 key */
    float *q;                   /* [SET_QUERIES, ldq] queries with the norm 1 */
    size_t ldq;
};

void candidate_set_free(struct candidate_set *cs)
{
    if (!cs) return;
    entries_drop(cs->s);
    pair_keys_drop(cs->keys);
    free(cs->at);
    mem_free(cs->image);
    mem_free(cs->bytes);
    mem_free(cs->q);
    free(cs);
}

int candidate_set_count(const struct candidate_set *cs) { return cs->n; }

const struct finder *candidate_set_finder(const struct candidate_set *cs)
{
    return &cs->finder;
}

/* ---- creation ------------------------------------------------------------ */

/* Copy an int8 key out of its panel; only its scale changes. Returns false if
 * it is zero. */
static bool copy_bytes(struct candidate_set *cs, const struct entry_block *b,
                       int i)
{
    int groups = pad_to(cs->s->d, 4) / 4;
    const int8_t *from = (const int8_t *)b->keys + (size_t)(i / ENTRY_PANEL) *
                         (size_t)groups * ENTRY_PANEL * 4 + i % ENTRY_PANEL * 4;
    int32_t sum = 0;            /* at most 127^2 for each number */

    for (int g = 0; g < groups; g++)
        for (int k = 0; k < 4; k++) {
            int number = from[g * ENTRY_PANEL * 4 + k];

            sum += number * number;
            cs->bytes[g * 4 + k] = (uint8_t)(number + 128);
        }
    if (!sum) return false;
    pair_keys_put_bytes(cs->keys, cs->n, cs->bytes,
                        (float)(1 / sqrt((double)sum)), b->token[i]);
    return true;
}

static bool copy_floats(struct candidate_set *cs, const struct entry_block *b,
                        int i)
{
    entries_key(cs->s, b, i, cs->image);
    if (!unit_vector(cs->image, cs->s->d, cs->image)) return false;
    pair_keys_put(cs->keys, cs->n, cs->image, b->token[i]);
    return true;
}

static void put_candidate(struct candidate_set *cs, struct entry_place c)
{
    const struct entry_block *b = &cs->s->blocks[c.block];
    bool copy = cs->s->type == ENTRY_INT8 && cs->keys->type == KEY_INT8;

    assert(c.block >= 0 && c.block < cs->s->n_blocks);
    assert(c.entry >= 0 && c.entry < b->n);
    if (!(copy ? copy_bytes : copy_floats)(cs, b, c.entry)) return;
    cs->at[cs->n++] = (struct set_entry){ b->first_pair + b->pair[c.entry],
        b->pos[c.entry], b->log_weight ? b->log_weight[c.entry] : 0 };
}

static enum status candidate_nearest(const struct finder *f,
                                     const struct finder_query *query, int k,
                                     struct neighbor *out, int *found,
                                     struct err *e);

static enum status candidate_set_fill(struct candidate_set *cs,
                                      const struct place_list *list,
                                      enum key_type type, struct err *e)
{
    size_t d = (size_t)cs->s->d;
    enum status st = pair_keys_new(&cs->keys, type, (int)list->n, cs->s->d, e);

    assert(list->n <= INT_MAX);
    if (st) return st;
    cs->ldq = (size_t)pad_to(cs->s->d, 16);
    cs->at = calloc(list->n + 1, sizeof *cs->at);
    cs->image = mem_alloc(d, sizeof *cs->image);
    cs->bytes = mem_alloc((size_t)pad_to(cs->s->d, 4), 1);
    cs->q = mem_zalloc(SET_QUERIES * cs->ldq, sizeof *cs->q);
    if (!cs->at || !cs->image || !cs->bytes || !cs->q)
        return err_nomem(e, "candidates of a sentence");
    for (size_t i = 0; i < list->n; i++) put_candidate(cs, list->at[i]);
    return ST_OK;
}

enum status candidate_set_new(struct candidate_set **out, struct entries *s,
                              const struct place_list *list,
                              enum key_type type, struct err *e)
{
    static const struct finder_ops ops = { candidate_nearest };
    struct candidate_set *cs = calloc(1, sizeof *cs);
    enum status st;

    *out = NULL;
    if (!cs) return err_nomem(e, "candidates of a sentence");
    cs->finder.ops = &ops;
    cs->s = entries_hold(s);
    cs->kernels = kernels_pick(NULL);
    st = candidate_set_fill(cs, list, type, e);
    if (st) candidate_set_free(cs);
    else *out = cs;
    return st;
}

/* ---- searching ----------------------------------------------------------- */

/* Read n states from `row` on, and make queries of them. */
static enum status read_queries(const struct candidate_set *cs,
                                struct executor *x, int row, int n,
                                struct err *e)
{
    const float *states;
    size_t ld;
    enum status st = x->ops->read(x, cs->s->kind, row, n, &states, &ld, e);

    for (int i = 0; !st && i < n; i++) {
        const float *state = states + (size_t)i * ld;

        if (cs->s->map) pca_map(cs->s->map, state, cs->image);
        unit_vector(cs->s->map ? cs->image : state, cs->s->d,
                    cs->q + (size_t)i * cs->ldq);
    }
    return st;
}

/* Compare n_q queries with n keys from `from` on. Each query has `found`
 * neighbors so far; returns the new number. */
static int compare_candidates(const struct candidate_set *cs, int n_q,
                              int from, int n, int k, struct neighbor *out,
                              int found)
{
    float d2[SET_QUERIES * SET_KEYS];
    const struct pair_keys *b = cs->keys;
    size_t size = b->type == KEY_INT8 ? 1 : sizeof(float);
    struct distances a = { .q = cs->q, .ldq = cs->ldq, .n_q = n_q,
        .keys = (const char *)b->keys + (size_t)from * b->ld * size,
        .ldk = b->ld, .n = n, .scale = b->scale + from, .d = cs->s->d,
        .out = d2, .ldo = SET_KEYS };
    int now = found;

    if (b->type == KEY_INT8) cs->kernels->distances_i8(&a);
    else cs->kernels->distances_f32(&a);
    for (int q = 0; q < n_q; q++) {
        now = found;
        for (int i = 0; i < n; i++) {
            const struct set_entry *at = &cs->at[from + i];

            now = nearest_insert(out + (size_t)q * (size_t)k, now, k,
                                 (struct neighbor){ d2[q * SET_KEYS + i] / 2,
                                 b->token[from + i], at->pair, at->pos,
                                 at->log_weight });
        }
    }
    return now;
}

static enum status candidate_nearest(const struct finder *f,
                                     const struct finder_query *query, int k,
                                     struct neighbor *out, int *found,
                                     struct err *e)
{
    const struct candidate_set *cs =
        (const struct candidate_set *)(const void *)f;
    enum status st = ST_OK;

    assert(k >= 1 && query->n >= 0);
    *found = k < cs->n ? k : cs->n;
    for (int q = 0; !st && cs->n && q < query->n; q += SET_QUERIES) {
        int n_q = query->n - q < SET_QUERIES ? query->n - q : SET_QUERIES;
        int now = 0;

        st = read_queries(cs, query->x, query->row + q, n_q, e);
        for (int i = 0; !st && i < cs->n; i += SET_KEYS)
            now = compare_candidates(cs, n_q, i,
                                     cs->n - i < SET_KEYS ? cs->n - i
                                                          : SET_KEYS,
                                     k, out + (size_t)q * (size_t)k, now);
        assert(st || now == *found);
    }
    return st;
}
