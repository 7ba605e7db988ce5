/* datastore_fix.h - made-up pairs and a datastore file with them, for tests.
 *
 * A pair is derived from its number, so a test can tell what must be in a
 * file. Pair 7 has no entries; others have 1 to 70. */
#ifndef DATASTORE_FIX_H
#define DATASTORE_FIX_H

#include <inttypes.h>

#include "knn/datastore_read.h"
#include "scratch_dir.h"
#include "tensor/kernels.h"
#include "tensor/tensor.h"

enum { STORE_VOCAB = 500, STORE_MOST = 71, STORE_D_MOST = 600 };

static inline uint32_t store_mix(uint64_t x)
{
    x = (x + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(x ^ x >> 31);
}

/* A number between -2 and 2. */
static inline float store_float(int number, int row, int k)
{
    uint64_t at = ((uint64_t)number * 1000 + (uint64_t)row) * 1000 +
                  (uint64_t)k;

    return (float)((double)store_mix(at) / UINT32_MAX * 4 - 2);
}

struct store_pair {
    struct datastore_item it;
    char source[80], target[80];
    int32_t token[STORE_MOST], src_token[8];
    uint16_t pos[STORE_MOST];
    float log_weight[STORE_MOST];
    struct datastore_link link[8];
    float *keys;                /* [n, d] */
    float *src;                 /* [n_src, d_model] */
};

static inline int store_count(int number)
{
    return number % 50 == 7 ? 0 : 1 + (int)(store_mix((uint64_t)number) % 70);
}

/* Fill in the sources and links of a pair. */
static inline void store_pair_sources(struct store_pair *p, int number,
                                      int d_model)
{
    struct datastore_item *it = &p->it;

    it->n_src = number % 6;
    p->src = calloc((size_t)it->n_src + 1, (size_t)d_model * sizeof *p->src);
    for (int i = 0; i < it->n_src; i++) {
        p->src_token[i] = (int32_t)(store_mix((uint64_t)(number + i)) %
                                    STORE_VOCAB);
        for (int k = 0; k < d_model; k++)
            p->src[i * d_model + k] = store_float(number + 500, i, k);
        if (i % 2 == 0 && it->n)
            p->link[it->n_links++] = (struct datastore_link){
                (uint32_t)i, (uint32_t)(i % it->n) };
    }
    it->src_token = p->src_token;
    it->src_f32 = p->src;
    it->src_ld = (size_t)d_model;
    it->link = p->link;
}

/* Make a pair for a datastore of this kind. Release it with
 * store_pair_release. */
static inline void store_pair_make(struct store_pair *p,
                                   const struct datastore_kind *k, int number)
{
    int n = store_count(number), d = k->map ? k->map->to : k->model.d;

    memset(p, 0, sizeof *p);
    snprintf(p->source, sizeof p->source, "Quelle %d äöü%.*s", number,
             number % 9, "xxxxxxxxx");
    snprintf(p->target, sizeof p->target, "%starget %d", number % 11 ? "" : "€",
             number);
    p->keys = calloc((size_t)n + 1, (size_t)d * sizeof *p->keys);
    for (int i = 0; i < n; i++) {
        p->token[i] = (int32_t)(store_mix((uint64_t)(number * 100 + i)) %
                                STORE_VOCAB);
        p->pos[i] = (uint16_t)(k->has_weights ? 3 * i + number % 2 : i);
        p->log_weight[i] = logf((float)(1 + (number + i) % 5));
        for (int c = 0; c < d; c++)
            p->keys[i * d + c] = store_float(number, i, c);
    }
    p->it = (struct datastore_item){
        .source = str_of(p->source), .target = str_of(p->target),
        .id = number + 1000, .n = n, .token = p->token,
        .pos = k->has_weights ? p->pos : NULL,
        .log_weight = k->has_weights ? p->log_weight : NULL,
        .f32 = p->keys, .ld = (size_t)d };
    if (k->has_sources) store_pair_sources(p, number, k->model.d);
}

static inline void store_pair_release(struct store_pair *p)
{
    free(p->keys);
    free(p->src);
}

static inline enum status store_add(struct datastore_writer *w,
                                    const struct datastore_kind *k,
                                    int number, struct err *e)
{
    struct store_pair p;
    enum status st;

    store_pair_make(&p, k, number);
    st = datastore_writer_add(w, &p.it, e);
    store_pair_release(&p);
    return st;
}

/* Add pairs [from, to). */
static inline bool store_add_range(struct datastore_writer *w,
                                   const struct datastore_kind *k, int from,
                                   int to)
{
    struct err e;
    enum status st = ST_OK;

    for (int i = from; !st && i < to; i++) st = store_add(w, k, i, &e);
    return CHECK_OK(st, &e);
}

static inline struct datastore_kind store_kind(enum entry_type type, int d)
{
    return (struct datastore_kind){ .model = { 99, d, STORE_VOCAB },
                                    .type = type, .kind = STATE_FINAL,
                                    .with_eos = true };
}

/* The number of the pair that a text names; -1: none. */
static inline int store_number(const struct entries *s, int32_t pair)
{
    int number = -1;

    sscanf(s->ops->pair(s, pair).source.p, "Quelle %d", &number);
    return number;
}

/* ---- comparing with what must be there ----------------------------------- */

/* Whether a stored key is the one that was added, and its norm belongs to it:
 * computed here independently. */
static inline bool store_key_right(const struct entries *s,
                                   const struct entry_block *b, int at,
                                   const float *want)
{
    float got[STORE_D_MOST];
    uint8_t q[STORE_D_MOST + 4];
    float scale;
    double sum = 0;

    entries_key(s, b, at, got);
    if (s->type == ENTRY_INT8)
        kernels_for(ISA_REF)->quantize(want, (size_t)s->d, 1, s->d, q, &scale);
    for (int k = 0; k < s->d; k++) {
        double x = s->type == ENTRY_INT8
            ? (double)scale * (q[k] - 128) : (double)f16_to_f32(
                                                   f32_to_f16(want[k]));

        if (fabs((double)got[k] - x) > 1e-6) return false;
        sum += x * x;
    }
    return b->norm[at] >= (float)sum * (1 - 1e-7) &&
           b->norm[at] <= (float)sum * (1 + 3e-7);
}

static inline bool store_sources_right(const struct entries *s, int32_t pair,
                                       const struct store_pair *p)
{
    const struct entry_block *b = entries_block_of(s, pair);
    struct entry_span span = b->span[pair - b->first_pair];
    int first, n = datastore_file_sources(s, pair, &first), k = 0;

    if (n != p->it.n_src) return false;
    for (int i = 0; i < n; i++) {
        const int8_t *key = b->src_keys + (size_t)(first + i) *
                            (size_t)pad_to(s->d_model, 64);
        double norm = 0, dot = 0, own = 0;

        if (b->src_token[first + i] != p->src_token[i]) return false;
        for (int c = 0; c < s->d_model; c++) {
            double x = (double)b->src_scale[first + i] * key[c],
                   y = (double)p->src[i * s->d_model + c];

            norm += x * x;
            dot += x * y;
            own += y * y;
        }
        if (fabs(norm - 1) > 0.02 || dot / sqrt(own) < 0.99) return false;
        for (uint32_t l = b->link_begin[first + i];
             l < b->link_begin[first + i + 1]; l++, k++)
            if (p->link[k].source != (uint32_t)i ||
                p->link[k].entry != b->link[l] - span.first)
                return false;
    }
    return k == p->it.n_links;
}

/* Whether pair `pair` of the file is made-up pair `number`, in all parts. */
static inline bool store_pair_right(const struct entries *s, int32_t pair,
                                    const struct datastore_kind *k, int number)
{
    const struct entry_block *b = entries_block_of(s, pair);
    struct entry_span span = b->span[pair - b->first_pair];
    struct entry_pair texts = s->ops->pair(s, pair);
    struct store_pair p;
    bool right;
    int n;

    store_pair_make(&p, k, number);
    right = !texts.deleted && str_eq(texts.source, p.it.source) &&
            str_eq(texts.target, p.it.target) && texts.id == p.it.id &&
            (int)span.n == p.it.n && !texts.source.p[texts.source.n] &&
            !texts.target.p[texts.target.n] &&
            (!p.it.n || entries_tokens(s, pair, &n) == b->token + span.first);
    for (int i = 0; right && i < p.it.n; i++) {
        int at = (int)span.first + i;

        right = b->token[at] == p.token[i] &&
                b->pos[at] == (p.it.pos ? p.pos[i] : i) &&
                b->pair[at] == pair - b->first_pair &&
                (!b->log_weight || b->log_weight[at] == p.log_weight[i]) &&
                store_key_right(s, b, at, p.keys + (size_t)i * p.it.ld);
    }
    right = right && store_sources_right(s, pair, &p);
    store_pair_release(&p);
    return right;
}

/* Whether the file has exactly the pairs of the list, in this order; -1 is a
 * deleted pair. */
static inline bool store_has(const struct entries *s,
                             const struct datastore_kind *k, const int *list,
                             int n)
{
    int64_t entries = 0;

    if (s->n_pairs != n) return false;
    for (int i = 0; i < n; i++) {
        if (list[i] < 0) {
            int none = 1;

            if (!s->ops->pair(s, i).deleted) return false;
            entries_tokens(s, i, &none);
            if (none) return false;
        } else if (!store_pair_right(s, i, k, list[i])) {
            return false;
        }
        if (list[i] >= 0) entries += store_count(list[i]);
    }
    return s->n == entries;
}

/* The same for pairs from, from + 1, .. to - 1. */
static inline bool store_has_range(const struct entries *s,
                                   const struct datastore_kind *k, int from,
                                   int to)
{
    int list[1000];

    for (int i = from; i < to; i++) list[i - from] = i;
    return store_has(s, k, list, to - from);
}

static inline int store_problems(const struct entries *s)
{
    struct err e;
    int n = -1;

    CHECK_OK(datastore_file_check(s, NULL, NULL, NULL, NULL, &n, &e), &e);
    return n;
}

/* Open a file and check that it has these pairs, and nothing that is wrong. */
static inline void store_check(const char *path,
                               const struct datastore_kind *k, const int *list,
                               int n)
{
    struct entries *s;
    struct err e;

    if (!CHECK_OK(datastore_file_open(&s, path, &k->model, false, &e), &e))
        return;
    CHECK(store_has(s, k, list, n));
    CHECK_INT(store_problems(s), 0);
    entries_drop(s);
}

/* Write a finished file with pairs [0, n). */
static inline bool store_write(const char *path,
                               const struct datastore_kind *k, int n)
{
    struct datastore_writer *w;
    struct err e;
    bool fine;

    if (!CHECK_OK(datastore_writer_create(&w, path, k, NULL, &e), &e))
        return false;
    fine = store_add_range(w, k, 0, n) &&
           CHECK_OK(datastore_writer_finish(w, &e), &e);
    datastore_writer_close(w);
    return fine;
}

static inline uint8_t *store_slurp(const char *path, size_t *size)
{
    uint8_t *bytes;
    FILE *f = fopen(path, "rb");

    if (!CHECK(f != NULL)) return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    bytes = aligned_alloc(64, (*size + 64) / 64 * 64);
    CHECK_INT(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

static inline void store_spill(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!CHECK(f != NULL)) return;
    if (n) CHECK_INT(fwrite(bytes, 1, n, f), n);
    CHECK(!fclose(f));
}

#endif
